"""Estimate how much memory reading files as a whole takes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from deciban._files import is_open_file, looked_ahead
from deciban.errors import FormatError
from deciban.io.library_errors import only_format_errors
from deciban.io.packing import codec_of
from deciban.io.recognition import is_stream
from deciban.io.source import files_of, single_files
from deciban.memory import TIMES_ITS_SIZE, Cost

_HEAD = 4096

_WIDTHS = {"BOOLEAN": 1 / 8, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Bytes that a value takes where it is read: text is a number of a dictionary."""


def memory_of(scores: Sequence[Any], key: Any = None) -> int:
    """Bytes that it takes to read these files as a whole, about; 0 for what is no file.

    Of Parquet the footers say how many rows there are, and how wide: files may be as small as you like.
    """
    found = 0
    for path in single_files([*scores, key]):
        for one in [] if is_open_file(path) or str(path) == "-" else files_of(path):
            parts = [part for part in Path(one).rglob("*") if part.is_file()] if Path(one).is_dir() else [Path(one)]
            found += sum(_needed(part) for part in parts if part.is_file())
    return found


def is_longer(scores: Sequence[Any], key: Any, room: int) -> bool:
    """Whether standard input or a pipe among these holds more than can be read as a whole; it is read no further.

    Parameters
    ----------
    scores : sequence of paths
    key : path or None
    room : int
        Bytes of memory that reading may take.
    """
    for path in single_files([*scores, key]):
        if not is_open_file(path) and is_stream(path):
            most = room // _times_of(looked_ahead(path, _HEAD))
            if len(looked_ahead(path, most + 1)) > most:
                return True
    return False


def _times_of(head: bytes) -> int:
    """How often its size a file or a stream takes that begins like this."""
    if codec_of(head[:16]) is not None:
        return TIMES_ITS_SIZE["packed"]
    return TIMES_ITS_SIZE["binary" if b"\0" in head else "text"]


def _needed(path: Path) -> int:
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if head.startswith(b"PAR1"):
        with suppress(FormatError):  # what is damaged will be told when it is read
            return _needed_by_parquet(path)
    return _times_of(head) * path.stat().st_size


def _needed_by_parquet(path: Path) -> int:
    import pyarrow.parquet as pq

    with only_format_errors(str(path), "Parquet"):
        footer = pq.read_metadata(path)
        widths = [footer.schema.column(at) for at in range(footer.num_columns)]
        decoded = footer.num_rows * sum(_WIDTHS.get(one.physical_type, one.length) for one in widths)
        written = sum(footer.row_group(at).total_byte_size for at in range(footer.num_row_groups))
    return int(footer.num_rows * Cost.PARQUET_ROW + Cost.PARQUET_COLUMN * max(decoded, written))
