"""Bounds on log-likelihood ratios, fixed or empirical as in forensic practice, and chains of calibrators and bounds."""

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
from deciban.core.resampling.linearised import UnitChanges
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import Sums
from deciban.errors import InputError, warn
from deciban.metrics import SortedScores
from deciban.models.loading import model_of
from deciban.models.model import ParameterCovariance, Plain, Uncertainty, content_of
from deciban.models.score_model import Labelled
from deciban.models.two_class import Calibrator, outcome_of
from deciban.trials.sources import Chunk
from deciban.types import CountArray, FloatArray, ScoreArray

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
