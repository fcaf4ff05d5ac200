"""Parametric calibration: affine map, beta calibration of probabilities, and Gaussian models of the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.special import log_expit

from deciban._validate import arrays as _validate
from deciban.core.expected import ClassCosts, MeanCost
from deciban.core.resampling.linearised import UnitChanges, require_effective, require_several, sums_by_unit
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Ends, Sums, UnitSums
from deciban.errors import InputError, TrialError, either, option, warn
from deciban.models.model import Form, ParameterCovariance, ParameterUncertainty, Plain, scores_alone, scores_unchanged
from deciban.models.score_model import Calibrator, TrainedByRule, outcome, outcome_of, results_of
from deciban.trials.sources import Batch
from deciban.types import Additive, BoolArray, CountArray, FloatArray, FloatPair, Json, ScoreArray

if TYPE_CHECKING:
    from deciban.core.training.linear_training import LinearFit
    from deciban.models.sources import SourceTrials

_FINITE = {"type": "number"}


def reversed_note() -> str:
    """Return the end of the warning about a decreasing map."""
    return (
        f"higher scores favour non-targets. For distances, {either('negate the scores', 'pass --negate')}. If the "
        f"labels are exchanged, correct {either('them', 'the key or --labels')}; do not negate the scores"
    )


class AffineCalibrator(TrainedByRule, Calibrator):
    """Log-likelihood ratio ``scale * score + offset`` (Bruemmer and Doddington 2013, eq. 16).

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1); it sets the emphasized operating points. The proportions of the data do not
        matter.
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]. (1, 1) is the logarithmic rule: training
        is prior-weighted logistic regression. Larger values emphasize a narrower range of thresholds. `suggest_rule`
        returns values for a range of operating points.
    ridge : float
        Penalty ``ridge / 2 * scale**2``, with the scale for standardized scores (divided by their prior-weighted
        standard deviation), added to the objective. The offset is never penalized.

    Attributes
    ----------
    scale_, offset_ : float
        The map, in nats per unit of score and in nats.
    objective_ : float
        Expected cost at the optimum (Bruemmer and Doddington 2013, eq. 3), without the penalty; in nats for (1, 1).
    training_ : Training
        Counts of trials, a fingerprint of the data, and ``results``: the objective, also relative to its value at llr
        0, the norm of the gradient, the numbers of steps and passes, and a status in words.
    parameter_covariance_ : (2, 2) array or None
        Covariance of scale and offset by the sampling of units, if ``fit`` received units; 0 for untrained parameters.

    Warns
    -----
    DecibanWarning
        If the scale is not positive, so that larger scores favour non-targets; or if the optimum was not reached.

    Notes
    -----
    Separated classes have no optimum: they are refused, unless there is a penalty. Constant scores (up to rounding) are
    also refused. Rules with ``alpha > 1`` or ``beta > 1`` are not convex: the search starts from the optimum of the
    logarithmic rule, from steeper and flatter maps, and from the best single threshold, and returns the best result. If
    the objective keeps falling for steeper maps, there is no best map. Then a warning and the status state the limit,
    and the map is a local optimum.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> calibrator = AffineCalibrator(p_target=0.5).fit(scores, is_target)
    >>> round(calibrator.scale_, 3), round(calibrator.offset_, 3)
    (1.977, -2.299)
    >>> calibrator.transform([2.0]).round(3)
    array([1.656])
    """

    kind: ClassVar[str] = "affine"
    _has_scale: ClassVar[bool] = True
    _has_offset: ClassVar[bool] = True
    parameter_schema: ClassVar[Mapping[str, object]] = {"scale": _FINITE, "offset": _FINITE}

    @property
    def _form(self) -> Form:
        return scores_alone if self._has_scale else scores_unchanged

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        from deciban.core.training.linear_training import train_trials  # only needed for training

        trials, called = data.linear(self._form), self.called
        fit = train_trials(trials, *self._rule(), intercept=self._has_offset, called=called)
        self._note(fit)
        self.scale_, self.offset_ = float(fit.weights[0]) if self._has_scale else 1.0, fit.offset
        return self._results_of(fit)

    def _results_of(self, fit: LinearFit) -> Mapping[str, Plain]:
        if self.scale_ <= 0.0:
            equal = "the scores do not separate targets from non-targets"
            words = f"the best scale is {self.scale_:z.3g}: {reversed_note() if self.scale_ < 0.0 else equal}"
            warn(f"{self.warning_name or type(self).__name__}: {words}.")
        return results_of(fit)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the trained parameters: scale and offset."""
        return "scale", "offset"

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterUncertainty:
        weights = np.full(int(self._has_scale), self.scale_)
        result = self._influences(data.linear(self._form), units, weights, self.offset_, intercept=self._has_offset)
        if not self._has_scale:
            result = replace(result, values=np.column_stack((np.zeros(len(result.values)), result.values)))
        return ParameterCovariance.of(result, units)

    def _transform(self, scores: FloatArray) -> FloatArray:
        if self.scale_ == 0.0:
            return np.full(len(scores), self.offset_)  # also for infinite scores
        with np.errstate(over="ignore"):
            return self.scale_ * scores + self.offset_


class ShiftCalibrator(AffineCalibrator):
    """Log-likelihood ratio ``score + offset``, for scores that are correct up to a constant.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1).
    alpha, beta : float
        Member of the beta family; see `AffineCalibrator`.

    Attributes
    ----------
    scale_, offset_, objective_, training_
        See `AffineCalibrator`; ``scale_`` is 1.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> ShiftCalibrator().fit(scores, is_target).transform([2.0]).round(3)
    array([0.888])
    """

    kind: ClassVar[str] = "shift"
    _has_scale = False

    def __init__(self, *, p_target: float = 0.5, alpha: float = 1.0, beta: float = 1.0) -> None:
        super().__init__(p_target=p_target, alpha=alpha, beta=beta)


class ScaleCalibrator(AffineCalibrator):
    """Log-likelihood ratio ``scale * score``: temperature scaling with temperature ``1 / scale``.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1).
    alpha, beta : float
        Member of the beta family; see `AffineCalibrator`.
    ridge : float
        Penalty; see `AffineCalibrator`.

    Attributes
    ----------
    scale_, offset_, objective_, training_
        See `AffineCalibrator`; ``offset_`` is 0.

    Examples
    --------
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> ScaleCalibrator().fit(scores, is_target).transform([2.0]).round(3)
    array([1.652])
    """

    kind: ClassVar[str] = "scale"
    _has_offset = False


class BetaCalibrator(TrainedByRule, Calibrator):
    """Log-likelihood ratio ``a ln p - b ln(1 - p) + c`` of probabilities ``p``, with ``a, b >= 0``.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1). The proportions of the data do not matter.
    ridge : float
        Penalty ``ridge / 2 * (a**2 + b**2)``, with ``a`` and ``b`` for standardized ``ln p`` and ``ln(1 - p)``, added
        to the objective. ``c`` is never penalized.
    scores : {"probability", "log_odds"}
        Type of the input: probabilities in [0, 1], or ``ln(p / (1 - p))``, which preserves the digits of probabilities
        close to 1.

    Attributes
    ----------
    a_, b_, c_ : float
        The map, in nats.
    objective_ : float
        Prior-weighted cross-entropy at the optimum, without the penalty, in nats.
    training_ : Training
        Counts of trials, a fingerprint of the data, and ``results`` of training.

    Raises
    ------
    InputError
        If a probability is outside [0, 1], a target has probability 0 or a non-target 1, the classes are separated
        and there is no penalty, or a parameter is out of range.

    Warns
    -----
    DecibanWarning
        If the best map with ``a, b >= 0`` is constant: larger probabilities favour non-targets.

    Notes
    -----
    The output is a log-likelihood ratio, not a posterior, for any prior of the input probabilities. To get a posterior,
    add the log odds of a prior and apply the logistic function. Probabilities 0 and 1 are infinite evidence, unless
    ``a`` or ``b`` is 0.

    If the best ``a`` or ``b`` is negative, the map would not be monotone: it is set to 0 and the others are trained
    again, as in the paper. If either of them could be 0, the better solution is used. ``a = b = 1`` is a shift of the
    log odds, ``a = b`` affine calibration of the log odds.

    References
    ----------
    M. Kull, T. Silva Filho and P. Flach, "Beyond sigmoids: How to obtain well-calibrated probabilities from binary
    classifiers with beta calibration", Electronic Journal of Statistics 11(2), 2017, 5052-5080.

    Examples
    --------
    >>> scores, is_target = [0.9, 0.4, 0.8, 0.1, 0.6, 0.3], [True, True, True, False, False, False]
    >>> calibrator = BetaCalibrator().fit(scores, is_target)
    >>> calibrator.transform([0.0, 0.5, 0.9]).round(2)
    array([ -inf, -0.25,  3.46])
    """

    kind: ClassVar[str] = "beta"
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "a": {"type": "number", "minimum": 0},
        "b": {"type": "number", "minimum": 0},
        "c": {"type": "number"},
    }

    def __init__(
        self, *, p_target: float = 0.5, ridge: float = 0.0, scores: Literal["probability", "log_odds"] = "probability"
    ) -> None:
        super().__init__(p_target=p_target, ridge=ridge)
        self.scores = scores
        self._require_kind()

    def _require_kind(self) -> None:
        _validate.one_of(self.scores, "scores", ("probability", "log_odds"))

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        _, _, log_odds, ridge = self._rule()
        ends = data.look(partial(_ends, self))
        fit, used = _best(data, self, ends, log_odds=log_odds, ridge=ridge)
        if fit is None:
            return self._constant(log_odds)
        weights = dict(zip(used, fit.weights.tolist(), strict=True))
        self.a_, self.b_, self.c_ = max(weights.get(0, 0.0), 0.0), max(weights.get(1, 0.0), 0.0), fit.offset
        self._note(fit)
        results = results_of(fit)
        if len(used) == 1:
            results["status"] = f"{fit.status}; {'ab'[1 - used[0]]} is 0, because the optimum is negative"
        return results

    def _constant(self, log_odds: float) -> Mapping[str, Plain]:
        self.a_, self.b_, self.c_ = 0.0, 0.0, 0.0
        self.objective_ = float(-(log_expit(log_odds) * self.p_target + log_expit(-log_odds) * (1.0 - self.p_target)))
        words = "a and b are 0, because both optima are negative: every llr is 0"
        warn(
            f"{type(self).__name__}: {words}. Larger probabilities favour non-targets here: if the labels are "
            "exchanged, exchange them back, or pass 1 - p."
        )
        return outcome(self.objective_, self.objective_, words)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names in the order of ``parameter_covariance_``; a parameter at its limit 0 counts as a constant."""
        return "a", "b", "c"

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterUncertainty:
        weights = np.array([self.a_, self.b_])
        used = np.flatnonzero(weights)
        if not len(used):
            raise InputError("a and b are 0, their lower limit.")
        value = data.linear(_Stretched(self, tuple(used.tolist())))
        own = self._influences(value, units, weights[used], self.c_)
        changes = np.zeros((len(own.values), 3))
        changes[:, np.append(used, 2)] = own.values
        return ParameterCovariance.of(replace(own, values=changes), units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.column_stack((*self._columns(scores), np.ones(len(scores))))

    def _columns(self, scores: ScoreArray) -> list[FloatArray]:
        """Return ``ln p`` and ``-ln(1 - p)``."""
        self._require_kind()
        values = scores.astype(np.float64, copy=False)
        if self.scores == "log_odds":
            return [log_expit(values), -log_expit(-values)]
        if (outside := np.flatnonzero((values < 0.0) | (values > 1.0))).size:
            raise TrialError(
                f"scores: {len(outside)} of {len(values)} are not probabilities, the first ",
                int(outside[0]),
                f": {values[outside[0]]:g}. Beta calibration takes probabilities in [0, 1] as they are: leave out "
                f"{option('probabilities')}, which converts them. For log odds pass {option(scores='log_odds')}; for "
                f"other scores use {either('AffineCalibrator', '--method affine')}.",
            )
        with np.errstate(divide="ignore"):
            return [np.log(values), -np.log1p(-values)]

    def _transform(self, scores: FloatArray) -> FloatArray:
        llr = np.full(len(scores), self.c_)
        with np.errstate(over="ignore"):
            for weight, column in zip((self.a_, self.b_), self._columns(scores), strict=True):
                if weight > 0.0:  # 0 times an infinite column counts as 0
                    llr += weight * column
        return llr


def _ends(model: BetaCalibrator, trials: Batch) -> Ends:
    """Return the range of probabilities of non-targets and of targets; refuse certainty of the wrong class.

    The cost of certainty of the wrong class is infinite for all ``a`` and ``b``.
    """
    of_0, of_1 = (np.isinf(column) for column in model._columns(trials.scores[0]))  # noqa: SLF001
    counts: BoolArray | bool = True if trials.weight is None else trials.weight > 0
    way = ": their cost is infinite. Find the cause of the rounding, or clip to [1e-6, 1 - 1e-6], for example."
    words = "scores: {n} target trials have probability 0, the first "
    _validate.refuse_trials(of_0 & trials.labels & counts, words, way)
    words = "scores: {n} non-target trials have probability 1, the first "
    _validate.refuse_trials(of_1 & ~trials.labels & counts, words, way)
    return _ends_of(trials)[0]


def _ends_of(trials: Batch) -> tuple[Ends, tuple[int, int]]:
    """Return the range of the scores of non-targets and targets that count, and the numbers of trials."""
    own = [scores for scores, _ in trials.counting.by_class()[::-1]]
    low, high = [np.min(one, initial=np.inf) for one in own], [np.max(one, initial=-np.inf) for one in own]
    return Ends.of(low, high), (len(own[0]), len(own[1]))


@dataclass(frozen=True, slots=True)
class _Stretched:
    """Form of trials with some of the columns ``ln p`` and ``-ln(1 - p)``; equal forms share a sample of trials."""

    model: BetaCalibrator
    used: tuple[int, ...]

    def __call__(self, scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], None]:
        columns = self.model._columns(scores[0])  # noqa: SLF001
        return [columns[k] for k in self.used], None


def _best(
    data: SourceTrials, model: BetaCalibrator, ends: Ends, *, log_odds: float, ridge: float
) -> tuple[LinearFit | None, tuple[int, ...]]:
    """Return the best fit without negative weights, and the indices of its columns; None if it uses none.

    The objective is convex. If the optimum of both weights has a negative weight, or the search diverges in such a
    direction, the best non-negative weights include a 0.
    """

    def fit(*used: int) -> LinearFit:
        from deciban.core.training.linear_training import train_trials  # only needed for training

        value = data.linear(_Stretched(model, used))
        return train_trials(value, alpha=1.0, beta=1.0, log_odds=log_odds, ridge=ridge)

    (low_non, low_tar), (high_non, high_tar) = ends.low.tolist(), ends.high.tolist()
    if high_tar <= low_non and low_tar < high_non:
        return None, ()  # no target has a higher score than a non-target, and some are lower
    try:
        both = fit(0, 1)
    except InputError:
        both = None  # classes that one weight separates are refused below
    if both is not None and min(both.weights) >= 0.0:
        return both, (0, 1)
    possible = [result for result in [(fit(k), (k,)) for k in (0, 1)] if result[0].weights[0] > 0.0]
    if not possible:
        return None, ()
    return min(possible, key=lambda result: result[0].objective + 0.5 * ridge * result[0].standardized[0] ** 2)


class GaussianCalibrator(Calibrator):
    """Log-likelihood ratio of two Gaussian distributions of the score, one for each class.

    Parameters
    ----------
    shared_variance : bool
        Use one variance for both classes. Then the map is a straight line. Otherwise it is a parabola, which is not
        monotone: beyond its turning point, more extreme scores favour the other class again.
    p_target : float
        The shared variance is ``p_target`` times that of targets plus ``1 - p_target`` times that of non-targets, with
        ``p_target`` in (0, 1). The proportions of the data do not matter. Not used with separate variances.

    Attributes
    ----------
    mean_tar_, mean_non_ : float
        Weighted mean score of each class.
    sd_tar_, sd_non_ : float
        Standard deviations of the models, in units of the score; equal if shared.
    training_ : Training
        Counts of trials, a fingerprint of the data, and ``results`` with the Cllr.

    Raises
    ------
    InputError
        In training, if a score is infinite, or a variance is 0: all scores of a class are equal (with a shared
        variance: of both classes).

    Warns
    -----
    DecibanWarning
        If the map decreases, or turns within the range of the training scores.

    Notes
    -----
    Variances are maximum-likelihood estimates: sums are divided by the number of trials. If llrs are calibrated and the
    llrs of non-targets are Gaussian with variance ``v``, their mean is ``-v / 2``. Then the llrs of targets are
    Gaussian with mean ``v / 2`` and the same variance (van Leeuwen and Bruemmer 2013). So only the Gaussian model with
    shared variance describes its own output. Training takes a few passes and no search. `AffineCalibrator` assumes no
    shape of the distributions and is rarely worse.

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
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "mean_tar": {"type": "number"},
        "mean_non": {"type": "number"},
        "sd_tar": {"type": "number", "exclusiveMinimum": 0},
        "sd_non": {"type": "number", "exclusiveMinimum": 0},
    }

    def __init__(self, *, shared_variance: bool = True, p_target: float = 0.5) -> None:
        self.shared_variance, self.p_target = shared_variance, p_target
        self._checked()

    def _checked(self) -> float:
        """Return the checked prior; settings are attributes, which may have changed."""
        _validate.flag(self.shared_variance, "shared_variance")
        _validate.single_log_odds(self.p_target)
        return float(self.p_target)

    def _fit(self, data: SourceTrials) -> Mapping[str, Plain]:
        p_target = self._checked()
        ranges: _Ranges = data.look(_find_ranges)
        (_, mean_non, sd_non), (_, mean_tar, sd_tar) = _moments(data, ranges)
        self.mean_tar_, self.mean_non_ = mean_tar, mean_non
        if self.shared_variance:
            if sd_tar == sd_non == 0.0:
                raise InputError(
                    "scores: all targets have the same score, and all non-targets, so the variance is 0. A Gaussian "
                    "needs two different scores in at least one class."
                )
            sd_tar = sd_non = float(np.hypot(np.sqrt(p_target) * sd_tar, np.sqrt(1.0 - p_target) * sd_non))
        for kind, (sd, name) in enumerate(((sd_non, "non-target"), (sd_tar, "target"))):
            if sd == 0.0:
                raise InputError(
                    f"scores: the {ranges.counts[kind]:,} {name} trials have variance 0: all have score "
                    f"{ranges.ends.low[kind]:g}. Separate variances need two different scores in each class; "
                    f"{option(shared_variance=True)} needs them in one class."
                )
        self.sd_tar_, self.sd_non_ = sd_tar, sd_non
        self._warn(np.array([ranges.ends.low.min(), ranges.ends.high.max()]))
        n_non, n_tar = ranges.counts
        status = f"moments of {n_tar:,} target and {n_non:,} non-target scores"
        return outcome_of(data, self._transform, status)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names in the order of ``parameter_covariance_``."""
        return "mean_tar", "mean_non", "sd_tar", "sd_non"

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterUncertainty:
        from deciban.core.training.influences import effective_of, leaves_out  # only needed for training

        require_several(units)
        non, tar = _moments(data, data.look(_find_ranges))
        sums = data.look_by_unit(partial(_by_unit, non, tar))
        (result,) = sums.parts
        means, variances, shares = result[:, :2], result[:, 2:4], result[:, 4:]
        n_effective = require_effective(effective_of(sums, shares), ("non-target", "target"), units)
        leave_out = not sums.is_folded and leaves_out(len(result), data.n_trials)
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
            words = f"the llr does not increase with the score: {reversed_note()}"
        elif np.any(slopes < 0.0):
            where = "largest" if slopes[1] < 0.0 else "lowest"
            words = (
                f"the map turns within the range of the training scores, so that the {where} scores favour the other "
                f"class again. Use {option(shared_variance=True)}, or {either('AffineCalibrator', '--method affine')}"
            )
        else:
            return
        warn(f"{type(self).__name__}: {words}.")

    def _slopes(self, scores: FloatArray) -> FloatArray:
        """Return the derivative of the llr in the score, times the smaller standard deviation."""
        least = min(self.sd_tar_, self.sd_non_)
        tar, non = self._standardized(scores)
        with np.errstate(invalid="ignore"):
            slopes: FloatArray = (least / self.sd_non_) * non - (least / self.sd_tar_) * tar
        return slopes

    def _standardized(self, scores: FloatArray) -> FloatPair:
        """Return distances from the means in standard deviations."""
        with np.errstate(over="ignore"):
            return (scores - self.mean_tar_) / self.sd_tar_, (scores - self.mean_non_) / self.sd_non_

    def _transform(self, scores: FloatArray) -> FloatArray:
        if self.sd_tar_ == self.sd_non_:
            # The llr for equal variances, without squares that overflow or cancel
            distance = 2.0 * ((0.5 * self.mean_tar_ - 0.5 * self.mean_non_) / self.sd_tar_)
            if distance == 0.0:
                return np.zeros(len(scores))  # also for infinite scores
            middle = 0.5 * self.mean_tar_ + 0.5 * self.mean_non_
            with np.errstate(over="ignore", invalid="ignore"):
                line: FloatArray = distance * ((scores - middle) / self.sd_tar_)
            line[np.isnan(line)] = 0.0  # in the middle of means at infinite distance
            return line
        tar, non = self._standardized(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            llr: FloatArray = 0.5 * (non - tar) * (non + tar) + (np.log(self.sd_non_) - np.log(self.sd_tar_))
        # At infinity, and if squares overflow, the wider distribution wins.
        llr[np.isnan(llr)] = np.inf if self.sd_tar_ > self.sd_non_ else -np.inf
        return llr

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set means and standard deviations from a file."""
        super().set_parameters(parameters)
        if self.shared_variance and self.sd_tar_ != self.sd_non_:
            raise InputError(f"sd_tar, sd_non: {self.sd_tar_:g} and {self.sd_non_:g}, but the variance is shared.")


Spread = tuple[float, float, float]
"""Number (or weight) of trials of a class, and mean and standard deviation of their scores."""


def _by_unit(non: Spread, tar: Spread, batch: Batch, units: TrialUnits) -> UnitSums:
    """Sum by unit the deviations of trials from the mean and the variance of their class, relative to the class.

    The last two columns are the shares of units in the classes.
    """
    score, result = batch.scores[0].astype(np.float64, copy=False), []
    for rows, (total, mean, sd) in ((~batch.labels, non), (batch.labels, tar)):
        share = np.where(rows, 1.0 if batch.float_weight is None else batch.float_weight, 0.0) / total
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused with its variance
            apart = np.where(rows, score - mean, 0.0)
            result.append([*(share * np.array([apart, (apart - sd) * (apart + sd)])), share])
    values = np.array([of_class[at] for at in range(3) for of_class in result])
    return UnitSums((Sums.of(sums_by_unit(values, units)),))


@dataclass(frozen=True, slots=True)
class _Ranges(Additive):
    """Ranges of the scores of both classes, and numbers of trials; ``a + b`` merges two sets of trials."""

    ends: Ends
    counts: tuple[int, int]


def _find_ranges(trials: Batch) -> _Ranges:
    """Return the ranges of trials with finite scores."""
    score = trials.scores[0]
    infinite = np.isinf(score) if trials.weight is None else np.isinf(score) & (trials.weight > 0)
    words = f"scores: {{n}} of {len(score)} are infinite, the first "
    way = (
        ". Gaussian models need finite scores: leave these trials out, give them finite scores, or use PavCalibrator, "
        "which accepts them."
    )
    _validate.refuse_trials(infinite, words, way)
    return _Ranges(*_ends_of(trials))


def _powers(middle: FloatArray, size: FloatArray, mean: Sequence[float], power: int, trials: Batch) -> ClassCosts:
    """Return exact sums of powers of ``(score - middle) / size - mean`` in each class."""
    tar, non = trials.counting.by_class()

    def of_class(k: int, scores: ScoreArray, weights: CountArray | None) -> MeanCost:
        return MeanCost.of(scores, lambda own: ((own - middle[k]) / size[k] - mean[k]) ** power, weights)

    return ClassCosts((of_class(0, *non), of_class(1, *tar)))


def _moments(data: SourceTrials, ranges: _Ranges) -> list[Spread]:
    """Return the weight, mean and standard deviation of each class, accurate for any magnitude and shift.

    The deviation is 0 if all scores are equal.
    """
    low, high = ranges.ends.low, ranges.ends.high
    # Relative to their range, numbers neither overflow nor underflow, and a common shift loses no digits.
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    unit = np.where(half > 0.0, half, 1.0)

    def sums(mean: tuple[float, ...], power: int) -> tuple[MeanCost, ...]:
        spreads: ClassCosts = data.look(partial(_powers, middle, unit, mean, power))
        return spreads.of_class

    first = sums((0.0, 0.0), 1)
    second = sums(tuple(one.value for one in first), 2)
    spreads = []
    for k, size in enumerate(half.tolist()):
        mean = float(middle[k] + size * first[k].value) if size > 0.0 else float(low[k])
        spreads.append((first[k].weight, mean, size * math.sqrt(second[k].value)))
    return spreads
