"""How far long work is: told by whoever reads or writes much, to whoever listens, mostly nobody.

Readers and writers are called through many functions that have nothing to do with it. So there is no argument: who
wants to know listens in this thread, and who works asks once for what to call. If nobody listens that costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[int, int, str], None]
"""Called with what is done, what there is to do, and of what: ``bytes``, ``rows`` or ``replicates``."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Let somebody hear of what is done in this block.

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
    """Return a function that tells how much is done, from any thread.

    Parameters
    ----------
    total : int
        How much there is to do.
    unit : str
        ``bytes``, ``rows`` or ``replicates``.
    """
    listener = _LISTENER.get()
    if listener is None:
        return lambda _done: None
    return lambda done: listener(done, total, unit)
