"""Cost and slope of a non-target under the beta family, in the array library and on the device of the trials.

``C(x | non; alpha, beta)`` and its derivative by ``x`` (thesis 7.38), as in `deciban.core.rules.proper`; targets are
``C(x | tar; alpha, beta) = C(-x | non; beta, alpha)``. ``xp`` is an array API namespace. Slopes are made of functions
that are smooth everywhere, so that automatic differentiation of a slope is the curvature, at 0 too: ``abs``, ``where``
and ``maximum`` appear in costs only, which nobody differentiates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import array_api_compat
import numpy as np
from scipy import special

from deciban.core.rules import proper
from deciban.types import AnyArray

_quiet = np.errstate(over="ignore", under="ignore")


@_quiet
def cost_non(xp: Any, x: Any, alpha: float, beta: float) -> Any:
    """Return ``C(x | non; alpha, beta)`` of posterior log odds ``x``, infinite ones included.

    Rules without a closed form are evaluated by `deciban.core.rules.proper` on the host, one formula for all libraries;
    the result returns to the device of ``x``.
    """
    closed_form = _CLOSED_FORMS.get((alpha, beta))
    if closed_form is not None:
        return closed_form(xp, x)
    values = proper.beta_cost_non(on_host(x).astype(np.float64, copy=False), alpha, beta)
    return xp.asarray(values, dtype=x.dtype, device=array_api_compat.device(x))


@_quiet
def slope_non(xp: Any, x: Any, alpha: float, beta: float) -> Any:
    """Return ``dC/dx = sigma(x)^alpha sigma(-x)^(beta-1) / B(alpha, beta)``; ``inf`` where it leaves the type."""
    exponent = -alpha * _softplus(xp, -x)
    if beta != 1:  # 0 * inf would be NaN
        exponent = exponent - (beta - 1) * _softplus(xp, x)
    return xp.exp(exponent - float(special.betaln(alpha, beta)))


def on_host(x: Any) -> AnyArray:
    """Return ``x`` as a NumPy array, outside of any graph of automatic differentiation."""
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu().numpy())
    return np.from_dlpack(x, device="cpu")


def _softplus(xp: Any, x: Any) -> Any:
    return xp.logaddexp(x, xp.zeros_like(x))


def _sigma(xp: Any, x: Any) -> Any:
    return 1.0 / (1.0 + xp.exp(-x))


def _log_less_linear(xp: Any, x: Any) -> Any:
    """Return ``-log(1 - p) - p`` for ``p = sigma(x)``, which is about ``p^2 / 2`` for small ``p``.

    As written it loses all digits there. With ``y = p / (2 - p)`` it is ``2 atanh(y) - 2 y / (1 + y)``, a sum of
    positive terms: ``2 y^2 / (1 + y) + 2 (y^3 / 3 + y^5 / 5 + ...)``.
    """
    z = xp.exp(xp.clip(x, max=-1.0))
    y = z / (z + 2.0)
    tail = xp.zeros_like(y)
    for k in range(19, 1, -2):  # y^2 < 0.0242: what is left out is below one ulp
        tail = tail * (y * y) + 1.0 / k
    series = 2.0 * y * y * (1.0 / (1.0 + y) + y * tail)
    return xp.where(x < -1.0, series, _softplus(xp, x) - _sigma(xp, x))


_CLOSED_FORMS: dict[tuple[float, float], Callable[[Any, Any], Any]] = {
    (1.0, 1.0): _softplus,
    (2.0, 2.0): lambda xp, x: 3.0 * _sigma(xp, x) ** 2.0,
    (0.5, 0.5): lambda xp, x: 2.0 / np.pi * xp.exp(0.5 * x),
    (2.0, 1.0): lambda xp, x: 2.0 * _log_less_linear(xp, x),
    (1.0, 2.0): lambda xp, x: 2.0 * _sigma(xp, x),
}


def differentiable_cost_non(xp: Any, x: Any, alpha: float, beta: float) -> Any:
    """`cost_non` of a tensor, differentiable twice; torch is imported when it is needed."""
    return _function().apply(xp, x, alpha, beta)


@cache
def _function() -> Any:
    import torch

    class CostNon(torch.autograd.Function):  # type: ignore[misc]  # Any, where torch is not installed
        @staticmethod
        def forward(xp: Any, x: Any, alpha: float, beta: float) -> Any:
            return cost_non(xp, x, alpha, beta)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, Any, float, float], output: Any) -> None:  # noqa: ARG004
            ctx.xp, x, ctx.alpha, ctx.beta = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> tuple[None, Any, None, None]:
            (x,) = ctx.saved_tensors
            # Made of differentiable operations: PyTorch records them if a second derivative is asked for.
            return None, gradient * slope_non(ctx.xp, x, ctx.alpha, ctx.beta), None, None

    return CostNon
