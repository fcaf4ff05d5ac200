"""``deciban convert``, ``validate``, ``formats``, ``inspect``: files as they are, without any evaluation."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.options import options, tell
from deciban.cli.shared.progress import working
from deciban.messages import lines, one_line


@click.command("convert")
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="OUT", shell_complete=files)
@options("convert", "reading", "quiet")
def convert_command(source: str, target: str, *, quiet: bool, **given: Any) -> None:
    """Convert IN, in any format that is known, to OUT. Every bit that OUT has room for is kept.

    \b
    deciban convert scores.txt scores.h5
    deciban convert scores.h5 scores.txt.gz --to kaldi
    deciban convert trials.tsv trials.txt --what index --columns enroll=modelid,test=segmentid
    """
    from deciban.io.convert import convert
    from deciban.io.source import display_name

    with working(f"converting {display_name(source)}"):
        messages = convert(source, target, **given)
    tell(messages, quiet=quiet)


@click.command("validate")
@click.argument("submission", metavar="SUBMISSION", shell_complete=files)
@options("validate", "reading", "quiet")
@click.pass_context
def validate_command(
    ctx: click.Context,
    /,
    submission: str,
    *,
    trials: str,
    quiet: bool,
    log10: bool,  # noqa: ARG001  # of no matter here
    **reading: Any,
) -> None:
    """See whether SUBMISSION scores the trials of LIST: each once, no others, in the same order, all of them numbers.

    Exits with 2 and the first offending lines if it does not.

    \b
    deciban validate submission.tsv --trials trials.tsv
    """
    from deciban.io.source import display_name
    from deciban.io.validation import validate

    with working(f"validating {display_name(submission)}"):
        found = validate(submission, trials, **reading)
    tell(found.lines, quiet=quiet)
    for fault in found.faults:
        click.echo(lines(str(fault)))
    if not quiet:
        click.echo("valid" if found.is_valid else "not valid")
    ctx.exit(0 if found.is_valid else 2)


@click.command("formats")
def formats_command() -> None:
    """List the file formats that are known: what each holds, and what is read and written."""
    from rich.table import Table
    from rich.text import Text

    from deciban.cli.shared.tables import console
    from deciban.io.formats import formats

    table = Table(box=None, pad_edge=False)
    for heading in ("format", "reads", "writes", "holds"):
        table.add_column(heading, overflow="fold")
    for name, one in formats().items():
        summary = one.summary.replace("`", "") + ("" if one.verified else " (from memory, not verified)")
        table.add_row(
            Text(name, style="bold"), Text(" ".join(one.reads)), Text(" ".join(one.writes) or "-"), Text(summary)
        )
    console().print(table)


@click.command("inspect")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=files)
@options("reading")
def inspect_command(files: tuple[str, ...], **reading: Any) -> None:
    """Say what score files and keys hold, how they are read, and what in them looks wrong."""
    from rich.table import Table
    from rich.text import Text

    from deciban.cli.shared.tables import console
    from deciban.io.source import require_one_stream
    from deciban.workflows.inspection import inspect_file

    require_one_stream(files)
    out = console()
    for path in files:
        inspection = inspect_file(path, **reading)
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for what, value in inspection.properties:
            table.add_row(Text(one_line(what)), Text(lines(value)))
        out.print(Text(one_line(inspection.name), style="bold underline"))
        out.print(table)
        for remark in inspection.remarks:
            out.print(Text(lines(remark), style="yellow"))
