"""Checks of probabilities and likelihood ratios, and tests for scores that look like them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError, TrialError, warn
from deciban.types import AnyArray, FloatArray, ScoreArray, ScoreUnit

ROUNDING = 1e-3
"""How far from 1 the probabilities of all classes may sum up to: what four decimals of twenty classes lose."""

FEWEST = 10
"""Trials from which on scores that all look like probabilities are noticed."""

_SPREAD = 0.1
"""How far apart they are at least: llrs of scores that say nothing are all but 0, and may have one sign."""

WAY_OUT = "for probabilities use --probabilities PRIOR ({}), for other scores calibrate (deciban calibrate)"
_OF_TWO, _OF_MANY = "decisions.llr_from_probability", "multiclass.loglik_from_posterior"

LIKE_PROBABILITIES = (
    "All scores lie in [0, 1], so they are not log-likelihood ratios, and actual costs and Cllr are meaningless: "
    f"{WAY_OUT.format(_OF_TWO)}."
)
"""The note on two-class scores that look like probabilities."""

LIKE_POSTERIORS = (
    "Scores lie in [0, 1] and sum to 1, so they are not log-likelihoods, and Cllr and costs are meaningless: "
    f"{WAY_OUT.format(_OF_MANY)}."
)
"""The note on multiclass scores that look like probabilities."""


def target_prior(values: object, name: str) -> float:
    """Return the prior of a target: one number inside (0, 1), also in a list of one; ``"flat"`` is 0.5.

    Raises
    ------
    InputError
    """
    given = values
    if isinstance(values, str) and values == "flat":
        return 0.5
    if isinstance(values, Iterable) and not isinstance(values, str | dict):
        listed = list(values)
        given = listed[0] if len(listed) == 1 else values
    if not isinstance(given, Real) or not 0.0 < float(given) < 1.0:
        raise InputError(
            f"{name}: got {values!r}. Of two classes it is the prior of a target that the probabilities were made "
            "with, one number inside (0, 1)."
        )
    return float(given)


def of_target(values: ArrayLike, name: str) -> FloatArray:
    """Return probabilities of targets as float64.

    Raises
    ------
    TrialError
        If one is outside [0, 1].
    InputError
        If there is none, or they are no numbers.
    """
    checked: FloatArray = _validate.scores(values, name).astype(np.float64, copy=False)
    _refuse_outside(checked[:, None], name)
    return checked


def of_classes(table: ScoreArray, name: str) -> FloatArray:
    """Return a checked matrix of probabilities of classes as float64.

    Raises
    ------
    TrialError
        If one is outside [0, 1], or those of a trial do not sum to 1.
    """
    checked: FloatArray = table.astype(np.float64, copy=False)
    _refuse_outside(checked, name)
    total = checked.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1.0) > ROUNDING)
    if len(wrong):
        raise TrialError(
            f"{name}: those of {len(wrong):,} of {len(checked):,} trials do not sum to 1, the first ",
            int(wrong[0]),
            f" to {total[wrong[0]]:.6g}. Probabilities are of all classes together: name every class, and no other "
            "column.",
        )
    return checked


def distributions(values: ArrayLike, name: str) -> FloatArray:
    """Return rows of probabilities of two or more classes that sum to 1, to 1e-6, as float64.

    Raises
    ------
    InputError
    """
    table = _validate.matrix(values, name, "class").astype(np.float64, copy=False)
    if table.shape[1] < 2:
        raise InputError(f"{name}: shape {table.shape}. There are at least two classes.")
    wrong = np.flatnonzero(~((table >= 0).all(axis=1) & (np.abs(table.sum(axis=1) - 1.0) <= 1e-6)))
    if len(wrong):
        raise InputError(
            f"{name}: {len(wrong)} of {len(table)} rows are no probabilities that sum to 1, the first is row "
            f"{wrong[0]}: {table[wrong[0]].tolist()}. Of log-likelihoods deciban.multiclass.posterior makes some."
        )
    return table


_PERCENT = 100.0


def _refuse_outside(table: FloatArray, name: str) -> None:
    wrong = np.flatnonzero(~((table >= 0.0) & (table <= 1.0)).all(axis=1))
    if not len(wrong):
        return
    row = table[wrong[0]]
    value = row[~((row >= 0.0) & (row <= 1.0))][0]
    way = "leave probabilities out (--probabilities) if they are logarithms"
    if (table >= 0.0).all() and (table <= _PERCENT).all():
        way = f"divide percentages by 100, or {way}"
    raise TrialError(
        f"{name}: {len(wrong):,} of {len(table):,} trials have scores outside [0, 1], the first ",
        int(wrong[0]),
        f": {value:.6g}. These are no probabilities: {way}.",
    )


def like_probabilities(lowest: float, highest: float, n_trials: float) -> bool:
    """Whether scores look like probabilities, by the least and the greatest of them.

    Log-likelihood ratios have both signs: the mean of ``exp(-llr)`` over targets is 1 if they mean what they say. So
    `FEWEST` of them that all lie in [0, 1] are none, unless they are all but the same, and say nothing.

    >>> like_probabilities(0.02, 0.97, 100), like_probabilities(-0.2, 0.97, 100), like_probabilities(0.0, 0.001, 100)
    (True, False, False)
    """
    return n_trials >= FEWEST and 0.0 <= lowest <= highest <= 1.0 and highest - lowest >= _SPREAD


def like_posteriors(table: AnyArray) -> bool:
    """Whether scores of many classes lie in [0, 1] and sum to 1, about, in `FEWEST` trials or more.

    Those that are 0 and 1 alone are decisions.

    >>> like_posteriors(np.full((10, 4), 0.25)), like_posteriors(np.full((10, 4), 0.5))
    (True, False)
    """
    if len(table) < FEWEST or table.min() < 0.0 or table.max() > 1.0:
        return False
    sums_to_one = np.allclose(table.sum(axis=1, dtype=np.float64), 1.0, rtol=0.0, atol=ROUNDING)
    return bool(sums_to_one and not np.isin(table, (0.0, 1.0)).all())


def tell_of_two(*sets: ArrayLike) -> None:
    """Warn if checked arguments of a function that takes log-likelihood ratios look like probabilities."""
    arrays = [one for one in map(np.asarray, sets) if one.size]
    lowest, highest = min(float(one.min()) for one in arrays), max(float(one.max()) for one in arrays)
    if like_probabilities(lowest, highest, sum(one.size for one in arrays)):
        warn(LIKE_PROBABILITIES)


def tell_of_many(loglik: AnyArray) -> None:
    """Warn if checked log-likelihoods look like probabilities."""
    if like_posteriors(loglik):
        warn(LIKE_POSTERIORS)


SPREAD = 1000.0
"""The least ratio of the largest and the smallest positive score from which scores look like likelihood ratios."""

SHARE_BELOW_1 = 0.25
"""Without labels: the least share of scores below 1 from which scores look like likelihood ratios."""

LIKE_RATIOS = (
    "All scores are positive, from {low:.3g} to {high:.3g}: if they are likelihood ratios rather than logarithms, add "
    "--lr (lr=True)."
)
"""The note on scores that look like likelihood ratios."""


def unit_of(*, log10: bool = False, lr: bool = False) -> ScoreUnit | None:
    """Return the unit of scores that two flags declare; None if neither does.

    Raises
    ------
    InputError
        If both are true.

    Examples
    --------
    >>> unit_of(lr=True), unit_of()
    ('lr', None)
    """
    if log10 and lr:
        raise InputError("log10, lr: scores are common logarithms or likelihood ratios, not both. Leave one out.")
    return "lr" if lr else "log10" if log10 else None


def logarithms_of_ratios(values: AnyArray, name: str = "lr") -> Any:
    """Return the natural logarithms of likelihood ratios or likelihoods; 0 becomes -inf, and inf stays.

    Parameters
    ----------
    values : (n,) or (n, n_classes) array
        Single precision stays single.
    name : str
        The argument, for messages.

    Raises
    ------
    TrialError
        If a value is negative or NaN.

    Examples
    --------
    >>> logarithms_of_ratios(np.array([0.0, 1.0, np.inf]))
    array([-inf,   0.,  inf])
    """
    if len(values) and not values.min() >= 0.0:
        wrong = ~(values >= 0.0)
        row = int(np.argmax(wrong if wrong.ndim == 1 else wrong.any(axis=1)))
        n_wrong = int(np.count_nonzero(wrong))
        first = values[wrong][0]
        raise TrialError(
            f"{name}: {n_wrong:,} of {values.size:,} scores are negative or NaN, the first ",
            row,
            f": {first:.6g}. A likelihood ratio is at least 0. If these are logarithms, leave lr out (--lr), or "
            "rename a column that is called lr.",
        )
    with np.errstate(divide="ignore"):
        return np.log(values)


def llrs_of_ratios(values: ArrayLike, name: str) -> Any:
    """Return the natural logarithms of an argument that holds likelihood ratios or likelihoods.

    Raises
    ------
    InputError
        If a value is negative or NaN, or no number.

    Examples
    --------
    >>> llrs_of_ratios([1, 0], "tar")
    array([  0., -inf])
    """
    given = _validate.array(values, name)
    if given.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected numbers, got values of type {given.dtype}.")
    return logarithms_of_ratios(given if given.dtype == np.float32 else given.astype(np.float64), name)


def like_ratios(low: float, high: float, n_trials: float, share_below_1: float, least_share: float) -> bool:
    """Return True if scores look like likelihood ratios rather than their logarithms.

    Parameters
    ----------
    low, high : float
        The smallest positive score and the largest finite one, if no score is negative.
    n_trials : float
    share_below_1 : float
        Of all scores, or of non-targets if these are known.
    least_share : float
        The share from which it is enough.

    Examples
    --------
    >>> like_ratios(0.001, 500.0, 100, 0.4, SHARE_BELOW_1), like_ratios(0.1, 9.0, 100, 0.4, SHARE_BELOW_1)
    (True, False)
    """
    return n_trials >= FEWEST and 0.0 < low < 1.0 < high and high >= SPREAD * low and share_below_1 >= least_share
