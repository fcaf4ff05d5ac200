"""``deciban apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import print_json, require_own_stream
from deciban.cli.shared.options import SectionedCommand, options, refuse_options, tell
from deciban.cli.shared.progress import working


@click.command("apply", cls=SectionedCommand)
@click.argument("model", metavar="MODEL.json", shell_complete=files)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...", shell_complete=files)
@options("apply", "by-order", "missing-of-files", "duplicates", "kind-of-scores", "classes", "reading")
@options("probabilities", "memory", "quiet", "interval", "llrs", "json")
def apply_command(
    model: str, scores: tuple[str, ...], *, output: str, quiet: bool, as_json: bool, **given: Any
) -> None:
    """Put the log-likelihood ratios of a model that was trained before in place of scores.

    Lines of text come out as they came in, but for the score; other formats with all that they hold. Several SCORES are
    written one by one into a folder if the model is a calibration. For a fusion, name the files of all its systems:
    under the names that they had in training, or in the same order. OUT has the form and the trials of the first one. A
    fusion that was trained with --missing subset fuses every trial that one of its systems scored: OUT has those of the
    first file, then those that only the second has, and so on. A model of many classes puts log-likelihoods in place of
    class scores. A folder of Parquet becomes a folder of Parquet, and so does what does not fit in memory: it is there
    when all of it is written, and a run that was interrupted goes on where it was.

    \b
    deciban apply model.json eval.txt -o eval_llr.txt
    deciban apply model.json dev.csv eval.csv -o llrs/
    deciban apply fusion.json sysA.txt sysB.txt -o fused.txt
    deciban apply model.json eval.csv -o eval_llr.csv --interval
    deciban apply model.json trials -o llrs --memory 2GB
    cat eval.txt | deciban apply model.json - -o - | gzip > eval_llr.txt.gz
    """
    from deciban.models.score_model import ScoreModel
    from deciban.workflows import apply_files
    from deciban.workflows.model_files import LoadedModel
    from deciban.workflows.quality import quality_paths

    if [*scores, model].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once.")
    require_own_stream(output, as_json=as_json)
    level = given.pop("level")
    given |= {"interval": bool(given["interval"])} | ({} if level is None else {"level": level})
    if level is not None and not given["interval"]:
        raise click.UsageError("--level is of intervals: add --interval.")
    loaded = LoadedModel.of(model)
    refuse_options(loaded.model.scores_kind if isinstance(loaded.model, ScoreModel) else "two-class")
    with working() as say:
        messages = apply_files(loaded, list(scores), output, progress=say, **given)
    tell(messages, quiet=quiet)
    if as_json:
        own = loaded.model
        found = {"kind": getattr(own, "scores_kind", None), "model": {"kind": own.kind}}
        made = [Path(output) / Path(one).name for one in scores]
        outputs = made if all(one.is_file() for one in made) else [Path(output)]
        files = {"model": [model], "scores": scores, "quality": quality_paths(given["quality"]), "output": outputs}
        print_json(found, files=files, messages=messages)
