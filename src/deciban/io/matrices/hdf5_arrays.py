"""Names and matrices from HDF5 files, and scores or masks at their root: read once, and without a copy."""

from __future__ import annotations

import math
import struct
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.contents import Contents
from deciban.io.matrices.hdf5 import DEFLATE, FLETCHER32, Hdf5
from deciban.io.matrices.named_matrix import Grid, Matrix, Names, holds_nan
from deciban.types import AnyArray, BoolArray

Read = TypeVar("Read")

_BLOCK = 1 << 20
"""Bytes read at a time: few enough to be looked through for NaN while the processor still has them at hand."""

_LARGE = 1 << 24
"""Bytes from which on two threads read faster than one: most of the time goes into new pages of memory."""


def read_names(file: Hdf5, path: str) -> Names:
    """Names from a dataset of strings of fixed or variable length, ASCII or UTF-8.

    Raises
    ------
    FormatError
        If it holds anything else.
    """
    import h5py

    dataset = file.dataset(path)
    where = f"{file.name}, {path}"
    text = h5py.check_string_dtype(dataset.dtype)
    if text is None:
        raise FormatError(f"{where}: expected names (strings), but it holds {_type_in_words(dataset.dtype)}.")
    if dataset.ndim > 2 or dataset.size != max(dataset.shape, default=1):
        raise FormatError(f"{where}: expected a list of names, got an array of shape {dataset.shape}.")
    if text.length is None:
        raw = strings(file, dataset, where)
    else:
        raw = np.ravel(cells_of(file, dataset, where)).tolist()
        padding = dataset.id.get_type().get_strpad()
        if padding == h5py.h5t.STR_SPACEPAD:
            raw = [name.rstrip(b" ") for name in raw]
        elif padding == h5py.h5t.STR_NULLTERM:
            raw = [name.partition(b"\0")[0] for name in raw]
    return Names(decoded(raw, where), where)


def decoded(raw: Sequence[bytes], where: str) -> pa.Array:
    """Names from their bytes in UTF-8.

    Raises
    ------
    FormatError
        If one is not UTF-8, or holds a NUL character.
    """
    try:
        names = pa.array(raw, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        names = None
    if names is not None and b"\0" not in b"".join(raw):
        return names
    for row, name in enumerate(raw):
        try:
            rule = "holds a NUL character" if "\0" in name.decode() else None
        except UnicodeDecodeError as error:
            rule = f"is not UTF-8 ({error.reason} at byte {error.start})"
        if rule is not None:
            raise FormatError(f"{where}: name {row} {rule}: {name[:60]!r}. Write the names in UTF-8.")
    raise FormatError(f"{where}: more than 2 GB of names.")


def _type_in_words(dtype: np.dtype[Any]) -> str:
    return "references or objects" if dtype.kind == "O" else f"{dtype} values"


def read_mask(file: Hdf5, path: str) -> Matrix:
    """As `read_matrix`, for a mask, whose cells are not even made if they are ones that were never stored.

    Raises
    ------
    FormatError
        As `read_matrix`.
    """
    dataset = matrix_of_numbers(file, path)
    if dataset.size and dataset.id.get_storage_size() == 0 and dataset.fillvalue == 1:
        return Matrix(None, dataset.shape, f"{file.name}, {path}")
    return read_matrix(file, path)


def optional(read: Callable[..., Read], file: Hdf5, path: str, *more: int) -> Read | None:
    """Read what need not be there.

    Raises
    ------
    FormatError
        As the function that reads.
    """
    return read(file, path, *more) if file.has(path) else None


def read_array(file: Hdf5, path: str) -> AnyArray:
    """Numbers from a dataset of any shape, in the byte order of this machine.

    Raises
    ------
    FormatError
        As `read_matrix`.
    """
    dataset = _numbers(file, path)
    file.check_size(dataset, path)
    return cells_of(file, dataset, f"{file.name}, {path}")


def _numbers(file: Hdf5, path: str) -> Any:
    dataset = file.unsized(path)
    if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8:
        found = _type_in_words(dataset.dtype)
        raise FormatError(f"{file.name}, {path}: expected numbers of up to 64 bits, but it holds {found}.")
    return dataset


def matrix_of_numbers(file: Hdf5, path: str) -> Any:
    """A two-dimensional dataset of numbers, whose size was not checked.

    Raises
    ------
    FormatError
        If it holds anything else.
    """
    dataset = _numbers(file, path)
    if dataset.shape is None or len(dataset.shape) != 2:
        raise FormatError(f"{file.name}, {path}: expected a matrix, got an array of shape {dataset.shape}.")
    return dataset


def read_matrix(file: Hdf5, path: str) -> Matrix:
    """Numbers from a two-dimensional dataset, in the byte order of this machine.

    Raises
    ------
    FormatError
        If it holds no numbers, or promises more of them than were stored.
    """
    dataset = matrix_of_numbers(file, path)
    file.check_size(dataset, path)
    bare = _read_bare(file, dataset)
    if bare is None:
        values = cells_of(file, dataset, f"{file.name}, {path}")
        has_nan = holds_nan(values)
    else:
        values, has_nan = bare
    return Matrix(values, dataset.shape, f"{file.name}, {path}", has_nan=has_nan)


def rows_of(file: Hdf5, path: str, start: int, stop: int) -> AnyArray:
    """Some rows of a matrix whose size was checked; ones that were never stored are made.

    Raises
    ------
    FormatError
        If a chunk is damaged.
    """
    dataset = matrix_of_numbers(file, path)
    return cells_of(file, dataset, f"{file.name}, {path}", (start, stop))


def cells_of(file: Hdf5, dataset: Any, where: str, rows: tuple[int, int] | None = None) -> AnyArray:
    """All cells of a dataset of numbers or strings of fixed length, in the byte order of this machine; or some rows.

    Raises
    ------
    FormatError
        If a chunk is damaged.
    """
    import h5py

    kind = dataset.dtype
    if dataset.chunks is None:
        shape = dataset.shape if rows is None else (rows[1] - rows[0], *dataset.shape[1:])
        values = np.empty(shape, kind.newbyteorder("="))
        if values.size:
            dataset.read_direct(values, None if rows is None else np.s_[rows[0] : rows[1]])
        return values
    if kind.kind != "S" and not h5py.h5t.py_create(kind, logical=True).equal(dataset.id.get_type()):
        raise FormatError(f"{where}: numbers of an unusual type. Rewrite the file with h5repack -l CONTI.")
    if kind == np.bool_:  # other bytes than 0 and 1 are no booleans, and the reader of masks will say so
        return cells(file, dataset, where, np.dtype(np.int8), lambda: int(dataset.fillvalue), rows)
    values = cells(file, dataset, where, kind, lambda: dataset.fillvalue, rows)
    return values.astype(kind.newbyteorder("="), copy=False)


def _read_bare(file: Hdf5, dataset: Any) -> tuple[AnyArray, bool] | None:
    """Read cells that lie in the file as they lie in memory, and tell whether one is NaN. None if they do not.

    This is what `numpy.load` does. HDF5 takes as long, but looking for NaN afterwards would fetch every cell again.
    """
    import h5py

    types = {"float64": h5py.h5t.IEEE_F64LE, "float32": h5py.h5t.IEEE_F32LE}
    called = dataset.dtype.name
    bare = called in types and dataset.id.get_type().equal(types[called])
    offset = dataset.id.get_offset() if bare and dataset.chunks is None else None
    if file.path is None or offset is None or sys.byteorder != "little" or not dataset.size:
        return None
    values = np.empty(dataset.shape, called)
    flat = values.reshape(-1)
    n_parts = 2 if values.nbytes >= _LARGE else 1
    cuts = [len(flat) * i // n_parts for i in range(n_parts + 1)]
    path, width = file.path, values.itemsize

    def part(i: int) -> bool | None:
        return _fill(path, offset + cuts[i] * width, flat[cuts[i] : cuts[i + 1]])

    if n_parts == 1:
        found = [part(0)]
    else:
        with ThreadPoolExecutor(n_parts) as pool:
            found = list(pool.map(part, range(n_parts)))
    if None in found:
        raise FormatError(f"{file.name}, {dataset.name}: cut off. Copy the file again.")
    return values, any(found)


def _fill(path: Path, offset: int, flat: AnyArray) -> bool | None:
    """Fill an array from a place in a file on, and tell whether a number is NaN; None if the file is too short."""
    step = _BLOCK // flat.itemsize
    has_nan = False
    with path.open("rb", buffering=0) as stream:
        stream.seek(offset)
        for start in range(0, len(flat), step):
            block = flat[start : start + step]
            left = block.data.cast("B")
            while len(left):
                n_read = stream.readinto(left)
                if not n_read:
                    return None
                left = left[n_read:]
            has_nan = has_nan or bool(np.isnan(block.max()))
    return has_nan


def read_words(file: Hdf5, path: str) -> list[str]:
    """A list of strings.

    Raises
    ------
    FormatError
        As `read_names`.
    """
    return [*read_names(file, path).values.to_pylist()]


def read_word(file: Hdf5, path: str) -> str:
    """One string.

    Raises
    ------
    FormatError
        If it is anything else.
    """
    words = read_words(file, path)
    if len(words) != 1:
        raise FormatError(f"{file.name}, {path}: expected one string, got {len(words)}.")
    return words[0]


def read_flags(file: Hdf5, path: str, n_flags: int) -> BoolArray:
    """A list of 0 and 1.

    Raises
    ------
    FormatError
        If there are not as many, or other values.
    """
    dataset = file.dataset(path)
    if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8 or dataset.size != n_flags:
        raise FormatError(
            f"{file.name}, {path}: expected {n_flags:,} numbers 0 or 1, got {_type_in_words(dataset.dtype)} of shape "
            f"{dataset.shape}."
        )
    values = np.ravel(cells_of(file, dataset, f"{file.name}, {path}"))
    if not np.isin(values, (0, 1)).all():
        raise FormatError(f"{file.name}, {path}: expected 0 or 1, got {values[~np.isin(values, (0, 1))][0]}.")
    return np.asarray(values == 1)


def scores_or_mask(file: Hdf5, grid: Grid) -> Contents:
    """``/scores`` with an optional ``/score_mask``, or ``/trial_mask``.

    Raises
    ------
    FormatError
        If the file holds both, or neither.
    """
    if file.has("/scores") and file.has("/trial_mask"):
        raise FormatError(f"{file.name}: holds scores and a trial_mask at once; expected one of them.")
    if file.has("/scores"):
        return grid.scores(read_matrix(file, "/scores"), optional(read_mask, file, "/score_mask"))
    return grid.trial_mask(read_mask(file, "/trial_mask"), is_key=None)


_WORDS = 1 << 16
"""Words of a checksum that are added up at a time, so that no sum overflows."""


def cells(
    file: Hdf5,
    dataset: Any,
    where: str,
    kind: np.dtype[Any],
    fill: Callable[[], object] | None = None,
    rows: tuple[int, int] | None = None,
) -> AnyArray:
    """All cells of a dataset whose storage and size were checked, with their bytes as they are in the file.

    Parameters
    ----------
    file : Hdf5
    dataset : h5py.Dataset
    where : str
        What messages call it.
    kind : dtype
        What the bytes of a cell are.
    fill : function, optional
        Gives the value of cells that were never written; 0 when left out.
    rows : pair of int, optional
        The first row that is read, and the one behind the last; all, if left out.

    Raises
    ------
    FormatError
        If a chunk is damaged.
    """
    plan = dataset.id.get_create_plist()
    filters = [plan.get_filter(i)[0] for i in range(plan.get_nfilters())]
    chunks: list[Any] = []
    dataset.id.chunk_iter(chunks.append)
    n_due = math.prod(-(-length // chunk) for length, chunk in zip(dataset.shape, dataset.chunks, strict=True))
    start_row, stop_row = rows or (0, dataset.shape[0])
    shape = (stop_row - start_row, *dataset.shape[1:])
    found = np.empty(shape, kind) if len(chunks) >= n_due else np.full(shape, 0 if fill is None else fill(), kind)
    n_bytes = math.prod(dataset.chunks) * kind.itemsize
    for offset, skipped, start, size in chunks:
        first, last = max(offset[0], start_row), min(offset[0] + dataset.chunks[0], stop_row)
        if first >= last:
            continue
        data: bytes | None = file.bytes_at(start, size) if start + size <= file.size else None
        for at in reversed(range(len(filters))):
            if not skipped >> at & 1:
                data = _undone(filters[at], data, n_bytes, kind.itemsize)
        if data is None or len(data) != n_bytes:
            raise FormatError(f"{where}: the chunk at {offset} is damaged. Copy the file again.")
        rest = tuple(slice(at, at + length) for at, length in zip(offset[1:], dataset.chunks[1:], strict=True))
        target = found[(slice(first - start_row, last - start_row), *rest)]
        source = np.frombuffer(data, kind).reshape(dataset.chunks)[first - offset[0] : last - offset[0]]
        target[...] = source[tuple(map(slice, target.shape))]
    return found


def _undone(number: int, data: bytes | None, n_bytes: int, width: int) -> bytes | None:
    """What a filter made something of, which has at most ``n_bytes`` and a checksum; None if it cannot be."""
    if data is None:
        return None
    if number == FLETCHER32:
        return data[:-4] if len(data) > 4 and _sums(data[:-4]) == _stored_sums(data[-4:]) else None
    if number == DEFLATE:
        return zlib.decompressobj().decompress(data, n_bytes + 5)
    if len(data) % width:  # shuffled are whole cells, and the rest stays where it is
        return None
    return np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()


def _stored_sums(data: bytes) -> tuple[int, int]:
    value = int.from_bytes(data, "little")
    return (value & 0xFFFF) % 0xFFFF, (value >> 16) % 0xFFFF


def _sums(data: bytes) -> tuple[int, int]:
    """Fletcher's checksum: sum of all words, and sum of all such sums on the way, modulo 65535."""
    words = np.frombuffer(data + bytes(len(data) % 2), ">u2").astype(np.uint64)
    first = second = 0
    for start in range(0, len(words), _WORDS):
        part = words[start : start + _WORDS]
        weights = np.arange(len(part), 0, -1, dtype=np.uint64)
        second = (second + len(part) * first + int((weights * part).sum())) % 0xFFFF
        first = (first + int(part.sum())) % 0xFFFF
    return first, second


_REFERENCE = np.dtype([("length", "<u4"), ("address", "<u8"), ("index", "<u4")])
_HEAP = struct.Struct("<4sB3xQ")
_OBJECT = struct.Struct("<H6xQ")


def strings(file: Hdf5, dataset: Any, where: str) -> list[bytes]:
    """The strings of a dataset whose size was checked.

    Raises
    ------
    FormatError
        If the heap is damaged, or the strings are longer than the file.
    """
    chunked = dataset.chunks is not None
    references = np.ravel(cells(file, dataset, where, _REFERENCE)) if chunked else _contiguous(file, dataset, where)
    if int(references["length"].sum(dtype=np.uint64)) > file.size:
        raise FormatError(f"{where}: the names are longer than the whole file. Damaged, or made to fill the memory.")
    heaps: dict[int, tuple[bytes, Mapping[int, tuple[int, int]]]] = {}
    left, found = file.size, []
    for length, address, index in references.tolist():
        if not length:
            found.append(b"")
            continue
        if address not in heaps:
            heaps[address] = _heap(file, address, left, where)
            left -= len(heaps[address][0])
        data, objects = heaps[address]
        start, stored = objects.get(index, (0, 0))
        if stored < length:
            raise FormatError(f"{where}: name {len(found)} is not where it should be. Damaged: copy the file again.")
        found.append(data[start : start + length].rstrip(b"\0"))
    return found


def _contiguous(file: Hdf5, dataset: Any, where: str) -> AnyArray:
    """References that lie in the file one after the other."""
    offset, n_bytes = dataset.id.get_offset(), dataset.size * _REFERENCE.itemsize
    if offset is None and dataset.id.get_storage_size() == 0:
        return np.zeros(dataset.size, _REFERENCE)
    if offset is None or dataset.id.get_storage_size() != n_bytes:
        raise FormatError(f"{where}: names of variable length in an unusual storage. Rewrite the file with h5repack.")
    return np.frombuffer(file.bytes_at(offset, n_bytes), _REFERENCE)


def _heap(file: Hdf5, address: int, left: int, where: str) -> tuple[bytes, Mapping[int, tuple[int, int]]]:
    """The bytes of one collection of a heap, and where in them its objects begin and how long they are."""
    offset = file.file.userblock_size + address
    head = file.bytes_at(offset, _HEAP.size) if offset < file.size else b""
    mark, version, size = _HEAP.unpack(head) if len(head) == _HEAP.size else (b"", 0, 0)
    if mark != b"GCOL" or version != 1 or size > left:
        raise FormatError(f"{where}: there are no names at byte {offset}. Damaged: copy the file again.")
    data = file.bytes_at(offset, size)
    objects: dict[int, tuple[int, int]] = {}
    place = _HEAP.size
    while place + _OBJECT.size <= len(data):
        index, length = _OBJECT.unpack_from(data, place)
        if not index:  # the rest is free
            break
        place += _OBJECT.size
        if place + length > len(data):
            raise FormatError(f"{where}: the names at byte {offset} are cut off. Damaged: copy the file again.")
        objects[index] = place, length
        place += -(-length // 8) * 8
    return data, objects
