"""What commands say beside their results, on standard error: what was read, and what they do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click


def tell(messages: Iterable[object], *, quiet: bool = False) -> None:
    """Say on standard error what was read, assumed and written: one line for each message."""
    if not quiet:
        for message in messages:
            click.echo(str(message), err=True)


@contextmanager
def working(words: str = "") -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something goes on; yields a function that changes the words."""
    if not sys.stderr.isatty():
        yield lambda _changed: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(words), spinner="dots") as status:
        yield lambda changed: status.update(escape(changed))
