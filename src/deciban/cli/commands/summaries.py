"""``deciban summarize`` and ``deciban merge``: arrays of jobs that know nothing of each other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.parsing import require_writable
from deciban.cli.shared.progress import working

_ELSEWHERE = ("--same --tar tar", "--different --non non", "--dcf", "--preset", "--level", "--dask")
"""Trials in two files, what is asked of figures, and where work is spread: other commands have that."""


@click.command("summarize", cls=SectionedCommand)
@click.argument("shards", nargs=-1, required=True, metavar="SHARD...", shell_complete=files)
@options("summarize")
@joining_options(figures="", more=("units", "scale"), without=_ELSEWHERE)
@options("json")
def summarize_command(
    shards: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    quiet: bool,
    output: Path,
    keep_names: bool,
    as_json: bool,
) -> None:
    """Write the trials of shards of a data set to a file: equal ones once, with their number, and without names.

    Files of all shards are merged (deciban merge) or evaluated together (deciban eval), with the figures of the trials
    themselves. Each job reads its own shard, and nothing else; what one job is given may be several shards.

    \b
    deciban summarize part-0.parquet -o part-0.summary
    deciban merge part-*.summary -o all.summary
    deciban eval all.summary
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.summaries import SUMMARIZED, summarize_files

    require_writable(output)
    refuse_overwriting([output], [*shards, *filter(None, (key,))])
    arguments = {name: value for name, value in asked.options.arguments.items() if name in SUMMARIZED}
    with working() as say:
        messages = summarize_files(list(shards), output, key, keep_names=keep_names, progress=say, **arguments)
    tell(messages, quiet=quiet)
    if as_json:
        _print_json(output, messages, scores=shards, key=[key])


@click.command("merge", cls=SectionedCommand)
@click.argument("summaries", nargs=-1, required=True, metavar="SUMMARY...", shell_complete=files)
@options("merge", "quiet", "json")
def merge_command(summaries: tuple[str, ...], *, quiet: bool, output: Path, as_json: bool) -> None:
    """Merge summaries of different shards into one file, in any order and grouping to the same bytes.

    \b
    deciban merge part-*.summary -o all.summary
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.summaries import merge_summaries

    require_writable(output)
    refuse_overwriting([output], summaries)
    with working("merging"):
        messages = merge_summaries(list(summaries), output)
    tell(messages, quiet=quiet)
    if as_json:
        _print_json(output, messages, summary=summaries)


def _print_json(output: Path, messages: Iterable[object], **read: Iterable[Any]) -> None:
    """Print what was read and written."""
    from deciban.io.summary_files import read_head

    kind = "classes" if read_head(output).classes else "two-class"
    print_json({"kind": kind}, files={**read, "output": [output]}, messages=messages)
