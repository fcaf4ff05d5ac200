"""Files without an evaluation: ``convert``, ``validate``, ``formats``, ``inspect``, ``decide`` and summaries."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban import tables
from deciban.cli.shared.options import (
    Asked,
    SectionedCommand,
    Shown,
    joining_options,
    options,
    print_json,
    require_own_stream,
    tell,
)
from deciban.cli.shared.parsing import PARSERS, files
from deciban.cli.shared.progress import working
from deciban.messages import lines, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from deciban.io.formats import BaseFormat
    from deciban.workflows.deciding import DecidedFiles
    from deciban.workflows.inspection import Inspection


@click.command("convert", cls=SectionedCommand)
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="OUT", shell_complete=files)
@options("convert", "reading", "probabilities", "detection", "llrs", "memory", "quiet", "json")
def convert_command(source: str, target: str, *, quiet: bool, as_json: bool, **given: Any) -> None:
    """Convert IN, in any format that is known, to OUT. Every bit that OUT has room for is kept.

    \b
    deciban convert scores.txt scores.h5
    deciban convert scores.h5 scores.txt.gz --to kaldi
    deciban convert trials.tsv trials.txt --what index --columns enroll=modelid,test=segmentid
    """
    from deciban._files import display_name
    from deciban.io.convert import convert

    require_own_stream(target, as_json=as_json)
    with working(f"converting {display_name(source)}"):
        messages = convert(source, target, **given)
    tell(messages, quiet=quiet)
    if as_json:
        print_json({}, files={"input": [source], "key": [given["key"]], "output": [target]}, messages=messages)


_ANY_UNIT = ("log10", "negate")
"""Options on the unit and sign of scores, which change nothing in a validation."""


@click.command("validate", cls=SectionedCommand)
@click.argument("submission", metavar="SUBMISSION", shell_complete=files)
@options("validate", "reading", "memory", "quiet", "json")
@click.pass_context
def validate_command(
    ctx: click.Context, /, submission: str, *, trials: str, quiet: bool, as_json: bool, **given: Any
) -> None:
    """See whether SUBMISSION scores the trials of LIST: each once, no others, in the same order, all of them numbers.

    Exits with 2 and the first offending lines if it does not.

    \b
    deciban validate submission.tsv --trials trials.tsv
    """
    from deciban._files import display_name
    from deciban.io.validation import validate

    with working(f"validating {display_name(submission)}"):
        found = validate(submission, trials, **{name: value for name, value in given.items() if name not in _ANY_UNIT})
    tell(found.messages, quiet=quiet)
    if as_json:
        result = {"valid": found.is_valid, "faults": found.faults}
        print_json(result, files={"submission": [submission], "trials": [trials]}, messages=found.messages)
        ctx.exit(0 if found.is_valid else 2)
    for fault in found.faults:
        click.echo(lines(str(fault)))
    if not quiet:
        click.echo("valid" if found.is_valid else "not valid")
    ctx.exit(0 if found.is_valid else 2)


@click.command("formats", cls=SectionedCommand)
@options("tables", "json")
def formats_command(*, shown: Shown) -> None:
    """List the file formats that are known: what each holds, and what is read and written."""
    from deciban.io.formats import formats

    known = formats().items()
    if shown.as_json:
        found = [
            {"name": name, "reads": one.reads, "writes": one.writes, "holds": one.summary, "verified": one.verified}
            for name, one in known
        ]
        print_json({"formats": found}, files={})
        return

    rows = [
        (name, " ".join(one.reads), " ".join(one.writes) or "-", one.summary.replace("`", "") + _doubt(one))
        for name, one in known
    ]
    tables.console(shown.table_style).print(tables.table(["format", "reads", "writes", "holds"], rows, prose=(1, 2, 3)))


def _doubt(known: BaseFormat) -> str:
    return "" if known.verified else " (from memory, not verified)"


@click.command("inspect", cls=SectionedCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=files)
@options("reading", "tables", "json")
def inspect_command(files: tuple[str, ...], *, shown: Shown, **reading: Any) -> None:
    """Say what score files and keys hold, how they are read, and what in them looks wrong."""
    from deciban.io.source import require_one_stream
    from deciban.workflows.inspection import inspect_file

    require_one_stream(files)
    if shown.as_json:
        found = [inspect_file(path, **reading).to_dict() for path in files]
        print_json({"inspections": found}, files={"input": files})
        return

    out = tables.console(shown.table_style)
    for path in files:
        _print_inspection(inspect_file(path, **reading), out)


def _print_inspection(found: Inspection, out: Console) -> None:
    """Print what a file holds, and what in it looks wrong."""
    tables.say(out, found.name, "bold underline")
    properties = tuple((one_line(what), one_line(value)) for what, value in found.properties)
    out.print(tables.Table(("property", "value"), properties, prose=(1,), has_headings=False))
    tables.say_all(out, found.remarks, "yellow")


_ELSEWHERE = ("--same --tar tar", "--different --non non", "--dcf", "--preset", "--level", "--dask")
"""Trials in two files, what is asked of figures, and where work is spread: other commands have that."""


@click.command("summarize", cls=SectionedCommand)
@click.argument("shards", nargs=-1, required=True, metavar="SHARD...", shell_complete=files)
@options("summarize")
@joining_options(figures="", more=("units", "scale"), without=_ELSEWHERE)
@options("json")
def summarize_command(
    shards: tuple[str, ...], *, key: str | None, asked: Asked, quiet: bool, output: Path, as_json: bool, **given: Any
) -> None:
    """Write the trials of shards of a data set to a file: equal ones once, with their number, and without names.

    Files of all shards are merged (deciban merge) or evaluated together (deciban eval), with the figures of the trials
    themselves. Each job reads its own shard, and nothing else; what one job is given may be several shards.

    \b
    deciban summarize part-0.parquet -o part-0.summary
    deciban merge part-*.summary -o all.summary
    deciban eval all.summary
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.summaries import summarize_files

    refuse_overwriting([output], [*shards, *filter(None, (key,))])
    with working() as say:
        messages = summarize_files(list(shards), output, key, progress=say, **given, options=asked.options)
    tell(messages, quiet=quiet)
    if as_json:
        _print_json(output, messages, scores=shards, key=[key])


@click.command("merge", cls=SectionedCommand)
@click.argument("summaries", nargs=-1, required=True, metavar="SUMMARY...", shell_complete=files)
@options("merge", "quiet", "json")
def merge_command(summaries: tuple[str, ...], *, quiet: bool, output: Path, as_json: bool) -> None:
    """Merge summaries of different shards into one file, in any order and grouping to the same bytes.

    \b
    deciban merge part-*.summary -o all.summary
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.summaries import merge_summaries

    refuse_overwriting([output], summaries)
    with working("merging"):
        messages = merge_summaries(list(summaries), output)
    tell(messages, quiet=quiet)
    if as_json:
        _print_json(output, messages, summary=summaries)


def _print_json(output: Path, messages: Iterable[object], **read: Iterable[Any]) -> None:
    """Print what was read and written."""
    from deciban.io.summary_files import read_head

    kind = "classes" if read_head(output).classes else "two-class"
    print_json({"kind": kind}, files={**read, "output": [output]}, messages=messages)


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
            print_json(_decisions_for_json(table, application, lines, None), files={"costs": [costs]}, messages=())
        else:
            tables.say_all(tables.console(), lines)
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
        print_json(_decisions_for_json(table, application, lines, found), files=named, messages=found.messages)
    elif not quiet:
        tables.say_all(tables.console(stderr=output == "-"), [*lines, *found.lines])


def _prior(text: str | None) -> Any:
    """One number is the prior of a target, and anything else that of classes."""
    if text is None:
        return None
    with suppress(ValueError):
        return float(text)
    return PARSERS["prior"](text)


def _decisions_for_json(table: Any, application: Any, lines: list[str], found: DecidedFiles | None) -> dict[str, Any]:
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
