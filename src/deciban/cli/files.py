"""The commands ``demo``, ``normalize``, ``export``, ``decide``, and those of the groups Files and Large data."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban import decisions, models, tables
from deciban.cli import options as cli
from deciban.cli.parsing import PARSERS, files
from deciban.cli.running import working
from deciban.errors import display_name, lines, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from deciban.io.decision_files import CostTable
    from deciban.types import Raw
    from deciban.workflows.deciding import DecidedFiles
    from deciban.workflows.inspection import Inspection


@click.command("convert", cls=cli.SectionedCommand)
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="OUT", shell_complete=files)
@cli.options("convert", "key-columns", "reading", "probabilities", "detection", "llrs", "memory", "quiet", "json")
def convert_command(source: str, target: str, *, quiet: bool, as_json: bool, **arguments: Raw) -> None:
    """Convert IN, in any known format, to OUT. Keeps everything that the format of OUT can contain.

    \b
    deciban convert scores.txt scores.h5
    deciban convert scores.h5 scores.txt.gz --to kaldi
    deciban convert trials.tsv trials.txt --what index --columns enroll=modelid,test=segmentid
    """
    from deciban.io.writing import convert

    cli.require_own_stream(target, as_json=as_json)
    with working(f"converting {display_name(source)}"):
        messages = convert(source, target, **arguments)
    cli.print_messages(messages, quiet=quiet)
    if as_json:
        cli.print_json({}, files={"input": [source], "key": [arguments["key"]], "output": [target]}, messages=messages)


@click.command("normalize", cls=cli.SectionedCommand)
@click.argument("scores", metavar="SCORES", shell_complete=files)
@cli.options("normalize", "quiet", "json")
def normalize_command(scores: str, *, output: str, quiet: bool, as_json: bool, **arguments: Raw) -> None:
    """Normalize scores by cohorts: z-norm, t-norm or s-norm, adaptive with --top.

    A cohort file contains scores of the enrolled models, or of the test segments, against the segments of a cohort.
    z-norm uses --enroll-cohort, t-norm uses --test-cohort, s-norm uses both. Normalized scores are not log-likelihood
    ratios: calibrate them.

    \b
    deciban normalize sysA.txt --enroll-cohort models.txt --test-cohort segments.txt --top 300 -o normalized.txt
    """
    from deciban.workflows import normalize_files

    cli.require_own_stream(output, as_json=as_json)
    with working("normalizing scores"):
        messages = normalize_files(scores, output, **arguments)
    cli.print_messages(messages, quiet=quiet)
    if as_json:
        cohorts = [arguments["enroll_cohort"], arguments["test_cohort"]]
        read = {"scores": [scores], "cohort": cohorts, "output": [output]}
        cli.print_json({"kind": "two-class"}, files=read, messages=messages)


_ANY_UNIT = ("log10", "negate")
"""Options for the unit and sign of scores, which do not affect a validation."""


@click.command("validate", cls=cli.SectionedCommand)
@click.argument("submission", metavar="SUBMISSION", shell_complete=files)
@cli.options("validate", "reading", "memory", "quiet", "json")
@click.pass_context
def validate_command(
    ctx: click.Context, /, submission: str, *, trials: str, quiet: bool, as_json: bool, **arguments: Raw
) -> None:
    """Check that SUBMISSION scores exactly the trials of LIST, each once, in the same order, with finite numbers.

    Otherwise prints the first wrong lines and exits with 2.

    \b
    deciban validate submission.tsv --trials trials.tsv
    """
    from deciban.io.validation import validate

    with working(f"validating {display_name(submission)}"):
        reading = {name: value for name, value in arguments.items() if name not in _ANY_UNIT}
        report = validate(submission, trials, **reading)
    cli.print_messages(report.messages, quiet=quiet)
    if as_json:
        result = {"valid": report.is_valid, "faults": report.faults}
        cli.print_json(result, files={"submission": [submission], "trials": [trials]}, messages=report.messages)
        ctx.exit(0 if report.is_valid else 2)
    for fault in report.faults:
        click.echo(lines(str(fault)))
    if not quiet:
        click.echo("valid" if report.is_valid else "not valid")
    ctx.exit(0 if report.is_valid else 2)


@click.command("formats", cls=cli.SectionedCommand)
@cli.options("tables", "json")
def formats_command(*, shown: cli.OutputOptions) -> None:
    """List the known file formats: their contents, and the parts that deciban reads and writes."""
    from deciban.io.formats import formats

    known = formats().items()
    if shown.as_json:
        items = [
            {"name": name, "reads": one.reads, "writes": one.writes, "holds": one.summary, "verified": one.verified}
            for name, one in known
        ]
        cli.print_json({"formats": items}, files={})
        return

    rows = []
    for name, one in known:
        doubt = "" if one.verified else " (from memory, not verified)"
        rows.append((name, " ".join(one.reads), " ".join(one.writes) or "-", one.summary.replace("`", "") + doubt))
    tables.console(shown.table_style).print(tables.table(["format", "reads", "writes", "holds"], rows, prose=(1, 2, 3)))


@click.command("inspect", cls=cli.SectionedCommand)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=files)
@cli.options("reading", "tables", "json")
def inspect_command(files: tuple[str, ...], *, shown: cli.OutputOptions, **reading: Raw) -> None:
    """Show what score files and keys contain, how deciban reads them, and what looks wrong."""
    from deciban.io.source import require_one_stream
    from deciban.workflows import inspect_file

    require_one_stream(files)
    if shown.as_json:
        items = [inspect_file(path, **reading).to_dict() for path in files]
        cli.print_json({"inspections": items}, files={"input": files})
        return

    out = tables.console(shown.table_style)
    for path in files:
        _print_inspection(inspect_file(path, **reading), out)


def _print_inspection(inspection: Inspection, out: Console) -> None:
    """Print the properties of a file, and remarks on what looks wrong."""
    tables.say(out, inspection.name, "bold underline")
    properties = tuple((one_line(what), one_line(value)) for what, value in inspection.properties)
    out.print(tables.Table(("property", "value"), properties, prose=(1,), has_headings=False))
    tables.say_all(out, inspection.remarks, "yellow")


_ELSEWHERE = ("--same --tar tar", "--different --non non", "--dcf", "--preset", "--level", "--dask")
"""Options that other commands have: trials in two files, metrics, and distributed work."""


@click.command("summarize", cls=cli.SectionedCommand)
@click.argument("shards", nargs=-1, required=True, metavar="SHARD...", shell_complete=files)
@cli.options("summarize")
@cli.joining_options(metrics="", more=("units", "scale"), without=_ELSEWHERE)
@cli.options("json")
def summarize_command(
    shards: tuple[str, ...],
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    quiet: bool,
    output: Path,
    as_json: bool,
    **arguments: Raw,
) -> None:
    """Count the scores of a partition of a data set and write a small summary file, without names.

    Each job summarizes one or several partitions. Merge the summaries (deciban merge) or evaluate them together
    (deciban eval): the metrics are exactly those of the trials.

    \b
    deciban summarize part-0.parquet -o part-0.summary
    deciban merge part-*.summary -o all.summary
    deciban eval all.summary
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows import summarize_files

    refuse_overwriting([output], [*shards, *filter(None, (key,))])
    with working() as say:
        messages = summarize_files(list(shards), output, key, progress=say, **arguments, options=joining.options)
    cli.print_messages(messages, quiet=quiet)
    if as_json:
        _print_json(output, messages, scores=shards, key=[key])


@click.command("merge", cls=cli.SectionedCommand)
@click.argument("summaries", nargs=-1, required=True, metavar="SUMMARY...", shell_complete=files)
@cli.options("merge", "quiet", "json")
def merge_command(summaries: tuple[str, ...], *, quiet: bool, output: Path, as_json: bool) -> None:
    """Merge summaries of different partitions into one file. The result does not depend on their order.

    \b
    deciban merge part-*.summary -o all.summary
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows import merge_summaries

    refuse_overwriting([output], summaries)
    with working("merging"):
        messages = merge_summaries(list(summaries), output)
    cli.print_messages(messages, quiet=quiet)
    if as_json:
        _print_json(output, messages, summary=summaries)


def _print_json(output: Path, messages: Iterable[object], **read: Iterable[Any]) -> None:
    """Print the files that were read and written as JSON."""
    from deciban.io.summary_files import read_head

    kind = "classes" if read_head(output).classes else "two-class"
    cli.print_json({"kind": kind}, files={**read, "output": [output]}, messages=messages)


@click.command("decide", cls=cli.SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@cli.options("decide", "key-columns", "kind-of-scores", "classes", "reading", "probabilities", "memory", "json")
def decide_command(
    scores: tuple[str, ...],
    *,
    costs: str | None,
    prior: str | None,
    explain: bool,
    output: str | None,
    quiet: bool,
    as_json: bool,
    **arguments: Raw,
) -> None:
    """Choose the action with the lowest expected cost for every trial: accept, reject, ask a human, ...

    The file of --costs contains, for example,

    \b
    actions = ["accept", "reject", "ask"]
    classes = ["target", "nontarget"]
    costs = [[0, 10], [1, 0], [0.3, 0.3]]

    with a row for each action and a column for each class: here, accepting a non-target costs 10. OUT has a row
    for each trial, in the order of SCORES: action, posterior, expected cost, and margin to the second best action.
    If trials have names, these come first, with the columns that are neither scores nor labels. Scores are
    log-likelihood ratios, or other scores that --model converts to them.

    \b
    deciban decide --costs costs.toml --prior 0.01 --explain
    deciban decide llr.txt --costs costs.toml --prior 0.01 -o decisions.csv
    deciban decide eval.txt --model model.json --costs costs.toml --prior 0.01 --key eval.key -o decisions.csv
    """
    from deciban.io.decision_files import EXAMPLE, read_costs
    from deciban.workflows import decide_files
    from deciban.workflows.reading.quality import quality_paths

    if costs is None:
        raise click.UsageError(
            f"name a file of costs (--costs costs.toml), for example, for decisions between two actions:\n\n{EXAMPLE}"
        )
    if not scores and not explain:
        raise click.UsageError("name SCORES to decide, or use --explain to explain the costs.")
    if scores and output is None:
        raise click.UsageError(
            "Missing option '-o' / '--output': decisions are written to a file (- is standard output)."
        )
    cli.require_own_stream(output or "", as_json=as_json)
    table, chosen = read_costs(costs), _prior(prior)
    application = table.application(chosen)
    lines = decisions.explained(application, table.actions, table.classes) if explain else []
    if not scores:
        if as_json:
            cli.print_json(_decisions_for_json(table, application, lines, None), files={"costs": [costs]}, messages=())
        else:
            tables.say_all(tables.console(), lines)
        return
    with working() as say:
        result = decide_files(list(scores), output, costs=costs, prior=chosen, progress=say, **arguments)
    cli.print_messages(result.messages, quiet=quiet)
    if as_json:
        named = {
            "scores": scores,
            "costs": [costs],
            "model": [arguments["model"]],
            "quality": quality_paths(arguments["quality"]),
            "key": [arguments["key"]],
            "output": [output],
        }
        cli.print_json(_decisions_for_json(table, application, lines, result), files=named, messages=result.messages)
    elif not quiet:
        tables.say_all(tables.console(stderr=output == "-"), [*lines, *result.lines])


def _prior(text: str | None) -> Raw:
    """Return a number as the prior of a target, and other text as a prior of classes."""
    if text is None:
        return None
    with suppress(ValueError):
        return float(text)
    return PARSERS["prior"](text)


def _decisions_for_json(
    table: CostTable, application: decisions.Application, lines: list[str], result: DecidedFiles | None
) -> dict[str, Any]:
    tally = None if result is None else result.tally
    by_key = None if result is None or result.keyed is None else result.keyed
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
        "by_key": None if by_key is None else by_key.to_dict(),
    }


@click.command("export", cls=cli.SectionedCommand)
@click.argument("model", metavar="MODEL", shell_complete=files)
@cli.options("export", "json")
def export_command(model: str, *, target: str, output: str, as_json: bool) -> None:
    """Write a trained model for use outside of deciban.

    python: a module with one function of about ten lines, which needs only the standard library. json-table: a table of
    steps, each with its numbers. onnx: a model for ONNX runtimes, in double precision (needs the package onnx).

    \b
    deciban export model.json --to python -o calibrate.py
    deciban export fusion.json --to onnx -o fusion.onnx
    """
    from deciban.io.source import require_one_stream
    from deciban.io.writing import refuse_overwriting, target_name, write_plainly

    cli.require_own_stream(output, as_json=as_json)
    require_one_stream([model])
    refuse_overwriting([output], [model])
    result = models.exported(models.load_model(model))
    text = result.to_python if target == "python" else result.to_json
    content = result.to_onnx() if target == "onnx" else text().encode()
    write_plainly(output, content)
    if as_json:
        about = {"to": target, "model": {"kind": result.kind}, "inputs": list(result.inputs)}
        files = {"model": [model], "output": [output]}
        cli.print_json({**about, "classes": list(result.classes)}, files=files)
    else:
        click.echo(f"wrote {target_name(output)}", err=output == "-")


@click.command("demo", cls=cli.SectionedCommand)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@cli.options("demo", "quiet", "tables", "json")
def demo_command(folder: Path, *, field: str | None, force: bool, quiet: bool, shown: cli.OutputOptions) -> None:
    """Write synthetic scores of two systems and a key into DIR, and evaluate them in DIR/report.html.

    scores.csv is a table of labels and scores, of the second system.

    --field writes scores in the format of a field instead: ASVspoof files of a countermeasure and a verifier; pairs of
    recordings with criteria of a forensic validation; or comparisons of faces.
    """
    if field is not None:
        _show_field(folder, field, shown, force=force, quiet=quiet)
        return
    from deciban.io import write_demo
    from deciban.io.demos import DEMO_FILES
    from deciban.report import report_files

    page = folder / "report.html"
    _refuse_replacing(folder, (*DEMO_FILES, page.name), force=force)
    systems, key = write_demo(folder)
    results = report_files(list(systems), key, page, kind="two-class", title="deciban demo: two synthetic systems")
    cli.print_messages(results.messages, quiet=quiet)
    if shown.as_json:
        cli.print_json(results.to_dict(), files={"scores": systems, "key": [key], "output": [page]})
        return
    tables.print_results(results, tables.console(shown.table_style))
    files = " ".join(map(display_name, systems))
    click.echo(f"\nwrote {display_name(page)}: open it in a browser. Name your own files in this command:")
    click.echo(f"  deciban report {files} --key {display_name(key)} -o {display_name(page)}")


def _refuse_replacing(folder: Path, names: Sequence[str], *, force: bool) -> None:
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise click.UsageError(
            f"{folder}: contains {', '.join(there)}, which would be replaced. Name another folder, or use --force."
        )


_COMMANDS = {
    "spoofing": ("cm.txt --asv asv.txt --preset asvspoof2019 --by attack", "docs/tutorials/asvspoof-files.md"),
    "forensic": ("pairs.csv", "docs/tutorials/method-validation.md"),
    "biometrics": ("faces.csv --preset iso19795", "docs/tutorials/biometric-test.md"),
}
"""Arguments of ``deciban eval`` for the files of each field, and its tutorial."""


def _show_field(folder: Path, field: str, shown: cli.OutputOptions, *, force: bool, quiet: bool) -> None:
    """Write the files of a field, and evaluate them."""
    from deciban.io.demos import FIELD_FILES, write_field_demo
    from deciban.workflows import evaluate_files, evaluate_spoofing_files

    _refuse_replacing(folder, FIELD_FILES[field], force=force)
    paths, out = write_field_demo(folder, field), tables.console(shown.table_style)
    results: Any
    if field == "spoofing":
        from deciban.tables.error_rates import print_spoofing

        results = evaluate_spoofing_files(paths[0], asv=paths[1], preset="asvspoof2019", by="attack")
    else:
        results = evaluate_files(paths[0], preset="iso19795" if field == "biometrics" else None)
    cli.print_messages(results.messages, quiet=quiet)
    if shown.as_json:
        cli.print_json(results.to_dict(), files={"output": paths})
        return
    if field == "spoofing":
        print_spoofing(results, out)
    else:
        tables.print_results(results, out, of_field=tables.field_tables(results))
        tables.print_conditions(results, out)
    words, page = _COMMANDS[field]
    named = " ".join(shlex.quote(str(folder / word)) if word in FIELD_FILES[field] else word for word in words.split())
    click.echo(f"\nwrote {', '.join(FIELD_FILES[field])}. For your own files, see {page}:")
    click.echo(f"  deciban eval {named}")
