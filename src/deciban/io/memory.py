"""How much memory there is, how much a user allows, and how much reading a file as a whole takes."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from deciban._files import is_open_file, looked_ahead
from deciban.errors import FormatError, InputError
from deciban.io.library_errors import only_format_errors
from deciban.io.packing import codec_of
from deciban.io.recognition import is_stream
from deciban.io.source import files_of, single_files

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)
LIBRARIES = 60 * 10**6
"""Bytes that Python and its libraries take."""

LEAST = 100 * 10**6
"""Bytes below which nothing of use can be done in pieces."""

_HEAD = 4096

_TIMES_ITS_SIZE = {"text": 3, "packed": 16, "binary": 14}
"""How often what a file takes is taken to read it and sort its scores: of text, of what is compressed, of the rest."""

_BYTES_PER_ROW, _TIMES_ITS_COLUMNS = 52, 6
"""The same of a Parquet file: for every row, and how often what its columns take."""

_WIDTHS = {"BOOLEAN": 1 / 8, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
"""Bytes that a value takes where it is read: text is a number of a dictionary."""

_TIGHT = 512 * 10**6
"""Bytes for trials below which memory that was freed is given back at once: that costs time, but less memory."""

_MMAP_THRESHOLD = -3  # what mallopt calls it
_LARGE = 1 / 512
"""Part of the memory from which on a block is large."""


def allowed_memory(memory: str | int | None) -> int:
    """Bytes that may be taken in all, by Python and its libraries, too.

    Parameters
    ----------
    memory : str, int or None
        What a user writes; left out, half of what is free.

    Raises
    ------
    InputError
        If it is no size, or below 100 MB.

    Examples
    --------
    >>> allowed_memory("2GB"), allowed_memory("1.5 GiB")
    (2000000000, 1610612736)
    """
    if memory is None:
        return max(free_memory() // 2, LEAST)
    found = None
    if isinstance(memory, int) and not isinstance(memory, bool):
        found = memory
    elif isinstance(memory, str) and (match := _MEMORY.fullmatch(memory)) is not None:
        found = round(float(match[1]) * _UNITS[(match[2] or "").lower()])
    if found is None:
        raise InputError(f"memory: got {memory!r}. Write a size, such as 2GB, 500MB or a number of bytes.")
    if found < LEAST:
        raise InputError(
            f"memory: got {memory!r}. The least that work in pieces needs is {LEAST // 10**6} MB, of which Python and "
            f"its libraries take {LIBRARIES // 10**6}."
        )
    return found


def memory_for_trials(memory: str | int | None) -> int:
    """What of the allowed bytes is left for trials and what is made of them.

    Examples
    --------
    >>> memory_for_trials("2GB")
    1940000000
    """
    return allowed_memory(memory) - LIBRARIES


def give_back_at_once(memory: int) -> None:
    """Where little memory may be taken for trials, have large blocks that are freed go back to the system.

    Allocators keep what was freed in case it is wanted again: twice what is in use, with several threads.
    """
    if memory >= _TIGHT:
        return
    with suppress(OSError, AttributeError):  # where the C library is another one
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, int(memory * _LARGE))
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.set_memory_pool(arrow.system_memory_pool())


def give_back() -> None:
    """Have what was freed go back to the system now: after a step that took much, before another one that does."""
    with suppress(OSError, AttributeError):  # where the C library is another one
        ctypes.CDLL(None).malloc_trim(0)
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()


def free_memory() -> int:
    """Bytes that are free on this machine, or in the group of processes that this one may not leave."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    known = Path("/proc/meminfo")
    if known.exists():
        match = re.search(r"MemAvailable:\s*(\d+) kB", known.read_text())
        found += [int(match[1]) * 1024] if match else []
    limit, used = (Path("/sys/fs/cgroup") / name for name in ("memory.max", "memory.current"))
    if limit.exists() and used.exists() and limit.read_text().strip().isdigit():
        found.append(int(limit.read_text()) - int(used.read_text()))
    return max(min(found), 0)


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
        return _TIMES_ITS_SIZE["packed"]
    return _TIMES_ITS_SIZE["binary" if b"\0" in head else "text"]


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
    return int(footer.num_rows * _BYTES_PER_ROW + _TIMES_ITS_COLUMNS * max(decoded, written))
