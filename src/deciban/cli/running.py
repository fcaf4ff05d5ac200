"""A command while it runs: its progress, and its end after Ctrl-C or SIGTERM.

Long work shows a bar with rate and remaining time on a terminal, otherwise a line every ten seconds.

On a signal, the program ends within a second, with one line of text and no unfinished files. The exit code is 130 after
Ctrl-C and 143 after SIGTERM, which job schedulers send. An exception would not be enough: modules that are being
imported convert it to other errors, and C libraries delay it until they return. So the signal handler ends the process.
Before, it removes the temporary files of unfinished outputs (`deciban._files`), and shows the cursor again that a
progress bar has hidden.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from deciban.errors import heard_by, one_line

EXIT_CODE = 130
"""Exit code after Ctrl-C, by convention of shells."""

_SIGNALS: dict[int, tuple[object, str, int]] = {
    signal.SIGINT: (signal.default_int_handler, "interrupted", EXIT_CODE),
    signal.SIGTERM: (signal.SIG_DFL, "terminated", 143),
}
"""Signals with their default handler, message and exit code."""

_PATIENCE = 0.3
"""Seconds until a signal is handled by the watching thread; Python cannot handle it while a library is running."""

_WITHOUT_BAR = "\r\x1b[2K\x1b[?25h"
"""Clears the line of a progress bar on a terminal, and shows the cursor again that the bar has hidden."""


def listen() -> None:
    """End the process on signals from now on, unless they have another handler."""
    with contextlib.suppress(ValueError):  # only the main thread can set handlers
        for number, (usual, *_) in _SIGNALS.items():
            if signal.getsignal(number) is usual:
                signal.signal(number, lambda number, _frame: _end(number))


@contextmanager
def listening() -> Iterator[None]:
    """End the process on signals, even while a library blocks Python; restore the handlers afterwards."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    listen()
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    earlier = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(writing)


def _watch(reading: int) -> None:
    """End the process after a signal that Python did not handle in time; return when the pipe is closed."""
    with os.fdopen(reading, "rb", buffering=0) as signals:
        while byte := signals.read(1):
            number = byte[0]
            if number in _SIGNALS and signal.getsignal(number) is not _SIGNALS[number][0]:
                threading.Event().wait(_PATIENCE)
                _end(number)


_ending = threading.Event()
"""Set before the temporary files of unfinished outputs are removed."""


def give_way() -> None:
    """Wait if the process is ending: errors due to removed temporary files must not be reported."""
    if _ending.is_set():
        threading.Event().wait(_PATIENCE * 10)


def _end(number: int) -> None:
    """Clean up, print one line, and end the process."""
    _ending.set()
    _, words, code = _SIGNALS[number]
    with contextlib.suppress(Exception):  # the process must end in any state
        writing = sys.modules.get("deciban._files")
        if writing is not None and hasattr(writing, "remove_unfinished"):
            writing.remove_unfinished()
    with contextlib.suppress(OSError):
        os.write(2, f"{_WITHOUT_BAR if os.isatty(2) else ''}deciban: {words}\n".encode())
    os._exit(code)


def is_program() -> bool:
    """Return True if this process is the command line, not another program that imports deciban."""
    main = sys.modules.get("__main__")
    spec, path = getattr(main, "__spec__", None), getattr(main, "__file__", None) or ""
    name = os.path.basename(path).partition(".")[0]  # noqa: PTH119  # pathlib is not imported yet
    return getattr(spec, "name", None) == "deciban.__main__" or name in ("deciban", "deciban-script")


_SHORT = 2.0
"""Seconds of work before a bar appears."""

_EVERY = 10.0
"""Seconds between two lines without a terminal."""


class ProgressSteps:
    """The current step of some work, and its progress.

    Parameters
    ----------
    words : str
        Name of the first step.
    clock : function
        Returns the time in seconds.

    Attributes
    ----------
    words : str
    done, total : int
        Progress of this step; both are 0 if it is not counted.
    unit : str
        Unit of the count: ``bytes``, ``rows`` or ``replicates``.
    """

    def __init__(self, words: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.say(words)

    def say(self, words: str) -> None:
        """Start a step."""
        self.words, self.done, self.total, self.unit = one_line(words), 0, 0, ""
        self._since = self._clock()

    def advance(self, done: int, total: int, unit: str) -> None:
        """Update the count of a step; a lower count or another total starts a new part of it."""
        if done < self.done or (self.total and (total, unit) != (self.total, self.unit)):
            self._since = self._clock()
        self.done, self.total, self.unit = min(done, total), total, unit

    @property
    def rate(self) -> float:
        """Units per second; 0 if still unknown."""
        took = self._clock() - self._since
        return self.done / took if took > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Estimated remaining seconds of the counted work; None if unknown."""
        return (self.total - self.done) / self.rate if self.rate and self.total else None

    @property
    def is_counted(self) -> bool:
        """True while the count is incomplete; work after the last count is not counted."""
        return self.done < self.total

    def facts(self) -> list[str]:
        """Return share, rate and remaining time as text.

        Examples
        --------
        >>> seconds = iter([0.0, 4.0, 4.0, 4.0, 4.0])
        >>> work = ProgressSteps("reading s.txt", lambda: next(seconds))
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
        """Return the name of the step, followed by its progress."""
        return " · ".join([self.words or "working", *self.facts()])


def _duration(seconds: float) -> str:
    """Format a duration.

    >>> _duration(7.2), _duration(150), _duration(8000)
    ('7 s', '2 min 30 s', '2 h 13 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def working(words: str = "") -> Iterator[Callable[[str], None]]:
    """Show the progress of long work, unless the command is quiet; yield a function that names the next step."""
    import click  # signals are handled before slow imports

    from deciban.cli.options import options_given
    from deciban.memory import allowed_memory, keep_freed_blocks

    work = ProgressSteps(words)
    context = click.get_current_context(silent=True)
    limit = None if context is None else options_given(context).get("memory")
    # Beside two gigabytes, a quarter of a gigabyte of freed blocks is little.
    if context is not None and (limit is None or allowed_memory(limit) >= 2 * 10**9):
        keep_freed_blocks()
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


def _in_lines(work: ProgressSteps, over: threading.Event, every: float = _EVERY) -> None:
    """Print the progress regularly until the work is done."""
    import click

    while not over.wait(every):
        click.echo(work.line(), err=True)


def _on_terminal(work: ProgressSteps, over: threading.Event, short: float = _SHORT) -> None:
    """Show a bar until the work is done, if it takes longer than a moment."""
    if over.wait(short):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    plain = TextColumn("{task.description}", markup=False)
    facts = TextColumn("{task.fields[facts]}", markup=False)
    with Progress(SpinnerColumn(), plain, BarColumn(24), facts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(work.words, total=None, facts="")
        while not over.wait(0.1):
            total = work.total if work.is_counted else None
            bar.update(task, description=work.words, completed=work.done, total=total, facts=" · ".join(work.facts()))
