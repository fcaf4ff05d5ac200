"""``deciban calibrate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.methods import calibrator_of, method_options
from deciban.cli.shared.options import joining_options
from deciban.cli.shared.speech import SectionedCommand

if TYPE_CHECKING:
    from deciban.cli.shared.parsing import Asked
    from deciban.models.score_model import ScoreModel


@click.command("calibrate", cls=SectionedCommand)
@click.argument("scores", metavar="SCORES")
@click.option("-o", "--output", required=True, metavar="MODEL.json", help="The model; - for standard output.")
@method_options
@click.option(
    "--cross-validate",
    metavar="COLUMN[,COLUMN][:N] | N",
    help="Also calibrate every trial by a model that has not seen its COLUMN of the key, such as its speaker (one for "
    "each side, if there are two), in N parts [default: 5]. N alone: its names.",
)
@click.option("--llrs", metavar="OUT", help="Write llrs, too: of FILE, or of SCORES (cross-validated if that is done).")
@click.option("--apply-to", metavar="FILE", help="Scores of other trials of the same system, for --llrs.")
@click.option("--to", metavar="NAME", help="Format of OUT; left out, its ending decides, or it is that of its scores.")
@joining_options(costs=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def calibrate_command(
    scores: str, *, key: str | None, asked: Asked, method: str, apply_to: str | None, **given: Any
) -> None:
    """Train a map from the SCORES of one system to log-likelihood ratios, and save it as a model.

    Prints how good the scores are as they stand and as the model calibrates them.

    Many classes, such as languages: a score file has a column for each class. --method affine, the default, trains one
    scale and an offset for each class; scale trains only the scale, shift only the offsets. gaussian is a back-end for
    scores of any kind, with one covariance for all classes, --separate-variances, or --smoothing between them.
    class-scale, class-matrix and pav transform more freely than a calibration does. All are trained at --prior.

    \b
    deciban calibrate dev.txt --key dev.key -o model.json
    deciban calibrate dev.txt --key dev.key -o model.json --llrs dev_llr.txt
    deciban calibrate dev.txt --key dev.key -o model.json --apply-to eval.txt --llrs eval_llr.txt
    deciban calibrate dev.csv --key key.csv -o model.json --cross-validate speaker --llrs dev_llr.csv
    deciban calibrate dev.txt --key dev.key -o model.json --p-target 0.01 --alpha 2 --beta 2
    deciban calibrate logits.npy --key labels.npy --classes cat,dog,eel -o model.json --cross-validate 5
    """
    from deciban.cli.shared.training import TrainingRequest, train

    own = ("output", "cross_validate", "llrs", "to", "quiet", "as_json")
    request = TrainingRequest(
        scores=[scores], key=key, apply_to=[apply_to] if apply_to else [], **{name: given.pop(name) for name in own}
    )
    request.check()
    files = asked.files([scores], key)
    options = asked.about(files)
    model: ScoreModel
    if options.kind == "classes":
        from deciban.cli.shared.methods import class_calibrator_of

        model = class_calibrator_of(method, options.figures.prior, options.reading.classes, given)
    else:
        model = calibrator_of(method, given)
    train(request, model, options, files)
