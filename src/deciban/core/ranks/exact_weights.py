"""Sums of weights that are exact and the same in any order: whole numbers of digits of 26 bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deciban.errors import InputError
from deciban.types import CountArray, FloatArray, IntArray

_LARGEST = 2.0**53
"""Floats hold whole numbers up to here."""

_BITS = 26
"""Of a digit."""


_MANTISSA = 53
"""Bits of a float64."""


_MOST_DIGITS = 16
"""Floats hold whole numbers up to here."""


def digits_of(weights: FloatArray | None) -> range:
    """Places of all digits that positive weights can have.

    Raises
    ------
    InputError
        If these are too many.

    Examples
    --------
    >>> digits_of(np.array([1.0, 3.0])), digits_of(None)
    (range(-2, 1), range(0, 0))
    """
    if weights is None or not len(weights):
        return range(0)
    low, high = float(weights.min()), float(weights.max())
    lowest, highest = (int(np.frexp(one)[1]) for one in (low, high))
    places = range((lowest - _MANTISSA) // _BITS, (highest - 1) // _BITS + 1)
    if len(places) > _MOST_DIGITS:
        raise InputError(
            f"weights: these are between {low:g} and {high:g}, and differ too much to be added up exactly. Leave out "
            "trials that count for nothing (weight 0)."
        )
    return places


def summed_by_code(weights: FloatArray, codes: Sequence[IntArray], size: int) -> tuple[IntArray, int]:
    """Sums of the digits of weights by code, (n_digits, size), and the place of the first digit.

    Parameters
    ----------
    weights : (n,) array
        At least 0.
    codes : sequence of (n,) int arrays
        Below ``size``; each weight counts once for every one of these.
    size : int

    Raises
    ------
    InputError
        As `digits_of`.

    Examples
    --------
    >>> sums = summed_by_code(np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1]), [np.array([0, 0, 0, 1, 1, 1])], 2)
    >>> whole_or_float(*sums)
    array([0.6, 0.6])
    """
    places = digits_of(weights[weights > 0])
    found = np.zeros((len(places), size), np.int64)
    for row, digit in _digits(weights, places):
        for own in codes:
            found[row] += np.bincount(own, digit, size).astype(np.int64)  # exact: below 2**53 up to 2**27 trials
    return found, places.start


def _digits(weights: FloatArray, places: range) -> Iterator[tuple[int, FloatArray]]:
    """The number of each place, and the digits of all weights there, from the highest place on."""
    rest = weights.astype(np.float64)
    for row, place in reversed(list(enumerate(places))):
        digit = np.floor(np.ldexp(rest, -_BITS * place))
        rest = rest - np.ldexp(digit, _BITS * place)
        yield row, digit


def aligned(parts: Sequence[tuple[IntArray, int]]) -> tuple[list[IntArray], int]:
    """Sums with the same digits, without those at the ends that are nowhere, and the place of the first.

    Parameters
    ----------
    parts : sequence of ((..., n_digits, n) array, int)
        Sums, and the place of the first digit of each.

    Examples
    --------
    >>> some, place = aligned([(np.array([[0], [5]]), 0), (np.array([[7]]), 2)])
    >>> [one.tolist() for one in some], place
    ([[[5], [0]], [[0], [7]]], 1)
    """
    ends = list[int]()
    for sums, first in parts:
        own = np.flatnonzero(sums.any(axis=(*range(sums.ndim - 2), sums.ndim - 1)))
        ends += [first + int(own[0]), first + int(own[-1]) + 1] if len(own) else []
    low, high = (min(ends), max(ends)) if ends else (0, 0)
    found = []
    for sums, first in parts:
        wide = np.zeros((*sums.shape[:-2], high - low, sums.shape[-1]), np.int64)
        begin, end = max(first, low), min(first + sums.shape[-2], high)
        if begin < end:
            wide[..., begin - low : end - low, :] = sums[..., begin - first : end - first, :]
        found.append(wide)
    return found, low


def whole_or_float(sums: IntArray, place: int) -> CountArray:
    """What digits add up to: whole numbers (int64) where all are and float64 would hold their sum, else float64.

    Parameters
    ----------
    sums : (..., n_digits, n) array
    place : int
        Of the first digit.

    Returns
    -------
    (..., n) array

    Examples
    --------
    >>> whole_or_float(np.array([[3], [1]]), 0), whole_or_float(np.array([[1 << 25], [1]]), -1)
    (array([67108867]), array([1.5]))
    """
    total = np.zeros((*sums.shape[:-2], sums.shape[-1]))
    for row in range(sums.shape[-2]):
        total += np.ldexp(sums[..., row, :].astype(np.float64), _BITS * (place + row))
    is_whole = not sums[..., : max(-place, 0), :].any() and float(total.sum()) <= _LARGEST
    return total.astype(np.int64) if is_whole else total
