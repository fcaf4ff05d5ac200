"""Data frames, and tables in memory, as inputs that every workflow takes like files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import pyarrow as pa

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.columns.columnar import READS, ReadAs
from deciban.io.columns.headers import CONDITION, IDENTITY, IGNORED, identity_of
from deciban.io.columns.rows import RowTable
from deciban.io.contents import ContentKind, Contents, RowError
from deciban.io.formats import BinaryFormat, Options
from deciban.io.recognition import OpenedFile, Recognized
from deciban.io.source import Source
from deciban.trials import Origin
from deciban.trials.frames import as_table, column_of
from deciban.types import ScoreUnit

Roles = Mapping[str, str | Sequence[str] | None]
"""The column of each role, several for scores; None for one that is not there."""


_LABELS = "labels={'target': 'WORD', 'nontarget': 'WORD'}"


def held(contents: Contents, name: str) -> Recognized:
    """Tables in memory as if they had been recognized in a file: what readers take, and through them every workflow.

    Examples
    --------
    >>> from deciban.io.reader import read_input
    >>> from deciban.trials import Key
    >>> key = Contents.of(Key.of({"trial": ["a", "b"]}, [True, False]))
    >>> read_input(held(key, "frame"), need="key").contents.label_counts
    '1 target · 1 non-target'
    """
    form = BinaryFormat(
        name="memory",
        summary="Tables in memory.",
        reads=READS,
        read=lambda source, options: contents,  # noqa: ARG005  # what reads files is called so
        holds=lambda source, options: contents.kinds,  # noqa: ARG005
    )
    source = Source(BytesIO())
    source.name = source.path = name
    return Recognized(name, (OpenedFile(source, form, Options()),))


def contents_of_frame(
    frame: Any,
    roles: Roles,
    *,
    need: ContentKind,
    labels: Mapping[str, str] | None = None,
    name: str = "data frame",
    system: str = "system",
    unit: ScoreUnit | None = None,
) -> Contents:
    """Tables of trials out of a data frame, by the names of its columns.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or RecordBatch, mapping of str to arrays
        Or anything else that hands out its columns by ``__arrow_c_stream__``.
    roles : mapping of role to column, or to several columns for ``score``
        The roles are those of files: ``enroll``, ``test``, ``side``, ``trial``, ``score``, ``label``, ``class``. All
        other columns are kept as conditions.
    need : {"scores", "class-scores"}
        What the columns of scores are: of systems, or of classes.
    labels : mapping, optional
        Words for ``target`` and ``nontarget``, as in `deciban.read_key`.
    name : str
        What messages call it.
    system : str
        What to call a single system.
    unit : {"nats", "log10", "lr"}, optional
        The unit of the scores; if None, the names of their columns may declare it.

    Returns
    -------
    Contents

    Raises
    ------
    InputError
        If this is no data frame, a column is not there, or one is to play two roles.
    FormatError
        If something cannot stand where it stands; says in which row.

    Examples
    --------
    >>> frame = {"llr": [1.5, -2.0], "same": [True, False]}
    >>> contents = contents_of_frame(frame, {"score": "llr", "label": "same"}, need="scores")
    >>> contents.systems[0].score, contents.key.is_target
    (array([ 1.5, -2. ]), array([ True, False]))
    """
    table = as_table(frame)
    table = table.rename_columns([str(column) for column in table.column_names]).replace_schema_metadata(None)
    own: dict[str, str] = {}
    for role, given in roles.items():
        for column in columns_named(role, given):
            column_of(table, column)
            if column in own:
                raise InputError(f"{role}: column {column!r} is the {own[column]} already. Name another one.")
            own[column] = role
    sides = [role for role in own.values() if role in IDENTITY]
    if sides and not identity_of(sides):
        raise InputError(
            f"{', '.join(sides)}: trials are identified by enroll and test (and side), or by trial. Name these columns."
        )
    listed = [own.get(column, CONDITION + column if column else IGNORED) for column in table.column_names]
    options = Options(need=need, columns=listed, vocabulary=Vocabulary.of(labels), name=system, unit=unit)
    held_table = RowTable.of_table(table, name, "data frame", max(table.nbytes, 1))
    try:
        return ReadAs.of(held_table, options).made(held_table.rows, Origin(name, "data frame"))
    except RowError as error:
        words = str(error).replace("--labels target=WORD,nontarget=WORD", _LABELS)
        raise FormatError(f"{held_table.rows[0].where(error.row)}: {words}.") from error


def of_one_system(frame: Any, systems: Mapping[str, Sequence[str]], name: str, classes: Sequence[str]) -> pa.Table:
    """The columns of one of several systems, called by the classes, and those that are no scores.

    Parameters
    ----------
    frame : data frame
    systems : mapping of str to sequence of str
        The columns of each system, in the order of the classes.
    name : str
        Which of them.
    classes : sequence of str

    Raises
    ------
    InputError
        If a column is not there, or there is not one for each class.

    Examples
    --------
    >>> frame = {"a": [1.0], "b": [0.0], "c": [2.0], "d": [1.0], "age": [30]}
    >>> of_one_system(frame, {"A": ["a", "b"], "B": ["c", "d"]}, "B", ["cat", "dog"]).column_names
    ['cat', 'dog', 'age']
    """
    table = as_table(frame)
    own = columns_named("score", systems[name])
    if len(own) != len(classes):
        raise InputError(f"score: {name} has {len(own)} columns, but there are {len(classes)} classes. Name one each.")
    scores = {column for columns in systems.values() for column in columns_named("score", columns)}
    others = [column for column in table.column_names if str(column) not in scores]
    twice = [one for one in classes if one in others]
    if twice:
        raise InputError(f"classes: the column {twice[0]!r} is none of the scores of {name}. Rename it.")
    return pa.table(
        [*(column_of(table, column) for column in own), *(table.column(column) for column in others)],
        [*classes, *others],
    )


def columns_named(role: str, given: Any) -> list[str]:
    """The columns that were named for a role: one, or several for scores.

    Raises
    ------
    InputError
        If these are no names.

    Examples
    --------
    >>> columns_named("score", ["sysA", "sysB"]), columns_named("label", "y"), columns_named("trial", None)
    (['sysA', 'sysB'], ['y'], [])
    """
    if given is None:
        return []
    if isinstance(given, str | int):
        return [str(given)]
    if role == "score" and isinstance(given, Sequence) and given:
        columns = [str(one) for one in given if isinstance(one, str | int)]
        if len(columns) == len(given):
            return columns
    several = ", or several in a list" if role == "score" else ""
    raise InputError(f"{role}: got {type(given).__name__}. Name a column of the data frame{several}.")
