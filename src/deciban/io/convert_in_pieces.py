"""Files that do not fit in memory written again as Parquet, piece by piece; see `deciban.io.convert`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._files import PathLike, atomic_write, display_name
from deciban.errors import InputError
from deciban.io.columns.columnar import table_of, written_of
from deciban.io.contents import ContentKind, Contents, labels_in_words
from deciban.io.convert import left_out, only, read_message
from deciban.io.formats import by_name, for_ending
from deciban.io.shards.contents import contents_in_pieces, is_readable_in_pieces
from deciban.io.shards.files import table_files
from deciban.io.shards.writing import TableWriter
from deciban.io.units import as_written, certain, in_other_units
from deciban.io.writing import target_name
from deciban.messages import Message, as_message, counted


@dataclass(frozen=True, slots=True)
class Converted:
    """What becomes of contents; the attributes are arguments of `deciban.io.convert`.

    Attributes
    ----------
    what : str, optional
    probabilities : float or prior, optional
    detection_llr : bool
    write_as : str
    negate : bool
    """

    what: ContentKind | None = None
    probabilities: Any = None
    detection_llr: bool = False
    write_as: str = "loglik"
    negate: bool = False

    def chosen(self, contents: Contents) -> Contents:
        """What of contents is written."""
        return contents if self.what is None else only(contents, self.what)

    def of(self, chosen: Contents) -> tuple[Contents, list[Message]]:
        """The same in the units in which it is written, and what is to be said about it."""
        chosen, told = as_written(chosen, negate=self.negate)
        asked: Any = {"detection_llr": self.detection_llr, "write_as": self.write_as}
        made, more = in_other_units(chosen, self.probabilities, **asked)
        return made, told + more


@dataclass
class _Tally:
    """What is to be said about all pieces."""

    first: Contents | None = None
    n_trials: int = 0
    labels: list[int] = field(default_factory=lambda: [0, 0])
    words: dict[str, bool] = field(default_factory=dict)
    notes: dict[str | Message, None] = field(default_factory=dict)
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
        yield from (as_message(note, name) for note in self.notes)
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
        ``format``, ``columns`` and ``labels``, as of `deciban.io.convert`, and ``unit``, the declared one of scores.

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
    elif str(source) == "-" or not all(
        is_readable_in_pieces(file.path, how.what, given) for file in table_files(source)
    ):
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
        for name, contents in contents_in_pieces(source, how.what, **given):
            chosen = how.chosen(contents)
            made, told = how.of(chosen)
            table = table_of(made)
            writer.write(table, name)
            tally.add(chosen, made, told, table)
    return (*tally.messages(display_name(source)), Message("wrote", shown, "as parquet, piece by piece"))
