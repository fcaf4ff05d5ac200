"""Certificates that the best scales and offsets of many classes are infinite."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deciban.core.trust_region import Minimum
from deciban.errors import InputError
from deciban.types import FloatArray

_SUSPICIOUS = 0.1
"""Nats by which Newton's step at a minimum that lies at infinity moves some log-likelihood ratio."""


def refuse_infinite(
    found: Minimum, largest_move: Callable[[FloatArray, FloatArray], float], *, separated: bool
) -> None:
    """Refuse an answer where the best scales or offsets are infinite.

    Parameters
    ----------
    found : Minimum
        Where the search ended.
    largest_move : callable
        How far a step from a point moves the log-likelihood of a class against that of the true one, at most.
    separated : bool
        Whether the true class leads in every trial, which proves it.

    Raises
    ------
    InputError
        If they are.
    """
    if separated:
        words = (
            "some scale and offsets put the true class ahead in every trial, so that the best scale is infinite (the "
            "classes are separated)"
        )
    elif found.converged and _is_at_infinity(found, largest_move):
        words = "the objective falls forever as the scales or offsets grow, so that the best ones are infinite"
    else:
        return
    raise InputError(
        f"loglik: {words}. Add a penalty (ridge=1e-3, --ridge 1e-3), or collect trials that are harder to tell."
    )


def _is_at_infinity(found: Minimum, largest_move: Callable[[FloatArray, FloatArray], float]) -> bool:
    """Whether Newton's step still moves log-likelihoods where it gains nothing any more."""
    step = np.linalg.lstsq(found.at.hessian, found.at.gradient, rcond=1e-14)[0]
    return largest_move(found.point, np.asarray(step, np.float64)) > _SUSPICIOUS
