"""What deciban raises and warns: every message says what arrived, where, the rule and the way out."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class DecibanError(Exception):
    """Base of every error that deciban raises on purpose."""


class InputError(DecibanError, ValueError):
    """An argument holds something that has no meaning as a score, a weight, a prior or a cost."""


def refuse(arguments: Iterable[str], why: str) -> None:
    """Refuse arguments that were given and mean nothing here, if there are any.

    Parameters
    ----------
    arguments : iterable of str
    why : str
        Why, and what to do.

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


class TrialError(InputError):
    """Some trials are refused; the message says which is the first of them.

    Parameters
    ----------
    before, after : str
        The message around the place of this trial: "at index 3".
    index : int
        Its number, from 0. Whoever took it out of a larger set knows it by another one: see `among`.
    """

    def __init__(self, before: str, index: int, after: str) -> None:
        super().__init__(before, index, after)
        self.before, self.index, self.after = before, index, after

    def __str__(self) -> str:
        return f"{self.before}at index {self.index}{self.after}"

    def among(self, rows: Any, *, before: str = "", after: str = "") -> TrialError:
        """The same with more words, of the trials that are these rows of others.

        >>> str(TrialError("bad trials, the first ", 1, ".").among([4, 7], before="Fold 2: "))
        'Fold 2: bad trials, the first at index 7.'
        """
        return TrialError(before + self.before, int(rows[self.index]), self.after + after)

    def named(self, trial: str) -> InputError:
        """The same with the name of the trial.

        >>> str(TrialError("bad trials, the first ", 1, ".").named("(ann, x)"))
        'bad trials, the first is trial (ann, x).'
        """
        return InputError(f"{self.before}is trial {trial}{self.after}")


@contextmanager
def naming_trials(name_of: Callable[[int], str], more: Callable[[int], str] | None = None) -> Iterator[None]:
    """Name the trial in what is refused for its sake: arrays know a trial by its number, and users by its name.

    Parameters
    ----------
    name_of : function
        The name of a trial by its number.
    more : function, optional
        What else is to be said of it, if there is something.

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
    """A file does not hold what its format promises; the message starts with ``file:line:``."""


class KeyMismatchError(DecibanError, ValueError):
    """Scores and key do not speak of the same trials."""


class MissingScoresError(KeyMismatchError):
    """Some trials lack a score, and nobody has said what to do about them."""


class ClusterError(DecibanError, RuntimeError):
    """The machines that were to do the work cannot: there are none, they differ, or have too little memory."""


class DecibanWarning(UserWarning):
    """The numbers are right, but they probably do not mean what the user hopes."""


_INSIDE = {"contextlib", "deciban", "joblib", "sklearn"}
"""What is not the user's own code."""


def warn(words: str) -> None:
    """Warn with a `DecibanWarning` at the line of the user: the nearest one outside deciban and what calls it."""
    level, frame = 1, sys._getframe()  # noqa: SLF001  # what warnings itself counts by
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(words, DecibanWarning, stacklevel=level)
