"""Pieces of tables as tables of trials with all that they hold: for those who write them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from deciban.io.columns.columnar import contents_of
from deciban.io.columns.headers import Vocabulary
from deciban.io.contents import Contents
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.shards.beside import Range
from deciban.io.shards.meaning import Roles
from deciban.io.shards.rows import FileRows, RowTable
from deciban.io.shards.truth import LabelColumn
from deciban.trials import Origin


@dataclass(frozen=True, eq=False)
class ReadAs:
    """How rows of a table become tables of trials, all pieces in the same way.

    Attributes
    ----------
    table : RowTable
    options : Options
    schema : pyarrow.Schema
        Of the columns that the files hold themselves; what names of folders say is not among them.
    roles : Roles
        What the columns mean.
    """

    table: RowTable
    options: Options
    schema: pa.Schema
    roles: Roles

    @classmethod
    def of(cls, table: RowTable, options: Options) -> ReadAs:
        """Find out how a table is read.

        Raises
        ------
        FormatError, InputError
            If ``options`` do not fit.
        """
        if table.told:
            options = replace(options, columns=None, vocabulary=Vocabulary.of(None))
        options = replace(options, name=options.name or table.system)
        fields = [one for one in table.schema if one.name not in table.partitions]
        schema = pa.schema(fields, metadata=table.schema.metadata)
        roles = Roles.of(table, options)
        label = roles.column("label")
        if label is not None:  # what a word means may depend on the others, which one piece may lack
            settled = LabelColumn(label, options.vocabulary).settled(table.rows)
            options = replace(options, vocabulary=settled.vocabulary)
        return cls(table, options, schema, roles)

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
            return contents_of(self.schema, read, self.options, Origin(name, self.table.reading), size)


def _size(one: Range) -> int:
    """Bytes of the file that rows are in, by which what it promises is judged."""
    rows = one.rows
    return Path(rows.path).stat().st_size if isinstance(rows, FileRows) else 0
