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
        ``model``, ``wrote``, ``ids``, ``used``.
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


def counted(n: int, noun: str) -> str:
    """How many there are of something, in words.

    Examples
    --------
    >>> counted(1, "trial"), counted(60_000, "trial"), counted(0, "extra trial")
    ('1 trial', '60,000 trials', '0 extra trials')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
