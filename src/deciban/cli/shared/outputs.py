"""What commands refuse before they begin to work: outputs that would mix, that are inputs, or have nowhere to go."""

from __future__ import annotations

import os
from pathlib import Path

import click


def require_writable(output: str | Path, *, endings: tuple[str, ...] = ()) -> None:
    """Refuse an output in a folder that is not there, or with another ending than those that are written.

    Raises
    ------
    click.BadParameter
    """
    path = Path(output)
    if str(output) == "-":
        return
    if not path.name or str(output).endswith(("/", os.sep)) or path.is_dir():
        raise click.BadParameter(f"{str(output)!r}: is the name of a folder. Name a file to write.", param_hint="-o")
    if not path.parent.is_dir():
        raise click.BadParameter(
            f"{str(output)!r}: there is no folder {str(path.parent)!r}. Make it first, or write elsewhere.",
            param_hint="-o",
        )
    if endings and path.suffix.casefold() not in endings:
        *others, last = endings
        listed = f"{', '.join(others)} or {last}" if others else last
        raise click.BadParameter(f"{path.name!r} should end in {listed}.", param_hint="-o")


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
