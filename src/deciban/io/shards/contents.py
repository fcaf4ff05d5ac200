"""Pieces of tables as tables of trials with all that they hold: for those who write them again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._files import PathLike, ScratchFolder, display_name
from deciban._validate.labels import Vocabulary
from deciban.io.columns.columnar import contents_of
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats import BinaryFormat, Options, bare_name
from deciban.io.library_errors import only_format_errors
from deciban.io.recognition import Opened, recognize
from deciban.io.shards.files import FileRows, RowTable, TableFile, is_columnar, open_files, table_files
from deciban.io.shards.meaning import Roles, as_told
from deciban.io.shards.text import as_file, block_size, contents_in_blocks
from deciban.io.shards.truth import LabelColumn, Range, plain
from deciban.io.source import Source
from deciban.steps import teller
from deciban.trials import ClassKey, Origin
from deciban.trials.frames.columns import METADATA, description, is_text_or_bytes
from deciban.types import ScoreUnit


@dataclass(frozen=True, eq=False)
class ReadAs:
    """How rows of a table become tables of trials, all pieces in the same way.

    Attributes
    ----------
    table : RowTable
    options : Options
    schema : pyarrow.Schema
        Of the columns that are read, with the classes of all pieces.
    kept : tuple of str
        Columns that names of folders say.
    roles : Roles
        What the columns mean.
    """

    table: RowTable
    options: Options
    schema: pa.Schema
    roles: Roles
    kept: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: RowTable, options: Options, *, of_folders: bool = False) -> ReadAs:
        """Find out how a table is read.

        Parameters
        ----------
        table : RowTable
        options : Options
        of_folders : bool
            Whether what names of folders say are columns, too.

        Raises
        ------
        FormatError, InputError
            If ``options`` do not fit.
        """
        if table.told:
            options = replace(as_told(table, options), vocabulary=Vocabulary.of(None))
        options = replace(options, name=options.name or table.system)
        kept = table.partitions if of_folders else ()
        fields = [one for one in table.schema if one.name in kept or one.name not in table.partitions]
        schema = pa.schema(fields, metadata=table.schema.metadata)
        roles = Roles.of(table, options)
        label = roles.column("label")
        if label is not None:  # what a word means may depend on the others, which one piece may lack
            settled = LabelColumn(label, options.vocabulary).settled(table.rows)
            options = replace(options, vocabulary=settled.vocabulary)
        return cls(table, options, _with_classes(schema, roles), roles, kept)

    def contents(self, ranges: Sequence[Range], name: str) -> Contents:
        """What some neighbouring rows hold.

        Parameters
        ----------
        ranges : sequence of Range
        name : str
            What messages call them.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or stand where it stands; the message names file and place.
        """

        def read(columns: Sequence[str]) -> pa.Table:
            parts = []
            for one in ranges:
                table = one.rows.table(columns)
                whole = one.start == 0 and one.stop == one.rows.n_rows
                parts.append(table if whole else table.slice(one.start, one.stop - one.start))
            if len(parts) == 1:
                return parts[0]
            return pa.concat_tables(parts, promote_options="permissive").unify_dictionaries()

        size = sum(_size(one) for one in ranges)
        with only_format_errors(name, "a table"):
            return contents_of(self.schema, read, self.options, Origin(name, self.table.reading), size, self.kept)


def _with_classes(schema: pa.Schema, roles: Roles) -> pa.Schema:
    """A schema whose metadata list the classes of all pieces, where a column says them: one piece may lack some."""
    column, known = roles.column("class"), description(schema)
    if column is None or "classes" in known or not is_text_or_bytes(_plain_type(schema.field(column).type)):
        return schema
    names: dict[str, None] = {}
    for piece in roles.table.rows:
        found = pc.unique(plain(piece.table([column]).column(column))).drop_null()
        names |= dict.fromkeys(pc.cast(found, pa.string()).to_pylist())
    trials = {"trial": [str(k) for k in range(len(names))]}
    classes = ClassKey.of(trials, list(names)).classes if names else ()
    return schema.with_metadata(
        {**(schema.metadata or {}), METADATA: json.dumps(known | {"classes": list(classes)}).encode()}
    )


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _size(one: Range) -> int:
    """Bytes of the file that rows are in, by which what it promises is judged."""
    rows = one.rows
    return Path(rows.path).stat().st_size if isinstance(rows, FileRows) else 0


def is_readable_in_batches(path: Path, need: ContentKind | None, given: Mapping[str, Any]) -> bool:
    """Whether a file is one of rows that stand one behind the other, and of which all are needed to know none."""
    if is_columnar(path):
        return True
    asked = {name: given[name] for name in ("format", "columns", "labels")}
    opened = recognize(path, **asked).files[0]
    if isinstance(opened.asked, BinaryFormat) or opened.source.is_binary:
        return False
    return "class" not in opened.layout(need).roles


def contents_in_batches(
    source: PathLike,
    need: ContentKind | None,
    *,
    format: str | None,
    columns: Any,
    labels: Any,
    unit: ScoreUnit | None,
    memory: int | None = None,
) -> Iterator[tuple[str, Contents]]:
    """Yield what a file contains, batch by batch.

    Parameters
    ----------
    source : path
        Files for which `is_readable_in_batches` says so.
    need : str, optional
        What they must hold.
    format, columns, labels
        As of `deciban.io.read_scores`.
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.
    memory : int, optional
        Bytes that a batch of a text file may take.

    Yields
    ------
    str
        What messages call the piece.
    Contents

    Raises
    ------
    FormatError, OSError
        If something cannot be read; the message names the place.
    """
    files = table_files(source)
    name = bare_name(Path(display_name(source)).name)
    if all(is_columnar(file.path) for file in files):
        options = recognize(files[0].path, format=format, columns=columns, labels=labels).files[0].options
        options = replace(options, need=need, name=name, unit=unit)
        table = open_files(source, files, options)
        reader = ReadAs.of(table, options, of_folders=True)
        tell, done = teller(table.n_rows, "rows"), 0
        for rows in table.rows:
            yield rows.name, reader.contents([Range(rows, 0, rows.n_rows)], rows.name)
            done += rows.n_rows
            tell(done)
        return
    size = None if memory is None else block_size(memory)
    for found in plain_text_files(files, format=format, columns=columns, labels=labels):
        layout = found.layout(need)
        asked = replace(found.options, need=need or layout.holds, name=name, unit=unit)
        options = layout.declared(asked, found.source.name)
        for line, contents in contents_in_blocks(found, layout, options, size):
            yield f"{found.source.name}, lines after {line:,}", contents


def plain_text_files(files: Sequence[TableFile], **given: Any) -> Iterator[Opened]:
    """Text files one after the other, unpacked as long as each is looked at."""
    folder = ScratchFolder()
    try:
        for at, file in enumerate(files):
            named = Source(file.path)
            with as_file(file.path, named, folder.path / f"{at}.copy") as path:
                plain = Source(path)
                plain.name = named.name
                yield replace(recognize(path, **given).files[0], source=plain)
    finally:
        folder.remove()
