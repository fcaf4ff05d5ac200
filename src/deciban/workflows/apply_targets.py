"""Where the outputs of applied models go, and in which form an input is written again."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from deciban.errors import InputError
from deciban.io.contents import Contents
from deciban.io.formats import by_name
from deciban.io.reader import Input
from deciban.io.source import PathLike, display_name
from deciban.io.writing import target_name
from deciban.trials import Trials
from deciban.trials.joining.lookup import Wanted

_DELIMITED = {",": "table", "\t": "tsv"}


def output_targets(paths: list[PathLike], out: PathLike, *, one_by_one: bool) -> list[PathLike]:
    """The file to write for each input, or the one for all of them.

    Raises
    ------
    InputError
        If there are several inputs that cannot go where they should.
    """
    if not one_by_one:
        paths = paths[:1]
    if not is_folder(out):
        if len(paths) > 1:
            raise InputError(
                f"{target_name(out)}: {len(paths)} score files for a model of one system become as many files. Name a "
                "folder to write them to (-o FOLDER/), or read them as one input with a pattern ('part-*.txt')."
            )
        return [out]
    nameless = next((path for path in paths if str(path) == "-" or set(str(path)) & set("*?[")), None)
    if nameless is not None and not Path(nameless).exists():
        raise InputError(f"{display_name(nameless)}: has no file name to be written under in a folder. Name a file.")
    return [Path(out) / Path(path).name for path in paths]


def is_folder(out: PathLike) -> bool:
    """Whether an output is a folder, or is to become one."""
    return str(out).endswith(("/", os.sep)) or Path(out).is_dir()


def with_trials(first: Input, trials: Trials) -> Input:
    """The first input, with these of its trials; its lines stay only if all do, and hold one score each."""
    contents = first.contents
    scored = contents.systems[0].trials
    whole = len(trials) == len(scored)
    if whole and len(contents.systems) == 1:
        return first
    if not whole:
        rows = Wanted(trials).find(scored).rows
        fields = {name: getattr(contents, name) for name in ("index", "key", "class_scores", "class_key")}
        contents = replace(contents, **{name: one.take(rows) for name, one in fields.items() if one is not None})
    return as_table(first, contents)


def as_table(first: Input, contents: Contents) -> Input:
    """Other contents in the format of the first input, not in its lines."""
    form = first.format
    if form.name == "table" and first.layout is not None:
        form = by_name(_DELIMITED.get(first.layout.delimiter, form.name))
    return replace(first, contents=contents, format=form, source=None, layout=None)
