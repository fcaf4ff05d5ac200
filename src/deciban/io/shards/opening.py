"""The one door to trials in pieces: finds out what it is given, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from deciban.errors import FormatError, InputError
from deciban.io.shards.beside import beside
from deciban.io.shards.files import refuse_doubles
from deciban.io.shards.how import HowToRead
from deciban.io.shards.inputs import Opened, opened_input
from deciban.io.shards.joining import joined_by_name
from deciban.io.shards.layout import Layout, TrialRows
from deciban.io.shards.matrices import Matrix, matrix_source
from deciban.io.shards.meaning import Roles, kind_of_tables, layout_of, systems_in
from deciban.io.shards.pieces import ShardSource
from deciban.io.shards.rows import Rows, RowTable
from deciban.io.shards.speakers import WhoIsWho
from deciban.messages import Message
from deciban.trials.joining.matching import JoinReport


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
        The attributes of `deciban.io.shards.how.HowToRead`.

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
    >>> import pyarrow.parquet as pq
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for at in range(2):
    ...     pq.write_table(pa.table({"score": [1.5, -2.0 + at], "label": ["target", "nontarget"]}), folder / f"{at}.parquet")
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
    if any(isinstance(one, Matrix) for one in [*opened, truth]):
        return matrix_source(opened, truth, who, how)
    tables = [one for one in opened if isinstance(one, RowTable)]
    return _source_of_tables(tables, truth if isinstance(truth, RowTable) else None, who, how)


def _is_single(given: Any) -> bool:
    return isinstance(given, str | os.PathLike | Mapping) or not isinstance(given, Sequence)


def _source_of_tables(
    tables: Sequence[RowTable], key: RowTable | None, who: WhoIsWho | None, how: HowToRead
) -> ShardSource:
    kind = kind_of_tables(tables, key, how)
    how = replace(how, kind=kind)
    need = "class-scores" if kind == "classes" else "scores"
    scores = [Roles.of(table, how.options(need)) for table in tables]
    truth = (
        scores[0]
        if key is None
        else Roles.of(key, how.options("class-key" if kind == "classes" else "key", of_key=True))
    )
    for one in (*tables, *(() if key is None else (key,))):
        if not one.rows:
            raise FormatError(f"{one.name}: holds no trial.")
    layout = layout_of(scores, truth, how, who)
    systems = (
        [scores[k].table.system for k in range(len(scores))]
        if kind == "classes"
        else [one[0] for one in systems_in(scores)]
    )
    report, is_double = None, any(name in one.table.is_double for one in scores for name in one.scores)
    kept: list[Any] = [one.table for one in (*scores, truth)]
    if len(scores) == 1 and key is None:
        rows: Sequence[Rows] = tables[0].rows
        columns: list[Mapping[str, str]] = []
    else:
        columns, layout = _renamed(scores, truth, layout)
        if how.by_order:
            rows = beside([*tables, truth.table], columns)
            report = JoinReport(truth.table.n_rows, 0, 0, 0)
        else:
            made = joined_by_name(scores, truth, columns, layout, how)
            rows, report, layout = made.rows, made.report, replace(layout, where={})
            is_double = any(name in made.is_double for names in layout.scores for name in names)
            kept.append(made.kept)
    messages = [Message("read", one.table.name, one.words) for one in scores]
    messages.append(
        Message("key", truth.table.name, truth.words if who is None else f"speakers by {', '.join(who.called)}")
    )
    return ShardSource(
        name=", ".join(dict.fromkeys(one.name for one in tables)),
        pieces=tuple(TrialRows(one, layout) for one in rows),
        systems=tuple(systems),
        classes=layout.classes,
        is_double=is_double or (how.converted is not None and bool(layout.classes)),
        has_units=layout.has_units,
        has_weights=layout.weights is not None,
        sides=tuple(layout.sides),
        log10=layout.log10,
        messages=tuple(messages),
        paths=tuple(path for one in tables for path in one.paths),
        kept=kept,
        report=report,
    )


def _renamed(scores: Sequence[Roles], truth: Roles, layout: Layout) -> tuple[list[Mapping[str, str]], Layout]:
    """What columns of each table are called where all are together, those of the key as they are; and where they are."""
    taken = set(truth.table.schema.names)
    columns: list[Mapping[str, str]] = []
    found: list[tuple[str, ...]] = []
    left = list(layout.scores)
    for at, roles in enumerate(scores):
        prefix = f"{at}/"
        while any(name.startswith(prefix) for name in taken):
            prefix += "/"
        own = left[:1] if layout.classes else left[: len(roles.scores)]
        left = left[len(own) :]
        found += [tuple(prefix + name for name in names) for names in own]
        columns.append({prefix + name: name for names in own for name in names})
    columns.append({name: name for name in truth.table.schema.names})
    return columns, replace(layout, scores=tuple(found))
