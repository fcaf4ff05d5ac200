"""HDF5 files opened with care: only named places in the file itself, and nothing larger than the file can hold.

A file is input from outside. It may be damaged, or made to harm: links and virtual datasets that name other files,
a few bytes that promise 10**12 cells, compressed data that inflate without end. So nothing is ever walked or listed;
every place is looked up by its name, through hard links only, and its storage is checked before a cell is read.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.library_errors import only_format_errors
from deciban.io.matrices.from_tables import Mask, without_nul
from deciban.io.source import Source
from deciban.types import AnyArray

_SMALL = 1 << 26
"""Bytes that a dataset may always promise, however little of it is stored."""

_RATIO = 1100
"""How far a filter can shrink data: deflate reaches 1032 to 1."""

DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3
_FILTERS = {DEFLATE: "deflate", SHUFFLE: "shuffle", FLETCHER32: "fletcher32"}
_REPACK = "Rewrite the file with h5repack -f NONE"


class Hdf5:
    """An HDF5 file open for reading.

    Attributes
    ----------
    name : str
        What messages call it.
    size : int
        Bytes of the whole file.
    path : path or None
        Where its bytes lie on disk; None for a stream.
    file : h5py.File
    """

    def __init__(self, file: Any, source: Source, content: Path | io.BytesIO) -> None:
        self.file = file
        self.name = source.name
        self.size = source.size
        self.path = content if isinstance(content, Path) else None
        self._content = content
        self._found: dict[str, Any] = {"": file["/"].id}

    def bytes_at(self, offset: int, count: int) -> bytes:
        """Bytes of the file, fewer where it ends."""
        if isinstance(self._content, io.BytesIO):
            return bytes(self._content.getbuffer()[offset : offset + count])
        with self._content.open("rb") as stream:
            stream.seek(offset)
            return stream.read(count)

    def has(self, path: str) -> bool:
        """Whether there is something of this name.

        Raises
        ------
        FormatError
            If the way there leads through a link, which could lead to another file.
        """
        return self._find(path) is not None

    def _find(self, path: str) -> Any:
        """The object at an absolute path, None if there is none."""
        import h5py

        if path in self._found:
            return self._found[path]
        parent, _, part = path.rpartition("/")
        group = self._find(parent)
        found = None
        if isinstance(group, h5py.h5g.GroupID) and group.links.exists(part.encode()):
            if group.links.get_info(part.encode()).type != h5py.h5l.TYPE_HARD:
                raise FormatError(
                    f"{self.name}, {path}: {part} is a soft or external link. Links are not followed, they could lead "
                    "to other files. Copy the data into the file: h5repack --merge."
                )
            found = h5py.h5o.open(group, part.encode())
        self._found[path] = found
        return found

    def dataset(self, path: str) -> Any:
        """The h5py dataset at a path, after a check of where its cells are and how much was stored.

        Raises
        ------
        FormatError
            If there is none, its cells lie in other files, or it promises more than was stored.
        """
        found = self.unsized(path)
        self.check_size(found, path)
        return found

    def unsized(self, path: str) -> Any:
        """The same without a check of the size, for datasets that need not be read."""
        found = self._find(path)
        if found is None:
            raise FormatError(f"{self.name}: no dataset {path}, so the file is not complete. Write it again.")
        return self.checked(found, path)

    def checked(self, found: Any, path: str) -> Any:
        """Turn the identifier of an object into a dataset whose cells lie in this file, behind known filters."""
        import h5py

        if not isinstance(found, h5py.h5d.DatasetID):
            raise FormatError(f"{self.name}, {path}: expected a dataset, but this is a group or a type.")
        # The layout comes first: asking a virtual dataset for its shape may open the files it is made of.
        plan = found.get_create_plist()
        if plan.get_layout() == h5py.h5d.VIRTUAL or plan.get_external_count():
            raise FormatError(
                f"{self.name}, {path}: the cells lie in other files (virtual or external storage), which are not "
                "opened. Copy them into this file."
            )
        plan.fill_value_defined()  # refuses what the library would crash on when asked for the fill value itself
        codes = [plan.get_filter(i)[0] for i in range(plan.get_nfilters())]
        if not set(codes) <= _FILTERS.keys() or len(set(codes)) < len(codes):
            listed = ", ".join(_FILTERS.get(code, f"number {code}") for code in codes)
            raise FormatError(
                f"{self.name}, {path}: stored through filters {listed}. Known are deflate, shuffle and "
                f"fletcher32, each once. {_REPACK}."
            )
        return h5py.Dataset(found, readonly=True)  # so that h5py asks once for shape and type

    def check_size(self, dataset: Any, path: str) -> None:
        """Refuse a dataset that promises more than its stored bytes can hold.

        Raises
        ------
        FormatError
            If it does.
        """
        if dataset.shape is None:
            raise FormatError(f"{self.name}, {path}: holds no cells at all. Write the file again.")
        identifier = dataset.id
        plan = identifier.get_create_plist()
        width = max(dataset.dtype.itemsize, 16 if dataset.dtype.kind == "O" else 1)
        promised = math.prod(dataset.shape) * width
        stored = identifier.get_storage_size()
        if stored > self.size or promised > max(_SMALL, stored * (_RATIO if plan.get_nfilters() else 1)):
            shape = " x ".join(f"{length:,}" for length in dataset.shape)
            raise FormatError(
                f"{self.name}, {path}: promises {shape} cells ({promised:,} bytes), but {stored:,} bytes are stored in "
                f"a file of {self.size:,}. Damaged, or never fully written: write it again."
            )
        nominal = math.prod(dataset.chunks or ()) * width
        if nominal > max(_SMALL, 4 * promised):
            raise FormatError(
                f"{self.name}, {path}: chunks of {nominal:,} bytes for {promised:,} bytes of cells. {_REPACK}."
            )


@contextmanager
def opened(source: Source) -> Iterator[Hdf5]:
    """Open an HDF5 source; whatever goes wrong in the block is told as an error of the file.

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
        with bytes_of.open("rb"):  # what cannot be opened at all is no damaged file
            pass
    with only_format_errors(source.name, "an HDF5 file"), h5py.File(bytes_of, "r", locking="best-effort") as file:
        yield Hdf5(file, source, bytes_of)


_known: set[str] = set()
_present: WeakKeyDictionary[Source, frozenset[str]] = WeakKeyDictionary()


def places(*paths: str) -> frozenset[str]:
    """Declare paths by which a format is recognized, so that one look at a file serves all formats."""
    _known.update(paths)
    return frozenset(paths)


def present(source: Source) -> frozenset[str]:
    """Which of all declared paths an HDF5 source has; none if it is no HDF5 file, or one of MATLAB.

    Raises
    ------
    FormatError
        If the file is damaged.
    """
    if source.kind != "HDF5":
        return frozenset()
    if source not in _present:
        with opened(source) as file:
            _present[source] = frozenset(path for path in _known if file.has(path))
    return _present[source]


class _Noticing:
    """A stream that remembers how writing to it failed: HDF5 goes on for a while, and then fails in another way."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.failure: OSError | None = None

    def write(self, data: memoryview) -> int:
        try:
            return self.stream.write(data)
        except OSError as error:
            self.failure = self.failure or error
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def created(stream: IO[bytes], *, user_block: int = 0) -> Iterator[Any]:
    """A new HDF5 file in a stream that can be written and sought.

    Raises
    ------
    OSError
        If the stream takes no more: a full disk.
    """
    import h5py

    noticing = _Noticing(stream)
    try:
        with h5py.File(noticing, "w", userblock_size=user_block) as file:
            yield file
    except Exception:
        if noticing.failure is None:
            raise
    if noticing.failure is not None:
        raise noticing.failure


def write_names(file: Any, path: str, names: pa.Array) -> None:
    """Write names as UTF-8 strings of the length of the longest, or of variable length if that would waste much room.

    Raises
    ------
    FormatError
        If a name holds a NUL character, which would end it.
    """
    import h5py

    raw = without_nul(names, "HDF5").cast(pa.binary()).to_pylist()
    longest = max(map(len, raw), default=0) or 1
    wasteful = longest * len(raw) > max(1 << 24, 4 * sum(map(len, raw)))
    kind = h5py.string_dtype("utf-8", None if wasteful else longest)
    file.create_dataset(path, data=np.array(raw, kind), dtype=kind)


def write_field(file: Any, path: str, value: pa.Array | AnyArray | Mask) -> None:
    """Write names, numbers, or a mask.

    Raises
    ------
    FormatError
        As in `write_names`.
    """
    if isinstance(value, pa.Array):
        write_names(file, path, value)
    elif not isinstance(value, Mask):
        file.create_dataset(path, data=value.view(np.uint8) if value.dtype == np.bool_ else value)
    elif value.cells is None:  # not stored, but the fill value of a dataset that has no cells
        file.create_dataset(path, value.shape, np.uint8, fillvalue=1)
    else:
        file.create_dataset(path, data=value.cells.view(np.uint8))
