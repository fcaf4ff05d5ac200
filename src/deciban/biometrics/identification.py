"""Identification (1:N): the cumulative match characteristic, and detection and identification in an open set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from deciban._validate import arrays as _validate
from deciban.biometrics.groups import Rates, lowest_threshold, rates_by_unit, subject_ids
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.metrics.scores import rates_of
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray

_MOST_RANK = 1_000_000_000

_CELLS = 1 << 24
"""Number of scores that are read at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Cmc:
    """The cumulative match characteristic: shares of mated probes whose subject is among the best candidates.

    As a sequence or an array, it contains the rates: ``found[0]`` is the rank-1 identification rate.

    Attributes
    ----------
    rates : Rates
        Identification rates of rank 1, 2, ..., with intervals by subject.
    ranks : (n_probes,) int array
        Rank of the subject of each probe; 0 if the subject is not in the gallery.
    n_subjects : int
        Number of subjects in the gallery.
    level : float
        Level of the intervals.
    """

    rates: Rates
    ranks: IntArray
    n_subjects: int
    level: float = LEVEL

    def __len__(self) -> int:
        return len(self.rates.value)

    def __getitem__(self, place: int | slice | IntArray) -> Any:
        return self.rates.value[place]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> FloatArray:  # noqa: FBT001  # NumPy's protocol
        return np.array(self.rates.value, dtype=dtype, copy=copy)


@dataclass(frozen=True, slots=True)
class IdentificationRate:
    """Detection and identification in an open set, at a limit of the false positive identification rate.

    Attributes
    ----------
    limit, fpir : float
        The limit, and the rate: probes without a mate that have a candidate at or above the threshold.
    rate, low, high : float
        Mated probes whose subject is among the best candidates, at or above the threshold; bounds are NaN with fewer
        than five effective subjects.
    threshold : float
        Lowest score that is accepted; inf rejects all finite scores.
    n_identified, n_mated, n_false, n_nonmated : int
    """

    limit: float
    fpir: float
    rate: float
    low: float
    high: float
    threshold: float
    n_identified: int
    n_mated: int
    n_false: int
    n_nonmated: int


@dataclass(frozen=True, slots=True, eq=False)
class GallerySearch:
    """The searches of all probes: rank and score of the subject (0 and -inf without a mate), and the best score."""

    rank: IntArray
    mate: FloatArray
    best: FloatArray
    is_mated: BoolArray
    units: TrialUnits
    n_subjects: int


def searched(scores: Any, probe_id: ArrayLike, gallery_id: ArrayLike) -> GallerySearch:
    """GallerySearch the gallery for every probe, in batches of rows.

    Raises
    ------
    InputError
    """
    try:
        value = scores if hasattr(scores, "shape") else np.asarray(scores)
    except ValueError:  # of numpy, about rows of different lengths
        lengths = sorted({len(row) for row in scores if hasattr(row, "__len__")})
        words = f"rows have {' or '.join(map(str, lengths))} scores" if len(lengths) > 1 else "not a table of numbers"
        raise InputError(f"scores: {words}. They must be a matrix: probes in rows, gallery in columns.") from None
    if len(value.shape) != 2 or 0 in value.shape:
        raise InputError(
            f"scores: shape {tuple(value.shape)}. They must be a matrix: probes in rows, gallery in columns."
        )
    rows, columns = value.shape
    ids = subject_ids(probe_id, "probe_id", rows, "row"), subject_ids(gallery_id, "gallery_id", columns, "column")
    if (ids[0].dtype.kind == "U") != (ids[1].dtype.kind == "U"):
        raise InputError("probe_id, gallery_id: names in one and numbers in the other. Use one type for both.")
    subjects, codes = np.unique(ids[1], return_inverse=True)
    place = np.minimum(np.searchsorted(subjects, ids[0]), len(subjects) - 1)
    is_mated = subjects[place] == ids[0]
    n, units = len(ids[0]), TrialUnits.of(ids[0], "probe_id", noun="subject")
    start = np.zeros(n, np.int64), np.full(n, -np.inf), np.empty(n)
    search = GallerySearch(*start, np.asarray(is_mated), units, len(subjects))
    for rows, best in _by_subject(value, codes, len(subjects)):
        search.best[rows] = best.max(axis=1)
        mate = np.take_along_axis(best, place[rows, None], axis=1)
        rank = np.count_nonzero(best >= mate, axis=1)
        search.mate[rows] = np.where(is_mated[rows], mate[:, 0], -np.inf)
        search.rank[rows] = np.where(is_mated[rows], rank, 0)
    return search


def _by_subject(scores: AnyArray, codes: IntArray, n_subjects: int) -> Iterator[tuple[slice, AnyArray]]:
    """Yield rows in batches, with the best score of each subject in the columns.

    Raises
    ------
    InputError
        If a score is NaN, or scores are not numbers.
    """
    n_probes, n_gallery = scores.shape
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_subjects))
    is_sorted, is_single = bool(np.all(order == np.arange(n_gallery))), n_subjects == n_gallery
    step = max(_CELLS // n_gallery, 1)
    for first in range(0, n_probes, step):
        rows = slice(first, min(first + step, n_probes))
        block = np.asarray(scores[rows])
        if block.dtype.kind not in "fiu":
            raise InputError(f"scores: type {block.dtype}. They must be real numbers.")
        if block.dtype.kind == "f" and np.isnan(block).any():
            row, column = (int(one[0]) for one in np.nonzero(np.isnan(block)))
            raise InputError(f"scores: NaN at probe {first + row}, gallery entry {column}. Every pair needs a score.")
        block = block if is_sorted else block[:, order]
        yield rows, block if is_single else np.maximum.reduceat(block, starts, axis=1)


def cmc(scores: ArrayLike, probe_id: ArrayLike, gallery_id: ArrayLike, *, level: float = LEVEL) -> Cmc:
    """Return the cumulative match characteristic: the share of probes whose subject is among the first candidates.

    Parameters
    ----------
    scores : (n_probes, n_gallery) array
        Any array with rows by slice, such as a memory map or an HDF5 dataset: it is read in batches of rows.
    probe_id, gallery_id : (n_probes,) and (n_gallery,) array_like
        Subjects, as names or whole numbers. Of several gallery entries of a subject, the best score counts.
    level : float
        Level of the intervals.

    Returns
    -------
    Cmc
        Probes without a mate in the gallery are left out. A subject with the same score as the mate comes before it.

    Raises
    ------
    InputError
        If shapes do not match, a score is NaN, or no probe has a mate.

    Examples
    --------
    >>> found = cmc([[0.9, 0.1, 0.3], [0.2, 0.6, 0.8], [0.1, 0.2, 0.7]], ["a", "b", "c"], ["a", "b", "c"])
    >>> np.asarray(found).round(3).tolist(), found.ranks.tolist()
    ([0.667, 1.0, 1.0], [1, 2, 1])
    """
    level = checked_level(level)
    return cmc_of(searched(scores, probe_id, gallery_id), level)


def cmc_of(search: GallerySearch, level: float) -> Cmc:
    """Return `cmc` of probes that were searched for.

    Raises
    ------
    InputError
        If no probe has a mate.
    """
    _require_mates(search)
    ranks, units = search.rank[search.is_mated], search.units.take(search.is_mated).only_used()
    steps = np.unique(ranks)
    each = rates_by_unit([(ranks <= rank, units) for rank in steps], level)
    at = np.searchsorted(steps, np.arange(1, search.n_subjects + 1), side="right") - 1
    before = rates_by_unit([(np.zeros(len(ranks), bool), units)], level)  # ranks that no mate has reached
    names = ("value", "low", "high", "n_events", "n_trials")
    columns = (np.where(at < 0, getattr(before, name)[0], getattr(each, name)[at]) for name in names)
    return Cmc(Rates(*columns), search.rank, search.n_subjects, level)


def _require_mates(search: GallerySearch) -> None:
    if not search.is_mated.any():
        raise InputError("probe_id, gallery_id: no probe has a mate in the gallery. Use the same names for subjects.")


def dir_fpir(
    scores: ArrayLike,
    probe_id: ArrayLike,
    gallery_id: ArrayLike,
    *,
    fpir: float | Sequence[float] = (0.1, 0.01, 0.001),
    rank: int = 1,
    level: float = LEVEL,
) -> tuple[IdentificationRate, ...]:
    """Return the detection and identification rates in an open set at limits of the false positive rate.

    Parameters
    ----------
    scores, probe_id, gallery_id, level
        See `cmc`. Probes of subjects that are not in the gallery are searches without a mate.
    fpir : float or sequence of float
        Limits of the false positive identification rate: the share of searches without a mate that return a candidate.
    rank : int
        Number of candidates among which the subject must be.

    Returns
    -------
    tuple of IdentificationRate
        One for each limit, at the lowest threshold at which the false positive rate is at most the limit.

    Raises
    ------
    InputError
        As in `cmc`; or if every probe has a mate, or a limit or the rank is invalid.

    Examples
    --------
    >>> scores = [[0.9, 0.1], [0.2, 0.6], [0.3, 0.4], [0.5, 0.7]]
    >>> (found,) = dir_fpir(scores, ["a", "b", "x", "y"], ["a", "b"], fpir=0.5)
    >>> found.rate, found.fpir, found.threshold
    (1.0, 0.5, 0.6)
    """
    level, limits = checked_level(level), checked_limits(fpir)
    rank = _validate.whole(rank, "rank", 1, _MOST_RANK, f"It must be a whole number from 1 to {_MOST_RANK:,}")
    return dir_fpir_of(searched(scores, probe_id, gallery_id), limits, level, rank=rank)


def checked_limits(fpir: float | Sequence[float]) -> FloatArray:
    """Return limits of the false positive identification rate as a vector.

    Raises
    ------
    InputError
    """
    limits = np.atleast_1d(rates_of(fpir, "fpir"))
    if limits.ndim > 1 or not limits.size:
        raise InputError(f"fpir: shape {limits.shape}. Pass one rate, or a list of rates.")
    return limits


def dir_fpir_of(
    search: GallerySearch, limits: FloatArray, level: float, *, rank: int = 1
) -> tuple[IdentificationRate, ...]:
    """Return `dir_fpir` of probes that were searched for.

    Raises
    ------
    InputError
        If no probe has a mate, or every probe.
    """
    _require_mates(search)
    if search.is_mated.all():
        raise InputError("probe_id: every probe has a mate in the gallery. An open set needs probes without one.")
    false = search.best[~search.is_mated]
    mate, units = search.mate[search.is_mated], search.units.take(search.is_mated).only_used()
    is_listed = search.rank[search.is_mated] <= rank
    rows = list[IdentificationRate]()
    for limit in limits.tolist():
        threshold = lowest_threshold(mate, false, limit)
        n_false = int(np.count_nonzero(false >= threshold))
        some_pass = n_false <= limit * len(false) + 1e-9  # otherwise no threshold keeps the limit: reject all
        event, n_false = is_listed & (mate >= threshold) & some_pass, n_false * some_pass
        rates = rates_by_unit([(event, units)], level)
        value, low, high = (float(one[0]) for one in (rates.value, rates.low, rates.high))
        make = partial(IdentificationRate, limit=limit, fpir=n_false / len(false), rate=value, low=low, high=high)
        make = partial(make, n_identified=int(rates.n_events[0]), n_mated=len(mate), n_nonmated=len(false))
        rows.append(make(threshold=threshold, n_false=n_false))
    return tuple(rows)
