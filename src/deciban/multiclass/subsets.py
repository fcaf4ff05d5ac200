"""Every subset of the classes as a recognition problem of its own (thesis section 8.3.3, slides part II)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Class
from deciban.core.by_value import ByValue
from deciban.core.classes.subsets import subset_costs
from deciban.errors import InputError
from deciban.multiclass.tables import ScoredClasses
from deciban.types import FloatArray, IntArray, Names

MOST_CLASSES = 20
"""The number of subsets doubles with every class: a million of them here."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetCosts(ByValue):
    """One number for every subset of two or more classes; as an array it is `value`.

    Attributes
    ----------
    value : (n_subsets,) array
        Average detection costs, as fractions.
    mask : (n_subsets,) int array
        The subsets in binary: bit ``k`` is set if class ``k`` is in it. Small subsets come first, in the order of
        `itertools.combinations`; the last one holds all classes.
    size : (n_subsets,) int array
        Number of classes in each.
    classes : tuple of str or None
        Names of the classes.
    """

    value: FloatArray
    mask: IntArray
    size: IntArray
    classes: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[float]:
        return iter(self.value.tolist())

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> FloatArray:  # noqa: FBT001
        """The values."""
        return np.array(self.value, dtype=dtype, copy=copy)

    @property
    def mean_by_size(self) -> dict[int, float]:
        """The mean of all subsets of as many classes, for each number of classes."""
        sizes, at = np.unique(self.size, return_inverse=True)
        means = np.bincount(at, self.value) / np.bincount(at)
        return dict(zip(sizes.tolist(), means.tolist(), strict=True))

    def of(self, members: Sequence[Class]) -> float:
        """The number of one subset, given by positions or names of its classes.

        Raises
        ------
        InputError
            If there is no such subset.
        """
        n_classes = int(self.size[-1])
        wanted = {_validate_classes.class_index(one, n_classes, self.classes, "members") for one in members}
        if len(wanted) < 2:
            raise InputError(f"members: a subset has at least two classes, got {members!r}.")
        return float(self.value[self.mask == sum(1 << k for k in wanted)][0])

    def members(self, at: int) -> tuple[int, ...]:
        """Positions of the classes in the subset at a position."""
        mask = int(self.mask[at])
        return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


def subset_c_avg(loglik: ArrayLike, label: ArrayLike, *, p_target: float = 0.5, classes: Names = None) -> SubsetCosts:
    """`c_avg` of every subset of two or more classes: its trials only, its columns only (thesis figure 8.3).

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Log-likelihoods in nats, of 2 to 20 classes; only differences within a row matter. Infinite values are legal:
        classes of a subset that are all excluded are alike.
    label : (n_trials,) array_like
        True classes: positions from 0, or names if ``classes`` are given.
    p_target : float
        Prior of each target class, inside (0, 1). Every subset is a closed set: none of its classes is out of set.
    classes : sequence of str, optional
        Names of the columns.

    Returns
    -------
    SubsetCosts
        ``2^n - n - 1`` of them, 16,369 for 14 classes, where 10^5 trials take one to ten seconds, the more
        the harder they are.

    Raises
    ------
    InputError
        If there is NaN, a label is no class, a class has no trial, or there are more than 20 classes.

    Notes
    -----
    A likelihood that misses its threshold by less than 1e-14 of it is accepted, so that rounding breaks no ties.

    Examples
    --------
    >>> loglik = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    >>> costs = subset_c_avg(loglik, [0, 1, 2, 2])
    >>> costs.value
    array([0.   , 0.25 , 0.   , 0.125])
    >>> costs.of([0, 2])
    0.25
    """
    return subset_c_avg_of(ScoredClasses.of(loglik, label, None, classes), p_target)


def subset_c_avg_of(trials: ScoredClasses, p_target: float) -> SubsetCosts:
    """`subset_c_avg` of checked trials without weights."""
    n_classes = trials.n_classes
    if n_classes > MOST_CLASSES:
        raise InputError(
            f"loglik: {n_classes} classes have {float(2**n_classes):.1g} subsets; subset_c_avg takes at most "
            f"{MOST_CLASSES} classes. Leave columns and their trials out."
        )
    trials.require()
    log_odds = _validate.single_log_odds(p_target, largest=300.0)
    everything = subset_costs(trials.loglik, [trials.rows(k) for k in range(n_classes)], float(np.exp(log_odds)))
    mask = _masks(n_classes)
    size = np.bitwise_count(mask).astype(np.int64)
    return SubsetCosts(everything[mask], mask, size, trials.classes)


def _masks(n_classes: int) -> IntArray:
    """All subsets of at least two classes, small ones first, in the order of `itertools.combinations`."""
    mask = np.arange(1 << n_classes, dtype=np.int64)
    size = np.bitwise_count(mask)
    # Combinations of one size are in the order of their lowest classes: as binary numbers read from the other end.
    mirrored = np.zeros_like(mask)
    for k in range(n_classes):
        mirrored |= (mask >> k & 1) << (n_classes - 1 - k)
    return mask[np.lexsort((-mirrored, size))][n_classes + 1 :]
