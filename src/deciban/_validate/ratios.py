"""Likelihood ratios that are no logarithms: their natural logarithms, and a test for scores that look like them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError, TrialError
from deciban.types import AnyArray, ScoreUnit

SPREAD = 1000.0
"""The least ratio of the largest and the smallest positive score from which scores look like likelihood ratios."""

SHARE_BELOW_1 = 0.25
"""Without labels: the least share of scores below 1 from which scores look like likelihood ratios."""

FEWEST = 10
"""The least number of scores that can look like likelihood ratios."""

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
