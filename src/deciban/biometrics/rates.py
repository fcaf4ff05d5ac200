"""Rates of events with cluster-robust confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.resampling.intervals import LEVEL, ClassSize, checked_level, small_sample_factors
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray


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
    factors = small_sample_factors(totals / n_trials) * np.sqrt(n_seen / (n_seen - 1))
    return sums / n_trials * factors, ClassSize.of(totals, n_trials)


def subject_ids(values: ArrayLike, name: str, n: int, of: str) -> AnyArray:
    """Return names or numbers of subjects as an array.

    Raises
    ------
    InputError
        If there is not one name or whole number for each of the ``n`` rows, columns or trials (``of``).
    """
    try:
        found = np.asarray(values)
    except ValueError:  # of numpy, about sequences of different lengths
        found = np.empty(0, object)
    if found.dtype.kind == "O" and all(isinstance(one, str) for one in found.ravel()):
        found = found.astype(str)
    if found.shape != (n,) or found.dtype.kind not in "iuU":
        raise InputError(
            f"{name}: shape {found.shape} of type {found.dtype}. Pass {n:,} names or whole numbers, one for each {of} "
            "of scores."
        )
    return found


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

    level, found = checked_level(level), list[tuple[float, tuple[float, float]]]()
    given: Any = {"enrol": enrol, "acquire": acquire}
    for name, counts in given.items():
        if not isinstance(counts, list | tuple) or len(counts) != 2:
            raise InputError(f"{name}: got {counts!r:.60}. Pass failures and attempts.")
        k, n = (_validate.whole(x, name, 0, _MOST, "Pass failures and attempts") for x in counts)
        if not 0 < n >= k:
            raise InputError(f"{name}: got {k} failures in {n} attempts. Pass failures and attempts.")
        ends = binomtest(k, n).proportion_ci(level)
        found.append((k / n, (float(ends.low), float(ends.high))))
    (fte, fte_interval), (fta, fta_interval) = found
    far, frr = (1.0 - fta) * match, fta + (1.0 - fta) * non_match
    return GeneralizedRates(fte, fta, fte_interval, fta_interval, far, frr, (1.0 - fte) * far, fte + (1.0 - fte) * frr)
