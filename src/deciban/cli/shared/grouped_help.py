"""Help in two sections: options of all scores, and those that are about scores of many classes."""

from __future__ import annotations

import functools

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
