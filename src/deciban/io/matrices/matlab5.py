"""One struct out of a MATLAB file of version 5, read so that no header can make an array larger than the bytes it has.

`scipy.io.loadmat` trusts what a file says of itself: it allocates what headers promise, unpacks compressed variables
without end, and crashes on types that it does not know; it fails on text beyond the basic plane of Unicode, and
replaces what is no text (docs/design/0007-untrusted-files.md). So the one variable that is wanted is found and
unpacked here under a limit, and only what a table of trials is made of is read: a struct of full real numbers, text,
and cells of text. Layout: "MAT-File Format", The MathWorks, chapter 1.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from deciban.errors import FormatError
from deciban.io.matrices.hdf5 import Hdf5, created
from deciban.io.matrices.hdf5_arrays import cells, cells_of, read_matrix
from deciban.io.matrices.named_matrix import Matrix
from deciban.io.source import Source
from deciban.types import AnyArray

_HEADER = 128

_MATRIX, _COMPRESSED = 14, 15

_CELL, _STRUCT, _CHAR = 1, 2, 4

_NUMBERS = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}

"""Classes of arrays of numbers."""

_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}

"""How their numbers may be stored; whole numbers are stored as small as they fit."""

_TEXT = {1: "ascii", 2: "ascii", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}

"""How text may be stored."""

_REFUSED = {3: "an object", 5: "a sparse matrix", 16: "a function", 17: "an object"}

_DEEPEST = 4

_PEEKED = 4096

"""Bytes in which the name of a variable comes."""

_MOST_UNPACKED, _RATIO = 1 << 28, 200

"""A variable that unpacks to more than both, in bytes and times its size in the file, is taken for a bomb."""


Bytes: TypeAlias = bytes | memoryview

Value: TypeAlias = "AnyArray | str | list[str]"


class Element(NamedTuple):
    """One data element: its type, where its bytes begin and end, and where the next one begins."""

    kind: int
    start: int
    stop: int
    next: int


@dataclass(frozen=True, slots=True)
class Elements:
    """Bytes of data elements in one byte order."""

    data: Bytes
    order: str
    name: str

    def at(self, place: int, end: int) -> Element:
        """The element that begins at a place.

        Raises
        ------
        FormatError
            If it does not end before ``end``.
        """
        if place + 8 > end:
            raise self.fault(place, "an element is cut off")
        kind, size = struct.unpack_from(self.order + "II", self.data, place)
        if kind >> 16:  # a small element: size and type share four bytes, the data are the next four
            element = Element(kind & 0xFFFF, place + 4, place + 4 + (kind >> 16), place + 8)
            fits = kind >> 16 <= 4
        else:
            padded = size if kind == _COMPRESSED else -(-size // 8) * 8
            element = Element(kind, place + 8, place + 8 + size, min(place + 8 + padded, end))
            fits = element.stop <= end
        if not fits:
            raise self.fault(place, f"an element promises {size:,} bytes, {end - place - 8:,} are left")
        return element

    def children(self, parent: Element) -> Iterator[Element]:
        """The elements inside an element."""
        place = parent.start
        while place < parent.stop:
            child = self.at(place, parent.stop)
            yield child
            place = child.next

    def integers(self, element: Element, letter: str) -> tuple[int, ...]:
        """The bytes of an element as 32-bit integers (``i`` or ``I``)."""
        count = (element.stop - element.start) // 4
        return struct.unpack_from(f"{self.order}{count}{letter}", self.data, element.start)

    def fault(self, place: int, what: str) -> FormatError:
        """An error that names a place."""
        return FormatError(f"{self.name}, byte {place}: {what}. Copy the file again, or save it anew.")


class Header(NamedTuple):
    """Class, number of cells, and rows and columns of an array."""

    kind: int
    n_cells: int
    lengths: tuple[int, ...]


def _header_of(elements: Elements, array: Element) -> tuple[Header, Iterator[Element]]:
    """Class and size of an array, and its elements after those that say so.

    Raises
    ------
    FormatError
        If they make no sense.
    """
    rest = elements.children(array)
    flags, shape, name = next(rest, None), next(rest, None), next(rest, None)
    if flags is None or shape is None or name is None or flags.stop - flags.start != 8:
        raise elements.fault(array.start, "an array without flags, dimensions and name")
    lengths = elements.integers(shape, "i")
    n_cells = math.prod(lengths)
    if len(lengths) < 2 or min(lengths) < 0:
        raise elements.fault(shape.start, f"dimensions {lengths}")
    kind = elements.integers(flags, "I")[0]
    if kind & 0x0800:
        raise elements.fault(array.start, "complex numbers, expected real ones")
    return Header(kind & 0xFF, n_cells, lengths), rest


def _value(elements: Elements, array: Element, depth: int = 0) -> Value:
    """Numbers, a text, or the texts of a cell array.

    Raises
    ------
    FormatError
        If it is anything else, or promises more than its bytes hold.
    """
    if array.kind != _MATRIX or depth > _DEEPEST:
        raise elements.fault(array.start, "cells within cells" if depth > _DEEPEST else "expected an array")
    if array.start == array.stop:  # how MATLAB writes an empty one
        return np.empty((0, 0))
    header, rest = _header_of(elements, array)
    if header.n_cells > array.stop - array.start:
        held = array.stop - array.start
        raise elements.fault(array.start, f"an array promises {header.n_cells:,} cells in {held:,} bytes")
    if header.kind == _CELL:
        texts = [_text(elements, _value(elements, part, depth + 1), part) for part in rest]
        if len(texts) != header.n_cells:
            raise elements.fault(array.start, f"{len(texts):,} values of {header.n_cells:,} cells")
        return texts
    if header.kind != _CHAR and header.kind not in _NUMBERS:
        what = _REFUSED.get(header.kind, f"an array of class {header.kind}")
        raise elements.fault(array.start, f"holds {what}; only full numbers, text and cells of text are read")
    part = next(rest, None)
    if part is None or next(rest, None) is not None:
        raise elements.fault(array.start, "expected the cells of the array, and nothing after them")
    return _decoded(elements, part, header) if header.kind == _CHAR else _numbers(elements, part, header)


def _text(elements: Elements, value: Value, part: Element) -> str:
    """What a cell holds, which may be a cell that holds a text."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and not value.size:
        return ""
    raise elements.fault(part.start, "a cell that holds no text")


def _decoded(elements: Elements, part: Element, header: Header) -> str:
    if header.n_cells and (len(header.lengths) > 2 or header.lengths[0] != 1):
        raise elements.fault(part.start, f"text of {header.lengths} characters, expected one line")
    code = _TEXT.get(part.kind)
    if code is None:
        raise elements.fault(part.start, f"text stored as type {part.kind}")
    code += {"<": "-le", ">": "-be"}[elements.order] if code in ("utf-16", "utf-32") else ""
    return bytes(elements.data[part.start : part.stop]).decode(code)


def _numbers(elements: Elements, part: Element, header: Header) -> AnyArray:
    if part.kind not in _STORED:
        raise elements.fault(part.start, f"numbers stored as type {part.kind}")
    stored = np.dtype(elements.order + _STORED[part.kind])
    if part.stop - part.start != header.n_cells * stored.itemsize:
        raise elements.fault(part.start, f"{part.stop - part.start:,} bytes for {header.n_cells:,} {stored} numbers")
    flat = np.frombuffer(elements.data, stored, header.n_cells, part.start)
    return flat.reshape(header.lengths, order="F").astype(_NUMBERS[header.kind], order="C")


def _unpacked(packed: Bytes, name: str) -> bytes:
    """A compressed variable, unless it is a bomb."""
    limit = max(_MOST_UNPACKED, _RATIO * len(packed))
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, limit + 1)
    if len(data) > limit:
        raise FormatError(
            f"{name}: a compressed variable unpacks to more than {_MOST_UNPACKED:,} bytes and {_RATIO} times its size. "
            "If that is meant, save it with -v7.3 or -nocompression."
        )
    return data


def variables(source: Source) -> Mapping[str, tuple[Element, str]]:
    """The variables of a file: where they are, and the byte order.

    Raises
    ------
    FormatError
        If the file is cut off or has another version.
    """
    data, name = memoryview(source.data), source.name
    order = {b"IM": "<", b"MI": ">"}.get(bytes(data[126:_HEADER]))
    if order is None or struct.unpack_from(order + "H", data, 124) != (0x0100,):
        raise FormatError(f"{name}: not a MATLAB file of version 5 (save -v7 or -v6 writes one).")
    elements = Elements(data, order, name)
    found: dict[str, tuple[Element, str]] = {}
    place = _HEADER
    while place < len(data):
        element = elements.at(place, len(data))
        begin, inside = elements, element
        if element.kind == _COMPRESSED:
            begin = Elements(
                zlib.decompressobj().decompress(data[element.start : element.stop][:_PEEKED], _PEEKED), order, name
            )
            inside = begin.at(0, 1 << 40)
            inside = inside._replace(stop=min(inside.stop, len(begin.data)))
        if inside.kind == _MATRIX:
            found[_name_of(begin, inside)] = element, order
        place = element.next
    return found


def _name_of(elements: Elements, array: Element) -> str:
    """The name of a variable, of whatever class it is."""
    flags = elements.at(array.start, array.stop)
    shape = elements.at(flags.next, array.stop)
    name = elements.at(shape.next, array.stop)
    return bytes(elements.data[name.start : name.stop]).decode("ascii", "replace")


def load_struct(source: Source, wanted: str, place: Element, order: str) -> Mapping[str, Value]:
    """The fields of a struct: numbers as arrays of rows x columns, text, and cells of text as lists.

    Raises
    ------
    FormatError
        If the variable is no struct of such fields, or does not fit its bytes.
    """
    elements = Elements(memoryview(source.data), order, f"{source.name}, {wanted}")
    if place.kind == _COMPRESSED:
        elements = replace(elements, data=_unpacked(elements.data[place.start : place.stop], source.name))
        place = elements.at(0, len(elements.data))
    header, rest = _header_of(elements, place)
    if header.kind != _STRUCT or header.n_cells != 1:
        raise FormatError(f"{source.name}: the variable {wanted} is not one struct, but it must be: struct({wanted}).")
    width, names = next(rest, None), next(rest, None)
    length = 0 if width is None else (*elements.integers(width, "i"), 0)[0]
    if names is None or length <= 0:
        raise elements.fault(place.start, "a struct without names of fields")
    listed = bytes(elements.data[names.start : names.stop])
    fields = [listed[i : i + length].split(b"\0")[0].decode("ascii") for i in range(0, len(listed), length)]
    parts = list(rest)
    if len(parts) != len(fields):
        raise elements.fault(place.start, f"{len(parts)} values of {len(fields)} fields")
    return {field: _value(elements, part) for field, part in zip(fields, parts, strict=True)}


_USER_BLOCK = 512

_TOLD = b"MATLAB 7.3 MAT-file, written by deciban, HDF5 schema 1.00 ."

_BLOCK = 1 << 22

"""Cells that are swapped and written at a time."""


def read_field(file: Hdf5, path: str) -> Matrix:
    """A matrix, as rows x columns.

    Raises
    ------
    FormatError
        If it is sparse, or no matrix of numbers.
    """
    if file.has(f"{path}/jc"):
        raise FormatError(f"{file.name}, {path}: a sparse matrix, expected a full one. In MATLAB: full(...).")
    dataset = file.dataset(path)
    if _is_empty(file, dataset):
        where = f"{file.name}, {path}"
        return Matrix.of(np.empty(cells_of(file, dataset, where)), where)
    return read_matrix(file, path).transposed()


def _is_empty(file: Hdf5, dataset: Any) -> bool:
    """Whether a dataset stands for an empty array: then it holds the size of that, and one side of it is 0."""
    return dataset.shape == (2,) and dataset.dtype == np.uint64 and 0 in cells_of(file, dataset, dataset.name)


def read_cells(file: Hdf5, path: str) -> list[str]:
    """The texts of a cell array.

    Raises
    ------
    FormatError
        If it holds anything else.
    """
    import h5py

    dataset = file.dataset(path)
    if h5py.check_ref_dtype(dataset.dtype) is not h5py.Reference:
        if _is_empty(file, dataset):
            return []
        raise FormatError(f"{file.name}, {path}: expected a cell array of text, but it holds {dataset.dtype} values.")
    if dataset.chunks is not None:
        cells(file, dataset, f"{file.name}, {path}", np.dtype(np.uint64))  # so that the library finds no damaged chunk
    texts, total = [], 0
    for i, reference in enumerate(np.ravel(dataset[()])):
        if not reference:
            raise FormatError(f"{file.name}, {path}: cell {i} refers to nothing. Save the file again.")
        text = _text_of_matlab73(file, h5py.h5r.dereference(reference, file.file.id), f"{path}, cell {i}")
        total += 2 * len(text)
        if total > 4 * file.size:
            raise FormatError(f"{file.name}, {path}: the names are longer than the file. Damaged: save it again.")
        texts.append(text)
    return texts


def _text_of_matlab73(file: Hdf5, found: Any, path: str) -> str:
    dataset = file.checked(found, path)
    file.check_size(dataset, path)
    if _is_empty(file, dataset):
        return ""
    if dataset.dtype.kind != "u" or dataset.dtype.itemsize != 2 or dataset.size != max(dataset.shape, default=0):
        raise FormatError(f"{file.name}, {path}: expected one line of text, got {dataset.dtype} of {dataset.shape}.")
    return np.ravel(cells_of(file, dataset, path)).astype("<u2").tobytes().decode("utf-16-le")


def write_struct(stream: IO[bytes], name: str, fields: Mapping[str, list[str] | AnyArray]) -> None:
    """Write a file that holds one struct."""
    with created(stream, user_block=_USER_BLOCK) as file:
        home = file.create_group(name)
        home.attrs["MATLAB_class"] = np.bytes_("struct")
        heap = file.create_group("#refs#")
        for field, value in fields.items():
            if isinstance(value, list):
                _write_cells(home, heap, field, value)
            else:
                _write_matrix(home, field, value)
    stream.seek(0)
    stream.write(_TOLD.ljust(116) + bytes(8) + b"\x00\x02IM")


def _write_matrix(home: Any, field: str, values: AnyArray) -> None:
    if not values.size:
        _write_empty(home, field, values.shape, "double")
        return
    logical = values.dtype == np.bool_
    called = {"f8": "double", "f4": "single", "b1": "logical"}[values.dtype.str[1:]]
    dataset = home.create_dataset(field, values.shape[::-1], np.uint8 if logical else values.dtype)
    dataset.attrs["MATLAB_class"] = np.bytes_(called)
    if logical:
        dataset.attrs["MATLAB_int_decode"] = np.int32(1)
    step = max(1, _BLOCK // values.shape[0])
    for start in range(0, values.shape[1], step):  # by blocks, so that there is never a second copy of it all
        dataset[start : start + step] = values[:, start : start + step].T


def _write_cells(home: Any, heap: Any, field: str, texts: Iterable[str]) -> None:
    import h5py

    references = []
    for text in texts:
        units = np.frombuffer(text.encode("utf-16-le"), "<u2")
        called = str(len(heap))
        if len(units):
            cell = heap.create_dataset(called, data=units[:, None])
            cell.attrs["MATLAB_class"] = np.bytes_("char")
            cell.attrs["MATLAB_int_decode"] = np.int32(2)
        else:
            cell = _write_empty(heap, called, (0, 0), "char")
        references.append(cell.ref)
    if not references:
        _write_empty(home, field, (0, 1), "cell")
        return
    dataset = home.create_dataset(field, (1, len(references)), h5py.ref_dtype)
    dataset[0] = references
    dataset.attrs["MATLAB_class"] = np.bytes_("cell")


def _write_empty(home: Any, field: str, shape: tuple[int, ...], called: str) -> Any:
    """An empty array: MATLAB stores its size in place of its cells."""
    dataset = home.create_dataset(field, data=np.array(shape, np.uint64))
    dataset.attrs["MATLAB_class"] = np.bytes_(called)
    dataset.attrs["MATLAB_empty"] = np.uint8(1)
    return dataset
