"""Contributions of systems to a fusion: comparison with each system alone, and with fusions without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban.analysis.compared import PairedUnits
from deciban.analysis.systems import labelled_source, system_names
from deciban.core.ranks.roc import PointLike
from deciban.core.resampling.intervals import LEVEL, Interval, checked_level
from deciban.core.training.moments import are_same
from deciban.errors import InputError, TrialError, names_apart, not_none, option
from deciban.evaluation.one_system import Jsonable, plain
from deciban.evaluation.results import Evaluation, Results
from deciban.evaluation.two_class.evaluate import evaluation_of, summary_of_labelled
from deciban.evaluation.two_class.summary import DEFAULT_POINTS, TwoClassMetrics
from deciban.evaluation.uncertainty import Resampling
from deciban.fusion import LinearFusion, posterior_divergence
from deciban.models.model import untrained, without_measure_warnings
from deciban.models.score_model import Fusion, ScoreModel
from deciban.models.sources import read_mapped
from deciban.trials.sources import Batch, TrialFields, TrialSource, having, ordered, scored_by_all
from deciban.types import FloatArray, Names, Weights

Role: TypeAlias = Literal[
    "before", "single", "left out", "leave-one-out", "without quality", "calibration", "fusion", "cross-validated"
]
"""Role of a row in a table; names of systems are free, and can equal names of other rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionRow:
    """One row of the tables of a fusion.

    Attributes
    ----------
    name : str
        Name in tables and legends.
    role : str
        ``before`` (original scores of a system), ``single`` (calibrated alone), ``left out`` (by a selection),
        ``leave-one-out``, ``without quality``, ``calibration``, ``fusion`` or ``cross-validated``.
    dev : Evaluation, ClassEvaluation or None
        On the training trials, which is optimistic; None if there is nothing to evaluate.
    eval : Evaluation, ClassEvaluation or None
        On other trials.
    note : str
        Problem of the row, for example that training was impossible.
    penalized_objective : float or None
        Minimum of two-class training: the objective with the penalty.
    """

    name: str
    role: Role
    dev: Any
    eval: Any = None
    note: str = ""
    penalized_objective: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedSystems(FusionRow):
    """Some of the systems, calibrated and fused; a single system is only calibrated.

    Attributes
    ----------
    name, role, dev, eval, note, penalized_objective
        See `FusionRow`.
    systems : tuple of int
        Columns of the scores, in ascending order.
    model : LinearFusion, QualityFusion, SubsetFusion or None
        Trained on these columns of the development scores; None if that was impossible, with the reason in ``note``.
    """

    systems: tuple[int, ...]
    model: Fusion | None = field(default=None, repr=False, compare=False)

    @property
    def linear(self) -> Fusion | None:
        """Model with the weights for trials with scores of all systems."""
        return None if self.model is None else self.model.whole

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON; None for values without training."""
        linear = self.linear
        return {
            "name": self.name,
            "role": self.role,
            "note": self.note,
            "systems": self.systems,
            "weights": linear and linear.weights_,
            "standardized_weights": linear and linear.standardized_weights_,
            "offset": linear and linear.offset_,
            "penalized_objective": self.penalized_objective,
            "dev": self.dev,
            "eval": self.eval,
        }


@dataclass(frozen=True)
class FusionAnalysis(Jsonable):
    """A fusion, its systems alone, and fusions without each of them.

    Attributes
    ----------
    names : tuple of str
        Names of the systems.
    singles : tuple of FusedSystems
        Each system calibrated alone, with the same rule and prior, and the same quality measures, if any.
    leave_one_out : tuple of FusedSystems
        The fusion without each system; empty for fewer than three systems.
    fusion : FusedSystems
        The fusion of all systems.
    divergence : (n_systems, n_systems) array or None
        Mean symmetric divergence in bits between the posteriors of the systems calibrated alone, on the training trials
        at the prior of the objective; see `deciban.fusion.posterior_divergence`. None if a system cannot be calibrated.
    without_quality : FusedSystems or None
        All systems fused without quality measures, if the fusion has some.
    """

    names: tuple[str, ...]
    singles: tuple[FusedSystems, ...]
    leave_one_out: tuple[FusedSystems, ...]
    fusion: FusedSystems
    divergence: FloatArray | None = field(compare=False)
    without_quality: FusedSystems | None = None

    @property
    def rows(self) -> tuple[FusedSystems, ...]:
        """Rows of tables: single systems, every leave-one-out, and the fusion."""
        plainer = () if self.without_quality is None else (self.without_quality,)
        return (*self.singles, *self.leave_one_out, *plainer, self.fusion)

    @property
    def dev(self) -> Results:
        """The evaluations of all rows on the training trials."""
        return Results(tuple(row.dev for row in self.rows if row.dev is not None))

    @property
    def eval(self) -> Results | None:
        """The evaluations of all rows on other trials, if there are any."""
        items = tuple(row.eval for row in self.rows if row.eval is not None)
        return Results(items) if items else None

    @property
    def standardized_weights(self) -> dict[str, float]:
        """Weight of each system on scores divided by their standard deviation: its effect on the llr."""
        linear = not_none(self.fusion.linear, "fusion")
        return dict(zip(self.names, linear.standardized_weights_.tolist(), strict=True))

    @property
    def best_single(self) -> FusedSystems | None:
        """The single system with the smallest training objective; the first in ties, None without any."""
        known = [(row.penalized_objective, row) for row in self.singles if row.penalized_objective is not None]
        return min(known, key=lambda one: one[0])[1] if known else None

    @property
    def objective_gain(self) -> float | None:
        """Difference between the training objectives, with penalty, of the best single system and of the fusion.

        At least 0, up to the precision of training, because a weight of 0 removes a system. (With a `SubsetFusion`, the
        objective is that of trials with scores of all systems, and this holds without penalty.)
        """
        best, own = self.best_single, self.fusion.penalized_objective
        if best is None or best.penalized_objective is None or own is None:
            return None
        return best.penalized_objective - own

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers (not the curves) as plain JSON types; infinite ones are ``"inf"``."""
        best, model = self.best_single, self.fusion.model
        rows = ("singles", "leave_one_out", "without_quality", "fusion")
        entries = {
            "names": self.names,
            "settings": None if model is None else model.settings,
            **{name: getattr(self, name) for name in rows},
            "best_single": None if best is None else best.name,
            "objective_gain": self.objective_gain,
            "divergence": self.divergence,
        }
        return dict(plain(entries))


@dataclass(frozen=True, slots=True, eq=False)
class FusionMetrics:
    """Metrics of a fusion from a file and of its systems, which are trained anew for comparison.

    Attributes
    ----------
    rows : tuple of FusionRow
        Rows of tables: systems alone, every leave-one-out, the fusion, and the fusion on all trials if some lack a
        score.
    analysis : FusionAnalysis or None
        Two-class analysis on the trials with scores of all systems; None if these lack a class.
    is_of_training : bool or None
        True if the model was trained on these trials; None if unknown.
    names : tuple of str
        Names of the systems.
    whole : FusionRow or None
        The fusion of all systems, for comparison with fusions of fewer.
    without : tuple of FusionRow
        The fusion without each system; for two systems, the other one alone; empty for a single system.
    """

    rows: tuple[FusionRow, ...]
    analysis: FusionAnalysis | None
    is_of_training: bool | None = None
    names: tuple[str, ...] = ()
    whole: FusionRow | None = None
    without: tuple[FusionRow, ...] = ()

    @property
    def dev(self) -> tuple[Any, ...]:
        """Evaluations on the training trials."""
        return tuple(row.dev for row in self.rows if row.dev is not None)

    @property
    def eval(self) -> tuple[Any, ...]:
        """Evaluations on other trials, if there are any."""
        return tuple(row.eval for row in self.rows if row.eval is not None)


@dataclass(frozen=True, slots=True)
class Loss:
    """An increase of Cllr, with its interval.

    Attributes
    ----------
    value : float
        In bits; negative if the fusion is better without the system.
    interval : Interval or None
        By the common units of both fusions; None if units are unknown.
    """

    value: float
    interval: Interval | None = None

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return None if self.interval is None else self.interval.high


@dataclass(frozen=True, slots=True)
class SystemWorth:
    """Loss of a fusion without one of its systems.

    Attributes
    ----------
    name : str
        The omitted system.
    dev : Loss or None
        On the training trials, which favours larger models. None if training without the system is impossible, or costs
        are infinite.
    eval : Loss or None
        On other trials, if there are any.
    """

    name: str
    dev: Loss | None
    eval: Loss | None = None


def worth_of_systems(
    names: Sequence[str], fusion: FusionRow, without: Sequence[FusionRow], *, level: float = LEVEL
) -> tuple[SystemWorth, ...]:
    """Compute the increase of Cllr if a fusion is trained without each of its systems.

    Parameters
    ----------
    names : sequence of str
        Names of the systems.
    fusion : FusionRow
        The fusion of all systems; two-class or multiclass.
    without : sequence of FusionRow
        Fusions without each system, on the same trials; for two systems, the other one calibrated alone.
    level : float
        Level of the intervals.

    Returns
    -------
    tuple of SystemWorth
        In the order of the systems; empty without leave-one-out fusions.

    Raises
    ------
    InputError
        If the level is not inside (0, 1).

    Notes
    -----
    Both fusions are evaluated on the same trials, so intervals are paired, by the units of these trials. The intervals
    include the uncertainty from these evaluation trials, but not from the choice of the training trials. Cllr is the
    cross-entropy at the flat prior.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban.analysis import analyse_fusion
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(400) < 100
    >>> scores = rng.normal(size=(400, 3)) + np.where(is_target, 1.0, -1.0)[:, None]
    >>> found = analyse_fusion(scores, is_target, names=["A", "B", "C"])
    >>> for one in worth_of_systems(found.names, found.fusion, found.leave_one_out):
    ...     print(f"{one.name}  {one.dev.value:.3f}")
    A  0.143
    B  0.150
    C  0.100
    """
    level = checked_level(level)
    return tuple(
        SystemWorth(name, _loss_between(row.dev, fusion.dev, level), _loss_between(row.eval, fusion.eval, level))
        for name, row in zip(names, without, strict=False)
    )


def _loss_between(without: Any, fusion: Any, level: float) -> Loss | None:
    """Return the difference of Cllr between evaluations of the same trials; positive if the first one is worse."""
    if without is None or fusion is None or not math.isfinite(without.cllr - fusion.cllr):
        return None
    known, other = without.uncertainty, fusion.uncertainty
    if (
        known is None
        or other is None
        or not all("cllr" in one.influences and "cllr" in one.estimates for one in (known, other))
    ):
        return Loss(float(without.cllr - fusion.cllr))
    result = PairedUnits.of(known, other).difference("cllr", level)
    return Loss(result.estimate, result)


def analyse_fusion(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    fusion: Fusion | None = None,
    names: Names = None,
    sample_weight: Weights = None,
    quality: Mapping[str, ArrayLike] | None = None,
    eval_scores: ArrayLike | None = None,
    eval_is_target: ArrayLike | None = None,
    eval_sample_weight: Weights = None,
    eval_quality: Mapping[str, ArrayLike] | None = None,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
) -> FusionAnalysis:
    """Train a fusion, every system alone and every leave-one-out, and evaluate all of them.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Development scores for all training.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    fusion : LinearFusion, QualityFusion or SubsetFusion, optional
        Settings of every row; copies of it are trained. The default is ``LinearFusion()``.
    names : sequence of str, optional
        Names of the systems; "system 0", "system 1" and so on by default.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    quality : mapping of str to (n_trials, n_measures) array_like, optional
        The measures for ``QualityFusion.fit``, by argument: ``enroll_quality``, ``test_quality`` and
        ``trial_quality``.
    eval_scores, eval_is_target, eval_sample_weight, eval_quality : optional
        The same for other trials, on which everything is also evaluated.
    operating_points : iterable
        Operating points of detection costs, as in `deciban.evaluate`.

    Returns
    -------
    FusionAnalysis

    Raises
    ------
    InputError
        If numbers of names and systems differ, or the fusion itself cannot be trained or evaluated. Problems of a
        single system or a leave-one-out are in the note of its row instead.

    Notes
    -----
    With quality measures, every system alone and every leave-one-out is a fusion with quality, too, and an additional
    row is without quality. With a `SubsetFusion`, every row is trained on all of its available trials, but evaluated on
    the trials with scores of all systems, so that rows can be compared.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(400) < 100
    >>> scores = rng.normal(size=(400, 3)) + np.where(is_target, 1.0, -1.0)[:, None]
    >>> found = analyse_fusion(scores, is_target, names=["A", "B", "C"])
    >>> for row in found.dev.systems:
    ...     print(f"{row.name:9}  {row.cllr:.3f}  {row.min_cllr:.3f}")
    A          0.465  0.411
    B          0.505  0.464
    C          0.546  0.505
    without A  0.263  0.223
    without B  0.270  0.221
    without C  0.220  0.171
    fusion     0.120  0.086
    """
    prototype = LinearFusion() if fusion is None else fusion
    dev = labelled_source(prototype, scores, is_target, sample_weight, quality)
    n_systems = len(dev.systems)
    others = _other(prototype, eval_scores, eval_is_target, eval_sample_weight, eval_quality, n_systems)
    _require_complete(dev, "scores")
    metrics = TwoClassMetrics.of(operating_points)
    return analysed(FusionTask(prototype, system_names(names, n_systems), dev, others, metrics))


def analysed(work: FusionTask, *, trained: Fusion | None = None) -> FusionAnalysis:
    """Train and evaluate a fusion, each system alone, and the fusion without each system.

    Parameters
    ----------
    work : FusionTask
    trained : Fusion, optional
        The fusion of all systems, if it is already trained.
    """
    names, prototype = work.names, work.prototype
    every = tuple(range(len(names)))
    labels = [f"without {name}" for name in names] + ["fusion without quality", prototype.table_name]
    *without, plainer, fused = names_apart(labels, names)
    try:
        fusion = work.row("fusion", every, fused, trained)
    except InputError as error:
        raise InputError(f"{fused}: {error}") from error
    singles = tuple(work.row("single", (k,), names[k]) for k in every)
    rest = [(*every[:k], *every[k + 1 :]) for k in every] if len(every) > 2 else []
    left = tuple(work.row("leave-one-out", systems, name) for systems, name in zip(rest, without, strict=False))
    simple = None if fusion.model is None else fusion.model.without_quality
    unaware = None if simple is None else work.row("without quality", every, plainer, simple)
    note = on_cancelling_weights(fusion, names, left or singles[::-1], work.compared)
    fusion = replace(fusion, note=note)
    return FusionAnalysis(names, singles, left, fusion, work.divergence(singles), unaware)


def _other(
    prototype: Fusion,
    scores: ArrayLike | None,
    is_target: ArrayLike | None,
    weight: Weights,
    quality: Mapping[str, ArrayLike] | None,
    n_systems: int,
) -> TrialSource | None:
    if scores is None:
        if is_target is not None or weight is not None or quality is not None:
            raise InputError(
                "eval_scores: missing, but labels, weights or measures of evaluation trials are given. Pass the scores."
            )
        return None
    if is_target is None:
        raise InputError("eval_is_target: missing. Evaluation needs the labels of these trials.")
    try:
        trials = labelled_source(prototype, scores, is_target, weight, quality)
    except InputError as error:
        raise InputError(f"Trials for evaluation (eval_scores, eval_is_target): {error}") from error
    if (n := len(trials.systems)) != n_systems:
        raise InputError(
            f"eval_scores: {n} systems, but there are {n_systems} to train on. Pass the same systems in the same order."
        )
    _require_complete(trials, "eval_scores")
    return trials


def _require_complete(trials: TrialSource, name: str) -> None:
    if len(np.unique(scored_by_all(trials).held.labels)) < 2:
        raise InputError(
            f"{name}: no targets, or no non-targets, have scores of all systems, so rows cannot be compared. Leave "
            "out the system with the most missing scores."
        )


_LARGE = 20.0
"""Size of a term, in standard deviations of the llr, above which other terms must cancel it.

Let the llr be ``w s + rest``. Then ``s = (llr - rest) / w``: up to a standard deviation of ``sd(llr) / |w|``, the
score is a weighted sum of the scores of other systems. Relative to the standard deviation of the score, this is
``sd(llr) / (|w| sd(s))``: one over the size of the term. So at 20, the other systems predict the score within 5 % of
its standard deviation (a multiple correlation of at least 0.9987), and an error of 5 % in it changes the llr as much as
all evidence does. Ordinary negative weights are smaller: two systems with a correlation of 0.99, and no other
difference than evidence, have terms of 7.
"""
_SHARE = 0.1
"""Share of the largest term above which other systems are named as cancelling it."""


def on_cancelling_weights(
    fusion: FusedSystems, names: Sequence[str], without: Sequence[FusedSystems], trials: TrialSource
) -> str:
    """Return a note on huge weights that cancel, and the cost of leaving one system out; empty if there are none.

    Parameters
    ----------
    fusion : FusedSystems
        The fusion of all systems.
    names : sequence of str
        Names of the systems.
    without : sequence of FusedSystems
        The fusion without each of them.
    trials : TrialSource
        Training trials with scores of all systems and positive weight.
    """
    linear = fusion.linear
    if linear is None or fusion.model is None:
        return ""
    size = np.abs(linear.standardized_weights_)
    spread = _spread(linear.p_target, trials.held, llrs_of(trials, fusion.model))
    if not size.max() > _LARGE * spread:
        return ""
    own = np.flatnonzero(size > min(_LARGE * spread, _SHARE * size.max())).tolist()
    if len(own) < 2:  # a quality measure cancels the term
        return ""
    weights = ", ".join(f"{linear.standardized_weights_[k]:.4g}" for k in own)
    words = (
        f"{' + '.join(names[k] for k in own)} have nearly the same scores: their weights on standardized scores "
        f"({weights}) cancel up to an llr with a standard deviation of {spread:.3g}, which depends on small "
        "differences between them."
    )
    return " ".join([words, *_loss(fusion, [(names[k], without[k]) for k in own]), _way_out(linear.ridge)])


def _loss(fusion: FusedSystems, without: Sequence[tuple[str, FusedSystems]]) -> list[str]:
    """Return a sentence on the increase of the training objective without the least important of some systems."""
    known = [(row.penalized_objective, name) for name, row in without if row.penalized_objective is not None]
    whole = fusion.penalized_objective
    if not known or not whole:
        return []
    least, name = min(known)
    share = f"{max(least / whole - 1.0, 0.0):.1%}".replace("%", " %")
    return [f"Without {name}, the training objective is {share} higher."]


def _way_out(ridge: float) -> str:
    penalty = f"a larger penalty than {ridge:g} ({option('ridge')})" if ridge else f"a penalty ({option(ridge=1e-3)})"
    return f"Leave one out, or use {penalty}."


def _spread(p_target: float, trials: Batch, llr: FloatArray) -> float:
    """Return the standard deviation of the llr, with the class weights of training."""
    classes = trials.by_class(llr)
    own = [(x[np.isfinite(x)], None if weight is None else weight[np.isfinite(x)]) for x, weight in classes]
    if not all(len(x) for x, _ in own):
        return math.inf
    parts = list(zip((p_target, 1.0 - p_target), own, strict=True))
    mean = sum(prior * np.average(x, weights=weight) for prior, (x, weight) in parts)
    variance = sum(prior * np.average((x - mean) ** 2, weights=weight) for prior, (x, weight) in parts)
    return math.sqrt(variance)


@dataclass(frozen=True)
class FusionTask:
    """Common data of all rows.

    All rows are trained on all of their available trials, and evaluated on trials with scores of all systems.
    """

    prototype: Fusion
    names: tuple[str, ...]
    dev: TrialSource
    others: TrialSource | None
    metrics: TwoClassMetrics
    resampling: Callable[[Any], Resampling | None] = lambda _units: None
    """Returns options of intervals by units; None without units."""

    @cached_property
    def compared(self) -> TrialSource:
        """The training trials with scores of all systems and positive weight."""
        return scored_by_all(self.dev)

    @cached_property
    def other_compared(self) -> TrialSource | None:
        """The other trials with scores of all systems and positive weight."""
        return None if self.others is None else scored_by_all(self.others)

    def _evaluated(self, trials: Batch, llr: FloatArray, name: str) -> Evaluation:
        resampling = self.resampling(trials.units)
        summary = summary_of_labelled(llr, trials.labels, trials.weight, metrics=self.metrics, resampling=resampling)
        return evaluation_of(summary, name=name, resampling=resampling)

    def row(self, role: Role, systems: tuple[int, ...], name: str, model: Fusion | None = None) -> FusedSystems:
        """Return the row of a trained fusion of some of the systems; by default train it, with a note if this fails.

        Raises
        ------
        InputError
            If a trained model cannot be applied, or the fusion of all systems cannot be trained.
        """
        is_required = model is not None or role == "fusion"
        value = None if is_required else self._constant(systems)
        try:
            own = model or (untrained(self.prototype) if value is None else _silent(self.prototype))
            if model is None and value is None:
                own.system_names = tuple(self.names[k] for k in systems)
                labelled = ordered(self.dev, systems=systems)
                there = np.logical_or.reduce([~np.isnan(column) for column in labelled.held.scores])
                scored = labelled if there.all() else having(labelled, range(len(systems)), every=False)
                try:
                    with without_measure_warnings():
                        own.fit_source(scored, None, 0)
                except TrialError as error:
                    raise error.among(np.flatnonzero(there)) from None
            dev, others = ordered(self.compared, systems=systems), self.other_compared
            llr, tested = llrs_of(dev, own), None
            if others is not None:
                others = ordered(others, systems=systems)
                tested = self._evaluated(others.held, llrs_of(others, own), name)
            return FusedSystems(
                name=name,
                role=role,
                note="" if value is None else f"no information: all of its scores are {value:g}, so its llr is 0",
                systems=systems,
                model=own,
                penalized_objective=own.penalized_cost(*dev.held.by_class(llr)),
                dev=self._evaluated(dev.held, llr, name),
                eval=tested,
            )
        except InputError as error:
            if is_required:
                raise
            return FusedSystems(name=name, role=role, dev=None, note=f"not trained: {error}", systems=systems)

    def divergence(self, singles: Sequence[FusedSystems]) -> FloatArray | None:
        """Return the divergence between systems calibrated alone; None if one cannot be calibrated."""
        dev = self.compared
        llrs = [llrs_of(ordered(dev, systems=row.systems), row.model) for row in singles if row.model is not None]
        if len(llrs) < len(singles):
            return None
        columns, prior = np.column_stack(llrs), self.prototype.p_target
        return posterior_divergence(columns, dev.held.labels, p_target=prior, sample_weight=dev.held.weight)

    def _constant(self, systems: tuple[int, ...]) -> float | None:
        """Return the score of a single system that gives all trials the same score, or None."""
        if len(systems) > 1 or self.prototype.takes_quality:
            return None
        column, weight = self.dev.held.scores[systems[0]], self.dev.held.weight
        own = column[~np.isnan(column) if weight is None else ~np.isnan(column) & (weight > 0)]
        if not len(own) or not np.isfinite(own).all():
            return None
        return float(own[0]) if are_same(own.min(), own.max(), np.finfo(own.dtype).eps) else None


def _silent(prototype: Fusion) -> LinearFusion:
    """Return the calibration of a system without information: llr 0 for every score."""
    model = LinearFusion(p_target=prototype.p_target, alpha=prototype.alpha, beta=prototype.beta, ridge=prototype.ridge)
    model.set_parameters({"weights": [0.0], "standardized_weights": [0.0], "offset": 0.0})
    nothing = np.zeros(1), None
    model.objective_ = model.penalized_objective_ = model.cost_of(nothing, nothing)
    return model


def llrs_of(source: TrialSource, model: ScoreModel) -> FloatArray:
    """Return the llrs of a trained model for trials in memory."""
    return np.asarray(read_mapped(model, source.systems, source.partitions[0], TrialFields()).scores[0], np.float64)
