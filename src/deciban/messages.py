"""What is said to the user about files that were read, assumptions that were made, and files that were written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """One thing to tell the user, as data; it is padded only where it is printed.

    Attributes
    ----------
    kind : str
        What it is about, in one short word: ``read``, ``key``, ``join``, ``note``, ``only``, ``fill``, ``qual``,
        ``model``, ``wrote``.
    origin : str
        The file that it is about; empty if it is about no file.
    text : str

    Examples
    --------
    >>> print(Message("read", "sysA.txt", "kaldi 'enroll test score'   60,000 trials"))
    read  sysA.txt   kaldi 'enroll test score'   60,000 trials
    >>> print(Message("join", "", "60,000 matched"))
    join  60,000 matched
    """

    kind: str
    origin: str
    text: str

    def __str__(self) -> str:
        """The line that a terminal shows."""
        return f"{self.kind:<4}  " + (f"{self.origin}   {self.text}" if self.origin else self.text)


def one_line(text: str) -> str:
    r"""A text as one line that can be looked at anywhere.

    What a terminal would obey instead of showing it, and what turns the direction of writing round, is shown as an
    escape: names come from files, and files from strangers.

    Examples
    --------
    >>> print(one_line("a\x1b[2J\n\u202eb"), one_line("Bäcker 李"))
    a\x1b[2J\n\u202eb Bäcker 李
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def lines(text: str) -> str:
    r"""The same of each of several lines.

    >>> print(lines("a\x07\nb"))
    a\x07
    b
    """
    return "\n".join(map(one_line, text.split("\n")))


def counted(n: int, noun: str) -> str:
    """How many there are of something, in words.

    Examples
    --------
    >>> counted(1, "trial"), counted(60_000, "trial"), counted(0, "extra trial")
    ('1 trial', '60,000 trials', '0 extra trials')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
