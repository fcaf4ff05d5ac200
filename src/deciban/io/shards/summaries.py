"""Summaries of shards as a source: their rows are trials that count as often as they occurred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from deciban._arrow import to_numpy
from deciban._files import PathLike, display_name
from deciban.core.resampling.units import Keys, TrialUnits, independent, mixed_bits
from deciban.io.contents import only_format_errors
from deciban.io.shards.files import ParquetRows, full_path, stamp_of
from deciban.io.summary_files import COUNT, WEIGHT, Columns, SummaryHead, head_in_words, head_of_all, read_head
from deciban.messages import Message, shortened
from deciban.trials.joining.matching import JoinReport
from deciban.trials.lists import PAIR
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.trials.units import keys_of_trials
from deciban.types import AnyArray

_MOST_TRIALS = 1 << 18
"""Trials of a piece in which rows stand as often as they occurred."""

_WORTHWHILE = 4
"""Trials for each row from which on weights take less than trials do."""


def summary_source(paths: Sequence[PathLike], *, units: Literal["", "kept", "trials"] = "kept") -> ShardSource:
    """Open summaries of different shards as one source.

    Parameters
    ----------
    paths : sequence of path
    units : str
        Which units are wanted: none, what was kept, or every trial by itself. Rows stand as often as they occurred;
        but once, with their number for a weight, where that is less and trials need not be told apart.

    Raises
    ------
    FormatError, InputError, OSError
        If one is no summary or damaged, their rows mean different things, or a shard is in two of them.
    """
    names = list(map(display_name, paths))
    head = head_of_all([read_head(path) for path in paths], names)
    if units != "kept":
        head = replace(head, units=units or "none", n_sides=0)
    are_units = head.units in ("trials", "names")
    rows, double = list[ParquetRows](), False
    for path, name in zip(paths, names, strict=True):
        own, is_double = _row_groups(path, name, head)
        rows += own
        double |= is_double
    are_many = head.n_trials >= _WORTHWHILE * sum(one.n_rows for one in rows)
    repeats = bool(head.classes or head.weights or are_units) or not are_many
    if repeats:
        pieces = tuple(_repeated(rows, head))
    else:
        pieces = tuple(SummaryPiece(one, head, one.name, one.n_rows) for one in rows)
    name = shortened(", ".join(names))
    messages = [Message("read", name, head_in_words(head))]
    messages += [Message("weights", name, f"column {head.weights!r}")] if head.weights else []
    return ShardSource(
        name,
        pieces,
        head.systems,
        head.classes,
        is_double=double,
        has_units=head.units == "named" or are_units,
        are_units=are_units,
        has_weights=bool(head.weights) or not repeats,
        weights_are_counts=not repeats,
        is_summary=True,
        sides=PAIR if head.units == "names" else (),
        messages=tuple(messages),
        paths=tuple(paths),
        units=() if head.classes else (("log10" if head.log10 else "nats"),) * len(head.systems),
        report=JoinReport(head.n_trials, 0, 0, 0),
    )


def _row_groups(path: PathLike, name: str, head: SummaryHead) -> tuple[list[ParquetRows], bool]:
    """The rows of a file, and whether scores are float64."""
    import pyarrow.parquet as pq

    with only_format_errors(name, "a summary of shards"):
        stamp, footer = stamp_of(path), pq.read_metadata(path)
        kinds = footer.schema.to_arrow_schema()
        double = any(kinds.field(column).type == pa.float64() for own in head.score_columns for column in own)
        sizes = [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]
    called = [f"{name}, row group {at}" for at in range(len(sizes))]
    parts = enumerate(zip(called, sizes, strict=True))
    return [ParquetRows(full_path(path), at, own, n, stamp) for at, (own, n) in parts if n], double


def _repeated(rows: Sequence[ParquetRows], head: SummaryHead) -> Iterator[SummaryPiece]:
    """Pieces of about as many trials each."""
    start = 0
    for one in rows:
        n_trials = int(_column(one.table([COUNT]), COUNT).sum())
        for begin in range(0, n_trials, _MOST_TRIALS):
            end = min(begin + _MOST_TRIALS, n_trials)
            yield SummaryPiece(one, head, one.name, end - begin, begin, start + begin)
        start += n_trials


def _column(table: pa.Table, name: str) -> AnyArray:
    return to_numpy(table.column(name))


@dataclass(frozen=True, slots=True)
class SummaryPiece(Piece):
    """Rows of a summary as trials.

    Attributes
    ----------
    rows : ParquetRows
    head : SummaryHead
    name : str
    n_rows : int
    begin : int, optional
        Rows stand as often as they occurred, and this is the first of these trials; left out, they stand once.
    start : int
        Its number among those of all pieces.
    """

    rows: ParquetRows
    head: SummaryHead
    name: str
    n_rows: int
    begin: int | None = None
    start: int = 0

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        head, table = self.head, self.rows.table(self._columns(wanted))
        chosen: AnyArray | slice = slice(None)
        if self.begin is not None:
            ends = np.cumsum(_column(table, COUNT))
            within = np.diff(np.clip(ends - self.begin, 0, self.n_rows), prepend=0)
            chosen = np.repeat(np.arange(len(within)), within)
        own = {name: _column(table, name)[chosen] for name in table.column_names}
        weight = None
        if wanted.weight and (head.weights or self.begin is None):
            weight = own[WEIGHT if head.weights else COUNT]
        sides = self._sides(own) if wanted.names else ()
        scores = ([own[name] for name in head.score_columns[at]] for at in wanted.systems)
        return Chunk(
            tuple(np.column_stack(each) if head.classes else each[0] for each in scores),
            own[head.truth].astype(np.int64 if head.classes else np.bool_) if wanted.truth else None,
            self._units(own) if wanted.units else None,
            weight,
            names=(sides[0], sides[1]) if wanted.names and head.units == "names" else None,
        )

    def _columns(self, wanted: Wanted) -> list[str]:
        """What has to be read."""
        head = self.head
        found = [name for at in wanted.systems for name in head.score_columns[at]]
        found += [head.truth] if wanted.truth else []
        found += [WEIGHT] if wanted.weight and head.weights else []
        found += head.unit_columns if (wanted.units or wanted.names) else []
        return list(dict.fromkeys([*found, COUNT]))

    def _units(self, own: Columns) -> TrialUnits | None:
        if self.head.units == "named":
            sides = self._sides(own)
            keys, codes = np.unique(np.concatenate(sides), return_inverse=True)
            return TrialUnits(tuple(np.split(codes, len(sides))), keys, self.head.noun, self.head.source)
        if self.head.units not in ("trials", "names"):
            return None
        numbers = np.arange(self.start, self.start + self.n_rows)
        keys = keys_of_trials(self._sides(own)) if self.head.n_sides else mixed_bits(numbers)
        return TrialUnits((np.arange(self.n_rows),), keys, "trial", independent("trial"))

    def _sides(self, own: Columns) -> tuple[Keys, ...]:
        return tuple(own[name] for name in self.head.unit_columns)
