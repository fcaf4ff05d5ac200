"""Bytes of a file or a stream, compressed or not, and the lines in them."""

from __future__ import annotations

import bz2
import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from deciban.errors import FormatError

PathLike: TypeAlias = str | os.PathLike[str]

_BINARY = {
    b"\x89HDF\r\n\x1a\n": "HDF5",
    b"\x93NUMPY": "NumPy",
    b"PAR1\x15": "Parquet",
    b"ARROW1\x00\x00": "Arrow",
    b"PK\x03\x04": "zip or npz",
    b"MATLAB 5.0 MAT-file": "MATLAB",
    b"\x80\x04": "pickle",
}
_BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
_COMMENT = re.compile(rb"(?m)^[ \t\v\f]*(?:#|;;).*$")
BLANKS = " \t\v\f"
"""What counts as white space inside a line. Other blanks of Unicode are part of a name."""


def display_name(path: PathLike) -> str:
    """What messages call a file."""
    # A file name need not be text; what cannot be shown is shown as a question mark.
    return "standard input" if str(path) == "-" else str(path).encode("utf-8", "replace").decode()


def read_text(path: PathLike) -> bytes:
    """Read a whole text file, decompressed; ``-`` is standard input.

    Lines end in a line feed afterwards, whatever they ended in before, and there is no byte order mark.

    Raises
    ------
    FormatError
        If the file is empty, damaged, or not text.
    OSError
        If it cannot be read.
    """
    name = display_name(path)
    data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif _BZIP2.match(data):
            data = bz2.decompress(data)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise FormatError(f"{name}: compressed data are damaged or cut off ({error}). Copy the file again.") from error
    kind = next((kind for magic, kind in _BINARY.items() if data.startswith(magic)), None)
    if kind is not None:
        raise FormatError(f"{name}: this is a {kind} file, expected a text table. Convert it to text first.")
    if b"\x00" in data:
        line = data.count(b"\n", 0, data.index(b"\x00")) + 1
        raise FormatError(f"{name}:{line}: holds NUL bytes, so it is not text. Expected a text table in UTF-8.")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.removeprefix(b"\xef\xbb\xbf")


def without_comments(data: bytes) -> bytes:
    """Empty the lines that begin with ``#`` or ``;;``; all lines keep their numbers."""
    return _COMMENT.sub(b"", data) if b"#" in data or b";" in data else data


def numbered_lines(data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of every line that is neither blank nor a comment.

    Raises
    ------
    FormatError
        At the first line that is not UTF-8.
    """
    start, number = 0, 0
    while start < len(data):
        number += 1
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        raw = data[start:end]
        start = end + 1
        content = raw.lstrip()
        if not content or content.startswith((b"#", b";;")):
            continue
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{name}:{number}: not UTF-8 ({error.reason} at byte {error.start} of the line). "
                "Convert the file, for example with iconv -t utf-8."
            ) from error
