"""``deciban calibrate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.methods import calibrator_of, class_calibrator_of
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options

if TYPE_CHECKING:
    from deciban.models.score_model import ScoreModel
    from deciban.workflows.options import Options


@click.command("calibrate", cls=SectionedCommand)
@click.argument("scores", metavar="SCORES")
@options("model", "methods", "calibrate")
@joining_options(figures="training")
@options("json")
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

    def model(options: Options) -> ScoreModel:
        if options.kind == "classes":
            return class_calibrator_of(method, options.figures.prior, options.reading.classes, given)
        return calibrator_of(method, given)

    train(request, asked, model)
