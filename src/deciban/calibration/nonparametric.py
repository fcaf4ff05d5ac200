"""Nonparametric calibration: pool adjacent violators, fixed and empirical bounds, and chains of calibrators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.arrays import tell_of_two
from deciban.core.ranks.counts import SortedClass
from deciban.core.ranks.roc import Pav, block_llr, pool
from deciban.core.resampling.linearised import UnitChanges
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Sums
from deciban.errors import InputError, option, warn
from deciban.metrics import SortedScores
from deciban.models.loading import NUMBER, model_of
from deciban.models.model import Bounds, ParameterCovariance, ParameterUncertainty, Plain, content_of
from deciban.models.score_model import Calibrator, outcome_of, outcome_of_llrs
from deciban.trials.sources import Batch
from deciban.types import BoolArray, CountArray, FloatArray, Json, ScoreArray, Weights

if TYPE_CHECKING:
    from deciban.models.sources import SourceTrials

_NUMBERS = {"type": "array", "items": NUMBER, "minItems": 1}
_MOST = 1e300
"""Limit of bounds and of finite llrs in a file, so that differences of two llrs do not overflow."""


class PavCalibrator(Calibrator):
    """The optimal monotone map of the training data (pool adjacent violators, thesis appendix C).

    Parameters
    ----------
    interpolation : {"linear", "step"}
        Map between two blocks of training scores. Within a block, the llr is constant in both modes: on its own
        training data, the map gives exactly the PAV llrs. Below the first and above the last block, the map is
        constant.
        "linear": a straight line from the upper edge of one block to the lower edge of the next.
        "step": a step in the middle; a score exactly there belongs to the upper block.
    smoothing : float
        Number of targets that are added below all scores, and of non-targets above all; may be fractional. It makes all
        llrs finite. 1 is Laplace's rule of succession, applied at both ends.
    bound : float, optional
        The llrs of blocks are clipped to [-bound, bound], in nats.

    Attributes
    ----------
    low_, high_ : (n_blocks,) arrays
        Lowest and highest training score of each block.
    llr_ : (n_blocks,) array
        Log-likelihood ratios of the blocks in nats, smoothed and clipped.
    training_ : Training
        Counts of trials, a fingerprint of the data, and ``results`` with the number of blocks and the Cllr.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Warns
    -----
    DecibanWarning
        If all scores are in one block, so that every llr is 0; or if the classes are separated, so that every llr is
        infinite.

    Notes
    -----
    Without smoothing or bound, the first block usually has no targets and the last no non-targets: their llrs are -inf
    and +inf, and one such error on new data makes Cllr infinite. Next to an infinite block, the map is the limit of
    larger and larger bounds: -inf until the next block begins, and +inf after the last finite block ends. Between a
    block of -inf and one of +inf, the llr is -inf below the middle, 0 there and +inf above. An infinite score is
    infinitely far from all finite scores: between it and the next block, the llr equals that of the block. Between
    scores of -inf and +inf, the llr is halfway ("linear"), or the step is at 0 ("step").

    Smoothing pools scores at both ends that PAV alone would separate. Then the Cllr of the map on its own training data
    is above ``min_cllr`` of the scores, and ``min_cllr`` of its output may be, too. So compare systems by ``min_cllr``
    of their scores before calibration. `deciban.metrics.min_cllr` itself never smooths.

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
    parameter_schema: ClassVar[Mapping[str, object]] = {"low": _NUMBERS, "high": _NUMBERS, "llr": _NUMBERS}

    llr_: FloatArray

    def __init__(
        self, *, interpolation: Literal["linear", "step"] = "linear", smoothing: float = 0.0, bound: float | None = None
    ) -> None:
        self.interpolation, self.smoothing, self.bound = interpolation, smoothing, bound
        self._checked()

    def _checked(self) -> tuple[float, float | None]:
        """Return smoothing and bound; they are attributes, which may have changed."""
        _validate.one_of(self.interpolation, "interpolation", ("linear", "step"))
        smoothing = _validate.in_range(self.smoothing, "smoothing", 0.0, 1e100, "A number of trials is at least 0")
        if 0.0 < smoothing < 1e-100:
            raise InputError(f"smoothing: got {smoothing!r}. A number of trials is 0 or at least 1e-100.")
        if self.bound is None:
            return smoothing, None
        words = "A bound is in [0, 1e300], in nats, or None"
        return smoothing, _validate.in_range(self.bound, "bound", 0.0, _MOST, words)

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        smoothing, bound = self._checked()
        blocks: Pav = data.ranks.pav
        kept = blocks.low, blocks.high, blocks.llr
        self.low_, self.high_, llr = _smoothed(blocks, smoothing) if smoothing else kept
        self.llr_ = llr if bound is None else np.clip(llr, -bound, bound)
        self._warn()
        words = f"{len(self.llr_)} blocks, llr from {self.llr_[0]:.3g} to {self.llr_[-1]:.3g}"
        if not np.isfinite(self.llr_).all():
            words += "; smoothing or a bound makes all of them finite"
        own, tar, non = self._transform(blocks.low), blocks.n_tar > 0, blocks.n_non > 0
        result = outcome_of_llrs((own[tar], blocks.n_tar[tar]), (own[non], blocks.n_non[non]), words)
        return {"blocks": len(self.llr_), **result}

    def _warn(self) -> None:
        if len(self.llr_) == 1:
            words = (
                "all scores are in one block, every llr is 0: the scores do not separate targets from non-targets, or "
                "larger scores favour non-targets. If they are distances, or the labels are exchanged, negate them"
            )
            if self.smoothing:
                words += "; or the smoothing is too strong for few trials"
        elif np.isinf(self.llr_).all():
            words = (
                "no target has a score below a non-target (the classes are separated), so that every llr is infinite. "
                f"Pass {option(smoothing=1)} or a bound, or collect more difficult trials"
            )
        else:
            return
        warn(f"{self.warning_name or type(self).__name__}: {words}.")

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

    def _bounds(self, scores: ArrayLike, llr: FloatArray, level: float, **_quality: ArrayLike) -> Bounds:
        """Return intervals by the jackknife; if it has no bound, use bounds at lower and higher scores.

        The llr does not decrease with the score: a lower bound at one score is also a lower bound at all higher scores.
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

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set edges and llrs of blocks from a file."""
        names = ("low", "high", "llr")
        low, high, llr = (_validate.scores(parameters[name], name).astype(np.float64) for name in names)
        if not len(low) == len(high) == len(llr):
            raise InputError(
                f"low, high, llr: {len(low)}, {len(high)} and {len(llr)} numbers. Every block needs one of each."
            )
        _require(low <= high, "low, high", "no block ends below its start")
        _require(high[:-1] < low[1:], "low, high", "every block begins above the end of the previous one")
        _require(llr[:-1] <= llr[1:], "llr", "llrs do not decrease")
        inner = (llr[1:] > -np.inf) & (llr[:-1] < np.inf)
        _require(inner, "llr", "only the first block has llr -inf, and only the last one +inf")
        _require(~np.isfinite(llr) | (np.abs(llr) <= _MOST), "llr", "finite llrs are within 1e300 of 0")
        self.low_, self.high_, self.llr_ = low, high, llr


def _smoothed(blocks: Pav, amount: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return edges and llrs of the blocks after adding targets below all of them, and non-targets above.

    Pooling continues from the blocks, because any order of pooling gives the same result. A group of targets only at
    the bottom is always pooled with the next group, so that the edges are still edges of scores.
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
    """Return the start of each block except the first in step mode: the middle, or the next float if there is none."""
    below, above = high[:-1], low[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        middle = 0.5 * below + 0.5 * above
        next_float = np.nextafter(below, np.inf)
    middle[np.isnan(middle)] = 0.0  # between -inf and +inf
    return np.asarray(np.clip(middle, next_float, above))


def _share(score: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the position of a score between ``low`` and ``high`` as a share; it does not decrease with the score."""
    with np.errstate(over="ignore", invalid="ignore"):
        # Only if the width overflows: halves of the smallest numbers lose digits.
        factor = np.where(np.isinf(high - low), 0.5, 1.0)
        share = (factor * score - factor * low) / (factor * high - factor * low)
    share[np.isneginf(low)] = 1.0
    share[np.isposinf(high)] = 0.0
    share[np.isneginf(low) & np.isposinf(high)] = 0.5
    return share


def _between(low: FloatArray, high: FloatArray, share: FloatArray) -> FloatArray:
    """Return values between two llrs; each operation is monotone in ``share``, including rounding."""
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
        raise InputError(f"{name}: {rule}, but not at block {wrong[0]}.")


_AT_ONCE = 1 << 20
"""Number of llrs per step, from 0 on."""


def upper_bound(scores: SortedScores, amount: float, *, sign: int = 1) -> float:
    """Return the llr above 0 at which the normalized Bayes error rate first exceeds 1, with added misleading llrs.

    With ``sign=-1``, llrs are negated and the classes are exchanged.
    """
    tar, non = (scores.tar, scores.non)[::sign]
    rates, begin = MisleadingRates(float(tar.total), float(non.total), amount), 0.0
    for ends in _ends((tar.scores, non.scores), sign):  # the rate always exceeds 1 at the last end, infinity
        crossing = rates.crossing(*(_at_or_beyond(one, ends, sign) for one in (tar, non)))
        first = int(np.argmax(crossing < ends))
        if crossing[first] < ends[first]:
            begin = float(ends[first - 1]) if first else begin
            return max(float(crossing[first]), begin)
        begin = float(ends[-1])
    raise AssertionError


def _ends(both: tuple[ScoreArray, ScoreArray], sign: int) -> Iterator[FloatArray]:
    """Yield all distinct llrs above 0 (below, with sign -1) in batches from 0 on, and infinity."""
    side: Literal["left", "right"] = "right" if sign > 0 else "left"
    at = [int(np.searchsorted(one, one.dtype.type(0.0), side=side)) for one in both]
    while any(rest := [len(one) - k if sign > 0 else k for one, k in zip(both, at, strict=True)]):
        k = int(np.argmax(rest))
        last = both[k][at[k] + sign * min(_AT_ONCE, rest[k]) - (sign > 0)]
        upto = [int(np.searchsorted(one, last, side=side)) for one in both]
        parts = [one[min(ends) : max(ends)] for one, *ends in zip(both, at, upto, strict=True)]
        result = np.unique(sign * np.concatenate(parts).astype(np.float64))
        if len(result := result[result < np.inf]):
            yield result
        at = upto
    yield np.array([np.inf])


def _at_or_beyond(one: SortedClass, ends: FloatArray, sign: int) -> CountArray:
    """Count trials at or beyond each end."""
    return one.at_or_above(ends) if sign > 0 else one.below(np.nextafter(-ends, np.inf))


@dataclass(frozen=True, slots=True)
class MisleadingRates:
    """Error rates as functions of counts: numbers of trials of both classes, and added misleading llrs."""

    n_tar: float
    n_non: float
    amount: float

    def crossing(self, n_hit: FloatArray | float, n_fa: FloatArray | float) -> FloatArray:
        """Return the threshold at which the rate passes 1 between neighbouring llrs.

        There, errors are constant and the rate increases with the threshold: it passes 1 where
        ``exp(t) (n_fa + k) / (N + k) = 1 - (n_miss + k) / (T + k) = (T - n_miss) / (T + k)``.
        """
        with np.errstate(divide="ignore"):
            hits: FloatArray = np.log(n_hit / (self.n_tar + self.amount))
            alarms: FloatArray = np.log((n_fa + self.amount) / (self.n_non + self.amount))
        return hits - alarms


_LARGEST = float(np.finfo(np.float64).max)


class BoundCalibrator(Calibrator):
    """Log-likelihood ratios clipped to fixed bounds, without training.

    Parameters
    ----------
    low, high : float, optional
        Lowest and highest llr, in nats; None for no bound. Convert bounds in other units first: a likelihood ratio of
        10,000 is ``math.log(10_000)``.

    Raises
    ------
    InputError
        If a bound is not finite, both are open, or ``low`` is above ``high``.

    Notes
    -----
    ``transform`` works without ``fit``, which only records the data in ``training_``. Use `Chain` to apply it after
    another calibrator.

    Examples
    --------
    >>> BoundCalibrator(low=-4.0, high=4.0).transform([-9.0, 1.5, float("inf")])
    array([-4. ,  1.5,  4. ])
    """

    kind: ClassVar[str] = "bound"
    parameter_schema: ClassVar[Mapping[str, object]] = {}

    def __init__(self, *, low: float | None = None, high: float | None = None) -> None:
        self.low, self.high = low, high
        self._checked()

    def _checked(self) -> tuple[float, float]:
        """Return both bounds; they are attributes, which may have changed."""
        words = "A bound is a finite llr in nats, or None"
        low = -np.inf if self.low is None else _validate.in_range(self.low, "low", -_LARGEST, _LARGEST, words)
        high = np.inf if self.high is None else _validate.in_range(self.high, "high", -_LARGEST, _LARGEST, words)
        if self.low is None and self.high is None:
            raise InputError("low, high: both are missing. Give at least one.")
        if low > high:
            raise InputError(f"low, high: the lower bound {low:g} is above the upper one, {high:g}.")
        return low, high

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        return _results(data, self._transform, *self._checked())

    def _transform(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.clip(scores, *self._checked()))

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterUncertainty:  # noqa: ARG002  # no trained parameters
        n = units.n_units
        return ParameterCovariance.of(UnitChanges(values=np.zeros((n, 0)), n_units=n, n_effective=n), units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.zeros((len(scores), 0))


class ElubCalibrator(Calibrator):
    """Log-likelihood ratios clipped to empirical bounds from their own training data (Vergeer et al. 2016).

    Parameters
    ----------
    n_misleading : float
        See `elub_bounds`.

    Attributes
    ----------
    low_, high_ : float
        The bounds, in nats; ``low_ <= 0 <= high_``.

    Warns
    -----
    DecibanWarning
        If a bound is 0: on that side, the llrs are worse than no evidence at all thresholds.

    Notes
    -----
    The input must be llrs: use `Chain` to apply this after another calibrator. Bounds from the training trials of that
    calibrator are a little too wide. Forensic practice computes bounds on llrs of held-out trials; use
    `cross_validated` for this.

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
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "low": {"type": "number", "maximum": 0},
        "high": {"type": "number", "minimum": 0},
    }

    def __init__(self, *, n_misleading: float = 1.0) -> None:
        self.n_misleading = n_misleading
        _misleading(n_misleading)

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        self.low_, self.high_ = _bounds(data.ranks, self.n_misleading)
        if self.low_ == 0.0 or self.high_ == 0.0:
            sides = [side for side, bound in (("lower", self.low_), ("upper", self.high_)) if bound == 0.0]
            warn(
                f"ElubCalibrator: the {' and the '.join(sides)} bound is 0: there the llrs are worse than no "
                "evidence. They may not be calibrated, or there are too few trials."
            )
        return _results(data, self._transform, self.low_, self.high_)

    def _transform(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.clip(scores, self.low_, self.high_))

    def parameter_lines(self) -> list[str]:
        """Return the bounds, in nats and in log10, as in forensic reports.

        >>> bounds = ElubCalibrator()
        >>> bounds.low_, bounds.high_ = -math.log(10.0), math.log(100.0)
        >>> bounds.parameter_lines()
        ['low -2.30259 nats (log10 LR -1), high 4.60517 nats (log10 LR 2)']
        """
        bounds = {"low": self.low_, "high": self.high_}.items()
        return [", ".join(f"{name} {x:.6g} nats (log10 LR {x / math.log(10):.4g})" for name, x in bounds)]


def elub_bounds(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    n_misleading: float = 1.0,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> tuple[float, float]:
    """Return empirical lower and upper bounds of log-likelihood ratios (ELUB; Vergeer et al. 2016).

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
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
        If a class is empty or contains NaN, or a parameter is out of range.

    Warns
    -----
    DecibanWarning
        If at least 10 scores are all in [0, 1]: they are probably probabilities instead of log-likelihood ratios;
        convert them by `deciban.decisions.llr_from_probability`.

    Notes
    -----
    The bounds limit the strength of evidence that few trials can support. At a Bayes threshold ``t``, the expected cost
    of decisions is ``P_miss(t) + exp(t) P_fa(t)``, and without evidence it is ``min(1, exp(t))``; their ratio is the
    normalized Bayes error rate. With ``k`` misleading llrs added to each class, the error rates are ``(misses + k) / (T
    + k)`` and ``(false alarms + k) / (N + k)``. The bounds are the ends of the interval around 0 in which the ratio
    never exceeds 1. They are computed exactly; programs with a grid of thresholds have errors up to one step of the
    grid. A ratio above 1 at an isolated threshold, for example with a trial exactly at 0, does not count.

    If the ratio passes 1 more than once, the crossings closest to 0 are used (the conservative choice).

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
    """Return bounds of checked llrs; see `elub_bounds`."""
    amount = _misleading(n_misleading)
    return -upper_bound(scores, amount, sign=-1) + 0.0, upper_bound(scores, amount)


def _misleading(amount: float) -> float:
    return _validate.in_range(amount, "n_misleading", 1.0, 1e100, "At least 1 misleading llr is added to each class")


def _results(data: SourceTrials, transform: Callable[..., FloatArray], low: float, high: float) -> dict[str, Plain]:
    n, below, above = (int(one) for one in data.look(partial(_beyond, low, high)).total)
    status = f"of {n:,} llrs, {below:,} were below the lower bound and {above:,} above the upper bound"
    return outcome_of(data, transform, status)


def _beyond(low: float, high: float, trials: Batch) -> Sums:
    """Count trials, and trials with scores beyond the bounds."""
    score = trials.scores[0]
    return Sums.of(np.array([len(score), (score < low).sum(), (score > high).sum()]))


class Chain(Calibrator):
    """Calibrators in sequence: each is trained on, and applied to, the output of the previous one.

    Parameters
    ----------
    *steps : Calibrator
        At least one calibrator; typically a calibrator and a bound. They are trained in place, not copied.

    Attributes
    ----------
    steps : tuple of Calibrator
    training_ : Training
        Counts of trials, a fingerprint of the data, and ``results`` with the Cllr of the last step.

    Raises
    ------
    InputError
        If there is no step, or a step is not a calibrator.

    Examples
    --------
    >>> from deciban.calibration import AffineCalibrator, BoundCalibrator
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> chain = Chain(AffineCalibrator(), BoundCalibrator(low=-2.0, high=2.0)).fit(scores, is_target)
    >>> chain.transform([-5.0, 1.5, 5.0]).round(3)
    array([-2.   ,  0.667,  2.   ])
    """

    kind: ClassVar[str] = "chain"
    parameter_schema: ClassVar[Mapping[str, object]] = {"steps": {"type": "array", "minItems": 1}}

    def __init__(self, *steps: Calibrator) -> None:
        for step in steps:
            if isinstance(step, Chain) or not isinstance(step, Calibrator):
                raise InputError(f"steps: got {step!r}. A step is a calibrator; pass steps as separate arguments.")
        self.steps: tuple[Calibrator, ...] = steps

    @property
    def settings(self) -> dict[str, Json]:
        """Empty: in a file, the steps are parameters."""
        return {}

    @property
    def is_fitted(self) -> bool:
        """True if all steps are fitted."""
        return bool(self.steps) and all(step.is_fitted for step in self.steps)

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        if not self.steps:
            raise InputError("steps: a chain needs at least one calibrator.")
        value, statuses = data, []
        for step in self.steps:
            value = value.through(step)
            status = step.training_.results.get("status") if step.training_ else None
            statuses.append(f"{step.kind}: {status}")
        for step in self.steps:
            step.uncertainty_ = None
        return outcome_of(value, np.asarray, ". ".join(statuses))

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterUncertainty:
        """Return the jackknife of the chain; a first step with parameters also gets their covariance."""
        uncertainty, first = super()._uncertainty(data, units), self.steps[0]
        if first.parameter_names:
            with suppress(InputError):
                first.uncertainty_ = first._uncertainty(data, units)  # noqa: SLF001  # a part of this training
        return uncertainty

    def _bounds(self, scores: ArrayLike, llr: FloatArray, level: float, **_quality: ArrayLike) -> Bounds:
        """Return intervals by the jackknife that contain those of the first step, mapped by the others.

        Later steps, such as bounds, hide how much the first one varies: they cut the llrs of replicates.
        """
        low, high = super()._bounds(scores, llr, level)
        first, *others = self.steps
        if first.uncertainty_ is None:
            return low, high
        ends = first._bounds(scores, first.transform(scores), level)  # noqa: SLF001
        for step in others:
            ends = step.transform(ends[0]), step.transform(ends[1])
        return np.minimum(low, np.minimum(*ends)), np.maximum(high, np.maximum(*ends))

    def _transform(self, scores: FloatArray) -> FloatArray:
        for step in self.steps:
            scores = step.transform(scores)
        return scores

    @property
    def parts(self) -> tuple[Calibrator, ...]:
        """The calibrators, in the order of application."""
        return tuple(self.steps)

    def uncertainty_lines(self) -> list[str]:
        """Return a sentence on the standard errors of the chain, and one on those of its first step, if any."""
        first = self.steps[0]
        if self.uncertainty_ is None or first.uncertainty_ is None:
            return super().uncertainty_lines()
        of_step = f"standard errors of step {first.kind}: {first.uncertainty_.basis}"
        return [f"standard errors of chain: {self.uncertainty_.basis}", of_step]

    def parameter_lines(self) -> list[str]:
        """Return a line for each step."""
        return [f"{step.kind}: {line}" for step in self.steps for line in step.parameter_lines()]

    def parameters(self) -> dict[str, Json]:
        """Return the steps, each as in a file of its own."""
        return {"steps": [content_of(step) for step in self.steps]}

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set the steps from a file."""
        contents = parameters["steps"]
        if any(isinstance(content, dict) and content.get("kind") == self.kind for content in contents):
            raise InputError("steps: a chain cannot contain a chain.")
        steps: list[Any] = [model_of(content, f"step {k}") for k, content in enumerate(contents, 1)]
        self.steps = Chain(*steps).steps  # refuses steps that are not calibrators

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.steps))})"
