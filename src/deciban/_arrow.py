"""Arrow columns from and to numpy arrays and words, without what pyarrow imports for that.

pyarrow's own conversions, and every constant among the arguments of its functions, import pandas if it is installed:
that takes longer than the evaluation of most files. What is shared here is memory, which needs nobody's help.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from deciban.types import AnyArray, BoolArray


class _Late:
    """A module that is imported when something of it is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)
        return value


compute: Any = _Late("pyarrow.compute")
"""pyarrow.compute, whose import takes a tenth of the time of a small evaluation, which does without."""


_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Names of types that NumPy calls otherwise."""


def to_numpy(column: pa.Array | pa.ChunkedArray) -> AnyArray:
    """Values of a column as an array that cannot be written to; numbers in one piece stay in the memory of the column.

    Parameters
    ----------
    column : pyarrow array
        What it lacks is NaN, as in pyarrow's own conversion.

    Returns
    -------
    (n,) array

    Examples
    --------
    >>> to_numpy(of_numpy(np.array([0.5, -1.0])))
    array([ 0.5, -1. ])
    """
    if isinstance(column, pa.ChunkedArray):
        pieces = [to_numpy(chunk) for chunk in column.chunks]
        if len(pieces) != 1:
            empty = pa.array([], column.type).to_numpy(zero_copy_only=False) if not pieces else None
            pieces = [np.concatenate(pieces) if empty is None else empty]
        values = pieces[0]
    elif column.null_count or not _is_plain(column.type):
        values = np.asarray(column.to_numpy(zero_copy_only=False))
    elif pa.types.is_boolean(column.type):
        values = _bits(column)
    else:
        kind = np.dtype(
            _FLOATS.get(str(column.type), str(column.type))
        )  # pyarrow's own answer needs pandas in old ones
        buffer = column.buffers()[1]
        start = column.offset * kind.itemsize
        values = np.frombuffer(buffer, kind, len(column), start) if len(column) else np.empty(0, kind)
    values.flags.writeable = False
    return values


def lengths(words: pa.Array) -> AnyArray:
    """Bytes of each text of a column.

    Examples
    --------
    >>> lengths(of_words(["ann", "", "zo\u00eb"]))
    array([3, 0, 4], dtype=int32)
    """
    return np.diff(borders(words))


def borders(words: pa.Array) -> AnyArray:
    """Where the texts of a column begin in its memory, and where the last one ends.

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
    """Values of a column of numbers or truth values, with another one in place of those that it lacks.

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
    """Make a column of an array of numbers or truth values; numbers stay in the memory of the array.

    Parameters
    ----------
    values : (n,) array
    lacking : (n,) bool array, optional
        Which values the column lacks.

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
    """Make a column of text.

    Examples
    --------
    >>> of_words(["ann", "", "bob"]).to_pylist()
    ['ann', '', 'bob']
    """
    return of_bytes([word.encode() for word in words], pa.string())


def of_bytes(values: Sequence[bytes], kind: pa.DataType | None = None) -> pa.Array:
    """Make a column of bytes, or (``kind``) of the text that they are known to be.

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
    """Make an argument of a function of pyarrow.

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
    """Put all texts of a column into one, with a separator between them.

    Examples
    --------
    >>> joined(of_words(["ann", "bob"]), ", ").to_pybytes()
    b'ann, bob'
    """
    whole = pa.ListArray.from_arrays(of_numpy(np.array([0, len(lines)], np.int32)), lines)
    return compute.binary_join(whole, constant(separator))[0].as_buffer()


def text_of(words: pa.Array) -> AnyArray:
    """All texts of a column, one behind the other as they lie in its memory.

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
    """Truth values, of which Arrow packs eight into a byte."""
    if not len(column):
        return np.empty(0, np.bool_)
    first = column.offset // 8
    packed = np.frombuffer(column.buffers()[1], np.uint8)[first : (column.offset + len(column) + 7) // 8]
    skipped = column.offset - 8 * first
    return np.unpackbits(packed, bitorder="little")[skipped : skipped + len(column)].view(np.bool_)
