"""Units: clusters of trials, such as speakers, sources or sessions, for the uncertainty of metrics."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deciban.errors import InputError, Note, counted, option, topic_of
from deciban.types import AnyArray, BoolArray, IntArray, Units

Keys = NDArray[np.uint64]


INDEPENDENT = "taken as independent"
"""End of the source text of units that are the trials themselves."""


FEW_UNITS = 30
"""Number of units below which intervals are approximate."""


_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

_STEP = np.uint64(0x9E3779B97F4A7C15)


_LARGEST = 2**53
"""Limit up to which floats represent all whole numbers."""


_LARGEST_SHORT = 2**31 - 1


_SOME = 1 << 16
"""Number of trials that usually contain all units: then the others are not checked."""


_DIGITS = 17
"""Numbers have fewer digits."""


_MANY_LINKS = 1 << 20
"""Number of links above which connected components are computed faster by scipy.sparse, in spite of its import."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialUnits:
    """Units of trials: one for each trial, or one for each side.

    Attributes
    ----------
    codes : tuple of (n_trials,) int arrays
        Positions of units: one array, or one for each side of a trial. A unit on both sides of a trial counts once.
    keys : (n_units,) uint64 array
        Hash of the name of each unit: random draws depend on nothing else.
    noun : str
        Name of a unit: ``"speaker"``, ``"segment"``, ``"trial"``, or ``"unit"``.
    source : str
        Origin of the units, in words.
    """

    codes: tuple[IntArray, ...]
    keys: Keys
    noun: str = "unit"
    source: str = "given"

    @classmethod
    def of(cls, values: ArrayLike, name: str = "units", **about: str) -> TrialUnits:
        """Create from names or numbers of units, (n_trials,) or (n_trials, 2); see `together`."""
        return together([(values, name)], **about)[0]

    @classmethod
    def checked(cls, units: Units, n_trials: int) -> TrialUnits | None:
        """Return the units that a user passed for the trials, if any.

        Raises
        ------
        InputError
            If there is not one for each trial.
        """
        if units is None:
            return None
        result: TrialUnits = units if isinstance(units, TrialUnits) else cls.of(units)
        if result.n_trials != n_trials:
            raise InputError(f"units: {result.n_trials} units for {n_trials} trials. Pass one for each trial.")
        return result

    @classmethod
    def each(cls, n_trials: int, noun: str = "trial") -> TrialUnits:
        """Return a unit for every trial, identified by its position."""
        return cls((np.arange(n_trials),), mixed_bits(np.arange(n_trials)), noun, independent(noun))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.keys)

    @property
    def are_independent(self) -> bool:
        """True if the units are the trials themselves."""
        return is_independent(self.source)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.codes[0])

    def take(self, chosen: AnyArray | slice) -> TrialUnits:
        """Return the units of some trials, by a mask or positions; units without trials remain."""
        return replace(self, codes=tuple(side[chosen] for side in self.codes))

    def entries(self) -> tuple[IntArray | slice, IntArray]:
        """Return positions of trials and codes of units, an entry for each unit of a trial; both sides may have one."""
        first, *others = self.codes
        if not others:
            return slice(None), first
        apart = np.flatnonzero(others[0] != first)
        return np.concatenate((np.arange(len(first)), apart)), np.concatenate((first, others[0][apart]))

    def among(self, keys: Keys) -> TrialUnits:
        """Return the units by their positions among all units, whose keys ascend."""
        place = np.searchsorted(keys, self.keys)
        return replace(self, codes=tuple(place[side] for side in self.codes), keys=keys)

    def only_used(self) -> TrialUnits:
        """Return the units without units that have no trials."""
        used = np.zeros(self.n_units, np.bool_)
        for side in self.codes:
            used[side] = True
        if used.all():
            return self
        place = np.cumsum(used) - 1
        return replace(self, codes=tuple(place[side] for side in self.codes), keys=self.keys[used])


def independent(noun: str) -> Note:
    """Return the source text of units that are the trials themselves, given the name of a trial.

    Examples
    --------
    >>> independent("trial")
    'trials taken as independent'
    """
    return Note(f"{noun}s {INDEPENDENT}", "independent")


def is_independent(source: str) -> bool:
    """Return True for a source text from `independent`."""
    return topic_of(source) == "independent"


def source_of_file(text: str) -> str:
    """Return the source of units from its text in a file.

    Examples
    --------
    >>> is_independent("trials taken as independent"), is_independent(source_of_file("trials taken as independent"))
    (False, True)
    """
    return Note(text, "independent") if text.endswith(INDEPENDENT) else text


@dataclass(frozen=True, slots=True, eq=False)
class UnlistedUnits(TrialUnits):
    """Units without a list of trials, because there are too many; only their number is known.

    Attributes
    ----------
    n : int
    """

    n: int = 0

    @property
    def n_units(self) -> int:
        """Number of units; see `TrialUnits.n_units`."""
        return self.n


def together(named: Sequence[tuple[ArrayLike, str]], **about: str) -> list[TrialUnits]:
    """Return units of several sets of trials, such as targets and non-targets; equal names are the same unit in all.

    Parameters
    ----------
    named : sequence of (array_like, str)
        Names or numbers of units, (n_trials,) or (n_trials, 2), and the name of the argument.
    **about : str
        ``noun`` and ``source``.

    Raises
    ------
    InputError
        If a shape is invalid, or names are neither numbers nor text.

    Examples
    --------
    >>> tar, non = together([(["ann", "bob"], "tar_units"), ([["ann", "bob"], ["bob", "cid"]], "non_units")])
    >>> [side.tolist() for side in tar.codes], [side.tolist() for side in non.codes], tar.n_units
    ([[0, 1]], [[0, 1], [1, 2]], 3)
    """
    arrays = [_names(values, name) for values, name in named]
    kinds = {"words" if one.dtype.kind == "U" else "numbers" for one in arrays if one.size}
    if len(kinds) > 1:
        raise InputError(
            f"{', '.join(name for _, name in named)}: some are words and some are numbers. Use one type for all."
        )
    low, high = _range([one for one in arrays if one.size])
    if max(-low, high) > _LARGEST:
        for one, (_, name) in zip(arrays, named, strict=True):
            if one.size:
                _require_whole(one, name)
    names, codes = _coded(arrays, low, high)
    keys, result = keys_of(names), list[TrialUnits]()
    for one in arrays:
        own, codes = codes[: one.ndim], codes[one.ndim :]
        result.append(TrialUnits(tuple(own), keys, **about))
    return result


def units_of_classes(
    tar_units: Units, non_units: Units, sizes: tuple[int, int], noun: str = "unit"
) -> tuple[TrialUnits, TrialUnits] | None:
    """Return the units (or segments) of targets and of non-targets; None if there are none.

    Raises
    ------
    InputError
        If the units of one class are missing, or their number differs from the trials.
    """
    entries = {f"tar_{noun}s": tar_units, f"non_{noun}s": non_units}
    missing = [name for name, one in entries.items() if one is None]
    if len(missing) == 2:
        return None
    if missing:
        raise InputError(f"{missing[0]}: missing, but the other class has {noun}s. Pass the {noun}s of both.")
    if isinstance(tar_units, TrialUnits) and isinstance(non_units, TrialUnits):
        items = [tar_units, non_units]
    else:
        items = together([(one, name) for name, one in entries.items()], noun=noun)
    for (name, _), one, size in zip(entries.items(), items, sizes, strict=True):
        if one.n_trials != size:
            raise InputError(f"{name}: {one.n_trials} {noun}s for {size} scores. Pass one row for each trial.")
    return items[0], items[1]


def _coded(arrays: Sequence[AnyArray], low: int, high: int) -> tuple[AnyArray, list[AnyArray]]:
    """Return names in order, and for each side of each array the position of every unit in them.

    If numbers from ``low`` to ``high`` are close together, no sort is needed.
    """
    sides = [side for one in arrays for side in ([one] if one.ndim == 1 else [one[:, 0], one[:, 1]])]
    if high - low > sum(one.size for one in sides) or max(-low, high) > _LARGEST_SHORT:
        flat = np.concatenate([one for one in sides if one.size] or [np.zeros(0, np.int64)])
        names, codes = np.unique(flat, return_inverse=True)
        return names, np.split(codes.astype(np.int32), np.cumsum([one.size for one in sides])[:-1])
    shifted = [one.astype(np.int32) - np.int32(low) for one in sides] if low else sides  # usually without copies
    there = _there([one[:_SOME] for one in shifted], high - low + 1)
    if not there.all():
        there = _there(shifted, high - low + 1)
    indices = np.flatnonzero(there)
    if len(indices) < len(there):
        place = np.cumsum(there, dtype=np.int32) - np.int32(1)
        shifted = [place[one] for one in shifted]
    return indices + low, shifted


def _range(arrays: Sequence[AnyArray]) -> tuple[int, int]:
    """Return the lowest and highest number; far apart if there are words, or nothing."""
    if not arrays or any(one.dtype.kind != "i" for one in arrays):
        return 0, _LARGEST
    slabs = [one[first : first + _SOME] for one in arrays for first in range(0, len(one), _SOME)]  # read once
    ends = [(int(one.min()), int(one.max())) for one in slabs]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _there(sides: Sequence[AnyArray], n: int) -> BoolArray:
    """Return True for the numbers up to ``n`` that occur."""
    mask = np.zeros(n, np.bool_)
    for one in sides:
        mask[one] = True
    return mask


def _names(values: ArrayLike, name: str) -> AnyArray:
    """Return names as text or int64."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] not in (1, 2)):
        raise InputError(
            f"{name}: shape {array.shape}. Pass one unit for each trial, (n,), or one for each side, (n, 2)."
        )
    array = array if array.ndim == 1 or array.shape[1] == 2 else array[:, 0]
    if not array.size:
        return array.astype(np.int64)
    if array.dtype.kind == "O":
        _refuse_missing(array, name)
    if array.dtype.kind in "OSU":
        return np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array.astype(np.str_)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: units of type {array.dtype}. Units must be words or whole numbers.")
    if array.dtype.kind != "i":
        _require_whole(array, name)
    return array.astype(np.int64, copy=False)


def _require_whole(array: AnyArray, name: str) -> None:
    is_whole = array.dtype.kind != "f" or bool(np.all(array == np.trunc(array)))
    if not is_whole or array.min() < -_LARGEST or array.max() > _LARGEST:
        raise InputError(f"{name}: units must be words or whole numbers below 2^53.")


def _refuse_missing(array: AnyArray, name: str) -> None:
    for at, one in enumerate(array.ravel().tolist()):
        if one is None or (isinstance(one, float) and math.isnan(one)):
            raise InputError(
                f"{name}: no unit at index {at // (array.size // len(array))}. Every trial needs a unit; use a unique "
                "name for a trial that shares nothing with others."
            )


def keys_of(names: Iterable[object] | AnyArray) -> Keys:
    """Return a hash of every name, uniform over 64 bits; the same on every machine.

    A word that spells a whole number has the same hash as the number, so that units are the same in files and arrays.

    Examples
    --------
    >>> keys_of([7, 12]).tolist() == keys_of(["7", "12"]).tolist()
    True
    >>> keys_of(["ann", "bob"]).tolist() == keys_of(["bob", "ann"])[::-1].tolist()
    True
    """
    array = np.asarray(names if isinstance(names, np.ndarray) else list(names))
    if array.dtype.kind in "biu":
        return mixed_bits(array)
    words = [str(one) for one in array.tolist()]
    spelt = [at for at, word in enumerate(words) if word[:1] in "-0123456789" and _is_number(word)]
    digests = b"".join(hashlib.blake2b(word.encode(), digest_size=8).digest() for word in words)
    keys = np.frombuffer(digests, "<u8").astype(np.uint64)
    keys[spelt] = mixed_bits(np.array([int(words[at]) for at in spelt], np.int64))
    return keys


def _is_number(word: str) -> bool:
    """Return True if a word is the printed form of a whole number."""
    digits = word.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < _DIGITS and word == str(int(word))


def distinct(numbers: AnyArray) -> AnyArray:
    """Return the distinct whole numbers, ascending.

    Sorting them takes a tenth of the time of `numpy.unique` if most are different.

    Examples
    --------
    >>> distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    values: AnyArray = np.sort(numbers)
    is_first: BoolArray = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return np.asarray(values[is_first])


def mixed_bits(numbers: AnyArray) -> Keys:
    """Return hashes of whole numbers over 64 bits (the finalizer of splitmix64, Steele and others 2014)."""
    with np.errstate(over="ignore"):
        result = numbers.astype(np.uint64) * _STEP + _STEP
        result = (result ^ (result >> np.uint64(30))) * _FIRST
        result = (result ^ (result >> np.uint64(27))) * _SECOND
    return np.asarray(result ^ (result >> np.uint64(31)))


def units_in_words(units: TrialUnits) -> str:
    """Return the message on units: their number and origin.

    Examples
    --------
    >>> units_in_words(TrialUnits.of(["ann", "bob"], noun="speaker", source="found from target trials"))
    '2 speakers, found from target trials'
    >>> units_in_words(TrialUnits.each(2))
    '2 trials taken as independent: if they share speakers or sources, the intervals are too narrow (units=...)'
    """
    words = number_and_source(units.n_units, units.noun, units.source)
    if units.are_independent:
        words += f": if they share speakers or sources, the intervals are too narrow ({option(units=...)})"
    return words


def number_of_units(n_units: int, noun: str, source: str) -> str:
    """Return a text with the number of units, which states if they are independent trials.

    Examples
    --------
    >>> number_of_units(2, "speaker", "found from target trials")
    '2 speakers'
    >>> number_of_units(2, "trial", independent("trial"))
    '2 trials taken as independent'
    """
    words = counted(n_units, noun)
    return f"{words} {INDEPENDENT}" if is_independent(source) else words


def number_and_source(n_units: int, noun: str, source: str) -> str:
    """Return a text with the number and origin of units.

    Examples
    --------
    >>> number_and_source(2, "trial", independent("trial"))
    '2 trials taken as independent'
    """
    words = number_of_units(n_units, noun, source)
    return words if is_independent(source) else f"{words}, {source}"


def common_in_words(noun: str, lines: Sequence[str]) -> str:
    """Return a message on classes whose trials all share a unit; empty if there are none.

    Examples
    --------
    >>> common_in_words("speaker", [])
    ''
    """
    if not lines:
        return ""
    all_of = " and in all ".join(lines)
    return f"one {noun} is in all {all_of}: intervals cannot include the variation between {noun}s there"


@dataclass(slots=True)
class ClassFacts:
    """Facts about the units of all trials of a class.

    Attributes
    ----------
    n_trials : int
    common : frozenset of int
        Keys of units that every trial has, on either side.
    first : tuple of int
        The units of one trial, one for each side.
    are_alike : bool
        Whether all other trials have the same units.
    """

    n_trials: int = 0
    common: frozenset[int] = frozenset()
    first: tuple[int, ...] = ()
    are_alike: bool = True

    @classmethod
    def of(cls, units: TrialUnits, mask: BoolArray) -> Self:
        """Return the facts about some trials. Only units of both the first and the last trial can be common to all.

        Examples
        --------
        >>> units = TrialUnits.of([["ann", "bob"], ["cid", "ann"], ["cid", "bob"]])
        >>> [len(ClassFacts.of(units, np.array(some)).common) for some in ([True, True, False], [True, True, True])]
        [1, 0]
        """
        at = np.flatnonzero(mask)
        if not len(at):
            return cls()
        first, last = ([int(side[at[place]]) for side in units.codes] for place in (0, -1))
        alike = first == last and all(
            bool(np.all(side[at] == one)) for side, one in zip(units.codes, first, strict=True)
        )
        candidates = {*first} & {*last}
        common = {one for one in candidates if np.logical_or.reduce([side[at] == one for side in units.codes]).all()}
        keys = units.keys
        return cls(len(at), frozenset(int(keys[one]) for one in common), tuple(int(keys[one]) for one in first), alike)

    def __add__(self, other: ClassFacts) -> ClassFacts:
        """Add the other set of trials."""
        if not self.n_trials or not other.n_trials:
            return self if self.n_trials else other
        alike = self.are_alike and other.are_alike and self.first == other.first
        return ClassFacts(self.n_trials + other.n_trials, self.common & other.common, self.first, alike)


@dataclass(slots=True)
class UnitFacts:
    """Facts about the units of all trials.

    Attributes
    ----------
    classes : dict of int to ClassFacts
        Facts by true class.
    n_contradictions : int
        Number of non-target trials with the same unit on both sides.
    keys : (n_units,) uint64 array
        Keys of all units, in ascending order.
    units : TrialUnits or None
        All units, without trials; None if there are none.
    """

    classes: dict[int, ClassFacts] = field(default_factory=dict)
    n_contradictions: int = 0
    keys: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    units: TrialUnits | None = None

    @classmethod
    def of(cls, units: TrialUnits, truth: AnyArray, counting: BoolArray | None = None) -> Self:
        """Return the facts about some trials, by default all; `counting` marks trials of positive weight."""
        masks = {int(c): truth == c for c in np.flatnonzero(np.bincount(truth))}
        masks = masks if counting is None else {c: mask & counting for c, mask in masks.items()}
        classes = {c: ClassFacts.of(units, mask) for c, mask in masks.items()}
        same: BoolArray = (units.codes[0] == units.codes[-1]) & masks.get(0, np.zeros(len(truth), np.bool_))
        n = int(np.count_nonzero(same)) if len(units.codes) == 2 else 0
        return cls(classes, n, units.keys, units.take(slice(0)))

    @classmethod
    def of_partition(cls, units: TrialUnits, truth: AnyArray) -> Self:
        """Return the facts about the trials of a partition, which can have few of the units."""
        result = cls.of(units.only_used(), truth)
        keys = np.sort(result.keys)
        return replace(result, keys=keys, units=replace(units.take(slice(0)), keys=keys))

    def trials_of(self, truth: int) -> int:
        """Return the number of trials of a class."""
        return self.classes[truth].n_trials if truth in self.classes else 0

    def __add__(self, other: UnitFacts) -> UnitFacts:
        """Add the other set of trials."""
        both = {
            c: self.classes.get(c, ClassFacts()) + other.classes.get(c, ClassFacts())
            for c in sorted({*self.classes, *other.classes})
        }
        keys = distinct(np.concatenate((self.keys, other.keys)))
        units = self.units or other.units
        units = None if units is None else replace(units, keys=keys)
        return UnitFacts(both, self.n_contradictions + other.n_contradictions, keys, units)

    @property
    def n_trials(self) -> int:
        """Number of trials of positive weight."""
        return sum(one.n_trials for one in self.classes.values())

    @property
    def all_alike(self) -> bool:
        """True if no class has trials with different units."""
        return all(one.are_alike for one in self.classes.values())

    def sharing(self) -> list[int]:
        """Return the classes in which all trials have a common unit; empty if every trial has its own unit."""
        if self.units is None or (len(self.units.codes) == 1 and len(self.keys) >= self.n_trials):
            return []
        return [c for c, one in self.classes.items() if one.n_trials and one.common]


FOUND = "found from target trials"
"""Text for speakers that were found without names."""


@dataclass(frozen=True, eq=False)
class SpeakersByName:
    """Speakers of names.

    Attributes
    ----------
    names : pair of uint64 arrays
        Numbers of the names of each side, ascending.
    codes : pair of int arrays
        The speaker of each name.
    keys : (n_speakers,) uint64 array
        See `TrialUnits`; ascending.
    apart : bool
        True if equal names on the two sides are unrelated.
    linked : uint64 array
        Keys of the speakers with target trials.
    """

    names: tuple[Keys, Keys]
    codes: tuple[IntArray, IntArray]
    keys: Keys
    apart: bool
    linked: Keys

    @classmethod
    def of(cls, names: tuple[Keys, Keys], links: Sequence[IntArray], *, apart: bool, has_channels: bool) -> Self:
        """Connect the names of target trials; ``links`` are the indices of these names on both sides."""
        enroll, test = names
        if apart or has_channels:
            keys = np.concatenate((enroll, test if has_channels else mixed_bits(test)))
            place = np.arange(len(enroll)), np.arange(len(enroll), len(keys))
        else:
            keys = distinct(np.concatenate((enroll, test)))
            place = np.searchsorted(keys, enroll), np.searchsorted(keys, test)
        one, other = (where[at] for where, at in zip(place, links, strict=True))
        part = connected(one, other, len(keys))
        least = np.full(int(part.max(initial=-1)) + 1, np.iinfo(np.uint64).max, np.uint64)
        np.minimum.at(least, part, keys)
        order = np.argsort(least, kind="stable")
        rank: AnyArray = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        linked = least[np.unique(part[one])]
        return cls(names, (rank[part[place[0]]], rank[part[place[1]]]), least[order], apart, linked)

    @property
    def about(self) -> TrialUnits:
        """The speakers, without trials."""
        none = np.zeros(0, np.int64)
        return TrialUnits((none, none), self.keys, "speaker", FOUND)

    def units_of(self, sides: tuple[Keys, Keys]) -> TrialUnits:
        """Return the speakers of trials, given the names of their two sides."""
        codes = [
            codes[np.searchsorted(own, side)] for codes, own, side in zip(self.codes, self.names, sides, strict=True)
        ]
        return TrialUnits((codes[0], codes[1]), self.keys, "speaker", FOUND)


def connected(one: IntArray, other: IntArray, n_nodes: int) -> IntArray:
    """Return the connected component of each node of a graph, given its edges.

    Examples
    --------
    >>> connected(np.array([0, 2]), np.array([1, 1]), 5)
    array([0, 0, 0, 1, 2])
    """
    if len(one) > _MANY_LINKS:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        links = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(n_nodes, n_nodes))
        return np.asarray(connected_components(links, directed=False)[1])
    least = np.arange(n_nodes)  # of the nodes that a node is known to be connected with
    while len(one):
        ends = np.stack((least[one], least[other]))
        is_open = ends[0] != ends[1]
        one, other, ends = one[is_open], other[is_open], ends[:, is_open]
        np.minimum.at(least, ends.max(axis=0), ends.min(axis=0))
        while np.any(least != (nearer := least[least])):
            least = nearer
    return np.asarray(np.cumsum(least == np.arange(n_nodes))[least] - 1)
