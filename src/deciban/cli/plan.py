"""The commands ``compare``, ``plan``, ``objective`` and ``presets``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from deciban import calibration, plots, tables
from deciban.cli import options as cli
from deciban.cli.parsing import PictureOptions, completer_of, files
from deciban.cli.running import working

if TYPE_CHECKING:
    from rich.console import Console

    from deciban.evaluation import Preset
    from deciban.types import Raw


@click.command("compare", cls=cli.SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@cli.joining_options(missing="missing-of-comparisons", more=("units", "uncertainty"))
@cli.options("comparison", "rule", "spoofing", "tables", "json")
def compare_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    quiet: bool,
    shown: cli.OutputOptions,
    **arguments: Raw,
) -> None:
    """Compare systems on the trials that all of them scored, with confidence intervals.

    Prints the difference of every metric, first system minus second, with an interval by speakers or other units, and
    the priors at which one system is significantly better. --model compares scores before and after calibration, or
    systems with their fusion.

    \b
    deciban compare sysA.txt sysB.txt --key key.txt
    deciban compare sysA.txt sysB.txt sysC.txt --key key.txt --against first
    deciban compare sysA.txt --key key.txt --model calibration.json
    deciban compare old.txt new.txt --key key.txt --fail-if-worse eer:0.002
    """
    from deciban.evaluation.spoofing import Edition
    from deciban.workflows.comparing import compare_files, require_metrics
    from deciban.workflows.kinds import kind_of
    from deciban.workflows.reading.inputs import ScoreFiles

    gates, arguments["permutations"] = arguments.pop("fail_if_worse") or (), arguments["permutations"] or 0
    verifier = {name: value for name in ("asv", "asv_key", "asv_errors") if (value := arguments.pop(name)) is not None}
    rule, read = arguments.pop("rule"), {"key": [key], "model": [arguments["model"]]}
    opened: Any
    if joining.is_about_spoofing or verifier:
        others = dict.fromkeys(("same", "different"), bool(joining.two))
        cli.refuse({"fail_if_worse": gates, "rule": rule, **others}, "not for protocols of spoofing")
        Edition.of(joining.options.plan)
        opened, about, arguments = list(scores), joining.options, {**arguments, "key": key, "verifier": verifier}
        read |= {"scores": opened, "asv": [verifier.get("asv")], "asv-key": [verifier.get("asv_key")]}
    else:
        opened = ScoreFiles.of(joining.inputs(scores, key), key, joining.options.reading)
        about = joining.options_for(opened).with_metrics(rule=rule)
        kind = kind_of(opened.scores[0], opened.key, about)
        require_metrics([name for name, _ in gates], kind, about, "fail_if_worse")
        read |= {"scores": [one.path for one in opened.scores]}
    with working() as say:
        result = compare_files(opened, options=about, progress=say, **arguments)
        worse = [words for metric, margin in gates for words in result.worse(metric, margin)]
    cli.print_messages(result.results.messages, quiet=quiet)
    if shown.as_json:
        cli.print_json({**result.to_dict(), "worse": worse}, files={**read, "units": about.how_sure.files})
    else:
        tables.print_comparison(result, tables.console(shown.table_style))
    if worse:
        cli.print_messages(f"worse: {words}" for words in worse)
        click.get_current_context().exit(1)


@click.command("plan", cls=cli.SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@cli.joining_options(more=("units",))
@cli.options("plan", "tables", "json")
def plan_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    quiet: bool,
    shown: cli.OutputOptions,
    metric: str | None,
    picture: PictureOptions,
    **goal: Raw,
) -> None:
    """Compute from a pilot how many speakers and trials an evaluation needs (sample-size planning).

    The pilot contains scores of one system (to plan for the --width of an interval) or of two systems (to plan for
    their --difference). deciban estimates from it the variance between speakers, between segments and between trials.

    \b
    deciban plan sysA.txt --key key.txt --width 0.01
    deciban plan sysA.txt --key key.txt --metric cllr --width 0.1 --relative
    deciban plan sysA.txt sysB.txt --key key.txt --difference 0.005 --power 0.9
    deciban plan sysA.txt --key key.txt --width 0.01 --segments 1,3,10 -o plan.svg
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.comparing import plan_files, require_metrics
    from deciban.workflows.kinds import kind_of
    from deciban.workflows.reading.inputs import ScoreFiles

    picture.require()
    opened = ScoreFiles.of(joining.inputs(scores, key), key, joining.options.reading)
    about = joining.options_for(opened)
    require_metrics([] if metric is None else [metric], kind_of(opened.scores[0], opened.key, about), about, "metric")
    refuse_overwriting(picture.paths, [*opened.paths, *about.files])
    entries = {name: value for name, value in goal.items() if value is not None}
    with working() as progress:
        result = plan_files(opened, options=about, metric=metric, progress=progress, **entries)
    cli.print_messages(result.messages, quiet=quiet)

    picture.save(lambda: plots.plan(result))  # before anything is printed: it can fail
    if shown.as_json:
        read: dict[str, list[Any]] = {"scores": [one.path for one in opened.scores], "key": [key]}
        written = {**read, "units": about.how_sure.files, "output": [picture.path]}
        cli.print_json({"kind": about.kind, **result.to_dict()}, files=written, messages=result.messages)
    else:
        out = tables.console(shown.table_style)
        tables.say_all(out, result.lines)
        if shown.table_style == "plain":
            out.print("")
        out.print(tables.table(result.headings, result.rows, n_left=0))
    if picture.path is not None and not quiet:
        click.echo(picture.written, err=True)


@click.command("objective", cls=cli.SectionedCommand)
@cli.options("design", "tables", "json", "drawing")
def objective_command(
    *,
    priors: tuple[float, float] | None,
    dcf: Sequence[tuple[float, ...]] | None,
    share: float | None,
    own: object,
    picture: PictureOptions,
    shown: cli.OutputOptions,
    **rule: tuple[float, ...],
) -> None:
    """Show which decision thresholds a calibration objective emphasizes, or suggest an objective.

    With --alpha, --beta and --p-target: shows the emphasis of this objective (repeat the options to compare several).
    Without them: suggests an objective for a range of priors, for the operating points of --dcf with a margin of 2 nats
    on both sides, or for a custom scoring rule.

    \b
    deciban objective --alpha 2 --beta 2 --p-target 0.01 --dcf 0.01 --dcf 0.001 -o omega.svg
    deciban objective --range 0.001 0.01
    deciban objective --dcf 0.01 --dcf 0.001
    deciban objective --rule thresholds.csv --dcf 0.01
    """
    from deciban.core.ranks.roc import OperatingPoint

    picture.require()
    points: list[Any] = list(dcf or ())
    if any(rule.values()):
        typed = {"--range": priors, "--rule": own, "--share": share}
        if option := next((name for name, value in typed.items() if value is not None), None):
            raise click.UsageError(
                f"{option} is for a suggestion: leave out --alpha, --beta and --p-target, or {option}."
            )
        usual = {"alpha": 1.0, "beta": 1.0, "p_target": 0.5}
        values = _repeated(*(rule[name] or (one,) for name, one in usual.items()))
        rules = [calibration.Rule(alpha, beta, p_target) for alpha, beta, p_target in values]
    else:
        rules = [_suggestion(priors, points, 0.9 if share is None else share, own)]
        points = points or [OperatingPoint(prior) for prior in priors or ()]
    weightings = [rule.weighting(points) for rule in rules]

    picture.save(lambda: plots.omega(weightings))  # before anything is printed: it can fail
    if shown.as_json:
        items = [{**one.to_dict(), "remark": rule.remark} for one, rule in zip(weightings, rules, strict=True)]
        cli.print_json({"kind": "two-class", "rules": items}, files={"output": [picture.path]})
    else:
        _show(rules, weightings, shown.table_style)
    if picture.path is not None:
        click.echo(picture.written, err=True)


def _suggestion(priors: tuple[float, float] | None, points: list[Any], share: float, own: Raw) -> calibration.Rule:
    from deciban.core.ranks.roc import OperatingPoint, as_operating_point

    if own is not None:
        if priors is not None:
            raise click.UsageError("--range and --rule both ask for a suggestion. Leave one of the two out.")
        if not points:
            raise click.UsageError("--rule is for posteriors: name the prior of a target with --dcf.")
        return calibration.suggest_for_rule(own, [as_operating_point(point).p_target for point in points], share=share)

    if priors is not None:
        if priors[0] == priors[1]:
            raise click.BadParameter(f"both ends are {priors[0]:g}. For one prior, use --dcf.", param_hint="--range")
        low, high = sorted(OperatingPoint(prior).threshold for prior in priors)
        return calibration.suggest_rule(thresholds=(low, high), share=share)
    if not points:
        raise click.UsageError(
            "name an objective (--alpha, --beta, --p-target), or use --range or --dcf for a suggestion."
        )
    return calibration.suggest_rule(points, share=share)


def _repeated(*arguments: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Return the values of each rule; a single value is used for all rules."""
    n = max(map(len, arguments))
    if not all(len(values) in (1, n) for values in arguments):
        raise click.UsageError("--alpha, --beta, --p-target: repeat each of them equally often, or give it once.")
    return list(zip(*(values * n if len(values) == 1 else values for values in arguments), strict=True))


def _show(rules: list[calibration.Rule], weightings: list[calibration.RuleWeighting], style: str) -> None:
    out = tables.console(style)
    for i, (rule, weighting) in enumerate(zip(rules, weightings, strict=True)):
        if i:
            out.print("")
        if rule.remark:
            options = f"--alpha {rule.alpha:g} --beta {rule.beta:g} --p-target {rule.p_target!r}"
            tables.say_all(out, (f"suggested: {options}", rule.remark, ""))
        tables.say_all(out, weighting.lines)
        if weighting.points:
            out.print("")
            out.print(tables.table(weighting.headings, weighting.rows))


@click.command("presets", cls=cli.SectionedCommand)
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completer_of("--preset", None))
@cli.options("preset-file", "tables", "json")
def presets_command(name: str | None, *, as_toml: bool, shown: cli.OutputOptions) -> None:
    """List the evaluation protocols for --preset, or explain one: its metrics and their source.

    You can write your own protocol to a file and use it as --preset ours.toml.

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
            raise click.UsageError("--toml prints the file of one protocol of deciban: name it, without --json.")
        click.echo(text_of(name), nl=False)
        return
    known = list(presets().values()) if name is None else [preset(name)]
    if shown.as_json:
        cli.print_json({"presets": [_plain(one) for one in known]}, files={})
        return

    out = tables.console(shown.table_style)
    if name is None:
        _print_plans(known, out)
    else:
        _print_plan(known[0], out)


def _print_plans(plans: Sequence[Preset], out: Console) -> None:
    """Print a table of protocols."""
    rows = [
        (one.name, "; ".join(_points_in_words(one)), f"{one.title} ({one.status})", ", ".join(one.aliases))
        for one in plans
    ]
    caption = "two classes: p_target, c_miss, c_fa; multiclass: target priors of C_avg; verified: against the source"
    headings = ["preset", "operating points", "protocol", "also called"]
    out.print(tables.table(headings, rows, prose=(1, 2, 3), caption=caption))


def _print_plan(plan: Preset, out: Console) -> None:
    """Print the properties of a protocol."""
    tables.say(out, plan.title or plan.name, "bold underline")
    trials = "all pooled"
    if plan.equalize:
        trials = f"{plan.alike} have equal weight in each class (columns of the key)"
    elif plan.non_target_shares:
        trials = f"non-targets weighted by column {plan.share_column} of the key, in shares"
    elif plan.clusters or plan.worst_pairs:
        trials = f"each {'cluster' if plan.clusters else 'pair'} separately"
    is_tandem = "min_t_dcf" in plan.spoofing.get("countermeasure", ())
    with_asv = "min t-DCF (with --asv); without a verifier, " if is_tandem else ""
    rows: list[tuple[str, str]] = [
        ("name", ", ".join((plan.name, *plan.aliases))),
        ("source", plan.source),
        ("status", f"{plan.status}. {plan.checked}"),
        ("scores", f"{'two classes' if plan.kind == 'two-class' else 'multiclass'}; {plan.positive}"),
        *((("points", "; ".join(points)),) if (points := _points_in_words(plan, in_full=True)) else ()),
        ("primary metric", f"{with_asv}{plan.primary_in_words}"),
        *((("also shown", _beside(plan)),) if not plan.is_rate else ()),
        ("trials", trials),
        *((f"cluster {name}", ", ".join(classes)) for name, classes in plan.clusters.items()),
        *_of_spoofing(plan),
        *([("formats", ", ".join(plan.formats))] if plan.formats else []),
    ]
    out.print(tables.Table(("property", "value"), tuple(rows), prose=(1,), has_headings=False))
    tables.say_all(out, plan.remarks)


def _of_spoofing(plan: Preset) -> list[tuple[str, str]]:
    """Return the metrics of countermeasures and of single scores, in their order."""
    from deciban.evaluation.spoofing import SPOOFING_METRICS

    titles = {"countermeasure": "countermeasures", "tandem": "with --asv", "single_score": "single scores"}
    labels = {key: [SPOOFING_METRICS[name].label for name in plan.spoofing.get(key, ())] for key in titles}
    return [(titles[key], ", ".join(several)) for key, several in labels.items() if several]


def _beside(plan: Preset) -> str:
    """Return the content of the last column in the table of primary metrics."""
    return f"the {'actual cost' if plan.is_minimum else 'minimum'}{' at the same points' if plan.points else ''}"


def _points_in_words(one: Preset, *, in_full: bool = False) -> list[str]:
    """Return the operating points of a protocol, in the form of the table or, if `in_full`, with names."""
    if one.kind == "two-class":
        from deciban.evaluation.preset_table import PRIMARY

        rates = [f"{PRIMARY['fnmr_at_fmr']} at FMR {100 * rate:g} %" for rate in one.false_match_rates]
        return [str(x) if in_full else f"{x.p_target:g}:{x.c_miss:g}:{x.c_fa:g}" for x in one.points] + rates
    out_of_set = [] if one.p_out_of_set is None else [f"last class out of set, with prior {one.p_out_of_set:g}"]
    return [str(x) if in_full else f"{x.p_target:g}" for x in one.points] + out_of_set


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
