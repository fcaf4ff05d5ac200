"""``deciban formats``."""

from __future__ import annotations

import click


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
