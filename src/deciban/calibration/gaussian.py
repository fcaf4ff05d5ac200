"""Calibration by Gaussian models of the scores of both classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from deciban._validate import arrays as _validate
from deciban.core.by_value import Additive
from deciban.core.resampling.linearised import UnitChanges, require_effective, require_several, sums_by_unit
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.expected import ClassCosts, MeanCost
from deciban.core.training.sums import Ends, Sums, UnitSums
from deciban.errors import InputError, TrialError, warn
from deciban.models.model import ParameterCovariance, Plain, Uncertainty
from deciban.models.score_model import Labelled
from deciban.models.two_class import Calibrator, outcome_of
from deciban.trials.sources import Chunk
from deciban.types import CountArray, FloatArray, ScoreArray


class GaussianCalibrator(Calibrator):
    """Log-likelihood ratio of two Gaussian distributions of the score, one for each class.

    Parameters
    ----------
    shared_variance : bool
        Whether both classes have one variance. Then the map is a straight line. Otherwise it is a parabola, which is
        not monotone: beyond its turning point more extreme scores favour the other class again.
    p_target : float
        The shared variance is ``p_target`` times that of targets plus ``1 - p_target`` times that of non-targets, with
        ``p_target`` in (0, 1). Proportions of the data never enter. Not used with separate variances.

    Attributes
    ----------
    mean_tar_, mean_non_ : float
        Weighted mean score of each class.
    sd_tar_, sd_non_ : float
        Standard deviations of the models, in units of the score; equal if shared.
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` the Cllr.

    Raises
    ------
    InputError
        When training, if a score is infinite, or a variance is 0: all scores of a class (shared variance: of each
        class) are the same.

    Warns
    -----
    DecibanWarning
        If the map decreases, or turns within the range of the training scores.

    Notes
    -----
    Variances are those of maximum likelihood, divided by the number of trials. If llrs are calibrated and those of
    non-targets are Gaussian with variance ``v``, their mean is ``-v / 2``, and those of targets are Gaussian with mean
    ``v / 2`` and the same variance (van Leeuwen and Bruemmer 2013): shared variance is the only Gaussian model that
    describes its own output. Training takes a few passes and no search; the optimum of `AffineCalibrator` needs no
    assumption on the shape and is rarely worse.

    References
    ----------
    D. van Leeuwen and N. Bruemmer, "The distribution of calibrated likelihood-ratios in speaker recognition",
    Interspeech 2013.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> calibrator = GaussianCalibrator().fit(scores, is_target)
    >>> round(calibrator.mean_tar_, 3), round(calibrator.mean_non_, 3), round(calibrator.sd_tar_, 3)
    (2.0, 0.167, 0.928)
    >>> calibrator.transform([2.0, 1.0]).round(3)
    array([ 1.952, -0.177])
    """

    kind: ClassVar[str] = "gaussian"
    parameter_schema: ClassVar[dict[str, Any]] = {
        "mean_tar": {"type": "number"},
        "mean_non": {"type": "number"},
        "sd_tar": {"type": "number", "exclusiveMinimum": 0},
        "sd_non": {"type": "number", "exclusiveMinimum": 0},
    }

    def __init__(self, *, shared_variance: bool = True, p_target: float = 0.5) -> None:
        self.shared_variance = shared_variance
        self.p_target = p_target
        self._checked()

    def _checked(self) -> float:
        """The prior; settings are attributes and may have been changed."""
        if not isinstance(self.shared_variance, bool | np.bool_):
            raise InputError(f"shared_variance: got {self.shared_variance!r}. It is True or False.")
        _validate.single_log_odds(self.p_target)
        return float(self.p_target)

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        p_target = self._checked()
        ranges: _Ranges = data.look(_find_ranges)
        (_, mean_non, sd_non), (_, mean_tar, sd_tar) = _moments(data, ranges)
        self.mean_tar_, self.mean_non_ = mean_tar, mean_non
        if self.shared_variance:
            if sd_tar == sd_non == 0.0:
                raise InputError(
                    "scores: all targets score the same, and all non-targets, so that there is no variance. A Gaussian "
                    "needs two different scores in at least one class."
                )
            sd_tar = sd_non = float(np.hypot(np.sqrt(p_target) * sd_tar, np.sqrt(1.0 - p_target) * sd_non))
        for kind, (sd, name) in enumerate(((sd_non, "non-target"), (sd_tar, "target"))):
            if sd == 0.0:
                raise InputError(
                    f"scores: the {ranges.counts[kind]:,} {name} trials have no variance: all score "
                    f"{ranges.ends.low[kind]:g}. Separate variances need two different scores in each class; "
                    "shared_variance=True needs them in one."
                )
        self.sd_tar_, self.sd_non_ = sd_tar, sd_non
        self._warn(np.array([ranges.ends.low.min(), ranges.ends.high.max()]))
        n_non, n_tar = ranges.counts
        status = f"moments of {n_tar:,} target and {n_non:,} non-target scores"
        return outcome_of(data, self._transform, status)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The order of ``parameter_covariance_``."""
        return "mean_tar", "mean_non", "sd_tar", "sd_non"

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        from deciban.core.training.influences import effective_of, leaves_out  # which models that are trained need not

        require_several(units)
        non, tar = _moments(data, data.look(_find_ranges))
        sums = data.look_by_unit(partial(_by_unit, non, tar))
        (found,) = sums.parts
        means, variances, shares = found[:, :2], found[:, 2:4], found[:, 4:]
        n_effective = require_effective(effective_of(sums, shares), ("non-target", "target"), units)
        leave_out = not sums.is_folded and leaves_out(len(found), data.n_trials)
        if leave_out:
            means = -means / (1.0 - shares)
            variances = -variances / (1.0 - shares) - means**2
        at = np.array([non[2], tar[2]]) ** 2
        if self.shared_variance:
            mix = np.array([1.0 - self.p_target, self.p_target])
            at, variances = np.full(2, at @ mix), np.repeat((variances @ mix)[:, None], 2, axis=1)
        sd = np.sqrt(at)
        sds = np.sqrt(np.maximum(at + variances, 0.0)) - sd if leave_out else variances / (2.0 * sd)
        changes = UnitChanges(
            values=np.hstack((means[:, ::-1], sds[:, ::-1])),
            n_units=units.n_units,
            n_effective=n_effective,
            left_out=leave_out,
            listed=not sums.is_folded,
        )
        return ParameterCovariance.of(changes, units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        tar, non = self._standardized(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            by_sd = (tar**2 - 1.0) / self.sd_tar_, (1.0 - non**2) / self.sd_non_
            return np.column_stack((tar / self.sd_tar_, -non / self.sd_non_, *by_sd))

    def _warn(self, ends: FloatArray) -> None:
        slopes = self._slopes(ends)
        if not np.any(slopes > 0.0):
            words = (
                "the llr does not increase with the score: larger scores favour non-target here. If they are "
                "distances, or the labels are exchanged, negate the scores first"
            )
        elif np.any(slopes < 0.0):
            where = "largest" if slopes[1] < 0.0 else "lowest"
            words = (
                f"the map turns within the range of the training scores, so that the {where} ones favour the other "
                "class again. Use shared_variance=True, or AffineCalibrator or PavCalibrator"
            )
        else:
            return
        warn(f"{type(self).__name__}: {words}.")

    def _slopes(self, scores: FloatArray) -> FloatArray:
        """Derivative of the llr by the score, times the smaller standard deviation."""
        least = min(self.sd_tar_, self.sd_non_)
        tar, non = self._standardized(scores)
        with np.errstate(invalid="ignore"):
            slopes: FloatArray = (least / self.sd_non_) * non - (least / self.sd_tar_) * tar
        return slopes

    def _standardized(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Distances from the means in standard deviations."""
        with np.errstate(over="ignore"):
            return (scores - self.mean_tar_) / self.sd_tar_, (scores - self.mean_non_) / self.sd_non_

    def _transform(self, scores: FloatArray) -> FloatArray:
        if self.sd_tar_ == self.sd_non_:
            return self._line(scores)
        tar, non = self._standardized(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            llr: FloatArray = 0.5 * (non - tar) * (non + tar) + (np.log(self.sd_non_) - np.log(self.sd_tar_))
        # At infinity, and where squares overflow, the wider distribution wins.
        llr[np.isnan(llr)] = np.inf if self.sd_tar_ > self.sd_non_ else -np.inf
        return llr

    def _line(self, scores: FloatArray) -> FloatArray:
        """The llr for equal variances, without squares that overflow or cancel."""
        distance = 2.0 * ((0.5 * self.mean_tar_ - 0.5 * self.mean_non_) / self.sd_tar_)
        if distance == 0.0:
            return np.zeros(len(scores))  # infinite scores, too
        middle = 0.5 * self.mean_tar_ + 0.5 * self.mean_non_
        with np.errstate(over="ignore", invalid="ignore"):
            llr: FloatArray = distance * ((scores - middle) / self.sd_tar_)
        llr[np.isnan(llr)] = 0.0  # in the middle of means that are infinitely many standard deviations apart
        return llr

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take means and standard deviations from a file."""
        super().set_parameters(parameters)
        if self.shared_variance and self.sd_tar_ != self.sd_non_:
            raise InputError(f"sd_tar, sd_non: {self.sd_tar_:g} and {self.sd_non_:g}, but the variance is shared.")


def _require_finite(data: Labelled) -> None:
    counts = True if data.weight is None else data.weight > 0
    if (found := np.flatnonzero(np.isinf(data.score) & counts)).size:
        raise TrialError(
            f"scores: {len(found)} of {len(data.score)} are infinite, the first ",
            int(found[0]),
            ". Gaussian models need finite ones: leave these trials out, give them finite scores, or use "
            "PavCalibrator, which takes them.",
        )


Spread = tuple[float, float, float]
"""How much the trials of a class count, and mean and standard deviation of their scores."""


def _by_unit(non: Spread, tar: Spread, chunk: Chunk, units: TrialUnits) -> UnitSums:
    """Sum up by unit how far trials are from the mean and the variance of their class, relative to all of the class.

    The last two columns are the shares of units in the classes.
    """
    score, found = chunk.scores[0].astype(np.float64, copy=False), []
    for rows, (total, mean, sd) in ((~chunk.labels, non), (chunk.labels, tar)):
        share = np.where(rows, 1.0 if chunk.float_weight is None else chunk.float_weight, 0.0) / total
        with np.errstate(over="ignore", invalid="ignore"):  # what does not fit a float is refused with its variance
            apart = np.where(rows, score - mean, 0.0)
            found.append([*(share * np.array([apart, (apart - sd) * (apart + sd)])), share])
    values = np.array([of_class[at] for at in range(3) for of_class in found])
    return UnitSums((Sums.of(sums_by_unit(values, units)),))


@dataclass(frozen=True, slots=True)
class _Ranges(Additive):
    """Between which scores each class lies, and how many trials of it count; of more trials it adds up."""

    ends: Ends
    counts: tuple[int, int]


def _find_ranges(trials: Chunk) -> _Ranges:
    """A look at trials."""
    data = Labelled.of(trials)
    _require_finite(data)
    data = data.counting
    both = [scores for scores, _ in data.by_class()[::-1]]
    low, high = [np.min(one, initial=np.inf) for one in both], [np.max(one, initial=-np.inf) for one in both]
    return _Ranges(Ends.of(low, high), (len(both[0]), len(both[1])))


def _powers(middle: FloatArray, size: FloatArray, mean: Sequence[float], power: int, trials: Chunk) -> ClassCosts:
    """Sum up powers of ``(score - middle) / size - mean`` in each class, with exact sums."""
    tar, non = Labelled.of(trials).counting.by_class()

    def of_class(k: int, scores: ScoreArray, weights: CountArray | None) -> MeanCost:
        return MeanCost.of(scores, lambda own: ((own - middle[k]) / size[k] - mean[k]) ** power, weights)

    return ClassCosts((of_class(0, *non), of_class(1, *tar)))


def _moments(data: Any, ranges: _Ranges) -> list[Spread]:
    """How much each class counts, with mean and standard deviation; right for any magnitude and shift.

    The deviation is 0 if all scores are the same.
    """
    low, high = ranges.ends.low, ranges.ends.high
    # Relative to their range numbers neither overflow nor underflow, and a common shift takes no digits.
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    unit = np.where(half > 0.0, half, 1.0)

    def sums(mean: tuple[float, ...], power: int) -> tuple[MeanCost, ...]:
        found: ClassCosts = data.look(partial(_powers, middle, unit, mean, power))
        return found.of_class

    first = sums((0.0, 0.0), 1)
    second = sums(tuple(one.value for one in first), 2)
    found = []
    for k, size in enumerate(half.tolist()):
        mean = float(middle[k] + size * first[k].value) if size > 0.0 else float(low[k])
        found.append((first[k].weight, mean, size * math.sqrt(second[k].value)))
    return found
