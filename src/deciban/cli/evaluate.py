"""``deciban eval`` and ``deciban report``."""

from __future__ import annotations

from pathlib import Path

import click

from deciban.cli.options import evaluation_options
from deciban.evaluation import Results


@click.command("eval")
@evaluation_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def eval_command(results: Results, *, quiet: bool, as_json: bool) -> None:  # noqa: ARG001  # said before the table
    """Evaluate score files, one per system, on the trials of a key.

    Prints the equal error rate on the ROC convex hull, normalized detection costs, Cllr and what calibration loses.

    \b
    deciban eval sysA.txt sysB.txt --key key.txt
    deciban eval sysA.txt --key key.txt --dcf 0.01:10:1 --dcf 0.001 --json
    """
    if as_json:
        click.echo(results.to_json())
    else:
        from deciban.cli.tables import print_results

        print_results(results)


@click.command("report")
@evaluation_options
@click.option("-o", "--output", required=True, metavar="FILE.html", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--title", help="Heading of the page.")
def report_command(results: Results, *, quiet: bool, output: Path, title: str | None) -> None:
    """Evaluate score files into one HTML page with tables and plots, readable offline.

    \b
    deciban report sysA.txt sysB.txt --key key.txt -o report.html
    """
    from deciban.cli.tables import print_results

    write_report(results, output, title)
    if not quiet:
        print_results(results)
        click.echo(f"wrote {output}")


def write_report(results: Results, output: Path, title: str | None = None) -> None:
    """Write the page, whole or not at all."""
    from deciban.io import atomic_write
    from deciban.report import render

    page = render(results, title=title, facts=results.facts)
    with atomic_write(output) as stream:
        stream.write(page.encode())
