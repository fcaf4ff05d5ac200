"""How parameters vary with the draw of units: sums by unit, and the covariance that influences make."""

from __future__ import annotations

import numpy as np

from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.types import AnyArray, FloatArray, IntArray


def sums_by_unit(values: AnyArray, units: TrialUnits) -> FloatArray:
    """Sums over the trials of each unit; a unit on both sides of a trial counts once.

    Parameters
    ----------
    values : (n_columns, n_trials) array
    units : TrialUnits

    Returns
    -------
    (n_units, n_columns) array

    Examples
    --------
    >>> units = TrialUnits.of([["ann", "ann"], ["ann", "bob"], ["bob", "cid"]])
    >>> sums_by_unit(np.array([[1.0, 2.0, 4.0]]), units).ravel()
    array([3., 6., 4.])
    """
    total = np.zeros((units.n_units, len(values)))
    add_by_unit(total, values, units)
    return total


def add_by_unit(total: FloatArray, values: AnyArray, units: TrialUnits) -> None:
    """Add the sums over some trials to those of others, (n_units, n_columns); see `sums_by_unit`."""
    first, *others = units.codes
    _add(total, values, first)
    for side in others:
        _add(total, np.where(side == first, 0.0, values), side)


def _add(total: FloatArray, values: AnyArray, codes: IntArray) -> None:
    if len(total) <= len(codes):
        for k, column in enumerate(values):
            total[:, k] += np.bincount(codes, column, minlength=len(total))
        return
    used, places = np.unique(codes, return_inverse=True)  # most units have no trial here
    for k, column in enumerate(values):
        total[used, k] += np.bincount(places, column, minlength=len(used))


def covariance_of(influences: FloatArray, n_units: int | None = None) -> FloatArray:
    """Covariance of parameters by the infinitesimal jackknife: ``n / (n - 1) sum_k d_k d_k'``.

    Parameters
    ----------
    influences : (n_units, n_parameters) array
        ``d_k``: the derivative of the parameters by the weight of unit k, at weight 1.
    n_units : int, optional
        If rows do not stand for units, but have their second moments.

    Returns
    -------
    (n_parameters, n_parameters) array

    Examples
    --------
    >>> covariance_of(np.array([[1.0], [-2.0], [1.0]]) / 3.0)   # of a mean of 3: its variance, 3, divided by 3
    array([[1.]])
    """
    n = len(influences) if n_units is None else n_units
    product: FloatArray = influences.T @ influences
    return n / (n - 1.0) * (0.5 * product + 0.5 * product.T)


def require_several(units: TrialUnits) -> None:
    """Refuse a single unit.

    Raises
    ------
    InputError
    """
    if units.n_units < 2:
        raise InputError(f"units: all trials are of one {units.noun}, which does not tell how others would differ.")
