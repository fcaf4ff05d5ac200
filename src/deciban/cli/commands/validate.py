"""``deciban validate``."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.options import reading_options
from deciban.cli.shared.speech import working


@click.command("validate")
@click.argument("submission", metavar="SUBMISSION")
@click.option("--trials", required=True, metavar="LIST", help="The trials that the submission should score.")
@click.option("--trials-format", metavar="NAME", help="Like --format, for the list.")
@click.option("--trials-columns", metavar="ROLES", help="Like --columns, for the list.")
@click.option("--any-order", is_flag=True, help="Allow another order of the trials than the list has.")
@reading_options
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
    from deciban.io.validation import validate

    with working(f"validating {submission}"):
        found = validate(submission, trials, **reading)
    if not quiet:
        for line in found.lines:
            click.echo(line, err=True)
    for fault in found.faults:
        click.echo(fault)
    if not quiet:
        click.echo("valid" if found.is_valid else "not valid")
    ctx.exit(0 if found.is_valid else 2)
