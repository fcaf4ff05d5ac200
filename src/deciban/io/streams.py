"""What can be read only once: standard input and pipes, whose beginning may be looked at before they are read."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from deciban.errors import FormatError
from deciban.messages import one_line


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


_HEAD = 4096
"""Bytes by which a device is judged."""

_AHEAD: dict[str, _Ahead] = {}
"""Streams that were looked at, and are still to be read."""


def _begun(path: str | os.PathLike[str]) -> _Ahead:
    known = _AHEAD.get(str(path))
    if known is not None and (str(path) != "-" or known.stream is sys.stdin.buffer):
        return known
    if str(path) == "-":
        return _with_end(_Ahead(sys.stdin.buffer), "standard input")
    with ExitStack() as opened:
        begun = _with_end(_Ahead(opened.enter_context(Path(path).open("rb"))), one_line(str(path)))
        opened.pop_all()
        return begun


def _with_end(stream: _Ahead, name: str) -> _Ahead:
    """Return the stream; refuse a device that delivers NUL bytes, such as ``/dev/zero``: it never ends."""
    try:
        number = stream.stream.fileno()
    except OSError:  # no file of the operating system
        return stream
    if stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number) and b"\0" in stream.look(_HEAD):
        raise FormatError(f"{name}: this device delivers NUL bytes, so it contains no table. Name a file or a pipe.")
    return stream


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
