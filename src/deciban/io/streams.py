"""What can be read only once: standard input and pipes, whose beginning may be looked at before they are read."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


class _Ahead:
    """A stream of which some bytes were read ahead."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self._head = stream, io.BytesIO()

    def look(self, n: int) -> bytes:
        """The first ``n`` bytes, fewer if there are no more; they are read again."""
        have = self._head.getvalue()
        have += self.stream.read(max(n - len(have), 0))
        self._head = io.BytesIO(have)
        return have

    def read(self, n: int = -1) -> bytes:
        """As any stream."""
        found = self._head.read(n)
        return found + self.stream.read(n if n < 0 else n - len(found)) if n < 0 or len(found) < n else found


_AHEAD: dict[str, _Ahead] = {}
"""Streams that were looked at, and are still to be read."""


def _begun(path: str | os.PathLike[str]) -> _Ahead:
    if str(path) == "-":
        known = _AHEAD.get("-")
        return known if known is not None and known.stream is sys.stdin.buffer else _Ahead(sys.stdin.buffer)
    return _AHEAD.get(str(path)) or _Ahead(Path(path).open("rb"))


def looked_ahead(path: str | os.PathLike[str], n: int) -> bytes:
    """The first bytes of standard input or of a pipe, which is still to be read as a whole.

    Parameters
    ----------
    path : path
    n : int
        So many, or fewer if there are no more.
    """
    _AHEAD[str(path)] = stream = _begun(path)
    return stream.look(n)


@contextmanager
def stream_of(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Standard input or a pipe, from its beginning even if somebody looked at it; it can be read once."""
    stream = _begun(path)
    _AHEAD.pop(str(path), None)
    try:
        yield stream
    finally:
        if str(path) != "-":
            stream.stream.close()
