"""How much memory work may take, and where it runs: what a user says about trials that do not fit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from deciban._files import PathLike
from deciban.errors import InputError
from deciban.io.recognition import memory_of
from deciban.memory import allowed_memory, give_back_at_once, memory_error, memory_for_trials
from deciban.trials.passes import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What is done about trials that are too many for the memory.

    Attributes
    ----------
    memory : str or int, optional
        Bytes that may be taken in all, as ``"2GB"``, ``"500MB"`` or a number; what would take more is read in pieces.
        Left out, half of what is free.
    approximate : bool
        Of many classes, whether one pass is enough: minima come with the bounds that they are certainly within.
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
    >>> Scale(memory="2GB").n_bytes
    1940000000
    """

    memory: str | int | None = None
    approximate: bool = False
    dask: Any = None
    speakers: Any = None

    def __post_init__(self) -> None:
        """Check the size."""
        if self.memory is not None:
            allowed_memory(self.memory)
        if not isinstance(self.approximate, bool):
            raise InputError(f"approximate: got {self.approximate!r}. It is True or False.")

    @property
    def n_bytes(self) -> int:
        """Bytes that trials may take: what is allowed, less what Python and its libraries take."""
        return memory_for_trials(self.memory)

    def require_room(self, what: str, scores: Sequence[Any], key: Any = None, *, way: str = "") -> None:
        """Refuse files that must be read as a whole and do not fit in the memory that the user allows.

        Raises
        ------
        InputError
            See `deciban.memory.memory_error`.
        """
        needed = 0 if self.memory is None else memory_of(scores, key)
        if needed > self.n_bytes:
            raise memory_error(what, needed=needed, given=self.n_bytes, way=way)

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
        """Where passes run, as thriftily with memory as is asked for: a context, in which it is used.

        Raises
        ------
        ClusterError, InputError
            If there is no such cluster.
        """
        give_back_at_once(self.n_bytes)
        if self.dask is None:
            from deciban.engines.threads import Threads

            return Threads()
        from deciban.engines.dask import DaskEngine

        return DaskEngine.of(self.dask)
