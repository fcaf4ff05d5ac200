"""What every command prints with ``--json``: one object, which says what made it beside what was found."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from deciban._version import __version__

GIVEN = "deciban.cli.given"
"""Where a context keeps the values of all parameters, as they were before any of them was taken out."""


TYPED = "deciban.cli.typed"
"""Where a context keeps what was typed behind the name of the command."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How a command that has tables shows what it found.

    Attributes
    ----------
    as_json : bool
        As one object, and no table.
    table_style : str
    all_classes : bool
        Whether tables of classes have all of them, however many these are.
    corrected : bool
        Whether minima have their corrected values beside them.
    """

    as_json: bool = False
    table_style: str = "plain"
    all_classes: bool = False
    corrected: bool = False


def print_json(
    found: Mapping[str, Any], *, files: Mapping[str, Iterable[Any]], messages: Iterable[object] = ()
) -> None:
    """Print the object of the command that is running: what it read and was asked for, and what it found.

    Parameters
    ----------
    found : mapping
        The result. What it says of ``kind`` and ``messages`` stands.
    files : mapping of str to iterable of path or None
        What was read and written, by role.
    messages : iterable of Message or str
        What the user was told.
    """
    from deciban.evaluation.one_system import SCHEMA, json_text, plain
    from deciban.io.source import described
    from deciban.messages import as_objects

    context = click.get_current_context()
    options = options_given(context)
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "command": context.info_name,
        "deciban_version": __version__,
        "kind": None,
        "options": options,
        "preset": options.get("preset"),
        "files": described(files),
        "messages": as_objects(messages),
    }
    click.echo(json_text(plain({**head, **found}), default=str))


def require_own_stream(output: object, *, as_json: bool) -> None:
    """Refuse to mix the object with an output on standard output.

    Raises
    ------
    click.UsageError
    """
    if as_json and str(output) == "-":
        raise click.UsageError("both the output (-) and --json go to standard output. Name a file for one of them.")


def typed() -> str:
    """The command that is running, as it would be typed again."""
    context = click.get_current_context()
    return shlex.join(["deciban", str(context.info_name), *context.meta.get(TYPED, ())])


def typed_for(other: click.Command, *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """The words of a shell that ask another command the same, as far as it has the arguments that were typed.

    Parameters
    ----------
    other : click.Command
    without : iterable of str
        Options that are left out.
    """
    context = click.get_current_context()
    left_out, known = set(without), {name for one in other.params for name in one.opts}
    values, _, order = context.command.make_parser(context).parse_args(list(context.meta.get(TYPED, ())))
    arguments, words = list[str](), list[str]()
    for one in dict.fromkeys(order):
        given = values.get(str(one.name))
        if isinstance(one, click.Option):
            if known.intersection(one.opts) and not left_out.intersection(one.opts):
                words += _option_words(one, given)
        elif isinstance(given, str | tuple | list):  # what was not typed is none of these
            # A name that begins with a dash is no option with a folder before it.
            several = [given] if isinstance(given, str) else given
            arguments += [f"./{word}" if word.startswith("-") and word != "-" else word for word in several]
    return ("deciban", str(other.name), *arguments, *words)


def _option_words(one: click.Option, given: Any) -> list[str]:
    """An option with what was typed behind it, as often as that was."""
    name = max(one.opts, key=len)
    if one.is_flag:
        return [name if given in (True, one.flag_value) else max(one.secondary_opts, key=len)]
    several = given if one.multiple else [given]
    every = [[value] if isinstance(value, str) else value for value in several]
    return [word for values in every for word in (name, *map(str, values))]


def options_given(context: click.Context) -> dict[str, Any]:
    """Options that were typed, by their names without dashes, and what they were understood as."""
    values = context.meta.get(GIVEN, context.params)
    typed = [
        one
        for one in context.command.params
        if isinstance(one, click.Option)
        and context.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE
        and one.name != "as_json"
    ]
    return {max(one.opts, key=len).lstrip("-"): values.get(str(one.name)) for one in typed}
