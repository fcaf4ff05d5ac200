"""What commands that train models have in common."""

from __future__ import annotations

import os
from typing import Any

import click


def check_outputs(output: str, llrs: str | None, *, for_llrs: bool, rereads_stdin: bool, as_json: bool) -> None:
    """Refuse outputs that would mix, and options that would be overlooked.

    Parameters
    ----------
    output, llrs : str
        Where the model and the llrs go.
    for_llrs : bool
        Whether something was said about llrs.
    rereads_stdin : bool
        Whether writing llrs would read standard input for the second time.
    as_json : bool

    Raises
    ------
    click.UsageError
    """
    for path in (output, llrs or ""):
        if path.endswith(("/", os.sep)):
            raise click.UsageError(f"{path}: is the name of a folder. Name a file to write.")
    if [output, llrs or "", "-" if as_json else ""].count("-") > 1:
        raise click.UsageError("only one of the model, the llrs and --json can go to standard output.")
    if llrs is None and for_llrs:
        raise click.UsageError("--apply-to and --to say what to write to --llrs OUT. Name it, or leave them out.")
    if llrs is not None and rereads_stdin:
        raise click.UsageError("standard input (-) is read once, for training. Put the scores into a file for --llrs.")


def parse_cross_validation(text: str | None) -> tuple[Any, dict[str, Any]]:
    """What to hold out, and in how many parts if that is said."""
    if text is None:
        return None, {}
    named, colon, number = text.rpartition(":")
    if not colon and text.isdecimal():
        return int(text), {}
    if not (colon and number.isdecimal()):
        named, number = text, ""
    columns = tuple(part.strip() for part in named.split(","))
    if len(columns) > 2 or not all(columns):
        raise click.BadParameter(
            f"{text!r}: write COLUMN, COLUMN,COLUMN, either with :N, or N, for example speaker:10.",
            param_hint="--cross-validate",
        )
    return (columns[0] if len(columns) == 1 else columns), ({"n_folds": int(number)} if number else {})
