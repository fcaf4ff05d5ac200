"""Trained models applied to files batch by batch: to a folder of Parquet, or to one Parquet file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban._files import PathLike, atomic_write, display_name
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io.folders import Unfinished, require_free, whole_folder
from deciban.io.formats import by_name, for_ending
from deciban.io.packing import unpacked_name
from deciban.io.recognition import memory_of
from deciban.io.shards.contents import ReadAs
from deciban.io.shards.files import RowTable, table_files
from deciban.io.shards.how import HowToRead
from deciban.io.shards.inputs import opened_input
from deciban.io.shards.matrix_files import is_matrix_file, is_zarr
from deciban.io.shards.truth import Range, cut
from deciban.io.shards.writing import TableWriter, in_order
from deciban.io.source import TwoFiles
from deciban.io.writing import target_name
from deciban.memory import Cost, memory_error, threads_that_fit
from deciban.messages import Message, counted
from deciban.steps import teller
from deciban.types import Progress
from deciban.workflows.applied import Applying, Tally, ToApply, digest, rows_met, said, stamped
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import Options, Reading
from deciban.workflows.scale import Scale


@dataclass(frozen=True)
class Part:
    """A file that is written.

    Attributes
    ----------
    name : str
        In the folder.
    pieces : tuple of tuple of tuple of Range
        For every piece, the rows of each input.
    group : int
        Of which inputs.
    made_of : str
        By what it is known that these are the same rows.
    """

    name: str
    pieces: tuple[tuple[tuple[Range, ...], ...], ...]
    group: int
    made_of: str


def is_for_folder(paths: Sequence[PathLike | TwoFiles], out: PathLike, scale: Scale, needed: int) -> bool:
    """Return True if inputs are written batch by batch: they do not fit in memory, or one folder becomes another.

    Parameters
    ----------
    paths : sequence of paths
    out : path
    scale : Scale
    needed : int
        Bytes that reading the inputs as a whole would take.

    Raises
    ------
    InputError
        If they do not fit into the memory that the user allows, and the output is no folder.
    """
    is_file = _names_a_file(out)
    if needed > scale.n_bytes and not any(isinstance(one, TwoFiles) for one in paths):
        is_parquet = _is_parquet(out)
        if is_file and not is_parquet and scale.memory is not None:
            raise _no_folder(out)
        return not is_file or is_parquet
    one = paths[0]
    if len(paths) > 1 or isinstance(one, TwoFiles) or is_file:
        return False
    return Path(one).is_dir() and not is_zarr(one)


def _names_a_file(out: PathLike) -> bool:
    """Whether what is to be written is one file."""
    return not str(out).endswith(("/", os.sep)) and (
        str(out) == "-" or Path(out).is_file() or Path(out).suffix != "" or for_ending(target_name(out)) is not None
    )


def _is_parquet(out: PathLike) -> bool:
    """Return True if the output is one Parquet file."""
    found = for_ending(target_name(out))
    return str(out) != "-" and _names_a_file(out) and found is not None and found.name == "parquet"


def _no_folder(out: PathLike) -> InputError:
    what = (
        f"{target_name(out)}: names a file that is not Parquet, and scores that do not fit in memory are written in "
        "batches to Parquet"
    )
    return memory_error(what, way="name a folder or a Parquet file (-o llrs/, -o llrs.parquet)")


def require_writable(paths: Sequence[PathLike | TwoFiles], out: PathLike, options: Options, *, to: str | None) -> None:
    """Refuse, before a model is trained in pieces, inputs of which it could not write llrs afterwards.

    Parameters
    ----------
    paths : sequence of paths
        What the model will be applied to.
    out, options, to
        As of `apply_to_folder`.

    Raises
    ------
    InputError
        If they do not fit in memory and the output is a file or a folder that is not free, or they are no tables.
    """
    scale, needed = options.scale, memory_of(paths)
    if needed > scale.n_bytes and _names_a_file(out) and not _is_parquet(out):
        raise _no_folder(out)
    if not is_for_folder(paths, out, scale, needed):
        return
    _require_parquet(to)
    if not _is_parquet(out):
        require_free(Path(out))
    for one in paths:
        if not isinstance(one, TwoFiles) and str(one) != "-" and (is_zarr(one) or is_matrix_file(Path(one))):
            raise _no_table(display_name(one))


def apply_to_folder(
    what: ToApply, paths: Sequence[PathLike], out: PathLike, options: Options, *, to: str | None, say: Progress
) -> list[Message]:
    """Write inputs again with what a model makes of their scores, a file for each of theirs.

    Parameters
    ----------
    what : ToApply
    paths : sequence of paths
        Of all systems of a fusion, whose rows belong together; a calibration is applied to one after the other.
    out : path
        A folder that is not there yet, or empty.
    options : Options
    to : str, optional
        Parquet is what is written.
    say : function
        Called with a few words at every step.

    Returns
    -------
    list of Message

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.apply_files`; the message names file and row group. The folder is not there then; files that were
        finished are kept beside it, and the same call goes on from there.
    """
    _require_parquet(to)
    is_file = _is_parquet(out)
    if not is_file:
        require_free(Path(out))
    groups = [list(paths)] if what.model.is_fusion else [[one] for one in paths]
    say("looking at the files")
    tables = [[_opened(one, what, options) for one in group] for group in groups]
    parts = [part for at in range(len(groups)) for part in _parts(at, groups, tables, what)]
    if not any(part.pieces for part in parts):
        raise FormatError(f"{display_name(paths[0])}: holds no trial.")
    readers = [
        [ReadAs.of(one, how_to_read(what.kind, what.reading, options.scale).options(what.kind.need)) for one in group]
        for group in tables
    ]
    make, memory = Applying(what, readers), options.scale.n_bytes
    say("applying the model")
    if is_file:
        with atomic_write(out) as stream, TableWriter(stream, target_name(out)) as writer:
            tallies = _write(make, parts, memory, lambda _part: nullcontext(writer))
            messages = _messages(what, tallies, tables)
        return [*messages, Message("wrote", target_name(out), "as parquet, in batches")]
    with whole_folder(Path(out), {part.name: part.made_of for part in parts}) as folder:

        @contextmanager
        def opened(part: Part) -> Iterator[TableWriter]:
            with folder.file(part.name) as path, TableWriter(path, target_name(Path(out) / part.name)) as writer:
                yield writer

        tallies = _write(make, [part for part in parts if part.name not in folder.finished], memory, opened)
        messages = _messages(what, tallies, tables)
    return [*messages, *_written(folder, parts, out)]


def _messages(what: ToApply, tallies: Sequence[Tally], tables: Sequence[Sequence[RowTable]]) -> list[Message]:
    """Return the messages on all inputs."""
    found = list[Message]()
    for tally, group in zip(tallies, tables, strict=True):
        read = [Message("read", one.name, f"{one.reading}   {counted(one.n_rows, what.kind.noun)}") for one in group]
        found += said(what, tally, read, rows_met(what, tally, group))
    return [*found, *what.interval_messages]


def _require_parquet(to: str | None) -> None:
    """Refuse another format than Parquet."""
    if to is not None and by_name(to).name != "parquet":
        raise InputError(f"to: got {to!r}. Batches are written to Parquet; leave it out.")


def how_to_read(kind: AnyKind, reading: Reading, scale: Scale) -> HowToRead:
    """How rows of scores are read that are written again, or decided."""
    given = {name: getattr(reading, name) for name in ("format", "columns", "labels", "classes")}
    unit = reading.unit if kind.units_of_files else None
    return HowToRead.of(given | {"kind": kind.name, "unit": unit, "memory": scale.n_bytes})


def _opened(path: PathLike, what: ToApply, options: Options) -> RowTable:
    found = opened_input(path, how_to_read(what.kind, what.reading, options.scale))
    if isinstance(found, RowTable):
        return found
    raise _no_table(display_name(path))


def _no_table(name: str) -> InputError:
    what = f"{name}: a matrix, which is not written again in pieces"
    return memory_error(what, way="write it as a table first (deciban convert)")


def _parts(group: int, groups: Sequence[Sequence[PathLike]], tables: Any, what: ToApply) -> Iterator[Part]:
    """The files that are written for some inputs: one for each file of the first."""
    first, *others = tables[group]
    path = groups[group][0]
    stops = list(accumulate(one.n_rows for one in first.rows))
    for other in others:
        if other.n_rows != first.n_rows:
            raise KeyMismatchError(
                f"{other.name} holds {counted(other.n_rows, 'score')}, {first.name} {counted(first.n_rows, 'score')}. "
                "What does not fit in memory is fused row by row: write the files in the same order first, or allow "
                "more memory (memory=, --memory)."
            )
    ranges = [cut(table, stops) for table in (first, *others)]
    pieces = list(zip(*ranges, strict=True))
    beside = [stamped(file.path) for one in groups[group][1:] for file in table_files(one)]
    files = table_files(path)
    names = _names([file.path for file in files], path, alone=len(groups) == 1)
    own: dict[str, list[int]] = {}
    for at, rows in enumerate(first.rows):
        own.setdefault(rows.path, []).append(at)
    # Of text a copy of each was made in a temporary folder.
    is_ours = bool(own) and not any(str(file.path) in own for file in files)
    held = list(own.values()) if is_ours else [own.get(str(file.path), []) for file in files]
    for file, name, numbers in zip(files, names, held, strict=True):
        made_of = digest([what.question, stamped(file.path), *beside])
        yield Part(name, tuple(pieces[k] for k in numbers), group, made_of)


def _names(files: Sequence[Path], path: PathLike, *, alone: bool) -> list[str]:
    """What the files are called that are written."""
    if str(path) == "-":
        return ["scores.parquet"]
    root = Path(path) if Path(path).is_dir() else Path(os.path.commonpath([file.parent for file in files]))
    own = [file.relative_to(root) for file in files]
    names = [one.with_name(unpacked_name(one.name)).with_suffix(".parquet").as_posix() for one in own]
    if len(set(names)) < len(names):
        names = [f"{one.as_posix()}.parquet" for one in own]
    prefix = "" if alone or not Path(path).is_dir() else f"{Path(path).name}/"
    return [prefix + one for one in names]


def _write(
    make: Applying, parts: Sequence[Part], memory: int, opened: Callable[[Part], AbstractContextManager[TableWriter]]
) -> list[Tally]:
    """Write files one after the other, and return what is to be said about each group of inputs."""
    tallies = [Tally() for _ in make.readers]
    jobs = [(part.group, piece) for part in parts for piece in part.pieces]
    tell, n_done = teller(sum(_n_rows(piece) for _, piece in jobs), "rows"), 0
    largest = max((_n_rows(piece) for _, piece in jobs), default=1)
    schema: pa.Schema | None = None
    done = in_order(make, jobs, threads_that_fit(memory, Cost.WRITTEN * largest))
    for part in parts:
        with opened(part) as writer:
            for _ in part.pieces:
                (_, piece), (table, tally) = next(done)
                writer.write(table, piece[0][0].rows.name)
                tallies[part.group].add(tally)
                schema = writer.schema
                n_done += len(table)
                tell(n_done)
            if not part.pieces and writer.schema is None:
                schema = schema or _schema_of(make, parts)
                writer.write(schema.empty_table(), part.name)
    return tallies


def _schema_of(make: Applying, parts: Sequence[Part]) -> pa.Schema:
    """The columns of what is written, by the first piece that there is."""
    first = next(part for part in parts if part.pieces)
    return make((first.group, first.pieces[0]))[0].schema


def _n_rows(piece: Sequence[Sequence[Range]]) -> int:
    return sum(one.stop - one.start for one in piece[0])


def _written(folder: Unfinished, parts: Sequence[Part], out: PathLike) -> Iterator[Message]:
    shown = display_name(out)
    if folder.n_stale:
        words = (
            f"{counted(folder.n_stale, 'file')} of an earlier run that was interrupted had been made with another "
            "model, other options or other inputs, and were made anew"
        )
        yield Message("note", shown, words)
    if folder.finished:
        words = f"{counted(len(folder.finished), 'file')} of {len(parts):,} were finished by an earlier run"
        yield Message("note", shown, words)
    yield Message("wrote", shown, f"a folder of {counted(len(parts), 'Parquet file')}")
