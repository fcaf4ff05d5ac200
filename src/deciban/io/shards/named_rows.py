"""Rows of a table as a database joins them: names of trials, and what belongs to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy
from deciban._validate.arrays import Vocabulary
from deciban.io.columns.columnar import Roles
from deciban.io.columns.rows import Rows, placed
from deciban.io.columns.values import plain, refuse_missing, settled
from deciban.io.shards.layout import Layout, rows_with
from deciban.io.shards.meaning import HowToRead
from deciban.io.shards.truth import LabelColumn, OfTwoFiles, Truth
from deciban.steps import teller
from deciban.trials import Origin, Trials
from deciban.trials.joining.renaming import Renaming
from deciban.trials.names import encode
from deciban.types import AnyArray

_ROWS = 1 << 15
"""Rows that are handed over at once."""

Content = Callable[[pa.Table], Mapping[str, AnyArray]]


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a table whose trials have names.

    Attributes
    ----------
    roles : Roles
    columns : tuple of str
        What ``content`` is made of.
    content : function
        What belongs to the trials of some rows, by the names that it has in the database.
    where : mapping of str to tuple of str
        Only rows with such values.
    renaming : Renaming, optional
        By which names trials are compared.
    is_key : bool
        Whether this is the key, which an id map leaves as it is.
    """

    roles: Roles
    columns: tuple[str, ...]
    content: Content
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    renaming: Renaming | None = None
    is_key: bool = False

    @cached_property
    def starts(self) -> list[int]:
        """The number of the first row of every piece, and of the one after the last."""
        return [0, *accumulate(one.n_rows for one in self.roles.table.rows)]

    @property
    def names(self) -> list[str]:
        """The columns of names in the database, of all sides."""
        return [f"name{at}" for at in range(len(self.roles.sides))]

    def batches(self, *, with_own: bool = False, with_content: bool = True) -> Iterator[pa.RecordBatch]:
        """Read all pieces: the number of each row, its names as they are compared, and what belongs to it.

        Parameters
        ----------
        with_own : bool
            Names as they are written as well: ``own0`` and so on.
        with_content : bool

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or a name is missing, with its place.
        """
        table = self.roles.table
        tell, schema = teller(table.n_rows, "rows"), None
        for piece, first in zip(table.rows, self.starts, strict=False):
            content = self.columns if with_content else ()
            whole = piece.table(list(dict.fromkeys([*self.roles.sides.values(), *content, *self.where])))
            for start in range(0, max(len(whole), 1), _ROWS):
                found = self._of(piece, whole.slice(start, _ROWS), start, with_own=with_own, with_content=with_content)
                found = found.set_column(0, "row", pc.add(found.column("row"), first))
                schema = schema or self._wide(found.schema)
                batch = found.cast(schema).combine_chunks().to_batches()
                yield from batch or [pa.RecordBatch.from_pylist([], schema)]
            tell(first + piece.n_rows)

    def _wide(self, schema: pa.Schema) -> pa.Schema:
        """A schema with floats that are wide enough for all pieces."""
        if self.roles.table.is_double.isdisjoint(self.columns):
            return schema
        kinds = [pa.float64() if pa.types.is_floating(one.type) else one.type for one in schema]
        return pa.schema(list(zip(schema.names, kinds, strict=True)))

    def _of(self, piece: Rows, table: pa.Table, start: int, *, with_own: bool, with_content: bool) -> pa.Table:
        """Some rows of a piece, of which ``start`` is the number of the first."""
        rows: AnyArray = np.arange(start, start + len(table))
        if self.where:
            met = [rows_with(table.column(name), values) for name, values in self.where.items()]
            chosen = np.flatnonzero(np.logical_and.reduce(met))
            rows, table = rows[chosen], table.take(of_numpy(chosen))
        found = {"row": pa.chunked_array([of_numpy(rows)])}
        for at, name in enumerate(self.roles.sides.values()):
            with placed(piece, [name], rows):
                own = _text(table.column(name), name)
                found[f"name{at}"] = own if self.renaming is None else self._compared(own)
                if with_own:
                    found[f"own{at}"] = own
        if with_content:
            with placed(piece, self.columns, rows):
                found |= {name: of_numpy(np.ascontiguousarray(one)) for name, one in self.content(table).items()}
        return pa.table(found)

    def _compared(self, own: pa.ChunkedArray) -> pa.Array:
        assert self.renaming is not None  # noqa: S101  # it was asked
        codes, names = encode(own)
        return self.renaming.compared(names, of_key=self.is_key).take(of_numpy(codes))

    def trials(self, rows: Sequence[int]) -> Trials:
        """Some of the trials, by the numbers of their rows."""
        found = list[pa.Table]()
        for row in rows:
            at = int(np.searchsorted(self.starts, row, side="right")) - 1
            found.append(
                self.roles.table.rows[at].table(list(self.roles.sides.values())).slice(row - self.starts[at], 1)
            )
        whole = pa.concat_tables(found, promote_options="permissive")
        return self.trials_of({side: _text(whole.column(name), name) for side, name in self.roles.sides.items()}, rows)

    def trials_of(self, names: Mapping[str, pa.ChunkedArray], rows: Sequence[int] | AnyArray) -> Trials:
        """Trials of these names, which stand in these rows."""
        origin = Origin(self.roles.table.name, place=self.roles.table.where)
        return Trials.of(
            {side: one.combine_chunks() for side, one in names.items()}, origin=origin.taken(np.array(rows))
        )


@dataclass(frozen=True, eq=False)
class Question:
    """What is joined.

    Attributes
    ----------
    scores : sequence of Roles
    truth : Roles
        Of the key, or the first of scores once more.
    columns : sequence of mapping of str to str
        What columns are called afterwards and before, of each table; the key last.
    layout : Layout
        Where everything stands afterwards.
    how : HowToRead
    """

    scores: Sequence[Roles]
    truth: Roles
    columns: Sequence[Mapping[str, str]]
    layout: Layout
    how: HowToRead

    @property
    def name(self) -> str:
        """What messages call all tables."""
        return " and ".join(dict.fromkeys(one.table.name for one in (*self.scores, self.truth)))

    @cached_property
    def key(self) -> NamedRows:
        """The rows of the key, with what is true of them."""
        truth = self.layout.truth
        how: Any = {"where": self.layout.where, "renaming": self.how.ids, "is_key": True}
        return NamedRows(self.truth, truth.columns, lambda table: {"truth": truth.of(table)}, **how)

    def systems_of(self, at: int) -> list[tuple[str, ...]]:
        """The columns of each system of a table, as they are called afterwards."""
        return [columns for columns in self.layout.scores if columns[0] in self.columns[at]]

    def table(self, at: int) -> NamedRows:
        """The rows of a table of scores, with these and with the labels beside them."""
        roles, names, label = self.scores[at], self.systems_of(at), self.labels_of(at)
        before = tuple(tuple(self.columns[at][name] for name in columns) for columns in names)
        own = replace(self.layout, scores=before, ratios=roles.ratios)

        def content(table: pa.Table) -> dict[str, AnyArray]:
            found: dict[str, AnyArray] = {}
            for system, columns in enumerate(names):
                values = own.raw_scores(table, system)
                if own.converted is not None:  # before scores are filled in, which are logarithms
                    values = own.converted(values, own.classes)
                own_columns = values.T if values.ndim == 2 else [values]
                found |= {f"score{len(found) + k}": one for k, one in enumerate(own_columns[: len(columns)])}
            return found if label is None else found | {"label": label.of(table)}

        columns = [*(name for one in before for name in one), *(() if label is None else label.columns)]
        return NamedRows(roles, tuple(columns), content, renaming=self.how.ids)

    def labels_of(self, at: int) -> Truth | None:
        """The labels beside scores, which must not contradict those of the key."""
        roles = self.scores[at]
        if roles.table is self.truth.table or self.layout.classes:
            return None
        column, vocabulary = roles.column("label"), Vocabulary.of(None if roles.table.told else self.how.labels)
        label = None if column is None else LabelColumn(column, settled(vocabulary, column, roles.table.rows))
        return label if roles.table.target is None else OfTwoFiles(roles.table.target, label)


def _text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Names as text, none of which is missing."""
    refuse_missing(column, name, "trial")
    return pc.cast(plain(column), pa.string())
