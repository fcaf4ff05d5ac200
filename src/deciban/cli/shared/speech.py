"""What commands say beside their results: help in sections, and on standard error what they do."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click

_CLASSES = "Options for scores of many classes"


class ClassOption(click.Option):
    """An option that means something for scores of many classes only."""


class SectionedCommand(click.Command):
    """A command whose help lists the options of many classes by themselves."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both sections."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": [], _CLASSES: []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx) if isinstance(one, click.Option) else None
            if record is not None:
                sections[_CLASSES if isinstance(one, ClassOption) else "Options"].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class_option = functools.partial(click.option, cls=ClassOption)
"""``click.option`` for scores of many classes."""


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
