"""The worth of a fusion, compared with each system alone and with fusions without it, on training and other trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban.analysis.compared import PairedUnits
from deciban.analysis.systems import LabelledData, copied, system_names
from deciban.core.ranks.operating import PointLike
from deciban.core.resampling.intervals import LEVEL, Interval, checked_level
from deciban.core.training.moments import are_same
from deciban.errors import InputError, TrialError
from deciban.evaluation.one_system import Jsonable, plain
from deciban.evaluation.results import Results
from deciban.evaluation.summary import DEFAULT_POINTS, TwoClassFigures
from deciban.fusion import LinearFusion, posterior_divergence
from deciban.messages import names_apart
from deciban.models.mapped import having
from deciban.models.score_model import missing_measures_are_known
from deciban.models.two_class import Fusion
from deciban.trials.sources import Chunk
from deciban.types import FloatArray

Role: TypeAlias = Literal[
    "before", "single", "left out", "leave-one-out", "without quality", "calibration", "fusion", "cross-validated"
]
"""What a row of a table is there for; names of systems are free, and may be those of other rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """One row of the tables of a fusion.

    Attributes
    ----------
    name : str
        What tables and legends call it.
    role : str
        ``before`` (a system as it is), ``single`` (calibrated alone), ``left out`` (by a selection), ``leave-one-out``,
        ``without quality``, ``calibration``, ``fusion`` or ``cross-validated``.
    dev : Evaluation, ClassEvaluation or None
        On the trials of training, which flatters; None if there is nothing to evaluate.
    eval : Evaluation, ClassEvaluation or None
        On other trials.
    note : str
        Why it is not what it should be: that nothing could be trained, for example.
    penalized_objective : float or None
        What training of two classes made as small as it could: the objective with the penalty.
    """

    name: str
    role: Role
    dev: Any
    eval: Any = None
    note: str = ""
    penalized_objective: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedSystems(FigureRow):
    """Some of the systems, calibrated and fused; one system alone is calibrated.

    Attributes
    ----------
    name, role, dev, eval, note, penalized_objective
        See `FigureRow`.
    systems : tuple of int
        Columns of the scores, in ascending order.
    model : LinearFusion, QualityFusion, SubsetFusion or None
        Trained on these columns of the development scores; None if that was not possible, as ``note`` says.
    """

    systems: tuple[int, ...]
    model: Fusion | None = field(default=None, repr=False, compare=False)

    @property
    def linear(self) -> Fusion | None:
        """What holds the weights of trials that all systems scored."""
        return None if self.model is None else self.model.whole

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON; None where nothing was trained."""
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
    """A fusion, its systems alone, and what is lost without each of them.

    Attributes
    ----------
    names : tuple of str
        Of the systems.
    singles : tuple of FusedSystems
        Each system calibrated alone, by the same rule and prior; with the same quality measures, if there are some.
    leave_one_out : tuple of FusedSystems
        The fusion without each system; empty for fewer than three, which are those alone.
    fusion : FusedSystems
        Of all systems.
    divergence : (n_systems, n_systems) array or None
        Mean symmetric divergence in bits between the posteriors of the systems calibrated alone, on the trials of
        training and at the prior of the objective; see `deciban.fusion.posterior_divergence`. None if a system cannot
        be calibrated.
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
        """Single systems, every leave-one-out, and the fusion, as tables show them."""
        plainer = () if self.without_quality is None else (self.without_quality,)
        return (*self.singles, *self.leave_one_out, *plainer, self.fusion)

    @property
    def dev(self) -> Results:
        """The evaluations of all rows on the trials of training."""
        return Results(tuple(row.dev for row in self.rows if row.dev is not None))

    @property
    def eval(self) -> Results | None:
        """The evaluations of all rows on other trials, if there are any."""
        found = tuple(row.eval for row in self.rows if row.eval is not None)
        return Results(found) if found else None

    @property
    def standardized_weights(self) -> dict[str, float]:
        """The weight of each system on scores divided by their standard deviation: how much it moves the result."""
        linear = self.fusion.linear
        assert linear is not None  # noqa: S101  # without a fusion there is no analysis
        return dict(zip(self.names, linear.standardized_weights_.tolist(), strict=True))

    @property
    def best_single(self) -> FusedSystems | None:
        """The single system with the least training objective; of equal ones the first, and None if there is none."""
        known = [(row.penalized_objective, row) for row in self.singles if row.penalized_objective is not None]
        return min(known, key=lambda one: one[0])[1] if known else None

    @property
    def objective_gain(self) -> float | None:
        """By how much the objective of training, penalty included, is below that of the best single system.

        At least 0, up to the precision of training: a weight of 0 would leave a system out. (With a `SubsetFusion` it
        is the objective of trials that all systems scored, and the law holds without penalty.)
        """
        best, own = self.best_single, self.fusion.penalized_objective
        if best is None or best.penalized_objective is None or own is None:
            return None
        return best.penalized_objective - own

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers (not the curves) as plain JSON types; infinite ones are ``"inf"``."""
        best, model = self.best_single, self.fusion.model
        rows = ("singles", "leave_one_out", "without_quality", "fusion")
        return dict(
            plain(
                {
                    "names": self.names,
                    "settings": None if model is None else model.settings,
                    **{name: getattr(self, name) for name in rows},
                    "best_single": None if best is None else best.name,
                    "objective_gain": self.objective_gain,
                    "divergence": self.divergence,
                }
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class FusionFigures:
    """Figures of a fusion from a file and of its systems, which are trained anew beside it.

    Attributes
    ----------
    rows : tuple of FigureRow
        What tables show: systems alone, every leave-one-out, the fusion, and that on all trials if some lack a score.
    analysis : FusionAnalysis or None
        Of two classes, evaluated on the trials that all systems scored; None if these are not of both classes.
    is_of_training : bool or None
        Whether the model was trained on these trials; None if it does not know.
    names : tuple of str
        Of the systems.
    whole : FigureRow or None
        The fusion of all systems that is compared with those of fewer.
    without : tuple of FigureRow
        The fusion without each system, of two systems the other one alone; empty for a system alone.
    """

    rows: tuple[FigureRow, ...]
    analysis: FusionAnalysis | None
    is_of_training: bool | None = None
    names: tuple[str, ...] = ()
    whole: FigureRow | None = None
    without: tuple[FigureRow, ...] = ()

    @property
    def dev(self) -> tuple[Any, ...]:
        """Evaluations on the trials of training."""
        return tuple(row.dev for row in self.rows if row.dev is not None)

    @property
    def eval(self) -> tuple[Any, ...]:
        """Evaluations on other trials, where there are any."""
        return tuple(row.eval for row in self.rows if row.eval is not None)


@dataclass(frozen=True, slots=True)
class Loss:
    """A rise of Cllr, with its interval.

    Attributes
    ----------
    value : float
        In bits; below 0 if the fusion is better without the system.
    interval : Interval or None
        By the units that both fusions share; None where units are not known.
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
    """What a fusion loses without one of its systems.

    Attributes
    ----------
    name : str
        The system that is left out.
    dev : Loss or None
        On the trials of training, which flatters what has more to adjust. None if nothing can be trained without it, or
        costs are infinite.
    eval : Loss or None
        On other trials, where there are any.
    """

    name: str
    dev: Loss | None
    eval: Loss | None = None


def worth_of_systems(
    names: Sequence[str], fusion: FigureRow, without: Sequence[FigureRow], *, level: float = LEVEL
) -> tuple[SystemWorth, ...]:
    """Say how much Cllr rises where a fusion is trained anew without each of its systems.

    Parameters
    ----------
    names : sequence of str
        Of the systems.
    fusion : FigureRow
        Of all systems; of two classes or of many.
    without : sequence of FigureRow
        Without each system, on the same trials: of two systems the other one alone, calibrated.
    level : float
        Of the intervals.

    Returns
    -------
    tuple of SystemWorth
        In the order of the systems; none where nothing was left out.

    Raises
    ------
    InputError
        If the level is not inside (0, 1).

    Notes
    -----
    Both fusions are evaluated on the same trials, so intervals are paired, by the units of these trials. They say how
    sure these trials are of the loss of these two fusions; that other training trials would have given others is not
    in them. Cllr is the cross-entropy at the flat prior.

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
    """By how much the first one is worse; evaluations of the same trials."""
    if without is None or fusion is None or not math.isfinite(without.cllr - fusion.cllr):
        return None
    known, other = without.uncertainty, fusion.uncertainty
    if (
        known is None
        or other is None
        or not all("cllr" in one.influences and "cllr" in one.estimates for one in (known, other))
    ):
        return Loss(float(without.cllr - fusion.cllr))
    found = PairedUnits.of(known, other).difference("cllr", level)
    return Loss(found.estimate, found)


def analyse_fusion(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    fusion: Fusion | None = None,
    names: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    quality: Mapping[str, ArrayLike] | None = None,
    eval_scores: ArrayLike | None = None,
    eval_is_target: ArrayLike | None = None,
    eval_sample_weight: ArrayLike | None = None,
    eval_quality: Mapping[str, ArrayLike] | None = None,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
) -> FusionAnalysis:
    """Train a fusion, every system alone and every leave-one-out, and evaluate them all.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Development scores, which everything is trained on.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    fusion : LinearFusion, QualityFusion or SubsetFusion, optional
        What to train: every row has its settings; copies are trained, it stays as it is. The default is
        ``LinearFusion()``.
    names : sequence of str, optional
        Of the systems; "system 0", "system 1" and so on if left out.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    quality : mapping of str to (n_trials, n_measures) array_like, optional
        The measures that ``QualityFusion.fit`` takes, by argument: ``enroll_quality``, ``test_quality`` and
        ``trial_quality``.
    eval_scores, eval_is_target, eval_sample_weight, eval_quality : optional
        The same for other trials, which everything is evaluated on, too.
    operating_points : iterable
        Where detection costs are wanted, as in `deciban.evaluate`.

    Returns
    -------
    FusionAnalysis

    Raises
    ------
    InputError
        If names or systems are not equally many, or the fusion itself cannot be trained or evaluated. Where that is so
        of a system alone or of a leave-one-out, its row says why instead.

    Notes
    -----
    With quality measures, every system alone and every leave-one-out is a fusion with quality, too, and one more row
    is without. With a `SubsetFusion`, every row is trained on what there is, and evaluated on the trials that all
    systems scored, so that rows can be compared.

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
    dev = LabelledData.of(prototype, scores, is_target, sample_weight=sample_weight, quality=quality)
    n_systems = len(dev.source.systems)
    others = _other(prototype, eval_scores, eval_is_target, eval_sample_weight, eval_quality, n_systems)
    _require_complete(dev, "scores")
    figures = TwoClassFigures.of(operating_points)
    return analysed(FusionTask(prototype, system_names(names, n_systems), dev, others, figures))


def analysed(work: FusionTask, *, trained: Fusion | None = None) -> FusionAnalysis:
    """Train and evaluate a fusion, each system alone, and the fusion without each system.

    Parameters
    ----------
    work : FusionTask
    trained : Fusion, optional
        The fusion of all systems, if it is trained already.
    """
    names, prototype = work.names, work.prototype
    every = tuple(range(len(names)))
    wanted = [f"without {name}" for name in names] + ["fusion without quality", prototype.table_name]
    *without, plainer, fused = names_apart(wanted, names)
    try:
        fusion = work.evaluated(trained or work.trained(every), every, fused, role="fusion")
    except InputError as error:
        raise InputError(f"{fused}: {error}") from error
    singles = tuple(work.row("single", (k,), names[k]) for k in every)
    rest = [(*every[:k], *every[k + 1 :]) for k in every] if len(every) > 2 else []
    left = tuple(work.row("leave-one-out", systems, name) for systems, name in zip(rest, without, strict=False))
    simple = None if fusion.model is None else fusion.model.without_quality
    unaware = None if simple is None else work.evaluated(simple, every, plainer, role="without quality")
    note = on_cancelling_weights(fusion, names, left or singles[::-1], work.compared)
    fusion = replace(fusion, note=note)
    return FusionAnalysis(names, singles, left, fusion, work.divergence(singles), unaware)


def _other(
    prototype: Fusion,
    scores: ArrayLike | None,
    is_target: ArrayLike | None,
    weight: ArrayLike | None,
    quality: Mapping[str, ArrayLike] | None,
    n_systems: int,
) -> LabelledData | None:
    if scores is None:
        if is_target is not None or weight is not None or quality is not None:
            raise InputError(
                "eval_scores: not given, but labels, weights or measures of such trials are. Pass the scores, too."
            )
        return None
    if is_target is None:
        raise InputError("eval_is_target: not given. Evaluation needs to know which trials are targets.")
    try:
        trials = LabelledData.of(prototype, scores, is_target, sample_weight=weight, quality=quality)
    except InputError as error:
        raise InputError(f"Trials for evaluation (eval_scores, eval_is_target): {error}") from error
    if (n := len(trials.source.systems)) != n_systems:
        raise InputError(
            f"eval_scores: {n} systems, but there are {n_systems} to train on. Pass the same systems in the same order."
        )
    _require_complete(trials, "eval_scores")
    return trials


def _require_complete(trials: LabelledData, name: str) -> None:
    if not trials.complete.has_both_classes:
        raise InputError(
            f"{name}: no targets, or no non-targets, have scores of all systems. Rows are compared on trials that all "
            "systems scored; leave out the system that lacks most."
        )


_LARGE = 20.0
"""Size of a term, in standard deviations of the llr, from which on it is there to be cancelled by others.

Let the llr be ``w s + rest``. Then ``s = (llr - rest) / w``: up to a standard deviation of ``sd(llr) / |w|``, the
score is a weighted sum of those of other systems. Relative to that of the score itself, this is ``sd(llr) / (|w|
sd(s))``: one over the size of the term. So at 20 the others tell the score within 5 % of its standard deviation (a
multiple correlation of 0.9987 or more), whatever the signs are, and an error of 5 % in it moves the llr as much as all
evidence does. Ordinary negative weights stay below: two systems that correlate at 0.99, and differ in nothing but what
matters, have terms of 7.
"""
_SHARE = 0.1
"""Part of the largest term from which on others are named as those that cancel it."""


def on_cancelling_weights(
    fusion: FusedSystems, names: Sequence[str], without: Sequence[FusedSystems], trials: LabelledData
) -> str:
    """Say which systems have huge weights that cancel, and what it costs to leave one out; nothing if none have.

    Parameters
    ----------
    fusion : FusedSystems
        Of all systems.
    names : sequence of str
        Of the systems.
    without : sequence of FusedSystems
        The fusion without each of them.
    trials : LabelledData
        Those of training that all systems scored, and that count.
    """
    linear = fusion.linear
    if linear is None or fusion.model is None:
        return ""
    size = np.abs(linear.standardized_weights_)
    spread = _spread(linear.p_target, trials.chunk, trials.transform(fusion.model))
    if not size.max() > _LARGE * spread:
        return ""
    own = np.flatnonzero(size > min(_LARGE * spread, _SHARE * size.max())).tolist()
    if len(own) < 2:  # what cancels the term is a measure of quality
        return ""
    weights = ", ".join(f"{linear.standardized_weights_[k]:.4g}" for k in own)
    words = (
        f"{' + '.join(names[k] for k in own)} say nearly the same: their weights on standardized scores ({weights}) "
        f"cancel but for an llr with a standard deviation of {spread:.3g}, which hangs on small differences between "
        "them."
    )
    return " ".join([words, *_loss(fusion, [(names[k], without[k]) for k in own]), _way_out(linear.ridge)])


def _loss(fusion: FusedSystems, without: Sequence[tuple[str, FusedSystems]]) -> list[str]:
    """What the objective of training loses without the one of some systems that it needs least."""
    known = [(row.penalized_objective, name) for name, row in without if row.penalized_objective is not None]
    whole = fusion.penalized_objective
    if not known or not whole:
        return []
    least, name = min(known)
    share = f"{max(least / whole - 1.0, 0.0):.1%}".replace("%", " %")
    return [f"Without {name}, the objective of training is {share} higher."]


def _way_out(ridge: float) -> str:
    penalty = (
        f"a larger penalty than {ridge:g} (ridge, --ridge)" if ridge > 0.0 else "a penalty (ridge=1e-3, --ridge 1e-3)"
    )
    return f"Leave one out, or take {penalty}."


def _spread(p_target: float, trials: Chunk, llr: FloatArray) -> float:
    """Standard deviation of the llr, in which the classes have the weights that they have in those of the scores."""
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
    """What all rows have in common.

    All are trained on all trials that they can take, and evaluated on those that all systems scored.
    """

    prototype: Fusion
    names: tuple[str, ...]
    dev: LabelledData
    others: LabelledData | None
    figures: TwoClassFigures

    @cached_property
    def compared(self) -> LabelledData:
        """The trials of training that all systems scored, and that count."""
        return self.dev.complete

    @cached_property
    def other_compared(self) -> LabelledData | None:
        """Other such trials."""
        return None if self.others is None else self.others.complete

    def row(self, role: Role, systems: tuple[int, ...], name: str) -> FusedSystems:
        """Train some of the systems; that this is not possible is an answer, too."""
        value = self._constant(systems)
        if value is not None:
            note = f"says nothing: all of its scores are {value:g}, so that its llr is 0"
            return self.evaluated(_silent(self.prototype), systems, name, role=role, note=note)
        try:
            return self.evaluated(self.trained(systems), systems, name, role=role)
        except InputError as error:
            return FusedSystems(name=name, role=role, dev=None, note=f"not trained: {error}", systems=systems)

    def divergence(self, singles: Sequence[FusedSystems]) -> FloatArray | None:
        """How much systems differ that are calibrated alone."""
        dev = self.compared
        llrs = [dev.choose(row.systems).transform(row.model) for row in singles if row.model is not None]
        if len(llrs) < len(singles):
            return None
        columns, prior = np.column_stack(llrs), self.prototype.p_target
        return posterior_divergence(columns, dev.chunk.labels, p_target=prior, sample_weight=dev.chunk.weight)

    def _constant(self, systems: tuple[int, ...]) -> float | None:
        """The only score of a system that stands alone and scores all trials alike."""
        if len(systems) > 1 or self.prototype.takes_quality:
            return None
        column, weight = self.dev.chunk.scores[systems[0]], self.dev.chunk.weight
        counting = ~np.isnan(column) if weight is None else ~np.isnan(column) & (weight > 0)
        own = column[counting]
        if not len(own) or not np.isfinite(own).all():
            return None
        return float(own[0]) if are_same(own.min(), own.max(), np.finfo(own.dtype).eps) else None

    def trained(self, systems: tuple[int, ...]) -> Fusion:
        """A fusion of some of the systems.

        Raises
        ------
        InputError
            If it cannot be trained.
        """
        model = copied(self.prototype)
        model.system_names = tuple(self.names[k] for k in systems)
        own = self.dev.choose(systems)
        there = np.logical_or.reduce([~np.isnan(column) for column in own.chunk.scores])
        scored = own.source if there.all() else having(own.source, range(len(systems)), every=False)
        try:
            with missing_measures_are_known():
                model.fit_pieces(scored, None, 0)
        except TrialError as error:
            raise error.among(np.flatnonzero(there)) from None
        return model

    def evaluated(
        self, model: Fusion, systems: tuple[int, ...], name: str, *, role: Role, note: str = ""
    ) -> FusedSystems:
        """The row of a trained fusion of some of the systems."""
        dev, others = self.compared.choose(systems), self.other_compared
        others = None if others is None else others.choose(systems)
        llr = dev.transform(model)
        return FusedSystems(
            name=name,
            role=role,
            note=note,
            systems=systems,
            model=model,
            penalized_objective=model.penalized_cost(*dev.chunk.by_class(llr)),
            dev=dev.evaluated(llr, name, self.figures),
            eval=None if others is None else others.evaluated(others.transform(model), name, self.figures),
        )


def _silent(prototype: Fusion) -> LinearFusion:
    """The calibration of a system that says nothing: llr 0 for every score."""
    model = LinearFusion(p_target=prototype.p_target, alpha=prototype.alpha, beta=prototype.beta, ridge=prototype.ridge)
    model.set_parameters({"weights": [0.0], "standardized_weights": [0.0], "offset": 0.0})
    nothing = np.zeros(1), None
    model.objective_ = model.penalized_objective_ = model.cost_of(nothing, nothing)
    return model
