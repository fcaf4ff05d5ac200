"""Errors, warnings, messages and progress; names of files in messages.

Errors state the value that arrived, its place, the rule, and a remedy.

Readers and writers that report progress are called through many unrelated functions, so the listener is a context
variable, not an argument. Without a listener, reporting costs nothing.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, TypeVar

V = TypeVar("V")


class DecibanError(Exception):
    """Base class of all errors that deciban raises on purpose."""


class InputError(DecibanError, ValueError):
    """An argument has an invalid value, for example as a score, a weight, a prior or a cost."""


def refuse(arguments: Iterable[str], why: str) -> None:
    """Raise `InputError` if the list of arguments is not empty.

    Parameters
    ----------
    arguments : iterable of str
        Names of arguments that have no meaning here.
    why : str
        The reason and a remedy.

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse(["where"], "there is no key here. Leave it out.")
    Traceback (most recent call last):
    deciban.errors.InputError: where: there is no key here. Leave it out.
    """
    if names := ", ".join(arguments):
        raise InputError(f"{names}: {why}")


_OPTIONS = {
    "operating_points": "dcf",
    "scores": "scores_are",
    "test_scores": "apply_to",
    "test_key": "apply_key",
    "test_quality": "apply_quality",
    "groups": "group",
    "names": "name",
    "p_out_of_set": "out_of_set",
    "write_as": "as",
}
"""Options of the command line that are not named after the arguments of functions."""

_COMMANDS = list[bool]()
"""One entry for each command that runs in this process: if there is one, texts name options."""


@contextmanager
def command_spelling(*, used: bool = True) -> Iterator[None]:
    """Write arguments as options of the command line in this block, in all threads of the process.

    Parameters
    ----------
    used : bool
        False for no effect.
    """
    _COMMANDS.extend([True] * used)
    try:
        yield
    finally:
        del _COMMANDS[:used]


def is_command_spelling() -> bool:
    """Return True if texts name options of the command line, False if they name arguments of functions."""
    return bool(_COMMANDS)


def either(python: str, command: str) -> str:
    """Return the first text for users of Python, the second one for users of the command line."""
    return command if _COMMANDS else python


def option(*names: str, **values: object) -> str:
    """Return how the user writes arguments: in Python as keywords, on the command line as options.

    Parameters
    ----------
    *names : str
        Arguments without a value.
    **values
        Arguments with a value: ``...`` for any value; ``"COLUMN"``, ``"FILE"`` and ``"PRIOR"`` are placeholders.

    Examples
    --------
    >>> print(option("units"), option(units=...), option(missing="drop"), option(prior="PRIOR"))
    units units=... missing="drop" prior=PRIOR
    >>> print(option(classes=["cat", "dog"]), option(labels={"target": "x"}), option(pairs=False))
    classes=["cat", "dog"] labels={"target": "x"} pairs=False
    >>> with command_spelling():
    ...     print(option("units"), option(units=...), option(missing="drop"), option(prior="PRIOR"))
    ...     print(option(classes=["cat", "dog"]), option(labels={"target": "x"}), option(pairs=False))
    --units --units --missing drop --prior PRIOR
    --classes cat,dog --labels target=x --no-pairs
    """
    if _COMMANDS:
        return ", ".join(map(_option, names)) + " ".join(_option(name, value) for name, value in values.items())
    return ", ".join([*names, *(f"{name}={_in_python(value)}" for name, value in values.items())])


def _in_python(value: object) -> str:
    if value is ... or isinstance(value, bool) or value in ("COLUMN", "FILE", "PRIOR"):
        return "..." if value is ... else str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _option(name: str, value: object = ...) -> str:
    """Return an option of the command line with its value."""
    words = f"--{'no-' if value is False else ''}{_OPTIONS.get(name, name).replace('_', '-')}"
    if value is ... or isinstance(value, bool):
        return words
    if isinstance(value, Mapping):
        value = [f"{key}={one}" for key, one in value.items()]
    return f"{words} {shlex.quote(','.join(map(str, value if isinstance(value, list | tuple) else [value])))}"


def not_none(value: V | None, what: str) -> V:
    """Return a value that the caller has made sure of; the error names it if it is None all the same.

    >>> not_none(0.0, "weight")
    0.0
    """
    if value is None:
        raise TypeError(f"{what}: None, but it is needed here")
    return value


class TrialError(InputError):
    """Some trials are invalid; the message contains the index of the first one.

    Parameters
    ----------
    before, after : str
        The message before and after the place of this trial: "at index 3".
    index : int
        Its index, from 0. If the trials are a part of a larger set, use `among` to convert the index.
    """

    def __init__(self, before: str, index: int, after: str) -> None:
        super().__init__(before, index, after)
        self.before, self.index, self.after = before, index, after

    def __str__(self) -> str:
        return f"{self.before}at index {self.index}{self.after}"

    def among(self, rows: Any, *, before: str = "", after: str = "") -> TrialError:
        """Return the error for trials that are these rows of a larger set, with more text.

        >>> str(TrialError("bad trials, the first ", 1, ".").among([4, 7], before="Fold 2: "))
        'Fold 2: bad trials, the first at index 7.'
        """
        return TrialError(before + self.before, int(rows[self.index]), self.after + after)

    def named(self, trial: str) -> InputError:
        """Return the error with the name of the trial in place of the index.

        >>> str(TrialError("bad trials, the first ", 1, ".").named("(ann, x)"))
        'bad trials, the first is trial (ann, x).'
        """
        return InputError(f"{self.before}is trial {trial}{self.after}")


@contextmanager
def naming_trials(name_of: Callable[[int], str], more: Callable[[int], str] | None = None) -> Iterator[None]:
    """Convert `TrialError` in this block to an error with the name of the trial in place of its index.

    Parameters
    ----------
    name_of : function
        Returns the name of a trial, given its index.
    more : function, optional
        Returns more text about a trial, or an empty string.

    Raises
    ------
    InputError

    Examples
    --------
    >>> with naming_trials(["ann", "bob"].__getitem__):
    ...     raise TrialError("scores: 1 non-target trials score +inf, the first ", 1, ".")
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: scores: 1 non-target trials score +inf, the first is trial bob.
    """
    try:
        yield
    except TrialError as error:
        words = more(error.index) if more is not None else ""
        raise error.named(f"{name_of(error.index)} ({words})" if words else name_of(error.index)) from error


class FormatError(DecibanError, ValueError):
    """A file does not follow its format; the message starts with ``file:line:``."""


class KeyMismatchError(DecibanError, ValueError):
    """Scores and key contain different trials."""


class MissingScoresError(KeyMismatchError):
    """Some trials have no score, and no option states what to do about them."""


class ClusterError(DecibanError, RuntimeError):
    """The cluster cannot do the work: it has no workers, the workers differ, or they have too little memory."""


class DecibanWarning(UserWarning):
    """The numbers are correct, but they probably do not mean what the user expects."""


_INSIDE = {"contextlib", "deciban", "joblib", "sklearn"}
"""Packages that `warn` skips in its search for the code of the user."""


def warn(words: str) -> None:
    """Issue a `DecibanWarning` at the line of the user: the nearest caller outside deciban and similar packages."""
    level, frame = 1, sys._getframe()  # noqa: SLF001  # as in the module warnings
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(words, DecibanWarning, stacklevel=level)


Topic = Literal[
    "", "reversed", "negated", "no-llrs", "ratios", "calibration", "no-intervals", "independent", "few-errors"
]
"""The topic of a text: scores with the wrong sign, changed signs, scores that are not log-likelihood ratios, likelihood
ratios, bad calibration, missing intervals, trials as units, the rule of 30."""

WARNING = "warn"
"""Kind of messages that concern the meaning of a number: ``-q`` silences all other kinds."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to the user, as data; padding is added when it is printed.

    Attributes
    ----------
    kind : str
        Its topic, in one short word: ``read``, ``key``, ``join``, ``note``, ``only``, ``fill``, ``qual``, ``model``,
        ``wrote``, ``ids``, ``used``, ``units``, ``warn``.
    origin : str
        The file that it is about, or empty.
    text : str
        The full text, with complete lists.

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
        """True if the message is about the meaning of a number, not about reading, joining or assumptions."""
        return self.kind == WARNING

    def to_dict(self) -> dict[str, str]:
        """Return the message as a JSON object: ``kind``, ``source`` and ``text``."""
        return {"kind": self.kind, "source": self.origin, "text": self.text}

    def __str__(self) -> str:
        """Return the line for a terminal, with long lists shortened."""
        text = shortened(self.text)
        return f"{self.kind:<4}  " + (f"{self.origin}   {text}" if self.origin else text)


class Note(str):
    """A text for users with its topic, so that no code has to search the text.

    Parameters
    ----------
    fact : str
        A sentence, without its period if advice follows.
    topic : str
        See `Topic`.
    advice : str
        End of the sentence: to calibrate.

    Examples
    --------
    >>> note = Note("The scores are distances", "no-llrs", ": calibrate them.")
    >>> note, note.when_calibrated(), topic_of(note), topic_of("another note")
    ('The scores are distances: calibrate them.', 'The scores are distances.', 'no-llrs', '')
    """

    __slots__ = ("advice", "fact", "topic")
    fact: str
    topic: Topic
    advice: str

    def __new__(cls, fact: str, topic: Topic, advice: str = "") -> Self:
        """Create a note from its parts."""
        result = super().__new__(cls, f"{fact}{advice}")
        result.fact, result.topic, result.advice = fact, topic, advice
        return result

    def __reduce__(self) -> tuple[type[Note], tuple[str, Topic, str]]:
        """Return the arguments for copying and pickling."""
        return type(self), (self.fact, self.topic, self.advice)

    def when_calibrated(self) -> Note:
        """Return the note without the advice to calibrate."""
        return Note(f"{self.fact}.", self.topic) if self.advice else self


def topic_of(note: str) -> Topic:
    """Return the topic of a text; empty if it has none."""
    return note.topic if isinstance(note, Note) else ""


def negation_note() -> Note:
    """Return the text of the note on negated scores."""
    return Note(f"signs of all scores changed: lower scores favour targets ({option(negate=True)})", "negated")


def as_message(note: str | Message, origin: str) -> Message:
    """Return a note on a file as a message.

    Examples
    --------
    >>> print(as_message("array x was not read.", "a.npz"))
    note  a.npz   array x was not read.
    """
    return note if isinstance(note, Message) else Message("note", origin, note)


_MOST = 20
"""Longest list that is shown in full."""

_SHOWN = 10
"""Number of entries that are shown of a longer list."""

_SEPARATORS = (" · ", ", ")


def shortened(line: str) -> str:
    """Return a line with its long lists shortened: more than 20 entries become 10 and the number of the others.

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
    """Return messages as JSON objects; plain strings become notes without a file.

    Examples
    --------
    >>> as_objects([Message("read", "a.txt", "60 trials"), "by hand"])
    [{'kind': 'read', 'source': 'a.txt', 'text': '60 trials'}, {'kind': 'note', 'source': '', 'text': 'by hand'}]
    """
    return [(one if isinstance(one, Message) else Message("note", "", str(one))).to_dict() for one in messages]


def one_line(text: str) -> str:
    r"""Return a text as one printable line.

    Control characters, and characters that change the direction of writing, become escapes. File contents are not
    trusted.

    Examples
    --------
    >>> print(one_line("a\x1b[2J\n\u202eb"), one_line("Bäcker 李"))
    a\x1b[2J\n\u202eb Bäcker 李
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def lines(text: str) -> str:
    r"""Apply `one_line` to each line of a text.

    >>> print(lines("a\x07\nb"))
    a\x07
    b
    """
    return "\n".join(map(one_line, text.split("\n")))


def amount(n: float) -> str:
    """Return a number of trials, or a sum of weights, as text; whole numbers keep all digits.

    Examples
    --------
    >>> amount(1_000_370), amount(1e9), amount(2.5)
    ('1,000,370', '1,000,000,000', '2.5')
    """
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.6g}"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural if necessary.

    Examples
    --------
    >>> counted(1, "trial"), counted(60_000, "trial"), counted(0, "extra trial")
    ('1 trial', '60,000 trials', '0 extra trials')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def some_of(words: Sequence[str], separator: str = ", ", most: int = 3) -> str:
    """Return all words, or, if there are more than ``most``, the first ones and the number of the others.

    Examples
    --------
    >>> some_of([f"c{i}" for i in range(10_000)])
    'c0, c1, c2 and 9,997 more'
    """
    if len(words) <= most:
        return separator.join(words)
    return f"{separator.join(words[:most])} and {len(words) - most:,} more"


def listed(names: Sequence[str]) -> str:
    """Join names for a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def names_apart(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return names for rows of a table that differ from each other and from those in ``taken``.

    Examples
    --------
    >>> names_apart(["without b", "fusion"], ["fusion", "b"])
    ['without b', 'fusion #2']
    """
    used, result = set(taken), []
    for name in names:
        free, number = name, 2
        while free in used:
            free, number = f"{name} #{number}", number + 1
        used.add(free)
        result.append(free)
    return result


def in_lines(ways: Sequence[str]) -> str:
    """Return alternatives as the end of a message, one per line; the command line completes them to commands.

    Examples
    --------
    >>> print("Say which:" + in_lines(["--columns score=s"]))
    Say which:
      --columns score=s
    """
    return "".join(f"\n  {way}" for way in dict.fromkeys(ways))


Listener: TypeAlias = Callable[[int, int, str], None]
"""Called with the amount done, the total, and the unit: ``bytes``, ``rows`` or ``replicates``."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Call ``listener`` with the progress of the work in this block.

    Examples
    --------
    >>> with heard_by(lambda done, total, unit: print(f"{done} of {total} {unit}")):
    ...     teller(10, "rows")(4)
    4 of 10 rows
    >>> teller(10, "rows")(4)
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def teller(total: int, unit: str) -> Callable[[int], None]:
    """Return a function that reports the amount done; it can be called from any thread.

    Parameters
    ----------
    total : int
            The total amount.
    unit : str
        ``bytes``, ``rows`` or ``replicates``.
    """
    listener = _LISTENER.get()
    return (lambda _done: None) if listener is None else lambda done: listener(done, total, unit)


def is_open_file(path: object) -> bool:
    """Return True for an open file or another readable object, False for a name.

    >>> import io
    >>> is_open_file(io.BytesIO()), is_open_file("scores.txt")
    (True, False)
    """
    return hasattr(path, "read") and not isinstance(path, str | os.PathLike)


def display_name(path: object) -> str:
    r"""Return the name of a file for messages.

    Characters that cannot be encoded are replaced by question marks, and control characters by escapes.

    Examples
    --------
    >>> print(display_name("a\x1b[2J\n.txt"))
    a\x1b[2J\n.txt
    """
    if str(path) == "-":
        return "standard input"
    if is_open_file(path):
        own = getattr(path, "name", None)
        return display_name(own) if isinstance(own, str) and own != "-" else "open file"
    name = str(path).encode("utf-8", "replace").decode()
    return one_line(name)


def require_file_name(path: object) -> None:
    """Raise if the argument is not a file name or an open file; an empty name would mean the current folder.

    Raises
    ------
    InputError
    """
    if not isinstance(path, str | os.PathLike) and not is_open_file(path):
        raise InputError(f"path: got {type(path).__name__}. Pass a file name or an open file.{_way_out(path)}")
    if not str(path):
        raise InputError("empty file name. Name a file, or - for standard input. Is a shell variable not set?")
    if "\0" in str(path):
        raise InputError(f"{display_name(path)}: file names cannot contain NUL.")


def _way_out(value: object) -> str:
    """Return advice about an argument that is not a file."""
    if isinstance(value, bytes | bytearray | memoryview):
        return " Wrap bytes in io.BytesIO(...)."
    if isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "__arrow_c_stream__"):
        return (
            " deciban.evaluate accepts data frames. deciban.trials.scores_from and key_from convert columns of data "
            "frames to tables of trials."
        )
    if hasattr(value, "__array__") or isinstance(value, list | tuple):
        return " deciban.evaluate accepts arrays."
    return ""
