"""Which files a command read and wrote, so that figures can be traced to bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from deciban.io.source import PathLike, TwoFiles, display_name, files_of
from deciban.steps import teller

_PIECE = 1 << 24
"""Bytes of a file that are hashed between two words of how far that is; smaller files are hashed in one go."""


def described(roles: Mapping[str, Iterable[PathLike | TwoFiles | None]]) -> list[dict[str, Any]]:
    """Name files by path, role, size in bytes and SHA-256 of their bytes as they stand on disk.

    Every file is read once more for that. What can be read only once (standard input, a pipe) has neither size nor
    hash.

    Parameters
    ----------
    roles : mapping of str to iterable of path, TwoFiles or None
        What files are for, and which these are; a pattern or a folder stands for several, and None for no file. Two
        files of one system are for ``tar`` and ``non``.

    Returns
    -------
    list of dict

    Raises
    ------
    OSError
        If one cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "empty.txt"
    >>> path.touch()
    >>> [(one["role"], one["size"], one["sha256"][:8]) for one in described({"key": [path]})]
    [('key', 0, 'e3b0c442')]
    """
    found = [(role, path) for role, given in roles.items() for one in given for role, path in _single(role, one)]
    return [_one(role, file) for role, path in dict.fromkeys(found) for file in _parts(path)]


def _single(role: str, given: PathLike | TwoFiles | None) -> list[tuple[str, PathLike]]:
    if isinstance(given, TwoFiles):
        return [("tar", given.tar), ("non", given.non)]
    return [] if given is None else [(role, given)]


def _parts(path: PathLike) -> list[PathLike]:
    """The files that a name stands for."""
    parts = list[PathLike]()
    for one in files_of(path):
        inside: list[PathLike] = [*sorted(Path(one).rglob("*.parquet"))] if Path(one).is_dir() else [one]
        parts += inside
    return parts


def _one(role: str, path: PathLike) -> dict[str, Any]:
    name = "-" if str(path) == "-" else display_name(path)
    known: dict[str, Any] = {"role": role, "path": name, "size": None, "sha256": None}
    if name == "-" or not Path(path).is_file():
        return known
    with Path(path).open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        return known | {"size": size, "sha256": _digest(stream, size)}


def _digest(stream: BinaryIO, size: int) -> str:
    """The hash of a file; of a large one, how far that is is told."""
    found, tell = hashlib.sha256(), teller(size, "bytes")
    while piece := stream.read(_PIECE):
        found.update(piece)
        if size > _PIECE:
            tell(stream.tell())
    return found.hexdigest()
