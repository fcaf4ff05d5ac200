"""Objects of other libraries that hold more than memory does: datasets, lazy frames, streams of batches, arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban.errors import DecibanError, FormatError, InputError
from deciban.io.shards.files import TableFile
from deciban.io.shards.matrices import ArrayCells, Matrix
from deciban.io.shards.writing import rows_of_group, write_batches
from deciban.trials.frames.columns import as_table

_ACCEPTED = (
    "a path, a data frame, a dask.dataframe, a pyarrow.dataset, a Polars LazyFrame, anything with __arrow_c_stream__, "
    "or an array of numpy, dask or zarr"
)


def _library(given: Any) -> str:
    return type(given).__module__.partition(".")[0]


def matrix_of(given: Any, name: str) -> Matrix | None:
    """An array as a matrix, or a vector of one number per trial; None if it is none.

    Raises
    ------
    InputError
        If it holds no numbers.
    """
    if not all(hasattr(given, one) for one in ("dtype", "shape", "ndim", "__getitem__")) or hasattr(given, "columns"):
        return None
    if not isinstance(given.dtype, np.dtype):
        raise InputError(f"{name}: holds {given.dtype}. Cells of a matrix are numbers.")
    kind = given.dtype
    if kind.kind not in "biuf" or given.ndim not in (1, 2):
        raise InputError(f"{name}: got {given.ndim}-dimensional {kind} values. Expected numbers of rows and columns.")
    if any(map(math.isnan, given.shape)):  # NaN where dask does not know it
        raise InputError(f"{name}: an array of unknown shape. Have it computed first: compute_chunk_sizes().")
    chunks = getattr(given, "chunks", None)
    step = None
    if chunks:  # of dask a tuple of sizes for each axis, of zarr one size
        step = int(np.max(chunks[0]))
    return Matrix(name, ArrayCells(given, name), tuple(map(int, given.shape)), kind, rows_per_chunk=step)


def files_of_dataset(given: Any) -> list[TableFile] | None:
    """The Parquet files of a dataset of pyarrow with what its partitions say; None if it is no such thing."""
    if _library(given) != "pyarrow" or not hasattr(given, "get_fragments"):
        return None
    import pyarrow.dataset as ds
    from pyarrow import fs

    is_files = isinstance(given, ds.FileSystemDataset) and isinstance(given.format, ds.ParquetFileFormat)
    if not is_files or not isinstance(given.filesystem, fs.LocalFileSystem):
        return None
    try:
        fragments = list(given.get_fragments())
    except ValueError:  # it is filtered, and its files hold more
        return None
    found = []
    for fragment in fragments:
        keys = ds.get_partition_keys(fragment.partition_expression)
        partition = tuple((name, None if value is None else str(value)) for name, value in keys.items())
        found.append(TableFile(Path(fragment.path), partition))
    return found or None


def write_object(given: Any, target: Path, name: str, memory: int) -> None:
    """Write what can perhaps be read only once to a Parquet file, batch by batch.

    Parameters
    ----------
    given : object
    target : path
    name : str
        What messages call it.
    memory : int
        Bytes that one row group may take when it is read.

    Raises
    ------
    InputError
        If this is nothing that hands out columns.
    FormatError
        If it fails on the way.
    """
    if _library(given) == "polars" and hasattr(given, "sink_parquet"):
        with _told(name):
            given.sink_parquet(
                target, compression="zstd", compression_level=1, row_group_size=rows_of_group(pa.schema([]), memory)
            )
        return
    with _told(name):
        schema, batches = _batches(given, name)
        write_batches(target, schema, batches, memory=memory)


def _batches(given: Any, name: str) -> tuple[pa.Schema, Iterable[Any]]:
    library = _library(given)
    if library in ("dask", "dask_expr") and hasattr(given, "partitions"):
        parts = _of_dask(given)
        first = next(parts, None)
        if first is None:
            raise InputError(f"{name}: a data frame without partitions. Nothing can be read from it.")
        return first.schema, _from(first, parts)
    if library == "pyarrow" and hasattr(given, "to_batches") and hasattr(given, "get_fragments"):
        return given.schema, given.to_batches()
    if isinstance(given, pa.RecordBatchReader):
        return given.schema, given
    if hasattr(given, "__arrow_c_stream__") and not isinstance(given, pa.Table):
        reader = pa.RecordBatchReader.from_stream(given)
        return reader.schema, reader
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        table = as_table(given)
        return table.schema, [table]
    raise InputError(f"{name}: got {type(given).__name__}. Give {_ACCEPTED}.")


def _of_dask(frame: Any) -> Iterator[pa.Table]:
    """The partitions one by one, each computed where the user computes."""
    for at in range(frame.npartitions):
        yield pa.Table.from_pandas(frame.partitions[at].compute(), preserve_index=False)


def _from(first: pa.Table, others: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    yield from others


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Whatever a library raises becomes an error that names the object; a full disk stays one."""
    try:
        yield
    except (OSError, DecibanError):
        raise
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise FormatError(f"{name}: stopped before its end ({words}). Nothing of it was taken.") from error
