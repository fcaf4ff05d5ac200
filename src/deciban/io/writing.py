"""Writing of tables: whole or not at all, exact, in order, never onto a file that is read nor twice onto one."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from deciban._files import PathLike, atomic_write, display_name, require_file_name, scratch_file
from deciban.errors import FormatError, InputError
from deciban.io.contents import KIND_OF, ContentKind, Contents, Item, Written, require
from deciban.io.formats import SILENT_ENDINGS, Format, TextFormat, by_name, for_ending, formats
from deciban.io.source import CODECS, codec_for, files_of, unpacked_name
from deciban.io.text.writer import write_text
from deciban.trials.lists import ROW


def refuse_overwriting(
    targets: Sequence[PathLike], inputs: Sequence[PathLike | None], *, made: PathLike | None = None
) -> None:
    """Refuse to write to a file that is read, by whatever name, to two things at once, or where there is no folder.

    Parameters
    ----------
    targets : sequence of paths
        What will be written; ``-`` is standard output.
    inputs : sequence of paths or None
        What is read: files, folders, patterns, ``-``. A link, another spelling, or another name of the same file on
        the disk is the same file.
    made : path, optional
        A folder that is made if it is not there. Left out, targets are files.

    Raises
    ------
    InputError
        If a target is an input, lies in a folder that is read or is not there, is a folder, or is written twice.

    Examples
    --------
    >>> refuse_overwriting(["out.txt"], ["scores.txt", None, "-"])
    >>> refuse_overwriting(["out.txt", "./out.txt"], [])
    Traceback (most recent call last):
    deciban.errors.InputError: out.txt: would be written twice. Give every output a name of its own.
    """
    for target in targets:
        require_file_name(target)
        if made is None and (str(target).endswith(("/", os.sep)) or Path(target).is_dir()):
            raise InputError(f"{display_name(target)}: is the name of a folder. Name a file to write.")
    names = [os.path.realpath(target) if str(target) != "-" else "-" for target in targets]
    twice = next((target for target, name in zip(targets, names, strict=True) if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{target_name(twice)}: would be written twice. Give every output a name of its own.")
    read = [Path(file) for path in inputs if path is not None and str(path) != "-" for file in files_of(path)]
    for target in (Path(target) for target in targets if str(target) != "-"):
        for path in read:
            is_same = path.is_file() and target.exists() and target.samefile(path)
            if is_same or (path.is_dir() and path.resolve() in target.resolve().parents):
                raise InputError(
                    f"{display_name(target)}: is an input, or would become a part of one. Choose another name for the "
                    "output."
                )
    for target in targets:
        _require_folder(Path(target), made)


def _require_folder(target: Path, made: PathLike | None) -> None:
    """Refuse a target whose folder is not there, and is not going to be."""
    folder = target.parent
    if made is not None and folder == Path(made) and not folder.exists():
        folder = folder.parent
    if str(target) != "-" and not folder.is_dir():
        raise InputError(
            f"{display_name(target)}: there is no folder {str(folder)!r}. Make it first, or write elsewhere."
        )


def write(item: Item | Contents, path: PathLike, *more: Item, format: str | None = None) -> Format:
    """Write tables of trials to a file.

    Parameters
    ----------
    item : Index, Key, Scores, ClassScores, ClassKey, Quality, SegmentQuality, IdMap or Contents
        Of the contents of another file, what the format has room for is written.
    path : path
        Replaced as a whole when everything is written. ``.gz``, ``.bz2`` and ``.zst`` compress; ``-`` is standard
        output.
    *more : the same
        What belongs to the same trials: a key with its scores, the scores of further systems.
    format : str, optional
        Name of the format; left out, the ending of the file decides, and where that says nothing (``.txt``, or names
        like ``.scores`` and ``.key``; others are refused) lists are written as ``kaldi`` (two names), ``nist-sre``
        (two names and a side), ``trial`` (one) or ``rows`` (none).

    Returns
    -------
    Format
        The format that was written.

    Raises
    ------
    FormatError
        If the format cannot hold these tables, or not these names. An old file is still there then.
    InputError
        If there is no such format, or the tables speak of different trials.
    OSError
        If the file cannot be written, for example because the disk is full; an old file is still there then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban import Scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> write(Scores.of({"enroll": ["ann", "bob"], "test": ["x", "y"]}, [0.1, -2.0]), path).name
    'kaldi'
    >>> print(path.read_text(), end="")
    ann x 0.1
    bob y -2
    """
    if not isinstance(item, Contents):
        return put(Contents.of(item, *more), path, format, [KIND_OF[type(one)] for one in (item, *more)])[0]
    if more:
        raise InputError("contents of a file are written alone, not with more tables. Put all into one Contents.")
    return put(item, path, format)[0]


def put(
    contents: Contents,
    path: PathLike,
    name: str | None,
    needed: Sequence[ContentKind] = (),
    columns: Sequence[str] = (),
) -> tuple[Format, Written]:
    """Write contents to a file; see `write`.

    Parameters
    ----------
    contents : Contents
    path : path
    name : str or None
        Name of the format.
    needed : sequence of kinds
        What has to be written. The rest is if the format has room for it.
    columns : sequence of str
        Conditions that have to be written, too.

    Returns
    -------
    Format
    Written

    Raises
    ------
    FormatError, InputError, OSError
        As in `write`.
    """
    chosen = _chosen(contents, path, name)
    if not chosen.writes:
        writable = ", ".join(name for name, one in formats().items() if one.writes)
        raise InputError(f"format: {chosen.name} is read, not written. These are written: {writable}.")
    require(contents, chosen.writes, chosen.name)
    if chosen.detection_llr:
        from deciban.io.units import as_detection_llrs  # most outputs need none of it

        contents = as_detection_llrs(contents)
    with opened(path) as stream:
        if isinstance(chosen, TextFormat):
            written = write_text(contents, chosen, stream)
        else:
            writer: Any = chosen  # a format that is written
            written = writer.write(contents, stream)
        if lacking := [kind for kind in needed if kind not in written.kinds]:
            room = " and ".join(sorted(written.kinds - {"index"}) or ["index"])
            raise FormatError(
                f"{chosen.name} has room for {room}, but not for {' and '.join(lacking)} in the same file. Write two "
                "files, or choose another format (table, parquet)."
            )
        if left_out := [one for one in columns if one not in written.conditions]:
            raise FormatError(
                f"{chosen.name} has no room for the columns {' and '.join(left_out)}. Choose a format with columns "
                "that are called by a name: table (.csv), tsv, lir, parquet, arrow or npz (--to)."
            )
    return chosen, written


@contextlib.contextmanager
def opened(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a target: written whole or not at all, compressed as its ending says; ``-`` is standard output.

    Yields
    ------
    binary stream
        New and seekable.
    """
    codec = codec_for(str(path))
    with plainly_opened(path) as stream:
        if codec is None:
            yield stream
            return
        with scratch_file(path) as plain:
            yield plain
            plain.seek(0)
            with codec.pack(stream) as packed:
                shutil.copyfileobj(plain, packed, 1 << 20)


def target_name(path: PathLike) -> str:
    """What messages call a file that is written."""
    return "standard output" if str(path) == "-" else display_name(path)


def _chosen(contents: Contents, path: PathLike, name: str | None) -> Format:
    if name is not None:
        return by_name(name)
    shown = target_name(path)
    found = for_ending(shown)
    if found is not None:
        return found
    _refuse_unknown_ending(shown)
    listed = {("enroll", "test"): "kaldi", ("enroll", "test", "side"): "nist-sre", ("trial",): "trial"}
    listed |= {ROW: "rows"} if contents.systems else {}
    special = {"class-scores": "nist-lre", "class-key": "nist-lre"}
    special |= {"segment-quality": "bosaris-quality", "id-map": "bosaris-idmap"}
    kind = contents.kinds[0] if contents.kinds else "nothing"
    sides = contents.index.trials.sides if contents.index is not None else ()
    default = special.get(kind) or listed.get(sides)
    if default is None:
        raise FormatError(
            f"{shown}: its ending does not say in which format to write {kind}. Name one: "
            f"--to {', '.join(one for one, f in formats().items() if set(f.writes) & set(contents.kinds))}."
        )
    return by_name(default)


def _refuse_unknown_ending(shown: str) -> None:
    """Refuse names that promise a format which is not written; numbers, as of versions, promise none."""
    ending = Path(unpacked_name(shown)).suffix.casefold()
    if ending in SILENT_ENDINGS or not any(map(str.isalpha, ending)):
        return
    known = sorted({one for form in formats().values() if form.writes for one in form.endings})
    raise InputError(
        f"{shown}: no format is known by the ending {ending}. Use {', '.join(known)} (.txt for plain lists; "
        f"{', '.join(codec.ending for codec in CODECS)} behind it to compress), or name the format (--to)."
    )


@contextlib.contextmanager
def plainly_opened(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a target that is never compressed; otherwise like `opened`.

    Yields
    ------
    binary stream
    """
    if str(path) != "-":
        with atomic_write(path) as stream:
            yield stream
        return
    with tempfile.TemporaryFile() as aside:  # standard output cannot be sought in, and gets all or nothing
        yield aside
        aside.seek(0)
        shutil.copyfileobj(aside, sys.stdout.buffer, 1 << 20)
    sys.stdout.buffer.flush()
