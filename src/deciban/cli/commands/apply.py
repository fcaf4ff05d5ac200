"""``deciban apply``."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.options import file_options
from deciban.cli.shared.parsing import parse_quality
from deciban.cli.shared.speech import SectionedCommand, class_option, tell, working


@click.command("apply", cls=SectionedCommand)
@click.argument("model", metavar="MODEL.json")
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    help="File to write, - for standard output; a folder for several inputs of a calibration.",
)
@click.option("--to", metavar="NAME", help="Format of OUT; left out, its ending decides, or it is that of SCORES.")
@click.option(
    "--quality",
    multiple=True,
    metavar="[SIDE=]FILE",
    help="Quality measures, for a fusion that was trained with some; see deciban fuse --help.",
)
@file_options
@class_option(
    "--as",
    "write_as",
    type=click.Choice(["loglik", "detection-llr"]),
    default="loglik",
    help="Write log-likelihoods, or log-likelihood ratios of each class against the others, as the language "
    "recognition evaluations of 2017 and 2022 ask for. [default: loglik]",
)
def apply_command(
    model: str,
    scores: tuple[str, ...],
    *,
    output: str,
    quality: tuple[str, ...],
    reading: dict[str, Any],
    quiet: bool,
    **writing: Any,
) -> None:
    """Put the log-likelihood ratios of a model that was trained before in place of scores.

    Lines of text come out as they came in, but for the score; other formats with all that they hold. Several SCORES are
    written one by one into a folder if the model is a calibration. For a fusion, name the files of all its systems:
    under the names that they had in training, or in the same order. OUT has the form and the trials of the first one. A
    fusion that was trained with --missing subset fuses every trial that one of its systems scored: OUT has those of the
    first file, then those that only the second has, and so on. A model of many classes puts log-likelihoods in place of
    class scores.

    \b
    deciban apply model.json eval.txt -o eval_llr.txt
    deciban apply model.json dev.csv eval.csv -o llrs/
    deciban apply fusion.json sysA.txt sysB.txt -o fused.txt
    cat eval.txt | deciban apply model.json - -o - | gzip > eval_llr.txt.gz
    """
    from deciban.cli.shared.parsing import refuse_options
    from deciban.models.score_model import ScoreModel
    from deciban.workflows import apply_files
    from deciban.workflows.model_files import LoadedModel

    files = parse_quality(quality)
    if [*scores, model].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once.")
    loaded = LoadedModel.of(model)
    of_many = isinstance(loaded.model, ScoreModel) and loaded.model.scores_kind == "classes"
    other = ("quality", "labels") if of_many else ("classes", "posterior_prior", "detection_llr", "write_as")
    refuse_options(other, of_many=of_many)
    with working() as say:
        how: dict[str, Any] = {"quality": files, **writing, **reading}
        messages = apply_files(loaded, list(scores), output, progress=say, **how)
    tell(messages, quiet=quiet)
