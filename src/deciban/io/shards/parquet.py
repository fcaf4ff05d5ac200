"""Parquet in pieces: every row group of every file is one; score and label lie in one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.columns.columnar import schema_roles
from deciban.io.contents import RowError, scores_of, truth_of
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.shards.pieces import Chunk, Piece, ShardSource, Stamp, Wanted
from deciban.io.source import PathLike, display_name, files_of
from deciban.messages import Message, counted


@dataclass(frozen=True)
class Columns:
    """Where things stand in every file.

    Attributes
    ----------
    scores : tuple of str
    label : str
    options : Options
        What words mean.
    schema : pyarrow.Schema
        Of the first file; the others have the same columns of the same types.
    """

    scores: tuple[str, ...]
    label: str
    options: Options
    schema: Any


@dataclass(frozen=True)
class RowGroup(Piece):
    """A row group of a Parquet file."""

    path: str
    group: int
    name: str
    n_rows: int
    stamp: Stamp
    columns: Columns

    def read(self, wanted: Wanted) -> Chunk:
        """Read its trials; see `Piece.read`."""
        import pyarrow.parquet as pq

        names = [self.columns.scores[k] for k in wanted.systems]
        own = [*names, *([self.columns.label] if wanted.truth else [])]
        with only_format_errors(self.name, "Parquet"):
            if _stamp(self.path) != self.stamp:
                raise self.changed()
            with pq.ParquetFile(self.path) as file:
                table = file.read_row_group(self.group, columns=own, use_threads=False)
        try:
            scores = tuple(scores_of(table.column(name)) for name in names)
            if not wanted.truth:
                return Chunk(scores)
            return Chunk(scores, truth_of(table.column(self.columns.label), self.columns.options.vocabulary)[0])
        except RowError as error:
            raise FormatError(f"{self.name}, row {error.row}: {error}") from error


def open_parquet(path: PathLike, options: Options) -> ShardSource:
    """List the pieces of a file, a folder of files or a pattern; only footers are read.

    Parameters
    ----------
    path : path
    options : Options
        What the user says about columns and labels.

    Raises
    ------
    FormatError, OSError
        If a file is damaged, has other columns than the first, or there is no column of scores or labels.
    """
    import pyarrow.parquet as pq

    name, pieces, first = display_name(path), list[Piece](), None
    for file in _files(path):
        own = display_name(file)
        with only_format_errors(own, "Parquet"), pq.ParquetFile(file) as opened:
            schema, meta = opened.schema_arrow, opened.metadata
            groups = [meta.row_group(at).num_rows for at in range(meta.num_row_groups)]
        columns = first or _columns(schema, options, own)
        _require_same(schema, columns, own)
        first, stamp = columns, _stamp(file)
        for at, n_rows in enumerate(groups):
            if n_rows:
                pieces.append(RowGroup(str(file), at, f"{own}, row group {at}", n_rows, stamp, columns))
    if first is None or not pieces:
        raise FormatError(f"{name}: holds no trial.")
    is_double = any(first.schema.field(one).type not in (pa.float16(), pa.float32()) for one in first.scores)
    n_files = len({one.path for one in pieces if isinstance(one, RowGroup)})
    words = f"parquet, {counted(n_files, 'file')}, {counted(len(pieces), 'row group')}"
    messages = (Message("read", name, words),)
    return ShardSource(name, tuple(pieces), first.scores, is_double=is_double, messages=messages, paths=(path,))


def _files(path: PathLike) -> Sequence[PathLike]:
    found: list[PathLike] = []
    for one in files_of(path):
        found += sorted(Path(one).rglob("*.parquet")) if Path(one).is_dir() else [one]
    return found


def _stamp(path: PathLike) -> Stamp:
    known = Path(path).stat()
    return Stamp(known.st_size, known.st_mtime_ns)


def _columns(schema: pa.Schema, options: Options, name: str) -> Columns:
    roles = dict(zip(schema.names, schema_roles(schema, options, name), strict=True))
    scores = tuple(column for column, role in roles.items() if role == "score")
    labels = [column for column, role in roles.items() if role == "label"]
    if not scores or not labels:
        raise FormatError(f"{name}: has no column of {'labels' if scores else 'scores'}; there are {schema.names}.")
    return Columns(scores, labels[0], options, schema.remove_metadata())


def _require_same(schema: pa.Schema, columns: Columns, name: str) -> None:
    """Refuse a file in which a column is missing or of another type."""
    for column in (*columns.scores, columns.label):
        expected = columns.schema.field(column).type
        if column not in schema.names or schema.field(column).type != expected:
            there = schema.field(column).type if column in schema.names else "missing"
            raise FormatError(f"{name}: column {column} is {there}, in the first file {expected}. Write it again.")
