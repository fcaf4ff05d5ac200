"""``deciban presets``: the plans of evaluations, by name."""

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
@options("preset-file", "tables", "json")
def presets_command(name: str | None, *, as_toml: bool, shown: Shown) -> None:
    """List the plans of evaluations that --preset names, or explain one: what is computed, and who says so.

    A plan of your own is a file, which other commands take as --preset ours.toml.

    \b
    deciban presets
    deciban presets sre18-cmn2
    deciban presets lre15 --toml > ours.toml
    deciban presets ours.toml
    """
    from deciban.evaluation import preset, presets
    from deciban.evaluation.preset_table import is_file, text_of

    if as_toml:
        if name is None or is_file(name) or shown.as_json:
            raise click.UsageError("--toml prints the file of one plan that deciban knows: name it, without --json.")
        click.echo(text_of(name), nl=False)
        return
    known = list(presets().values()) if name is None else [preset(name)]
    if shown.as_json:
        print_json({"presets": [_plain(one) for one in known]}, files={})
        return
    from deciban.tables.presets import print_plan, print_plans
    from deciban.tables.results import console

    out = console(shown.table_style)
    if name is None:
        print_plans(known, out)
    else:
        print_plan(known[0], out)


def _plain(one: Preset) -> dict[str, Any]:
    points = [{"p_target": point.p_target, "c_miss": point.c_miss, "c_fa": point.c_fa} for point in one.points]
    return {
        "name": one.name,
        "title": one.title,
        "kind": one.kind,
        "operating_points": points,
        "false_match_rates": list(one.false_match_rates),
        "p_out_of_set": one.p_out_of_set,
        "positive": one.positive,
        "primary": {"figure": one.primary, "words": one.primary_in_words},
        "equalize": list(one.columns) if one.equalize else [],
        "non_target_shares": {"column": one.share_column, "shares": dict(one.non_target_shares)},
        "clusters": {name: list(classes) for name, classes in one.clusters.items()},
        "worst_pairs": one.worst_pairs,
        "formats": list(one.formats),
        "source": one.source,
        "verified": one.is_verified,
        "checked": one.checked,
        "remarks": list(one.remarks),
        "aliases": list(one.aliases),
    }
