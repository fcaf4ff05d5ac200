"""Opening of trials in partitions from any input: files, folders, matrices and objects."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._files import ScratchFolder
from deciban.errors import DecibanError, FormatError, InputError, Message, display_name, is_open_file, option
from deciban.io.columns.columnar import Roles
from deciban.io.columns.values import RowTable
from deciban.io.formats import InputOptions, bare_name
from deciban.io.partitions.files import FileRows, TableFile, is_columnar, open_files, table_files
from deciban.io.partitions.joining import JoinedTables, JoinRequest, joined_by_name
from deciban.io.partitions.layout import RowLayout, beside, source_of_rows
from deciban.io.partitions.matrices import MatrixInput, matrix_source, rows_of_array, table_of_matrix
from deciban.io.partitions.matrix_files import is_matrix_file, is_zarr, open_matrix
from deciban.io.partitions.meaning import BatchReading, kind_of_tables, layout_of, splitting, systems_in
from deciban.io.partitions.units import SpeakerLookup
from deciban.io.partitions.writing import cut_anew, n_of_both, of_both, rows_of_group, write_batches, write_table_of
from deciban.io.reader import require_as_many
from deciban.io.recognition import is_stream
from deciban.io.source import TwoFiles, refuse_doubles
from deciban.trials import Origin
from deciban.trials.frames import as_table
from deciban.trials.joining.matching import refuse_names_by_order
from deciban.trials.lists import PAIR
from deciban.trials.sources import TrialSource
from deciban.types import Foreign, PathLike, Readable

TableOrMatrix: TypeAlias = RowTable | MatrixInput

MOST_ROWS = 1 << 24
"""Largest number of rows of a row group that is read at once."""


def opened_input(value: Any, how: BatchReading, *, of_key: bool = False, name: str = "scores") -> TableOrMatrix:
    """Open an input as a table or a matrix.

    Parameters
    ----------
    value : path or object
    how : BatchReading
    of_key : bool
        True for the key.
    name : str
        Name of an object for messages.

    Raises
    ------
    FormatError, InputError, OSError
        If the input cannot be read.
    """
    if isinstance(value, TwoFiles):
        both = (opened_input(one, how, name=name) for one in (value.tar, value.non))
        tar, non = (one if isinstance(one, RowTable) else table_of_matrix(one, also_nameless=True) for one in both)
        return of_both(tar, non, value)
    if is_open_file(value) or (isinstance(value, str | os.PathLike) and is_stream(value)):
        return _written(value, [TableFile(Path(display_name(value)))], how, of_key=of_key)
    if not isinstance(value, str | os.PathLike):
        return _object(value, how, of_key=of_key, name=name)
    return _files(value, how, of_key=of_key)


def _files(path: PathLike, how: BatchReading, *, of_key: bool) -> TableOrMatrix:
    if is_zarr(path):
        return open_matrix(path)
    files = table_files(path)
    if len(files) == 1 and is_matrix_file(files[0].path):
        return open_matrix(files[0].path)
    if len(files) > 1 or is_columnar(files[0].path):
        packed = [file for file in files if not is_columnar(file.path)]
        if not packed or Path(path).is_dir():  # other files in a folder are refused
            return _cut_anew(open_files(path, files, how.options(of_key=of_key)), files, how.options(of_key=of_key))
    return _written(path, files, how, of_key=of_key)


def _written(readable: Readable, files: Sequence[TableFile], how: BatchReading, *, of_key: bool) -> RowTable:
    """Convert other files to a table of temporary Parquet files; messages keep the original names."""
    refuse_doubles([file.path for file in files if file.path.is_file()])
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        items = [TableFile(path / f"{at:06d}.parquet", file.partition) for at, file in enumerate(files)]
        origins = list[Origin | None]()
        for file, target in zip(files, items, strict=True):
            source = readable if is_stream(readable) else file.path
            origins.append(write_table_of(source, target.path, how, of_key=of_key))
        is_described = None not in origins
        options = replace(how, columns=None).options() if is_described else how.options(of_key=of_key)
        table = _called(open_files(path, items, options, are_ours=True), files, items, folder, origins)
        name = display_name(readable)
        if is_described:
            several = f"{len(files):,} files, " if len(files) > 1 else ""
            readings = dict.fromkeys(one.reading for one in origins if one is not None)
            table = replace(table, reading=several + " or ".join(readings))
        return replace(table, name=name, system=bare_name(name), paths=(readable,), is_described=is_described)


def _cut_anew(table: RowTable, files: Sequence[TableFile], options: InputOptions) -> RowTable:
    """Return the table with row groups that fit in memory; files with larger ones are written again."""
    large = {one.path for one in table.rows if isinstance(one, FileRows) and one.n_rows > MOST_ROWS}
    if not large:
        return table
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        items = []
        for at, file in enumerate(files):
            is_large = str(file.path) in large
            items.append(replace(file, path=path / f"{at:06d}.parquet") if is_large else file)
            if is_large:
                cut_anew(file.path, items[-1].path)
        opened = _called(open_files(path, items, options, are_ours=True), files, items, folder)
        reading = f"{table.reading}, row groups of more than {MOST_ROWS:,} rows split in a temporary folder"
        return replace(opened, name=table.name, system=table.system, paths=table.paths, reading=reading)


def _called(
    table: RowTable,
    files: Sequence[TableFile],
    result: Sequence[TableFile],
    folder: ScratchFolder,
    origins: Sequence[Origin | None] = (),
) -> RowTable:
    """Rename the rows of temporary files after the original files; origins find the lines of text."""
    known = [one or Origin(display_name(file.path)) for file, one in zip_longest(files, origins)]
    names = {str(one.path): origin for one, origin in zip(result, known, strict=True)}
    kept = {str(file.path) for file, one in zip(files, result, strict=True) if file.path == one.path}
    rows, first = [], dict.fromkeys(names, 0)
    for one in table.rows:
        path = one.path  # type: ignore[attr-defined]
        start = first[path]
        first[path] = start + one.n_rows
        if path in kept:
            rows.append(one)
            continue
        words = f"{names[path].name}, rows {start:,} to {first[path] - 1:,}"
        rows.append(replace(one, name=words, start=(names[path], start)))  # type: ignore[type-var]
    reading = f"{table.reading}, parsed into a temporary folder"
    return replace(table, rows=tuple(rows), reading=reading, kept=folder)


def _object(foreign: Foreign, how: BatchReading, *, of_key: bool, name: str) -> TableOrMatrix:
    matrix = matrix_of(foreign, name)
    if matrix is not None:
        return matrix
    files = files_of_dataset(foreign)
    if files is not None:
        return replace(open_files(name, files, how.options(of_key=of_key)), system="system", paths=())
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        target = path / "rows.parquet"
        write_object(foreign, target, name, how.memory)
        items = [TableFile(target)]
        table = open_files(path, items, how.options(of_key=of_key), are_ours=True)
        called = _called(table, [TableFile(Path(name))], items, folder)
        return replace(called, name=name, system="system", paths=())


_ACCEPTED = (
    "a path, a data frame, a dask.dataframe, a pyarrow.dataset, a Polars LazyFrame, anything with __arrow_c_stream__, "
    "or an array of numpy, dask or zarr"
)


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def matrix_of(foreign: Foreign, name: str) -> MatrixInput | None:
    """Return an array as a matrix, or as a vector with one number per trial; None for other objects.

    Raises
    ------
    InputError
        If it does not contain numbers.
    """
    if not all(hasattr(foreign, one) for one in ("dtype", "shape", "ndim", "__getitem__")) or hasattr(
        foreign, "columns"
    ):
        return None
    if not isinstance(foreign.dtype, np.dtype):
        raise InputError(f"{name}: contains {foreign.dtype}. Cells of a matrix must be numbers.")
    kind = foreign.dtype
    if kind.kind not in "biuf" or foreign.ndim not in (1, 2):
        raise InputError(f"{name}: got {foreign.ndim}-dimensional {kind} values. Expected numbers of rows and columns.")
    if any(map(math.isnan, foreign.shape)):  # dask has NaN for unknown lengths
        raise InputError(f"{name}: an array of unknown shape. Compute it first: compute_chunk_sizes().")
    sizes = getattr(foreign, "chunks", None)  # in dask a tuple of sizes for each axis, in zarr one size
    rows, step = partial(rows_of_array, foreign), int(np.max(sizes[0])) if sizes else None
    return MatrixInput(name, rows, tuple(map(int, foreign.shape)), kind, rows_per_chunk=step)


def files_of_dataset(foreign: Foreign) -> list[TableFile] | None:
    """Return the Parquet files of a pyarrow dataset with their partition values; None for other objects."""
    if _library(foreign) != "pyarrow" or not hasattr(foreign, "get_fragments"):
        return None
    import pyarrow.dataset as ds
    from pyarrow import fs

    is_files = isinstance(foreign, ds.FileSystemDataset) and isinstance(foreign.format, ds.ParquetFileFormat)
    if not is_files or not isinstance(foreign.filesystem, fs.LocalFileSystem):
        return None
    try:
        fragments = list(foreign.get_fragments())
    except ValueError:  # the dataset is filtered, so its files contain more
        return None
    keys = [ds.get_partition_keys(one.partition_expression).items() for one in fragments]
    values = [tuple((name, None if value is None else str(value)) for name, value in own) for own in keys]
    return [TableFile(Path(one.path), own) for one, own in zip(fragments, values, strict=True)] or None


def write_object(foreign: Foreign, target: Path, name: str, memory: int) -> None:
    """Write an object that can perhaps be read only once to a Parquet file, batch by batch.

    Parameters
    ----------
    foreign : object
    target : path
    name : str
        Name for messages.
    memory : int
        Bytes of one row group when it is read.

    Raises
    ------
    InputError
        If the object has no columns.
    FormatError
        If writing fails.
    """
    with _naming(name):
        if _library(foreign) == "polars" and hasattr(foreign, "sink_parquet"):
            n_rows = rows_of_group(pa.schema([]), memory)
            foreign.sink_parquet(target, compression="zstd", compression_level=1, row_group_size=n_rows)
        else:
            schema, batches = _batches(foreign, name)
            write_batches(target, schema, batches, memory=memory)


def _batches(foreign: Foreign, name: str) -> tuple[pa.Schema, Iterable[Foreign]]:
    library = _library(foreign)
    if library in ("dask", "dask_expr") and hasattr(foreign, "partitions"):
        frames = (foreign.partitions[at].compute() for at in range(foreign.npartitions))
        parts = (pa.Table.from_pandas(one, preserve_index=False) for one in frames)
        first = next(parts, None)
        if first is None:
            raise InputError(f"{name}: a data frame without partitions. There is nothing to read.")
        return first.schema, chain([first], parts)
    if library == "pyarrow" and hasattr(foreign, "to_batches") and hasattr(foreign, "get_fragments"):
        return foreign.schema, foreign.to_batches()
    if hasattr(foreign, "__arrow_c_stream__") and not isinstance(foreign, pa.Table):
        reader = pa.RecordBatchReader.from_stream(foreign)
        return reader.schema, reader
    if isinstance(foreign, Mapping) or hasattr(foreign, "columns"):
        table = as_table(foreign)
        return table.schema, [table]
    raise InputError(f"{name}: got {type(foreign).__name__}. Pass {_ACCEPTED}.")


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Convert errors of a library to errors with the name of the object, except for OSError."""
    try:
        yield
    except (OSError, DecibanError):
        raise
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise FormatError(f"{name}: reading stopped early ({words}). Nothing was used.") from error


def open_trials(scores: Any, key: object = None, *, speakers: Any = None, **options: Any) -> TrialSource:
    """Open trials in partitions; only footers and headers are read, and tables are joined if necessary.

    Parameters
    ----------
    scores : path, pattern, folder or object, or sequence of these
        Tables (Parquet, Arrow, text, compressed or not; data frames, `pyarrow.dataset`, `dask.dataframe`, Polars
        ``LazyFrame`` and objects with ``__arrow_c_stream__``), or matrices (NumPy, HDF5, Zarr, `dask.array`). Several
        are systems on the same trials.
    key : path or object, optional
        The truth of the trials; by default, the first scores contain it.
    speakers : path, mapping, or sequence of one or two of these, optional
        The speaker of each name, for both sides or one for each: trials with equal speakers are targets.
    **options
        The attributes of `deciban.io.partitions.meaning.BatchReading`.

    Returns
    -------
    TrialSource

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        If an input cannot be read, inputs do not match, or there is no truth; the message contains file and place.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for at in range(2):
    ...     rows = pa.table({"score": [1.5, -2.0 + at], "label": ["target", "nontarget"]})
    ...     pq.write_table(rows, folder / f"{at}.parquet")
    >>> source = open_trials(folder)
    >>> source.n_rows, len(source.partitions), source.systems == (folder.name,)
    (4, 2, True)
    """
    how = BatchReading(**options)
    each = list(scores) if isinstance(scores, list | tuple) else [scores]
    if not each:
        raise InputError("scores: none given. At least one table or matrix is needed.")
    is_single = isinstance(speakers, str | os.PathLike | Mapping) or not isinstance(speakers, Sequence)
    named = () if speakers is None else (speakers,) if is_single else tuple(speakers)
    who = SpeakerLookup.of(named) if named else None
    if who is not None and key is not None:
        raise InputError("key, speakers: both determine which trials are targets. Leave out one of the two.")
    names = [f"scores {at}" for at in range(1, len(each) + 1)] if len(each) > 1 else ["scores"]
    opened = [opened_input(one, how, name=name) for one, name in zip(each, names, strict=True)]
    truth = None if key is None else opened_input(key, how, of_key=True, name="key")
    matrices = [one for one in opened if isinstance(one, MatrixInput)]
    if len(matrices) == len(opened) and not isinstance(truth, RowTable) and how.ids is None:
        return matrix_source(matrices, truth, who, how)
    if how.by_order and (matrices or isinstance(truth, MatrixInput)):
        raise InputError(
            "by_order: a matrix and a table have no common order. Trials of a matrix are matched with a table by name: "
            f"leave {option('by_order')} out."
        )
    tables = [table_of_matrix(one) if isinstance(one, MatrixInput) else one for one in opened]
    return _source_of_tables(tables, table_of_matrix(truth) if isinstance(truth, MatrixInput) else truth, who, how)


def _source_of_tables(
    tables: Sequence[RowTable], key: RowTable | None, who: SpeakerLookup | None, how: BatchReading
) -> TrialSource:
    for one in (*tables, *(() if key is None else (key,))):
        if not one.rows:
            raise FormatError(f"{one.name}: contains no trial. Leave it out.")
    if any(one.target is not None for one in tables):
        if how.kind == "classes" or how.classes is not None:
            raise InputError("tar, non: are scores of two classes, but you requested multiclass. Leave one out.")
        how = replace(how, kind="two-class")
    how = replace(how, kind=kind_of_tables(tables, key, how))
    is_classes = how.kind == "classes"
    scores = [Roles.of(table, how.options("class-scores" if is_classes else "scores")) for table in tables]
    scores = [one.with_classes(how.classes) for one in scores] if is_classes else scores
    truth = scores[0]
    if key is not None:
        truth = Roles.of(key, how.options("class-key" if is_classes else "key", of_key=True))
    layout = layout_of(scores, truth, how, who)
    is_alone = len(scores) == 1 and key is None and how.duplicates == "error" and how.ids is None
    double = any(name in one.table.is_double for one in scores for name in one.scores)
    result = JoinedTables(tables[0].rows, layout, double) if is_alone else _joined(scores, truth, layout, how, double)
    words = truth.words if who is None else f"target if and only if the speakers agree ({', '.join(who.called)})"
    messages = [Message("read", one.table.name, one.words) for one in scores]
    messages.append(Message("key", truth.table.name, words))
    if is_alone and truth.sides:
        unknown = "names of trials were not compared with each other, so repeated trials count twice"
        way = f"If there are any, use {option(duplicates='keep-one')} to join the table with itself and drop them"
        messages.append(Message("note", truth.table.name, f"{unknown}. {way}"))
    return source_of_rows(
        result.rows,
        result.layout,
        name=", ".join(dict.fromkeys(one.name for one in tables)),
        systems=tuple(systems_in(scores, is_classes=is_classes)),
        is_double=result.is_double or (how.converted is not None and is_classes),
        units=() if layout.classes else tuple(unit for one in scores for unit in one.units.values()),
        messages=tuple(messages),
        paths=tuple(path for one in tables for path in one.paths),
        kept=([one.table.kept for one in (*scores, truth)], result.kept),
        report=result.report,
        of_key=result.of_key,
        groups=None if how.groups is None else tuple(how.groups) or (PAIR if layout.groups else ()),
        columns=tuple(splitting(truth)),
        names=tuple(dict.fromkeys((*truth.sides, *truth.sides.values()))),
        incomplete=result.layout.incomplete,
    )


def _joined(
    scores: Sequence[Roles],
    truth: Roles,
    layout: RowLayout,
    how: BatchReading,
    is_double: bool,  # noqa: FBT001
) -> JoinedTables:
    """Join several tables, by their order or by the names of trials."""
    columns, renamed = _renamed(scores, truth, layout)
    is_by_row = not truth.sides and all(one.table.target is not None for one in scores)
    if is_by_row:
        require_as_many({one.table.name: n_of_both(one.table) for one in scores})
    if how.by_order or is_by_row:
        refuse_names_by_order(how.ids)
        return JoinedTables(beside([*(one.table for one in scores), truth.table], columns), renamed, is_double)
    return joined_by_name(JoinRequest(scores, truth, columns, renamed, how))


def _renamed(scores: Sequence[Roles], truth: Roles, layout: RowLayout) -> tuple[list[Mapping[str, str]], RowLayout]:
    """Return new and old names of the columns of each table, and the layout with new names; the key is unchanged."""
    taken = set(truth.table.schema.names)
    columns: list[Mapping[str, str]] = []
    lines: list[tuple[str, ...]] = []
    ratios = set[str]()
    left = list(layout.scores)
    for at, roles in enumerate(scores):
        prefix = f"{at}/"
        while any(name.startswith(prefix) for name in taken):
            prefix += "/"
        own = left[:1] if layout.classes else left[: len(roles.scores)]
        left = left[len(own) :]
        lines += [tuple(prefix + name for name in names) for names in own]
        ratios |= {prefix + name for name in roles.ratios}
        columns.append({prefix + name: name for names in own for name in names})
    columns.append({name: name for name in truth.table.schema.names})
    return columns, replace(layout, scores=tuple(lines), ratios=frozenset(ratios))
