"""Streams that can be read only once, and atomic writing of files and folders."""

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
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from deciban.errors import FormatError, InputError, display_name, one_line, require_file_name

if TYPE_CHECKING:
    from deciban.types import PathLike


def content_of(file: Any, name: str) -> bytes:
    """Return the rest of an open file as bytes.

    Raises
    ------
    InputError
        If the file is closed, cannot be read, or returns neither bytes nor text.
    """
    try:
        result = file.read()
    except (ValueError, io.UnsupportedOperation) as error:
        raise InputError(
            f"{name}: cannot be read: {str(error).rstrip('.')}. Open it for reading, for example with open(path, 'rb')."
        ) from error
    if isinstance(result, str):
        return result.encode("utf-8", "surrogateescape")
    if not isinstance(result, bytes | bytearray | memoryview):
        raise InputError(f"{name}: read() returned {type(result).__name__}, expected bytes or text.")
    return bytes(result)


class _Ahead:
    """A stream that can return its first bytes without consuming them."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self._head = stream, io.BytesIO()

    def look(self, n: int) -> bytes:
        """Return the first ``n`` bytes, or fewer at the end; `read` returns them again."""
        have = self._head.getvalue()
        have += self.stream.read(max(n - len(have), 0))
        self._head = io.BytesIO(have)
        return have

    def read(self, n: int = -1) -> bytes:
        """Read up to ``n`` bytes, or all if ``n`` is negative."""
        result = self._head.read(n)
        return result + self.stream.read(n if n < 0 else n - len(result)) if n < 0 or len(result) < n else result


_HEAD = 4096
"""Number of bytes to check for NUL bytes of a device."""

_AHEAD: dict[str, _Ahead] = {}
"""Streams with bytes that were read ahead, until `stream_of` opens them."""


def _begun(path: str | os.PathLike[str]) -> _Ahead:
    ahead = _AHEAD.get(str(path))
    if ahead is not None and (str(path) != "-" or ahead.stream is sys.stdin.buffer):
        return ahead
    if str(path) == "-":
        return _with_end(_Ahead(sys.stdin.buffer), "standard input")
    with ExitStack() as opened:
        begun = _with_end(_Ahead(opened.enter_context(Path(path).open("rb"))), one_line(str(path)))
        opened.pop_all()
        return begun


def _with_end(stream: _Ahead, name: str) -> _Ahead:
    """Return the stream; refuse a device that delivers NUL bytes, such as ``/dev/zero``, because it never ends."""
    try:
        number = stream.stream.fileno()
    except OSError:  # not a file of the operating system
        return stream
    if stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number) and b"\0" in stream.look(_HEAD):
        raise FormatError(f"{name}: this device delivers NUL bytes, so it contains no table. Name a file or a pipe.")
    return stream


def looked_ahead(path: str | os.PathLike[str], n: int) -> bytes:
    """Return the first bytes of standard input or of a pipe; `stream_of` returns them again.

    Parameters
    ----------
    path : path
    n : int
        Number of bytes; fewer are returned if the stream is shorter.
    """
    _AHEAD[str(path)] = stream = _begun(path)
    return stream.look(n)


@contextmanager
def stream_of(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Yield standard input or a pipe from its beginning, even after `looked_ahead`; it can be read once."""
    stream = _begun(path)
    _AHEAD.pop(str(path), None)
    try:
        yield stream
    finally:
        if str(path) != "-":
            stream.stream.close()


UNFINISHED: set[Path] = set()
"""Files and folders that must be removed if this process stops early."""

_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors for a full disk or an exhausted quota."""

_ABANDONED = 60.0
"""Seconds after the last write until an unlocked file counts as abandoned."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces ``path`` only if the block ends without an error.

    Until then the old file stays unchanged; after an error or on a full disk no new file remains. The next write to the
    same file removes the remains of a writer that was killed. A device or a pipe cannot be replaced: everything is
    written to it at the end of the block.

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
    """Remove all unfinished files and folders of this process; for use shortly before it stops."""
    for aside in list(UNFINISHED):
        gone = aside.with_stem(f"{aside.stem}-gone")
        with contextlib.suppress(OSError):
            if aside.is_dir():
                aside.rename(gone)  # so that other threads cannot create files in it
            else:
                aside.unlink(missing_ok=True)
        for folder in (gone, aside):  # this may run twice at once, and some systems cannot rename open files
            shutil.rmtree(folder, ignore_errors=True)


class ScratchFolder:
    """A folder for temporary files (in ``TMPDIR``) that is removed after use or at the end of the process.

    If a process is killed, its folder stays; the next process that creates such a folder removes it.

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
        """Remove the folder now."""
        self._gone()

    @contextmanager
    def or_nothing(self, needs: int = 0) -> Iterator[Path]:
        """Remove the folder if the block fails.

        Parameters
        ----------
        needs : int
            Number of bytes that the block writes, for the message about a full disk; 0 if it is unknown.
        """
        try:
            yield self.path
        except BaseException as error:
            size = needs
            with contextlib.suppress(OSError):  # a thread may still remove files
                size = max(needs, sum(one.lstat().st_size for one in self.path.rglob("*")))
            self.remove()
            if isinstance(error, OSError) and error.errno in _FULL:
                amount = f" (at least {size / 1e6:,.1f} MB are needed)" if round(size / 1e6, 1) else ""
                words = f"no space for temporary files{amount}. Free some space, or set TMPDIR to another folder"
                raise OSError(error.errno, words, str(self.path.parent)) from error
            raise


def _remove(folder: Path, handle: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    UNFINISHED.discard(folder)
    if handle is not None:
        os.close(handle)


def _claims() -> str:
    """Return the prefix of locked folders of this machine: other machines that share the disk may not see the locks."""
    return f"deciban-{hashlib.sha256(os.fsencode(platform.node())).hexdigest()[:8]}-"


_TRIES = 5


def _claimed_folder() -> tuple[Path, int | None]:
    """Create a temporary folder and lock it until the process ends; the lock is None if folders cannot be locked here.

    Another process may remove the folder before it is locked, because it looks abandoned. Then try again.
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
    return Path(tempfile.mkdtemp(prefix="deciban-")), None  # with this prefix, no other process removes it


def _locked(folder: Path) -> int | None:
    """Open and lock a folder; return None if another process holds the lock or folders cannot be locked."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows cannot open folders
        return None
    if lock(handle):
        return handle
    os.close(handle)
    return None


def _remove_abandoned_folders() -> None:
    """Remove unlocked folders that killed processes of this user left behind."""
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
    """Return the prefix of temporary files that will replace a target."""
    return f".deciban-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}-"


def lock(handle: int) -> bool:
    """Lock a file until it is closed; return False if another process holds the lock or locking is impossible."""
    try:
        fcntl = importlib.import_module("fcntl")  # missing on Windows
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove unlocked files that killed writers of this target left behind, except very new ones."""
    for aside in target.parent.glob(f"{_prefix(target)}*.part"):
        with contextlib.suppress(OSError):
            if time.time() - aside.stat().st_mtime < _ABANDONED:
                continue
            with aside.open("rb") as stream:
                if lock(stream.fileno()):
                    aside.unlink()


def sync_folder(folder: Path) -> None:
    """Flush a folder to the disk, if the system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def scratch_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file without a name on the disk of ``path``, which needs the space anyway.

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
    """Set the name of the target, not of the temporary file, in errors such as a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(".part"):
            error.filename = str(target)
        raise


def _resolved(target: Path) -> Path:
    """Return the target of symbolic links, so that a write replaces it and keeps the links."""
    try:
        return target.resolve()
    except RuntimeError as error:  # links in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target)) from error


def _created(aside: Path, target: Path) -> int:
    """Create a file with the permissions of the target, or with default permissions; return its handle."""
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    # The kernel applies the umask. To read it, we would have to change it for all threads.
    handle = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666 if mode is None else mode)
    if mode is not None:
        os.fchmod(handle, mode)
    return handle


MOST_OF_SETTINGS = 1 << 26
"""Maximum number of bytes in a file of settings, such as costs or options."""


def read_short_text(path: PathLike, most: int | None = None) -> str:
    """Return the text of a file that is short, unless it is the wrong one; ``most`` is in bytes.

    Raises
    ------
    FormatError
        If it is too long, or not UTF-8.
    OSError
    """
    with Path(path).open("rb") as stream:
        content = stream.read((most := most or MOST_OF_SETTINGS) + 1)
    name = display_name(path)
    if len(content) > most:
        raise FormatError(f"{name}: more than {most:,} bytes. Shorten it, or name another file.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: not text in UTF-8 ({error.reason} at byte {error.start}).") from error


def toml_of(text: str, name: str, example: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Parameters
    ----------
    text : str
    name : str
        Name of the file for messages.
    example : str
        Sentence that shows the layout of such files.

    Raises
    ------
    FormatError
    """
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        words = str(error)
        if not isinstance(error, tomllib.TOMLDecodeError):  # numbers of thousands of digits, thousands of brackets
            words = "lists nested too deeply" if isinstance(error, RecursionError) else "numbers too long"
        raise FormatError(f"{name}: not TOML ({words}). {example}") from error


def is_file(name: PathLike) -> bool:
    """Return True if a readable file with this name exists."""
    try:
        return Path(name).exists() and not Path(name).is_dir()
    except (OSError, ValueError):  # the name is too long, or access is denied
        return False


_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Unfinished:
    """A folder that is being filled under a temporary name.

    Attributes
    ----------
    path : path
        The temporary folder.
    finished : tuple of str
        Names of files from an interrupted run that can be kept.
    n_stale : int
        Number of files from an interrupted run that had other sources and were removed.
    """

    path: Path
    finished: tuple[str, ...]
    n_stale: int

    @contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file for writing; it gets its name if the block ends without an error."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as stream:
            yield stream


@contextmanager
def whole_folder(target: Path, keys: Mapping[str, str]) -> Iterator[Unfinished]:
    """Fill a folder that appears only if the block ends without an error.

    Parameters
    ----------
    target : path
        The folder. It must be empty or not exist.
    keys : mapping of str to str
        For each file name, a text that identifies the sources of the file. A file of an interrupted run is kept if its
        text is the same.

    Yields
    ------
    Unfinished

    Raises
    ------
    InputError
        If the folder is not empty, or another run is filling it.
    OSError
        If the folder cannot be created.

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
                f"{display_name(target)}: another run is writing this folder. Wait until it ends, or use another name."
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
    """Raise if the target exists and is not an empty folder.

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
            f"{display_name(target)}: already exists. deciban writes a folder as a whole: remove this one first, or "
            "choose another name."
        )


def _taken_up(path: Path, keys: Mapping[str, str]) -> Unfinished:
    """Keep the reusable files of an interrupted run, remove the others, and write the manifest of this run."""
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
    """Remove a folder that contains no finished file."""
    if all(one.is_dir() or one.name in (_MANIFEST, "lock") for one in path.rglob("*")):
        shutil.rmtree(path, ignore_errors=True)
