"""Ctrl-C: one line, exit code 130, nothing half-written, within a second, whatever the program is doing.

So does the signal by which schedulers of jobs end them (SIGTERM), with exit code 143.

An exception in the middle of anything would not do: modules that are being imported turn it into errors of their own,
and long work of libraries in C sees it only when it is done. So the process ends where it is. All that it would leave
behind are files that are being written aside (`deciban._files`), which are removed, and a cursor that progress hid.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EXIT_CODE = 130
"""What shells expect of a program that Ctrl-C ended."""

_SIGNALS: dict[int, tuple[object, str, int]] = {
    signal.SIGINT: (signal.default_int_handler, "interrupted", EXIT_CODE),
    signal.SIGTERM: (signal.SIG_DFL, "terminated", 143),
}
"""Which signals are answered if nothing else does, in what words, and with which exit code."""

_PATIENCE = 0.3
"""Seconds that Python gets to answer a signal itself; it cannot while a library is at work."""

BEFORE_THE_END: list[Callable[[], None]] = []
"""What else is to be done, such as to show the cursor again."""


def listen() -> None:
    """Answer signals from now on, if nothing else does, by the end of the process."""
    with contextlib.suppress(ValueError):  # not the main thread, which is the only one to get signals
        for number, (usual, *_) in _SIGNALS.items():
            if signal.getsignal(number) is usual:
                signal.signal(number, lambda number, _frame: _end(number))


@contextmanager
def listening() -> Iterator[None]:
    """Answer signals, also while a library is at work that does not let Python answer; as before afterwards."""
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
    """End the process if a signal came, and Python did not answer soon; wait for the end of the pipe otherwise."""
    with os.fdopen(reading, "rb", buffering=0) as signals:
        while found := signals.read(1):
            number = found[0]
            if number in _SIGNALS and signal.getsignal(number) is not _SIGNALS[number][0]:
                threading.Event().wait(_PATIENCE)
                _end(number)


_ending = threading.Event()
"""Set once files are removed that somebody may still be writing."""


def give_way() -> None:
    """Fail no more once the end has begun: what is removed under somebody's hands is no error of theirs."""
    if _ending.is_set():
        threading.Event().wait(_PATIENCE * 10)


def _end(number: int) -> None:
    """Clean up, say so, and end here."""
    _ending.set()
    _, words, code = _SIGNALS[number]
    with contextlib.suppress(Exception):  # whatever state this interrupts, the user wants an end
        writing = sys.modules.get("deciban._files")
        if writing is not None and hasattr(writing, "remove_unfinished"):
            writing.remove_unfinished()
    for act in BEFORE_THE_END:
        with contextlib.suppress(Exception):
            act()
    with contextlib.suppress(OSError):
        os.write(2, f"deciban: {words}\n".encode())
    os._exit(code)


def is_program() -> bool:
    """Whether this process is the command line, and not a program of somebody who imports it."""
    main = sys.modules.get("__main__")
    spec, path = getattr(main, "__spec__", None), getattr(main, "__file__", None) or ""
    name = os.path.basename(path).partition(".")[0]  # noqa: PTH119  # pathlib is not imported yet
    return getattr(spec, "name", None) == "deciban.__main__" or name in ("deciban", "deciban-script")
