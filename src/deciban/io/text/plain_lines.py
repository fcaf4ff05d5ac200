"""Where the scores of plain lines stand, and the same lines with other scores."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_numpy, text_of
from deciban.io.text.reader import Layout
from deciban.types import BoolArray, IntArray

_ODD = (b"#", b";", b"\r")
"""What may begin a comment, and line ends of other systems."""

_LARGEST = 1 << 26
"""Bytes of text that are taken together; all positions in what comes out are below 2 ** 31 then."""

_LINE_END, _BLANK = b"\n "


def plain_fields(text: bytes, layout: Layout) -> tuple[IntArray, IntArray] | None:
    r"""Find where the score of every line begins and ends; None if a line needs more care.

    Parameters
    ----------
    text : bytes
        Whole lines.
    layout : Layout
        Of lines with one score, not quoted.

    Returns
    -------
    begin, end : (n_lines,) int array
        Or None if there are comments, quotes, blank lines, idle blanks, tabs among blanks, a last line that does not
        end, or a line with more or fewer fields than it should have.

    Examples
    --------
    >>> from deciban.io.formats import by_name
    >>> kaldi = Layout(by_name("kaldi"), ("enroll", "test", "score"), " ")
    >>> begin, end = plain_fields(b"ann x 1.5\nbob y -2\n", kaldi)
    >>> begin.tolist(), end.tolist()
    ([6, 16], [9, 18])
    >>> plain_fields(b"ann  x 1.5\n", kaldi) is None
    True
    """
    odd = (*_ODD, b'"') if layout.delimiter == "," else _ODD
    if not text.endswith(b"\n") or len(text) > _LARGEST or any(one in text for one in odd):
        return None
    data, n_fields, at = np.frombuffer(text, np.uint8), len(layout.roles), layout.roles.index("score")
    delimiter = ord(layout.delimiter)
    is_border = data <= _BLANK if delimiter == _BLANK else (data == delimiter) | (data == _LINE_END)
    borders = np.flatnonzero(is_border)
    if len(borders) % n_fields:
        return None
    found = data[borders].reshape(-1, n_fields)
    ends = borders.reshape(-1, n_fields)
    if not ((found[:, -1] == _LINE_END).all() and (found[:, :-1] == delimiter).all()):
        return None
    end = ends[:, at]
    begin = np.concatenate([[0], ends[:-1, -1] + 1]) if at == 0 else ends[:, at - 1] + 1
    if delimiter == _BLANK:
        idle: BoolArray = np.diff(borders, prepend=-1) == 1  # a field that is empty
        return None if idle.any() else (begin, end)
    blanks = np.flatnonzero(data <= _BLANK)
    within = np.searchsorted(blanks, begin) != np.searchsorted(blanks, end)
    return None if within.any() or (begin == end).any() else (begin, end)


def with_fields(text: bytes, begin: IntArray, end: IntArray, fields: pa.Array) -> tuple[memoryview, bytes]:
    r"""Put other texts in some places of a text.

    Parameters
    ----------
    text : bytes
    begin, end : (n,) int array
        Places in ascending order, apart from each other.
    fields : binary pyarrow array of n
        What stands there afterwards.

    Returns
    -------
    memoryview, bytes
        The new text up to the end of the last place, and the rest.

    Examples
    --------
    >>> from deciban._arrow import of_bytes
    >>> first, rest = with_fields(b"a 1\nb 2\n", np.array([2, 6]), np.array([3, 7]), of_bytes([b"-0.25", b""]))
    >>> bytes(first), rest
    (b'a -0.25\nb ', b'\n')
    """
    if not len(begin):
        return memoryview(b""), text
    borders = np.zeros(2 * len(begin) + 1, np.int32)  # text and places take turns
    borders[1::2], borders[2::2] = begin, end
    buffers = [None, pa.py_buffer(borders), pa.py_buffer(text)]
    turns = pa.Array.from_buffers(pa.binary(), 2 * len(begin), buffers)
    between = turns.take(of_numpy(np.arange(0, 2 * len(begin), 2)))
    return text_of(pc.binary_join_element_wise(between, fields, constant(b""))).data, text[end[-1] :]
