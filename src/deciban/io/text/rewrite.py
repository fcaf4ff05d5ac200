"""Text tables with other scores: every line comes out as it came in, but for the one field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, joined, of_bytes, of_numpy, to_numpy
from deciban.errors import FormatError
from deciban.io.source import Source
from deciban.io.text.layout import Layout
from deciban.io.text.plain_lines import plain_fields, with_fields
from deciban.types import BoolArray, IntArray, ScoreArray

_BLOCK = 1 << 22
"""Bytes that are looked at together, about."""

_Bytes: TypeAlias = bytes | memoryview

_MARK = b"\xef\xbb\xbf"
_OLD_LINE_END = re.compile(rb"\r(?!\n)")
_NO_ROW = r"^[ \t\v\f\r]*(?:#|;;|$)"

_FIELDS = {
    " ": (r"[ \t\v\f]*(?:[^ \t\v\f\r]+[ \t\v\f]+){%d}", r"[^ \t\v\f\r]+", r"(?s:[ \t\v\f\r].*)?"),
    "\t": (r"(?:[^\t]*\t){%d}[ \v\f]*", r"[^\t \v\f\r]+", r"(?s:[ \v\f\r]*(?:\t.*)?)"),
    ",": (r'(?:(?:"(?:[^"]|"")*"|[^",][^,]*|),){%d}[ \t\v\f]*', r"[^, \t\v\f\r]+", r"(?s:[ \t\v\f\r]*(?:,.*)?)"),
}
"""For each delimiter what stands before a field, the field, and what stands behind it."""

MOST_FIELDS = 200
"""Fields before the score, up to which lines can be written again; a limit of regular expressions."""


def rewrite(source: Source, layout: Layout, score: ScoreArray, stream: IO[bytes]) -> None:
    """Write a text table again with other scores; comments, blank lines and line ends stay as they are.

    Parameters
    ----------
    source : Source
        As it was read before.
    layout : Layout
        How it was read. It has one column of scores, with at most `MOST_FIELDS` fields before it.
    score : (n_rows,) array
        In the order of the lines.
    stream : binary stream

    Raises
    ------
    FormatError
        If there are not as many rows any more. What is in the stream by then is of no use.
    """
    for made in _rewritten(source, layout, score):
        for part in made:
            stream.write(part)


def _rewritten(source: Source, layout: Layout, score: ScoreArray) -> Iterator[list[_Bytes]]:
    """The parts of the new text, some megabytes at a time."""
    pattern = _pattern(layout)
    n_skipped, at = int(layout.header is not None), 0
    for block in _blocks(source):
        marked = block.startswith(_MARK) and at == 0
        text = block[len(_MARK) :] if marked else block
        fields = plain_fields(text, layout)
        lines = _Lines(text, pattern) if fields is None else _PlainLines(text, *fields)
        n_rows = max(lines.n_rows - n_skipped, 0)
        if at + n_rows > len(score):
            raise FormatError(_changed(source))
        made = lines.with_scores(_texts(score[at : at + n_rows]))
        if made is None:
            raise FormatError(_changed(source))
        yield [_MARK, *made] if marked else made
        n_skipped -= lines.n_rows - n_rows
        at += n_rows
    if at < len(score):
        raise FormatError(_changed(source))


def _pattern(layout: Layout) -> str:
    before, field, behind = _FIELDS[layout.delimiter]
    before %= layout.roles.index("score")
    return f"^(?P<before>{before})(?P<field>{field})(?P<behind>{behind})$"


def _texts(score: ScoreArray) -> pa.Array:
    """The shortest digits that read back to the same bits."""
    return pc.cast(pc.cast(of_numpy(score.astype(np.float64, copy=False)), pa.string()), pa.binary())


class _PlainLines:
    """Lines that are all rows, of which it is known where their scores stand."""

    def __init__(self, text: bytes, begin: IntArray, end: IntArray) -> None:
        self._text, self._begin, self._end = text, begin, end
        self.n_rows = len(begin)

    def with_scores(self, texts: pa.Array) -> list[_Bytes] | None:
        """The text with other scores in its last rows."""
        skipped = self.n_rows - len(texts)
        return [*with_fields(self._text, self._begin[skipped:], self._end[skipped:], texts)]


class _Lines:
    """Any lines: comments and blank ones among them, fields with anything around them."""

    def __init__(self, text: bytes, pattern: str) -> None:
        self._pattern = pattern
        self._lines = pc.split_pattern(of_bytes([text]), b"\n").values
        self._is_row: BoolArray = ~to_numpy(pc.match_substring_regex(self._lines, _NO_ROW))
        self.n_rows = int(np.count_nonzero(self._is_row))

    def with_scores(self, texts: pa.Array) -> list[_Bytes] | None:
        """The text with other scores in its last rows; None if there is no score in one of them."""
        rows = np.flatnonzero(self._is_row)
        skipped = self.n_rows - len(texts)
        self._is_row[rows[:skipped]] = False
        found = pc.extract_regex(self._lines.take(of_numpy(rows[skipped:])), self._pattern)
        if found.null_count:
            return None
        made = pc.binary_join_element_wise(found.field("before"), texts, found.field("behind"), constant(b""))
        return [joined(pc.replace_with_mask(self._lines, of_numpy(self._is_row), made), b"\n")]


def _changed(source: Source) -> str:
    return f"{source.name}: its lines are not what they were when it was read. Has something written to it since then?"


def _blocks(source: Source) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    with source.stream() as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            end = block.rfind(b"\n") + 1
            if end:
                yield _with_line_feeds(rest + block[:end])
                rest = b""
            rest += block[end:]
    if rest:
        yield _with_line_feeds(rest)


def _with_line_feeds(text: bytes) -> bytes:
    return _OLD_LINE_END.sub(b"\n", text) if b"\r" in text else text
