"""Safe reading of HDF5 files: only named datasets in the file itself, and nothing larger than the file can contain.

A file may be damaged or hostile: links and virtual datasets that name other files, a few bytes that declare 10**12
cells, compressed data that expand without end. So nothing is iterated or listed. Each object is looked up by its name,
through hard links only, and its storage is checked before a cell is read.

The HDF5 library crashes on chunks that are shorter than their checksum, decompresses chunks to any size, and hangs on
some damaged names (docs/design/untrusted-files.md). So it is used only to find chunks and heaps of names. This
module decodes them, up to their allowed size. Filters: the reference of ``H5Pset_deflate``, ``H5Pset_shuffle``,
``H5Pset_fletcher32``. Names: "HDF5 File Format Specification", version 3.0, level 1E (global heap).
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.formats import only_format_errors
from deciban.io.matrices.named_matrix import Matrix, Names, full_mask, is_full, without_nul
from deciban.io.source import Source
from deciban.types import AnyArray, Foreign

_SMALL = 1 << 26
"""Number of bytes that any dataset may declare, however little of it is stored."""

_MOST_PACKED = 1100
"""Largest compression ratio of a filter: deflate reaches 1032 to 1."""

DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3
_FILTERS = {DEFLATE: "deflate", SHUFFLE: "shuffle", FLETCHER32: "fletcher32"}
_REPACK = "Rewrite the file with h5repack -f NONE"


class Hdf5:
    """An HDF5 file open for reading.

    Attributes
    ----------
    name : str
        Name for messages.
    size : int
        Size of the whole file in bytes.
    path : path or None
        Path of the file on disk; None for a stream.
    file : h5py.File
    """

    def __init__(self, file: Foreign, source: Source, content: Path | io.BytesIO) -> None:
        self.file = file
        self.name = source.name
        self.size = source.size
        self._content = content
        self._found: dict[str, Foreign] = {"": file["/"].id}

    def bytes_at(self, offset: int, count: int) -> bytes:
        """Return bytes of the file, fewer at its end."""
        if isinstance(self._content, io.BytesIO):
            return bytes(self._content.getbuffer()[offset : offset + count])
        with self._content.open("rb") as stream:
            stream.seek(offset)
            return stream.read(count)

    def has(self, path: str) -> bool:
        """Return True if an object with this path exists.

        Raises
        ------
        FormatError
            If the path contains a soft or external link, which could lead to another file.
        """
        return self._find(path) is not None

    def _find(self, path: str) -> Foreign:
        """Return the object at an absolute path, or None."""
        import h5py

        if path in self._found:
            return self._found[path]
        parent, _, part = path.rpartition("/")
        group = self._find(parent)
        foreign = None
        if isinstance(group, h5py.h5g.GroupID) and group.links.exists(part.encode()):
            if group.links.get_info(part.encode()).type != h5py.h5l.TYPE_HARD:
                raise FormatError(
                    f"{self.name}, {path}: {part} is a soft or external link. deciban does not follow links, because "
                    "they could lead to other files. Copy the data into the file: h5repack --merge."
                )
            foreign = h5py.h5o.open(group, part.encode())
        self._found[path] = foreign
        return foreign

    def dataset(self, path: str) -> Foreign:
        """Return the h5py dataset at a path, after a check of its storage and size.

        Raises
        ------
        FormatError
            If it does not exist, its cells are in other files, or it declares more than was stored.
        """
        foreign = self.unsized(path)
        self.check_size(foreign, path)
        return foreign

    def unsized(self, path: str) -> Foreign:
        """Return a dataset without a check of its size, if it need not be read."""
        result = self._find(path)
        if result is None:
            raise FormatError(f"{self.name}: no dataset {path}, so the file is not complete. Write it again.")
        return self.checked(result, path)

    def checked(self, foreign: Foreign, path: str) -> Foreign:
        """Convert an identifier to a dataset whose cells are in this file, behind known filters."""
        import h5py

        if not isinstance(foreign, h5py.h5d.DatasetID):
            raise FormatError(f"{self.name}, {path}: expected a dataset, but this is a group or a type.")
        # Check the layout first: asking a virtual dataset for its shape may open other files.
        plan = foreign.get_create_plist()
        if plan.get_layout() == h5py.h5d.VIRTUAL or plan.get_external_count():
            raise FormatError(
                f"{self.name}, {path}: the cells are in other files (virtual or external storage), which deciban does "
                "not open. Copy them into this file."
            )
        plan.fill_value_defined()  # raises for damaged fill values, which would crash the library later
        codes = [plan.get_filter(i)[0] for i in range(plan.get_nfilters())]
        if not set(codes) <= _FILTERS.keys() or len(set(codes)) < len(codes):
            items = ", ".join(_FILTERS.get(code, f"number {code}") for code in codes)
            raise FormatError(
                f"{self.name}, {path}: stored with the filters {items}. Only deflate, shuffle and fletcher32 are "
                f"supported, each once. {_REPACK}."
            )
        return h5py.Dataset(foreign, readonly=True)  # h5py then caches shape and type

    def check_size(self, dataset: Foreign, path: str) -> None:
        """Raise if a dataset declares more than its stored bytes can contain.

        Raises
        ------
        FormatError
        """
        if dataset.shape is None:
            raise FormatError(f"{self.name}, {path}: contains no cells. Write the file again.")
        identifier = dataset.id
        plan = identifier.get_create_plist()
        width = max(dataset.dtype.itemsize, 16 if dataset.dtype.kind == "O" else 1)
        promised = math.prod(dataset.shape) * width
        stored = identifier.get_storage_size()
        if stored > self.size or promised > max(_SMALL, stored * (_MOST_PACKED if plan.get_nfilters() else 1)):
            shape = " x ".join(f"{length:,}" for length in dataset.shape)
            raise FormatError(
                f"{self.name}, {path}: declares {shape} cells ({promised:,} bytes), but {stored:,} bytes are stored in "
                f"a file of {self.size:,} bytes. Damaged or incomplete: write it again."
            )
        nominal = math.prod(dataset.chunks or ()) * width
        if nominal > max(_SMALL, 4 * promised):
            raise FormatError(
                f"{self.name}, {path}: chunks of {nominal:,} bytes for {promised:,} bytes of cells. {_REPACK}."
            )


@contextmanager
def opened(source: Source) -> Iterator[Hdf5]:
    """Open an HDF5 source; errors in the block become errors about the file.

    Raises
    ------
    FormatError
        If the file is damaged.
    OSError
        If it cannot be read.
    """
    import h5py

    bytes_of = source.seekable()
    if isinstance(bytes_of, Path):
        with bytes_of.open("rb"):  # raises OSError if the file cannot be opened
            pass
    with only_format_errors(source.name, "an HDF5 file"), h5py.File(bytes_of, "r", locking="best-effort") as file:
        yield Hdf5(file, source, bytes_of)


class _ErrorStream:
    """A stream that stores its first write error, because HDF5 continues and fails later with another error."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.failure: OSError | None = None

    def write(self, data: memoryview) -> int:
        try:
            return self.stream.write(data)
        except OSError as error:
            self.failure = self.failure or error
            raise

    def __getattr__(self, name: str) -> Foreign:
        return getattr(self.stream, name)


@contextmanager
def created(stream: IO[bytes]) -> Iterator[Foreign]:
    """Create an HDF5 file in a writable and seekable stream.

    Raises
    ------
    OSError
        If writing fails, for example on a full disk.
    """
    import h5py

    noticing = _ErrorStream(stream)
    try:
        with h5py.File(noticing, "w") as file:
            yield file
    except Exception:
        if noticing.failure is None:
            raise
    if noticing.failure is not None:
        raise noticing.failure


def write_names(file: Foreign, path: str, names: pa.Array) -> None:
    """Write names as UTF-8 strings with the length of the longest, or with variable length if that saves much space.

    Raises
    ------
    FormatError
        If a name contains a NUL character.
    """
    import h5py

    raw = without_nul(names, "HDF5").cast(pa.binary()).to_pylist()
    longest = max(map(len, raw), default=0) or 1
    wasteful = longest * len(raw) > max(1 << 24, 4 * sum(map(len, raw)))
    kind = h5py.string_dtype("utf-8", None if wasteful else longest)
    file.create_dataset(path, data=np.array(raw, kind), dtype=kind)


def write_field(file: Foreign, path: str, value: pa.Array | AnyArray) -> None:
    """Write names, numbers, or a mask.

    Raises
    ------
    FormatError
        As in `write_names`.
    """
    if isinstance(value, pa.Array):
        write_names(file, path, value)
    elif value.ndim and is_full(value):  # not stored, but the fill value of a dataset without cells
        file.create_dataset(path, value.shape, np.uint8, fillvalue=1)
    else:
        file.create_dataset(path, data=value.view(np.uint8) if value.dtype == np.bool_ else value)


_WORDS = 1 << 16
"""Number of words of a checksum that are summed at once, so that sums do not overflow."""


def cells(
    file: Hdf5,
    dataset: Foreign,
    where: str,
    kind: np.dtype[np.generic],
    fill: Callable[[], object] | None = None,
    rows: tuple[int, int] | None = None,
) -> AnyArray:
    """Return all cells of a dataset whose storage and size were checked, in the byte order of the file.

    Parameters
    ----------
    file : Hdf5
    dataset : h5py.Dataset
    where : str
        Text for the place in messages.
    kind : dtype
        Type of the cells in the file.
    fill : function, optional
        Returns the value of cells that were never written; by default 0.
    rows : pair of int, optional
        The first row to read, and the row after the last; by default all rows.

    Raises
    ------
    FormatError
        If a chunk is damaged.
    """
    plan = dataset.id.get_create_plist()
    filters = [plan.get_filter(i)[0] for i in range(plan.get_nfilters())]
    chunks: list[AnyArray] = []
    dataset.id.chunk_iter(chunks.append)
    n_due = math.prod(-(-length // chunk) for length, chunk in zip(dataset.shape, dataset.chunks, strict=True))
    start_row, stop_row = rows or (0, dataset.shape[0])
    shape = (stop_row - start_row, *dataset.shape[1:])
    values = np.empty(shape, kind) if len(chunks) >= n_due else np.full(shape, 0 if fill is None else fill(), kind)
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
        target = values[(slice(first - start_row, last - start_row), *rest)]
        source = np.frombuffer(data, kind).reshape(dataset.chunks)[first - offset[0] : last - offset[0]]
        target[...] = source[tuple(map(slice, target.shape))]
    return values


def _undone(number: int, data: bytes | None, n_bytes: int, width: int) -> bytes | None:
    """Return data before a filter was applied, at most ``n_bytes`` and a checksum; None if the data are invalid."""
    if data is None:
        return None
    if number == FLETCHER32:
        return data[:-4] if len(data) > 4 and _sums(data[:-4]) == _stored_sums(data[-4:]) else None
    if number == DEFLATE:
        return zlib.decompressobj().decompress(data, n_bytes + 5)
    if len(data) % width:  # only whole cells are shuffled, the rest is unchanged
        return None
    return np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()


def _stored_sums(data: bytes) -> tuple[int, int]:
    value = int.from_bytes(data, "little")
    return (value & 0xFFFF) % 0xFFFF, (value >> 16) % 0xFFFF


def _sums(data: bytes) -> tuple[int, int]:
    """Return Fletcher's checksum: the sum of all words, and the sum of all partial sums, modulo 65535."""
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


def strings(file: Hdf5, dataset: Foreign, where: str) -> list[bytes]:
    """Return the strings of a dataset whose size was checked.

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
    left, contents = file.size, []
    for length, address, index in references.tolist():
        if not length:
            contents.append(b"")
            continue
        if address not in heaps:
            heaps[address] = _heap(file, address, left, where)
            left -= len(heaps[address][0])
        data, objects = heaps[address]
        start, stored = objects.get(index, (0, 0))
        if stored < length:
            raise FormatError(f"{where}: name {len(contents)} is missing in the heap. Damaged: copy the file again.")
        contents.append(data[start : start + length].rstrip(b"\0"))
    return contents


def _contiguous(file: Hdf5, dataset: Foreign, where: str) -> AnyArray:
    """Return references that are stored contiguously in the file."""
    offset, n_bytes = dataset.id.get_offset(), dataset.size * _REFERENCE.itemsize
    if offset is None and dataset.id.get_storage_size() == 0:
        return np.zeros(dataset.size, _REFERENCE)
    if offset is None or dataset.id.get_storage_size() != n_bytes:
        raise FormatError(f"{where}: names of variable length in an unusual storage. Rewrite the file with h5repack.")
    return np.frombuffer(file.bytes_at(offset, n_bytes), _REFERENCE)


def _heap(file: Hdf5, address: int, left: int, where: str) -> tuple[bytes, Mapping[int, tuple[int, int]]]:
    """Return the bytes of one collection of a heap, and the offset and length of its objects."""
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
        if not index:  # the rest is unused
            break
        place += _OBJECT.size
        if place + length > len(data):
            raise FormatError(f"{where}: the names at byte {offset} are cut off. Damaged: copy the file again.")
        objects[index] = place, length
        place += -(-length // 8) * 8
    return data, objects


def read_names(file: Hdf5, path: str) -> Names:
    """Return names from a dataset of strings with fixed or variable length, ASCII or UTF-8.

    Raises
    ------
    FormatError
        If the dataset contains anything else.
    """
    import h5py

    dataset = file.dataset(path)
    where = f"{file.name}, {path}"
    text = h5py.check_string_dtype(dataset.dtype)
    if text is None:
        raise FormatError(f"{where}: expected names (strings), got {_type_in_words(dataset.dtype)}.")
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
    """Return names from their bytes in UTF-8.

    Raises
    ------
    FormatError
        If a name is not UTF-8, or contains a NUL character.
    """
    try:
        names = pa.array(raw, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        names = None
    if names is not None and b"\0" not in b"".join(raw):
        return names
    for row, name in enumerate(raw):
        try:
            rule = "contains a NUL character" if "\0" in name.decode() else None
        except UnicodeDecodeError as error:
            rule = f"is not UTF-8 ({error.reason} at byte {error.start})"
        if rule is not None:
            raise FormatError(f"{where}: name {row} {rule}: {name[:60]!r}. Write the names in UTF-8.")
    raise FormatError(f"{where}: more than 2 GB of names.")


def _type_in_words(dtype: np.dtype[np.generic]) -> str:
    return "references or objects" if dtype.kind == "O" else f"{dtype} values"


def read_mask(file: Hdf5, path: str) -> Matrix:
    """Return a mask as a matrix; a mask of ones without stored cells uses no memory.

    Raises
    ------
    FormatError
        As in `read_matrix`.
    """
    dataset = matrix_of_numbers(file, path)
    if dataset.size and dataset.id.get_storage_size() == 0 and dataset.fillvalue == 1:
        return Matrix(full_mask(dataset.shape), f"{file.name}, {path}")
    return read_matrix(file, path)


def read_array(file: Hdf5, path: str) -> AnyArray:
    """Return numbers from a dataset of any shape, in the byte order of this machine.

    Raises
    ------
    FormatError
        As in `read_matrix`.
    """
    dataset = _numbers(file, path)
    file.check_size(dataset, path)
    return cells_of(file, dataset, f"{file.name}, {path}")


def _numbers(file: Hdf5, path: str) -> Foreign:
    dataset = file.unsized(path)
    if dataset.dtype.kind not in "biuf" or dataset.dtype.itemsize > 8:
        result = _type_in_words(dataset.dtype)
        raise FormatError(f"{file.name}, {path}: expected numbers of up to 64 bits, got {result}.")
    return dataset


def matrix_of_numbers(file: Hdf5, path: str) -> Foreign:
    """Return a two-dimensional dataset of numbers, without a check of its size.

    Raises
    ------
    FormatError
        If the dataset is anything else.
    """
    dataset = _numbers(file, path)
    if dataset.shape is None or len(dataset.shape) != 2:
        raise FormatError(f"{file.name}, {path}: expected a matrix, got an array of shape {dataset.shape}.")
    return dataset


def read_matrix(file: Hdf5, path: str) -> Matrix:
    """Return numbers from a two-dimensional dataset, in the byte order of this machine.

    Raises
    ------
    FormatError
        If it does not contain numbers, or declares more of them than were stored.
    """
    dataset = matrix_of_numbers(file, path)
    file.check_size(dataset, path)
    where = f"{file.name}, {path}"
    return Matrix(cells_of(file, dataset, where), where)


def rows_of(file: Hdf5, path: str, start: int, stop: int) -> AnyArray:
    """Return some rows of a matrix whose size was checked; cells that were not stored get the fill value.

    Raises
    ------
    FormatError
        If a chunk is damaged.
    """
    return cells_of(file, matrix_of_numbers(file, path), f"{file.name}, {path}", (start, stop))


def cells_of(file: Hdf5, dataset: Foreign, where: str, rows: tuple[int, int] | None = None) -> AnyArray:
    """Return all cells, or some rows, of a dataset of numbers or fixed-length strings, in native byte order.

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
    if kind == np.bool_:  # values other than 0 and 1 are refused later, by the reader of masks
        return cells(file, dataset, where, np.dtype(np.int8), lambda: int(dataset.fillvalue), rows)
    values = cells(file, dataset, where, kind, lambda: dataset.fillvalue, rows)
    return values.astype(kind.newbyteorder("="), copy=False)
