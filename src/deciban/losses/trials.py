"""Trials in the array library and on the device they came in: checked, in working precision, with their shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import array_api_compat
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.losses.kernels import on_host


@dataclass(frozen=True, slots=True)
class LossTrials:
    """The llrs of one class, and the share of each trial in the mean of the class.

    Everything is computed in float64 where the device has it, whatever the type of the scores: a mean of many float32
    costs keeps its digits. Gradients and results return to the type of the scores.
    """

    llr: Any
    """(n,) array in working precision. Trials of weight 0 have llr 0, for nothing of an infinite cost is nothing."""
    share: Any
    """(n,) array, or one number for all trials; shares sum to 1."""
    dtype: Any
    """Floating-point type of the scores as they came."""


def both_classes(
    tar: Any, non: Any, tar_weights: ArrayLike | None, non_weights: ArrayLike | None
) -> tuple[Any, LossTrials, LossTrials]:
    """Check the arguments of a loss; return the array API namespace, the targets and the non-targets.

    Raises
    ------
    InputError
        If the classes are arrays of different libraries or devices, or for the reasons of `deciban.metrics.cllr`.
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


def _array(values: Any, name: str) -> Any:
    """Leave arrays of other libraries as they are; NumPy arrays, lists and the like become checked vectors."""
    if array_api_compat.is_array_api_obj(values) and not array_api_compat.is_numpy_array(values):
        return values
    return _validate.scores(values, name)


def _one_class(xp: Any, values: Any, weights: ArrayLike | None, name: str) -> LossTrials:
    device = array_api_compat.device(values)
    working = _widest_float(xp, device)
    if not _is_healthy(xp, values):
        # Says what is wrong with the scores, or converts what can be converted, such as integers.
        values = xp.asarray(_validate.scores(_readable(xp, values), name), dtype=working, device=device)
    llr = xp.astype(values, working, copy=False)
    checked = _weights(weights, values.shape[0], f"{name}_weights")
    if checked is None:
        return LossTrials(llr, 1.0 / values.shape[0], values.dtype)
    if not checked.all():
        llr = xp.where(xp.asarray(checked > 0, device=device), llr, xp.zeros_like(llr))
    share = xp.asarray(checked / checked.sum(), dtype=working, device=device)
    return LossTrials(llr, share, values.dtype)


def _is_healthy(xp: Any, values: Any) -> bool:
    """Whether these are scores as they should be, asked on their device: one number comes back to the host."""
    floats = values.ndim == 1 and values.shape[0] > 0 and xp.isdtype(values.dtype, "real floating")
    return floats and not bool(xp.any(xp.isnan(values)))


def _readable(xp: Any, values: Any) -> Any:
    # NumPy has no bfloat16: floats are widened on their device, which is exact.
    if xp.isdtype(values.dtype, "real floating"):
        values = xp.astype(values, _widest_float(xp, array_api_compat.device(values)))
    return on_host(values)


def _weights(weights: Any, n_trials: int, name: str) -> Any:
    if array_api_compat.is_torch_array(weights):
        if weights.requires_grad:
            raise InputError(
                f"{name}: asks for a gradient, but costs are differentiated by the scores alone. "
                f"Pass {name}.detach(), or weigh the trials in an expression of your own."
            )
        weights = on_host(weights.double() if weights.is_floating_point() else weights)
    elif array_api_compat.is_array_api_obj(weights) and not array_api_compat.is_numpy_array(weights):
        weights = on_host(weights)
    return _validate.weights(weights, n_trials, name)


@cache
def _widest_float(xp: Any, device: Any) -> Any:
    """Float64 wherever the device has it; some accelerators stop at float32."""
    floats = xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    return xp.float64 if "float64" in floats else xp.float32
