"""Cross-validated calibration and fusion: the map of a trial is trained without its speakers."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.calibration.folds import folded, folds_of, words_of
from deciban.errors import InputError, TrialError, not_none
from deciban.models.model import without_measure_warnings
from deciban.models.score_model import ARGUMENTS, ScoreModel, measure_table, warn_missing
from deciban.models.sources import naming_rows
from deciban.trials import sources
from deciban.trials.sources import in_memory
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, ScoreArray, Weights


class Trainable(Protocol):
    """Any calibrator or fusion. `QualityFusion` also takes quality measures."""

    def fit(self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: Weights = None) -> Self:
        """Train on labelled trials."""

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Map scores to log-likelihood ratios."""


def cross_validated(
    calibrator: Trainable,
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    groups: ArrayLike | Sequence[ArrayLike] | None = None,
    n_folds: int = 5,
    sample_weight: Weights = None,
    seed: int = 0,
    enroll_quality: ArrayLike | None = None,
    test_quality: ArrayLike | None = None,
    trial_quality: ArrayLike | None = None,
) -> FloatArray:
    """Calibrate or fuse every trial by a map that was trained on other trials.

    Parameters
    ----------
    calibrator : Calibrator or fusion
        Model to train, such as `AffineCalibrator` or `deciban.fusion.LinearFusion`; it is copied, not changed.
    scores : (n_trials,) array_like
        Scores; with more axes, trials come first, if ``calibrator`` takes such scores: (n_trials, n_systems) for a
        fusion.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    groups : (n_trials,) array_like, or two of them, optional
        Group of each trial, such as its speaker, as strings or numbers: trials of a group stay together. For trials
        with two sides, pass a pair: the speakers of the enrolment and of the test side. A name is the same speaker on
        both sides. Without groups, every trial is a group: this is too optimistic if a speaker has several trials.
    n_folds : int
        Number of folds, at least 2; at least 3 for two sides. With as many folds as groups, each group is left out in
        turn.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0. Folds have about the same weight of each class. Groups and
        trials of weight 0 do not change the folds of the others.
    seed : int
        Seed for the assignment of folds.
    enroll_quality, test_quality, trial_quality : (n_trials, n_measures) array_like, optional
        Quality measures of all trials for `deciban.fusion.QualityFusion.fit`. Models are trained with the measures of
        their training trials and applied with the measures of the held-out trials. NaN for missing measures.

    Returns
    -------
    (n_trials,) array
        Log-likelihood ratios in nats, in the order of the trials.

    Raises
    ------
    InputError
        If lengths differ, a group has no name, or there are fewer groups than folds. If the trials outside of a fold
        lack a class, or training on them fails; the message names the fold. If measures are infinite, or the calibrator
        takes no measures.

    Warns
    -----
    DecibanWarning
        If trials lack a measure; one warning for all folds.

    Notes
    -----
    Groups are assigned to folds so that each fold has about the same number (or weight) of targets and of non-targets.

    With two sides, speakers are assigned to folds instead of trials. A trial whose speakers are in folds ``i`` and
    ``j`` is calibrated by a map that was trained on all trials without a side in either fold. So training did not use
    the speakers of the trial. This takes ``n_folds (n_folds + 1) / 2`` maps. With more folds, each map is trained on
    more trials: on about ``(1 - 2 / n_folds)**2`` of the cross-speaker trials.

    The result depends on the seed, the names of the groups and the trials, but not on the order of the trials. (Without
    groups, completely identical trials may exchange their results.)

    Examples
    --------
    >>> from deciban.calibration import AffineCalibrator
    >>> scores = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0, 2.5, 0.5, 2.0, 2.2]
    >>> is_target = [True, True, True, False, False, False, True, False, True, False]
    >>> speakers = ["ann", "ann", "bob", "bob", "cid", "cid", "cid", "ann", "dan", "dan"]
    >>> cross_validated(AffineCalibrator(ridge=0.1), scores, is_target, groups=speakers, n_folds=2).round(2)
    array([ 1.8 , -0.35,  0.19, -1.59, -0.1 , -1.  ,  0.49, -0.88,  0.73,  0.94])

    Noise raises all scores, and a fusion with quality measures corrects this:

    >>> import numpy as np
    >>> from deciban.fusion import LinearFusion, QualityFusion
    >>> from deciban.metrics import cllr
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(400) < 200
    >>> noise = rng.random((400, 1))
    >>> scores = np.where(is_target, 1.0, -1.0)[:, None] + 5.0 * noise + rng.normal(size=(400, 1))
    >>> llr = cross_validated(LinearFusion(), scores, is_target)
    >>> aware = cross_validated(QualityFusion(), scores, is_target, test_quality=noise)
    >>> round(cllr(llr[is_target], llr[~is_target]), 2), round(cllr(aware[is_target], aware[~is_target]), 2)
    (0.73, 0.5)
    """
    if isinstance(calibrator, type) or not (hasattr(calibrator, "fit") and hasattr(calibrator, "transform")):
        raise InputError(
            f"calibrator: got {type(calibrator).__name__}. Pass a calibrator or a fusion, such as AffineCalibrator()."
        )
    columns = _checked_scores(scores)
    truth, weight = _validate.labels(is_target, sample_weight, len(columns))
    entries = dict(zip(ARGUMENTS, (enroll_quality, test_quality, trial_quality), strict=True))
    quality = _checked_quality(calibrator, entries, len(columns))
    systems: tuple[ScoreArray, ...] = (columns,)
    if isinstance(calibrator, ScoreModel):
        systems = sources.Columns.of(columns) if calibrator.is_fusion else (_validate.scores(columns, "scores"),)
    batch = sources.Batch(systems, truth, weight=weight, quality=cast("Any", quality or None))
    parts = SourceParts.in_memory(in_memory(batch), n_folds, groups=groups, seed=seed)
    llr: FloatArray = np.asarray(parts.crossed(calibrator, "").held.scores[0])
    if not quality:
        return llr
    present = np.asarray(~np.isnan(np.column_stack(list(quality.values()))).any(axis=1), np.bool_)
    warn_missing(type(calibrator).__name__, present, "not used to train the quality part, and fused by scores alone")
    return llr


def _checked_quality(
    calibrator: Trainable, entries: dict[str, ArrayLike | None], n_trials: int
) -> dict[str, ScoreArray]:
    """Return the measures of the user, if the calibrator takes measures."""
    tables = {name: values for name, values in entries.items() if values is not None}
    if not tables:
        return {}
    taken = inspect.signature(calibrator.fit).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    for name in tables:
        if name not in taken and not takes_all:
            raise InputError(
                f"{name}: {type(calibrator).__name__} takes no quality measures. Pass them with a "
                "QualityFusion, or leave them out."
            )
    return {name: measure_table(values, name, n_trials) for name, values in tables.items()}


def _checked_scores(scores: ArrayLike) -> AnyArray:
    array = _validate.array(scores, "scores")
    if array.ndim < 2:
        return _validate.scores(array, "scores")
    if array.ndim == 2:
        return _validate.score_matrix(array, "scores")
    _validate.scores(array.reshape(-1), "scores")
    return array


def _left(out: tuple[int, int], partition: sources.SourcePartition, fields: sources.TrialFields) -> sources.Batch:
    """Read the trials of a partition that share no fold with the held-out trials."""
    batch = partition.read(replace(fields, folds=True))
    return batch.take(_shares_none(out, batch))


def _shares_none(out: tuple[int, int], batch: sources.Batch) -> BoolArray:
    """Return True for the trials that share no fold with the held-out trials."""
    return np.asarray(np.logical_not(np.isin(not_none(batch.folds, "folds"), out).any(axis=1)))


def _crossed(
    models: Mapping[tuple[int, int], Any],
    systems: tuple[int, ...],
    names: tuple[str, ...],
    partition: sources.SourcePartition,
    fields: sources.TrialFields,
) -> sources.Batch:
    """Read the trials of a partition with the results of models that were trained on the others.

    Parameters
    ----------
    models : mapping of (int, int) to model
        By the folds of the held-out trials.
    systems : tuple of int
    names : tuple of str
        Names of these systems.
    partition : SourcePartition
        A partition whose trials have folds.
    fields : TrialFields

    Raises
    ------
    InputError
        If a model refuses a trial.
    """
    if not fields.systems:
        return partition.read(fields)
    some = next(iter(models.values()))
    quality = some.quality_arguments if getattr(some, "takes_quality", False) else ()
    # A model may refuse trials of weight 0.
    batch = partition.read(replace(fields, systems=systems, quality=quality, weight=True, folds=True))
    low, high = _ends(batch)
    values: FloatArray | None = None
    with naming_rows(batch, names, partition.name), without_measure_warnings():
        for out, model in models.items():
            rows = np.flatnonzero((low == out[0]) & (high == out[1]))
            if not len(rows):
                continue
            own = _transformed(model, batch.take(rows), rows)
            values = np.full((len(low), *own.shape[1:]), np.nan) if values is None else values
            values[rows] = own
    if values is None:
        values = np.zeros((0, *batch.scores[0].shape[1:]))
    weight = batch.weight if fields.weight else None
    return replace(batch, scores=(values,) * len(fields.systems), quality=None, weight=weight)


def _transformed(model: Any, batch: sources.Batch, rows: IntArray) -> FloatArray:
    """Apply a model to trials at some positions; NaN for trials of weight 0 that it refuses."""
    value = model.inputs(batch.stacked) if isinstance(model, ScoreModel) else batch.scores[0]
    try:
        return np.asarray(model.transform(value, **(batch.quality or {})))
    except TrialError as error:
        if batch.weight is None or batch.weight.all():
            raise error.among(rows) from None
    counting = np.flatnonzero(batch.weight)
    result = _transformed(model, batch.take(counting), rows[counting])
    whole = np.full((len(rows), *result.shape[1:]), np.nan)
    whole[counting] = result
    return whole


def _trained(model: Any, source: sources.TrialSource, engine: sources.Engine | None, memory: int) -> Any:
    """Train a model on the trials of a source; foreign classes take arrays."""
    if isinstance(model, ScoreModel):
        return model.fit_source(source, engine, memory)
    batch = source.held
    return model.fit(batch.scores[0], batch.labels, sample_weight=batch.weight, **(batch.quality or {}))


def _ends(batch: sources.Batch) -> tuple[IntArray, IntArray]:
    """Return the lower and the higher fold of each trial."""
    folds = not_none(batch.folds, "folds")  # (n_trials, n_sides)
    return folds.min(axis=1), folds.max(axis=1)


def _counts(n_folds: int, n_classes: int, batch: sources.Batch) -> CountArray | None:
    """Count the trials of each pair of folds and class: all, and those that count; None without trials."""
    if batch.truth is None or not len(batch.truth):
        return None
    low, high = _ends(batch)
    place, size = (low * n_folds + high) * n_classes + batch.truth, n_folds * n_folds * n_classes
    counting = slice(None) if batch.weight is None else batch.weight > 0
    table = np.stack([np.bincount(place, minlength=size), np.bincount(place[counting], minlength=size)])
    return table.reshape(2, n_folds, n_folds, n_classes)


@dataclass(frozen=True, eq=False)
class SourceParts:
    """Trials of a source with the folds that hold them out, for any number of models.

    Attributes
    ----------
    source : TrialSource
        A source whose trials have folds.
    engine : Engine or None
        Engine that runs passes; None if all trials are in one batch in memory.
    memory : int
        Limit of memory in bytes.
    counts : (2, n_folds, n_folds, n_classes) int array
        Number of trials by folds, the lower first, and by class: all, and those that count.
    """

    source: sources.TrialSource
    engine: sources.Engine | None
    memory: int
    counts: IntArray

    @classmethod
    def of(
        cls, source: sources.TrialSource, engine: sources.Engine, n_folds: int, *, memory: int = 0, seed: int = 0
    ) -> Self:
        """Assign folds to trials that are read in batches, in two passes.

        Parameters
        ----------
        source : TrialSource
            A source with groups.
        engine : Engine
        n_folds : int
        memory : int
        seed : int

        Raises
        ------
        InputError
            If there are fewer groups or trials than folds, or the source was opened without groups.
        """
        return cls._counted(folded(source, engine, n_folds, seed), engine, memory, n_folds)

    @classmethod
    def in_memory(
        cls,
        source: sources.TrialSource,
        n_folds: int,
        *,
        groups: ArrayLike | Sequence[ArrayLike] | None = None,
        seed: int = 0,
    ) -> Self:
        """Assign folds to the trials of one batch, as in `cross_validated`.

        Raises
        ------
        InputError
            See `folds_of`.
        """
        batch = source.held
        numbers = [batch.stacked.reshape(len(batch.labels), -1), *(batch.quality or {}).values()]
        # Quality measures distinguish trials with equal scores.
        each = np.column_stack(numbers) if len(numbers) > 1 else numbers[0]
        about = batch.labels.astype(np.int64), batch.weight, groups
        folds = folds_of(each, *about, n_folds=n_folds, seed=seed)
        own = sources.LoadedPartition(replace(batch, folds=folds.T), source.partitions[0].name)
        return cls._counted(replace(source, partitions=(own,)), None, 0, int(folds.max()) + 1)

    @classmethod
    def _counted(cls, source: sources.TrialSource, engine: sources.Engine | None, memory: int, n_folds: int) -> Self:
        fields = sources.TrialFields((), truth=True, weight=True, folds=True)
        step = partial(_counts, n_folds, len(source.classes) or 2)
        return cls(source, engine, memory, sources.found_in(source, engine, fields, step, "counting folds"))

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.counts.shape[1])

    def __len__(self) -> int:
        """Return the number of trained models."""
        return len(self._parts)

    @property
    def _parts(self) -> list[tuple[int, int]]:
        """Pairs of folds."""
        return [(low, high) for low, high in np.argwhere(self.counts[0].sum(axis=2) > 0).tolist()]

    def __iter__(self) -> Iterator[tuple[str, tuple[int, int], sources.TrialSource]]:
        """Yield the description of each pair of folds, the folds, and the trials to train on."""
        for low, high in self._parts:
            step = partial(_left, (low, high))
            left = [sources.MappedPartition(one, step, f"what is left of {one.name}") for one in self.source.partitions]
            yield words_of(low, high, self.n_folds), (low, high), self.source.made_of(left)

    def _require(self, name: str, out: tuple[int, int]) -> None:
        """Refuse training without a pair of folds if no trial of a class remains."""
        others = [k for k in range(self.n_folds) if k not in out]
        n_non, n_tar = self.counts[1][np.ix_(others, others)].sum(axis=(0, 1)).tolist()
        for n, kind in ((n_tar, "target"), (n_non, "non-target")):
            if not n:
                way = "Use more or fewer folds, another seed, or more groups with trials of both classes; trials with "
                way += "two sides need at least 3 folds."
                if np.count_nonzero(self.counts[1, ..., int(kind == "target")]) == 1:
                    columns = " and ".join(self.source.groups or ()) or "the groups"
                    way = f"All {kind}s have the same value of {columns}, or few values, all in one fold. Hold out "
                    way += "by a column whose values have trials of both classes, such as speaker."
                raise InputError(f"groups: without {name} no {kind} is left to train on. {way}")

    def crossed(self, model: Any, name: str, *, systems: Sequence[int] | None = None) -> sources.TrialSource:
        """Train a copy of a model for every pair of folds, on the trials that share no fold with the pair.

        Parameters
        ----------
        model : ScoreModel
            Model to copy; it is not changed.
        name : str
            Name of its scores.
        systems : sequence of int, optional
            Systems to train on; default: all.

        Returns
        -------
        TrialSource
            The same trials with results of the models that were trained without them.

        Raises
        ------
        InputError
            If training fails; the message names the fold.
        """
        chosen = tuple(range(len(self.source.systems)) if systems is None else systems)
        models: dict[tuple[int, int], Any] = {}
        for words, out, left in self:
            if not self.source.classes:
                self._require(words, out)
            before = f"Training without {words}: "
            try:
                with without_measure_warnings():
                    own = sources.ordered(left, systems=chosen)
                    models[out] = _trained(copy.deepcopy(model), own, self.engine, self.memory)
            except TrialError as error:
                raise error.among(np.flatnonzero(_shares_none(out, self.source.held)), before=before) from error
            except InputError as error:
                raise InputError(f"{before}{str(error).removeprefix('scores: ')}") from error
        step = partial(_crossed, models, chosen, tuple(self.source.systems[k] for k in chosen))
        return self.source.map(step, systems=(name,), is_double=True, quality=(), incomplete=False)
