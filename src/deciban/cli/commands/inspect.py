"""``deciban inspect``."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.options import options


@click.command("inspect")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
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
            table.add_row(what, Text(value))
        out.print(Text(inspection.name, style="bold underline"))
        out.print(table)
        for remark in inspection.remarks:
            out.print(Text(remark, style="yellow"))
