"""How much memory there is, how much a user allows, and how much reading a file as a whole takes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deciban.errors import InputError
from deciban.io.recognition import is_stream
from deciban.io.source import files_of, is_open_file, looked_ahead, single_files

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)
LEAST = 64 * 10**6
"""Bytes below which nothing of use can be done in pieces."""

_HEAD = 4096

_TIMES_ITS_SIZE = {True: 5, False: 2}
"""How much memory reading a file and sorting its scores takes, of binary and of text files."""


def allowed_memory(memory: str | int | None) -> int:
    """Bytes that may be taken.

    Parameters
    ----------
    memory : str, int or None
        What a user writes; left out, half of what is free.

    Raises
    ------
    InputError
        If it is no size, or below 64 MB.

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
        raise InputError(f"memory: got {memory!r}. The least that work in pieces needs is {LEAST // 10**6} MB.")
    return found


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
    """Bytes that it takes to read these files as a whole, about; 0 for what is no file."""
    found = 0
    for path in single_files([*scores, key]):
        for one in [] if is_open_file(path) or str(path) == "-" else files_of(path):
            parts = [part for part in Path(one).rglob("*") if part.is_file()] if Path(one).is_dir() else [Path(one)]
            found += sum(_times(part) * part.stat().st_size for part in parts if part.is_file())
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


def _times(path: Path) -> int:
    with path.open("rb") as stream:
        return _times_of(stream.read(_HEAD))


def _times_of(head: bytes) -> int:
    return _TIMES_ITS_SIZE[b"\0" in head]
