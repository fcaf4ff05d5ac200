"""Names of files, streams that are read only once, and files and folders that are written as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib
import io
import json
import os
import platform
import secrets
import shutil
import stat
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias

from deciban.errors import FormatError, InputError
from deciban.messages import one_line

PathLike: TypeAlias = str | os.PathLike[str]


Readable: TypeAlias = PathLike | IO[bytes] | IO[str]
"""A file by its name, or an open one."""


def is_open_file(path: object) -> bool:
    """Whether this is an open file, or something else to read from, and no name.

    >>> is_open_file(io.BytesIO()), is_open_file("scores.txt")
    (True, False)
    """
    return hasattr(path, "read") and not isinstance(path, str | os.PathLike)


def display_name(path: object) -> str:
    r"""What messages call a file.

    A file name need not be text: what cannot be encoded is shown as a question mark, and what a terminal would obey
    instead of showing it, as an escape.

    Examples
    --------
    >>> print(display_name("a\x1b[2J\n.txt"))
    a\x1b[2J\n.txt
    """
    if str(path) == "-":
        return "standard input"
    if is_open_file(path):
        own = getattr(path, "name", None)
        return display_name(own) if isinstance(own, str) and own != "-" else "open file"
    name = str(path).encode("utf-8", "replace").decode()
    return one_line(name)


def require_file_name(path: Readable) -> None:
    """Refuse what is no file and names none: an empty name would be the current folder.

    Raises
    ------
    InputError
    """
    given: object = path
    if not isinstance(given, str | os.PathLike) and not is_open_file(given):
        raise InputError(f"path: got {type(given).__name__}. Name a file, or pass an open one.{_way_out(given)}")
    if not str(path):
        raise InputError("empty file name. Name a file, or - for standard input; is a variable of the shell not set?")
    if "\0" in str(path):
        raise InputError(f"{display_name(path)}: no file name holds NUL.")


def _way_out(given: object) -> str:
    """What to do with something that is no file."""
    if isinstance(given, bytes | bytearray | memoryview):
        return " Bytes that were read before are one by io.BytesIO(...)."
    if isinstance(given, Mapping) or hasattr(given, "columns") or hasattr(given, "__arrow_c_stream__"):
        return (
            " deciban.evaluate takes data frames as they are; deciban.trials.scores_from and key_from make tables of "
            "trials of their columns."
        )
    if hasattr(given, "__array__") or isinstance(given, list | tuple):
        return " deciban.evaluate takes arrays as they are."
    return ""


def content_of(file: Any, name: str) -> bytes:
    """All that is left in an open file, of bytes or of text.

    Raises
    ------
    InputError
        If it is closed, cannot be read, or gives neither.
    """
    try:
        found = file.read()
    except (ValueError, io.UnsupportedOperation) as error:
        raise InputError(
            f"{name}: cannot be read: {str(error).rstrip('.')}. Open it for reading, as open(path, 'rb') does."
        ) from error
    if isinstance(found, str):
        return found.encode("utf-8", "surrogateescape")
    if not isinstance(found, bytes | bytearray | memoryview):
        raise InputError(f"{name}: reading gives {type(found).__name__}, expected bytes or text.")
    return bytes(found)


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


UNFINISHED: set[Path] = set()
"""Files and folders of this process that are to go, for whoever ends it without waiting."""

_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a disk, or of what one may take of it, that is full."""

_ABANDONED = 60.0
"""Seconds after the last write from which a file that nobody claims is taken for abandoned."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes the place of ``path`` only when the block ends without an error.

    Until then the old file stays as it is; after an error or a full disk nothing new is left behind. What a writer that
    was killed left behind goes with the next write to the same file. What is not a regular file (a device, a pipe)
    cannot be replaced: it gets everything at the end of the block.

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
    _remove_abandoned(target)
    aside = target.parent / f"{_prefix(target)}{secrets.token_hex(8)}.part"
    UNFINISHED.add(aside)
    try:
        with _named(target):
            handle = _created(aside, target)
        with _named(target), os.fdopen(handle, "w+b") as stream:
            lock(stream.fileno())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    finally:
        UNFINISHED.discard(aside)
    sync_folder(target.parent)


def remove_unfinished() -> None:
    """Remove what this process has not written to its end: it is about to stop, in the middle of whatever it does."""
    for aside in list(UNFINISHED):
        gone = aside.with_stem(f"{aside.stem}-gone")
        with contextlib.suppress(OSError):
            if aside.is_dir():
                aside.rename(gone)  # other threads make no more files in it
            else:
                aside.unlink(missing_ok=True)
        for folder in (gone, aside):  # this may run twice at once, and not every system renames what is open
            shutil.rmtree(folder, ignore_errors=True)


class ScratchFolder:
    """A folder for temporary files (in ``TMPDIR``), which is removed when it is no longer needed or the process ends.

    A process that is killed leaves its folder behind; the next one that makes such a folder removes it.

    Attributes
    ----------
    path : path

    Examples
    --------
    >>> folder = ScratchFolder()
    >>> with folder.or_nothing() as path:
    ...     path.is_dir()
    True
    >>> folder.remove()
    >>> path.exists()
    False
    """

    def __init__(self) -> None:
        _remove_abandoned_folders()
        self.path, handle = _claimed_folder()
        UNFINISHED.add(self.path)
        self._gone = weakref.finalize(self, _remove, self.path, handle)

    def remove(self) -> None:
        """Remove it now."""
        self._gone()

    @contextmanager
    def or_nothing(self, needs: int = 0) -> Iterator[Path]:
        """Remove the folder if the block fails.

        Parameters
        ----------
        needs : int
            Bytes that the block writes, for the message about a full disk; 0 if they are not known before.
        """
        try:
            yield self.path
        except BaseException as error:
            size = needs
            with contextlib.suppress(OSError):  # a thread may still remove files
                size = max(needs, sum(one.lstat().st_size for one in self.path.rglob("*")))
            self.remove()
            if isinstance(error, OSError) and error.errno in _FULL:
                amount = f", which need at least {size / 1e6:,.1f} MB" if round(size / 1e6, 1) else ""
                words = f"no room for temporary files{amount}. Make room, or name another folder for them (TMPDIR)"
                raise OSError(error.errno, words, str(self.path.parent)) from error
            raise


def _remove(folder: Path, handle: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    UNFINISHED.discard(folder)
    if handle is not None:
        os.close(handle)


def _claims() -> str:
    """Prefix of claimed folders of this machine: a lock may be unknown to others that share the disk."""
    return f"deciban-{hashlib.sha256(os.fsencode(platform.node())).hexdigest()[:8]}-"


_TRIES = 5


def _claimed_folder() -> tuple[Path, int | None]:
    """Make a temporary folder and lock it for as long as this process lives; None if folders cannot be locked here.

    Another process may take the folder for abandoned before it is locked, and remove it; then there is a new one.
    """
    for _ in range(_TRIES):
        path = Path(tempfile.mkdtemp(prefix=_claims()))
        handle = _locked(path)
        if handle is not None and path.is_dir():
            return path, handle
        if handle is not None:
            os.close(handle)
        elif path.is_dir():  # folders cannot be locked here
            with contextlib.suppress(OSError):
                path.rmdir()
            break
    return Path(tempfile.mkdtemp(prefix="deciban-")), None  # no other process takes it for abandoned


def _locked(folder: Path) -> int | None:
    """Open and lock a folder; None if another process has it, or it cannot be known."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return None
    if lock(handle):
        return handle
    os.close(handle)
    return None


def _remove_abandoned_folders() -> None:
    """Remove what killed processes of this user left behind: folders that nobody has locked."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_claims()}*"):
        with contextlib.suppress(OSError):
            about = folder.lstat()
            is_own = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
            if not is_own:
                continue
            handle = _locked(folder)
            if handle is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(handle)


def _prefix(target: Path) -> str:
    """How the names of files begin that will become this one."""
    return f".deciban-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}-"


def lock(handle: int) -> bool:
    """Claim a file as long as it is open; False if another process has it, or this cannot be known."""
    try:
        fcntl = importlib.import_module("fcntl")  # there is none on Windows
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove what killed writers of this file left behind: what nobody claims, and is not just being made."""
    for aside in target.parent.glob(f"{_prefix(target)}*.part"):
        with contextlib.suppress(OSError):
            if time.time() - aside.stat().st_mtime < _ABANDONED:
                continue
            with aside.open("rb") as stream:
                if lock(stream.fileno()):
                    aside.unlink()


def sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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


def is_file(name: PathLike) -> bool:
    """Return True if a file of this name can be read."""
    try:
        return Path(name).exists() and not Path(name).is_dir()
    except (OSError, ValueError):  # too long for a name, or not to be looked at
        return False


_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Unfinished:
    """A folder that is being filled, beside the one that it will be.

    Attributes
    ----------
    path : path
        Where files are until all are there.
    finished : tuple of str
        Files of an earlier run that was interrupted, which are what this one would write.
    n_stale : int
        Files of an earlier run that were made of something else, and are gone.
    """

    path: Path
    finished: tuple[str, ...]
    n_stale: int

    @contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file for writing, which gets its name when the block ends without an error."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as stream:
            yield stream


@contextmanager
def whole_folder(target: Path, keys: Mapping[str, str]) -> Iterator[Unfinished]:
    """Fill a folder that is there only when the block ends without an error.

    Parameters
    ----------
    target : path
        The folder: not there yet, or empty.
    keys : mapping of str to str
        For every file that it will hold, by its name, of what it is made: one of an earlier run is kept if it was made
        of the same.

    Yields
    ------
    Unfinished

    Raises
    ------
    InputError
        If the folder is there, or another run is filling it.
    OSError
        If it cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "out"
    >>> with whole_folder(target, {"a.txt": "of nothing"}) as folder, folder.file("a.txt") as stream:
    ...     _ = stream.write(b"all of it")
    >>> (target / "a.txt").read_text()
    'all of it'
    """
    require_free(target)
    target = target.resolve()
    path = target.parent / f".{target.name}.unfinished"
    path.mkdir(exist_ok=True)
    with (path / "lock").open("wb") as claim:
        if not lock(claim.fileno()):
            raise InputError(
                f"{display_name(target)}: another run is writing it. Wait for its end, or choose another name."
            )
        try:
            yield _taken_up(path, keys)
        except BaseException:
            _remove_if_empty(path)
            raise
        (path / _MANIFEST).unlink()
        (path / "lock").unlink()
        sync_folder(path)
        path.replace(target)
    sync_folder(target.parent)


def require_free(target: Path) -> None:
    """Refuse to fill a folder that is not empty, or something else.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_free(Path("not there"))
    """
    if target.is_dir() and not any(target.iterdir()):
        return
    if target.exists() or target.is_symlink():
        raise InputError(
            f"{display_name(target)}: is there already. A folder is written as a whole: remove this one first, or "
            "choose another name."
        )


def _taken_up(path: Path, keys: Mapping[str, str]) -> Unfinished:
    """What an earlier run left, without what this one cannot use; and a record of what is to come."""
    manifest = path / _MANIFEST
    before: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError, AttributeError):
        before = dict(json.loads(manifest.read_text("utf-8")).items())
    there = [one for one in path.rglob("*") if one.is_file() and one.name not in (_MANIFEST, "lock")]
    finished, n_stale = [], 0
    for one in there:
        name = one.relative_to(path).as_posix()
        if name in keys and before.get(name) == keys[name]:
            finished.append(name)
            continue
        n_stale += not name.endswith(".part")
        one.unlink()
    for folder in sorted((one for one in path.rglob("*") if one.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()
    with atomic_write(manifest) as stream:
        stream.write(json.dumps(dict(keys), indent=1).encode())
    return Unfinished(path, tuple(finished), n_stale)


def _remove_if_empty(path: Path) -> None:
    """Remove a folder of which no file was finished."""
    if all(one.is_dir() or one.name in (_MANIFEST, "lock") for one in path.rglob("*")):
        shutil.rmtree(path, ignore_errors=True)
