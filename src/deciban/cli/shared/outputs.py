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
