"""``deciban demo``."""

from __future__ import annotations

from pathlib import Path

import click

from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import SectionedCommand, options, tell


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
