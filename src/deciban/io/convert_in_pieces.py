"""Files that do not fit in memory written again as Parquet, piece by piece; see `deciban.io.convert`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban.errors import InputError
from deciban.io.atomic import ScratchFolder, atomic_write
from deciban.io.columns.columnar import table_of, written_of
from deciban.io.contents import ContentKind, Contents, labels_in_words
from deciban.io.convert import left_out, only, read_message
from deciban.io.formats import BinaryFormat, bare_name, by_name, for_ending
from deciban.io.recognition import recognize
from deciban.io.shards.beside import Range
from deciban.io.shards.contents import ReadAs
from deciban.io.shards.files import is_columnar, open_files, table_files
from deciban.io.shards.text import as_file, contents_in_blocks
from deciban.io.shards.writing import TableWriter
from deciban.io.source import PathLike, Source, display_name
from deciban.io.units import certain, in_other_units
from deciban.io.writing import target_name
from deciban.messages import Message, counted
from deciban.steps import teller


@dataclass(frozen=True, slots=True)
class Converted:
    """What becomes of contents; the attributes are arguments of `deciban.io.convert`.

    Attributes
    ----------
    what : str, optional
    probabilities : float or prior, optional
    detection_llr : bool
    write_as : str
    """

    what: ContentKind | None = None
    probabilities: Any = None
    detection_llr: bool = False
    write_as: str = "loglik"

    def of(self, contents: Contents) -> tuple[Contents, list[Message]]:
        """What is written of contents, and what is to be said about it."""
        chosen = contents if self.what is None else only(contents, self.what)
        return in_other_units(chosen, self.probabilities, detection_llr=self.detection_llr, write_as=self.write_as)


@dataclass
class _Tally:
    """What is to be said about all pieces."""

    first: Contents | None = None
    n_trials: int = 0
    labels: list[int] = field(default_factory=lambda: [0, 0])
    words: dict[str, bool] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    told: dict[Message, None] = field(default_factory=dict)
    n_certain: list[int] = field(default_factory=list)
    left: list[Message] = field(default_factory=list)

    def add(self, contents: Contents, made: Contents, told: list[Message], table: pa.Table) -> None:
        """Add a piece."""
        if self.first is None:
            self.first = contents
            written = written_of(made, table)
            self.left = [Message("left out", "", one) for one in left_out(made, by_name("parquet"), written)]
        self.n_trials += 0 if contents.index is None else len(contents.index)
        if contents.key is not None:
            self.labels[0] += int(contents.key.n_tar)
            self.labels[1] += int(contents.key.n_non)
        self.words |= contents.words
        self.notes |= dict.fromkeys(contents.notes)
        self.told |= dict.fromkeys(one for one in told if not one.origin)
        if any(one.origin for one in told) or self.n_certain:
            scores: list[Any] = [*made.systems, *([] if made.class_scores is None else [made.class_scores])]
            own = [int(np.isinf(one.score.reshape(len(one.score), -1)).any(axis=1).sum()) for one in scores]
            before = self.n_certain or [0] * len(own)
            self.n_certain = [a + b for a, b in zip(before, own, strict=True)]

    def messages(self, name: str) -> Iterator[Message]:
        """What is said."""
        first = self.first
        assert first is not None  # noqa: S101  # there was a piece
        counts = [] if first.index is None else [counted(self.n_trials, "trial")]
        if first.key is not None:
            counts.append(labels_in_words(self.words, *self.labels))
        origin = replace(first.origin, name=name)
        shown = ", ".join(counts) or ", ".join(first.kinds)
        yield read_message("read", replace(first, origin=origin), shown)
        yield from (Message("note", name, note) for note in self.notes)
        yield from self.told
        noun = "segment" if first.class_scores is not None else "trial"
        for n in self.n_certain:
            yield from certain(n, noun, name)
        yield from self.left


def convert_in_pieces(
    source: PathLike,
    target: PathLike,
    how: Converted,
    *,
    must: bool,
    to: str | None,
    key: PathLike | None,
    **given: Any,
) -> tuple[Message, ...] | None:
    """Write a file again as Parquet, piece by piece.

    Parameters
    ----------
    source, target, to, key : as of `deciban.io.convert`
    how : Converted
    must : bool
        Whether the user said how much memory may be taken.
    **given
        ``format``, ``columns``, ``labels`` and ``log10``, as of `deciban.io.convert`.

    Returns
    -------
    tuple of Message, or None
        None where this cannot be done in pieces, and the user said nothing of memory.

    Raises
    ------
    FormatError, OSError
        If something cannot be read or written; the message names file and row group or line.
    InputError
        If the user said how much memory may be taken, and this cannot be done in pieces.
    """
    form = by_name(to) if to is not None else for_ending(target_name(target))
    reason = ""
    if form is None or form.name != "parquet" or str(target) == "-":
        reason = "only Parquet is written in pieces"
    elif key is not None:
        reason = "labels of a key are found for all trials together (convert the scores without them)"
    elif str(source) == "-" or not all(_is_readable(file.path, how.what, given) for file in table_files(source)):
        reason = "only Parquet, Arrow and text without classes are read in pieces"
    if reason:
        if must:
            raise InputError(
                f"memory: {display_name(source)} does not fit in it, and {reason}. Allow more memory (memory=, "
                "--memory)."
            )
        return None
    tally, shown = _Tally(), target_name(target)
    with atomic_write(target) as stream, TableWriter(stream, shown) as writer:
        for name, contents in _contents(source, how.what, **given):
            made, told = how.of(contents)
            table = table_of(made)
            writer.write(table, name)
            tally.add(contents, made, told, table)
    return (*tally.messages(display_name(source)), Message("wrote", shown, "as parquet, piece by piece"))


def _is_readable(path: Path, need: ContentKind | None, given: Mapping[str, Any]) -> bool:
    """Whether a file is one of rows that stand one behind the other, and of which all are needed to know none."""
    if is_columnar(path):
        return True
    asked = {name: given[name] for name in ("format", "columns", "labels")}
    opened = recognize(path, **asked).files[0]
    if isinstance(opened.asked, BinaryFormat) or opened.source.is_binary:
        return False
    return "class" not in opened.layout(need).roles


def _contents(
    source: PathLike, need: ContentKind | None, *, format: str | None, columns: Any, labels: Any, log10: bool
) -> Iterator[tuple[str, Contents]]:
    """The contents of every piece, and its name."""
    files = table_files(source)
    name = bare_name(Path(display_name(source)).name)
    if all(is_columnar(file.path) for file in files):
        options = recognize(files[0].path, format=format, columns=columns, labels=labels).files[0].options
        options = replace(options, need=need, name=name, log10=log10)
        table = open_files(source, files, options)
        reader = ReadAs.of(table, options, of_folders=True)
        tell, done = teller(table.n_rows, "rows"), 0
        for rows in table.rows:
            yield rows.name, reader.contents([Range(rows, 0, rows.n_rows)], rows.name)
            done += rows.n_rows
            tell(done)
        return
    with ExitStack() as stack:
        folder = ScratchFolder()
        stack.callback(folder.remove)
        for at, file in enumerate(files):
            named = Source(file.path)
            plain = Source(stack.enter_context(as_file(file.path, named, folder.path / f"{at}.copy")))
            plain.name = named.name
            opened = recognize(plain.path, format=format, columns=columns, labels=labels).files[0]
            found = replace(opened, source=plain)
            layout = found.layout(need)
            asked = replace(opened.options, need=need or layout.holds, name=name, log10=log10 or layout.format.log10)
            for line, contents in contents_in_blocks(found, layout, asked):
                yield f"{named.name}, lines after {line:,}", contents
