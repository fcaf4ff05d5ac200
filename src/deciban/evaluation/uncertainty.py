"""Uncertainty of the metrics of an evaluation: linear metrics, estimates, intervals, replicates, and notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np

from deciban.core.ranks.roc import Rocch
from deciban.core.resampling import intervals, linearised
from deciban.core.resampling.clusters import ClassRate, ClassVariances, ClusterDesign, degrees_of
from deciban.core.resampling.intervals import FEWEST_CLUSTERS, Estimate, Interval, NothingSeen, Scale
from deciban.core.resampling.units import FEW_UNITS, Keys, TrialUnits, is_independent, number_of_units
from deciban.errors import InputError, counted, either, listed, some_of
from deciban.types import BoolArray, FloatArray, FloatPair, IntArray

BootstrapKind = Literal["percentile", "basic"]


_ENOUGH = 10
"""Replicates that should be beyond each bound."""


_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """Options of intervals, passed as one object.

    Attributes
    ----------
    units : TrialUnits or None
        Units of all trials, in their order; None if the summary has them, or if they are unknown.
    level : float
    optimism : bool or None
        Also compute corrected minima; None: for two classes only.
    keep : bool or None
        Keep the influences of units, which comparisons need; None: keep them unless there are very many.
    bootstrap : int
        Number of replicates of the bootstrap; 0 for none.
    seed : int
        Seed of the replicates.
    strata : (n_trials,) int array or None
        Conditions of all trials in their order, if weights give each condition the same weight in every replicate.

    Raises
    ------
    InputError
        If the level is not inside (0, 1), or the number of replicates or the seed is invalid.
    """

    units: TrialUnits | None = None
    level: float = intervals.LEVEL
    optimism: bool | None = None
    keep: bool | None = None
    bootstrap: int = 0
    seed: int = 0
    strata: IntArray | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        intervals.checked_level(self.level)
        if self.bootstrap or self.seed:
            from deciban.core.resampling.replicates import checked_replicates  # loads on request

            checked_replicates(self.bootstrap, self.seed)


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """Metrics of replicates in which every unit counts a Poisson number of times.

    Attributes
    ----------
    seed : int
        Seed of the replicates.
    n_replicates : int
        Number of drawn replicates.
    left_out : int
        Replicates without a trial of some class, which have no metrics.
    values : mapping of metric to (n_replicates - left_out,) array
        Empty if fewer than two replicates are left: they have no spread, and intervals stay linearised.
    numbers : (n_replicates - left_out,) int array
        Indices of these replicates.
    estimates : mapping of metric to Estimate
        The metrics on the original trials, with their linearised standard errors.
    level : float
        Level of intervals.
    found_anew : frozenset of metrics
        Minima over thresholds and maps, and calibration losses, that were minimized in each replicate.
    """

    seed: int
    n_replicates: int
    left_out: int
    values: Mapping[MetricKey, FloatArray]
    numbers: IntArray
    estimates: Mapping[MetricKey, Estimate]
    level: float = intervals.LEVEL
    found_anew: frozenset[MetricKey] = frozenset()

    @classmethod
    def of(
        cls,
        replicates: Mapping[MetricKey, tuple[FloatArray, float]],
        has_metrics: BoolArray,
        estimates: Mapping[MetricKey, Estimate],
        resampling: Resampling,
        found_anew: Iterable[MetricKey] = (),
    ) -> Bootstrap:
        """Create from replicates of metrics.

        Parameters
        ----------
        replicates : mapping of metric to ((n_replicates,) array, float)
            Replicates, and the same computation at weights of 1. Its difference to the exact metric, due to rounding,
            is added to all replicates.
        has_metrics : (n_replicates,) array
            Mask of the replicates that have metrics.
        estimates : mapping of metric to Estimate
        resampling : Resampling
            Options.
        found_anew : iterable of metrics
        """
        numbers = np.flatnonzero(has_metrics)
        values = dict[MetricKey, FloatArray]()
        known = {name: one for name, one in replicates.items() if name in estimates}
        for name, (drawn, whole) in known.items() if len(numbers) > 1 else ():
            exact = estimates[name].value
            shift = exact - whole
            values[name] = drawn[numbers] + (shift if abs(shift) > _ROUNDING * abs(exact) else 0.0)
        n, level = resampling.bootstrap, resampling.level
        left_out = n - len(numbers)
        return cls(resampling.seed, n, left_out, values, numbers, estimates, level, frozenset(found_anew))

    def has(self, metric: MetricKey) -> bool:
        """Return True if a metric has replicates."""
        return metric in self.values or (metric, 0) in self.values

    def interval(self, metric: MetricKey, *, kind: BootstrapKind | None = None, level: float | None = None) -> Interval:
        """Return the interval of a metric from its replicates.

        Parameters
        ----------
        metric : str, or (str, place)
            As for `deciban.evaluation.Uncertainty.interval`.
        kind : {"percentile", "basic"}, optional
            Percentile intervals are between quantiles of the replicates (Efron 1979). Basic intervals mirror these at
            the estimate, ``2 estimate - q``. By default, minima have basic intervals, since minima of replicates are
            lower still, and other metrics have percentile intervals. Bounds stay in the range of the metric, and the
            interval contains the metric. If no unit has an error, the distance of Wilson limits is added in squares.
            If all replicates are equal, the interval is linearised.
        level : float, optional
            By default, the level of this object.

        Raises
        ------
        InputError
            If there is no such metric or kind, or the level is not inside (0, 1).

        Examples
        --------
        >>> import numpy as np
        >>> from deciban.evaluation import evaluate
        >>> rng, speakers = np.random.default_rng(1), np.arange(400) % 100
        >>> found = evaluate(rng.normal(2, 2, 400), rng.normal(-2, 2, 400), tar_units=speakers, non_units=speakers,
        ...     bootstrap=200, seed=1)
        >>> replicates = found.uncertainty.bootstrap
        >>> interval = replicates.interval("eer", kind="basic")
        >>> interval.low < found.eer < interval.high, interval.method
        (True, 'bootstrap, basic')
        """
        values, estimate = looked_up(self.values, metric), looked_up(self.estimates, metric)
        if kind is None:
            kind = "basic" if {metric, (metric, 0)} & self.found_anew else "percentile"
        level = self.level if level is None else intervals.checked_level(level)
        if kind not in get_args(BootstrapKind):
            raise InputError(f"kind: got {kind!r}. It is 'percentile' or 'basic'.")
        if float(np.ptp(values)) <= _ROUNDING * abs(estimate.value):
            return estimate.interval(level)
        bounds = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        if kind == "basic":
            bounds = 2.0 * estimate.value - bounds[::-1]
        if estimate.rates is not None:  # replicates contain no errors that no unit has
            below, above = estimate.rates.unseen(level)
            ends = min(bounds[0], estimate.value), max(bounds[1], estimate.value)
            bounds = estimate.value + np.array([-math.hypot(estimate.value - ends[0], below), 0.0])
            bounds[1] += math.hypot(ends[1] - estimate.value, above)
        low, high = np.clip(bounds, *estimate.limits).tolist()
        low, high = min(low, estimate.value), max(high, estimate.value)
        error, method = float(np.std(values, ddof=1)), f"bootstrap, {kind}"
        return Interval(estimate.value, low, high, error, estimate.corrected, level, estimate.n_units, method)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the intervals."""
        left, needed = self.n_replicates - self.left_out, int(np.ceil(2 * _ENOUGH / (1.0 - self.level) - 1e-9))
        out = (
            f"{self.left_out:,} of {self.n_replicates:,} replicates of the bootstrap have no trial of some class and "
            "are left out"
        )
        if not self.values:
            return (f"{out}: intervals are linearised.",)
        result = [f"{out}."] if self.left_out else []
        if left < needed:
            rule = f"bounds at level {self.level:g} are rough with fewer than {needed:,}"
            result.append(f"Bootstrap of {left:,} replicates: {rule}.")
        return tuple(result)


Known = TypeVar("Known")

MetricKey: TypeAlias = str | tuple[str, int | str] | tuple[str, int | str, str]
"""Name of a metric, with the position of its operating point or the name of its class if there are several."""


def defer(kind: type, *names: str) -> None:
    """Let fields of a dataclass with slots be calls (`functools.partial`), which their results replace at first use.

    Examples
    --------
    >>> @dataclass(frozen=True, slots=True)
    ... class Line:
    ...     y: list[float]
    >>> defer(Line, "y")
    >>> Line(partial(list, "ab")), Line([1.0])
    (Line(y=['a', 'b']), Line(y=[1.0]))
    """
    for name in names:
        slot = kind.__dict__[name]
        setattr(kind, name, property(partial(_computed, slot.__get__, slot.__set__), slot.__set__))


def _computed(get: Callable[[object], object], put: Callable[[object, object], None], instance: object) -> object:
    value = get(instance)
    if isinstance(value, partial):
        put(instance, value := value())
    return value


KEPT_CURVES = 1 << 21
"""Influences on curves that are kept by default, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class CurveInfluences:
    """A curve over prior log odds with the influence of every unit, for differences of curves.

    Attributes
    ----------
    log_odds : (n_places,) array
        In nats.
    values : (n_places,) array
    influences : (n_places, n_units) array
        Derivatives in the weight of each unit.
    unseen : (2, n_places, 2) array
        Rise of the curve if all units had an error of a class that none has, and fall if none had an error that
        all have.
    n_seen : (int, int)
        Units with trials of each class.
    ceiling : float
        Maximum of the curve.
    """

    log_odds: FloatArray
    values: FloatArray
    influences: FloatArray
    unseen: FloatArray
    n_seen: tuple[int, int]
    ceiling: float = math.inf

    def reach(self, level: float) -> FloatPair:
        """Return the rise and fall of the curve by unseen errors, by the rule of three; see `NothingSeen`."""
        shares = [intervals.NothingSeen(n).share(level) for n in self.n_seen]
        rise, fall = self.unseen @ np.array(shares)
        return np.minimum(rise, np.maximum(self.ceiling - self.values, 0.0)), fall


def bounded_by_cllr(estimates: Mapping[MetricKey, Estimate]) -> dict[MetricKey, Estimate]:
    """Limit the upper bounds of min Cllr and calibration loss by the upper bound of Cllr, also for single classes."""
    entries = dict(estimates)
    for name in estimates:
        place = name[:-1] if isinstance(name, tuple) else ()
        if (name[-1] if isinstance(name, tuple) else name) in ("min_cllr", "calibration_loss"):
            most = (*place, "cllr") if place else "cllr"
            entries[name] = replace(estimates[name], at_most=estimates.get(most))
    return entries


def within_weaker(estimates: Mapping[MetricKey, Estimate], factors: Sequence[float]) -> dict[MetricKey, Estimate]:
    """Limit shares of misleading evidence by those for smaller factors, which contain the same trials."""
    entries = dict(estimates)
    for name in ("misleading_tar", "misleading_non"):
        weaker = None
        for k in sorted(range(len(factors)), key=factors.__getitem__):
            if (name, k) in entries:
                entries[name, k] = weaker = replace(entries[name, k], at_most=weaker)
    return entries


@dataclass(frozen=True, slots=True, eq=False)
class Uncertainty:
    """Uncertainty of the metrics of one system, by units.

    Attributes
    ----------
    n_units : int
    noun : str
        Name of a unit.
    source : str
        Source of the units.
    keys : (n_units,) uint64 array
        Keys of the units, in the order of influences.
    estimates : mapping of metric to Estimate
    influences : mapping of metric to (n_units,) array
        Derivatives in the weight of each unit; empty if there are too many units to keep.
    curves : mapping of str to array
        Standard errors of curves at the places of `deciban.evaluation.Curves`, on the scale defined there; multiclass:
        of ``"c_avg"``.
    level : float
        Level of displayed intervals.
    bootstrap : Bootstrap or None
        Replicates, if requested; then displayed intervals come from them.
    curve_influences : mapping of str to CurveInfluences
        Influences on curves that comparisons show; empty if there are too many units to keep.
    design : ClusterDesign or None
        Design of targets and non-targets; None for multiclass.
    error_rates : mapping of str, or of ("detectors", class, str), to ((n_places,) array, RateSum)
        Places and error rates with their variances: of the curves ``"act_error"`` and ``"min_error"`` over prior log
        odds, and of the vertices of the hull by number. Multiclass: of ``"c_avg"``, and of both curves of each class
        against the rest.
    too_few : mapping of str to float
        Effective units of classes with fewer than five: metrics that need these classes have no interval.
    remarks : tuple of str
        Notes on intervals that are refused for another reason, or can be too narrow.
    """

    n_units: int
    noun: str
    source: str
    keys: Keys
    estimates: Mapping[MetricKey, Estimate]
    influences: Mapping[MetricKey, FloatArray] = field(default_factory=dict)
    curves: Mapping[MetricKey, FloatArray] = field(default_factory=dict)
    level: float = intervals.LEVEL
    bootstrap: Bootstrap | None = None
    curve_influences: Mapping[str, CurveInfluences] = field(default_factory=dict)
    design: ClusterDesign | None = None
    error_rates: Mapping[MetricKey, tuple[FloatArray, intervals.RateSum]] = field(default_factory=dict)
    too_few: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def interval(self, metric: MetricKey, *, level: float | None = None) -> Interval:
        """Return the interval of a metric, from bootstrap replicates of the metric if there are any, else linearised.

        Parameters
        ----------
        metric : str, or (str, place)
            Such as ``"eer"``, ``"act_dcf"`` (at the first operating point), ``("act_dcf", 1)`` (at the second one).
        level : float, optional
            By default, the level of this object.

        Raises
        ------
        InputError
            If there is no such metric, or it is infinite, or the level is not inside (0, 1).
        """
        if self.bootstrap is None or not self.bootstrap.has(metric):
            return self.linearised(metric, level=level)
        return self.bootstrap.interval(metric, level=self.level if level is None else level)

    def linearised(self, metric: MetricKey, *, level: float | None = None) -> Interval:
        """Return the linearised interval of a metric, even if there is a bootstrap; see `interval`.

        Raises
        ------
        InputError
            As for `interval`.
        """
        result = looked_up(self.estimates, metric)
        return result.interval(self.level if level is None else intervals.checked_level(level))

    def size_of(self, rate: str) -> intervals.ClassSize | None:
        """Return the size of the class of an error rate, ``"p_miss"`` or ``"p_fa"``; None if it has no intervals."""
        result = None if self.design is None else self.design.sizes[rate == "p_fa"]
        return result if result is not None and result.is_enough else None

    def loss_may_be_zero(self, level: float) -> bool:
        """Return True for a two-class calibration loss that may be 0.

        The difference of two such losses has a wide interval: at 0 the first derivatives are 0, and the standard error
        comes from the noise of the calibration map. In simulations, up to 100 % of these intervals contained the true
        difference (``docs/coverage.md``).
        """
        known = self.estimates.get("calibration_loss")
        return self.design is not None and known is not None and known.interval(level).low <= 0.0

    @property
    def degrees(self) -> float:
        """Degrees of freedom of curves: the effective number of clusters minus 1."""
        return self.n_units - 1.0 if self.design is None else degrees_of(np.ones(2), self.design.overlap)

    @property
    def units_in_words(self) -> str:
        """Number of units: ``100 speakers``, or ``100 trials taken as independent``."""
        return number_of_units(self.n_units, self.noun, self.source)

    @property
    def are_independent(self) -> bool:
        """True if the units are the trials themselves."""
        return is_independent(self.source)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the intervals."""
        items = [too_few_in_words(name, n, self.noun) for name, n in self.too_few.items()]
        if len(items) > _MOST_NAMED:
            names = f"one of {len(items)} classes ({some_of(list(self.too_few))})"
            each = f"each has fewer than {FEWEST_CLUSTERS:g} effective {self.noun}s"
            items = [f"No confidence intervals for metrics that need {names}: {each}."]
        if self.n_units < FEW_UNITS and self.estimates and not self.too_few.keys() & {"targets", "non-targets"}:
            units = counted(self.n_units, self.noun)
            items.append(f"Intervals rest on {units}: with fewer than {FEW_UNITS} they are rough.")
        return (*items, *self.remarks, *(() if self.bootstrap is None else self.bootstrap.notes))


defer(Uncertainty, "influences", "curves", "curve_influences", "error_rates")


def looked_up(known: Mapping[MetricKey, Known], metric: MetricKey) -> Known:
    """Return the entry of a metric; a name alone is the metric at the first operating point.

    Raises
    ------
    InputError
        If there is no entry.
    """
    result = known.get(metric, known.get((metric, 0)) if isinstance(metric, str) else None)
    if result is None:
        names = ", ".join(dict.fromkeys(one if isinstance(one, str) else one[0] for one in known))
        raise InputError(
            f"metric: no interval for {metric!r}. Metrics with intervals: {names or 'none'}. There are no intervals "
            f"for metrics that are infinite or constant, or rest on fewer than {FEWEST_CLUSTERS:g} effective units of "
            "a class, and for error rates at a threshold that was chosen on the same trials (by EER or minDCF)."
        )
    return result


_MOST_NAMED = 3
"""Maximum of classes with too few units that have separate notes."""


def too_few_in_words(name: str, n: float, noun: str) -> str:
    """Return the sentence on a class with too few effective units for intervals.

    Examples
    --------
    >>> too_few_in_words("targets", 2.25, "speaker")[:79]
    'The targets come from 2.2 effective speakers (at least 5 are needed): no confid'
    """
    number = f"{n:.1f}".removesuffix(".0")
    units = f"{number} effective {noun}{'' if number == '1' else 's'}"
    is_side = name in ("targets", "non-targets")
    source, which = (f"The {name} come", name) if is_side else (f"Class {name} comes", "this class")
    least = f"at least {FEWEST_CLUSTERS:g} are needed"
    return f"{source} from {units} ({least}): no confidence intervals for metrics that depend on {which}."


def no_units(name: str) -> InputError:
    """Return the error for intervals without units."""
    return InputError(
        f"{name}: no intervals, because the units of the trials, such as speakers, are unknown. Pass at least two "
        f"units: {either('tar_units and non_units for arrays, units=... for files and data frames', '--units')}."
    )


FEWEST_EXPECTED = 10.0
"""Independent errors that a limit must allow; with fewer, its threshold is random."""


FEW_ERRORS = 30.0
"""Rule of 30: with fewer independent errors at a limit, the interval of the other rate is rough."""


_FEW_ERRORS, _LOW_EER = 5, 0.03


_UNEQUAL = 0.65
"""Effective units of a class, as a share of all units with trials of the class."""


@dataclass(frozen=True, slots=True)
class LimitedRate:
    """An error rate at a limit of the other error rate.

    Attributes
    ----------
    limited : {"fmr", "fnmr"}
    limit : float
    expected : float
        Number of independent trials of the limited class that can be errors.
    """

    limited: str
    limit: float
    expected: float

    @property
    def is_enough(self) -> bool:
        """True if there are enough trials to find the threshold of the limit."""
        return self.expected >= FEWEST_EXPECTED

    @property
    def is_rough(self) -> bool:
        """True if intervals are too short in simulations with so few errors, or refused."""
        return self.expected < FEW_ERRORS

    @property
    def shown(self) -> str:
        """Number of independent errors at the limit; 29.97 is below 30."""
        result = round(self.expected, 1)
        return f"{result - 0.1 * (result in (FEWEST_EXPECTED, FEW_ERRORS) and self.expected < result):.1f}"


def on_limited_rates(result: Sequence[LimitedRate]) -> str:
    """Return the note on missing, or rough, intervals of rates at limits of the same kind, with advice.

    Examples
    --------
    >>> on_limited_rates([LimitedRate("fmr", 0.001, 2.6), LimitedRate("fmr", 0.0001, 0.3)])[:64]
    'No confidence interval for FNMR at FMR 0.1, 0.01 %: the false ma'
    """
    limited = result[0].limited.upper()
    other, errors = ("FNMR", "false matches") if limited == "FMR" else ("FMR", "false non-matches")
    rate = f"{other} at {limited} {', '.join(f'{100 * one.limit:g}' for one in result)} %"
    numbers = listed([one.shown.removesuffix(".0") for one in result])
    worth = (
        f"the {errors} at {'this limit' if len(result) == 1 else 'these limits'} count as {numbers} independent ones"
    )
    if result[0].is_enough:
        return f"The interval of {rate} may be too narrow: {worth}, fewer than {FEW_ERRORS:g}."
    return (
        f"No confidence interval for {rate}: {worth}; an interval needs at least {FEWEST_EXPECTED:g}. Raise the "
        f"{limited} limit, or report rates at a fixed threshold."
    )


OF_THRESHOLDS, OF_MAPS = 1.0, 2.0 / 3.0
"""Exponents with which optimism falls: see `deciban.evaluation.two_class.evaluate`."""


Least: TypeAlias = Callable[[linearised.BestDecisions], FloatArray]
"""Function that returns the costs (2, n_tables, n_bins) of the best decisions for some trials."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearMetric:
    """A metric as the sum of class means of bin costs.

    Attributes
    ----------
    name : MetricKey
    value : float
    costs : (2, n_bins) array, or 0
        The part that does not depend on the best decisions.
    scale : {"log", "logit", "identity", "complement"}
    nothing_seen : NothingSeen or None
        Interval of the metric if no unit moves it.
    least : callable or None
        Function that returns the part that is minimized over thresholds or maps, from `BestDecisions`.
    limits : (float, float)
        Bounds of the metric.
    rate : float
        Exponent of the assumed decrease of optimism with the number of units n: ``n ** -rate``.
    sums : tuple of ClassRate
        The error rates that add up to the metric; empty if it is no such sum.
    also : float or None
        Another convention of the same metric, to which the rates add up.
    limited : (int, float) or None
        The class of a limited error rate, 0 for targets, and its limit; the limit sets the threshold.
    """

    name: MetricKey
    value: float
    costs: FloatArray | float
    scale: Scale = "log"
    nothing_seen: NothingSeen | None = None
    least: Least | None = None
    limits: tuple[float, float] = (0.0, math.inf)
    rate: float = OF_THRESHOLDS
    sums: tuple[ClassRate, ...] = ()
    also: float | None = None
    limited: tuple[int, float] | None = None

    @property
    def is_mean_cost(self) -> bool:
        """True if the metric is a mean of costs of scores, or calibration loss; False for areas, rates and minima."""
        is_mean = self.least is None and self.scale in ("log", "complement")
        return not self.sums and (is_mean or self.scale == "identity")

    def costs_by(self, best: linearised.BestDecisions) -> FloatArray:
        """Return costs of bins, (2, n_tables, n_bins), with the decisions that are best for each table of trials."""
        fixed = self.costs[:, None] if isinstance(self.costs, np.ndarray) else self.costs
        return np.asarray(fixed if self.least is None else fixed + self.least(best))

    def estimate(self, variance: ClassVariances[MetricKey], shift: float | None) -> Estimate:
        """Return the metric with its standard error, and with its correction for new units if that is known."""
        corrected = None if shift is None else min(max(self.value + shift, self.limits[0]), self.limits[1])
        return variance.estimate(
            self.name,
            self.value,
            self.sums,
            scale=self.scale,
            limits=self.limits,
            nothing_seen=self.nothing_seen,
            corrected=corrected,
            also=self.also,
            is_mean=self.least is None,
        )

    def limited_rate(self, estimate: Estimate) -> LimitedRate | None:
        """Return the number of independent errors at the limit; None if the limited rate is uncertain by no unit."""
        if self.limited is None or estimate.rates is None:
            return None
        kind, limit = self.limited
        numbers = [float(one.size.effective(one.rate, one.variance)) for one in estimate.rates.parts[kind]]
        return LimitedRate(("fnmr", "fmr")[kind], limit, limit * numbers[0]) if numbers else None


def crossing_of(
    rocch: Rocch, ratio: float, n_units: tuple[int, int], factor: float = 1.0
) -> tuple[Least, tuple[ClassRate, ...]]:
    """Return ``factor * p_fa`` where ``p_fa = ratio * p_miss``: as a minimum, and as a sum of both error rates."""
    p_fa, slopes = linearised.crossing_slopes(rocch, ratio, n_units)
    of_tar, of_non = (factor * one for one in linearised.crossing_weights(ratio, slopes))
    sums: tuple[ClassRate, ...] = (ClassRate(0, of_tar, p_fa / ratio), ClassRate(1, of_non, p_fa))
    if is_chance(rocch):
        sums = ()
    return lambda best: factor * best.crossing(ratio, slopes), sums


def is_chance(rocch: Rocch) -> bool:
    """Return True if no threshold is better than chance: minima are then fixed, and no trial changes them."""
    return len(rocch.p_fa) == 2


def is_separated(auc: float) -> bool:
    """Return True if no target has a lower score than a non-target, so that the cost of errors is unknown."""
    return auc >= 1.0 - intervals.ROUNDING


def notes_on_intervals(
    auc: float, eer: float, rates: tuple[float, float], design: ClusterDesign, noun: str, limited: Sequence[LimitedRate]
) -> tuple[str, ...]:
    """Return the notes on intervals of two-class metrics.

    Parameters
    ----------
    auc, eer : float
    rates : (float, float)
        Misses and false alarms at the threshold of the EER.
    design : ClusterDesign
    noun : str
        Name of a unit.
    limited : sequence of LimitedRate
    """
    alike = dict[tuple[str, bool], list[LimitedRate]]()
    for one in limited:
        if one.is_rough:
            alike.setdefault((one.limited, one.is_enough), []).append(one)
    items = [on_limited_rates(some) for some in alike.values()]
    if not design.too_few():
        items += _few_errors(auc, eer, rates, design)
        items += _unequal(design, noun)
    return tuple(items)


def few_errors(eer: float, rates: tuple[float, float], design: ClusterDesign) -> list[str]:
    """Return phrases with the numbers of errors that are too few to estimate their cost, for nearly separated classes.

    Parameters
    ----------
    eer : float
    rates : (float, float)
        Misses and false alarms at the threshold of the EER.
    design : ClusterDesign
    """
    numbers = [round(float(rate * size.n_trials)) for rate, size in zip(rates, design.sizes, strict=True)]
    named = zip(numbers, (("miss", "misses"), ("false alarm", "false alarms")), strict=True)
    few = [f"{n or 'no'} {one if n == 1 else many}" for n, (one, many) in named if n < _FEW_ERRORS]
    return few if eer < _LOW_EER else []


def _few_errors(auc: float, eer: float, rates: tuple[float, float], design: ClusterDesign) -> Iterator[str]:
    if is_separated(auc):
        yield (
            "Targets and non-targets are perfectly separated: no confidence intervals for means of costs (Cllr, "
            "information, log loss, Brier score, calibration loss), because no error shows how much an error costs."
        )
        return
    if few := few_errors(eer, rates, design):
        words = " and ".join(few)
        yield (
            f"{'No' if words.startswith('no') else 'Only'} {words.removeprefix('no ')} at the corner of the ROC hull "
            "nearest to the EER: intervals of AUC and of mean costs such as Cllr may be too narrow, because rare, "
            "costly errors may be missing from the data."
        )


def _unequal(design: ClusterDesign, noun: str) -> Iterator[str]:
    are_single, items = noun in ("trial", "segment"), list[str]()
    for name, one in zip(("targets", "non-targets"), design.sizes, strict=True):
        if one.n_clusters < _UNEQUAL * one.n_units:
            n = f"{round(one.n_clusters, 1) if one.n_clusters < 10 else round(one.n_clusters):,}"
            many = f"for the {name}, {counted(one.n_units, noun)} are worth only {n} with equally many trials"
            items.append(f"{one.n_units:,} {name} count as {n} of equal weight" if are_single else many)
    if items:
        more = "weigh much more" if are_single else "have many more trials"
        yield f"Some {noun}s {more} than others: {', and '.join(items)}. Intervals may be too narrow."
