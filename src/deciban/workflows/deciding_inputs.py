"""Score files of which decisions are made: tables and matrices in pieces, and what a fusion makes of several."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa

from deciban._files import PathLike, ScratchFolder, atomic_write, display_name
from deciban.errors import InputError
from deciban.io.columns.headers import unit_in_words
from deciban.io.cost_files import CostTable
from deciban.io.formats import by_name
from deciban.io.reader import Input
from deciban.io.shards.contents import ReadAs
from deciban.io.shards.files import Rows
from deciban.io.shards.inputs import opened_input
from deciban.io.shards.matrices import Matrix
from deciban.io.shards.matrix_files import MatrixRows, as_table
from deciban.io.shards.truth import Range
from deciban.io.shards.writing import TableWriter
from deciban.io.source import TwoFiles
from deciban.io.writing import target_name
from deciban.messages import Message, counted
from deciban.models.score_model import ScoreModel
from deciban.types import Progress
from deciban.workflows.apply import apply_files
from deciban.workflows.apply_to_folders import how_to_read
from deciban.workflows.inputs import ScoreFiles
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import Options
from deciban.workflows.quality import QualityFiles

_FULL = "decisions.parquet"


_NON_TARGETS = {"nontarget", "non-target", "non", "imp", "impostor", "imposter", "spoof", "different"}


@dataclass(frozen=True, slots=True, eq=False)
class PiecesToDecide:
    """A score file in pieces.

    Attributes
    ----------
    pieces : sequence of Rows
    read : function
        The contents of a piece.
    name, reading : str
        What messages call the file, and how it is read.
    """

    pieces: Sequence[Rows]
    read: Callable[[Rows], Input]
    name: str
    reading: str

    def message(self, n: int, noun: str) -> Message:
        """Say what was read."""
        return Message("read", self.name, f"{self.reading}   {counted(n, noun)}")


def pieces_to_decide(path: PathLike, kind: AnyKind, options: Options) -> PiecesToDecide:
    """Open a score file: a table, a matrix whose cells are trials, or one with a row for each segment.

    Raises
    ------
    FormatError, InputError, OSError
        If it is none of these; if a matrix of classes does not fit in memory, or rows and columns have no names.
    """
    how = how_to_read(kind, options.reading, options.scale)
    opened = opened_input(path, how)
    if isinstance(opened, Matrix) and kind.name != "two-class":
        what = f"{display_name(path)}: a matrix with a column for each class is read as a whole"
        options.scale.require_room(what, [path], way="write it as a table first (deciban convert)")
        (file,) = ScoreFiles.of([path], None, options.reading).scores
        given = kind.read(file, options.reading, lambda _words: None)
        origin, n_rows = given.contents.origin, opened.shape[0]
        whole = MatrixRows(origin.name, n_rows, opened, 0, n_rows)
        return PiecesToDecide([whole], lambda _rows: given, origin.name, origin.reading)
    if isinstance(opened, Matrix) and opened.names is None and len(opened.shape) == 2:
        raise InputError(
            f"{display_name(path)}: rows and columns have no names, so that nothing says which trial a decision is "
            "about. Bring a matrix with names (HDF5, MATLAB), or a table with a row for each trial."
        )
    table = as_table(opened, also_nameless=True) if isinstance(opened, Matrix) else opened
    reader = ReadAs.of(table, how.options(kind.need))

    def read(rows: Rows) -> Input:
        return Input(reader.contents([Range(rows, 0, rows.n_rows)], rows.name), by_name("parquet"))

    unit = unit_in_words(reader.roles.units.values())
    reading = table.reading if unit in table.reading else table.reading + unit
    return PiecesToDecide(table.rows, read, table.name, reading)


def require_target_first(table: CostTable) -> None:
    """Refuse costs of two classes whose first one, which is taken for the target, is called a non-target.

    Raises
    ------
    InputError
    """
    if table.classes[0].casefold() in _NON_TARGETS:
        raise InputError(
            f"{table.name}: the first of two classes is the target, here {table.classes[0]!r}. Exchange the "
            "classes, and the columns of costs."
        )


def applied_first(
    model: ScoreModel,
    paths: Sequence[PathLike | TwoFiles],
    quality: QualityFiles | None,
    options: Options,
    say: Progress,
) -> tuple[ScratchFolder, Path, list[Message]]:
    """What a fusion makes of several systems, in a temporary file.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As `apply_files`.
    """
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        out = path / _FULL
        told = apply_files(model, paths, out, quality=quality, progress=say, **options.arguments)
    return folder, out, [one for one in told if one.kind not in ("wrote", "model")]


def of_applied(options: Options) -> Options:
    """The options for what `applied_first` wrote: in nats, in a format of its own; about a key they stay."""
    own: dict[str, Any] = {"format": None, "columns": None, "log10": False, "classes": None, "posterior_prior": None}
    own |= {"lr": False, "negate": False, "probabilities": None, "detection_llr": False, "names": None}
    own |= {"by_order": False}
    return replace(options, reading=replace(options.reading, **own))


_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


class RowWriter:
    """Writes tables of the same columns one after the other; text has a header.

    Parameters
    ----------
    stream : binary stream
    ending : str
        ``".parquet"``, or that of text.
    name : str
        What messages call the file.
    """

    def __init__(self, stream: IO[bytes], ending: str, name: str) -> None:
        self._stream, self._ending = stream, ending
        self._text: Any = None
        self._parquet = TableWriter(stream, name) if ending == ".parquet" else None

    @classmethod
    @contextmanager
    def of(cls, out: PathLike) -> Iterator[RowWriter]:
        """Open a file for writing that is there only when the block ends without an error.

        Parameters
        ----------
        out : path
            ``-`` is standard output, as CSV.

        Raises
        ------
        InputError
            If its ending says no format.
        """
        ending = ".csv" if str(out) == "-" else Path(out).suffix.lower()
        if ending not in {*_DELIMITERS, ".parquet"}:
            raise InputError(
                f"{display_name(out)}: ends in {ending or 'nothing'}. Tables are written as .csv, .tsv, .txt or "
                ".parquet."
            )
        if str(out) == "-":
            with cls(sys.stdout.buffer, ending, target_name(out)) as writer:
                yield writer
            return
        with atomic_write(out) as stream, cls(stream, ending, target_name(out)) as writer:
            yield writer

    def write(self, table: pa.Table, piece: str) -> None:
        """Write the rows of a table; ``piece`` is what they were made of, for messages."""
        if self._parquet is not None:
            self._parquet.write(table, piece)
            return
        from pyarrow import csv

        if self._text is None:
            options = csv.WriteOptions(delimiter=_DELIMITERS[self._ending], quoting_style="needed")
            self._text = csv.CSVWriter(self._stream, table.schema, write_options=options)
        self._text.write_table(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for one in (self._text, self._parquet):
            if one is not None and kind is None:
                one.close()
