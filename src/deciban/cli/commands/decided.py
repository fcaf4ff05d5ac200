"""``deciban eval --decisions``: what decisions that stand in files come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import Asked, tell
from deciban.cli.shared.progress import working


def refuse_figures_of_scores(asked: Asked, given: Mapping[str, Any]) -> None:
    """Refuse options that are about scores, and would be overlooked.

    Raises
    ------
    click.UsageError
    """
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value not in (None, False, (), [])]
    split = getattr(asked.options, "split", None)
    named += ["--by, --equalize"] if split is not None and split != type(split)() else []
    named += [f"--{name}" for name in asked.two]
    if named:
        raise click.UsageError(f"{', '.join(named)}: about scores, and --decisions says that there are none.")


def show_decisions(
    files: Sequence[str], key: str | None, asked: Asked, shown: Shown, *, quiet: bool, **given: Any
) -> None:
    """Evaluate files of decisions, and print tables or JSON.

    Parameters
    ----------
    files : sequence of str
    key : str or None
    asked : Asked
    shown : Shown
    quiet : bool
    **given
        ``accept``, ``reject``, ``decision_column`` and ``costs``.
    """
    from deciban.workflows.decision_files import evaluate_decision_files

    with working() as say:
        found = evaluate_decision_files(list(files), key, progress=say, **given, **asked.options.arguments)
    tell(found.messages, quiet=quiet)
    if shown.as_json:
        named = {"scores": files, "key": [key], "costs": [given["costs"]]}
        print_json(found.to_dict(), files=named, messages=found.messages)
        return
    from deciban.tables.requested import print_decisions
    from deciban.tables.results import console

    print_decisions(found.systems, console(shown.table_style))
