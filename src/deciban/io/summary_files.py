"""Summaries of shards in files: Parquet with a row for each score; everything else in its metadata, as JSON.

Numbers in JSON that are no counts stand there as hexadecimal floats, so that nothing is rounded. A digest of all of it
tells a file that was damaged, and a number the version of the layout.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from deciban.core.ranks.counted import Counted
from deciban.errors import FormatError
from deciban.evaluation.multiclass.summary import DRAWN as MOST_SHOWN
from deciban.io.atomic import atomic_write
from deciban.io.class_summary_parts import ClassPart
from deciban.io.source import PathLike, display_name
from deciban.io.summary_parts import SummaryPart
from deciban.io.summary_records import Question, ShardRecord
from deciban.types import AnyArray

VERSION = 2
_METADATA = b"deciban-summary"
_PARQUET = b"PAR1"
_COLUMNS = ("score", "count", "weight")
_ARRAYS = {"whole": np.dtype(np.int64), "number": np.dtype(np.float64), "key": np.dtype(np.uint64)}
"""Columns of summaries of many classes that hold arrays, and what of."""


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
    import pyarrow.parquet as pq

    if isinstance(part, ClassPart):
        table, told = _table_of_arrays(part.arrays()), part.about()
    else:
        table = _table_of(part)
        told = {"question": part.question.to_dict(), "shards": [one.to_dict() for one in part.shards]}
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


def _table_of(part: SummaryPart) -> Any:
    """A row for each score of a system and a class, or for each pair of a score and a weight."""
    import pyarrow as pa

    columns: dict[str, list[AnyArray]] = {}
    for system, both in enumerate(part.tables):
        for c, one in enumerate(both):
            n = len(one.scores)
            found: dict[str, AnyArray] = {"system": np.full(n, system, np.int32), "is_target": np.full(n, bool(c))}
            found |= dict(zip(_COLUMNS, one.arrays, strict=False))
            for name, values in found.items():
                columns.setdefault(name, []).append(values)
    return pa.table({name: np.concatenate(parts) for name, parts in columns.items()})


def _tables_of(table: Any, n_systems: int) -> tuple[tuple[Counted, Counted], ...]:
    columns = [table.column(name).to_numpy() for name in _COLUMNS if name in table.column_names]
    place = 2 * table.column("system").to_numpy() + table.column("is_target").to_numpy()
    ends = np.searchsorted(place, np.arange(2 * n_systems + 1))
    found = [Counted(*(one[a:b] for one in columns)) for a, b in pairwise(ends)]
    return tuple(zip(found[::2], found[1::2], strict=True))


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
    return SummaryPart(question, shards, _tables_of(table, len(question.systems)))
