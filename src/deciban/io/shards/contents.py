"""Files as tables of trials, batch by batch: for those who write them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deciban._files import PathLike, ScratchFolder, display_name
from deciban.io.columns.columnar import ReadAs
from deciban.io.columns.rows import Range
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats import BinaryFormat, bare_name
from deciban.io.recognition import Opened, recognize
from deciban.io.shards.files import TableFile, is_columnar, open_files, table_files
from deciban.io.shards.text import as_file, contents_in_blocks
from deciban.io.source import Source
from deciban.steps import teller
from deciban.types import ScoreUnit


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
    source: PathLike, need: ContentKind | None, *, format: str | None, columns: Any, labels: Any, unit: ScoreUnit | None
) -> Iterator[tuple[str, Contents]]:
    """What a file holds, piece by piece.

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
        reader = ReadAs.of(table, options, of_folders=True).settled()
        tell, done = teller(table.n_rows, "rows"), 0
        for rows in table.rows:
            yield rows.name, reader.contents([Range.all_of(rows)], rows.name)
            done += rows.n_rows
            tell(done)
        return
    for found in plain_text_files(files, format=format, columns=columns, labels=labels):
        layout = found.layout(need)
        asked = replace(found.options, need=need or layout.holds, name=name, unit=unit)
        for line, contents in contents_in_blocks(found, layout, layout.declared(asked, found.source.name)):
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
