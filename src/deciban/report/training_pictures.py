"""Pictures of the trials of training, as many as there is room for on a page of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from deciban.report.text import TWO_CLASS

PLACE = "<!-- pictures that lack -->"
"""Where a page says which of them had no room."""

_ROOM_OF_WORDS = 1_000


def with_room(text: str, figures: Sequence[tuple[str, str]], most: int) -> str:
    """Take pictures out of a page, the last ones first, until it is small enough; it says which.

    Parameters
    ----------
    text : str
        A page with all of them and a `PLACE`.
    figures : sequence of (str, str)
        Pictures that may be left out: the title of each, and its element as it stands in the page.
    most : int
        Bytes that the page may have.

    Returns
    -------
    str

    Examples
    --------
    >>> with_room(f"{PLACE}<a><b><c>", [("A", "<a>"), ("B", "<b>")], 2_000)
    '<a><b><c>'
    >>> print(with_room(f"{PLACE}<a><b><c>", [("A", "<a>"), ("B", "<b>")], 30))
    <p class="small">A page has at most 3 MB. There was no room for pictures of the trials of training: A, B.</p><c>
    """
    size, lacking = len(text.encode("utf-8", "replace")), list[str]()
    room = most - _ROOM_OF_WORDS
    for title, element in reversed(figures if size > most else ()):
        if size > room and element in text:
            text = text.replace(element, "", 1)
            size -= len(element.encode("utf-8", "replace"))
            lacking.insert(0, title)
    words = f'<p class="small">{TWO_CLASS["no_room"]} {escape(", ".join(lacking))}.</p>' if lacking else ""
    return text.replace(PLACE, words, 1)
