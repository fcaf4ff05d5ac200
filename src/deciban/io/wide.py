"""Wide tables that hold trials and not scores of classes: the key says so, whose trials are their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import FormatError, InputError
from deciban.io.formats import by_name
from deciban.io.reader import read_input
from deciban.io.recognition import Opened, Recognized, readable_as
from deciban.io.text.ways import in_lines
from deciban.trials.lists import PAIR

_NAME = "matrix-csv"


def matrices_by_key(
    scores: Sequence[Recognized], key: Recognized | None
) -> tuple[tuple[Recognized, ...], Recognized | None]:
    """Take score files for matrices of enrolments and test segments where their key lists such pairs.

    A table with a name in its first column and numbers in all others holds scores of classes or a matrix of trials.
    A key of pairs has no use for scores of classes; if one of its trials is a row and a column, the table is a matrix.

    Parameters
    ----------
    scores : sequence of Recognized
    key : Recognized or None

    Returns
    -------
    scores, key
        The same, or with the format said.

    Raises
    ------
    InputError
        If the key lists pairs, but none of them is a row and a column.
    """
    files = [str(one.files[0].source.path) for one in (*scores, *(() if key is None else (key,)))]
    if key is None or not all(Path(file).is_file() for file in files):
        return tuple(scores), key  # a stream can be read only once
    wide = [one for one in scores if _may_be_matrix(one)]
    if not wide or "key" not in readable_as(key, ("key", "class-key")):
        matrices = all(one.files[0].asked is by_name(_NAME) for one in scores)
        return tuple(scores), _with_header_of(key, scores[0]) if matrices else key
    try:
        truth = read_input(key, need="key").contents.key
    except (FormatError, InputError):
        return tuple(scores), key  # reading says what is the matter
    if truth is None or truth.trials.sides != PAIR:
        return tuple(scores), key
    for one in wide:
        if not _shares(one.files[0], *truth.trials.names):
            raise InputError(_asked(one.files[0], key, truth.trials.name_of(0)))
    chosen = tuple(
        Recognized(one.path, tuple(replace(file, asked=by_name(_NAME)) for file in one.files)) if one in wide else one
        for one in scores
    )
    return chosen, key


def _may_be_matrix(found: Recognized) -> bool:
    """Whether this is a text table of which nothing is said, and that holds class scores by its looks."""
    file = found.files[0]
    free = file.asked is None and file.options.columns is None
    if not free or file.source.kind != "text":
        return False
    return readable_as(found, ("scores", "class-scores")) == ("class-scores",) and _columns(file) is not None


def _columns(file: Opened) -> list[str] | None:
    """The names of all columns but the first, if all of them hold scores."""
    layout = file.layout("class-scores")
    if layout.header is None or layout.delimiter == " " or {*layout.roles[1:]} != {"score"}:
        return None
    return list(layout.header[1:])


def _shares(file: Opened, enroll: pa.Array, test: pa.Array) -> bool:
    """Whether one of the columns is a test segment, and one of the first rows an enrolment."""
    layout = file.layout("class-scores")
    rows = [line.partition(layout.delimiter)[0].strip(' "') for line in file.sample.lines[1:]]
    return _overlap(_columns(file) or [], test) and _overlap(rows, enroll)


def _overlap(some: list[str], names: pa.Array) -> bool:
    return bool(pc.any(pc.is_in(pa.array(some, pa.string()), names)).as_py())


def _asked(file: Opened, key: Recognized, trial: str) -> str:
    columns = ", ".join((_columns(file) or [])[:3])
    option = [f"--format {_NAME}", "--kind classes"]
    return (
        f"{file.source.name}: scores of the classes {columns}, ..., or a matrix of trials with these test segments? "
        f"{key.files[0].source.name} lists pairs of names, the first {trial}, and none is a row and a column here. "
        f"Say what it is, and bring a key for it:{in_lines(option)}"
    )


def _with_header_of(key: Recognized, scores: Recognized) -> Recognized:
    """A key as a matrix, if it is nothing else and has the columns of the scores."""
    file = key.files[0]
    if file.asked is not None or file.options.columns is not None or file.source.kind != "text":
        return key
    if readable_as(key, ("key", "class-key")) or _first_line(file) != _first_line(scores.files[0]):
        return key
    return Recognized(key.path, tuple(replace(one, asked=by_name(_NAME)) for one in key.files))


def _first_line(file: Opened) -> str:
    return file.sample.lines[0] if file.sample.lines else ""
