"""Calibration by a straight line, and beta calibration, which is one in the logarithms of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy.special import log_expit

from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Ends
from deciban.errors import InputError, TrialError, warn
from deciban.models.model import ParameterCovariance, Plain, Uncertainty
from deciban.models.score_model import Form, Labelled, scores_alone, scores_as_they_are
from deciban.models.two_class import Calibrator, TrainedByRule, results_of
from deciban.trials.sources import Chunk
from deciban.types import FloatArray, ScoreArray

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
        fit = self._train(data.linear(self._form), intercept=self._has_offset)
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
        return {"objective": self.objective_, "objective_relative_to_llr_0": 1.0, "status": words}

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


def _require_possible(columns: list[FloatArray], data: Labelled) -> None:
    """Refuse certainty of the wrong class: its cost is infinite whatever ``a`` and ``b`` are."""
    counts = True if data.weight is None else data.weight > 0
    for column, wrong, name, value in (
        (columns[0], data.is_target, "target", 0),
        (columns[1], ~data.is_target, "non-target", 1),
    ):
        if (found := np.flatnonzero(np.isinf(column) & wrong & counts)).size:
            raise TrialError(
                f"scores: {len(found)} {name} trials have probability {value}, the first ",
                int(found[0]),
                ": their cost is infinite. Find out what rounded them, or clip probabilities to [1e-6, 1 - 1e-6] for "
                "example.",
            )


def _ends(model: BetaCalibrator, trials: Chunk) -> Ends:
    """Find the ends of probabilities of non-targets and of targets, if all are possible."""
    data = Labelled.of(trials)
    _require_possible(model._columns(data.score), data)  # noqa: SLF001
    own = [scores for scores, _ in data.counting.by_class()[::-1]]
    return Ends.of([np.min(one, initial=np.inf) for one in own], [np.max(one, initial=-np.inf) for one in own])


@dataclass(frozen=True, slots=True)
class _Stretched:
    """The form of trials whose columns are some of those of the map."""

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
