"""``deciban summarize`` and ``deciban merge``: arrays of jobs that know nothing of each other."""

from __future__ import annotations

from pathlib import Path

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.parsing import require_writable
from deciban.cli.shared.progress import working


@click.command("summarize", cls=SectionedCommand)
@click.argument("shards", nargs=-1, required=True, metavar="SHARD...", shell_complete=files)
@options("summarize")
@joining_options(more=("scale",))
@options("json")
def summarize_command(
    shards: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    quiet: bool,
    output: Path,
    refine: str | None,
    as_json: bool,
) -> None:
    """Count the trials of shards of a data set, and write what is known of them to a small file.

    Files of all shards are merged (deciban merge) and evaluated (deciban eval): within certain bounds after one pass,
    exactly after a second one with --refine (or some more, where many scores can matter). Each job reads its own shard,
    and nothing else; what one job is given may be several shards.

    \b
    deciban summarize part-0.parquet -o part-0.summary
    deciban merge part-*.summary -o all.summary
    deciban summarize part-0.parquet -o part-0.refined --refine all.summary
    deciban eval part-*.refined
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.summarizing import kind_of_shards, summarize_files

    require_writable(output)
    refuse_overwriting([output], [*shards, *filter(None, (key, refine))])
    asked.inputs(shards, key)
    kind = kind_of_shards(list(shards), key, asked.options)
    asked.require_kind(kind)
    arguments = {name: value for name, value in asked.options.arguments.items() if value is not None}
    if kind == "classes":
        arguments.pop("operating_points", None)
    with working() as say:
        messages = summarize_files(list(shards), output, key, refine=refine, progress=say, **arguments)
    tell(messages, quiet=quiet)
    if as_json:
        read = {"scores": shards, "key": [key], "summary": [refine]}
        print_json({"kind": kind}, files={**read, "output": [output]}, messages=messages)


@click.command("merge", cls=SectionedCommand)
@click.argument("summaries", nargs=-1, required=True, metavar="SUMMARY...", shell_complete=files)
@options("merge", "quiet", "json")
def merge_command(summaries: tuple[str, ...], *, quiet: bool, output: Path, as_json: bool) -> None:
    """Merge summaries of different shards into one file, in any order and grouping to the same bytes.

    \b
    deciban merge part-*.summary -o all.summary
    """
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.summaries import merge_summaries, opened_summaries

    require_writable(output)
    refuse_overwriting([output], summaries)
    with working("merging"):
        messages = merge_summaries(list(summaries), output)
    tell(messages, quiet=quiet)
    if as_json:
        files = {"summary": summaries, "output": [output]}
        print_json({"kind": opened_summaries([output]).kind}, files=files, messages=messages)
