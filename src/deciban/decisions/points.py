"""Detection problems with two classes and two actions, in numbers: effective prior and Bayes threshold."""

from __future__ import annotations

from deciban.core.ranks.operating import OperatingPoint


def effective_prior(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    """Prior that with unit costs poses the same detection problem (BOSARIS paper eq. 10).

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.

    Returns
    -------
    float
        ``p Cmiss / (p Cmiss + (1 - p) Cfa)``.

    Raises
    ------
    InputError
        If the prior or a cost is out of range.

    Examples
    --------
    >>> round(effective_prior(0.01, 10, 1), 5)
    0.09174
    """
    return OperatingPoint(p_target, c_miss, c_fa).effective_prior


def bayes_threshold(p_target: float, c_miss: float = 1.0, c_fa: float = 1.0) -> float:
    """Threshold at or above which a log-likelihood ratio is accepted (BOSARIS paper eq. 11).

    Parameters
    ----------
    p_target : float
        Prior probability of a target, inside (0, 1).
    c_miss, c_fa : float
        Cost of a miss and of a false alarm, at least 0 and not both 0.

    Returns
    -------
    float
        ``-logit`` of the `effective_prior`, in nats; infinite if a cost is 0.

    Raises
    ------
    InputError
        If the prior or a cost is out of range.

    Examples
    --------
    >>> round(bayes_threshold(0.01, 10, 1), 4)
    2.2925
    >>> bayes_threshold(0.5)
    0.0
    """
    return OperatingPoint(p_target, c_miss, c_fa).threshold + 0.0  # not -0.0
