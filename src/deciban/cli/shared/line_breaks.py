"""Where headings and names of tables are broken: at blanks, and inside long words after their separators."""

from __future__ import annotations

import re

from rich.cells import cell_len

LONGEST_WORD = 14
"""Columns of a longer word of a heading, which is broken."""


def longest_word(heading: str) -> int:
    """Return the width that the words of a heading need; words longer than `LONGEST_WORD` are broken.

    >>> longest_word("mean speech_duration")
    8
    """
    words = (part for word in heading.split() for part in _parts(word, LONGEST_WORD))
    return min(max(map(cell_len, words), default=0), LONGEST_WORD)


_BREAK = re.compile(r"(?<=[-_./])(?=[^-_./])")
"""Where a long name may be broken."""


def _parts(word: str, width: int) -> list[str]:
    """Return the word, or what stands between its separators if it is wider than that."""
    return [word] if cell_len(word) <= width else _BREAK.split(word)


def wrapped(text: str, width: int) -> str:
    r"""Return a heading or a name in lines, broken at blanks, and inside words that are too long at `_`, `-`, `.`, `/`.

    >>> wrapped("mean speech_duration", 12)
    'mean speech_\nduration'
    """
    if cell_len(text) <= width:
        return text
    lines = [""]
    for word in text.split(" "):
        for at, part in enumerate(_parts(word, width)):
            longer = f"{lines[-1]} {part}" if lines[-1] and not at else f"{lines[-1]}{part}"
            if lines[-1] and cell_len(longer) > width:
                lines.append(part)
            else:
                lines[-1] = longer
    return "\n".join(lines)
