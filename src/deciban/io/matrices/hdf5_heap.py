"""Strings of variable length in HDF5 files, read without the HDF5 library.

A string of variable length is stored as a reference: its length, and where it lies in a heap that all of them share.
Given a damaged heap, the library loops for ever (docs/design/0007-untrusted-files.md); and any number of references
may name one long string, which it copies as often. So the references are read as the bytes they are, their lengths
are added up before anything is copied, and the heap is walked here. Layout: "HDF5 File Format Specification", version
3.0, level 1E (global heap).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from deciban.errors import FormatError
from deciban.io.matrices.hdf5 import Hdf5
from deciban.io.matrices.hdf5_chunks import cells
from deciban.types import AnyArray

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
