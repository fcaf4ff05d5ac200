"""Training trials, two-class or multiclass, that are read in batches, and trials as a model maps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from deciban._lazy import registered
from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Names
from deciban.core.training.batches import PartsOfClassTrials, PartsOfTrials
from deciban.core.training.linear_objective import TrainingTrials
from deciban.core.training.multiclass_objective import CountedTrials, which_count
from deciban.errors import InputError, naming_trials, not_none
from deciban.models.model import Form, Plain, Training, digits_of, in_digits, without_measure_warnings
from deciban.trials import sources
from deciban.trials.speakers import BatchUnits
from deciban.types import Additive, AnyArray, BoolArray, CountArray, FloatArray, IntArray, Priors, ScoreArray

if TYPE_CHECKING:
    from deciban.core.resampling.units import TrialUnits
    from deciban.metrics.scores import SortedScores
    from deciban.trials.lists import Trials as TrialList


def read_mapped(
    model: Any, systems: tuple[str, ...], partition: sources.SourcePartition, fields: sources.TrialFields
) -> sources.Batch:
    """Read the trials of a partition with mapped scores.

    Raises
    ------
    InputError
        If the model refuses a trial.
    """
    if not fields.systems:
        return partition.read(fields)
    quality = model.quality_arguments if model.takes_quality else ()
    batch = partition.read(replace(fields, systems=tuple(range(len(systems))), quality=quality))
    if not len(batch.scores[0]):
        return replace(batch, scores=(batch.scores[0].astype(np.float64),))
    with naming_rows(batch, systems, partition.name):
        entries = {} if batch.quality is None else {name: batch.quality[name] for name in quality}
        return replace(batch, scores=(transformed(model, batch.stacked, entries),))


def transformed(model: Any, scores: AnyArray, quality: Mapping[str, AnyArray]) -> FloatArray:
    """Return llrs or log-likelihoods of a model; ``scores`` has trials as its first axis and systems as its second."""
    with without_measure_warnings():
        llr: FloatArray = model.transform(model.inputs(scores), **(quality if model.takes_quality else {}))
    return llr


def mapped(source: sources.TrialSource, model: Any, name: str) -> sources.TrialSource:
    """Return a source with scores that a trained model maps.

    Parameters
    ----------
    source : TrialSource
        Scores of the systems of the model, in their order.
    model : ScoreModel
    name : str
        Name of the mapped scores.

    Returns
    -------
    TrialSource
        A source of one system.
    """
    step = partial(read_mapped, model, source.systems)
    return source.map(step, systems=(name,), is_double=True, incomplete=False)


def naming_rows(batch: sources.Batch, systems: Sequence[str], name: str) -> AbstractContextManager[None]:
    """Return a context in which errors name the trial: from its files, or by its number in a partition."""
    if not name:  # trials of arrays have numbers
        return nullcontext()
    if batch.trials is None:
        return naming_trials(f"{{}} of {name}".format)
    return naming_scores(batch.stacked, systems, batch.trials)


def naming_scores(scores: AnyArray, systems: Sequence[str], trials: TrialList) -> AbstractContextManager[None]:
    """Return a context in which errors name the trial, and the systems with infinite scores, if there are several."""

    def infinite(row: int) -> str:
        if len(systems) < 2 or scores.ndim > 2:
            return ""
        columns = np.flatnonzero(np.isinf(scores[row])).tolist()
        return ", ".join(f"{systems[k]}: {scores[row, k]:g}" for k in columns)

    return naming_trials(trials.name_of, infinite)


@dataclass(frozen=True, slots=True)
class AvailableSystems(Additive):
    """Numbers of trials by the systems that scored them; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    n_without : tuple of int
        For each system, the number of trials without its score.
    n_lacking, n_none : int
        Numbers of trials without a score of some system, and without any score.
    counts : mapping of tuple of int to (int, int)
        Non-targets and targets of positive weight that have scores of exactly these systems.
    """

    n_without: tuple[int, ...]
    n_lacking: int
    n_none: int
    counts: dict[tuple[int, ...], tuple[int, int]]

    @classmethod
    def of(cls, batch: sources.Batch) -> AvailableSystems:
        """Count the trials of a batch."""
        n, every = len(batch.scores[0]), tuple(range(len(batch.scores)))
        rows_of = occurring_subsets(np.stack(batch.scores, axis=1))
        n_without = tuple(sum(len(rows) for subset, rows in rows_of.items() if k not in subset) for k in every)
        counting = {s: rows if batch.weight is None else rows[batch.weight[rows] > 0] for s, rows in rows_of.items()}
        counts = {subset: _of_each(batch.labels[rows]) for subset, rows in counting.items() if len(rows)}
        return cls(n_without, n - len(rows_of.get(every, ())), len(rows_of.get((), ())), counts)


def occurring_subsets(scores: ScoreArray) -> dict[tuple[int, ...], IntArray]:
    """Return the sets of systems that occur, each with the trials scored by exactly these systems."""
    incomplete = np.isnan(scores).any(axis=1)
    complete, rows = np.flatnonzero(~incomplete), np.flatnonzero(incomplete)
    entries = {tuple(range(scores.shape[1])): complete} if len(complete) else {}
    if len(rows):
        patterns, which = np.unique(~np.isnan(scores[rows]), axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))
        for pattern, own in zip(patterns, np.split(rows[order], ends[:-1]), strict=True):
            entries[tuple(np.flatnonzero(pattern).tolist())] = own
    return entries


def _of_each(is_target: AnyArray) -> tuple[int, int]:
    """Return the numbers of non-targets and targets."""
    n_tar = int(np.count_nonzero(is_target))
    return len(is_target) - n_tar, n_tar


def scored_by(source: sources.TrialSource, engine: sources.Engine | None) -> AvailableSystems:
    """Return the numbers of trials of a source by the systems that scored them, in one pass."""
    fields = sources.TrialFields(tuple(range(len(source.systems))), truth=True, weight=source.has_weights)
    systems: AvailableSystems | None = sources.found_in(source, engine, fields, AvailableSystems.of, "counting scores")
    return AvailableSystems((0,) * len(source.systems), 0, 0, {}) if systems is None else systems


S = TypeVar("S", bound=Sized)

Makes: TypeAlias = Callable[[sources.Batch], tuple[S, BoolArray | slice]]
"""Function that returns training trials from a batch, and their rows in the batch; can be pickled."""


@dataclass(frozen=True, slots=True)
class Record(Additive):
    """Content of the training record from trials; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    counts : tuple of int
        Trials of each class; for two classes, non-targets and targets.
    digits : int
        Fingerprint as a number.
    """

    counts: tuple[int, ...]
    digits: int

    @classmethod
    def of(cls, n_classes: int, batch: sources.Batch) -> Record:
        """Compute from one batch."""
        labels = batch.labels
        if not len(labels):
            return cls((0,) * n_classes, 0)
        measures = [column for table in (batch.quality or {}).values() for column in table.T]
        seen: list[AnyArray] | AnyArray = [*batch.scores, *measures]
        if not measures and (isinstance(batch.scores, sources.Columns) or batch.scores[0].ndim > 1):
            seen = batch.stacked.reshape(len(labels), -1)
        of_two = labels.dtype == np.bool_
        counts = _of_each(labels) if of_two else tuple(np.bincount(labels, minlength=n_classes).tolist())
        return cls(counts, digits_of(seen, labels, batch.float_weight))


class LabelledSource(ABC):
    """Labelled training trials of a source, two-class or multiclass.

    Parameters
    ----------
    source : TrialSource
    engine : Engine, optional
        Engine that runs passes. Without an engine, all trials are in memory, in one batch.
    memory : int, optional
        Limit of memory in bytes, which limits samples.
    units : BatchUnits or TrialUnits, optional
        Clusters for the uncertainty of training; in memory, the units of the batch are used instead.

    Attributes
    ----------
    n_classes : int
    classes : tuple of str or None
        Names of the classes, for multiclass sources with names.
    counts_of : mapping of str to int
        Classes that the training record counts, by name in the record.
    """

    n_classes: int
    classes: Names = None
    counts_of: Mapping[str, int]

    quality: tuple[str, ...] = ()
    """Quality measures that are read, too."""

    def __init__(
        self,
        source: sources.TrialSource,
        engine: sources.Engine | None = None,
        memory: int | None = None,
        units: Any = None,
    ) -> None:
        self.source, self.engine, self.memory = source, engine, memory
        self.batch = source.batch if engine is None else None
        own = None if engine is not None or units is None else source.held_units
        self.units: Any = units if own is None else BatchUnits(own)
        self._record: Record | None = None

    @abstractmethod
    def require_all(self, counts: Sequence[int]) -> None:
        """Refuse trials without some class, given the number of trials of each class.

        Raises
        ------
        InputError
            If a class is missing.
        """

    @abstractmethod
    def on(self, source: sources.TrialSource) -> Self:
        """Return the same training task on other trials."""

    def require_one_system(self, model: str) -> None:
        """Refuse several systems.

        Raises
        ------
        InputError
            If there are several.
        """
        if len(self.source.systems) != 1:
            names = ", ".join(self.source.systems)
            raise InputError(f"{model}: takes one system, but {self.source.name} has {names}. Choose one, or fuse.")

    def look(self, look: Callable[[sources.Batch], object]) -> Any:
        """Return the sum of ``look`` over all batches: one pass; the first pass also computes the training record."""
        if self.batch is not None or self._record is not None:
            return sources.found_in(self.source, self.engine, self._fields, look)
        result = sources.found_in(self.source, self.engine, self._fields, partial(_noted, look, self.n_classes))
        record = None if result is None else result.record
        self.require_all(() if record is None else record.counts)
        self._record = record
        return result.result

    @property
    def _fields(self) -> sources.TrialFields:
        systems = tuple(range(len(self.source.systems)))
        return sources.TrialFields(systems, truth=True, weight=self.source.has_weights, quality=self.quality)

    @property
    def n_trials(self) -> int:
        """Number of trials, after the first pass."""
        return self.source.n_rows if self._record is None else sum(self._record.counts)

    def look_by_unit(self, look: Callable[[sources.Batch, TrialUnits], Any]) -> Any:
        """Return the sum of ``look`` over the trials that count, with their units: one pass."""
        units = not_none(self.units, "units")
        fields = units.fields_with(self._fields)
        return sources.found_in(self.source, self.engine, fields, partial(_with_units, look, units))

    def passes(self, make: Makes[S]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return the passes of `Parts` over the training trials that ``make`` returns for each batch."""
        return (
            lambda look: self.look(partial(_made, make, look)),
            lambda look, _units: self.look_by_unit(partial(_made_by_unit, make, look)),
        )

    def of_units(self) -> tuple[Self, TrialUnits | None]:
        """Return the trials that count in the uncertainty, and their units; None if there are no units."""
        if self.units is None or self.batch is None:
            return self, None if self.units is None else self.units.units
        own = self.batch.counting
        own = replace(own, units=not_none(own.units, "units").only_used())
        return self.on(replace(self.source, partitions=(sources.LoadedPartition(own, self.source.name),))), own.units

    def training(self, results: Mapping[str, Plain]) -> Training:
        """Return the record of a training on these trials."""
        of = partial(Record.of, self.n_classes)
        record = self._record or sources.found_in(self.source, self.engine, self._fields, of)
        counts = {name: record.counts[k] for name, k in self.counts_of.items()}
        return Training(counts, in_digits(record.digits), results=results)


class SourceTrials(LabelledSource):
    """Two-class training trials of a source.

    Parameters
    ----------
    source, engine, memory, units
        See `LabelledSource`.

    Raises
    ------
    InputError
        If the source is multiclass, or a class is missing (checked in memory only) or has no weight.
    """

    n_classes = 2
    counts_of: Mapping[str, int] = {"n_tar": 1, "n_non": 0}

    def __init__(self, source: sources.TrialSource, *about: Any) -> None:
        if source.classes:
            raise InputError(
                f"{source.name}: multiclass scores, but the model is for two classes. Use a multiclass model."
            )
        super().__init__(source, *about)
        self._parts: dict[object, TrainingTrials | PartsOfTrials] = {}
        if self.batch is not None:
            _validate.both_classes(self.batch.labels, self.batch.weight)

    def require_all(self, counts: Sequence[int]) -> None:
        """Refuse trials without some class; see `LabelledSource.require_all`."""
        for k, kind in ((1, "target"), (0, "non-target")):
            if not counts or not counts[k]:
                raise InputError(f"is_target: none of the {sum(counts)} trials is a {kind}. Both classes are needed.")

    def on(self, source: sources.TrialSource) -> Self:
        """Return the same training task on other trials; see `LabelledSource.on`."""
        return type(self)(source, self.engine, self.memory, self.units)

    def linear(self, form: Form) -> TrainingTrials | PartsOfTrials:
        """Return trials for training weights of columns."""
        return self.made_by(partial(_formed, form), key=form)

    def made_by(self, make: Makes[TrainingTrials], key: object) -> TrainingTrials | PartsOfTrials:
        """Return the training trials that ``make`` returns for each batch; the last result is cached by ``key``."""
        if key not in self._parts and self.batch is None:
            self._parts = {key: PartsOfTrials(*self.passes(make), memory=self.memory)}
        elif key not in self._parts:
            trials, rows = make(not_none(self.batch, "batch"))
            self._parts = {key: trials if isinstance(rows, slice) else replace(trials, numbers=np.flatnonzero(rows))}
        return self._parts[key]

    def through(self, model: Any) -> SourceTrials:
        """Train a calibrator on the trials; return the trials with calibrated scores."""
        model.training_ = self.training(model._fit(self))  # noqa: SLF001  # a part of the training of a chain
        (name,) = self.source.systems
        return self.on(mapped(self.source, model, name))

    def without(self, group: int, n_groups: int) -> SourceTrials:
        """Return the trials without a group of units."""
        return self.on(self.source.map(partial(_left_out, not_none(self.units, "units"), group, n_groups)))

    @property
    def ranks(self) -> SortedScores:
        """Return the sorted scores of both classes."""
        if self.engine is None:
            from deciban.metrics.scores import SortedScores

            return SortedScores(**self.source.held.as_sets())
        self.look(_nothing)
        scores: SortedScores = registered("passes", "summary")(self.source, self.engine, self.memory or 0).ranks
        return scores


def _left_out(
    units: BatchUnits, group: int, n_groups: int, partition: sources.SourcePartition, fields: sources.TrialFields
) -> sources.Batch:
    """Read the trials of a partition without a group of units."""
    batch = partition.read(replace(units.fields_with(fields, with_keys=True), truth=True, weight=True)).counting
    if batch.truth is None or not len(batch.truth):
        return batch
    is_out = [side == group for side in units.groups(batch, n_groups)]
    return batch.take(np.flatnonzero(~np.logical_or.reduce(is_out)))


def _formed(form: Form, batch: sources.Batch) -> tuple[TrainingTrials, slice]:
    """Return trials with the columns of a form."""
    columns, base = form(batch.scores)
    together = columns.together if isinstance(columns, sources.Columns) else columns
    return TrainingTrials.of(together, batch.labels, weights=batch.float_weight, base=base), slice(None)


def _made(make: Makes[S], look: Callable[[S], sources.T], batch: sources.Batch) -> sources.T | None:
    """Apply ``look`` to the training trials of a batch."""
    if batch.truth is None or not len(batch.truth):
        return None
    trials, _ = make(batch)
    return look(trials) if len(trials) else None


def _made_by_unit(
    make: Makes[S], look: Callable[[S, TrialUnits], sources.T], batch: sources.Batch, units: TrialUnits
) -> sources.T | None:
    """Apply ``look`` to the training trials of a batch, with their units."""
    trials, rows = make(batch)
    return look(trials, units.take(rows)) if len(trials) else None


def _with_units(look: Callable[[sources.Batch, TrialUnits], Any], units: BatchUnits, batch: sources.Batch) -> Any:
    """Apply ``look`` to the trials of a batch that count, with their units."""
    own = batch.counting
    if own.truth is None or not len(own.truth):
        return None
    result = look(own, units.of(own))
    return result.fold() if units.are_trials else result


def _noted(look: Callable[[sources.Batch], object], n_classes: int, batch: sources.Batch) -> _ResultAndNotes:
    """Apply ``look`` to a batch, and compute its training record."""
    return _ResultAndNotes(look(batch), Record.of(n_classes, batch))


@dataclass(frozen=True, slots=True)
class _ResultAndNotes(Additive):
    result: Any
    record: Record


def _nothing(batch: sources.Batch) -> None:
    """Return nothing; for a pass that only computes the training record."""


class SourceClasses(LabelledSource):
    """Multiclass training trials of a source.

    Parameters
    ----------
    source, engine, memory, units
        See `LabelledSource`.
    prior : array_like, optional
        Prior in training; default: flat.

    Attributes
    ----------
    prior : (n_classes,) array
    """

    def __init__(self, source: sources.TrialSource, *about: Any, prior: Priors = None) -> None:
        if not source.classes:
            raise InputError(f"{source.name}: two-class scores, but the model is multiclass. Use a two-class model.")
        super().__init__(source, *about)
        self.classes, self.n_classes = None if source.is_numbered else source.classes, len(source.classes)
        self.counts_of = {name: k for k, name in enumerate(source.classes)}
        self.prior = _validate_classes.prior(prior, self.n_classes)
        if self.batch is not None:
            self._require(self.batch.labels, self.batch.weight)

    def require_all(self, counts: Sequence[int]) -> None:
        """Refuse trials without some class; see `LabelledSource.require_all`."""
        self._require(np.flatnonzero(counts))

    def _require(self, label: IntArray, weight: CountArray | None = None) -> None:
        needed, classes = self.prior > 0.0, self.classes
        _validate_classes.all_classes(label, self.n_classes, weights=weight, needed=needed, classes=classes)

    def on(self, source: sources.TrialSource) -> Self:
        """Return the same training task on other trials; see `LabelledSource.on`."""
        return type(self)(source, self.engine, self.memory, self.units, prior=self.prior)

    @cached_property
    def counted(self) -> Any:
        """Trials that count in training: `CountedTrials`, or `PartsOfClassTrials` if they are read in passes."""
        if self.batch is not None:
            return _counted(self.prior, self.classes, self.batch)[0]
        is_possible, names, memory = self.prior > 0.0, self.classes, self.memory
        passes, prior = self.passes(partial(_counted, self.prior, names)), self.prior[is_possible]
        return PartsOfClassTrials(*passes, prior=prior, is_possible=is_possible, names=names, memory=memory)

    @property
    def amounts(self) -> FloatArray:
        """Number (or weight) of trials of each class."""
        values = np.zeros(self.n_classes)
        values[self.prior > 0.0] = self.counted.amounts
        return values


def _counted(prior: FloatArray, names: Names, batch: sources.Batch) -> tuple[CountedTrials, BoolArray]:
    """Return the trials of a batch that count."""
    truth, weight = batch.labels, batch.float_weight
    return CountedTrials.of(batch.stacked, truth, prior, weight, names), which_count(truth, prior, weight)
