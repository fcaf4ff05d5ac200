"""``deciban presets``: the operating points of evaluations, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.completion import completer_of
from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import SectionedCommand, options

if TYPE_CHECKING:
    from deciban.evaluation import Preset


@click.command("presets", cls=SectionedCommand)
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completer_of("--preset", None))
@options("tables", "json")
def presets_command(name: str | None, *, shown: Shown) -> None:
    """List the evaluations whose operating points --preset names: which these are, and who says so.

    \b
    deciban presets
    deciban presets lre09
    """
    from deciban.evaluation import preset, presets

    known = list(presets().values()) if name is None else [preset(name)]
    if shown.as_json:
        print_json({"presets": [_plain(one) for one in known]}, files={})
        return
    from deciban.cli.shared.tables import console, table

    rows = [
        (one.name, "; ".join(_points(one)), f"{one.source} ({one.status})", ", ".join(one.aliases)) for one in known
    ]
    caption = "p_target, c_miss, c_fa of two classes; of many classes target priors of C_avg"
    headings = ["preset", "operating points", "source", "also called"]
    console(shown.table_style).print(table(headings, rows, prose=(1, 2, 3), caption=caption))


def _points(one: Preset) -> list[str]:
    if one.kind == "two-class":
        return [f"{point.p_target:g}, {point.c_miss:g}, {point.c_fa:g}" for point in one.points]
    out_of_set = [] if one.p_out_of_set is None else [f"last class out of set, with prior {one.p_out_of_set:g}"]
    return [f"{point.p_target:g}" for point in one.points] + out_of_set


def _plain(one: Preset) -> dict[str, Any]:
    points = [{"p_target": point.p_target, "c_miss": point.c_miss, "c_fa": point.c_fa} for point in one.points]
    return {
        "name": one.name,
        "kind": one.kind,
        "operating_points": points,
        "p_out_of_set": one.p_out_of_set,
        "source": one.source,
        "verified": one.status == "verified",
        "aliases": list(one.aliases),
    }
