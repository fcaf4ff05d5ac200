"""Text tables with other scores: every line comes out as it came in, but for the one field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, joined, of_bytes, of_numpy, to_numpy
from deciban.errors import FormatError
from deciban.io.source import Source
from deciban.io.text.layout import Layout
from deciban.types import BoolArray, ScoreArray

_BLOCK = 1 << 23
"""Bytes that are looked at together, about."""

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
    before, field, behind = _FIELDS[layout.delimiter]
    before %= layout.roles.index("score")
    pattern = f"^(?P<before>{before})(?P<field>{field})(?P<behind>{behind})$"
    n_skipped, at = int(layout.header is not None), 0
    for block in _blocks(source):
        marked = block.startswith(_MARK) and at == 0
        stream.write(_MARK if marked else b"")
        text = of_bytes([block[len(_MARK) :] if marked else block])
        lines = pc.split_pattern(text, b"\n").values
        is_row: BoolArray = ~to_numpy(pc.match_substring_regex(lines, _NO_ROW))
        rows = np.flatnonzero(is_row)
        is_row[rows[:n_skipped]] = False
        rows, n_skipped = rows[n_skipped:], max(n_skipped - len(rows), 0)
        found = pc.extract_regex(lines.take(of_numpy(rows)), pattern)
        if found.null_count or at + len(rows) > len(score):
            raise FormatError(_changed(source))
        texts = pc.cast(
            pc.cast(of_numpy(score[at : at + len(rows)].astype(np.float64, copy=False)), pa.string()), pa.binary()
        )
        made = pc.binary_join_element_wise(found.field("before"), texts, found.field("behind"), constant(b""))
        lines = pc.replace_with_mask(lines, of_numpy(is_row), made)
        stream.write(joined(lines, b"\n"))
        at += len(rows)
    if at < len(score):
        raise FormatError(_changed(source))


def _changed(source: Source) -> str:
    return f"{source.name}: its lines are not what they were when it was read. Has something written to it since then?"


def _blocks(source: Source) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    place = source.seekable()
    with place.open("rb") if isinstance(place, Path) else place as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            end = block.rfind(b"\n") + 1
            if end:
                yield _OLD_LINE_END.sub(b"\n", rest + block[:end])
                rest = b""
            rest += block[end:]
    if rest:
        yield _OLD_LINE_END.sub(b"\n", rest)
