"""Differential performance: error rates of groups of subjects, their ratios, Gini coefficients and GARBE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.biometrics.rates import Rates, influences_of, lowest_threshold, rates_by_unit
from deciban.core.resampling.intervals import FEWEST_CLUSTERS, LEVEL, Interval, checked_level, t_quantile
from deciban.core.resampling.units import TrialUnits, together
from deciban.errors import InputError
from deciban.metrics.scores import fnmr_at_fmr
from deciban.types import AnyArray, BoolArray, FloatArray, Units

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
    asked: Any = reference
    if asked is not None and not (isinstance(asked, str) and asked in names):
        raise InputError(f"reference: got {asked!r:.60}. Use one of {', '.join(names)}.")
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
    of_ginis = [
        _interval(gini[0], [one.by_unit @ gini[1]], [one], level) for one, gini in zip(kinds, ginis, strict=True)
    ]
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
    found = np.asarray(values)
    if found.dtype.kind == "O":
        found = found.astype(str)
    if found.dtype.kind != "U" or found.ndim not in (1, 2) or found.shape[0] != n or found.shape[1:] not in ((), (2,)):
        raise InputError(
            f"{name}: shape {found.shape} of type {found.dtype}. Pass {n:,} names of groups, one for each comparison, "
            "or one for each of its two subjects."
        )
    return found if found.ndim == 1 else np.where(found[:, 0] == found[:, 1], found[:, 0], "")


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
        if least < FEWEST_CLUSTERS:
            why = f"{_NO_INTERVALS} {least:.3g} effective subjects"
        elif fewest < _FEWEST_ERRORS:
            why = f"{_NO_INTERVALS} {fewest} errors ({_FEWEST_ERRORS} needed)"
        return cls(rates, by_unit, max(least - 1.0, 1.0), at, why, level)

    def ratios(self) -> tuple[Interval, ...]:
        """Return the ratio of each rate to the rate of the reference group."""
        value, base = self.rates.value, self.rates.value[self.reference]
        found = list[Interval]()
        for k, one in enumerate(value):
            ratio = float(one / base) if base > 0.0 else math.inf if one > 0.0 else math.nan
            if self.why_none or k == self.reference:
                ends = (ratio, ratio, 0.0) if k == self.reference and not self.why_none else (math.nan,) * 3
                found.append(_as_interval(ratio, *ends, level=self.level, n=len(self.by_unit)))
                continue
            error = float(np.linalg.norm(self.by_unit[:, k] / one - self.by_unit[:, self.reference] / base))
            step = math.exp(t_quantile(self.level, self.degrees) * error)
            found.append(
                _as_interval(ratio, ratio / step, ratio * step, ratio * error, level=self.level, n=len(self.by_unit))
            )
        return tuple(found)

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


def _as_interval(value: float, low: float, high: float, error: float, **about: Any) -> Interval:
    how = "linearized, by subject"
    return Interval(value, low, high, error, None, about["level"], about["n"], how)
