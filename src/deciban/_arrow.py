"""Arrow columns: conversion to and from numpy arrays and strings, and names encoded as integers.

pyarrow's own conversions, and Python constants as arguments of its functions, import pandas if it is installed. This
import takes longer than the evaluation of most files. The functions here share memory and need no import.

Names are encoded with dictionaries or, for long columns of different names, with fingerprints.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, Foreign, IntArray


class _Late:
    """A module that is imported when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Foreign:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


pc: Foreign = _Late("pyarrow.compute")
"""pyarrow.compute. Its import takes a tenth of the time of a small evaluation, which does not need it."""


_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""NumPy names of Arrow types whose names differ."""


def to_numpy(column: pa.Array | pa.ChunkedArray) -> AnyArray:
    """Return the values of a column as a read-only array, without a copy if the numbers are contiguous.

    Parameters
    ----------
    column : pyarrow array
        Missing values become NaN, as in pyarrow's own conversion.

    Returns
    -------
    (n,) array

    Examples
    --------
    >>> to_numpy(of_numpy(np.array([0.5, -1.0])))
    array([ 0.5, -1. ])
    """
    if isinstance(column, pa.ChunkedArray):
        chunks = [to_numpy(chunk) for chunk in column.chunks or [pa.array([], column.type)]]
        values = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
    elif column.null_count or not _is_plain(column.type):
        values = np.asarray(column.to_numpy(zero_copy_only=False))
    elif pa.types.is_boolean(column.type):
        values = _bits(column)
    else:
        kind = np.dtype(
            _FLOATS.get(str(column.type), str(column.type))
        )  # column.type.to_pandas_dtype() needs pandas in old versions of pyarrow
        buffer = column.buffers()[1]
        start = column.offset * kind.itemsize
        values = np.frombuffer(buffer, kind, len(column), start) if len(column) else np.empty(0, kind)
    values.flags.writeable = False
    return values


def lengths(words: pa.Array) -> AnyArray:
    """Return the number of bytes of each string of a column.

    Examples
    --------
    >>> lengths(of_words(["ann", "", "zo\u00eb"]))
    array([3, 0, 4], dtype=int32)
    """
    return np.diff(borders(words))


def borders(words: pa.Array) -> AnyArray:
    """Return the byte offsets of the strings of a column, and the end of the last one.

    Examples
    --------
    >>> borders(of_words(["ann", "", "bob"]))
    array([0, 3, 3, 6], dtype=int32)
    """
    kind = np.dtype(np.int64 if pa.types.is_large_string(words.type) else np.int32)
    if not len(words):
        return np.zeros(1, kind)
    return np.frombuffer(words.buffers()[1], kind, len(words) + 1, words.offset * kind.itemsize)


def with_gaps(column: pa.Array, fill: float) -> AnyArray:
    """Return the values of a numeric or boolean column, with ``fill`` for missing values.

    Examples
    --------
    >>> with_gaps(of_numpy(np.array([7, 8]), lacking=np.array([True, False])), -1)
    array([-1,  8])
    """
    if not column.null_count:
        return to_numpy(column)
    there = pa.Array.from_buffers(column.type, len(column), [None, column.buffers()[1]], 0, column.offset)
    return np.where(to_numpy(column.is_null()), np.asarray(fill, to_numpy(there).dtype), to_numpy(there))


def of_numpy(values: AnyArray, lacking: BoolArray | None = None) -> pa.Array:
    """Return a column of numbers or truth values; numbers share the memory of the array.

    Parameters
    ----------
    values : (n,) array
    lacking : (n,) bool array, optional
        True for missing values.

    Examples
    --------
    >>> of_numpy(np.array([3, 4, 5]), lacking=np.array([False, True, False])).to_pylist()
    [3, None, 5]
    """
    if values.dtype.kind not in "biuf":
        return pa.array(values, mask=lacking)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    data = np.packbits(values, bitorder="little") if values.dtype.kind == "b" else np.ascontiguousarray(values)
    there = None if lacking is None else pa.py_buffer(np.packbits(~lacking, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [there, pa.py_buffer(data)])


def of_words(words: Iterable[str]) -> pa.Array:
    """Return a column of strings.

    Examples
    --------
    >>> of_words(["ann", "", "bob"]).to_pylist()
    ['ann', '', 'bob']
    """
    return of_bytes([word.encode() for word in words], pa.string())


def of_bytes(values: Sequence[bytes], kind: pa.DataType | None = None) -> pa.Array:
    """Return a column of bytes, or of type ``kind`` if they are known to be text.

    Examples
    --------
    >>> of_bytes([b"ann", b""]).to_pylist()
    [b'ann', b'']
    """
    kind = kind or pa.binary()
    ends = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(value) for value in values], out=ends[1:])
    if ends[-1] >= 1 << 31:
        return pa.array(values, pa.binary()).cast(kind)
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def constant(value: str | bytes | float) -> pa.Scalar:  # bool is a float to type checkers
    """Return a constant as an argument for functions of pyarrow.

    Examples
    --------
    >>> import pyarrow.compute as pc
    >>> pc.equal(of_words(["ann", "bob"]), constant("bob")).to_pylist()
    [False, True]
    """
    if isinstance(value, str | bytes):
        return (of_words([value]) if isinstance(value, str) else of_bytes([value]))[0]
    return of_numpy(np.array([value]))[0]


def joined(lines: pa.Array, separator: str | bytes) -> pa.Buffer:
    """Join all strings of a column, with a separator between them.

    Examples
    --------
    >>> joined(of_words(["ann", "bob"]), ", ").to_pybytes()
    b'ann, bob'
    """
    whole = pa.ListArray.from_arrays(of_numpy(np.array([0, len(lines)], np.int32)), lines)
    return pc.binary_join(whole, constant(separator))[0].as_buffer()


def text_of(words: pa.Array) -> AnyArray:
    """Return the bytes of all strings of a column, concatenated.

    Returns
    -------
    (n_bytes,) uint8 array

    Examples
    --------
    >>> bytes(text_of(of_words(["ann", "", "bob"])[1:]))
    b'bob'
    """
    data, cuts = words.buffers()[2], borders(words)
    return np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)[cuts[0] : cuts[-1]]


def _is_plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _bits(column: pa.Array) -> AnyArray:
    """Return truth values, which Arrow packs as eight bits per byte."""
    if not len(column):
        return np.empty(0, np.bool_)
    first = column.offset // 8
    packed = np.frombuffer(column.buffers()[1], np.uint8)[first : (column.offset + len(column) + 7) // 8]
    skipped = column.offset - 8 * first
    return np.unpackbits(packed, bitorder="little")[skipped : skipped + len(column)].view(np.bool_)


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
    return indices if indices is not None else with_gaps(pc.index_in(names, value_set=among), -1).astype(np.int64)


def condition_column(name: str, values: NamesLike) -> pa.Array:
    """Return the values of a condition, one per trial, as an Arrow array; all types of text become strings.

    Raises
    ------
    InputError
        If the values are too long for one array, or not scalars.
    """
    try:
        if not isinstance(values, pa.Array | pa.ChunkedArray):
            # Arrow would share the memory of arrays of the caller.
            values = pa.array(copy.deepcopy(values) if hasattr(values, "__array__") else values)
        column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if isinstance(column, pa.Array) and pa.types.is_dictionary(column.type):
            is_words = is_text(column.type.value_type)
            column = (column.dictionary.cast(pa.string()) if is_words else column.dictionary).take(column.indices)
        column = column.cast(pa.string()) if pa.types.is_null(column.type) or is_text(column.type) else column
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{name}: cannot store these values ({error}).") from error
    if isinstance(column, pa.ChunkedArray):
        raise InputError(f"{name}: more than 2 GiB of values do not fit one column. Leave it out.")
    if pa.types.is_nested(column.type):
        raise InputError(f"{name}: contains {column.type} values. A condition must have one value per trial.")
    return column


def as_text(column: pa.Array) -> pa.Array:
    """Return the values of a condition as text."""
    return column if column.type == pa.string() else pc.cast(column, pa.string())


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
