"""``deciban convert``."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.options import options
from deciban.cli.shared.speech import tell, working


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
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
