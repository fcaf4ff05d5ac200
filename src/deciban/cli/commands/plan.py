"""``deciban plan``: how many speakers and trials are enough."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.picture import Picture
from deciban.cli.shared.progress import working


@click.command("plan", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@joining_options(more=("units",))
@options("plan", "tables", "json")
def plan_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    quiet: bool,
    shown: Shown,
    figure: str | None,
    picture: Picture,
    **goal: Any,
) -> None:
    """Tell how many speakers and trials an evaluation needs, from a pilot.

    The pilot are scores of one system, of which an interval of some width is wanted, or of two, whose difference should
    be seen. Its trials tell how much of the variance lies between speakers, between their segments and between trials.

    \b
    deciban plan sysA.txt --key key.txt --width 0.01
    deciban plan sysA.txt --key key.txt --figure cllr --width 0.1 --relative
    deciban plan sysA.txt sysB.txt --key key.txt --difference 0.005 --power 0.9
    deciban plan sysA.txt --key key.txt --width 0.01 --segments 1,3,10 -o plan.svg
    """
    from deciban.analysis.designs import Goal
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.comparing import require_figures
    from deciban.workflows.kinds import kind_of
    from deciban.workflows.planning import plan_chosen

    picture.require()
    opened = asked.files(asked.inputs(scores, key), key)
    about = asked.options_for(opened)
    require_figures([] if figure is None else [figure], kind_of(opened.scores[0], opened.key, about), about, "figure")
    refuse_overwriting(picture.paths, [*opened.paths, *about.files])
    said = {name: value for name, value in goal.items() if value is not None}
    wanted = Goal(level=about.how_sure.level, **said)
    with working() as progress:
        found = plan_chosen(opened, None, about, wanted, figure, progress=progress)
    tell(found.messages, quiet=quiet)
    from deciban import plots

    picture.save(lambda: plots.plan(found))  # before anything is printed: it may be impossible
    if shown.as_json:
        read: dict[str, list[Any]] = {"scores": [one.path for one in opened.scores], "key": [key]}
        written = {**read, "units": about.how_sure.files, "output": [picture.path]}
        print_json({"kind": about.kind, **found.to_dict()}, files=written, messages=found.messages)
    else:
        from deciban.tables.results import console, say, table

        out = console(shown.table_style)
        for line in found.lines:
            say(out, line)
        if shown.table_style == "plain":
            out.print("")
        out.print(table(found.headings, found.rows, n_left=0))
    if picture.path is not None and not quiet:
        click.echo(picture.written, err=True)
