"""The one door to trials in pieces: finds out what it is given, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban.errors import FormatError, InputError
from deciban.io.columns.columnar import Roles
from deciban.io.columns.rows import Rows, RowTable
from deciban.io.reader import require_as_many
from deciban.io.shards.inputs import opened_input
from deciban.io.shards.joining import Question, joined_by_name
from deciban.io.shards.layout import Layout, source_of_rows
from deciban.io.shards.matrices import Matrix, matrix_source, table_of_matrix
from deciban.io.shards.meaning import HowToRead, kind_of_tables, layout_of, splitting, systems_in
from deciban.io.shards.truth import beside
from deciban.io.shards.units import WhoIsWho
from deciban.io.shards.writing import n_of_both
from deciban.messages import Message
from deciban.trials.joining.matching import JoinReport, refuse_names_by_order
from deciban.trials.lists import PAIR
from deciban.trials.sources import ShardSource

_COPIES = (
    "names of trials were not compared with each other: one that is there twice counts twice. Where there are copies, "
    "--duplicates keep-one joins the table with itself and leaves them out"
)
"""What is said of one table: as a whole it would be looked through for copies."""


def open_shards(scores: Any, key: Any = None, *, speakers: Any = None, **options: Any) -> ShardSource:
    """Open trials that are read in pieces; nothing is read yet but footers, headers and what has to be joined.

    Parameters
    ----------
    scores : path, pattern, folder or object, or sequence of these
        Tables (Parquet, Arrow, text, compressed or not; data frames, `pyarrow.dataset`, `dask.dataframe`, Polars
        ``LazyFrame`` and whatever has ``__arrow_c_stream__``), or matrices (NumPy, HDF5, Zarr, `dask.array`). Several
        are systems on the same trials.
    key : path or object, optional
        What says which trials are targets, or of which class; left out, the first scores do.
    speakers : path, mapping, or sequence of one or two of these, optional
        The speaker of every name, for both sides or one for each: a trial is a target if and only if they agree.
    **options
        The attributes of `deciban.io.shards.meaning.HowToRead`.

    Returns
    -------
    ShardSource

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        If something cannot be read, does not fit together or says nothing of the truth; the message names file and
        place.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for at in range(2):
    ...     rows = pa.table({"score": [1.5, -2.0 + at], "label": ["target", "nontarget"]})
    ...     pq.write_table(rows, folder / f"{at}.parquet")
    >>> source = open_shards(folder)
    >>> source.n_rows, len(source.pieces), source.systems == (folder.name,)
    (4, 2, True)
    """
    how = HowToRead.of(options)
    given = list(scores) if isinstance(scores, list | tuple) else [scores]
    if not given:
        raise InputError("scores: none given. At least one table or matrix is needed.")
    named = () if speakers is None else (speakers,) if _is_single(speakers) else tuple(speakers)
    who = WhoIsWho.of(named) if named else None
    if who is not None and key is not None:
        raise InputError(
            "key, speakers: the speakers say which trials are targets, and so does a key. Leave out one of the two."
        )
    opened = [
        opened_input(one, how, name=f"scores {at + 1}" if len(given) > 1 else "scores") for at, one in enumerate(given)
    ]
    truth = None if key is None else opened_input(key, how, of_key=True, name="key")
    matrices = [one for one in opened if isinstance(one, Matrix)]
    if len(matrices) == len(opened) and not isinstance(truth, RowTable) and how.ids is None:
        return matrix_source(matrices, truth, who, how)
    if how.by_order and (matrices or isinstance(truth, Matrix)):
        raise InputError(
            "by_order: a matrix and a table have no order in common. Trials of a matrix meet those of a table by their "
            "names: leave by_order out (--by-order)."
        )
    tables = [table_of_matrix(one) if isinstance(one, Matrix) else one for one in opened]
    return _source_of_tables(tables, table_of_matrix(truth) if isinstance(truth, Matrix) else truth, who, how)


def _is_single(given: Any) -> bool:
    return isinstance(given, str | os.PathLike | Mapping) or not isinstance(given, Sequence)


def _source_of_tables(
    tables: Sequence[RowTable], key: RowTable | None, who: WhoIsWho | None, how: HowToRead
) -> ShardSource:
    for one in (*tables, *(() if key is None else (key,))):
        if not one.rows:
            raise FormatError(f"{one.name}: holds no trial. Leave it out.")
    if any(one.target is not None for one in tables):
        if how.kind == "classes" or how.classes is not None:
            raise InputError("tar, non: are scores of two classes, and many are asked for. Leave out one of the two.")
        how = replace(how, kind="two-class")
    how = replace(how, kind=kind_of_tables(tables, key, how))
    is_classes = how.kind == "classes"
    scores = [Roles.of(table, how.options("class-scores" if is_classes else "scores")) for table in tables]
    scores = [one.with_classes(how.classes) for one in scores] if is_classes else scores
    truth = scores[0]
    if key is not None:
        truth = Roles.of(key, how.options("class-key" if is_classes else "key", of_key=True))
    layout = layout_of(scores, truth, how, who)
    is_alone = len(scores) == 1 and key is None and how.duplicates == "error" and how.ids is None
    if is_alone:
        double = any(name in tables[0].is_double for names in layout.scores for name in names)
        made = Together(tables[0].rows, layout, double, None, None)
    else:
        made = _together(scores, truth, layout, how)
    words = truth.words if who is None else f"target if and only if the speakers agree ({', '.join(who.called)})"
    messages = [Message("read", one.table.name, one.words) for one in scores]
    messages.append(Message("key", truth.table.name, words))
    if is_alone and truth.sides:
        messages.append(Message("note", truth.table.name, _COPIES))
    return source_of_rows(
        made.rows,
        made.layout,
        name=", ".join(dict.fromkeys(one.name for one in tables)),
        systems=tuple(systems_in(scores, is_classes=is_classes)),
        is_double=made.is_double or (how.converted is not None and is_classes),
        units=() if layout.classes else tuple(unit for one in scores for unit in one.units.values()),
        messages=tuple(messages),
        paths=tuple(path for one in tables for path in one.paths),
        kept=([one.table.kept for one in (*scores, truth)], made.kept),
        report=made.report,
        groups=None if how.groups is None else tuple(how.groups) or (PAIR if layout.groups else ()),
        columns=tuple(splitting(truth)),
        names=tuple(dict.fromkeys((*truth.sides, *truth.sides.values()))),
        incomplete=made.layout.incomplete,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Rows with all that is asked of them, where everything stands in them, and how trials met."""

    rows: Sequence[Rows]
    layout: Layout
    is_double: bool
    report: JoinReport | None
    kept: Any


def _together(scores: Sequence[Roles], truth: Roles, layout: Layout, how: HowToRead) -> Together:
    """Put several tables together, by their order or by the names of trials."""
    columns, renamed = _renamed(scores, truth, layout)
    is_by_row = not truth.sides and all(one.table.target is not None for one in scores)
    if is_by_row:
        require_as_many({one.table.name: n_of_both(one.table) for one in scores})
    if how.by_order or is_by_row:
        refuse_names_by_order(how.ids)
        rows = beside([*(one.table for one in scores), truth.table], columns)
        double = any(name in one.table.is_double for one in scores for name in one.scores)
        return Together(rows, renamed, double, None, None)
    made = joined_by_name(Question(scores, truth, columns, renamed, how))
    double = any(name in made.is_double for names in renamed.scores for name in names)
    found = replace(renamed, where={}, converted=None, ratios=frozenset(), incomplete=how.incomplete)
    return Together(made.rows, found, double or how.incomplete, made.report, made.kept)


def _renamed(scores: Sequence[Roles], truth: Roles, layout: Layout) -> tuple[list[Mapping[str, str]], Layout]:
    """What columns of each table are called where all are together, and where they are; those of the key as before."""
    taken = set(truth.table.schema.names)
    columns: list[Mapping[str, str]] = []
    found: list[tuple[str, ...]] = []
    ratios = set[str]()
    left = list(layout.scores)
    for at, roles in enumerate(scores):
        prefix = f"{at}/"
        while any(name.startswith(prefix) for name in taken):
            prefix += "/"
        own = left[:1] if layout.classes else left[: len(roles.scores)]
        left = left[len(own) :]
        found += [tuple(prefix + name for name in names) for names in own]
        ratios |= {prefix + name for name in roles.ratios}
        columns.append({prefix + name: name for names in own for name in names})
    columns.append({name: name for name in truth.table.schema.names})
    return columns, replace(layout, scores=tuple(found), ratios=frozenset(ratios))
