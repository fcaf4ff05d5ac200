"""Cells of HDF5 datasets that are stored in chunks, unpacked without the HDF5 library.

The library crashes on a chunk that is shorter than its checksum, and unpacks a chunk to whatever it unpacks to
(docs/design/0007-untrusted-files.md). So it only says where the chunks are; what they hold is unpacked here, to as many
bytes as a chunk has and no more. Filters: the reference of ``H5Pset_deflate``, ``H5Pset_shuffle``,
``H5Pset_fletcher32``.

Nor does the library read strings of variable length. Such a string is stored as a reference: its length, and where it
lies in a heap that all of them share. Given a damaged heap, the library loops for ever; and any number of references
may name one long string, which it copies as often. So the references are read as the bytes they are, their lengths are
added up before anything is copied, and the heap is walked here. Layout: "HDF5 File Format Specification", version 3.0,
level 1E (global heap).
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deciban.errors import FormatError
from deciban.io.matrices.hdf5 import DEFLATE, FLETCHER32, Hdf5
from deciban.types import AnyArray

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
