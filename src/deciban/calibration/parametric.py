"""Calibration by a formula: a straight line, beta calibration of probabilities, and Gaussian models of the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.special import log_expit

from deciban._validate import arrays as _validate
from deciban.core.by_value import Additive
from deciban.core.resampling.linearised import UnitChanges, require_effective, require_several, sums_by_unit
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.expected import ClassCosts, MeanCost
from deciban.core.training.sums import Ends, Sums, UnitSums
from deciban.errors import InputError, TrialError, warn
from deciban.models.model import ParameterCovariance, Plain, Uncertainty
from deciban.models.score_model import Form, scores_alone, scores_as_they_are
from deciban.models.two_class import Calibrator, TrainedByRule, outcome, outcome_of, results_of
from deciban.trials.sources import Chunk
from deciban.types import CountArray, FloatArray, ScoreArray

if TYPE_CHECKING:
    from deciban.core.training.linear_training import LinearFit

_FINITE = {"type": "number"}


class AffineCalibrator(TrainedByRule, Calibrator):
    """Log-likelihood ratio ``scale * score + offset`` (Bruemmer and Doddington 2013, eq. 16).

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1): which operating points matter. Proportions of the data never do.
    alpha, beta : float
        Member of the beta family of proper scoring rules, each in [0.05, 100]. (1, 1) is the logarithmic rule, and
        training prior-weighted logistic regression; larger values look at a narrower range of thresholds.
        `suggest_rule` finds values for a range of operating points.
    ridge : float
        Half of it times the square of ``scale`` on standardized scores (divided by their prior-weighted standard
        deviation) is added to the objective. The offset is never penalized.

    Attributes
    ----------
    scale_, offset_ : float
        The map, in nats per unit of score and in nats.
    objective_ : float
        Expected cost at the optimum (Bruemmer and Doddington 2013, eq. 3), without the penalty; in nats for (1, 1).
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` the objective, also relative to its value at
        llr 0, the length of the gradient, the numbers of steps and passes, and a status in words.
    parameter_covariance_ : (2, 2) array or None
        Of scale and offset by the draw of units, if ``fit`` was told them; 0 for what is not trained.

    Warns
    -----
    DecibanWarning
        If the scale is not positive, so that larger scores favour non-target; or if the optimum was not reached.

    Notes
    -----
    Separated classes have no optimum: they are refused, unless there is a penalty. So are scores that are all the same,
    but for rounding. Rules with ``alpha > 1`` or ``beta > 1`` are not convex: the search starts from the optimum of the
    logarithmic rule, from steeper and flatter ones, and from the best single threshold, and the best is taken. Where
    steeper and steeper maps are better still, none is the best: a warning and the status say so, with what these come
    down to, and the map is a local optimum.

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
    parameter_schema: ClassVar[dict[str, Any]] = {"scale": _FINITE, "offset": _FINITE}

    @property
    def _form(self) -> Form:
        return scores_alone if self._has_scale else scores_as_they_are

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        from deciban.core.training.linear_training import train_trials  # models that are trained need none of it

        form: Any = {"intercept": self._has_offset, "called": self.called}
        fit = train_trials(data.linear(self._form), *self._rule(), **form)
        self._note(fit)
        self.scale_, self.offset_ = float(fit.weights[0]) if self._has_scale else 1.0, fit.offset
        return self._results_of(fit)

    def _results_of(self, fit: LinearFit) -> Mapping[str, Plain]:
        if self.scale_ == 0.0:
            words = "the best scale is 0: the scores do not tell targets from non-targets"
        elif self.scale_ < 0.0:
            words = (
                f"the best scale is {self.scale_:.3g}: larger scores favour non-target here. If they are distances, or "
                "the labels are exchanged, negate the scores first"
            )
        else:
            return results_of(fit)
        warn(f"{self.told_as or type(self).__name__}: {words}.")
        return results_of(fit)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Scale and offset, whichever are trained."""
        return "scale", "offset"

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        weights = np.full(int(self._has_scale), self.scale_)
        found = self._influences(data.linear(self._form), units, weights, self.offset_, intercept=self._has_offset)
        if not self._has_scale:
            found = replace(found, values=np.column_stack((np.zeros(len(found.values)), found.values)))
        return ParameterCovariance.of(found, units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.column_stack((scores, np.ones(len(scores))))

    def _transform(self, scores: FloatArray) -> FloatArray:
        if self.scale_ == 0.0:
            return np.full(len(scores), self.offset_)  # infinite scores, too
        with np.errstate(over="ignore"):
            return self.scale_ * scores + self.offset_


class ShiftCalibrator(AffineCalibrator):
    """Log-likelihood ratio ``score + offset``: for scores that are right up to a constant.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1).
    alpha, beta : float
        Member of the beta family, as for `AffineCalibrator`.

    Attributes
    ----------
    scale_, offset_, objective_, training_
        As of `AffineCalibrator`, with ``scale_ = 1``.

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
    """Log-likelihood ratio ``scale * score``: temperature scaling, the temperature is ``1 / scale``.

    Parameters
    ----------
    p_target : float
        Prior of the objective, in (0, 1).
    alpha, beta : float
        Member of the beta family, as for `AffineCalibrator`.
    ridge : float
        Penalty, as for `AffineCalibrator`.

    Attributes
    ----------
    scale_, offset_, objective_, training_
        As of `AffineCalibrator`, with ``offset_ = 0``.

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
        Prior of the objective, in (0, 1). Proportions of the data never enter.
    ridge : float
        Half of it times the squares of ``a`` and ``b`` on standardized ``ln p`` and ``ln(1 - p)`` is added to the
        objective. ``c`` is never penalized.
    scores : {"probability", "log_odds"}
        What comes in: probabilities in [0, 1], or ``ln(p / (1 - p))``, which keeps the digits of probabilities next
        to 1.

    Attributes
    ----------
    a_, b_, c_ : float
        The map, in nats.
    objective_ : float
        Prior-weighted cross-entropy at the optimum, without the penalty, in nats.
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` how training went.

    Raises
    ------
    InputError
        If a probability is outside [0, 1], a target has probability 0 or a non-target 1, the classes are separated
        and there is no penalty, or a parameter is out of range.

    Warns
    -----
    DecibanWarning
        If the best map with ``a, b >= 0`` is constant: larger probabilities favour non-target.

    Notes
    -----
    What comes out is a log-likelihood ratio and not a posterior, whatever the prior that the probabilities were made
    for: add the log odds of a prior and take the logistic function to get one. Probabilities 0 and 1 are infinite
    evidence, unless ``a`` or ``b`` is 0 and takes it away.

    Where the best ``a`` or ``b`` is negative, the map would not be monotone: it is set to 0 and the others are trained
    again, as in the paper; if either of them could be 0, the better one is. ``a = b = 1`` is a shift of the log odds,
    ``a = b`` affine calibration of them.

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
    parameter_schema: ClassVar[dict[str, Any]] = {
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
        if self.scores not in ("probability", "log_odds"):
            raise InputError(f'scores: got {self.scores!r}. They are a "probability" or "log_odds".')

    def _fit(self, data: Any) -> Mapping[str, Plain]:
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
            results["status"] = f"{fit.status}; {'ab'[1 - used[0]]} is 0, it would have been negative"
        return results

    def _constant(self, log_odds: float) -> Mapping[str, Plain]:
        self.a_, self.b_, self.c_ = 0.0, 0.0, 0.0
        self.objective_ = float(-(log_expit(log_odds) * self.p_target + log_expit(-log_odds) * (1.0 - self.p_target)))
        words = "a and b are 0, both would have been negative: every llr is 0"
        warn(
            f"{type(self).__name__}: {words}. Larger probabilities favour non-target here: if the labels are "
            "exchanged, exchange them back, or pass 1 - p."
        )
        return outcome(self.objective_, self.objective_, words)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The order of ``parameter_covariance_``; what is at its limit, 0, counts as known."""
        return "a", "b", "c"

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        weights = np.array([self.a_, self.b_])
        used = np.flatnonzero(weights)
        if not len(used):
            raise InputError("a and b are 0, the limit of what they may be.")
        given = data.linear(_Stretched(self, tuple(used.tolist())))
        own = self._influences(given, units, weights[used], self.c_)
        changes = np.zeros((len(own.values), 3))
        changes[:, np.append(used, 2)] = own.values
        return ParameterCovariance.of(replace(own, values=changes), units)

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.column_stack((*self._columns(scores), np.ones(len(scores))))

    def _columns(self, scores: ScoreArray) -> list[FloatArray]:
        """``ln p`` and ``-ln(1 - p)``."""
        self._require_kind()
        values = scores.astype(np.float64, copy=False)
        if self.scores == "log_odds":
            return [log_expit(values), -log_expit(-values)]
        if (outside := np.flatnonzero((values < 0.0) | (values > 1.0))).size:
            raise TrialError(
                f"scores: {len(outside)} of {len(values)} are no probabilities, the first ",
                int(outside[0]),
                f': {values[outside[0]]:g}. They lie in [0, 1]. For log odds pass scores="log_odds"; for scores of '
                "any other kind use AffineCalibrator.",
            )
        with np.errstate(divide="ignore"):
            return [np.log(values), -np.log1p(-values)]

    def _transform(self, scores: FloatArray) -> FloatArray:
        llr = np.full(len(scores), self.c_)
        with np.errstate(over="ignore"):
            for weight, column in zip((self.a_, self.b_), self._columns(scores), strict=True):
                if weight > 0.0:  # nothing of an infinite column is nothing
                    llr += weight * column
        return llr


def _ends(model: BetaCalibrator, trials: Chunk) -> Ends:
    """Find the ends of probabilities of non-targets and of targets; refuse certainty of the wrong class.

    The cost of such certainty is infinite whatever ``a`` and ``b`` are.
    """
    of_0, of_1 = (np.isinf(column) for column in model._columns(trials.scores[0]))  # noqa: SLF001
    counts: Any = True if trials.weight is None else trials.weight > 0
    way = ": their cost is infinite. Find out what rounded them, or clip probabilities to [1e-6, 1 - 1e-6] for example."
    words = "scores: {n} target trials have probability 0, the first "
    _validate.refuse_trials(of_0 & trials.labels & counts, words, way)
    words = "scores: {n} non-target trials have probability 1, the first "
    _validate.refuse_trials(of_1 & ~trials.labels & counts, words, way)
    return _ends_of(trials)[0]


def _ends_of(trials: Chunk) -> tuple[Ends, tuple[int, int]]:
    """The ends of the scores of non-targets and of targets that count, and how many there are of each."""
    own = [scores for scores, _ in trials.counting.by_class()[::-1]]
    low, high = [np.min(one, initial=np.inf) for one in own], [np.max(one, initial=-np.inf) for one in own]
    return Ends.of(low, high), (len(own[0]), len(own[1]))


@dataclass(frozen=True, slots=True)
class _Stretched:
    """The form of trials whose columns are some of those of the map; equal forms share a sample of trials."""

    model: BetaCalibrator
    used: tuple[int, ...]

    def __call__(self, scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], None]:
        columns = self.model._columns(scores[0])  # noqa: SLF001
        return [columns[k] for k in self.used], None


def _best(
    data: Any, model: BetaCalibrator, ends: Ends, *, log_odds: float, ridge: float
) -> tuple[LinearFit | None, tuple[int, ...]]:
    """The best fit without negative weights, and which columns it uses; None if it uses none.

    The objective is convex. So where the optimum of both weights has a negative one, or none exists because it runs
    off to where one of them is negative, the best weights that are not negative have a 0.
    """

    def fit(*used: int) -> LinearFit:
        from deciban.core.training.linear_training import train_trials  # models that are trained need none of it

        given = data.linear(_Stretched(model, used))
        return train_trials(given, alpha=1.0, beta=1.0, log_odds=log_odds, ridge=ridge)

    (low_non, low_tar), (high_non, high_tar) = ends.low.tolist(), ends.high.tolist()
    if high_tar <= low_non and low_tar < high_non:
        return None, ()  # no target scores above a non-target, and some below
    try:
        both = fit(0, 1)
    except InputError:
        both = None  # classes that one weight alone separates are refused below
    if both is not None and min(both.weights) >= 0.0:
        return both, (0, 1)
    single = [(fit(k), (k,)) for k in (0, 1)]
    possible = [found for found in single if found[0].weights[0] > 0.0]
    if not possible:
        return None, ()
    return min(possible, key=lambda found: found[0].objective + 0.5 * ridge * found[0].standardized[0] ** 2)


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
    """Find the ranges of trials, which have finite scores."""
    score = trials.scores[0]
    infinite = np.isinf(score) if trials.weight is None else np.isinf(score) & (trials.weight > 0)
    words = f"scores: {{n}} of {len(score)} are infinite, the first "
    way = (
        ". Gaussian models need finite ones: leave these trials out, give them finite scores, or use PavCalibrator, "
        "which takes them."
    )
    _validate.refuse_trials(infinite, words, way)
    return _Ranges(*_ends_of(trials))


def _powers(middle: FloatArray, size: FloatArray, mean: Sequence[float], power: int, trials: Chunk) -> ClassCosts:
    """Sum up powers of ``(score - middle) / size - mean`` in each class, with exact sums."""
    tar, non = trials.counting.by_class()

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
