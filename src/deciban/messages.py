"""What is said to the user about files that were read, assumptions that were made, and files that were written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self

Topic = Literal["", "no-llrs", "ratios", "calibration", "no-intervals", "independent", "few-errors"]
"""The topic of a text: scores that are no log-likelihood ratios, likelihood ratios, bad calibration, the reason why
there are no intervals, trials as units, the rule of 30."""

NEGATED = "signs of all scores changed: lower scores favour target (--negate)"
"""The text of the note on scores that were negated."""

WARNING = "warn"
"""Kind of messages that a reader of the numbers must see: ``-q`` silences all kinds but this one."""


@dataclass(frozen=True, slots=True)
class Message:
    """One thing to tell the user, as data; it is padded only where it is printed.

    Attributes
    ----------
    kind : str
        What it is about, in one short word: ``read``, ``key``, ``join``, ``note``, ``only``, ``fill``, ``qual``,
        ``model``, ``wrote``, ``ids``, ``used``, ``units``, ``warn``.
    origin : str
        The file that it is about; empty if it is about no file.
    text : str
        All that there is to say, however long a list in it is.

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

    @property
    def is_warning(self) -> bool:
        """Whether it is about the meaning of a number, and not only what was read, joined or assumed."""
        return self.kind == WARNING

    def to_dict(self) -> dict[str, str]:
        """Return what JSON says of it: ``kind``, ``source`` and ``text``."""
        return {"kind": self.kind, "source": self.origin, "text": self.text}

    def __str__(self) -> str:
        """The line that a terminal shows; long lists in it are cut, with the number of what is left out."""
        text = shortened(self.text)
        return f"{self.kind:<4}  " + (f"{self.origin}   {text}" if self.origin else text)


class Note(str):
    """A text for users with its topic, so that nobody looks for its words.

    Parameters
    ----------
    text : str
    topic : str
        See `Topic`.

    Examples
    --------
    >>> note = Note("All scores lie in [0, 1]", "no-llrs")
    >>> note, topic_of(note), topic_of("another note")
    ('All scores lie in [0, 1]', 'no-llrs', '')
    """

    __slots__ = ("topic",)
    topic: Topic

    def __new__(cls, text: str, topic: Topic) -> Self:
        """Return the text as a note."""
        made = super().__new__(cls, text)
        made.topic = topic
        return made

    def __reduce__(self) -> tuple[type[Note], tuple[str, Topic]]:
        """Return what copies are made of."""
        return type(self), (str(self), self.topic)


def topic_of(note: str) -> Topic:
    """Return the topic of a text; empty if it has none."""
    return note.topic if isinstance(note, Note) else ""


def as_message(note: str | Message, origin: str) -> Message:
    """Return a note on a file as a message.

    Examples
    --------
    >>> print(as_message("array x was not read.", "a.npz"))
    note  a.npz   array x was not read.
    """
    return note if isinstance(note, Message) else Message("note", origin, note)


_MOST = 20
"""So many entries of a list are shown all."""

_SHOWN = 10
"""So many are shown of a longer one."""

_SEPARATORS = (" · ", ", ")


def shortened(line: str) -> str:
    """A line whose lists of more than 20 entries end after 10, with the number of the others.

    Examples
    --------
    >>> shortened(" · ".join(f"51 lang{k}" for k in range(1000)))  # doctest: +ELLIPSIS
    '51 lang0 · 51 lang1 · ... · 51 lang9 · 990 more'
    >>> shortened("a, b, c")
    'a, b, c'
    """
    for separator in _SEPARATORS:
        parts = line.split(separator)
        if len(parts) > _MOST:
            line = separator.join([*parts[:_SHOWN], f"{len(parts) - _SHOWN:,} more"])
    return line


def as_objects(messages: Iterable[object]) -> list[dict[str, str]]:
    """What JSON says of messages; lines of text are notes about no file.

    Examples
    --------
    >>> as_objects([Message("read", "a.txt", "60 trials"), "by hand"])
    [{'kind': 'read', 'source': 'a.txt', 'text': '60 trials'}, {'kind': 'note', 'source': '', 'text': 'by hand'}]
    """
    return [(one if isinstance(one, Message) else Message("note", "", str(one))).to_dict() for one in messages]


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


def amount(n: float) -> str:
    """How many trials there are, or what they weigh, with all digits of what is whole.

    Examples
    --------
    >>> amount(1_000_370), amount(1e9), amount(2.5)
    ('1,000,370', '1,000,000,000', '2.5')
    """
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.6g}"


def counted(n: int, noun: str) -> str:
    """How many there are of something, in words.

    Examples
    --------
    >>> counted(1, "trial"), counted(60_000, "trial"), counted(0, "extra trial")
    ('1 trial', '60,000 trials', '0 extra trials')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def names_apart(wanted: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Names for rows of a table that are none of those that are taken, nor the same as each other.

    Examples
    --------
    >>> names_apart(["without b", "fusion"], ["fusion", "b"])
    ['without b', 'fusion #2']
    """
    used, found = set(taken), []
    for name in wanted:
        free, number = name, 2
        while free in used:
            free, number = f"{name} #{number}", number + 1
        used.add(free)
        found.append(free)
    return found


def in_lines(ways: Sequence[str]) -> str:
    """Return ways out as the end of a message, each on its own line; the command line makes whole commands of them.

    Examples
    --------
    >>> print("Say which:" + in_lines(["--columns score=s"]))
    Say which:
      --columns score=s
    """
    return "".join(f"\n  {way}" for way in dict.fromkeys(ways))
