"""Archives of NumPy arrays (.npz): every promise of the archive is checked before an array is read."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO, Self

import numpy as np
from numpy.lib import format as npy_format

from deciban.errors import FormatError
from deciban.io.arrays.checked import read_array, read_header
from deciban.io.source import Source
from deciban.types import AnyArray

_HARMLESS = 256 << 20
_RATIO = 200
"""An array of more bytes than the former may be this many times longer than its compressed form. Zeros reach 1030."""


class Archive:
    """The arrays of an archive, read when they are asked for.

    Parameters
    ----------
    source : Source

    Raises
    ------
    FormatError
        If two arrays have one name, or an entry is no array, encrypted, or longer than it can be.
    """

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self._zip = zipfile.ZipFile(source.seekable())
        self._entries: dict[str, zipfile.ZipInfo] = {}
        n_packed = 0
        for entry in self._zip.infolist():
            array = entry.filename.removesuffix(".npy")
            if array in self._entries:
                raise FormatError(f"{self.name}: two arrays are called {array!r}.")
            if array == entry.filename:
                raise FormatError(f"{self.name}: {array!r} is no array. Of zip archives only .npz is read: unpack it.")
            self._check(entry, array)
            self._entries[array] = entry
            n_packed += entry.compress_size
        if n_packed > source.size:
            raise FormatError(f"{self.name}: its arrays overlap, or promise more bytes than there are. Save it again.")

    def _check(self, entry: zipfile.ZipInfo, array: str) -> None:
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(
                f"{self.name}: array {array!r} is encrypted, or compressed in a way that NumPy does not use. Save the "
                "file with numpy.savez or numpy.savez_compressed."
            )
        if entry.file_size > max(_HARMLESS, _RATIO * entry.compress_size):
            raise FormatError(
                f"{self.name}: array {array!r} would be {entry.file_size:,} bytes out of {entry.compress_size:,}, so "
                f"this may be a bomb. Above {_HARMLESS >> 20} MiB a ratio of {_RATIO} is allowed; if you trust the "
                "file, save it again uncompressed, with numpy.savez."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays, in their order."""
        return tuple(self._entries)

    def shape(self, array: str) -> tuple[int, ...]:
        """Shape of one array as its header promises it: nothing else is read.

        Raises
        ------
        FormatError
            If there is no such header.
        """
        with self._zip.open(self._entries[array]) as stream:
            return read_header(stream, f"{self.name}: {array}")[0]

    def read(self, array: str) -> AnyArray:
        """Read one array.

        Raises
        ------
        FormatError
            If it is not what its header promises.
        """
        entry = self._entries[array]
        with self._zip.open(entry) as stream:
            return read_array(stream, entry.file_size, f"{self.name}: {array}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()


def write_archive(arrays: Mapping[str, AnyArray], stream: IO[bytes]) -> None:
    """Write arrays as numpy.savez does; text, four bytes per character, is compressed, numbers are not."""
    with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # with a date that is always the same: same data, same bytes
            entry.compress_type = zipfile.ZIP_DEFLATED if array.dtype.kind == "U" else zipfile.ZIP_STORED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as member:
                npy_format.write_array(member, np.asanyarray(array), allow_pickle=False)
