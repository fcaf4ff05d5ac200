"""``deciban report`` and ``deciban demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.options import (
    Asked,
    SectionedCommand,
    Shown,
    joining_options,
    options,
    print_json,
    require_own_stream,
    tell,
    typed,
    typed_for,
)
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


@click.command("demo", cls=SectionedCommand)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@options("demo", "quiet", "tables", "json")
def demo_command(folder: Path, *, force: bool, quiet: bool, shown: Shown) -> None:
    """Write synthetic scores of two systems and a key into DIR, and evaluate them into DIR/report.html."""
    from deciban._files import display_name
    from deciban.io import write_demo
    from deciban.io.synthetic import DEMO_FILES
    from deciban.report import report_files
    from deciban.tables.results import console
    from deciban.tables.text import print_results

    page = folder / "report.html"
    there = [name for name in (*DEMO_FILES, page.name) if (folder / name).exists()]
    if there and not force:
        raise click.UsageError(
            f"{folder}: holds {', '.join(there)}, which would be replaced. Name another folder, or say --force."
        )
    systems, key = write_demo(folder)
    results = report_files(list(systems), key, page, kind="two-class", title="deciban demo: two synthetic systems")
    tell(results.messages, quiet=quiet)
    if shown.as_json:
        print_json(results.to_dict(), files={"scores": systems, "key": [key], "output": [page]})
        return
    print_results(results, console(shown.table_style))
    files = " ".join(map(display_name, systems))
    click.echo(f"\nwrote {display_name(page)}: open it in a browser. The same with your own files:")
    click.echo(f"  deciban report {files} --key {display_name(key)} -o {display_name(page)}")
