"""Quality measures as arguments: how tables of them are checked, and what is said of trials that have none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.errors import DecibanWarning, InputError, warn
from deciban.types import BoolArray, ScoreArray

ARGUMENTS = ("enroll_quality", "test_quality", "trial_quality")
"""What fusions call measures of each side of a trial, and of the trial as a whole."""


def measure_table(values: ArrayLike, name: str, n_trials: int) -> ScoreArray:
    """Return ``values`` as a matrix with a row of finite measures for each trial, or NaN where there is none.

    Raises
    ------
    InputError
        If they are no matrix of real numbers, have too few rows or too many, or one is infinite.
    """
    table = _validate.matrix(values, name, "measure")
    if len(table) != n_trials:
        raise InputError(f"{name}: {len(table)} rows for {n_trials} trials. Give one row of measures per trial.")
    for k, column in enumerate(table.T):
        infinite = np.isinf(column)
        if infinite.any():
            raise InputError(
                f"{name}: measure {k} is infinite in {np.count_nonzero(infinite)} of {n_trials} trials, the first at "
                f"index {int(np.argmax(infinite))}. Measures are finite; NaN stands for a trial that has none."
            )
    return table


def tell_missing(model: str, present: BoolArray, consequence: str) -> None:
    """Warn if trials lack a measure, with the number of them."""
    lacking = np.flatnonzero(~present)
    if len(lacking):
        warn(
            f"{model}: {len(lacking)} of {len(present)} trials lack quality measures, the first at index {lacking[0]}: "
            f"{consequence}."
        )


@contextmanager
def missing_measures_are_known() -> Iterator[None]:
    """Without that warning, where it is told already how many trials lack measures."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* trials lack quality measures", DecibanWarning)
        yield
