"""``deciban compare``: whether one system is better than another."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.progress import working


@click.command("compare", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@joining_options(missing="missing-of-comparisons", more=("units", "uncertainty"))
@options("comparison", "rule", "tables", "json")
def compare_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    quiet: bool,
    shown: Shown,
    fail_if_worse: tuple[tuple[str, float], ...],
    model: str | None,
    **given: Any,
) -> None:
    """Compare systems on the trials that all of them scored, and say which is better.

    Every figure of one system is subtracted from that of another, first minus second, with an interval by the speakers
    or other units that trials share. Says at which priors one is better beyond doubt. With --model, scores are compared
    with what a calibration makes of them, or systems with their fusion.

    \b
    deciban compare sysA.txt sysB.txt --key key.txt
    deciban compare sysA.txt sysB.txt sysC.txt --key key.txt --against first
    deciban compare sysA.txt --key key.txt --model calibration.json
    deciban compare old.txt new.txt --key key.txt --fail-if-worse eer:0.002
    """
    from deciban.workflows.comparing import compare_chosen, require_figures
    from deciban.workflows.kinds import kind_of

    inputs = asked.inputs(scores, key)
    opened = asked.files(inputs, key)
    about = asked.options_for(opened).with_figures(rule=given.pop("rule"))
    kind = kind_of(opened.scores[0], opened.key, about)
    require_figures([name for name, _ in fail_if_worse or ()], kind, about, "fail_if_worse")
    with working() as say:
        given["permutations"] = given["permutations"] or 0
        found = compare_chosen(opened, about, model=model, progress=say, **given)
        worse = [words for figure, margin in fail_if_worse or () for words in found.worse(figure, margin)]
    tell(found.results.messages, quiet=quiet)
    if shown.as_json:
        read: dict[str, Any] = {"scores": [one.path for one in opened.scores], "key": [key], "model": [model]}
        print_json({**found.to_dict(), "worse": worse}, files={**read, "units": about.how_sure.files})
    else:
        from deciban.tables.results import console
        from deciban.tables.text import print_comparison

        print_comparison(found, console(shown.table_style))
    if worse:
        tell(f"worse: {words}" for words in worse)
        click.get_current_context().exit(1)
