"""Files that are read as one table: refuse one that is there twice."""

from __future__ import annotations

import filecmp
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from deciban._files import display_name
from deciban.errors import FormatError

_SAMPLE = 1 << 13
"""Bytes at the beginning, in the middle and at the end. Only files with equal samples are compared as a whole."""


def refuse_doubles(paths: Sequence[Path]) -> None:
    """Refuse a file that is listed twice, under its own name or by a link, or whose content another file has, too.

    The trials of such a file would count twice.

    Raises
    ------
    FormatError

    Examples
    --------
    >>> refuse_doubles([Path("a.parquet"), Path("./a.parquet")])
    Traceback (most recent call last):
    deciban.errors.FormatError: a.parquet is read twice, as a.parquet and as a.parquet. Name each file once.
    """
    known: dict[Path, Path] = {}
    for path in paths:
        first = known.setdefault(path.resolve(), path)
        if first is not path:
            names = display_name(first), display_name(path)
            raise FormatError(f"{names[1]} is read twice, as {names[0]} and as {names[1]}. Name each file once.")
    for one, other in _alike(paths):
        if filecmp.cmp(one, other, shallow=False):
            raise FormatError(
                f"{display_name(other)}: the same content as {display_name(one)}, so that its trials would count "
                "twice. Remove one of the two; if these are other trials, put both into one file."
            )


def _alike(paths: Sequence[Path]) -> Iterator[tuple[Path, Path]]:
    """Files of one size that begin, go on and end alike."""
    by_size = defaultdict[int, list[Path]](list)
    for path in paths:
        by_size[path.stat().st_size].append(path)
    for size, same in by_size.items():
        known: dict[bytes, Path] = {}
        for path in same if len(same) > 1 else []:
            first = known.setdefault(_digest(path, size), path)
            if first is not path:
                yield first, path


def _digest(path: Path, size: int) -> bytes:
    found = hashlib.sha256()
    with path.open("rb") as stream:
        for start in (0, size // 2, max(size - _SAMPLE, 0)):
            stream.seek(start)
            found.update(stream.read(_SAMPLE))
    return found.digest()
