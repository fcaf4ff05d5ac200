"""``deciban demo``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("demo")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def demo_command(folder: Path) -> None:
    """Write synthetic scores of two systems and a key into DIR, and evaluate them into DIR/report.html."""
    from deciban.cli.commands.evaluate import write_report
    from deciban.cli.shared.tables import print_results
    from deciban.io import write_demo
    from deciban.workflows import evaluate_files

    systems, key = write_demo(folder)
    results = evaluate_files(systems, key)
    page = folder / "report.html"
    write_report(results, page, "deciban demo: two synthetic systems")
    for fact in results.facts:
        click.echo(fact, err=True)
    print_results(results)
    files = " ".join(map(str, systems))
    click.echo(f"\nwrote {page}: open it in a browser. The same with your own files:")
    click.echo(f"  deciban report {files} --key {key} -o {page}")
