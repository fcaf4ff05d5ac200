"""Names of trials in messages: arrays know a trial by its number, and users by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deciban.errors import TrialError


@contextmanager
def named_trials(name_of: Callable[[int], str], told: Callable[[int], str] | None = None) -> Iterator[None]:
    """Name the trial in what is refused for its sake.

    Parameters
    ----------
    name_of : function
        The name of a trial by its number.
    told : function, optional
        What else is to be said of it, if there is something.

    Raises
    ------
    InputError

    Examples
    --------
    >>> with named_trials(["ann", "bob"].__getitem__):
    ...     raise TrialError("scores: 1 non-target trials score +inf, the first ", 1, ".")
    Traceback (most recent call last):
    ...
    deciban.errors.InputError: scores: 1 non-target trials score +inf, the first is trial bob.
    """
    try:
        yield
    except TrialError as error:
        more = told(error.index) if told is not None else ""
        raise error.named(f"{name_of(error.index)} ({more})" if more else name_of(error.index)) from error
