"""Folders of files, whole or not at all; what an interrupted run finished is kept beside, for the next one."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deciban._files import UNFINISHED, atomic_write, display_name, lock, sync_folder
from deciban.errors import InputError

_MANIFEST = "manifest.json"
_PART = ".part"


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
    def file(self, name: str) -> Iterator[Path]:
        """Where to write a file, which gets its name when the block ends without an error.

        Yields
        ------
        path
        """
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(target.name + _PART)
        UNFINISHED.add(aside)
        try:
            yield aside
            with aside.open("r+b") as stream:
                os.fsync(stream.fileno())
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)
            UNFINISHED.discard(aside)


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
    >>> with whole_folder(target, {"a.txt": "of nothing"}) as folder, folder.file("a.txt") as path:
    ...     _ = path.write_text("all of it")
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
        n_stale += not name.endswith(_PART)
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
