"""Whole files or none: write aside, then rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of ``path`` only when the block ends without an error.

    Until then the old file stays as it is; after an error or a full disk nothing new is left behind. What is not a
    regular file (a device, a pipe) cannot be replaced and is written to.

    Parameters
    ----------
    path : path

    Yields
    ------
    binary stream

    Examples
    --------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "out.txt"
    >>> with atomic_write(target) as stream:
    ...     _ = stream.write(b"all of it")
    >>> target.read_text()
    'all of it'
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        with _named(target), target.open("wb") as stream:
            yield stream
        return
    target = target.resolve()
    with _named(target):
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=".deciban-", suffix=".part")
    try:
        with _named(target), os.fdopen(handle, "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(aside).chmod(_mode_of(target))
        Path(aside).replace(target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


@contextmanager
def _named(target: Path) -> Iterator[None]:
    """Let an error such as a full disk say which file it befell, not the one aside."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(".part"):
            error.filename = str(target)
        raise


def _mode_of(target: Path) -> int:
    """Permissions of the file that is replaced, or those that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
