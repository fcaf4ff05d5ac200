"""Bounds on log-likelihood ratios, fixed or empirical as in forensic practice, and chains of calibrators and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.ranks.counts import SortedClass
from deciban.core.resampling.linearised import UnitChanges
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Ends, Sums
from deciban.errors import InputError, warn
from deciban.metrics import SortedScores
from deciban.models.labelled import Labelled
from deciban.models.loading import model_of
from deciban.models.model import Plain, Uncertainty, content_of
from deciban.models.sources import SourceTrials
from deciban.models.two_class import Calibrator, outcome_of
from deciban.models.uncertainty import ParameterCovariance
from deciban.trials.sources import Chunk
from deciban.types import CountArray, FloatArray

_CUTS = np.arange((1 << 16) + 1) / (1 << 10)
"""From 0 to 64: beyond that no bound lies, as not even 10^27 trials would allow it."""


_BYTES_PER_SCORE = 64
"""What a score takes that is kept, with its weight and what sorting needs."""


def upper_bound(tar: SortedClass, non: SortedClass, amount: float) -> float:
    """Where above 0 the normalized Bayes error rate first exceeds 1, with so many misleading llrs in each class."""
    both = np.concatenate((tar.scores, non.scores)).astype(np.float64, copy=False)
    ends = np.append(np.unique(both[(both > 0.0) & (both < np.inf)]), np.inf)
    begins = np.insert(ends[:-1], 0, 0.0)
    rates = Rates(float(tar.total), float(non.total), amount)
    crossing = rates.crossing(tar.at_or_above(ends), non.at_or_above(ends))
    first = int(np.argmax(crossing < ends))  # at the last end, infinity, it is always so
    return float(max(crossing[first], begins[first]))


@dataclass(frozen=True, slots=True)
class Rates:
    """How error rates follow from counts: trials of both classes, and misleading llrs in each of them."""

    n_tar: float
    n_non: float
    amount: float

    def crossing(self, n_hit: Any, n_fa: Any) -> FloatArray:
        """Where the rate passes 1 between neighbouring llrs.

        Errors are constant there and the rate increases with the threshold: it passes 1 where
        ``exp(t) (n_fa + k) / (N + k) = 1 - (n_miss + k) / (T + k) = (T - n_miss) / (T + k)``.
        """
        with np.errstate(divide="ignore"):
            hits: FloatArray = np.log(n_hit / (self.n_tar + self.amount))
            alarms: FloatArray = np.log((n_fa + self.amount) / (self.n_non + self.amount))
        return hits - alarms


def upper_bound_of_source(data: SourceTrials, amount: float, *, sign: int) -> float:
    """The same of trials in pieces: of one cell of llrs after the other in which it may lie, these are kept.

    Parameters
    ----------
    data : SourceTrials
    amount : float
    sign : {1, -1}
        -1 for llrs of the opposite sign and classes in each other's place.

    Raises
    ------
    InputError
        If too many llrs lie within a thousandth of each other.
    """
    table: _Table = data.look(partial(_counted, sign))
    counts, high = table.counts.total, table.ends.high
    n_tar, n_non = counts.sum(axis=1).tolist()
    rates, above = Rates(n_tar, n_non, amount), counts.sum(axis=1)[:, None] - np.cumsum(counts, axis=1)
    is_there = counts[:, 1:-1].any(axis=0)
    least = rates.crossing(above[0, 1:-1], above[1, :-2])
    for at in np.flatnonzero(is_there & (least < _CUTS[1:])).tolist():
        kept: _Kept = data.look(partial(_kept, sign, at, _most(data)))
        begin = float(np.max(high[:at], initial=0.0))
        found = _first_in(kept, rates, above[:, at + 1], begin)
        if found is not None:
            return found
    # No bound lies beyond the last cut, so that the next llr is beyond it, too.
    rest = rates.crossing(above[0, -2], above[1, -2])
    return max(float(rest), float(np.max(high, initial=0.0)))


def _most(data: SourceTrials) -> int:
    return max(data.memory // _BYTES_PER_SCORE, 1)


def _first_in(kept: _Kept, rates: Rates, above: FloatArray, begin: float) -> float | None:
    """The bound, if it lies before one of these llrs; ``above`` counts the trials of both classes beyond them."""
    classes = [SortedClass.of(np.concatenate(scores), weights) for scores, weights in kept.classes]
    ends = np.unique(np.concatenate([one.scores for one in classes])).astype(np.float64)
    n_hit, n_fa = (beyond + one.at_or_above(ends) for beyond, one in zip(above, classes, strict=True))
    crossing = rates.crossing(n_hit, n_fa)
    found = np.flatnonzero(crossing < ends)
    if not len(found):
        return None
    first = int(found[0])
    return float(max(crossing[first], ends[first - 1] if first else begin))


def _by_class(trials: Chunk, sign: int) -> list[tuple[FloatArray, CountArray | None]]:
    """Llrs and weights of targets and of non-targets, or the other way round and with the opposite sign."""
    data = Labelled.of(trials).counting
    both = [(data.tar, data.tar_weight), (data.non, data.non_weight)]
    return [(sign * scores.astype(np.float64, copy=False), weights) for scores, weights in both[::sign]]


@dataclass(frozen=True, slots=True)
class _Table:
    """Trials of both classes in cells between cuts, and the highest llr in each; of more trials they add up."""

    counts: Sums
    ends: Ends

    def __add__(self, other: _Table) -> _Table:
        return _Table(self.counts + other.counts, self.ends + other.ends)


def _counted(sign: int, trials: Chunk) -> _Table:
    """Count trials in cells; the first is that of llrs up to 0."""
    n = len(_CUTS)
    counts, high = np.zeros((2, n + 1)), np.full(n + 1, -np.inf)
    for k, (llr, weights) in enumerate(_by_class(trials, sign)):
        cell = np.searchsorted(_CUTS, llr, side="left")
        counts[k] = np.bincount(cell, weights, minlength=n + 1)
        finite = llr < np.inf
        np.maximum.at(high, cell[finite], llr[finite])
    return _Table(Sums.of(counts), Ends.up_to(high[1:-1]))


@dataclass(frozen=True, slots=True)
class _Kept:
    """Llrs of both classes in a cell, in arrays that more are added to, with their weights."""

    llrs: tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]
    weights: tuple[tuple[CountArray, ...], tuple[CountArray, ...]]
    most: int

    @property
    def classes(self) -> list[tuple[tuple[FloatArray, ...], CountArray | None]]:
        """Of each class llrs, and weights if there are some."""
        pairs = zip(self.llrs, self.weights, strict=True)
        return [(llrs, np.concatenate(weights) if weights else None) for llrs, weights in pairs]

    def __add__(self, other: _Kept) -> _Kept:
        tar, non = ((*a, *b) for a, b in zip(self.llrs, other.llrs, strict=True))
        of_tar, of_non = ((*a, *b) for a, b in zip(self.weights, other.weights, strict=True))
        n = sum(len(one) for one in (*tar, *non))
        if n > self.most:
            raise InputError(
                f"scores: {n:,} llrs and more lie within a thousandth of each other where the bound may be, more than "
                "the memory holds. Allow more (memory=, --memory)."
            )
        return _Kept((tar, non), (of_tar, of_non), self.most)


def _kept(sign: int, at: int, most: int, trials: Chunk) -> _Kept:
    """Keep the trials of a cell, counted from 0."""
    low, high = _CUTS[at], _CUTS[at + 1]
    llrs, weights = [], []
    for llr, weight in _by_class(trials, sign):
        some = (llr > low) & (llr <= high)
        llrs.append((llr[some],))
        weights.append(() if weight is None else (weight[some],))
    return _Kept((llrs[0], llrs[1]), (weights[0], weights[1]), most)


_LARGEST = float(np.finfo(np.float64).max)


class BoundCalibrator(Calibrator):
    """Log-likelihood ratios clipped to fixed bounds; there is nothing to train.

    Parameters
    ----------
    low, high : float, optional
        Lowest and highest llr, in nats; None leaves that side open. Bounds in other units are converted first: a
        likelihood ratio of 10,000 is ``math.log(10_000)``.

    Raises
    ------
    InputError
        If a bound is not finite, both are open, or ``low`` is above ``high``.

    Notes
    -----
    ``transform`` works with and without ``fit``, which only leaves a record of the data in ``training_``. Put it behind
    another calibrator with `Chain`.

    Examples
    --------
    >>> BoundCalibrator(low=-4.0, high=4.0).transform([-9.0, 1.5, float("inf")])
    array([-4. ,  1.5,  4. ])
    """

    kind: ClassVar[str] = "bound"
    parameter_schema: ClassVar[dict[str, Any]] = {}

    def __init__(self, *, low: float | None = None, high: float | None = None) -> None:
        self.low = low
        self.high = high
        self._checked()

    def _checked(self) -> tuple[float, float]:
        """Both bounds; they are attributes and may have been changed."""
        words = "A bound is a finite llr in nats, or None"
        low = -np.inf if self.low is None else _validate.in_range(self.low, "low", -_LARGEST, _LARGEST, words)
        high = np.inf if self.high is None else _validate.in_range(self.high, "high", -_LARGEST, _LARGEST, words)
        if self.low is None and self.high is None:
            raise InputError("low, high: both are None. Give at least one bound.")
        if low > high:
            raise InputError(f"low, high: the lower bound {low:g} is above the upper one, {high:g}.")
        return low, high

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        return _results(data, self._transform, *self._checked())

    def _transform(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.clip(scores, *self._checked()))

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:  # noqa: ARG002  # nothing was trained
        n = units.n_units
        return ParameterCovariance.of(UnitChanges(values=np.zeros((n, 0)), n_units=n, n_effective=n), units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.zeros((len(scores), 0))


class ElubCalibrator(Calibrator):
    """Log-likelihood ratios clipped to the empirical bounds of their own training data (Vergeer et al. 2016).

    Parameters
    ----------
    n_misleading : float
        As in `elub_bounds`.

    Attributes
    ----------
    low_, high_ : float
        The bounds, in nats; ``low_ <= 0 <= high_``.

    Warns
    -----
    DecibanWarning
        If a bound is 0: on that side the llrs are worse than no evidence from the start.

    Notes
    -----
    It wants llrs, not scores: put it behind another calibrator with `Chain`. Bounds from the trials that this one was
    trained on are a little too wide; forensic practice computes them on llrs of held-out trials, which
    `cross_validated` gives.

    Examples
    --------
    >>> import numpy as np
    >>> llrs = np.concatenate([np.linspace(-1.0, 9.0, 100), np.linspace(-9.0, 1.0, 100)])
    >>> calibrator = ElubCalibrator().fit(llrs, np.arange(200) < 100)
    >>> round(calibrator.low_, 3), round(calibrator.high_, 3)
    (-3.932, 3.932)
    >>> calibrator.transform([-8.0, 1.5, 8.0]).round(3)
    array([-3.932,  1.5  ,  3.932])
    """

    kind: ClassVar[str] = "elub"
    parameter_schema: ClassVar[dict[str, Any]] = {
        "low": {"type": "number", "maximum": 0},
        "high": {"type": "number", "minimum": 0},
    }

    def __init__(self, *, n_misleading: float = 1.0) -> None:
        self.n_misleading = n_misleading
        _misleading(n_misleading)

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        if isinstance(data, Labelled):
            self.low_, self.high_ = _bounds(SortedScores(**data.as_sets(data.score)), self.n_misleading)
        else:
            amount = _misleading(self.n_misleading)
            low, self.high_ = (upper_bound_of_source(data, amount, sign=sign) for sign in (-1, 1))
            self.low_ = -low + 0.0
        if self.low_ == 0.0 or self.high_ == 0.0:
            sides = [side for side, bound in (("lower", self.low_), ("upper", self.high_)) if bound == 0.0]
            warn(
                f"ElubCalibrator: the {' and the '.join(sides)} bound is 0: there the llrs do worse than saying "
                "nothing. They may not be calibrated, or trials are too few."
            )
        return _results(data, self._transform, self.low_, self.high_)

    def _transform(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.clip(scores, self.low_, self.high_))

    def parameter_lines(self) -> list[str]:
        """The bounds, in nats and as common logarithms."""
        return [_in_both_units(self.low_, self.high_)]


def elub_bounds(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    n_misleading: float = 1.0,
    tar_weights: ArrayLike | None = None,
    non_weights: ArrayLike | None = None,
) -> tuple[float, float]:
    """Empirical lower and upper bound of log-likelihood ratios (ELUB; Vergeer et al. 2016).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    n_misleading : float
        Number of misleading llrs that are added to each class, at least 1: targets of -inf, non-targets of +inf.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    low, high : float
        The bounds in nats, ``low <= 0 <= high``. Both are finite: ``high`` is at most ``ln((N + k) / k)`` for ``N``
        non-targets and ``k`` misleading llrs, ``low`` at least ``-ln((T + k) / k)`` for ``T`` targets.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, or a parameter is out of range.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Notes
    -----
    How strong may evidence be that rests on few trials? At a Bayes threshold ``t`` the expected cost of decisions is
    ``P_miss(t) + exp(t) P_fa(t)``, and of deciding without evidence ``min(1, exp(t))``; their ratio is the normalized
    Bayes error rate. With ``k`` misleading llrs added to each class, the error rates are ``(misses + k) / (T + k)`` and
    ``(false alarms + k) / (N + k)``. The bounds are the ends of the interval around 0 in which the ratio nowhere
    exceeds 1. They are computed exactly; programs that go through a grid of thresholds are off by up to a step of it. A
    ratio above 1 at an isolated threshold, as a trial exactly at 0 can cause, does not count.

    Where the ratio passes 1 more than once, the crossings next to 0 are taken: the cautious choice.

    References
    ----------
    P. Vergeer, A. van Es, A. de Jongh, I. Alberink and R. Stoel, "Numerical likelihood ratios outputted by LR systems
    are often based on extrapolation: When to stop extrapolating?", Science & Justice 56, 2016, 482-491.

    Examples
    --------
    >>> low, high = elub_bounds([2.0, 4.0, 6.0, 8.0], [-8.0, -6.0, -4.0, -2.0])
    >>> round(low, 3), round(high, 3)   # ln(5) = 1.609
    (-1.386, 1.386)
    """
    scores = SortedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return _bounds(scores, n_misleading)


def _bounds(scores: SortedScores, n_misleading: float) -> tuple[float, float]:
    """Of checked llrs; see `elub_bounds`."""
    amount = _misleading(n_misleading)
    mirrored = SortedScores(
        *(-np.asarray(one.scores) for one in (scores.non, scores.tar)),
        tar_weights=scores.non.weights,
        non_weights=scores.tar.weights,
    )
    return -upper_bound(mirrored.tar, mirrored.non, amount) + 0.0, upper_bound(scores.tar, scores.non, amount)


def _in_both_units(low: float, high: float) -> str:
    """Bounds as forensic reports quote them, too.

    >>> _in_both_units(-2.302585092994046, 4.605170185988092)
    'low -2.30259 nats (log10 LR -1), high 4.60517 nats (log10 LR 2)'
    """
    bounds = {"low": low, "high": high}.items()
    return ", ".join(f"{name} {value:.6g} nats (log10 LR {value / math.log(10):.4g})" for name, value in bounds)


def _misleading(amount: float) -> float:
    return _validate.in_range(amount, "n_misleading", 1.0, 1e100, "At least 1 misleading llr is added to each class")


def _results(data: Any, transform: Callable[[FloatArray], FloatArray], low: float, high: float) -> dict[str, Plain]:
    n, below, above = (int(one) for one in data.look(partial(_beyond, low, high)).total)
    status = f"of {n:,} llrs {below:,} were below the lower bound and {above:,} above the upper one"
    return outcome_of(data, transform, status)


def _beyond(low: float, high: float, trials: Chunk) -> Sums:
    """Count trials, and those with scores beyond bounds."""
    score = Labelled.of(trials).score
    return Sums.of(np.array([len(score), (score < low).sum(), (score > high).sum()]))


class Chain(Calibrator):
    """Calibrators one after the other: each is trained on, and applied to, what the one before puts out.

    Parameters
    ----------
    *steps : Calibrator
        At least one; typically a calibrator and a bound. They are trained as they are, not copied.

    Attributes
    ----------
    steps : tuple of Calibrator
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` the Cllr of the last step.

    Raises
    ------
    InputError
        If there is no step, or one is no calibrator.

    Examples
    --------
    >>> from deciban.calibration import AffineCalibrator, BoundCalibrator
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> chain = Chain(AffineCalibrator(), BoundCalibrator(low=-2.0, high=2.0)).fit(scores, is_target)
    >>> chain.transform([-5.0, 1.5, 5.0]).round(3)
    array([-2.   ,  0.667,  2.   ])
    """

    kind: ClassVar[str] = "chain"
    parameter_schema: ClassVar[dict[str, Any]] = {"steps": {"type": "array", "minItems": 1}}

    def __init__(self, *steps: Any) -> None:
        for step in steps:
            if isinstance(step, Chain) or not isinstance(step, Calibrator):
                raise InputError(
                    f"steps: a chain is made of calibrators, got {step!r}. Pass the steps of a chain one by one."
                )
        self.steps: tuple[Calibrator, ...] = steps

    @property
    def settings(self) -> dict[str, Any]:
        """None of its own: in a file, the steps are parameters."""
        return {}

    @property
    def is_fitted(self) -> bool:
        """Whether all steps are."""
        return bool(self.steps) and all(step.is_fitted for step in self.steps)

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        if not self.steps:
            raise InputError("steps: a chain needs at least one calibrator.")
        given, statuses = data, []
        for step in self.steps:
            given = given.through(step)
            status = step.training_.results.get("status") if step.training_ else None
            statuses.append(f"{step.kind}: {status}")
        return outcome_of(given, _as_it_is, ". ".join(statuses))

    def _transform(self, scores: FloatArray) -> FloatArray:
        for step in self.steps:
            scores = step.transform(scores)
        return scores

    @property
    def parts(self) -> tuple[Calibrator, ...]:
        """The calibrators, in the order in which they are applied."""
        return tuple(self.steps)

    def parameter_lines(self) -> list[str]:
        """A line for each step."""
        return [f"{step.kind}: {line}" for step in self.steps for line in step.parameter_lines()]

    def parameters(self) -> dict[str, Any]:
        """The steps, each as it would stand in a file of its own."""
        return {"steps": [content_of(step) for step in self.steps]}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take the steps from a file."""
        contents = parameters["steps"]
        if any(isinstance(content, dict) and content.get("kind") == self.kind for content in contents):
            raise InputError("steps: a chain in a chain.")
        steps = [model_of(content, f"step {k}") for k, content in enumerate(contents, 1)]
        self.steps = Chain(*steps).steps  # which refuses what is no calibrator

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.steps))})"


def _as_it_is(llr: FloatArray) -> FloatArray:
    return llr
