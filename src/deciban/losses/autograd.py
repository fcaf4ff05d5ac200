"""The cost of a non-target as a function that PyTorch differentiates; torch is imported when it is needed."""

from __future__ import annotations

from functools import cache
from typing import Any

from deciban.losses import kernels


def cost_non(xp: Any, x: Any, alpha: float, beta: float) -> Any:
    """`deciban.losses.kernels.cost_non` of a tensor, differentiable twice."""
    return _function().apply(xp, x, alpha, beta)


@cache
def _function() -> Any:
    import torch

    class CostNon(torch.autograd.Function):  # type: ignore[misc]  # Any, where torch is not installed
        @staticmethod
        def forward(xp: Any, x: Any, alpha: float, beta: float) -> Any:
            return kernels.cost_non(xp, x, alpha, beta)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, Any, float, float], output: Any) -> None:  # noqa: ARG004
            ctx.xp, x, ctx.alpha, ctx.beta = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> tuple[None, Any, None, None]:
            (x,) = ctx.saved_tensors
            # Made of differentiable operations: PyTorch records them if a second derivative is asked for.
            return None, gradient * kernels.slope_non(ctx.xp, x, ctx.alpha, ctx.beta), None, None

    return CostNon
