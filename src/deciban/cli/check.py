"""The commands ``check``, ``identify``, ``leaderboard`` and ``statement``."""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban import tables
from deciban.cli import options as cli
from deciban.cli.parsing import files
from deciban.cli.running import working
from deciban.errors import WARNING, Message, one_line

if TYPE_CHECKING:
    from deciban.evaluation.saved import Check
    from deciban.types import Raw, ScoreUnit


@click.command("check", cls=cli.SectionedCommand)
@click.argument("results", metavar="RESULT.json", shell_complete=files)
@cli.options("check", "json")
def check_command(
    results: str,
    *,
    require: tuple[str, ...],
    criteria: str | None,
    baseline: str | None,
    junit: Path | None,
    as_json: bool,
) -> None:
    """Check requirements on saved results. The exit code is 1 if a requirement is not met.

    RESULT.json is the output of deciban eval --json or deciban report --json. On GitHub, requirements that are not met
    become annotations. --criteria validates a method by the six characteristics of forensic guidelines.

    \b
    deciban eval scores.csv --json > result.json
    deciban check result.json --require 'eer<=5%' --require 'cllr.high<0.2'
    deciban check result.json --baseline old.json --require 'min_dcf<=baseline+0.01' --junit report.xml
    deciban check result.json --criteria method.toml
    """
    from deciban.evaluation.saved import MethodCriterion, Requirement, read_criteria, read_saved
    from deciban.io.source import require_one_stream
    from deciban.io.writing import refuse_overwriting, write_plainly

    if str(junit) == "-":
        raise click.UsageError("--junit: name a file; standard output has the checks.")
    if not require and criteria is None:
        raise click.UsageError("nothing to check: name --require or --criteria.")
    require_one_stream([results, baseline])
    refuse_overwriting([] if junit is None else [junit], [results, *filter(None, [baseline, criteria])])
    requirements = [MethodCriterion("", Requirement.of(text)) for text in require]
    requirements += [] if criteria is None else read_criteria(criteria)
    systems = read_saved(results)
    earlier = None if baseline is None else read_saved(baseline)
    items = [(one.characteristic, check) for one in requirements for check in one.checks(systems, earlier)]
    checks = [check for _, check in items]
    if junit is not None:
        write_plainly(junit, _as_junit(checks, results))
    are_met = all(one.is_met for one in checks)
    if as_json:
        others = [one.results for one in requirements if one.results is not None]
        read: dict[str, list[Any]] = {"results": [results, *others], "baseline": [baseline], "output": [junit]}
        read["criteria"] = [criteria]
        cli.print_json({"checks": [_as_object(*pair) for pair in items], "met": are_met}, files=read)
    else:
        _print(items, criteria is not None)
    if not are_met:
        click.get_current_context().exit(1)


def _as_object(characteristic: str, one: Check) -> dict[str, Any]:
    """Return a check as in JSON."""
    about = {"characteristic": characteristic} if characteristic else {}
    values = {"system": one.system, "value": one.value, "limit": one.limit, "met": one.is_met}
    return {**about, "require": one.requirement.text, **values}


def _print(checks: Sequence[tuple[str, Check]], is_validation: bool) -> None:  # noqa: FBT001  # one answer
    """Print a line for each check; for a validation, a table by characteristic."""
    for characteristic, one in checks:
        if not characteristic:
            click.echo(one_line(str(one)))
        if not one.is_met and os.environ.get("GITHUB_ACTIONS") == "true":
            click.echo(f"::error title=deciban check::{one_line(str(one)).replace('%', '%25')}")
    if not is_validation:
        return
    from deciban.evaluation.saved import CHARACTERISTICS

    rows = [
        (name, one.requirement.name, one.requirement.text, one.system, one.written, "pass" if one.is_met else "fail")
        for name, one in checks
        if name
    ]
    lacking = [name for name in CHARACTERISTICS if name not in {row[0] for row in rows}]
    rows += [(name, "-", "none stated", "-", "-", "-") for name in lacking]
    headings = ["characteristic", "metric", "criterion", "system", "result", "decision"]
    n_met = sum(row[-1] == "pass" for row in rows)
    out = tables.console()
    out.print(tables.table(headings, rows, n_left=4))
    tables.say(out, f"{n_met} of {len(rows) - len(lacking)} criteria met")


def _as_junit(checks: Sequence[Check], name: str) -> bytes:
    """Return the checks as a JUnit test suite."""
    suite = ET.Element("testsuite", name=f"deciban check {name}", tests=str(len(checks)))
    suite.set("failures", str(sum(not one.is_met for one in checks)))
    for one in checks:
        case = ET.SubElement(suite, "testcase", classname=one_line(one.system), name=one.requirement.text)
        if not one.is_met:
            ET.SubElement(case, "failure", message=one_line(str(one)))
    written: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written


@click.command("leaderboard", cls=cli.SectionedCommand)
@click.argument("results", metavar="FOLDER...", nargs=-1, required=True, shell_complete=files)
@cli.options("leaderboard", "tables", "quiet", "json")
def leaderboard_command(
    results: tuple[str, ...], *, metric: tuple[str, ...], output: str | None, quiet: bool, shown: cli.OutputOptions
) -> None:
    """Rank the saved results of many runs, with intervals and groups of runs that do not differ significantly.

    FOLDER contains outputs of deciban eval --json; you can also name single files. You cannot compare runs that differ
    in trials, priors, costs or preset: each set of comparable runs has its own table. -o writes a page with tables that
    readers can sort.

    \b
    deciban eval sysA.txt --key key.txt --json > runs/sysA.json
    deciban leaderboard runs
    deciban leaderboard runs --metric min_dcf --metric cllr -o leaderboard.html
    """
    from deciban.analysis.leaderboard import leaderboards, remarks, runs_of
    from deciban.evaluation.one_system import plain
    from deciban.io.writing import refuse_overwriting, target_name, write_plainly

    cli.require_own_stream(output, as_json=shown.as_json)
    if output is not None and Path(output).suffix.lower() not in ("", ".html", ".htm"):
        raise click.UsageError(f"--output: {output}: the page is HTML. Name a file that ends in .html.")
    runs, left_out = runs_of(results)
    refuse_overwriting([] if output is None else [output], [one.origin for _, one in runs])
    boards, lacking = leaderboards(runs, metric)
    left_out += lacking
    items = [*(Message(WARNING, "", one) for one in remarks(boards)), *(Message("note", "", one) for one in left_out)]
    cli.print_messages(items, quiet=quiet)
    if output is not None:
        from deciban.report.page import leaderboard_page

        write_plainly(output, leaderboard_page(boards, [one.text for one in items]))
    if shown.as_json:
        read: dict[str, list[Any]] = {"results": list(dict.fromkeys(one.origin for _, one in runs)), "output": [output]}
        cli.print_json({"leaderboards": [plain(one.to_dict()) for one in boards]}, files=read, messages=items)
        return
    out = tables.console(shown.table_style, stderr=output == "-")
    for one in boards:
        out.print(tables.leaderboard_table(one))
    if output is not None and not quiet:
        click.echo(f"wrote {target_name(output)}", err=output == "-")


@click.command("identify", cls=cli.SectionedCommand)
@click.argument("scores", metavar="SCORES...", nargs=-1, required=True, shell_complete=files)
@cli.options("identify", "key-columns", "reading", "tables", "quiet", "json")
def identify_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    rank: tuple[int, ...] | None,
    fpir: tuple[float, ...] | None,
    quiet: bool,
    shown: cli.OutputOptions,
    **arguments: object,
) -> None:
    """Evaluate biometric identification (1:N): rank-k identification rates, and DIR at limits of the FPIR.

    SCORES contain the scores of all probes (test) against all gallery entries (enroll). Target trials are the mates.
    Probes without a mate are the open set. Intervals are by subject.

    \b
    deciban identify scores.csv
    deciban identify sysA.h5 sysB.h5 --key mates.txt --rank 1,20 --fpir 0.003
    """
    from deciban.workflows import Options
    from deciban.workflows.identifying import identifications_of
    from deciban.workflows.reading.inputs import ScoreFiles

    chosen = {name: value for name, value in arguments.items() if value not in (None, ())}
    about = Options.of("deciban", {**chosen, "kind": "two-class", "from_classes": False})
    opened = ScoreFiles.of(list(scores), key, about.reading)
    with working() as say:
        result, messages = identifications_of(opened, about, ranks=rank or (), fpirs=fpir or (), progress=say)
    cli.print_messages(messages, quiet=quiet)
    if shown.as_json:
        cli.print_json({"systems": result}, files={"scores": scores, "key": [key]}, messages=messages)
        return
    out = tables.console(shown.table_style)
    for one in tables.identification_tables(result):
        out.print(one)


_DOUBTFUL = 10.0 * math.log(10.0)
"""Size of llrs that are more often an LR than its logarithm."""


@click.command("statement", cls=cli.SectionedCommand)
@cli.options("statement", "tables", "json")
def statement_command(
    *, llr: float | None, lr: float | None, log10: bool, output: Path | None, shown: cli.OutputOptions, **arguments: Raw
) -> None:
    """State a likelihood ratio in numbers and in words.

    The sentence names both propositions of the case. There is no default verbal scale: enfsi2015, afsp2009, or your own
    file. With --model, the statement contains the bounds of the llr and the training data of the calibration.

    \b
    deciban statement --llr 5.8 --propositions 'same speaker' 'different speakers' --scale enfsi2015
    deciban statement --llr 6 --model model.json --propositions 'same speaker' 'different speakers'
    deciban statement --llr 6 --propositions 'same source' 'different sources' --case case.toml -o case.html
    """
    from deciban.workflows import statement

    cli.require_own_stream(output, as_json=shown.as_json)
    value, scale = llr if lr is None else lr, arguments["scale"]
    if value is None or None not in (llr, lr) or (lr is not None and log10):
        raise click.UsageError("name the likelihood ratio (--lr), or its logarithm (--llr, or --llr with --log10).")
    unit: ScoreUnit = "log10" if log10 else "nats" if lr is None else "lr"
    result = statement(value, unit=unit, **arguments)
    if unit == "nats" and abs(value) > _DOUBTFUL:
        cli.print_messages([f"--llr {value:g} was read as a natural logarithm: is it an LR (--lr) or log10 (--log10)?"])
    files = {"model": [arguments["model"]], "scale": [scale if scale is not None and scale.endswith(".toml") else None]}
    files["case"] = [arguments["case"]]
    if output is not None:
        from deciban.io.source import described
        from deciban.io.writing import refuse_overwriting, target_name, write_plainly
        from deciban.report.page import statement_page

        refuse_overwriting([output], [one for several in files.values() for one in several])
        write_plainly(output, statement_page(result.rows, described(files)))
        click.echo(f"wrote {target_name(output)}", err=True)
    if shown.as_json:
        cli.print_json(result.to_dict(), files=files)
        return
    if str(output) == "-":  # the page is the output
        return
    out = tables.console(shown.table_style)
    out.print(tables.Table(("property", "value"), tuple(result.rows), prose=(1,), has_headings=False))
