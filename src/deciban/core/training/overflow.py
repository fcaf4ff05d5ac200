"""What does not fit a float: scales that were trained, and what a map of log-likelihoods makes of finite ones."""

from __future__ import annotations

import numpy as np

from deciban._validate.arrays import all_finite
from deciban.errors import InputError, TrialError
from deciban.types import AnyArray, BoolArray, FloatArray


def require_scales(scales: FloatArray, name: str) -> None:
    """Refuse scales that do not fit a float; ``name`` is what the user calls the scores.

    Raises
    ------
    InputError
        If there are such.
    """
    if not np.isfinite(scales).all():
        raise InputError(f"{name}: so close together that their scale does not fit a float. Multiply them first.")


def overflown(given: AnyArray, mapped: AnyArray) -> BoolArray:
    """Trials (n_trials, ...) of which a map turned a finite number into an infinite one, or into none.

    Parameters
    ----------
    given, mapped : (n_trials, ..., n_classes) arrays
    """
    if all_finite(mapped):
        return np.zeros(mapped.shape[:-1], np.bool_)
    return np.asarray((np.isfinite(given) & ~np.isfinite(mapped)).any(axis=-1))


def refuse_overflow(far: BoolArray) -> None:
    """Refuse trials that are `overflown`: an infinite log-likelihood is certainty, which finite ones never are.

    Raises
    ------
    TrialError
        If there are such.
    """
    found = np.flatnonzero(far)
    if len(found):
        raise TrialError(
            f"loglik: {len(found)} of {len(far)} trials have finite log-likelihoods that the scales of this model make "
            "too large for a float, the first ",
            int(found[0]),
            ". Were those of training in another unit?",
        )
