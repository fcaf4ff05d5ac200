"""``deciban inspect``."""

from __future__ import annotations

import click

from deciban.cli.shared.parsing import parse_labels


@click.command("inspect")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "format_", metavar="NAME", help="Format of the files; left out, the first lines decide.")
@click.option("--columns", metavar="ROLES", help="What the columns are; see deciban eval --help.")
@click.option("--labels", metavar="WORDS", help="Label words: target=tgt,nontarget=imp.")
@click.option("--log10", is_flag=True, help="The scores are common logarithms of likelihood ratios.")
def inspect_command(
    files: tuple[str, ...], format_: str | None, columns: str | None, labels: str | None, *, log10: bool
) -> None:
    """Say what score files and keys hold, how they are read, and what in them looks wrong."""
    from rich.table import Table
    from rich.text import Text

    from deciban.cli.shared.tables import console
    from deciban.io.source import require_one_stream
    from deciban.workflows.inspection import inspect_file

    require_one_stream(files)
    out = console()
    for path in files:
        inspection = inspect_file(path, format=format_, columns=columns, labels=parse_labels(labels), log10=log10)
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for what, value in inspection.properties:
            table.add_row(what, Text(value))
        out.print(Text(inspection.name, style="bold underline"))
        out.print(table)
        for remark in inspection.remarks:
            out.print(Text(remark, style="yellow"))
