"""Calibration without a formula: pool adjacent violators, fixed and empirical bounds, and chains of calibrators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.hull import Pav, block_llr, pool
from deciban.core.resampling.linearised import UnitChanges
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Sums
from deciban.errors import InputError, warn
from deciban.metrics import SortedScores
from deciban.models.loading import NUMBER, model_of
from deciban.models.model import Bounds, ParameterCovariance, Plain, Uncertainty, content_of
from deciban.models.two_class import Calibrator, outcome_of, outcome_of_llrs
from deciban.trials.sources import Chunk
from deciban.types import BoolArray, CountArray, FloatArray, ScoreArray

_NUMBERS = {"type": "array", "items": NUMBER, "minItems": 1}
_MOST = 1e300
"""Largest size of a bound, and of a finite llr in a file: differences of two of them do not overflow."""


class PavCalibrator(Calibrator):
    """The best monotone map of the training data (pool adjacent violators, thesis appendix C).

    Parameters
    ----------
    interpolation : {"linear", "step"}
        What happens between two blocks of training scores. Within a block the llr is constant in both modes, so that
        on its own training data the map gives the PAV llrs exactly, and below the first and above the last block it
        goes on as it ends.
        "linear": a straight line from the upper edge of one block to the lower edge of the next.
        "step": the border lies in the middle; a score exactly there belongs to the upper block.
    smoothing : float
        Number of targets that are added below all scores, and of non-targets above all; need not be whole. With it all
        llrs are finite. 1 is Laplace's rule of succession, seen from both ends.
    bound : float, optional
        The llrs of blocks are clipped to [-bound, bound], in nats.

    Attributes
    ----------
    low_, high_ : (n_blocks,) arrays
        Lowest and highest training score of each block.
    llr_ : (n_blocks,) array
        Their log-likelihood ratios in nats, smoothed and clipped.
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` the number of blocks and the Cllr.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Warns
    -----
    DecibanWarning
        If all scores fall into one block, so that every llr is 0, or if the classes are separated, so that every llr
        is infinite.

    Notes
    -----
    Without smoothing or bound the first block usually holds no target and the last one no non-target: their llrs are
    -inf and +inf, and one such error on new data makes Cllr infinite. Next to a block of -inf, interpolation stays at
    -inf until the next block begins, and at +inf from where the block before the last one ends: what ever larger
    bounds approach. In the same way, between a block of -inf and one of +inf the llr is -inf below the middle, 0 there
    and +inf above. An infinite score is infinitely far from all finite ones: between it and the next block the llr is
    that of the block, and between -inf and +inf, half-way between both llrs ("linear"), or 0 is the border ("step").

    Smoothing pools scores at both ends that PAV alone tells apart. The Cllr of the map on its own training data then is
    above ``min_cllr`` of the scores, and ``min_cllr`` of its output may be, too: compare systems by ``min_cllr`` of
    what they put out before calibration. `deciban.metrics.min_cllr` itself never smooths.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> calibrator = PavCalibrator().fit(scores, is_target)
    >>> calibrator.llr_
    array([-inf,   0.,  inf])
    >>> calibrator.transform([-9.0, 1.2, 9.0])
    array([-inf,   0.,  inf])
    >>> PavCalibrator(bound=4.0).fit(scores, is_target).transform([-9.0, 0.5, 1.2, 1.9, 9.0])
    array([-4. , -2. ,  0. ,  3.2,  4. ])
    >>> PavCalibrator(smoothing=1.0).fit(scores, is_target).llr_.round(3)
    array([-0.693,  0.   ,  0.693])
    """

    kind: ClassVar[str] = "pav"
    parameter_schema: ClassVar[dict[str, Any]] = {"low": _NUMBERS, "high": _NUMBERS, "llr": _NUMBERS}

    llr_: FloatArray

    def __init__(
        self, *, interpolation: Literal["linear", "step"] = "linear", smoothing: float = 0.0, bound: float | None = None
    ) -> None:
        self.interpolation = interpolation
        self.smoothing = smoothing
        self.bound = bound
        self._checked()

    def _checked(self) -> tuple[float, float | None]:
        """Smoothing and bound; they are attributes and may have been changed."""
        given: object = self.interpolation
        if not isinstance(given, str) or given not in ("linear", "step"):
            raise InputError(f'interpolation: got {self.interpolation!r}. It is "linear" or "step".')
        smoothing = _validate.in_range(self.smoothing, "smoothing", 0.0, 1e100, "A number of trials is at least 0")
        if 0.0 < smoothing < 1e-100:
            raise InputError(f"smoothing: got {smoothing!r}. A number of trials is 0 or at least 1e-100.")
        if self.bound is None:
            return smoothing, None
        words = "A bound is in [0, 1e300], in nats, or None"
        return smoothing, _validate.in_range(self.bound, "bound", 0.0, _MOST, words)

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        smoothing, bound = self._checked()
        blocks: Pav = data.ranks.pav
        self.low_, self.high_, llr = (
            _smoothed(blocks, smoothing) if smoothing else (blocks.low, blocks.high, blocks.llr)
        )
        self.llr_ = llr if bound is None else np.clip(llr, -bound, bound)
        self._warn()
        words = f"{len(self.llr_)} blocks, llr from {self.llr_[0]:.3g} to {self.llr_[-1]:.3g}"
        if not np.isfinite(self.llr_).all():
            words += "; smoothing or a bound makes all of them finite"
        own, tar, non = self._transform(blocks.low), blocks.n_tar > 0, blocks.n_non > 0
        found = outcome_of_llrs((own[tar], blocks.n_tar[tar]), (own[non], blocks.n_non[non]), words)
        return {"blocks": len(self.llr_), **found}

    def _warn(self) -> None:
        if len(self.llr_) == 1:
            words = (
                "all scores fall into one block, every llr is 0: the scores do not tell targets from non-targets, or "
                "larger ones favour non-target. If they are distances, or the labels are exchanged, negate them first"
            )
            if self.smoothing:
                words += "; or the smoothing is too much for so few trials"
        elif np.isinf(self.llr_).all():
            words = (
                "no target scores below a non-target (the classes are separated), so that every llr is infinite. Pass "
                "smoothing=1 or a bound, or collect trials that are harder to tell apart"
            )
        else:
            return
        warn(f"{self.told_as or type(self).__name__}: {words}.")

    def _transform(self, scores: FloatArray) -> FloatArray:
        if self.interpolation == "step":
            return self.llr_[np.searchsorted(_borders(self.low_, self.high_), scores, side="right")]
        block = np.searchsorted(self.low_[1:], scores, side="right")
        llr = self.llr_[block]
        gap = np.flatnonzero((scores > self.high_[block]) & (block < len(self.llr_) - 1))
        below = block[gap]
        share = _share(scores[gap], self.high_[below], self.low_[below + 1])
        llr[gap] = _between(self.llr_[below], self.llr_[below + 1], share)
        return llr

    def _bounds(self, scores: Any, llr: FloatArray, level: float, **_quality: Any) -> Bounds:
        """By the jackknife; where that cannot tell, what it tells of lower and of higher scores.

        The llr does not decrease with the score: what bounds it from below at one score does so at all higher ones.
        """
        low, high = super()._bounds(scores, llr, level)
        values, edges = np.asarray(scores, np.float64), np.unique(np.concatenate((self.low_, self.high_)))
        known = super()._bounds(edges, self._transform(edges), level)
        finite = np.isfinite(known[0]) & np.isfinite(known[1])
        ends, lows, highs = edges[finite], known[0][finite], known[1][finite]
        lows, highs = np.maximum.accumulate(lows), np.minimum.accumulate(highs[::-1])[::-1]
        unknown = np.isinf(llr) | np.isinf(low) | np.isinf(high)
        low[unknown] = np.append(-np.inf, lows)[np.searchsorted(ends, values[unknown], side="right")]
        high[unknown] = np.append(highs, np.inf)[np.searchsorted(ends, values[unknown], side="left")]
        return low, high

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take edges and llrs of blocks from a file."""
        names = ("low", "high", "llr")
        low, high, llr = (_validate.scores(parameters[name], name).astype(np.float64) for name in names)
        if not len(low) == len(high) == len(llr):
            raise InputError(
                f"low, high, llr: {len(low)}, {len(high)} and {len(llr)} numbers. Every block has one of each."
            )
        _require(low <= high, "low, high", "no block ends below its beginning")
        _require(high[:-1] < low[1:], "low, high", "every block begins above the end of the one before")
        _require(llr[:-1] <= llr[1:], "llr", "llrs do not decrease")
        inner = (llr[1:] > -np.inf) & (llr[:-1] < np.inf)
        _require(inner, "llr", "only the first block has llr -inf, and only the last one +inf")
        _require(~np.isfinite(llr) | (np.abs(llr) <= _MOST), "llr", "finite llrs are within 1e300 of 0")
        self.low_, self.high_, self.llr_ = low, high, llr


def _smoothed(blocks: Pav, amount: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Edges and llrs of the blocks with more targets below all of them, and more non-targets above.

    Pooling goes on from the blocks: any order of pooling ends in the same ones. A group of nothing but targets at the
    bottom is always pooled with what follows, so that the edges remain those of scores.
    """
    exact = blocks.n_tar.dtype == blocks.n_non.dtype == np.int64 and amount == int(amount) < 2**53
    kind = np.int64 if exact else np.float64
    nothing, more = np.zeros(1, kind), np.full(1, amount).astype(kind)
    n_tar, n_non = np.concatenate((more, blocks.n_tar, nothing)), np.concatenate((nothing, blocks.n_non, more))
    starts = pool(n_tar, n_non)
    first = np.maximum(starts - 1, 0)
    last = np.append(first[1:], len(blocks.low)) - 1
    n_tar, n_non = np.add.reduceat(n_tar, starts), np.add.reduceat(n_non, starts)
    return blocks.low[first], blocks.high[last], block_llr(n_tar, n_non)


def _borders(low: FloatArray, high: FloatArray) -> FloatArray:
    """Where each block but the first begins in step mode: in the middle, or at the next float where there is none."""
    below, above = high[:-1], low[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        middle = 0.5 * below + 0.5 * above
        next_float = np.nextafter(below, np.inf)
    middle[np.isnan(middle)] = 0.0  # between -inf and +inf
    return np.asarray(np.clip(middle, next_float, above))


def _share(score: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """How much of the way from ``low`` to ``high`` lies below a score between them; does not decrease with it."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Only where the width overflows: halves of the smallest numbers lose digits.
        factor = np.where(np.isinf(high - low), 0.5, 1.0)
        share = (factor * score - factor * low) / (factor * high - factor * low)
    share[np.isneginf(low)] = 1.0
    share[np.isposinf(high)] = 0.0
    share[np.isneginf(low) & np.isposinf(high)] = 0.5
    return share


def _between(low: FloatArray, high: FloatArray, share: FloatArray) -> FloatArray:
    """Values between two llrs: each operation is monotone in ``share``, rounding included."""
    down, up = np.isneginf(low) & (share < 1.0), np.isposinf(high) & (share > 0.0)
    from_low = np.where(np.isinf(low), high, low)
    to_high = np.where(np.isinf(high), from_low, high)
    finite = ~(down | up)
    start, end = np.where(finite, from_low, 0.0), np.where(finite, to_high, 0.0)
    value = np.minimum(start + (end - start) * share, end)
    value[down] = -np.inf
    value[up] = np.inf
    both = down & up
    middle = np.sign(share[both] - 0.5)
    value[both] = np.where(middle == 0.0, 0.0, np.copysign(np.inf, middle))
    return value


def _require(good: BoolArray | CountArray, name: str, rule: str) -> None:
    wrong = np.flatnonzero(~good)
    if len(wrong):
        raise InputError(f"{name}: {rule}, but at block {wrong[0]} this is not so.")


_AT_ONCE = 1 << 20
"""Llrs that are looked at together, from 0 on."""


def upper_bound(scores: SortedScores, amount: float, *, sign: int = 1) -> float:
    """Return where above 0 the normalized Bayes error rate first exceeds 1, given ``amount`` misleading llrs.

    With ``sign=-1``, llrs are mirrored and the classes change places.
    """
    tar, non = (scores.tar, scores.non)[::sign]
    rates, begin = Rates(float(tar.total), float(non.total), amount), 0.0
    for ends in _ends((tar.scores, non.scores), sign):  # at the last end, infinity, it always exceeds 1
        crossing = rates.crossing(*(_at_or_beyond(one, ends, sign) for one in (tar, non)))
        first = int(np.argmax(crossing < ends))
        if crossing[first] < ends[first]:
            begin = float(ends[first - 1]) if first else begin
            return max(float(crossing[first]), begin)
        begin = float(ends[-1])
    raise AssertionError


def _ends(both: tuple[ScoreArray, ScoreArray], sign: int) -> Iterator[FloatArray]:
    """Yield all different llrs above 0 (below, with the other sign), some at a time from 0 on, and infinity."""
    side: Literal["left", "right"] = "right" if sign > 0 else "left"
    at = [int(np.searchsorted(one, one.dtype.type(0.0), side=side)) for one in both]
    while any(rest := [len(one) - k if sign > 0 else k for one, k in zip(both, at, strict=True)]):
        k = int(np.argmax(rest))
        last = both[k][at[k] + sign * min(_AT_ONCE, rest[k]) - (sign > 0)]
        upto = [int(np.searchsorted(one, last, side=side)) for one in both]
        parts = [one[min(ends) : max(ends)] for one, *ends in zip(both, at, upto, strict=True)]
        found = np.unique(sign * np.concatenate(parts).astype(np.float64))
        if len(found := found[found < np.inf]):
            yield found
        at = upto
    yield np.array([np.inf])


def _at_or_beyond(one: SortedClass, ends: FloatArray, sign: int) -> CountArray:
    """Count trials at or beyond each end."""
    return one.at_or_above(ends) if sign > 0 else one.below(np.nextafter(-ends, np.inf))


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
        self.low_, self.high_ = _bounds(data.ranks, self.n_misleading)
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
    return -upper_bound(scores, amount, sign=-1) + 0.0, upper_bound(scores, amount)


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
    score = trials.scores[0]
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
