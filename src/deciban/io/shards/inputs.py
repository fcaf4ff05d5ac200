"""Inputs as tables or matrices; other files and objects are written to a temporary folder first."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._files import ScratchFolder, display_name, is_open_file
from deciban.errors import DecibanError, FormatError, InputError
from deciban.io.columns.rows import RowTable
from deciban.io.formats import Options, bare_name
from deciban.io.recognition import is_stream
from deciban.io.shards.files import ParquetRows, TableFile, is_columnar, open_files, table_files
from deciban.io.shards.matrices import ArrayCells, Matrix, table_of_matrix
from deciban.io.shards.matrix_files import is_matrix_file, is_zarr, open_matrix
from deciban.io.shards.meaning import HowToRead
from deciban.io.shards.text import write_table_of
from deciban.io.shards.writing import cut_anew, of_both, rows_of_group, write_batches
from deciban.io.source import TwoFiles, refuse_doubles
from deciban.trials.frames import as_table

Opened: TypeAlias = RowTable | Matrix

MOST_ROWS = 1 << 24
"""Rows of a row group above which it is not read at once."""


def opened_input(given: Any, how: HowToRead, *, of_key: bool = False, name: str = "scores") -> Opened:
    """Find out what an input is.

    Parameters
    ----------
    given : path or object
    how : HowToRead
    of_key : bool
        Whether this is the key.
    name : str
        What messages call an object.

    Raises
    ------
    FormatError, InputError, OSError
        If it is nothing that can be read, or cannot be.
    """
    if isinstance(given, TwoFiles):
        tar, non = (_as_rows(opened_input(one, how, name=name)) for one in (given.tar, given.non))
        return of_both(tar, non, given)
    if is_open_file(given) or (isinstance(given, str | os.PathLike) and is_stream(given)):
        return _written(given, [TableFile(Path(display_name(given)))], how, of_key=of_key)
    if not isinstance(given, str | os.PathLike):
        return _object(given, how, of_key=of_key, name=name)
    return _files(given, how, of_key=of_key)


def _files(given: Any, how: HowToRead, *, of_key: bool) -> Opened:
    if is_zarr(given):
        return open_matrix(given)
    files = table_files(given)
    if len(files) == 1 and is_matrix_file(files[0].path):
        return open_matrix(files[0].path)
    if len(files) > 1 or is_columnar(files[0].path):
        packed = [file for file in files if not is_columnar(file.path)]
        if not packed or Path(given).is_dir():  # a folder holds nothing else, or it is refused
            table = open_files(given, files, how.options(of_key=of_key))
            return _cut_anew(table, files, how.options(of_key=of_key)) if _has_large(table) else table
    return _written(given, files, how, of_key=of_key)


def _as_rows(opened: Opened) -> RowTable:
    return opened if isinstance(opened, RowTable) else table_of_matrix(opened, also_nameless=True)


def _written(given: Any, files: Sequence[TableFile], how: HowToRead, *, of_key: bool) -> RowTable:
    """A table that other files became, one by one; rows are called by these."""
    refuse_doubles([file.path for file in files if file.path.is_file()])
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        made = [TableFile(path / f"{at:06d}.parquet", file.partition) for at, file in enumerate(files)]
        readings = list[str | None]()
        for file, target in zip(files, made, strict=True):
            source = given if is_stream(given) else file.path
            readings.append(write_table_of(source, target.path, how, of_key=of_key))
        told = None not in readings
        options = replace(how, columns=None).options() if told else how.options(of_key=of_key)
        table = _called(open_files(path, made, options, are_ours=True), files, made, folder)
        name = display_name(given)
        if told:
            several = f"{len(files):,} files, " if len(files) > 1 else ""
            table = replace(table, reading=several + " or ".join(dict.fromkeys(map(str, readings))))
        return replace(table, name=name, system=bare_name(Path(name).name), paths=(given,), told=told)


def _has_large(table: RowTable) -> bool:
    """Whether a row group of a Parquet file holds more rows than are read at once."""
    return any(isinstance(one, ParquetRows) and one.n_rows > MOST_ROWS for one in table.rows)


def _cut_anew(table: RowTable, files: Sequence[TableFile], options: Options) -> RowTable:
    """The same with row groups that a process can hold: files with larger ones are written again, as a stream."""
    large = {one.path for one in table.rows if isinstance(one, ParquetRows) and one.n_rows > MOST_ROWS}
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        made = []
        for at, file in enumerate(files):
            is_large = str(file.path) in large
            made.append(replace(file, path=path / f"{at:06d}.parquet") if is_large else file)
            if is_large:
                cut_anew(file.path, made[-1].path)
        opened = _called(open_files(path, made, options, are_ours=True), files, made, folder)
        reading = f"{table.reading}, row groups of more than {MOST_ROWS:,} rows cut in a temporary folder"
        return replace(opened, name=table.name, system=table.system, paths=table.paths, reading=reading)


def _called(table: RowTable, files: Sequence[TableFile], made: Sequence[TableFile], folder: ScratchFolder) -> RowTable:
    """The same with pieces that are called by the files that a user knows."""
    names = {str(one.path): display_name(file.path) for file, one in zip(files, made, strict=True)}
    kept = {str(file.path) for file, one in zip(files, made, strict=True) if file.path == one.path}
    rows, first = [], dict.fromkeys(names, 0)
    for one in table.rows:
        path = one.path  # type: ignore[attr-defined]
        start = first[path]
        first[path] = start + one.n_rows
        if path in kept:
            rows.append(one)
            continue
        words = f"{names[path]}, rows {start:,} to {first[path] - 1:,}"
        rows.append(replace(one, name=words, start=(names[path], start)))  # type: ignore[type-var]
    reading = f"{table.reading}, parsed into a temporary folder"
    return replace(table, rows=tuple(rows), reading=reading, kept=folder)


def _object(given: Any, how: HowToRead, *, of_key: bool, name: str) -> Opened:
    found = matrix_of(given, name)
    if found is not None:
        return found
    files = files_of_dataset(given)
    if files is not None:
        return replace(open_files(name, files, how.options(of_key=of_key)), system="system", paths=())
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        target = path / "rows.parquet"
        write_object(given, target, name, how.memory)
        made = [TableFile(target)]
        table = open_files(path, made, how.options(of_key=of_key), are_ours=True)
        called = _called(table, [TableFile(Path(name))], made, folder)
        return replace(called, name=name, system="system", paths=())


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
