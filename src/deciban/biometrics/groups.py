"""Rates of events with intervals, differential performance of groups of subjects, and unusual subjects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban._validate import arrays as _validate
from deciban.core.resampling import intervals
from deciban.core.resampling.intervals import LEVEL, ClassSize, Interval, checked_level, t_quantile
from deciban.core.resampling.units import TrialUnits, together
from deciban.errors import InputError
from deciban.metrics.scores import fnmr_at_fmr
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, Raw, Units


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Rates with confidence intervals by unit.

    Attributes
    ----------
    value, low, high : (n,) float64 arrays
        NaN for a rate without trials, and for bounds with fewer than five effective units.
    n_events, n_trials : (n,) int arrays
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    n_events: CountArray
    n_trials: CountArray


def influences_of(
    event: AnyArray, units: TrialUnits, rows: BoolArray | slice = slice(None)
) -> tuple[FloatArray, ClassSize]:
    """Return the influences of units on the rate of an event among some trials, and the size of these trials.

    Parameters
    ----------
    event : (n,) bool array
    units : TrialUnits
    rows : (n,) bool array or slice
        The trials, at least one.
    """
    own = units.take(rows)
    happened = np.asarray(event[rows], np.float64)
    n_trials = len(happened)
    at, codes = own.entries()
    totals = np.bincount(codes, minlength=units.n_units).astype(np.float64)
    sums = np.bincount(codes, (happened - happened.mean())[at], minlength=units.n_units)
    n_seen = max(int(np.count_nonzero(totals)), 2)
    factors = intervals.small_sample_factors(totals / n_trials) * np.sqrt(n_seen / (n_seen - 1))
    return sums / n_trials * factors, ClassSize.of(totals, n_trials)


def subject_ids(values: ArrayLike, name: str, n: int, of: str) -> AnyArray:
    """Return names or numbers of subjects as an array.

    Raises
    ------
    InputError
        If there is not one name or whole number for each of the ``n`` rows, columns or trials (``of``).
    """
    try:
        result = np.asarray(values)
    except ValueError:  # of numpy, about sequences of different lengths
        result = np.empty(0, object)
    if result.dtype.kind == "O" and all(isinstance(one, str) for one in result.ravel()):
        result = result.astype(str)
    if result.shape != (n,) or result.dtype.kind not in "iuU":
        raise InputError(
            f"{name}: shape {result.shape} of type {result.dtype}. Pass {n:,} names or whole numbers, one for each "
            f"{of} of scores."
        )
    return result


def lowest_threshold(positive: AnyArray, negative: AnyArray, limit: float) -> float:
    """Return the lowest score at or above which at most a share of the negative scores lie; infinite if all are more.

    Parameters
    ----------
    positive, negative : (n,) arrays
        The candidates: scores of mated and of non-mated trials.
    limit : float
        Share of the negative scores, a fraction.

    Examples
    --------
    >>> lowest_threshold(np.array([3.0, 0.5]), np.array([2.0, 1.0, 0.0]), 1 / 3)
    2.0
    """
    n_allowed = math.floor(limit * len(negative) + 1e-9)
    candidates = np.concatenate((positive, negative))
    if n_allowed < len(negative):
        candidates = candidates[candidates > np.sort(negative)[::-1][n_allowed]]
    return float(candidates.min(initial=np.inf))


def rates_by_unit(parts: Sequence[tuple[AnyArray, TrialUnits | None]], level: float) -> Rates:
    """Return rates of events, each with the events of its trials and their units, if known."""
    rows = list[tuple[float, float, float, int, int]]()
    for event, units in parts:
        n_trials, n_events = len(event), int(np.count_nonzero(event))
        value = n_events / n_trials if n_trials else np.nan
        low, high = np.nan, np.nan
        if n_trials and units is not None:
            influences, size = influences_of(event, units)
            if size.is_enough:
                low, high = (float(end) for end in size.limits(value, influences @ influences, level))
        rows.append((value, low, high, n_events, n_trials))
    columns = list(zip(*rows, strict=True))
    return Rates(*(np.array(one, np.float64) for one in columns[:3]), *(np.array(one, np.int64) for one in columns[3:]))


@dataclass(frozen=True, slots=True)
class GeneralizedRates:
    """Error rates of transactions, including failures to enrol and to acquire (ISO/IEC 19795-1).

    Attributes
    ----------
    fte, fta : float
        Failures to enrol and to acquire, fractions.
    fte_interval, fta_interval : (float, float)
        Their intervals for independent attempts (Clopper and Pearson).
    far, frr : float
        False accepts ``(1 - fta) fmr`` and false rejects ``fta + (1 - fta) fnmr`` of enrolled subjects.
    gfar, gfrr : float
        The same for all subjects: ``(1 - fte) far`` and ``fte + (1 - fte) frr``.
    """

    fte: float
    fta: float
    fte_interval: tuple[float, float]
    fta_interval: tuple[float, float]
    far: float
    frr: float
    gfar: float
    gfrr: float


_MOST = 1 << 53
"""Largest number of attempts."""


def generalized_rates(
    fmr: float, fnmr: float, *, enrol: tuple[int, int], acquire: tuple[int, int], level: float = LEVEL
) -> GeneralizedRates:
    """Return error rates of transactions from error rates of comparisons and numbers of failures.

    Parameters
    ----------
    fmr, fnmr : float
        False match rate and false non-match rate at one threshold, fractions.
    enrol, acquire : (int, int)
        Failures and attempts to enrol subjects, and to acquire probes.
    level : float
        Level of the intervals of the rates of failures.

    Returns
    -------
    GeneralizedRates

    Raises
    ------
    InputError
        If a rate is not in [0, 1], there are no attempts, or more failures than attempts.

    Examples
    --------
    >>> found = generalized_rates(0.001, 0.02, enrol=(2, 100), acquire=(5, 500))
    >>> found.fta, round(found.frr, 4), round(found.gfrr, 5), [round(end, 4) for end in found.fte_interval]
    (0.01, 0.0298, 0.0492, [0.0024, 0.0704])
    """
    rule = "An error rate is a fraction in [0, 1]"
    match, non_match = (_validate.in_range(x, name, 0.0, 1.0, rule) for x, name in ((fmr, "fmr"), (fnmr, "fnmr")))
    from scipy.stats import binomtest  # slow to import

    level, result = checked_level(level), list[tuple[float, tuple[float, float]]]()
    entries: dict[str, object] = {"enrol": enrol, "acquire": acquire}
    for name, counts in entries.items():
        if not isinstance(counts, list | tuple) or len(counts) != 2:
            raise InputError(f"{name}: got {counts!r:.60}. Pass failures and attempts.")
        k, n = (_validate.whole(x, name, 0, _MOST, "Pass failures and attempts") for x in counts)
        if not 0 < n >= k:
            raise InputError(f"{name}: got {k} failures in {n} attempts. Pass failures and attempts.")
        ends = binomtest(k, n).proportion_ci(level)
        result.append((k / n, (float(ends.low), float(ends.high))))
    (fte, fte_interval), (fta, fta_interval) = result
    far, frr = (1.0 - fta) * match, fta + (1.0 - fta) * non_match
    return GeneralizedRates(fte, fta, fte_interval, fta_interval, far, frr, (1.0 - fte) * far, fte + (1.0 - fte) * frr)


_FEWEST_ERRORS = 10
"""Errors of each group from which ratios and coefficients have intervals."""


_NO_INTERVALS = "no intervals of ratios and coefficients, as a group has only"


@dataclass(frozen=True, slots=True, eq=False)
class Differential:
    """Error rates of groups at one threshold, and measures of their differences.

    Attributes
    ----------
    groups : tuple of str
    threshold : float
    fmr, fnmr : Rates
        False match and false non-match rates by group, with intervals by subject.
    fmr_ratio, fnmr_ratio : tuple of Interval
        Ratio of the rate of each group to the rate of the reference group. Bounds are NaN if there is no interval.
    fmr_reference, fnmr_reference : str
        The group with the lowest rate, unless one was named.
    fmr_worst, fnmr_worst : str
        The group with the highest rate.
    fmr_gini, fnmr_gini, garbe : Interval
        Gini coefficients of the rates, and their weighted mean: 0 for equal rates, 1 if one group has all errors.
    notes : tuple of str
    """

    groups: tuple[str, ...]
    threshold: float
    fmr: Rates
    fnmr: Rates
    fmr_ratio: tuple[Interval, ...]
    fnmr_ratio: tuple[Interval, ...]
    fmr_reference: str
    fnmr_reference: str
    fmr_worst: str
    fnmr_worst: str
    fmr_gini: Interval
    fnmr_gini: Interval
    garbe: Interval
    notes: tuple[str, ...]


def differential(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    tar_groups: ArrayLike,
    non_groups: ArrayLike,
    threshold: float | None = None,
    fmr: float = 1e-3,
    tar_units: Units = None,
    non_units: Units = None,
    alpha: float = 0.5,
    reference: str | None = None,
    level: float = LEVEL,
) -> Differential:
    """Return error rates of groups of subjects, ratios to the best group, Gini coefficients and GARBE.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of mated and of non-mated comparisons.
    tar_groups, non_groups : (n,) or (n, 2) array_like
        Group of each comparison, as text; or of both subjects: comparisons between two groups are left out.
    threshold : float, optional
        Threshold of all groups. By default, the lowest one at which the FMR of all comparisons is at most ``fmr``.
    fmr : float
        Limit of the FMR of all comparisons together.
    tar_units, non_units : (n,) or (n, 2) array_like, optional
        Subjects of each comparison, for intervals.
    alpha : float
        Weight of the FMR in GARBE; the FNMR has the rest.
    reference : str, optional
        Group that ratios refer to. By default the group with the lowest rate, for each kind of error.
    level : float
        Level of the intervals.

    Returns
    -------
    Differential

    Raises
    ------
    InputError
        If shapes do not match, there are fewer than two groups with both kinds of comparisons, or a value is invalid.

    Notes
    -----
    The Gini coefficient of n rates x is ``n / (n - 1) * sum |x_i - x_j| / (2 n^2 mean(x))``, and GARBE is
    ``alpha * Gini(FMR) + (1 - alpha) * Gini(FNMR)`` (Howard et al. 2022, *Evaluating proposed fairness models for face
    recognition algorithms*). Both are above 0 by chance if the groups are equal.

    Examples
    --------
    >>> tar, non = [2.0, 3.0, 0.5, 1.5], [-1.0, 1.2, -2.0, -0.5]
    >>> groups = {"tar_groups": ["f", "f", "m", "m"], "non_groups": ["f", "f", "m", "m"]}
    >>> found = differential(tar, non, threshold=1.0, **groups)
    >>> found.groups, found.fmr.value.tolist(), found.fnmr.value.tolist(), found.garbe.estimate
    (('f', 'm'), [0.5, 0.0], [0.0, 0.5], 1.0)
    """
    level = checked_level(level)
    _validate.in_range(fmr, "fmr", 0.0, 1.0, "A rate is a fraction in [0, 1]")
    _validate.in_range(alpha, "alpha", 0.0, 1.0, "A weight is in [0, 1]")
    mated, nonmated = _validate.scores(tar, "tar"), _validate.scores(non, "non")
    at = _threshold(mated, nonmated, threshold, fmr)
    labels = [
        _groups(values, name, len(scores))
        for values, name, scores in ((non_groups, "non_groups", nonmated), (tar_groups, "tar_groups", mated))
    ]
    names = _names(labels)
    request: object = reference
    if request is not None and not (isinstance(request, str) and request in names):
        raise InputError(f"reference: got {request!r:.60}. Use one of {', '.join(names)}.")
    units = _units(tar_units, non_units, labels)
    kinds = [
        _Kind.of(event, label, one, names, reference, level)
        for event, label, one in zip((nonmated >= at, mated < at), labels, units, strict=True)
    ]
    fmrs, fnmrs = kinds
    ginis = [one.gini() for one in kinds]
    garbe = alpha * ginis[0][0] + (1.0 - alpha) * ginis[1][0]
    slopes = [weight * gini[1] for weight, gini in zip((alpha, 1.0 - alpha), ginis, strict=True)]
    notes = [f"{name}: {one.why_none}" for name, one in zip(("FMR", "FNMR"), kinds, strict=True) if one.why_none]
    if reference is None:
        notes.append(
            "Ratios refer to the group with the lowest rate on these comparisons, so they are too high by chance."
        )
    pairs = zip(kinds, ginis, strict=True)
    of_ginis = [_interval(value, [one.by_unit @ slope], [one], level) for one, (value, slope) in pairs]
    return Differential(
        names,
        at,
        fmrs.rates,
        fnmrs.rates,
        fmrs.ratios(),
        fnmrs.ratios(),
        names[fmrs.reference],
        names[fnmrs.reference],
        names[int(np.argmax(fmrs.rates.value))],
        names[int(np.argmax(fnmrs.rates.value))],
        of_ginis[0],
        of_ginis[1],
        _interval(garbe, [one.by_unit @ slope for one, slope in zip(kinds, slopes, strict=True)], kinds, level),
        tuple(notes),
    )


def _units(tar_units: Units, non_units: Units, labels: Sequence[AnyArray]) -> list[TrialUnits | None]:
    """Return the subjects of non-mated and of mated comparisons, if they are known.

    Raises
    ------
    InputError
    """
    if (tar_units is None) != (non_units is None):
        raise InputError("tar_units, non_units: subjects of only one kind of comparison. Pass both, or none.")
    if non_units is None or tar_units is None:
        return [None, None]
    units = together([(non_units, "non_units"), (tar_units, "tar_units")], noun="subject")
    for name, own, label in zip(("non_units", "tar_units"), units, labels, strict=True):
        if own.n_trials != len(label):
            raise InputError(f"{name}: {own.n_trials:,} for {len(label):,} comparisons. Pass one for each.")
    return list(units)


def _threshold(mated: AnyArray, nonmated: AnyArray, threshold: float | None, fmr: float) -> float:
    if threshold is not None:
        return _validate.threshold(threshold)
    fnmr_at_fmr(mated, nonmated, fmr=fmr)  # refuses scores without comparisons
    return lowest_threshold(mated, nonmated, fmr)


def _groups(values: ArrayLike, name: str, n: int) -> AnyArray:
    """Return the group of each comparison, and an empty text between two groups."""
    result = np.asarray(values)
    if result.dtype.kind == "O":
        result = result.astype(str)
    if result.dtype.kind != "U" or result.shape not in ((n,), (n, 2)):
        raise InputError(
            f"{name}: shape {result.shape} of type {result.dtype}. Pass {n:,} names of groups, one for each "
            "comparison, or one for each of its two subjects."
        )
    return result if result.ndim == 1 else np.where(result[:, 0] == result[:, 1], result[:, 0], "")


def _names(labels: Sequence[AnyArray]) -> tuple[str, ...]:
    """Return the names of the groups that have both kinds of comparisons.

    Raises
    ------
    InputError
    """
    non, tar = ({*np.unique(one).tolist()} - {""} for one in labels)
    if lacking := sorted(non ^ tar):
        kind = "mated" if lacking[0] in non else "non-mated"
        raise InputError(
            f"tar_groups, non_groups: group {lacking[0]!r} has no {kind} comparisons. Leave it out of both."
        )
    if len(non) < 2:
        raise InputError(f"tar_groups, non_groups: {len(non)} group. Differences need at least two.")
    return tuple(sorted(non))


@dataclass(frozen=True, slots=True, eq=False)
class _Kind:
    """Rates of one kind of errors: influences of units on each group, degrees of freedom, and why there are none."""

    rates: Rates
    by_unit: FloatArray
    degrees: float
    reference: int
    why_none: str
    level: float

    @classmethod
    def of(
        cls,
        event: BoolArray,
        label: AnyArray,
        units: TrialUnits | None,
        names: Sequence[str],
        reference: str | None,
        level: float,
    ) -> _Kind:
        rows = [label == name for name in names]
        rates = rates_by_unit([(event[some], None if units is None else units.take(some)) for some in rows], level)
        at = int(np.argmin(rates.value)) if reference is None else list(names).index(reference)
        if units is None:
            return cls(rates, np.zeros((1, len(names))), math.nan, at, "no intervals, as subjects are unknown", level)
        each = [influences_of(event, units, some) for some in rows]
        by_unit = np.stack([influences for influences, _ in each], axis=1)
        least = min(size.n_clusters for _, size in each)
        fewest = int(rates.n_events.min())
        why = ""
        if least < intervals.FEWEST_CLUSTERS:
            why = f"{_NO_INTERVALS} {least:.3g} effective subjects"
        elif fewest < _FEWEST_ERRORS:
            why = f"{_NO_INTERVALS} {fewest} errors ({_FEWEST_ERRORS} needed)"
        return cls(rates, by_unit, max(least - 1.0, 1.0), at, why, level)

    def ratios(self) -> tuple[Interval, ...]:
        """Return the ratio of each rate to the rate of the reference group."""
        value, base = self.rates.value, self.rates.value[self.reference]
        result, about = list[Interval](), {"level": self.level, "n": len(self.by_unit)}
        for k, one in enumerate(value):
            ratio = float(one / base) if base > 0.0 else math.inf if one > 0.0 else math.nan
            if self.why_none or k == self.reference:
                ends = (ratio, ratio, 0.0) if k == self.reference and not self.why_none else (math.nan,) * 3
                result.append(_as_interval(ratio, *ends, **about))
                continue
            error = float(np.linalg.norm(self.by_unit[:, k] / one - self.by_unit[:, self.reference] / base))
            step = math.exp(t_quantile(self.level, self.degrees) * error)
            result.append(_as_interval(ratio, ratio / step, ratio * step, ratio * error, **about))
        return tuple(result)

    def gini(self) -> tuple[float, FloatArray]:
        """Return the Gini coefficient of the rates, and its derivatives."""
        x, n = self.rates.value, len(self.rates.value)
        mean = float(x.mean())
        if mean == 0.0:
            return 0.0, np.zeros(n)
        apart = x[:, None] - x
        value = float(np.abs(apart).sum() / (2.0 * n * (n - 1) * mean))
        slopes: FloatArray = np.sign(apart).sum(axis=1) / (n * (n - 1) * mean) - value / (n * mean)
        return value, slopes


def _interval(value: float, influences: Sequence[FloatArray], kinds: Sequence[_Kind], level: float) -> Interval:
    """Return a coefficient in [0, 1] with its interval, from the influences of units on it."""
    n = len(kinds[0].by_unit)
    if any(one.why_none for one in kinds):
        return _as_interval(value, math.nan, math.nan, math.nan, level=level, n=n)
    error = float(np.linalg.norm(np.sum(influences, axis=0)))
    reach = t_quantile(level, min(one.degrees for one in kinds)) * error
    return _as_interval(value, max(value - reach, 0.0), min(value + reach, 1.0), error, level=level, n=n)


def _as_interval(value: float, low: float, high: float, error: float, **about: Raw) -> Interval:
    return Interval(value, low, high, error, None, about["level"], about["n"], "linearized, by subject")


GROUPS = ("goats", "lambs", "wolves")
"""Groups of subjects: low mated scores, high non-mated scores as a reference, and high non-mated scores as a probe."""

_LARGEST = 1e150
"""Limit of scores, whose squares are finite."""

_LEAST = 3
"""Least number of independent trials, or of other subjects, for an interval."""


@dataclass(frozen=True, slots=True, eq=False)
class SubjectMeans:
    """Mean scores of subjects, with confidence intervals.

    Attributes
    ----------
    subject : (n,) array
    mean, low, high : (n,) float64 arrays
        Bounds are NaN with fewer than three independent trials or other subjects.
    n_trials : (n,) int array
    center : float
        Mean over subjects.
    is_member : (n,) bool array
        True if the mean differs from the center in the direction of the group, significantly for all subjects together
        (Bonferroni).
    """

    subject: AnyArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    n_trials: CountArray
    center: float
    is_member: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Zoo:
    """Subjects that cause many errors (Doddington et al., 1998).

    Attributes
    ----------
    goats : SubjectMeans
        Mean mated score of each subject; members have low ones.
    lambs : SubjectMeans
        Mean non-mated score of each reference subject; members have high ones and are easy to imitate.
    wolves : SubjectMeans
        Mean non-mated score of each probe subject; members have high ones and imitate others.
    level : float
    name : str
        Name of the system.
    """

    goats: SubjectMeans
    lambs: SubjectMeans
    wolves: SubjectMeans
    level: float
    name: str = "scores"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the system in ``deciban plot subjects --json``."""
        groups = {animal: getattr(self, animal) for animal in GROUPS}
        return {"name": self.name, "level": self.level} | {
            animal: {one.name: getattr(means, one.name) for one in fields(SubjectMeans)}
            for animal, means in groups.items()
        }


def zoo(scores: ArrayLike, is_mated: ArrayLike, reference: ArrayLike, probe: ArrayLike, *, level: float = LEVEL) -> Zoo:
    """Return the mean scores of every subject, and the subjects that differ significantly from the others.

    Parameters
    ----------
    scores : (n_trials,) array_like
        Finite; larger scores favour mated comparisons.
    is_mated : (n_trials,) array_like
        True (or 1) for mated comparisons.
    reference, probe : (n_trials,) array_like
        Subjects of the references and of the probes: names or numbers.
    level : float

    Returns
    -------
    Zoo

    Raises
    ------
    InputError
        If lengths differ, a score is not finite, subjects are not names or whole numbers, or a class is empty.

    Notes
    -----
    Non-mated scores of a reference are dependent if they have the same probe subject, and vice versa: intervals are by
    these other subjects. Mated scores of a subject count as independent. Intervals use the t distribution.

    References
    ----------
    G. Doddington et al., "Sheep, goats, lambs and wolves: a statistical analysis of speaker performance in the NIST
    1998 speaker recognition evaluation", ICSLP 1998.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> reference, probe = np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30)
    >>> scores = rng.normal(size=900) + 4 * (reference == probe) + 2 * (probe == 7)
    >>> found = zoo(scores, reference == probe, reference, probe)
    >>> found.wolves.subject[found.wolves.is_member], found.lambs.is_member.sum()
    (array([7]), np.int64(0))
    """
    values = np.asarray(_validate.scores(scores, "scores"), np.float64)
    if not (np.abs(values) < _LARGEST).all():
        raise InputError(f"scores: pass a finite score for each trial, between -{_LARGEST:g} and {_LARGEST:g}.")
    truth = _validate.truth(is_mated, len(values), "is_mated")
    if truth.all() or not truth.any():
        raise InputError("is_mated: all trials are of one class. Mated and non-mated comparisons are needed.")
    named = zip((reference, probe), ("reference", "probe"), strict=True)
    sides = [subject_ids(side, name, len(values), "trial") for side, name in named]
    chosen, non = checked_level(level), ~truth
    own = np.arange(np.count_nonzero(truth))
    return Zoo(
        _means(values[truth], sides[0][truth], own, chosen, sign=-1),
        _means(values[non], sides[0][non], sides[1][non], chosen, sign=1),
        _means(values[non], sides[1][non], sides[0][non], chosen, sign=1),
        chosen,
    )


def _means(values: FloatArray, subject: AnyArray, cluster: AnyArray, level: float, *, sign: int) -> SubjectMeans:
    """Return means of the trials of each subject, with intervals by clusters of trials."""
    names, of = np.unique(subject, return_inverse=True)
    _, within = np.unique(cluster, return_inverse=True)
    n_trials: CountArray = np.bincount(of)
    mean = np.bincount(of, values) / n_trials
    cells, cell = np.unique(of * (int(within.max()) + 1) + within, return_inverse=True)
    owner: IntArray = cells // (int(within.max()) + 1)
    squares = np.bincount(owner, np.bincount(cell, values - mean[of]) ** 2)
    n = np.bincount(owner).astype(np.float64)
    n[n < _LEAST] = np.nan
    error = np.sqrt(n / (n - 1.0) * squares) / n_trials
    center = float(mean.mean())

    def reach(share: float) -> FloatArray:
        return np.asarray(special.stdtrit(n - 1.0, 1.0 - share / 2.0) * error)

    half, strict = reach(1.0 - level), reach((1.0 - level) / len(names))
    is_member: BoolArray = sign * (mean - center) > strict
    return SubjectMeans(names, mean, mean - half, mean + half, n_trials, center, is_member)
