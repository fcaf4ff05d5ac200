"""Pieces of tables as tables of trials with all that they hold: for those who write them again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.io.columns.columnar import contents_of
from deciban.io.columns.headers import Vocabulary
from deciban.io.contents import Contents
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.shards.beside import Range
from deciban.io.shards.meaning import Roles
from deciban.io.shards.rows import FileRows, RowTable
from deciban.io.shards.truth import LabelColumn, plain
from deciban.trials import ClassKey, Origin
from deciban.trials.frames.columns import is_text_or_bytes
from deciban.trials.frames.to_frames import METADATA, description


@dataclass(frozen=True, eq=False)
class ReadAs:
    """How rows of a table become tables of trials, all pieces in the same way.

    Attributes
    ----------
    table : RowTable
    options : Options
    schema : pyarrow.Schema
        Of the columns that are read, with the classes of all pieces.
    kept : tuple of str
        Columns that names of folders say.
    roles : Roles
        What the columns mean.
    """

    table: RowTable
    options: Options
    schema: pa.Schema
    roles: Roles
    kept: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: RowTable, options: Options, *, of_folders: bool = False) -> ReadAs:
        """Find out how a table is read.

        Parameters
        ----------
        table : RowTable
        options : Options
        of_folders : bool
            Whether what names of folders say are columns, too.

        Raises
        ------
        FormatError, InputError
            If ``options`` do not fit.
        """
        if table.told:
            options = replace(options, columns=None, vocabulary=Vocabulary.of(None))
        options = replace(options, name=options.name or table.system)
        kept = table.partitions if of_folders else ()
        fields = [one for one in table.schema if one.name in kept or one.name not in table.partitions]
        schema = pa.schema(fields, metadata=table.schema.metadata)
        roles = Roles.of(table, options)
        label = roles.column("label")
        if label is not None:  # what a word means may depend on the others, which one piece may lack
            settled = LabelColumn(label, options.vocabulary).settled(table.rows)
            options = replace(options, vocabulary=settled.vocabulary)
        return cls(table, options, _with_classes(schema, roles), roles, kept)

    def contents(self, ranges: Sequence[Range], name: str) -> Contents:
        """What some neighbouring rows hold.

        Parameters
        ----------
        ranges : sequence of Range
        name : str
            What messages call them.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or stand where it stands; the message names file and place.
        """

        def read(columns: Sequence[str]) -> pa.Table:
            parts = []
            for one in ranges:
                table = one.rows.table(columns)
                whole = one.start == 0 and one.stop == one.rows.n_rows
                parts.append(table if whole else table.slice(one.start, one.stop - one.start))
            if len(parts) == 1:
                return parts[0]
            return pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()

        size = sum(_size(one) for one in ranges)
        with only_format_errors(name, "a table"):
            return contents_of(self.schema, read, self.options, Origin(name, self.table.reading), size, self.kept)


def _with_classes(schema: pa.Schema, roles: Roles) -> pa.Schema:
    """A schema whose metadata list the classes of all pieces, where a column says them: one piece may lack some."""
    column, known = roles.column("class"), description(schema)
    if column is None or "classes" in known or not is_text_or_bytes(_plain_type(schema.field(column).type)):
        return schema
    names: dict[str, None] = {}
    for piece in roles.table.rows:
        found = pc.unique(plain(piece.table([column]).column(column))).drop_null()
        names |= dict.fromkeys(pc.cast(found, pa.string()).to_pylist())
    trials = {"trial": [str(k) for k in range(len(names))]}
    classes = ClassKey.of(trials, list(names)).classes if names else ()
    return schema.with_metadata(
        {**(schema.metadata or {}), METADATA: json.dumps(known | {"classes": list(classes)}).encode()}
    )


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _size(one: Range) -> int:
    """Bytes of the file that rows are in, by which what it promises is judged."""
    rows = one.rows
    return Path(rows.path).stat().st_size if isinstance(rows, FileRows) else 0
