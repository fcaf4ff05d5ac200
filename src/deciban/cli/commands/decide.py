"""``deciban decide``."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import print_json, require_own_stream
from deciban.cli.shared.options import SectionedCommand, options, tell
from deciban.cli.shared.parsing import PARSERS
from deciban.cli.shared.progress import working

if TYPE_CHECKING:
    from deciban.workflows.deciding import DecidedFiles


@click.command("decide", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@options("decide", "kind-of-scores", "classes", "reading", "probabilities", "memory", "quiet", "json")
def decide_command(
    scores: tuple[str, ...],
    *,
    costs: str | None,
    prior: str | None,
    explain: bool,
    output: str | None,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Take the action of least expected cost in every trial: accept, reject, ask a human, whatever has a cost.

    COSTS is a file such as

    \b
    actions = ["accept", "reject", "ask"]
    classes = ["target", "nontarget"]
    costs = [[0, 10], [1, 0], [0.3, 0.3]]

    with a row for each action. OUT has, for every trial, the action, the posterior, the expected cost and the margin to
    the next best action. Scores are log-likelihood ratios, or a model makes some of them (--model).

    \b
    deciban decide --costs costs.toml --prior 0.01 --explain
    deciban decide llr.txt --costs costs.toml --prior 0.01 -o decisions.csv
    deciban decide eval.txt --model model.json --costs costs.toml --prior 0.01 --key eval.key -o decisions.csv
    """
    from deciban.decisions import explained
    from deciban.io.cost_files import EXAMPLE, read_costs
    from deciban.workflows.deciding import decide_files
    from deciban.workflows.quality import quality_paths

    if costs is None:
        raise click.UsageError(
            f"name a file of costs (--costs costs.toml). For decisions between two actions it reads:\n\n{EXAMPLE}"
        )
    if not scores and not explain:
        raise click.UsageError("name SCORES to decide, or --explain what the costs amount to.")
    if scores and output is None:
        raise click.UsageError(
            "Missing option '-o' / '--output': decisions are written to a file (- is standard output)."
        )
    require_own_stream(output or "", as_json=as_json)
    table, chosen = read_costs(costs), _prior(prior)
    application = table.application(chosen)
    lines = explained(application, table.actions, table.classes) if explain else []
    if not scores:
        if as_json:
            print_json(_plain(table, application, lines, None), files={"costs": [costs]}, messages=())
        else:
            _say(lines)
        return
    with working() as say:
        found = decide_files(list(scores), output, costs=costs, prior=chosen, progress=say, **given)
    tell(found.messages, quiet=quiet)
    if as_json:
        named = {
            "scores": scores,
            "costs": [costs],
            "model": [given["model"]],
            "quality": quality_paths(given["quality"]),
            "key": [given["key"]],
            "output": [output],
        }
        print_json(_plain(table, application, lines, found), files=named, messages=found.messages)
    elif not quiet:
        _say([*lines, *found.lines], stderr=output == "-")


def _say(lines: list[str], *, stderr: bool = False) -> None:
    from deciban.tables.results import console, say

    out = console(stderr=stderr)
    for line in lines:
        say(out, line)


def _prior(text: str | None) -> Any:
    """One number is the prior of a target, and anything else that of classes."""
    if text is None:
        return None
    with suppress(ValueError):
        return float(text)
    return PARSERS["prior"](text)


def _plain(table: Any, application: Any, lines: list[str], found: DecidedFiles | None) -> dict[str, Any]:
    tally = None if found is None else found.tally
    by_key = None if found is None or found.keyed is None else found.keyed
    return {
        "kind": "two-class" if len(table.classes) == 2 else "classes",
        "actions": list(table.actions),
        "classes": list(table.classes),
        "costs": application.costs.tolist(),
        "prior": application.prior.tolist(),
        "default_action": table.actions[application.default_action],
        "default_cost": application.default_risk,
        "explanation": lines,
        "counts": None if tally is None else tally.counts.tolist(),
        "expected_cost": None if tally is None else tally.expected_cost,
        "worth": None if tally is None else tally.worth.tolist(),
        "by_key": None if by_key is None else {"counts": by_key.counts.tolist(), "risk": by_key.risk},
    }
