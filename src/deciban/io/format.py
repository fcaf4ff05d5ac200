"""What a format is: its name, what it can hold, how it is recognized, read and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, TypeAlias

import pyarrow as pa

from deciban.io.columns.headers import Vocabulary
from deciban.io.contents import ContentKind, Contents, Written

if TYPE_CHECKING:
    from deciban.io.columns.headers import Columns
    from deciban.io.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a user said about an input; what is None was not said.

    Attributes
    ----------
    need : kind of table
        What the input must hold; None: whatever there is.
    columns : str, sequence or mapping
        What the columns are.
    vocabulary : Vocabulary
        Words for target and non-target.
    name : str
        What to call the system.
    log10 : bool
        Whether scores are common logarithms.
    """

    need: ContentKind | None = None
    columns: Columns | None = None
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary.of(None))
    name: str | None = None
    log10: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryFormat:
    """A format that is not a table of text lines.

    Attributes
    ----------
    name : str
        What users call it.
    summary : str
        What it holds and where, in one line of the documentation.
    reads, writes : tuple of kinds
    endings : tuple of str
        File endings that choose this format for writing, ``.h5`` for example.
    verified : bool
        Whether the layout was seen in the code or the files of the tool, not only remembered.
    found_in : tuple of str
        Kinds of files that may be in this format (`deciban.io.source.Source.kind`); none for formats that are read only
        when they are asked for.
    signs : function, optional
        Whether a file of such a kind is in this format, where its kind does not say so; looks at little.
    read : function
    holds : function, optional
        Which of the kinds that the format has room for a source could be read as, by a header or a schema.
    write : function or None
        Writes the contents to a binary stream, which is a new seekable file, and returns what of them it wrote.
    """

    name: str
    summary: str
    reads: tuple[ContentKind, ...]
    read: Callable[[Source, Options], Contents]
    found_in: tuple[str, ...] = ()
    signs: Callable[[Source], bool] | None = None
    writes: tuple[ContentKind, ...] = ()
    holds: Callable[[Source, Options], tuple[ContentKind, ...]] | None = None
    write: Callable[[Contents, IO[bytes]], Written] | None = None
    endings: tuple[str, ...] = ()
    verified: bool = True

    def recognizes(self, source: Source) -> bool:
        """Whether a source is in this format."""
        return source.kind in self.found_in and (self.signs is None or self.signs(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """A format of one trial per line.

    Attributes
    ----------
    name, summary, reads, writes, endings, verified
        As for binary formats.
    lines : tuple of str
        The columns, in the ways in which they may come: ``("enroll test score", "enroll test label")``. The roles are
        enroll, test, side, trial, score, label, class, ``-`` (ignored) and ``=NAME`` (kept as condition NAME). Where
        there is a header, ``*`` stands for all other columns, written as they were kept, and ``classes`` for one column
        of scores per class. No lines: the header names the columns freely.
    header : mapping of role to str
        Header of the column of each role, for formats that have one; their columns may come in any order. ``|``
        separates the headers of several systems.
    titled : bool
        Whether the first line is a header that may say anything: columns are known by their order.
    delimiter : str
        A blank (any white space), a tab or a comma.
    words : pair of str
        Words for target and non-target when writing.
    derive : function, optional
        Makes roles out of others: called with the columns by role and returns them changed (Bob: label from two names).
    undo : function, optional
        The reverse of ``derive``, before writing.
    plausible : function, optional
        A further check of sampled rows (lists of fields) before this format is assumed.
    log10 : bool
        Whether the scores are common logarithms of likelihood ratios.
    note_on_key : str, optional
        What a user should be told about every key in this format.
    guessed : bool
        Whether a file may be taken for this format without being told; never if it is not verified.
    """

    name: str
    summary: str
    reads: tuple[ContentKind, ...]
    lines: tuple[str, ...]
    writes: tuple[ContentKind, ...] = ()
    header: Mapping[str, str] = field(default_factory=dict)
    titled: bool = False
    delimiter: str = " "
    words: tuple[str, str] = ("target", "nontarget")
    derive: Callable[[dict[str, pa.Array]], dict[str, pa.Array]] | None = None
    undo: Callable[[dict[str, pa.Array]], dict[str, pa.Array]] | None = None
    plausible: Callable[[Sequence[Sequence[str]]], bool] | None = None
    log10: bool = False
    note_on_key: str | None = None
    guessed: bool = True
    endings: tuple[str, ...] = ()
    verified: bool = True


Format: TypeAlias = BinaryFormat | TextFormat
