"""Parts that all commands share, and the end of the program after Ctrl-C or SIGTERM.

The program ends within a second, with one line of text and no unfinished files.

The exit code is 130 after Ctrl-C and 143 after SIGTERM, which job schedulers send.

An exception would not be enough: modules that are being imported convert it to other errors, and C libraries delay it
until they return. So the signal handler ends the process. Before, it removes the temporary files of unfinished outputs
(`deciban._files`), and shows the cursor again that a progress bar has hidden.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
        while found := signals.read(1):
            number = found[0]
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
