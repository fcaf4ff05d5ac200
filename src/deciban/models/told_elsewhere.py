"""Warnings of training and of models that are left out where their news is told anyway."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from deciban.errors import DecibanWarning


@contextmanager
def reasons_are_shown() -> Iterator[None]:
    """Without the warning that there are no standard errors, where `ScoreModel.uncertainty_lines` says why."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*: no standard errors: ", DecibanWarning)
        yield


@contextmanager
def missing_measures_are_known() -> Iterator[None]:
    """Without that warning, where it is told already how many trials lack measures."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* trials lack quality measures", DecibanWarning)
        yield
