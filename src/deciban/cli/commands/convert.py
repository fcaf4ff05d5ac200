"""``deciban convert``."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.options import reading_options
from deciban.cli.shared.speech import working

_KINDS = ("scores", "key", "index", "class-scores", "class-key", "quality", "segment-quality", "id-map")


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--to",
    "to",
    metavar="NAME",
    help="Format of OUT; left out, its ending decides (.h5, .csv, ...). See deciban formats.",
)
@click.option("--what", type=click.Choice(_KINDS), help="Write only this of what IN holds.")
@click.option("--key", metavar="FILE", help="A key whose labels go into OUT; its format must have room for them.")
@click.option("--key-format", metavar="NAME", help="Like --format, for the key.")
@click.option("--key-columns", metavar="ROLES", help="Like --columns, for the key: enroll,test,label.")
@reading_options
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
    if not quiet:
        for message in messages:
            click.echo(str(message), err=True)
