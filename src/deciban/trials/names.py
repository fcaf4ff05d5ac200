"""Names encoded as integers, with dictionaries or, for long columns of different names, with fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deciban._arrow import borders, of_numpy, of_words, pc, to_numpy, with_gaps
from deciban.errors import InputError
from deciban.types import AnyArray, IntArray

NamesLike: TypeAlias = Sequence[str] | pa.Array | Any

Ids: TypeAlias = Mapping[str, NamesLike]
"""Identifiers of trials: a column of names for each side, in the order of the trials."""

_LARGEST_TEXT = 2**31
"""Bytes of text and offsets that do not fit an array of text, whose offsets have 32 bits."""

_FEW = 1 << 10
"""Largest number of names that a Python dictionary encodes, without the import of Arrow's functions."""


def as_names(values: NamesLike, argument: str = "ids") -> pa.Array:
    """Convert names, one per entry, to one Arrow array of text; dictionary-encoded input stays dictionary-encoded.

    Raises
    ------
    InputError
        If a name is missing or not text.
    """
    if isinstance(values, str | bytes):
        raise InputError(f"{argument}: expected a list of names, got one name: {values!r}. Put it into a list.")
    try:
        names = values if isinstance(values, pa.Array | pa.ChunkedArray) else _column(values)
        names = _in_one_batch(names)
        if pa.types.is_dictionary(names.type):
            names = _of_strings(names)
        if not pa.types.is_dictionary(names.type):
            if len(names) and not is_text(names.type):
                raise InputError(f"{argument}: names of trials must be text, but got {names.type}.")
            names = names if names.type == pa.string() else names.cast(pa.string())
    except (pa.ArrowException, UnicodeError, TypeError) as error:
        raise InputError(f"{argument}: names of trials must be text, but {error}.") from error
    if names.null_count:
        raise InputError(f"{argument}: {names.null_count} of {len(names)} names are missing. Every trial needs a name.")
    return names


def _column(values: NamesLike) -> pa.Array:
    if isinstance(values, list | tuple) and len(values) <= _FEW and set(map(type, values)) == {str}:
        return of_words(values)
    return pa.array(values)


def plain_names(values: NamesLike, argument: str = "ids") -> pa.Array:
    """Convert names to an Arrow array of text with one entry each.

    Raises
    ------
    InputError
        If a name is missing or not text.
    """
    names = as_names(values, argument)
    return names.dictionary_decode() if pa.types.is_dictionary(names.type) else names


def _of_strings(column: pa.DictionaryArray) -> pa.Array:
    """Convert a dictionary with any type of text to a dictionary of strings; if decoded, it could be too long."""
    words = column.dictionary
    if words.type != pa.string():
        if not is_text(words.type):
            return column.dictionary_decode()
        column = pa.DictionaryArray.from_arrays(column.indices, words.cast(pa.string()))
    return column.dictionary_decode() if words.null_count else column


def _in_one_batch(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Concatenate the arrays of a column; text that is too long for one array is dictionary-encoded first."""
    if column.nbytes >= _LARGEST_TEXT and is_text(column.type):
        column = column.cast(pa.large_string()) if column.type == pa.string_view() else column
        column = column.dictionary_encode()
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)  # without a copy
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def is_text(kind: pa.DataType) -> bool:
    """Return True for a type of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view())


def encode(values: NamesLike, argument: str = "ids") -> tuple[IntArray, pa.Array]:
    """Encode names, one per entry, as indices in a list of distinct names.

    Returns
    -------
    ((n,) int32 array, pyarrow string array)
        Distinct names in the order of their first occurrence; names of a dictionary keep their order.

    Raises
    ------
    InputError
        If a name is missing or not text.

    Examples
    --------
    >>> codes, names = encode(["ann", "bob", "ann"])
    >>> codes, names.to_pylist()
    (array([0, 1, 0], dtype=int32), ['ann', 'bob'])
    """
    column = as_names(values, argument)
    if not pa.types.is_dictionary(column.type):
        return _encode_plain(column)
    codes: AnyArray = to_numpy(column.indices).astype(np.int32, copy=False)
    names = column.dictionary
    merged, distinct = _encode_plain(names)
    return (codes, names) if len(distinct) == len(names) else (merged[codes], distinct)


def _encode_plain(names: pa.Array) -> tuple[IntArray, pa.Array]:
    if len(names) <= _FEW:
        place: dict[str, int] = {}
        codes: AnyArray = np.fromiter(
            (place.setdefault(name, len(place)) for name in names.to_pylist()), np.int32, len(names)
        )
        return codes, names if len(place) == len(names) else of_words(place)
    encoded = encode_distinct(names)
    if encoded is not None:
        return encoded
    column = names.dictionary_encode()
    return to_numpy(column.indices), column.dictionary


def positions(names: pa.Array, among: pa.Array) -> IntArray:
    """Return the index of each name in a list of distinct names, -1 if it is not in the list."""
    if names is among or names.equals(among):
        same: AnyArray = np.arange(len(names), dtype=np.int32)
        return same
    if max(len(names), len(among)) <= _FEW:
        place = {name: at for at, name in enumerate(among.to_pylist())}
        return np.fromiter((place.get(name, -1) for name in names.to_pylist()), np.int64, len(names))
    indices = find_names(names, among)
    if indices is not None:
        return indices
    return with_gaps(pc.index_in(names, value_set=among), -1).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class IdMap:
    """Pairs of names: a trial called ``left`` in one file is called ``right`` in another.

    Attributes
    ----------
    left : pyarrow string array
        Distinct.
    right : pyarrow string array
        As long as ``left``; names may repeat.
    """

    left: pa.Array
    right: pa.Array

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> IdMap:
        """Return an id map from a mapping.

        Examples
        --------
        >>> len(IdMap.of({"m1": "ann", "m2": "bob"}))
        2
        """
        return cls.from_columns(list(pairs), list(pairs.values()))

    @classmethod
    def from_columns(
        cls, left: NamesLike, right: NamesLike, *, source: str = "id map", where: Callable[[int], str] | None = None
    ) -> IdMap:
        """Return an id map from two columns; ``where`` returns the place of a row, for messages.

        Raises
        ------
        InputError
            If the columns differ in length, or a name on the left has two names on the right.
        """
        (before, names), after = encode(plain_names(left, "left")), plain_names(right, "right")
        if len(before) != len(after):
            raise InputError(f"{source}: {len(before)} names on the left, {len(after)} on the right.")
        first = np.full(len(names), -1, np.int64)
        first[before[::-1]] = np.arange(len(before))[::-1]
        differs = ~to_numpy(pc.equal(after, after.take(of_numpy(first[before]))))
        if differs.any():
            row = int(np.argmax(differs))
            name, one, other = names[int(before[row])], after[int(first[before[row]])], after[row]
            place = source if where is None else where(row)
            raise InputError(f"{place}: {name.as_py()!r} is mapped to {one.as_py()!r} and to {other.as_py()!r}.")
        return cls(names, after.take(of_numpy(first)))

    def __len__(self) -> int:
        return len(self.left)


Words = NDArray[np.uint64]

WORTHWHILE = 1 << 17
"""Number of names above which hash tables no longer fit in the caches."""

_LONGEST = 512
"""Longest name in bytes for fingerprints, which take one pass for every eight bytes."""

_BATCH = 1 << 16
_SAMPLE = 1 << 10
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


def encode_distinct(names: pa.Array) -> tuple[IntArray, pa.Array] | None:
    """Encode names as indices in the list of distinct names, if all are distinct.

    Returns
    -------
    ((n,) int array, pyarrow string array) or None
        None if a hash table is faster: for few names, repeated names, or very long names.
    """
    if len(names) < WORTHWHILE or not _mostly_distinct(names) or _longest(names) > _LONGEST:
        return None
    prints = np.sort(fingerprints(names))
    return None if np.any(prints[1:] == prints[:-1]) else (np.arange(len(names), dtype=np.int32), names)


def find_names(names: pa.Array, among: pa.Array) -> IntArray | None:
    """Return the index of each name in a long list of distinct names, -1 if it is not in the list.

    The result is None if a hash table is faster, or if two names of the list have the same fingerprint.
    """
    if len(among) < WORTHWHILE or max(_longest(names), _longest(among)) > _LONGEST:
        return None
    theirs, mine = fingerprints(among), fingerprints(names)
    order, own = np.argsort(theirs), np.argsort(mine)  # sorted names are found in the caches
    theirs = theirs[order]
    if np.any(theirs[1:] == theirs[:-1]):
        return None
    indices: AnyArray = np.empty(len(names), np.int32)
    indices[own] = order[np.minimum(np.searchsorted(theirs, mine[own]), len(theirs) - 1)]

    def forget_others(start: int) -> None:
        part = indices[start : start + _BATCH]
        same = pc.equal(names.slice(start, len(part)), among.take(of_numpy(part)))
        part[~to_numpy(same)] = -1

    _in_batches(forget_others, len(indices))
    return indices


def _mostly_distinct(names: pa.Array) -> bool:
    """Check short runs all over the list, because repetitions may be adjacent or scattered."""
    run = 16
    starts = np.linspace(0, len(names) - run, _SAMPLE, dtype=np.int64)
    sample = names.take(of_numpy((starts[:, None] + np.arange(run)).ravel()))
    return bool(len(sample) - len(pc.unique(sample)) <= len(sample) // 256)


def _longest(names: pa.Array) -> int:
    """Return the length of the longest name in bytes."""
    return int(pc.max(pc.binary_length(names)).as_py() or 0)


def fingerprints(names: pa.Array) -> Words:
    """Return hashes of names, in their order; they are the same on every machine.

    Examples
    --------
    >>> ann, bob, other = fingerprints(pa.array(["ann", "bob", "ann"]))
    >>> bool(ann == other), bool(ann == bob)
    (True, False)
    """
    ends, letters = borders(names), names.buffers()[2]
    data: AnyArray = np.frombuffer(letters, np.uint8) if letters is not None else np.empty(0, np.uint8)
    prints = np.empty(len(names), np.uint64)

    def fill(start: int) -> None:
        batch = ends[start : start + _BATCH + 1]
        prints[start : start + _BATCH] = _prints(data[batch[0] : batch[-1]], batch[:-1] - batch[0], np.diff(batch))

    _in_batches(fill, len(names))
    return prints


def _prints(data: AnyArray, starts: IntArray, lengths: IntArray) -> Words:
    """Return fingerprints of names, computed eight bytes at a time."""
    padded = np.zeros(len(data) + 8, np.uint8)
    padded[: len(data)] = data
    words: Words = np.ndarray((len(data) + 1,), "<u8", padded, strides=(1,))  # eight bytes from each byte on
    prints = lengths.astype(np.uint64)
    _mix(prints)
    shortest, longest = int(lengths.min()), int(lengths.max())
    live: IntArray | slice = slice(None)
    for done in range(0, longest, 8):
        if done >= shortest:
            live = np.flatnonzero(lengths > done)
        word = words[starts[live] + done]
        if done + 8 > shortest:
            word &= _FIRST_BYTES[np.minimum(lengths[live] - done, 8)]
        word ^= prints[live]
        _mix(word)
        prints[live] = word
    _mix(prints)
    return prints


def _in_batches(job: Callable[[int], None], n: int) -> None:
    """Call a function for the start of each batch, in two threads; array operations release the interpreter lock."""
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(job, range(0, n, _BATCH)):
            pass


def _mix(numbers: Words) -> None:
    """Mix the bits of each number, in place."""
    numbers *= _FACTOR
    numbers ^= numbers >> _HALF
