"""``deciban calibrate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.grouped_help import SectionedCommand
from deciban.cli.shared.methods import calibrator_of, method_options
from deciban.cli.shared.multiclass_options import AskedOfClasses, class_options
from deciban.cli.shared.options import joining_options, tell, working
from deciban.cli.shared.training import check_outputs, parse_cross_validation

if TYPE_CHECKING:
    from deciban.workflows import Calibrated


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
@joining_options
@class_options(costs=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def calibrate_command(
    scores: str,
    *,
    key: str | None,
    output: str,
    method: str,
    cross_validate: str | None,
    points: list[Any],
    reading: dict[str, Any],
    asked: AskedOfClasses,
    llrs: str | None,
    apply_to: str | None,
    to: str | None,
    quiet: bool,
    as_json: bool,
    **given: Any,
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
    from deciban.io.outputs import refuse_overwriting
    from deciban.io.writing import plainly_opened, target_name
    from deciban.models.loading import to_text
    from deciban.workflows import apply_files, calibrate_files

    source = apply_to or scores
    check_outputs(
        output,
        llrs,
        for_llrs=apply_to is not None or to is not None,
        rereads_stdin=source == "-" and apply_to is None,
        as_json=as_json,
    )
    refuse_overwriting([output, *([llrs] if llrs else [])], [scores, key, apply_to])
    if asked.is_about_classes([scores], key, reading):
        from deciban.cli.commands.multiclass import class_calibrator_of, train_classes_command

        model = class_calibrator_of(method, asked.figures.get("prior"), asked.classes, given)
        how: dict[str, Any] = {"output": output, "cross_validate": cross_validate, "llrs": llrs, "to": to}
        how |= {"quiet": quiet, "apply_to": [apply_to] if apply_to else [], "apply_key": None, "as_json": as_json}
        train_classes_command([scores], key, model, asked=asked, reading=reading, **how)
        return
    calibrator = calibrator_of(method, given)
    by, folds = parse_cross_validation(cross_validate)
    with working("") as say:
        done = calibrate_files(
            scores, key, calibrator, operating_points=points, cross_validate=by, progress=say, **folds, **reading
        )
        facts = list(done.facts)
        with plainly_opened(output) as stream:  # before anything else is written: it may be impossible
            stream.write(to_text(done.model).encode())
            if llrs:
                known = None if apply_to else done.cross_validated_llr
                told = {name: reading[name] for name in ("format", "columns", "labels", "log10", "by_order")}
                facts += apply_files(done.model, source, llrs, to=to, known=known, progress=say, **told)
    tell([*facts, f"wrote {target_name(output)}"], quiet=quiet)
    _print(done, to_stderr="-" in (output, llrs), as_json=as_json)


def _print(done: Calibrated, *, to_stderr: bool, as_json: bool) -> None:
    """Show figures before and after, and how training went."""
    if as_json:
        click.echo(json.dumps(done.to_dict(), indent=2, ensure_ascii=False))
        return
    from rich.text import Text

    from deciban.cli.shared.tables import console, print_results

    out = console(stderr=to_stderr)
    print_results(done.results, out)
    for line in done.summary:
        out.print(Text(line), soft_wrap=True)
