"""What is shown of long work: on a terminal a bar with rate and time left, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from deciban.cli import interrupts
from deciban.messages import one_line
from deciban.steps import heard_by

_SHORT = 2.0
"""Seconds of work of which nothing is shown."""

_EVERY = 10.0
"""Seconds from one line to the next where there is no terminal."""

_SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"


class Work:
    """What is being done, and how far it is.

    Parameters
    ----------
    words : str
        What goes on first.
    clock : function
        Seconds, from any moment on.

    Attributes
    ----------
    words : str
    done, total : int
        Of this step; both 0 where nobody counts.
    unit : str
        What is counted: ``bytes``, ``rows`` or ``replicates``.
    """

    def __init__(self, words: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.say(words)

    def say(self, words: str) -> None:
        """Begin a step."""
        self.words, self.done, self.total, self.unit = one_line(words), 0, 0, ""
        self._since = self._clock()

    def advance(self, done: int, total: int, unit: str) -> None:
        """Count what is done of a step; who begins to count anew begins a new part of it."""
        if done < self.done or (self.total and (total, unit) != (self.total, self.unit)):
            self._since = self._clock()
        self.done, self.total, self.unit = min(done, total), total, unit

    @property
    def rate(self) -> float:
        """How much is done in a second; 0 where that is not known yet."""
        took = self._clock() - self._since
        return self.done / took if took > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left of what is counted, if it goes on like this."""
        return (self.total - self.done) / self.rate if self.rate and self.total else None

    @property
    def is_counted(self) -> bool:
        """Whether it is known how much is left; what comes when all is done is not counted."""
        return self.done < self.total

    def facts(self) -> list[str]:
        """What is known of it, in words: share, rate and time left.

        Examples
        --------
        >>> seconds = iter([0.0, 4.0, 4.0, 4.0, 4.0])
        >>> work = Work("reading s.txt", lambda: next(seconds))
        >>> work.advance(100_000_000, 400_000_000, "bytes")
        >>> work.facts()
        ['25 %', '25.0 MB/s', '12 s left']
        """
        if not self.is_counted:
            return []
        rate, left = self.rate, self.left
        speed = f"{rate / 1e6:.1f} MB/s" if self.unit == "bytes" else f"{rate:,.0f} {self.unit}/s"
        shown = [f"{100 * self.done // self.total} %"]
        return shown if left is None else [*shown, speed, f"{_duration(left)} left"]

    def line(self) -> str:
        """The same behind what goes on."""
        return " · ".join([self.words or "working", *self.facts()])


def _duration(seconds: float) -> str:
    """Write a time as people do.

    >>> _duration(7.2), _duration(150), _duration(8000)
    ('7 s', '2 min 30 s', '2 h 13 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def working(words: str = "") -> Iterator[Callable[[str], None]]:
    """Show work that takes long, unless the command is quiet; yields a function that says what goes on."""
    work = Work(words)
    context = click.get_current_context(silent=True)
    if context is not None and context.params.get("quiet"):
        yield work.say
        return
    over = threading.Event()
    shown = _on_terminal if sys.stderr.isatty() else _in_lines
    thread = threading.Thread(target=shown, args=(work, over), daemon=True)
    thread.start()
    try:
        with heard_by(work.advance):
            yield work.say
    finally:
        over.set()
        thread.join()


def _in_lines(work: Work, over: threading.Event, every: float = _EVERY) -> None:
    """Say every now and then how far it is, until it is over."""
    while not over.wait(every):
        click.echo(work.line(), err=True)


def _on_terminal(work: Work, over: threading.Event, short: float = _SHORT) -> None:
    """Show a bar until it is over, if it takes longer than a moment."""
    if over.wait(short):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    plain: Any = TextColumn("{task.description}", markup=False)
    facts: Any = TextColumn("{task.fields[facts]}", markup=False)
    with Progress(SpinnerColumn(), plain, BarColumn(24), facts, console=Console(stderr=True), transient=True) as bar:
        interrupts.BEFORE_THE_END.append(_show_cursor)
        task = bar.add_task(work.words, total=None, facts="")
        while not over.wait(0.1):
            total = work.total if work.is_counted else None
            bar.update(task, description=work.words, completed=work.done, total=total, facts=" · ".join(work.facts()))
    interrupts.BEFORE_THE_END.remove(_show_cursor)


def _show_cursor() -> None:
    sys.stderr.write(_SHOW_CURSOR)
    sys.stderr.flush()
