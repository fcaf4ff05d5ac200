"""``deciban design``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import SectionedCommand, options
from deciban.cli.shared.picture import Picture

if TYPE_CHECKING:
    from deciban.calibration import Rule, RuleWeighting


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
