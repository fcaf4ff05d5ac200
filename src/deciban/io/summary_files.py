"""Summaries of shards in files: Parquet with a row for each cell; everything else in its metadata, as JSON.

Numbers that are no counts stand there as hexadecimal floats, so that nothing is rounded. A digest of all of it tells a
file that was damaged, and a number the version of the layout.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deciban.core.ranks.exact_weights import aligned
from deciban.core.ranks.kept_scores import KeptScores
from deciban.core.ranks.score_cells import ScoreCells, keys_of
from deciban.errors import FormatError
from deciban.evaluation.multiclass.summary import DRAWN as MOST_SHOWN
from deciban.io.atomic import atomic_write
from deciban.io.class_summary_parts import ClassPart
from deciban.io.source import PathLike, display_name
from deciban.io.summary_parts import Further, SummaryPart
from deciban.io.summary_records import Question, ShardRecord
from deciban.types import AnyArray, BoolArray

VERSION = 1
_METADATA = b"deciban-summary"
_PARQUET = b"PAR1"
_CLASSES = ("non", "tar")
_ARRAYS = {"whole": np.dtype(np.int64), "number": np.dtype(np.float64), "key": np.dtype(np.uint64)}
"""Columns of summaries of many classes that hold arrays, and what of."""

_WEIGHED = ("weight", "product")


def is_summary_file(path: PathLike) -> bool:
    """Whether a file is a summary of shards; only its first bytes and its footer are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():  # a pipe can be read only once
        return False
    try:
        with Path(path).open("rb") as stream:
            if stream.read(len(_PARQUET)) != _PARQUET:
                return False
        return _METADATA in (pq.read_metadata(path).metadata or {})
    except (OSError, TypeError, ValueError, pa.ArrowException):
        return False


def refuse_summary(metadata: Mapping[bytes, bytes] | None, name: str) -> None:
    """Refuse a summary where trials are read.

    Parameters
    ----------
    metadata : mapping of bytes to bytes, or None
        Of a Parquet file.
    name : str
        What messages call it.

    Raises
    ------
    FormatError
        If it is one.
    """
    if _METADATA in (metadata or {}):
        raise FormatError(
            f"{name}: is a summary of shards, and holds no trials. It is evaluated, reported and plotted with other "
            "summaries alone, without a key; for all else name the shards."
        )


def write_summary(part: SummaryPart | ClassPart, path: PathLike) -> None:
    """Write a summary, whole or not at all; the same summary always gives the same bytes.

    Parameters
    ----------
    part : SummaryPart or ClassPart
    path : path
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(part, ClassPart):
        table, told = _table_of_arrays(part.arrays()), part.about()
    else:
        columns: dict[str, list[Any]] = {}
        for one in _blocks(part):
            for name, column in one.columns(_digits(part)).items():
                columns.setdefault(name, []).append(column)
        table, told = pa.table({name: pa.concat_arrays(parts) for name, parts in columns.items()}), _about(part)
    about = {"version": VERSION, "sha256": part.sha256, **told}
    text = json.dumps(about, ensure_ascii=False, sort_keys=True)
    with atomic_write(path) as stream:
        pq.write_table(
            table.replace_schema_metadata({_METADATA: text}), stream, compression="zstd", write_statistics=False
        )


def read_summary(path: PathLike) -> SummaryPart | ClassPart:
    """Read a summary.

    Parameters
    ----------
    path : path

    Returns
    -------
    SummaryPart or ClassPart

    Raises
    ------
    FormatError, OSError
        If it is none, of a newer version, or damaged.
    """
    import pyarrow.parquet as pq

    name = display_name(path)
    with Path(path).open("rb") as stream:
        if stream.read(len(_PARQUET)) != _PARQUET:
            raise FormatError(f"{name}: is no summary of shards. deciban summarize writes some.")
    try:
        table = pq.read_table(path, use_threads=False, partitioning=None)
    except Exception as error:  # whatever the library stumbles over
        raise FormatError(f"{name}: is incomplete or damaged. Summarize its shards again.") from error
    text = (table.schema.metadata or {}).get(_METADATA)
    if text is None:
        raise FormatError(f"{name}: is no summary of shards. deciban summarize writes some.")
    try:
        about = json.loads(text)
        version = about["version"]
        part = _part(about, table) if version == VERSION else None
        is_whole = part is not None and part.sha256 == about["sha256"]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise _damaged(name) from error
    if version != VERSION:
        raise FormatError(
            f"{name}: is a summary of version {version}, and this package reads version {VERSION}. Make it again, or "
            "read it by the version that wrote it."
        )
    if part is None or not is_whole:
        raise _damaged(name)
    return part


def _damaged(name: str) -> FormatError:
    return FormatError(f"{name}: is damaged: it differs from what was written. Summarize its shards again.")


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Neighbouring rows of the table: the cells of a system, or the finer ones of a further pass."""

    system: int
    cells: ScoreCells
    scores: str
    again: BoolArray | None = None
    kept: KeptScores | None = None
    is_finer: bool | None = None
    """None where no block is of finer cells."""

    def columns(self, digits: range) -> dict[str, Any]:
        """All of them, as Arrow arrays."""
        import pyarrow as pa

        cells = self.cells
        found: dict[str, Any] = {"system": np.full(cells.n_cells, self.system, np.int32), "start": cells.starts}
        for c, name in enumerate(_CLASSES):
            found[f"n_{name}"] = cells.counts[c]
            found[f"{name}_low"], found[f"{name}_high"] = cells.low[c], cells.high[c]
            found[f"{name}_upper"], found[f"{name}_lower"] = cells.mantissas[c]
            for place in digits:
                own = place - cells.lowest_digit
                for k, what in enumerate(_WEIGHED):
                    is_there = 0 <= own < cells.weights.shape[2]
                    found[f"{name}_{what}{place}"] = cells.weights[c, k, own] if is_there else cells.counts[c] * 0
        if self.again is not None:
            found["again"] = self.again
        if self.is_finer is not None:
            found["finer"] = np.full(cells.n_cells, self.is_finer)
        made = {name: pa.array(column) for name, column in found.items()}
        return made | ({} if self.kept is None else self._lists(self.kept))

    def _lists(self, kept: KeptScores) -> dict[str, Any]:
        """The scores of each cell, and their weights."""
        import pyarrow as pa

        found = {}
        for c, name in enumerate(_CLASSES):
            rows = np.searchsorted(self.cells.starts, keys_of(kept.scores[c]), side="right") - 1
            offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=self.cells.n_cells)))).astype(np.int64)
            lists = pa.LargeListArray.from_arrays
            found[f"{name}_scores"] = lists(offsets, pa.array(kept.scores[c].astype(self.scores) + 0.0))
            if kept.weights is not None:
                found[f"{name}_weights"] = lists(offsets, pa.array(kept.weights[c]))
        return found


def _blocks(part: SummaryPart) -> Iterator[_Block]:
    further, scores = part.further, part.question.scores
    for k, cells in enumerate(part.cells):
        if further is None:
            yield _Block(k, cells, scores)
        elif further.kept:
            yield _Block(k, cells, scores, further.again[k], further.kept[k])
        else:
            yield _Block(k, cells, scores, further.again[k], is_finer=False)
            finer = further.finer[k]
            yield _Block(k, finer, scores, np.zeros(finer.n_cells, np.bool_), is_finer=True)


def _digits(part: SummaryPart) -> range:
    """Places of all digits of weights that occur in one of the tables of cells."""
    ends = list[int]()
    for one in _blocks(part):
        if one.cells.is_weighted:
            ends += [one.cells.lowest_digit, one.cells.lowest_digit + one.cells.weights.shape[2]]
    return range(min(ends, default=0), max(ends, default=0))


class _Table:
    """What was read, some rows after the other."""

    def __init__(self, about: Mapping[str, Any], table: Any) -> None:
        self.about = about
        self.columns = {name: table.column(name).combine_chunks() for name in table.column_names}
        self.system = self.columns["system"].to_numpy()
        self.cuts = np.array(list(map(float.fromhex, about["cuts"])))

    def rows(self, system: int, *, is_finer: bool) -> dict[str, Any]:
        """The columns of one block."""
        begin, end = np.searchsorted(self.system, [system, system + 1])
        if self.about["finer"] is not None:
            flags = self.columns["finer"].to_numpy(zero_copy_only=False)[begin:end]
            middle = begin + int(np.count_nonzero(~flags))
            begin, end = (middle, end) if is_finer else (begin, middle)
        return {name: column.slice(begin, end - begin) for name, column in self.columns.items()}

    def cells(self, system: int, *, is_finer: bool = False) -> ScoreCells:
        """The cells of a system."""
        own = self.rows(system, is_finer=is_finer)
        of = self.about["finer"] if is_finer else self.about["cells"]

        def both(kind: str) -> Any:
            return np.stack([own[kind.format(name)].to_numpy() for name in _CLASSES])

        places = range(*self.about["digits"])
        weights = np.zeros((2, 2, len(places), len(own["start"])), np.int64)
        for k, what in enumerate(_WEIGHED):
            for row, place in enumerate(places):
                weights[:, k, row] = both(f"{{}}_{what}{place}")
        (weights,), lowest = aligned([(weights, places.start)])
        mantissas = np.stack([both("{}_upper"), both("{}_lower")], axis=1)
        ranges = both("n_{}"), both("{}_low"), both("{}_high"), mantissas
        room, level = of["rooms"][system], of["levels"][system]
        return ScoreCells(room, self.cuts, level, own["start"].to_numpy(), *ranges, weights, lowest)

    def kept(self, system: int) -> KeptScores:
        """The scores of cells that can matter."""
        own = self.rows(system, is_finer=False)

        def both(what: str) -> Any:
            return tuple(np.asarray(own[f"{name}_{what}"].flatten().to_numpy()) for name in _CLASSES)

        return KeptScores(both("scores"), both("weights") if "non_weights" in own else None)

    def again(self, system: int) -> BoolArray:
        """Which cells can matter."""
        found: BoolArray = self.rows(system, is_finer=False)["again"].to_numpy(zero_copy_only=False)
        return found


def _table_of_arrays(arrays: Mapping[str, AnyArray]) -> Any:
    """Arrays of all kinds, a row for each."""
    import pyarrow as pa

    names = sorted(arrays)
    rows: dict[str, Any] = {
        "name": names,
        "shape": pa.array([arrays[name].shape for name in names], pa.list_(pa.int64())),
    }
    for column, kind in _ARRAYS.items():
        own = [arrays[name].ravel() if arrays[name].dtype == kind else None for name in names]
        rows[column] = pa.array(own, pa.large_list(pa.from_numpy_dtype(kind)))
    return pa.table(rows)


def _arrays_of(table: Any) -> dict[str, AnyArray]:
    found, columns = dict[str, AnyArray](), [table.column(name) for name in ("name", "shape", *_ARRAYS)]
    for name, shape, *each in zip(*columns, strict=True):
        one = next(own for own in each if own.is_valid)
        found[name.as_py()] = one.values.to_numpy().reshape(shape.as_py())
    return found


def _part(about: Mapping[str, Any], table: Any) -> SummaryPart | ClassPart:
    if about["question"].get("classes"):
        return ClassPart.of(about, _arrays_of(table), MOST_SHOWN)
    question = Question.from_dict(about["question"])
    shards = tuple(map(ShardRecord.from_dict, about["shards"]))
    read, systems = _Table(about, table), range(len(question.systems))
    cells, further = tuple(map(read.cells, systems)), None
    if (of := about["further"]) is not None:
        kept = () if about["finer"] is not None else tuple(map(read.kept, systems))
        finer = () if kept else tuple(read.cells(k, is_finer=True) for k in systems)
        further = Further(of["most"], tuple(map(read.again, systems)), tuple(of["seen"]), kept, finer)
    return SummaryPart(question, shards, cells, about["passes"], further)


def _about(part: SummaryPart) -> dict[str, Any]:
    further, digits = part.further, _digits(part)

    def of(tables: Sequence[ScoreCells]) -> dict[str, Any]:
        return {"levels": [one.level for one in tables], "rooms": [one.room for one in tables]}

    return {
        "question": part.question.to_dict(),
        "passes": part.n_passes,
        "cells": of(part.cells),
        "cuts": [cut.hex() for cut in part.cells[0].cuts.tolist()] if part.cells else [],
        "digits": [digits.start, digits.stop],
        "shards": [one.to_dict() for one in part.shards],
        "further": None if further is None else {"most": further.most, "seen": list(further.seen)},
        "finer": of(further.finer) if further is not None and further.finer else None,
    }
