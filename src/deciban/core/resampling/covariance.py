"""How parameters vary with the draw of units: sums by unit, covariances and degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban.core.resampling.rates import FEWEST_CLUSTERS, is_enough
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
    add_by_code(total, values, first)
    for side in others:
        add_by_code(total, np.where(side == first, 0.0, values), side)


def add_by_code(total: FloatArray, values: AnyArray, codes: IntArray) -> None:
    """Add values of trials, (n_columns, n_trials), to the rows of ``total`` that ``codes`` name."""
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


_FADING = 40.0
"""Effective number of units up to which unequal influences reduce the degrees of freedom in full."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitChanges:
    """Changes of parameters with the units that they were trained on.

    Attributes
    ----------
    values : (n_units, n_parameters) array
        The change if a unit is left out (``left_out``), otherwise the derivative by its weight. Without
        ``listed``, rows with the same second moments as the rows of all units.
    n_units : int
    n_effective : float
        The effective number of units of the class that has fewest; see `deciban.core.resampling.rates`.
    left_out, listed : bool
    penalized : bool
        Whether a penalty shrinks the parameters: their bias is intended, then, and not corrected.

    Examples
    --------
    >>> changes = UnitChanges(values=np.array([[1.0], [-2.0], [1.0]]) / 3.0, n_units=3, n_effective=3.0)
    >>> changes.covariance, changes.degrees
    (array([[1.]]), 2.0)
    """

    values: FloatArray
    n_units: int
    n_effective: float
    left_out: bool = False
    listed: bool = True
    penalized: bool = False

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the parameters, (n_parameters, n_parameters): sandwich, or delete-one-unit jackknife."""
        shrink = (1.0 - 1.0 / self.n_units) ** 2 if self.left_out else 1.0
        return shrink * covariance_of(self.values, self.n_units)

    @property
    def bias(self) -> FloatArray:
        """The bias of the parameters by the jackknife, (n_parameters,); 0 if no unit was left out, or by a penalty."""
        if self.penalized or not self.left_out:
            return np.zeros(self.values.shape[1])
        return (self.n_units - 1.0) / self.n_units * np.asarray(self.values.sum(axis=0), np.float64)

    @cached_property
    def degrees(self) -> float:
        """Degrees of freedom of the variances.

        At most one less than the effective number of units. Where few units dominate, the variance is itself uncertain:
        Satterthwaite's degrees follow from the fourth moments of the contributions of units, averaged over all
        directions of the parameters. They count in full up to 40 effective units, and less and less beyond.
        """
        most = self.n_effective - 1.0
        if not (self.left_out and self.listed):
            return most
        size = np.sqrt((self.values**2).sum(axis=0))
        unit = self.values[:, size > 0.0] / size[size > 0.0]
        vectors, sizes, _ = np.linalg.svd(unit, full_matrices=False)
        rank = int(np.count_nonzero(sizes > _FLAT * np.max(sizes, initial=0.0)))
        if not rank:
            return most
        shares = (vectors[:, :rank] ** 2).sum(axis=1) / rank
        excess = float((shares**2).sum()) - 1.0 / self.n_units
        own = min(2.0 / (rank * excess), most) if most * rank * excess > 2.0 else most
        weight = min(1.0, _FADING / self.n_effective)
        return max(float(own**weight * most ** (1.0 - weight)), 1.0)


_FLAT = 1e-9


def require_effective(n_effective: FloatArray, names: tuple[str, ...], units: TrialUnits) -> float:
    """Return the least effective number of units of any class; refuse fewer than five.

    Raises
    ------
    InputError
    """
    worst = int(np.argmin(n_effective))
    if not is_enough(n_effective[worst]):
        raise InputError(
            f"{names[worst]} trials come from effectively {n_effective[worst]:.2g} {units.noun}s, and intervals need "
            f"at least {FEWEST_CLUSTERS:.0f}: train on more {units.noun}s"
        )
    return float(n_effective[worst])


def require_several(units: TrialUnits) -> None:
    """Refuse a single unit.

    Raises
    ------
    InputError
    """
    if units.n_units < 2:
        raise InputError(f"units: all trials are of one {units.noun}, which does not tell how others would differ.")
