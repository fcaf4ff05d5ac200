"""``deciban report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.options import joining_options
from deciban.cli.shared.outputs import require_writable
from deciban.cli.shared.parsing import parse_cross_validation, parse_quality
from deciban.cli.shared.speech import SectionedCommand, tell, working

if TYPE_CHECKING:
    from deciban.cli.shared.parsing import Asked


@click.command("report", cls=SectionedCommand)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...")
@joining_options
@click.option(
    "--train", multiple=True, metavar="FILE", help="Scores of the same system on training trials. Repeatable."
)
@click.option(
    "--train-key",
    metavar="FILE",
    help="Key of the training trials. It needs the column of --weights, --key may lack it.",
)
@click.option("--model", "model_path", metavar="FILE", help="Calibrate or fuse the scores with this model.")
@click.option(
    "--quality",
    multiple=True,
    metavar="[SIDE=]FILE",
    help="For a fusion with quality measures: see deciban fuse --help.",
)
@click.option(
    "--train-quality", multiple=True, metavar="[SIDE=]FILE", help="The same for training, if in another file."
)
@click.option("--select", is_flag=True, help="Show which systems of a fusion help, in which order, on training trials.")
@click.option(
    "--cross-validate", metavar="COLUMN[,COLUMN][:N] | N", help="What --select holds out; see deciban fuse --help."
)
@click.option("-o", "--output", required=True, metavar="FILE.html", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--title", help="Heading of the page.")
def report_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    quiet: bool,
    train: tuple[str, ...],
    model_path: str | None,
    output: Path,
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
    from deciban.cli.shared.tables import print_results
    from deciban.io.source import display_name
    from deciban.report.files import ReportRequest, write_report

    request = ReportRequest(
        scores=list(scores),
        key=key,
        output=output,
        model=model_path,
        quality=parse_quality(given["quality"]),
        train=list(train),
        train_key=given["train_key"],
        train_quality=parse_quality(given["train_quality"] or given["quality"], "--train-quality"),
        select=given["select"],
        title=given["title"],
        **parse_cross_validation(given["cross_validate"]),
    )
    if (request.train_key is not None or given["train_quality"] or request.select) and not train:
        raise click.UsageError(
            "--train-key, --train-quality and --select are about training scores: name them with --train."
        )
    if given["cross_validate"] is not None and not request.select:
        raise click.UsageError("--cross-validate says what --select holds out. Add --select, or leave it out.")
    request.check_files()
    require_writable(output)
    files = asked.files(scores, key)
    options = asked.about(files, of_two=("quality", "train_quality", "select", "cross_validate"))
    with working() as say:
        done = write_report(request, options, say, files=files)
    tell(done.results.messages, quiet=quiet)
    if done.train is not None:
        tell(("training", *done.train.messages), quiet=quiet)
    if not quiet:
        print_results(done.results)
        click.echo(f"wrote {display_name(output)}")
