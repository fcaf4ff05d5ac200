"""What every command prints with ``--json``: one object, which says what made it beside what was found."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

import deciban

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
    """

    as_json: bool = False
    table_style: str = "plain"
    all_classes: bool = False


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
    from deciban.evaluation.as_json import SCHEMA, json_text, plain
    from deciban.io.read_files import described
    from deciban.messages import as_objects

    context = click.get_current_context()
    options = options_given(context)
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "command": context.info_name,
        "deciban_version": deciban.__version__,
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
