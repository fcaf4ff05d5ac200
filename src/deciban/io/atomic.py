"""Whole files or none: write aside, then rename."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from deciban.io.source import require_file_name


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of ``path`` only when the block ends without an error.

    Until then the old file stays as it is; after an error or a full disk nothing new is left behind. What is not a
    regular file (a device, a pipe) cannot be replaced: it gets everything at the end of the block.

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
    require_file_name(path)
    target = Path(path)
    if target.exists() and not target.is_file():
        with _named(target), target.open("wb") as device, tempfile.TemporaryFile() as stream:
            yield stream
            stream.seek(0)
            shutil.copyfileobj(stream, device, 1 << 20)
        return
    target = _resolved(target)
    aside = target.parent / f".deciban-{secrets.token_hex(8)}.part"
    with _named(target):
        handle = _created(aside, target)
    try:
        with _named(target), os.fdopen(handle, "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def scratch_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a nameless file on the disk where ``path`` will be, which has to have room for it anyway.

    Yields
    ------
    binary stream
    """
    target = Path(path)
    is_special = target.exists() and not target.is_file()
    with tempfile.TemporaryFile(dir=None if is_special else _resolved(target).parent) as stream:
        yield stream


@contextmanager
def _named(target: Path) -> Iterator[None]:
    """Let an error such as a full disk say which file it befell, not the one aside."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(".part"):
            error.filename = str(target)
        raise


def _resolved(target: Path) -> Path:
    """The file that links lead to, so that it is replaced and they stay."""
    try:
        return target.resolve()
    except RuntimeError as error:  # links in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target)) from error


def _created(aside: Path, target: Path) -> int:
    """A new file with the permissions of the one that it will replace, or those that any new file gets."""
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    # The kernel applies the umask; to ask what it is would mean to change it for all threads.
    handle = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666 if mode is None else mode)
    if mode is not None:
        os.fchmod(handle, mode)
    return handle
