"""Cllr and the cost of beta-family rules as losses, with the same values as in `deciban.metrics`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeAlias

import array_api_compat
import numpy as np
from scipy import special

from deciban._validate import arrays as _validate
from deciban.core import proper
from deciban.errors import InputError
from deciban.types import AnyArray, FloatArray, Foreign, Tensor, Weights

_quiet = np.errstate(over="ignore", under="ignore")


@_quiet
def cost_non(xp: Foreign, x: Tensor, alpha: float, beta: float, log_weight: float = 0.0) -> Tensor:
    """Return ``exp(log_weight) C(x | non; alpha, beta)`` of posterior log odds ``x``, which may be infinite.

    Rules without a closed form are evaluated by `deciban.core.proper` on the host, with one formula for all
    libraries. The result returns to the device of ``x``.
    """
    closed_form = _CLOSED_FORMS.get((alpha, beta))
    if closed_form is not None:
        cost = closed_form(xp, x)
    else:
        values = proper.beta_cost_non(on_host(x).astype(np.float64, copy=False), alpha, beta)
        cost = xp.asarray(values, dtype=x.dtype, device=array_api_compat.device(x))
    return proper.weighted_cost_non(xp, cost, x, alpha, beta, log_weight)


@_quiet
def slope_non(xp: Foreign, x: Tensor, alpha: float, beta: float, log_weight: float = 0.0) -> Tensor:
    """Return ``exp(log_weight) dC/dx``; ``inf`` if it exceeds the type.

    The derivative is ``sigma(x)^alpha sigma(-x)^(beta-1) / B(alpha, beta)``.
    """
    exponent = -alpha * _softplus(xp, -x)
    if beta != 1:  # 0 * inf would be NaN
        exponent = exponent - (beta - 1) * _softplus(xp, x)
    exponent = exponent - float(special.betaln(alpha, beta))
    if log_weight < -700.0:  # the weight alone underflows
        return xp.exp(exponent + log_weight)
    return math.exp(log_weight) * xp.exp(exponent)


def on_host(x: Tensor) -> AnyArray:
    """Return ``x`` as a NumPy array, outside of any automatic differentiation."""
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu().numpy())
    return np.from_dlpack(x, device="cpu")


def _softplus(xp: Foreign, x: Tensor) -> Tensor:
    return xp.logaddexp(x, xp.zeros_like(x))


def _sigma(xp: Foreign, x: Tensor) -> Tensor:
    return 1.0 / (1.0 + xp.exp(-x))


_CLOSED_FORMS: dict[tuple[float, float], Callable[[Foreign, Tensor], Tensor]] = {
    (1.0, 1.0): _softplus,
    (2.0, 2.0): lambda xp, x: 3.0 * _sigma(xp, x) ** 2.0,
    (0.5, 0.5): lambda xp, x: 2.0 / np.pi * xp.exp(0.5 * x),
    (2.0, 1.0): lambda xp, x: 2.0 * proper.log_less_linear(xp, x, _softplus(xp, x) - _sigma(xp, x)),
    (1.0, 2.0): lambda xp, x: 2.0 * _sigma(xp, x),
}


@cache
def _differentiable_cost_non() -> Foreign:
    """Return `cost_non` of tensors, differentiable twice; torch is imported only here."""
    import torch

    class CostNon(torch.autograd.Function):  # type: ignore[misc]  # Any, if torch is not installed
        @staticmethod
        def forward(xp: Foreign, x: Tensor, alpha: float, beta: float, log_weight: float) -> Tensor:
            return cost_non(xp, x, alpha, beta, log_weight)

        @staticmethod
        def setup_context(ctx: Foreign, inputs: tuple[Foreign, Tensor, float, float, float], output: Tensor) -> None:  # noqa: ARG004
            ctx.xp, x, *ctx.rule = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Foreign, gradient: Tensor) -> tuple[None, Tensor, None, None, None]:
            (x,) = ctx.saved_tensors
            # Differentiable operations: PyTorch records them if a second derivative is requested.
            return None, gradient * slope_non(ctx.xp, x, *ctx.rule), None, None, None

    return CostNon.apply


LossTrials: TypeAlias = tuple[Tensor, Tensor | float, Foreign]
"""The llrs of one class, the share of each trial in the class mean, and the original type of the scores.

Llrs are an array (n,) in working precision. Shares are another array, or one number for all trials; they sum to 1.
Trials of weight 0 get llr 0, so that 0 times an infinite cost does not occur. The computation uses float64 if the
device supports it, so that a mean of many float32 costs keeps its digits. Gradients and results are converted to the
original type.
"""


def both_classes(
    tar: Tensor, non: Tensor, tar_weights: Weights, non_weights: Weights
) -> tuple[Foreign, LossTrials, LossTrials]:
    """Check the arguments of a loss; return the array API namespace, the targets and the non-targets.

    Raises
    ------
    InputError
        If the classes are arrays of different libraries or devices; see also `deciban.metrics.cllr`.
    """
    tar, non = _array(tar, "tar"), _array(non, "non")
    try:
        xp = array_api_compat.array_namespace(tar, non)
    except TypeError as error:
        raise InputError(
            f"tar, non: expected arrays of one library, got {type(tar).__module__}.{type(tar).__name__} and "
            f"{type(non).__module__}.{type(non).__name__}. Convert one of them."
        ) from error
    places = array_api_compat.device(tar), array_api_compat.device(non)
    if places[0] != places[1]:
        raise InputError(f"tar, non: expected arrays on one device, got {places[0]} and {places[1]}. Move one of them.")
    return xp, _one_class(xp, tar, tar_weights, "tar"), _one_class(xp, non, non_weights, "non")


def _array(values: Tensor, name: str) -> Tensor:
    """Return arrays of other libraries unchanged; NumPy arrays and lists become checked vectors."""
    if array_api_compat.is_array_api_obj(values) and not array_api_compat.is_numpy_array(values):
        return values
    return _validate.scores(values, name)


def _one_class(xp: Foreign, values: Tensor, weights: Weights, name: str) -> LossTrials:
    device = array_api_compat.device(values)
    working = _widest_float(xp, device)
    if not _is_healthy(xp, values):
        # Raises an error for invalid scores, or converts other types, such as integers.
        values = xp.asarray(_validate.scores(_readable(xp, values), name), dtype=working, device=device)
    llr = xp.astype(values, working, copy=False)
    checked = _weights(weights, values.shape[0], f"{name}_weights")
    if checked is None:
        return llr, 1.0 / values.shape[0], values.dtype
    if not checked.all():
        llr = xp.where(xp.asarray(checked > 0, device=device), llr, xp.zeros_like(llr))
    share = xp.asarray(checked / checked.sum(), dtype=working, device=device)
    return llr, share, values.dtype


def _is_healthy(xp: Foreign, values: Tensor) -> bool:
    """Return True if these are valid scores; checked on their device, with one number returned to the host."""
    floats = values.ndim == 1 and values.shape[0] > 0 and xp.isdtype(values.dtype, "real floating")
    return floats and not bool(xp.any(xp.isnan(values)))


def _readable(xp: Foreign, values: Tensor) -> Tensor:
    # NumPy has no bfloat16: floats are widened on their device, which is exact.
    if xp.isdtype(values.dtype, "real floating"):
        values = xp.astype(values, _widest_float(xp, array_api_compat.device(values)))
    return on_host(values)


def _weights(weights: Tensor, n_trials: int, name: str) -> FloatArray | None:
    if array_api_compat.is_torch_array(weights):
        if weights.requires_grad:
            raise InputError(
                f"{name}: requires a gradient, but costs are differentiable only in the scores. "
                f"Pass {name}.detach(), or weight the trials in your own expression."
            )
        weights = on_host(weights.double() if weights.is_floating_point() else weights)
    elif array_api_compat.is_array_api_obj(weights) and not array_api_compat.is_numpy_array(weights):
        weights = on_host(weights)
    return _validate.weights(weights, n_trials, name)


@cache
def _widest_float(xp: Foreign, device: Foreign) -> Foreign:
    """Return float64 if the device supports it; some accelerators support only float32."""
    floats = xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    return xp.float64 if "float64" in floats else xp.float32


_SEVERAL = "Sum the losses of several priors with your own weights"


class CostAndGradient(NamedTuple):
    """A cost and its derivatives in the scores.

    Parameters
    ----------
    value : number or zero-dimensional array
        The cost: a NumPy number for NumPy arrays, otherwise a zero-dimensional array of the library.
    grad_tar : (n_tar,) array
        Derivative in each target score, per nat; never positive.
    grad_non : (n_non,) array
        Derivative in each non-target score, per nat; never negative.
    """

    value: Tensor
    grad_tar: Tensor
    grad_non: Tensor


class _CostTerm(NamedTuple):
    """One class of an expected cost, ``sum(share * weight * C(x | non))``; targets are mirrored non-targets."""

    x: Tensor
    sign: float
    share: Tensor | float
    log_weight: float
    alpha: float
    beta: float
    dtype: Foreign

    @classmethod
    def of(cls, trials: LossTrials, sign: float, log_odds: float, rule: tuple[float, float]) -> _CostTerm:
        """Create with the prior of the class as weight, ``sigma(-sign * log_odds)``."""
        llr, share, dtype = trials
        return cls(sign * (llr + log_odds), sign, share, -float(np.logaddexp(0.0, sign * log_odds)), *rule, dtype)


def _terms(
    tar: Tensor,
    non: Tensor,
    tar_weights: Weights,
    non_weights: Weights,
    rule: tuple[float, float] = (1.0, 1.0),
    prior: tuple[float | None, float | None] = (None, 0.0),
) -> tuple[Foreign, tuple[_CostTerm, _CostTerm]]:
    """Check all arguments of a loss; return the array API namespace, and the terms of targets and non-targets.

    Raises
    ------
    InputError
        If an argument is invalid.
    """
    alpha, beta = _validate.rule(*rule)
    log_odds = _validate.single_log_odds(*prior, way=_SEVERAL)
    xp, targets, non_targets = both_classes(tar, non, tar_weights, non_weights)
    tar_term = _CostTerm.of(targets, -1.0, log_odds, (beta, alpha))
    return xp, (tar_term, _CostTerm.of(non_targets, 1.0, log_odds, (alpha, beta)))


def _value(
    xp: Foreign, terms: tuple[_CostTerm, _CostTerm], unit: float = 1.0, cost: Callable[..., Tensor] | None = None
) -> Tensor:
    """Return the loss in the type of the scores, differentiable in its tensors; its unit is in nats."""
    if cost is None:
        cost = _differentiable_cost_non() if array_api_compat.is_torch_array(terms[0].x) else cost_non
    # Vectors of length 1 until the type is set, because sums of NumPy arrays are not arrays.
    tar, non = (xp.sum(t.share * cost(xp, t.x, t.alpha, t.beta, t.log_weight), keepdims=True) for t in terms)
    with np.errstate(over="ignore"):
        return xp.astype((tar + non) / unit, xp.result_type(*(t.dtype for t in terms)), copy=False)[0]


def _value_and_gradient(xp: Foreign, terms: tuple[_CostTerm, _CostTerm], unit: float = 1.0) -> CostAndGradient:
    """Return the loss and its derivatives by formulas, outside of any automatic differentiation."""
    if array_api_compat.is_torch_array(terms[0].x):
        terms = (terms[0]._replace(x=terms[0].x.detach()), terms[1]._replace(x=terms[1].x.detach()))

    def gradient(term: _CostTerm) -> Tensor:
        slope = slope_non(xp, term.x, term.alpha, term.beta, term.log_weight)
        with np.errstate(over="ignore"):
            return xp.astype(term.sign * term.share * slope / unit, term.dtype, copy=False)

    return CostAndGradient(_value(xp, terms, unit, cost_non), *map(gradient, terms))


def cllr(tar: Tensor, non: Tensor, *, tar_weights: Weights = None, non_weights: Weights = None) -> Tensor:
    """Return the cost of log-likelihood ratios in bits as a loss (BOSARIS eq. 18); see `deciban.metrics.cllr`.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) tensors or arrays
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0, without a gradient; whole numbers count like copies of the trial.

    Returns
    -------
    zero-dimensional tensor or array, NumPy number
        In the library, on the device and in the floating-point type of the scores. 0 is perfect, 1 is the cost of llr
        0; ``inf`` if a trial has infinite evidence for the wrong class. PyTorch can differentiate it, also twice. The
        slope of a trial is at most ``1 / (2 ln 2)`` times its share in its class; it is exact at llr 0.

    Raises
    ------
    InputError
        If a class is empty, not one-dimensional or contains NaN, if weights do not match, or if the two classes are
        arrays of different libraries or on different devices.

    Examples
    --------
    >>> import numpy as np
    >>> print(cllr(np.array([0.0]), np.array([0.0])))
    1.0
    >>> cllr(np.array([1.0, 2.0, 2.0], dtype=np.float32), np.array([0.0, 1.0, -1.0], dtype=np.float32)).dtype
    dtype('float32')
    """
    return _value(*_terms(tar, non, tar_weights, non_weights), math.log(2))


def cllr_and_gradient(
    tar: Tensor, non: Tensor, *, tar_weights: Weights = None, non_weights: Weights = None
) -> CostAndGradient:
    """Return `cllr` with its derivatives in the scores, for libraries without automatic differentiation.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) arrays or tensors
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    CostAndGradient
        ``value`` in bits, ``grad_tar`` and ``grad_non`` in bits per nat: ``-sigma(-llr)`` and ``sigma(llr)`` divided by
        ``2 ln 2``, times the share of the trial in its class. Tensors are detached.

    Raises
    ------
    InputError
        See `cllr`.

    Examples
    --------
    >>> import numpy as np
    >>> value, grad_tar, grad_non = cllr_and_gradient(np.array([0.0, np.inf]), np.array([0.0]))
    >>> print(value, grad_tar * np.log(2), grad_non * np.log(2))
    0.75 [-0.125 -0.   ] [0.25]
    """
    return _value_and_gradient(*_terms(tar, non, tar_weights, non_weights), math.log(2))


def scoring_rule_cost(
    tar: Tensor,
    non: Tensor,
    *,
    alpha: float,
    beta: float,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> Tensor:
    """Return the expected cost of a beta-family rule as a loss (thesis 7.38); see `deciban.metrics.scoring_rule_cost`.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) tensors or arrays
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    alpha, beta : float
        Parameters of the rule in [0.05, 100]: (1, 1) is the logarithmic rule, (2, 2) three times the Brier rule, (1/2,
        1/2) the boosting rule (times 2/pi). Slopes of rules with ``alpha < 1`` (``beta < 1``) grow exponentially with
        evidence against targets (for non-targets), and may overflow.
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them, a single value.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0, without a gradient; whole numbers count like copies of the trial.

    Returns
    -------
    zero-dimensional tensor or array, NumPy number
        In the library, on the device and in the floating-point type of the scores; in nats for (1, 1). PyTorch can
        differentiate it, also twice. (1, 1), (2, 2), (1/2, 1/2), (2, 1) and (1, 2) are computed on the device. For
        other rules, costs (but not gradients) are looked up on the host.

    Raises
    ------
    InputError
        See `cllr`. Also if a parameter is out of range, or not exactly one prior is passed.

    Examples
    --------
    >>> import numpy as np
    >>> cost = scoring_rule_cost(np.array([1.0, 2.0, 2.0]), np.array([0.0, 1.0, -1.0]), alpha=2, beta=2, p_target=0.5)
    >>> print(cost.round(6))
    0.478762
    """
    return _value(*_terms(tar, non, tar_weights, non_weights, (alpha, beta), (p_target, prior_log_odds)))


def scoring_rule_cost_and_gradient(
    tar: Tensor,
    non: Tensor,
    *,
    alpha: float,
    beta: float,
    p_target: float | None = None,
    prior_log_odds: float | None = None,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> CostAndGradient:
    """Return `scoring_rule_cost` with its derivatives in the scores, for libraries without automatic differentiation.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) arrays or tensors
        Log-likelihood ratios of target and non-target trials, in nats; may be infinite.
    alpha, beta : float
        Parameters of the rule in [0.05, 100].
    p_target, prior_log_odds : float
        The prior, as a probability inside (0, 1) or as finite log odds in nats: exactly one of them, a single value.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    CostAndGradient
        With posterior ``q = sigma(llr + prior log odds)``, the derivative of a target cost is ``-q^(alpha-1) (1-q)^beta
        / B(alpha, beta)``, and of a non-target cost ``q^alpha (1-q)^(beta-1) / B(alpha, beta)``, times the prior and
        the share of the trial in its class. Tensors are detached.

    Raises
    ------
    InputError
        See `scoring_rule_cost`.

    Examples
    --------
    >>> import numpy as np
    >>> cost = scoring_rule_cost_and_gradient(np.zeros(1), np.zeros(2), alpha=2, beta=2, p_target=0.5)
    >>> print(cost.value, cost.grad_tar, cost.grad_non)
    0.75 [-0.375] [0.1875 0.1875]
    """
    rule, prior = (alpha, beta), (p_target, prior_log_odds)
    return _value_and_gradient(*_terms(tar, non, tar_weights, non_weights, rule, prior))
