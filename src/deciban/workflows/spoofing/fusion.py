"""Training of one score from a countermeasure and a verifier, and its comparison with their cascade."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban import spoofing
from deciban.calibration.cross import SourceParts
from deciban.errors import InputError, Message, as_objects, names_apart, not_none
from deciban.evaluation.one_system import SCHEMA, Jsonable, plain
from deciban.evaluation.preset_table import preset
from deciban.evaluation.spoofing import COUNTERMEASURE, SINGLE_SCORE, Edition, Measured, SpoofingResults, intervals_of
from deciban.fusion.spoofing import KINDS, SpoofingFusion
from deciban.metrics import auc
from deciban.models.model import content_of
from deciban.spoofing import Cascade
from deciban.spoofing.sasv import a_dcf_weights
from deciban.trials import Scores
from deciban.trials.sources import Batch, in_memory, ordered
from deciban.types import FloatArray, PathLike, Progress, Weights
from deciban.workflows.model_files import sides_of
from deciban.workflows.options import Options
from deciban.workflows.reading.inputs import Paths, paths_of
from deciban.workflows.reading.units import DEFAULT_FOLDS, HoldOut, groups_of
from deciban.workflows.spoofing import LabelledTrials, cost_of_decisions, is_moot, refuse_others, results_of


@dataclass(frozen=True, slots=True, eq=False)
class CascadeAndFusion:
    """Costs of two systems, their fusion and their cascade on some trials.

    Attributes
    ----------
    results : SpoofingResults
        The countermeasure, the verifier and the fusion as single scores.
    least : Cascade or None
        The cascade with the best pair of thresholds on these trials; None for cross-validation.
    costs : mapping of str to Measured
        ``min_a_dcf`` is the a-DCF of this cascade, and ``act_a_dcf`` that of the cascade with the thresholds of
        training. Their intervals hold the thresholds fixed.
    """

    results: SpoofingResults
    least: Cascade | None
    costs: Mapping[str, Measured]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        at = (None,) * 3 if self.least is None else astuple(self.least)
        cascade = dict(zip(("min_a_dcf", "cm_threshold", "asv_threshold"), at, strict=True))
        cascade |= {"act_a_dcf": self.costs["act_a_dcf"].value, "intervals": intervals_of(self.costs)}
        return {**self.results.to_dict(), "cascade": plain(cascade)}


@dataclass(frozen=True, slots=True, eq=False)
class FusedSpoofing(Jsonable):
    """A fusion of a countermeasure and a verifier, and costs.

    Attributes
    ----------
    model : SpoofingFusion
    dev : CascadeAndFusion
        On the trials of training.
    eval : CascadeAndFusion or None
        On other trials.
    cross_validated : CascadeAndFusion or None
        The fusion and the cascade on the trials of training, trained on other folds.
    cross_validated_scores : Scores or None
        The llrs of the fusion for these trials.
    messages : tuple of Message
    """

    model: SpoofingFusion
    dev: CascadeAndFusion
    eval: CascadeAndFusion | None
    cross_validated: CascadeAndFusion | None
    cross_validated_scores: Scores | None
    messages: tuple[Message, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban fuse --spoof --json`` prints."""
        return {
            "schema": SCHEMA,
            "kind": "two-class",
            "model": content_of(self.model),
            "protocol": self.dev.results.edition.plan.name,
            "dev": self.dev.to_dict(),
            "eval": None if self.eval is None else self.eval.to_dict(),
            "cross_validated": None if self.cross_validated is None else self.cross_validated.to_dict(),
            "messages": as_objects(self.messages),
        }


def fuse_spoofing_files(
    scores: Paths,
    key: PathLike | None = None,
    *,
    test_scores: Paths = (),
    test_key: PathLike | None = None,
    ridge: float = 0.0,
    cross_validate: int | str | tuple[str, str] | None = None,
    n_folds: int = DEFAULT_FOLDS,
    progress: Progress | None = None,
    **options: object,
) -> FusedSpoofing:
    """Train a fusion of a countermeasure and a verifier, and compare it with their cascade.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Scores of the countermeasure and of the verifier for the same trials of targets, non-targets and spoofs: two
        files in this order, or one table with both, as in `evaluate_spoofing_files`.
    key : path, optional
        Key with labels. By default the score files must contain labels.
    test_scores, test_key : optional
        Scores of both systems on other trials, and their key, to evaluate everything on these trials, too.
    ridge : float
        Penalty; see `deciban.fusion.SpoofingFusion`.
    cross_validate, n_folds : optional
        Also fuse every trial by a model, and decide by thresholds of a cascade, that were trained without its group; as
        in `deciban.train_files`.
    progress : function, optional
        Called with a short description of every step.
    **options
        As in `evaluate_spoofing_files`, without ``by``. The priors and costs of the a-DCF of ``preset`` (default:
        ``sasv2022``) are also the priors of training.

    Returns
    -------
    FusedSpoofing

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `evaluate_spoofing_files` and `deciban.fusion.SpoofingFusion.fit`; or if there are not two systems.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = "a,2,3,target", "b,0,2,target", "c,2,0,non", "d,1,2.5,non", "e,-1,2,spoof", "f,1,3,spoof"
    >>> _ = (folder / "all.csv").write_text("\\n".join(("trial,cm-score,asv-score,label", *rows)))
    >>> found = fuse_spoofing_files(folder / "all.csv", ridge=0.01)
    >>> round(found.dev.least.a_dcf, 2), found.model.training_.systems
    (0.5, ('cm-score', 'asv-score'))
    """
    chosen, say = Options.of("evaluate_files", options), progress or (lambda _words: None)
    if chosen.plan is None:
        chosen = replace(chosen, plan=preset("sasv2022"))
    edition = Edition.of(chosen.plan)
    refuse_others(edition, chosen, None, None, None)
    if chosen.split.partitions:
        raise InputError("by: not for a fusion. Evaluate its llrs by condition.")
    held = None if cross_validate is None else HoldOut(cross_validate, n_folds)
    trials = _pair_of(LabelledTrials.read(paths_of(scores, also=(key,)), key, chosen, say))
    say("training")
    weights = np.array(a_dcf_weights(**edition.a_dcf))
    untrained = _FusionAndCascade(SpoofingFusion(prior=weights / weights.sum(), ridge=ridge), edition.a_dcf)
    trained = untrained.fit(trials.batch.stacked, trials.kinds)
    record = not_none(trained.fusion.training_, "training_")
    trained.fusion.training_ = replace(record, systems=trials.source.systems)
    compare = partial(_compared, edition=edition, options=chosen, say=say)
    dev = compare(trials, trained.transform(trials.batch.stacked), trained.cascade)
    notes, items = [*dev.results.messages, *_swapped(trials)], trials.batch.trials
    crossed = tests = None
    if held is not None:
        say("cross-validating")
        crossed = _cross_validated(trials, untrained, held)
        notes.append(held.message(sides_of(trials.source), "fused"))
    crossing = None if crossed is None else compare(trials, crossed, None, suffix=" (cross-validated)")
    llrs = None if crossed is None or items is None else Scores(items, crossed[:, 0])
    if test_scores:
        tests = _pair_of(LabelledTrials.read(paths_of(test_scores, also=(test_key,)), test_key, chosen, say))
        best = spoofing.min_cascade_a_dcf(*tests.of_kinds(tests.batch.stacked), **edition.a_dcf)
    other = None if tests is None else compare(tests, trained.transform(tests.batch.stacked), best)
    notes += () if other is None else other.results.messages
    messages = tuple(one for one in dict.fromkeys(notes) if not is_moot(one))
    return FusedSpoofing(trained.fusion, dev, other, crossing, llrs, messages)


@dataclass(frozen=True, slots=True)
class _FusionAndCascade:
    """A fusion and the best cascade of the same trials; both are trained together."""

    fusion: SpoofingFusion
    costs: Mapping[str, float]
    cascade: Cascade | None = None

    def fit(self, scores: ArrayLike, trial_kind: ArrayLike, *, sample_weight: Weights = None) -> Self:
        """Return both, trained on trials of three kinds."""
        matrix, kinds = np.asarray(scores), np.asarray(trial_kind)
        fusion = copy(self.fusion).fit(matrix, kinds, sample_weight=sample_weight)
        best = spoofing.min_cascade_a_dcf(*(matrix[kinds == k] for k in range(len(KINDS))), **self.costs)
        return replace(self, fusion=fusion, cascade=best)

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Return the llr of the fusion, and 1 for trials that the cascade accepts, in two columns."""
        return np.column_stack((self.fusion.transform(scores), not_none(self.cascade, "cascade").accepts(scores)))


def _cross_validated(trials: LabelledTrials, untrained: _FusionAndCascade, out: HoldOut) -> FloatArray:
    """Return llrs and decisions for all trials from training without their groups."""
    batch = trials.batch
    groups = None if batch.trials is None else groups_of(batch.trials, out.by)
    source = in_memory(Batch((batch.stacked,), trials.kinds), KINDS)
    crossed = SourceParts.in_memory(source, out.parts, groups=groups).crossed(untrained, "")
    return crossed.held.scores[0].astype(np.float64, copy=False)


def _compared(
    trials: LabelledTrials,
    trained: FloatArray,
    least: Cascade | None,
    *,
    edition: Edition,
    options: Options,
    say: Progress,
    suffix: str = "",
) -> CascadeAndFusion:
    """Return the costs of both systems, their fusion and their cascade, or for cross-validation of the latter two."""
    systems = trials.source.systems
    (name,) = names_apart([f"{SpoofingFusion.table_name}{suffix}"], systems)
    fused = trials.with_system(name, trained[:, 0])
    roles = [SINGLE_SCORE if least is not None or at == len(systems) else "" for at in range(len(systems) + 1)]
    result = results_of(fused, roles, edition, None, options, messages=trials.source.messages, progress=say)
    decided = {"act_a_dcf": trained[:, 1] > 0.0}
    if least is not None:
        decided["min_a_dcf"] = least.accepts(trials.batch.stacked)
    costs = {name: cost_of_decisions(trials, accepted, edition, options) for name, accepted in decided.items()}
    return CascadeAndFusion(result, least, costs)


def _pair_of(trials: LabelledTrials) -> LabelledTrials:
    """Return trials with two systems, the countermeasure first.

    Raises
    ------
    InputError
        If there are no non-targets, or not two systems.
    """
    names = trials.source.systems
    if not trials.has_three:
        raise InputError(f"{trials.source.name}: needs trials of targets, non-targets and spoofs, but has two kinds.")
    roles = [trials.role(name) for name in names]
    order = [roles.index(one) for one in (COUNTERMEASURE, "verifier") if one in roles]
    if len(order) < 2 and len(names) != 2:
        raise InputError(
            f"scores: got {len(names)} systems ({', '.join(names)}). Name two: a countermeasure, then a verifier."
        )
    return replace(trials, source=ordered(trials.source, systems=order if len(order) == 2 else [0, 1]))


def _swapped(trials: LabelledTrials) -> tuple[Message, ...]:
    """Return a warning if the first system seems to be the verifier."""
    cm, asv = (auc(*trials.of_kinds(scores)[:2]) for scores in trials.batch.scores)
    if cm <= asv:
        return ()
    one, other = trials.source.systems
    words = f"{one} distinguishes targets from non-targets better than {other}: name the countermeasure first"
    return (Message("warn", "", f"{words}, then the verifier."),)
