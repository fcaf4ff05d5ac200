"""Calibration by pool adjacent violators: the best monotone map, without any shape assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from deciban._validate import arrays as _validate
from deciban.core.ranks.hull import Pav, block_llr, pool
from deciban.errors import InputError, warn
from deciban.models.loading import NUMBER
from deciban.models.model import Bounds, Plain
from deciban.models.two_class import Calibrator, outcome
from deciban.types import BoolArray, CountArray, FloatArray

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
        found = outcome((own[tar], blocks.n_tar[tar]), (own[non], blocks.n_non[non]), words)
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
