"""``deciban plan``, ``deciban design`` and ``deciban presets``: evaluations that are still to be made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.completion import completer_of, files
from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.parsing import Picture
from deciban.cli.shared.progress import working

if TYPE_CHECKING:
    from deciban.calibration import Rule, RuleWeighting
    from deciban.evaluation import Preset


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
    from deciban.analysis.planning import Goal
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.comparing import plan_chosen, require_figures
    from deciban.workflows.kinds import kind_of

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


@click.command("design", cls=SectionedCommand)
@options("design", "tables", "json", "drawing")
def design_command(
    *,
    priors: tuple[float, float] | None,
    dcf: Sequence[tuple[float, ...]] | None,
    share: float | None,
    own: Any,
    picture: Picture,
    shown: Shown,
    **rule: tuple[float, ...],
) -> None:
    """Tell which decision thresholds a calibration objective cares for, or suggest one.

    With --alpha, --beta, --p-target: what this objective cares for; repeat them to compare several. Without them: a
    suggestion for the range of priors, for the operating points with 2 nats on both sides, or for a rule of your own.

    \b
    deciban design --alpha 2 --beta 2 --p-target 0.01 --dcf 0.01 --dcf 0.001 -o omega.svg
    deciban design --range 0.001 0.01
    deciban design --dcf 0.01 --dcf 0.001
    deciban design --rule thresholds.csv --dcf 0.01
    """
    from deciban.calibration import Rule
    from deciban.core.ranks.operating import OperatingPoint

    picture.require()
    points: list[Any] = list(dcf or ())
    if any(rule.values()):
        asked = {"--range": priors, "--rule": own, "--share": share}
        if option := next((name for name, value in asked.items() if value is not None), None):
            raise click.UsageError(f"{option} asks for a suggestion; --alpha, --beta and --p-target are one already.")
        rules = [
            Rule(a, b, p)
            for a, b, p in _repeated(rule["alpha"] or (1.0,), rule["beta"] or (1.0,), rule["p_target"] or (0.5,))
        ]
    else:
        rules = [_suggestion(priors, points, 0.9 if share is None else share, own)]
        points = points or [OperatingPoint(prior) for prior in priors or ()]
    weightings = [rule.weighting(points) for rule in rules]
    from deciban import plots

    picture.save(lambda: plots.omega(weightings))  # before anything is printed: it may be impossible
    if shown.as_json:
        found = [{**one.to_dict(), "remark": rule.remark} for one, rule in zip(weightings, rules, strict=True)]
        print_json({"kind": "two-class", "rules": found}, files={"output": [picture.path]})
    else:
        _show(rules, weightings, shown.table_style)
    if picture.path is not None:
        click.echo(picture.written, err=True)


def _suggestion(priors: tuple[float, float] | None, points: list[Any], share: float, own: Any) -> Rule:
    from deciban.calibration import suggest_for_rule, suggest_rule
    from deciban.core.ranks.operating import OperatingPoint, as_operating_point

    if own is not None:
        if priors is not None:
            raise click.UsageError("--range and --rule are both to suggest a rule for. Leave one of the two out.")
        if not points:
            raise click.UsageError("--rule is about posteriors: say at which prior of a target, by --dcf.")
        return suggest_for_rule(own, [as_operating_point(point).p_target for point in points], share=share)

    if priors is not None:
        if priors[0] == priors[1]:
            raise click.BadParameter(f"both ends are {priors[0]:g}; for one prior use --dcf.", param_hint="--range")
        low, high = sorted(OperatingPoint(prior).threshold for prior in priors)
        return suggest_rule(thresholds=(low, high), share=share)
    if not points:
        raise click.UsageError("give a rule (--alpha, --beta, --p-target), or a --range or --dcf to suggest one for.")
    return suggest_rule(points, share=share)


def _repeated(*given: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Put the values of each rule together; one value alone is for all rules."""
    n = max(map(len, given))
    if not all(len(values) in (1, n) for values in given):
        raise click.UsageError("--alpha, --beta, --p-target: repeat each as often as the others, or give it once.")
    return list(zip(*(values * n if len(values) == 1 else values for values in given), strict=True))


def _show(rules: list[Rule], weightings: list[RuleWeighting], style: str) -> None:
    from deciban.tables.results import console, say, table

    out = console(style)
    for i, (rule, weighting) in enumerate(zip(rules, weightings, strict=True)):
        if i:
            out.print("")
        if rule.remark:
            options = f"--alpha {rule.alpha:g} --beta {rule.beta:g} --p-target {rule.p_target!r}"
            for line in (f"suggested: {options}", rule.remark, ""):
                say(out, line)
        for line in weighting.lines:
            say(out, line)
        if weighting.points:
            out.print("")
            out.print(table(weighting.headings, weighting.rows))


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
    from deciban.tables.conditions import print_plan, print_plans
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
