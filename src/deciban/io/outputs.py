"""What is about to be written: never onto a file that is read, and never two things onto one file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from deciban.errors import InputError
from deciban.io.source import PathLike, display_name, files_of, require_file_name
from deciban.io.writing import target_name


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
        A folder that is made if it is not there.

    Raises
    ------
    InputError
        If a target is an input, lies in a folder that is read or is not there, or is written twice.

    Examples
    --------
    >>> refuse_overwriting(["out.txt"], ["scores.txt", None, "-"])
    >>> refuse_overwriting(["out.txt", "./out.txt"], [])
    Traceback (most recent call last):
    deciban.errors.InputError: out.txt: would be written twice. Give every output a name of its own.
    """
    for target in targets:
        require_file_name(target)
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
