"""Summaries of shards in files: Parquet with a row for each cell; everything else in its metadata, as JSON.

Numbers that are no counts stand there as hexadecimal floats, so that nothing is rounded. A digest of all of it tells a
file that was damaged, and a number the version of the layout.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from deciban.core.ranks.score_cells import ScoreCells, keys_of
from deciban.errors import FormatError
from deciban.io.atomic import atomic_write
from deciban.io.library_errors import only_format_errors
from deciban.io.source import PathLike, display_name
from deciban.io.summary_parts import SummaryPart
from deciban.io.summary_records import Question, ShardRecord
from deciban.types import ScoreArray

VERSION = 1
_METADATA = b"deciban-summary"
_PARQUET = b"PAR1"
_CLASSES = ("non", "tar")


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


def write_summary(part: SummaryPart, path: PathLike) -> None:
    """Write a summary, whole or not at all; the same summary always gives the same bytes.

    Parameters
    ----------
    part : SummaryPart
    path : path
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = {}
    for k, cells in enumerate(part.cells):
        kept = part.kept[k] if part.refined else None
        for name, column in _columns(cells, k, kept, part.question.scores).items():
            columns.setdefault(name, []).append(column)
    table = pa.table({name: pa.concat_arrays(parts) for name, parts in columns.items()})
    about = {"version": VERSION, "sha256": part.sha256, **_about(part)}
    text = json.dumps(about, ensure_ascii=False, sort_keys=True)
    with atomic_write(path) as stream:
        pq.write_table(
            table.replace_schema_metadata({_METADATA: text}), stream, compression="zstd", write_statistics=False
        )


def read_summary(path: PathLike) -> SummaryPart:
    """Read a summary.

    Parameters
    ----------
    path : path

    Returns
    -------
    SummaryPart

    Raises
    ------
    FormatError, OSError
        If it is none, of a newer version, or damaged.
    """
    import pyarrow.parquet as pq

    name = display_name(path)
    with Path(path).open("rb"):
        pass  # what cannot be opened at all is no damaged file
    with only_format_errors(name, "Parquet"):
        table = pq.read_table(path, use_threads=False, partitioning=None)
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
    return FormatError(f"{name}: is damaged: it is not what was written. Summarize its shards again.")


def _columns(cells: ScoreCells, k: int, kept: tuple[ScoreArray, ScoreArray] | None, scores: str) -> dict[str, Any]:
    import pyarrow as pa

    found: dict[str, Any] = {"system": np.full(cells.n_cells, k, np.int32), "start": cells.starts}
    for c, name in enumerate(_CLASSES):
        found[f"n_{name}"] = cells.counts[c]
        found[f"{name}_low"], found[f"{name}_high"] = cells.low[c], cells.high[c]
        found[f"{name}_upper"], found[f"{name}_lower"] = cells.mantissas[c]
    made = {name: pa.array(column) for name, column in found.items()}
    for c, name in enumerate(_CLASSES if kept is not None else ()):
        assert kept is not None  # noqa: S101  # as it says above
        rows = np.searchsorted(cells.starts, keys_of(kept[c]), side="right") - 1
        offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=cells.n_cells)))).astype(np.int64)
        made[f"{name}_scores"] = pa.LargeListArray.from_arrays(offsets, pa.array(kept[c].astype(scores) + 0.0))
    return made


def _part(about: Mapping[str, Any], table: Any) -> SummaryPart:
    question = Question.from_dict(about["question"])
    shards = tuple(map(ShardRecord.from_dict, about["shards"]))
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    system = columns["system"].to_numpy()
    cells, kept = [], []
    for k, level in enumerate(about["levels"]):
        begin, end = np.searchsorted(system, [k, k + 1])
        own = {name: column.slice(begin, end - begin) for name, column in columns.items()}

        def rows(kind: str, own: Mapping[str, Any] = own) -> Any:
            return np.stack([own[kind.format(name)].to_numpy() for name in _CLASSES])

        mantissas = np.stack([rows("{}_upper"), rows("{}_lower")], axis=1)
        cuts = np.array(list(map(float.fromhex, about["cuts"])))
        counts, low, high = rows("n_{}"), rows("{}_low"), rows("{}_high")
        cells.append(ScoreCells(question.room, cuts, level, own["start"].to_numpy(), counts, low, high, mantissas))
        if about["refined"]:
            non, tar = (np.asarray(own[f"{name}_scores"].flatten().to_numpy()) for name in _CLASSES)
            kept.append((non, tar))
    return SummaryPart(question, shards, tuple(cells), tuple(about["refined"]), tuple(kept))


def _about(part: SummaryPart) -> dict[str, Any]:
    return {
        "question": part.question.to_dict(),
        "levels": [one.level for one in part.cells],
        "cuts": [cut.hex() for cut in part.cells[0].cuts.tolist()] if part.cells else [],
        "shards": [one.to_dict() for one in part.shards],
        "refined": list(part.refined),
    }
