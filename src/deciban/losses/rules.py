"""Cllr and the cost of beta-family rules as losses; the same numbers as in `deciban.metrics`."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from deciban.losses.terms import CostAndGradient, LossTerms


def cllr(tar: Any, non: Any, *, tar_weights: ArrayLike | None = None, non_weights: ArrayLike | None = None) -> Any:
    """Cost of log-likelihood ratios in bits as a loss (BOSARIS paper eq. 18); see `deciban.metrics.cllr`.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) tensors or arrays
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0, without a gradient; whole numbers count like copies of the trial.

    Returns
    -------
    zero-dimensional tensor or array, NumPy number
        In the library, on the device and of the floating-point type of the scores. 0 is perfect, 1 what llr 0 gets;
        ``inf`` if a trial has infinite evidence for the wrong class. PyTorch differentiates it, once and twice: the
        slope of a trial is never above ``1 / (2 ln 2)`` of its share in its class, and right at llr 0.

    Raises
    ------
    InputError
        If a class is empty, not one-dimensional or holds NaN, if weights do not fit, or if the two classes are arrays
        of different libraries or on different devices.

    Examples
    --------
    >>> import numpy as np
    >>> print(cllr(np.array([0.0]), np.array([0.0])))
    1.0
    >>> cllr(np.array([1.0, 2.0, 2.0], dtype=np.float32), np.array([0.0, 1.0, -1.0], dtype=np.float32)).dtype
    dtype('float32')
    """
    return LossTerms.of_cllr(tar, non, tar_weights, non_weights).value()


def cllr_and_gradient(
    tar: Any, non: Any, *, tar_weights: ArrayLike | None = None, non_weights: ArrayLike | None = None
) -> CostAndGradient:
    """`cllr` with its derivatives by the scores, for libraries that do not differentiate.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) arrays or tensors
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    CostAndGradient
        ``value`` in bits, ``grad_tar`` and ``grad_non`` in bits per nat: ``-sigma(-llr)`` and ``sigma(llr)`` over
        ``2 ln 2``, times the share of the trial in its class. Tensors come out of no graph.

    Raises
    ------
    InputError
        As `cllr`.

    Examples
    --------
    >>> import numpy as np
    >>> value, grad_tar, grad_non = cllr_and_gradient(np.array([0.0, np.inf]), np.array([0.0]))
    >>> print(value, grad_tar * np.log(2), grad_non * np.log(2))
    0.75 [-0.125 -0.   ] [0.25]
    """
    return LossTerms.of_cllr(tar, non, tar_weights, non_weights).value_and_gradient()


def scoring_rule_cost(
    tar: Any,
    non: Any,
    *,
    alpha: float,
    beta: float,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
    tar_weights: ArrayLike | None = None,
    non_weights: ArrayLike | None = None,
) -> Any:
    """Expected cost of a beta-family rule as a loss (thesis eq. 7.38); see `deciban.metrics.scoring_rule_cost`.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) tensors or arrays
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]: (1, 1) is the logarithmic, (2, 2) three times the Brier, (1/2, 1/2) the
        boosting rule (up to the factor 2/pi). Slopes of rules with ``alpha < 1`` (``beta < 1``) grow exponentially
        with the evidence against targets (for non-targets), and overflow where they must.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them, and a single one.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0, without a gradient; whole numbers count like copies of the trial.

    Returns
    -------
    zero-dimensional tensor or array, NumPy number
        In the library, on the device and of the floating-point type of the scores; in nats for (1, 1). PyTorch
        differentiates it, once and twice. (1, 1), (2, 2), (1/2, 1/2), (2, 1) and (1, 2) stay on the device; costs of
        other rules, not their gradients, are looked up on the host.

    Raises
    ------
    InputError
        As `cllr`; if a parameter is out of range, or not exactly one prior is given.

    Examples
    --------
    >>> import numpy as np
    >>> cost = scoring_rule_cost(np.array([1.0, 2.0, 2.0]), np.array([0.0, 1.0, -1.0]), alpha=2, beta=2, p_target=0.5)
    >>> print(cost.round(6))
    0.478762
    """
    terms = LossTerms.of_rule(tar, non, tar_weights, non_weights, (alpha, beta), (p_target, prior_log_odds))
    return terms.value()


def scoring_rule_cost_and_gradient(
    tar: Any,
    non: Any,
    *,
    alpha: float,
    beta: float,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
    tar_weights: ArrayLike | None = None,
    non_weights: ArrayLike | None = None,
) -> CostAndGradient:
    """`scoring_rule_cost` with its derivatives by the scores, for libraries that do not differentiate.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) arrays or tensors
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    alpha, beta : float
        Parameters of the rule in [0.05, 100].
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them, and a single one.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    CostAndGradient
        With posterior ``q = sigma(llr + prior log odds)`` the derivative of a target cost is
        ``-q^(alpha-1) (1-q)^beta / B(alpha, beta)``, that of a non-target cost ``q^alpha (1-q)^(beta-1) / B(alpha,
        beta)``, times prior and share of the trial in its class. Tensors come out of no graph.

    Raises
    ------
    InputError
        As `scoring_rule_cost`.

    Examples
    --------
    >>> import numpy as np
    >>> cost = scoring_rule_cost_and_gradient(np.zeros(1), np.zeros(2), alpha=2, beta=2, p_target=0.5)
    >>> print(cost.value, cost.grad_tar, cost.grad_non)
    0.75 [-0.375] [0.1875 0.1875]
    """
    terms = LossTerms.of_rule(tar, non, tar_weights, non_weights, (alpha, beta), (p_target, prior_log_odds))
    return terms.value_and_gradient()
