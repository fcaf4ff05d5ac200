"""``deciban demo``: synthetic scores to try deciban on, in general or in the formats of a field."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from deciban import tables
from deciban.cli.shared.options import OutputOptions, SectionedCommand, options, print_json, print_messages


@click.command("demo", cls=SectionedCommand)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@options("demo", "quiet", "tables", "json")
def demo_command(folder: Path, *, field: str | None, force: bool, quiet: bool, shown: OutputOptions) -> None:
    """Write synthetic scores of two systems and a key into DIR, and evaluate them: DIR/report.html.

    --field writes scores in the format of a field instead: ASVspoof files of a countermeasure and a verifier; pairs of
    recordings with criteria of a forensic validation; or comparisons of faces.
    """
    if field is not None:
        _show_field(folder, field, shown, force=force, quiet=quiet)
        return
    from deciban._files import display_name
    from deciban.io import write_demo
    from deciban.io.demos import DEMO_FILES
    from deciban.report import report_files

    page = folder / "report.html"
    _refuse_replacing(folder, (*DEMO_FILES, page.name), force=force)
    systems, key = write_demo(folder)
    results = report_files(list(systems), key, page, kind="two-class", title="deciban demo: two synthetic systems")
    print_messages(results.messages, quiet=quiet)
    if shown.as_json:
        print_json(results.to_dict(), files={"scores": systems, "key": [key], "output": [page]})
        return
    tables.print_results(results, tables.console(shown.table_style))
    files = " ".join(map(display_name, systems))
    click.echo(f"\nwrote {display_name(page)}: open it in a browser. The same command works with your own files:")
    click.echo(f"  deciban report {files} --key {display_name(key)} -o {display_name(page)}")


def _refuse_replacing(folder: Path, names: Sequence[str], *, force: bool) -> None:
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise click.UsageError(
            f"{folder}: contains {', '.join(there)}, which would be replaced. Name another folder, or use --force."
        )


_COMMANDS = {
    "spoofing": ("cm.txt --asv asv.txt --preset asvspoof2019 --by attack", "docs/tutorials/asvspoof-files.md"),
    "forensic": ("pairs.csv", "docs/tutorials/method-validation.md"),
    "biometrics": ("faces.csv --preset iso19795", "docs/tutorials/biometric-test.md"),
}
"""Arguments of ``deciban eval`` for the files of each field, and its tutorial."""


def _show_field(folder: Path, field: str, shown: OutputOptions, *, force: bool, quiet: bool) -> None:
    """Write the files of a field, and evaluate them."""
    from deciban.io.demos import FIELD_FILES, write_field_demo

    _refuse_replacing(folder, FIELD_FILES[field], force=force)
    paths, out = write_field_demo(folder, field), tables.console(shown.table_style)
    found: Any
    if field == "spoofing":
        from deciban.tables.error_rates import print_spoofing
        from deciban.workflows.spoofing import evaluate_spoofing_files

        found = evaluate_spoofing_files(paths[0], asv=paths[1], preset="asvspoof2019", by="attack")
    else:
        from deciban.workflows.evaluate import evaluate_files

        found = evaluate_files(paths[0], preset="iso19795" if field == "biometrics" else None)
    print_messages(found.messages, quiet=quiet)
    if shown.as_json:
        print_json(found.to_dict(), files={"output": paths})
        return
    if field == "spoofing":
        print_spoofing(found, out)
    else:
        tables.print_results(found, out)
    words, page = _COMMANDS[field]
    named = " ".join(shlex.quote(str(folder / word)) if word in FIELD_FILES[field] else word for word in words.split())
    click.echo(f"\nwrote {', '.join(FIELD_FILES[field])}. For your own files, see {page}:")
    click.echo(f"  deciban eval {named}")
