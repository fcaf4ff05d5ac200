"""Protocols of spoofing, a part of ``deciban eval``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.options import JoiningOptions, OutputOptions, print_json, print_messages
from deciban.cli.shared.progress import working

if TYPE_CHECKING:
    from deciban.tables.results import TableConsole


def show_spoofing(
    files: Sequence[str],
    key: str | None,
    asked: JoiningOptions,
    shown: OutputOptions,
    out: TableConsole,
    *,
    quiet: bool,
    given: Mapping[str, Any],
) -> Any:
    """Evaluate countermeasures or single scores by a protocol, and print tables or JSON.

    Parameters
    ----------
    files : sequence of str
    key : str or None
    asked : JoiningOptions
    shown : OutputOptions
    out : TableConsole
    quiet : bool
    given : mapping
        ``asv``, ``asv_key`` and ``asv_errors``; other options are refused.

    Returns
    -------
    SpoofingResults or None
        None for JSON.

    Raises
    ------
    click.UsageError
        If there are files of targets and of non-targets instead of score files, or other options.
    """
    from deciban.workflows.spoofing import evaluate_spoofing_files

    verifier = {name: given[name] for name in ("asv", "asv_key", "asv_errors")}
    others = {name: value for name, value in given.items() if name not in verifier}
    others |= {"corrected": shown.corrected, "information": shown.information}
    named = [f"--{name.replace('_', '-')}" for name, value in others.items() if value not in (None, False, (), [])]
    if named:
        raise click.UsageError(f"{', '.join(named)}: not for protocols of spoofing. Leave it out.")
    if asked.two:
        raise click.UsageError("--tar, --non: protocols of spoofing need one file with labels of spoofs, or a key.")
    options = asked.options
    with working() as progress:
        found = evaluate_spoofing_files(list(files), key, **verifier, options=options, progress=progress)
    print_messages(found.messages, quiet=quiet)
    if shown.as_json:
        roles = {"scores": files, "key": [key], "asv": [verifier["asv"]], "asv-key": [verifier["asv_key"]]}
        print_json(found.to_dict(), files={**roles, "units": options.how_sure.files})
        return None
    from deciban.tables.error_rates import print_spoofing

    print_spoofing(found, out, everything=shown.everything)
    return found
