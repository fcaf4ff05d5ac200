"""Conversion between Arrow columns, numpy arrays and strings, without the slow imports of pyarrow.

pyarrow's own conversions, and Python constants as arguments of its functions, import pandas if it is installed. This
import takes longer than the evaluation of most files. The functions here share memory and need no import.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from deciban.types import AnyArray, BoolArray, Foreign


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
        partitions = [to_numpy(chunk) for chunk in column.chunks]
        if len(partitions) != 1:
            empty = pa.array([], column.type).to_numpy(zero_copy_only=False) if not partitions else None
            partitions = [np.concatenate(partitions) if empty is None else empty]
        values = partitions[0]
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
    if data is None:
        return np.empty(0, np.uint8)
    return np.frombuffer(data, np.uint8)[cuts[0] : cuts[-1]]


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
