"""How much memory work may take, and where it runs: what a user says about trials that do not fit."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.io.source import PathLike

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)
_LEAST = 64 * 10**6
"""Bytes below which nothing of use can be done in pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What is done about trials that are too many for the memory.

    Attributes
    ----------
    memory : str or int, optional
        Bytes that may be taken, as ``"2GB"``, ``"500MB"`` or a number; what would take more is read in pieces. Left
        out, half of what is free.
    approximate : bool
        Whether one pass is enough: figures of ranks come with the bounds that they are certainly within.
    dask : str or distributed.Client, optional
        Where work is spread: the address of a scheduler of Dask, ``"local:N"`` for N processes of this machine, or a
        client.
    speakers : path, or sequence of one or two of these, optional
        Files with the speaker of every name, one or one for each side: a trial is a target if and only if both
        speakers agree, and no key is needed.

    Raises
    ------
    InputError
        If one of these is none.

    Examples
    --------
    >>> Scale(memory="2GB").n_bytes, Scale(memory="1.5 GiB").n_bytes
    (2000000000, 1610612736)
    """

    memory: str | int | None = None
    approximate: bool = False
    dask: Any = None
    speakers: Any = None

    def __post_init__(self) -> None:
        """Check the size."""
        if self.memory is not None:
            _size(self.memory)
        if not isinstance(self.approximate, bool):
            raise InputError(f"approximate: got {self.approximate!r}. It is True or False.")

    @property
    def n_bytes(self) -> int:
        """Bytes that may be taken."""
        return _size(self.memory) if self.memory is not None else max(free_memory() // 2, _LEAST)

    @property
    def is_asked(self) -> bool:
        """Whether something was said that only work in pieces can do."""
        return self.approximate or self.dask is not None or self.speakers is not None

    def refuse(self, what: str) -> None:
        """Refuse that something is said of trials that do not fit, where all are read at once.

        Raises
        ------
        InputError

        Examples
        --------
        >>> Scale(memory="2GB").refuse("a plan")
        Traceback (most recent call last):
        deciban.errors.InputError: memory: a plan needs all trials in memory, and reads nothing in pieces. Leave it out.
        """
        said = [one.name for one in fields(self) if getattr(self, one.name) not in (None, False)]
        if said:
            raise InputError(
                f"{', '.join(said)}: {what} needs all trials in memory, and reads nothing in pieces. Leave it out."
            )

    @property
    def speaker_files(self) -> tuple[Any, ...]:
        """One file of speakers, or one for each side."""
        if self.speakers is None:
            return ()
        if isinstance(self.speakers, str):
            return tuple(part.strip() for part in self.speakers.split(","))
        single = isinstance(self.speakers, os.PathLike | Mapping)
        return (self.speakers,) if single else tuple(self.speakers)

    @property
    def files(self) -> list[PathLike]:
        """What is read besides scores and key."""
        return [one for one in self.speaker_files if isinstance(one, str | os.PathLike)]

    def engine(self) -> Engine:
        """Where passes run: a context, in which it is used.

        Raises
        ------
        ClusterError, InputError
            If there is no such cluster.
        """
        if self.dask is None:
            from deciban.engines.threads import Threads

            return Threads()
        from deciban.engines.dask import DaskEngine

        return DaskEngine.of(self.dask)


def _size(memory: Any) -> int:
    """Bytes of what a user writes.

    Raises
    ------
    InputError
        If it is no size, or below 64 MB.
    """
    found = None
    if isinstance(memory, int) and not isinstance(memory, bool):
        found = memory
    elif isinstance(memory, str) and (match := _MEMORY.fullmatch(memory)) is not None:
        found = round(float(match[1]) * _UNITS[(match[2] or "").lower()])
    if found is None:
        raise InputError(f"memory: got {memory!r}. Write a size, such as 2GB, 500MB or a number of bytes.")
    if found < _LEAST:
        raise InputError(f"memory: got {memory!r}. The least that work in pieces needs is {_LEAST // 10**6} MB.")
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
