"""``deciban apply``."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.shared.grouped_help import SectionedCommand
from deciban.cli.shared.multiclass_options import AskedOfClasses, of_files_options, refuse_options
from deciban.cli.shared.options import parse_missing, parse_quality, policy_options, reading_options, tell, working


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
@policy_options("For a fusion: trials of the first file that another one lacks.")
@of_files_options
@reading_options
def apply_command(
    model: str,
    scores: tuple[str, ...],
    *,
    output: str,
    to: str | None,
    quality: tuple[str, ...],
    missing: str,
    quiet: bool,
    asked: AskedOfClasses,
    **reading: object,
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
    from deciban.models import load_model
    from deciban.models.multiclass import ClassModel
    from deciban.workflows import apply_class_files, apply_files

    files = parse_quality(quality)
    policy = parse_missing(missing)
    if [*scores, model].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once.")
    loaded = load_model(model)
    named: Any = loaded if model == "-" else model  # a stream is gone once it was read
    of_classes = isinstance(loaded, ClassModel)
    refuse_options(("quality", "labels") if of_classes else ("classes", "posterior_prior"), about_classes=of_classes)
    told: dict[str, Any] = {**reading, "to": to, "missing": policy}
    with working("") as say:
        if of_classes:
            del told["labels"]
            told |= {"classes": asked.classes, "posterior_prior": asked.posterior_prior}
            facts = apply_class_files(named, scores, output, progress=say, **told)
        else:
            facts = apply_files(named, scores, output, quality=files, progress=say, **told)
    tell(facts, quiet=quiet)
