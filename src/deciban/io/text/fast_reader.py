"""Big plain files: their bytes are looked at while Arrow parses them, so that neither waits for the other."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from deciban._arrow import to_numpy
from deciban.errors import FormatError, InputError
from deciban.io.columns.assemble import RowError, assemble
from deciban.io.columns.headers import IDENTITY, IGNORED
from deciban.io.contents import Contents
from deciban.io.format import Options
from deciban.io.text.layout import Layout
from deciban.io.text.reader import derived, has_empty, kept, parse, trimmed
from deciban.trials import Origin

_CHARACTERS = 1 << 18
"""Characters looked at together, so that they stay in cache."""


class _NeedsCareError(Exception):
    """Something stands in the file that Arrow would not read as we do."""


class _Looked(io.RawIOBase):
    """A binary file that is looked at while it is read."""

    def __init__(self, file: BinaryIO, suspicious: bytes) -> None:
        self._file = file
        self._suspicious = [bytes([character]) for character in suspicious]

    def readable(self) -> bool:
        """A file to read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, if they are harmless."""
        block = self._file.read(size)
        for start in range(0, len(block), _CHARACTERS):
            for character in self._suspicious:
                if block.find(character, start, start + _CHARACTERS) >= 0:
                    raise _NeedsCareError
        return block


def parse_plain(path: Path, layout: Layout, origin: Origin, system: str, options: Options) -> Contents | None:
    """Read a text table of nothing but plain lines; None if anything else stands in it, for a reader with more care.

    Comments, quotes, idle blanks, line ends of other systems, infinite scores need more care, and whatever is wrong:
    the careful reader says what and where.
    """
    suspicious = b"\x00\r#;\v\f" + {" ": b"\t", ",": b'"'}.get(layout.delimiter, b"")
    if layout.quoted or (layout.delimiter == " " and IGNORED in layout.roles):
        return None  # an empty field there would not be seen
    try:
        with path.open("rb") as file:
            if layout.header is not None:
                file.readline()
            columns = parse(pa.PythonFile(_Looked(file, suspicious), "r"), layout)
        if layout.delimiter != " ":
            columns = [trimmed(column) for column in columns]
        for role, column in zip(kept(layout), columns, strict=True):
            if (layout.delimiter == " " or role in IDENTITY) and has_empty(column):
                return None
            if role == "score" and not np.isfinite(np.max(np.abs(to_numpy(column)), initial=0)):
                return None
        if not len(columns[0]):
            return None
        return assemble(*derived(columns, layout), origin=origin, system=system, options=options)
    except (_NeedsCareError, pa.ArrowInvalid, RowError, InputError, FormatError):
        return None
