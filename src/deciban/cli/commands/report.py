"""``deciban report``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import Shown, print_json, require_own_stream, typed, typed_for
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.parsing import require_writable
from deciban.cli.shared.progress import working

_OF_PAGES = ("--dcf", "--json", "--table", "--all-classes", "--worst", "--quiet")
"""Options that the command on a page does without: it names one operating point, and lists no trials."""


@click.command("report", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@joining_options(more=("units", "uncertainty", "conditions", "worst", "scale"))
@options("report", "reliability", "rule", "capacity", "axis", "all-classes", "tables", "json")
def report_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    train: tuple[str, ...],
    output: Path,
    cross_validate: dict[str, Any] | None,
    shown: Shown,
    **given: Any,
) -> None:
    """Evaluate score files into one HTML page with tables and plots, readable offline.

    With --train, training and test stand side by side; all files are read in the same way. With a calibration as
    --model, everything is shown before and after, with the record of training. With a fusion, its systems and the
    fusion are shown, its weights, and (with --train) what each system is worth to it.

    \b
    deciban report sysA.txt sysB.txt --key key.txt -o report.html
    deciban report eval.txt --key eval.key --train dev.txt --train-key dev.key --model model.json -o report.html
    """
    from deciban.cli.commands.evaluate import eval_command
    from deciban.io.writing import target_name
    from deciban.report.files import ReportRequest, write_report
    from deciban.tables.results import console
    from deciban.tables.text import print_results

    if (given["train_key"] or given["train_quality"] or given["select"]) and not train:
        raise click.UsageError(
            "--train-key, --train-quality and --select are about training scores: name them with --train."
        )
    if cross_validate is not None and not given["select"]:
        raise click.UsageError("--cross-validate says what --select holds out. Add --select, or leave it out.")
    quiet = given.pop("quiet")
    given |= cross_validate or {}
    figures = {name: given.pop(name) for name in ("posteriors_at", "axis", "rule", "capacity")}
    inputs = asked.inputs(scores, key)
    given |= {"train": list(train), "typed": typed(), "again": typed_for(eval_command, without=_OF_PAGES)}
    request = ReportRequest(scores=inputs, key=key, output=output, **given)
    require_writable(output)
    require_own_stream(output, as_json=shown.as_json)
    files = asked.opened(inputs, key)
    about = asked.options_for(files).with_figures(**figures)
    with working() as say:
        done = write_report(request, about, say, files=files)
    tell(done.results.messages, quiet=quiet)
    if done.train is not None:
        tell(("training", *done.train.messages), quiet=quiet)
    if shown.as_json:
        print_json(done.to_dict(), files={**request.roles, "units": about.how_sure.files, "output": [output]})
    elif not quiet:
        on = console(shown.table_style, stderr=str(output) == "-")
        print_results(done.results, on, all_classes=shown.all_classes)
        click.echo(f"wrote {target_name(output)}", err=str(output) == "-")
