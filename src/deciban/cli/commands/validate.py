"""``deciban validate``."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.options import options
from deciban.cli.shared.speech import tell, working


@click.command("validate")
@click.argument("submission", metavar="SUBMISSION")
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
    from deciban.io.validation import validate

    with working(f"validating {submission}"):
        found = validate(submission, trials, **reading)
    tell(found.lines, quiet=quiet)
    for fault in found.faults:
        click.echo(fault)
    if not quiet:
        click.echo("valid" if found.is_valid else "not valid")
    ctx.exit(0 if found.is_valid else 2)
