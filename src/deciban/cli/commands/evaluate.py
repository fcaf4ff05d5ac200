"""``deciban eval`` and ``deciban report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.grouped_help import SectionedCommand
from deciban.cli.shared.multiclass_options import AskedOfClasses, class_options
from deciban.cli.shared.options import evaluation_options, joining_options, parse_quality, tell, working
from deciban.cli.shared.training import parse_cross_validation
from deciban.evaluation import ClassResults, Results
from deciban.models import Model, load_model
from deciban.workflows import evaluate_calibrated, evaluate_files

if TYPE_CHECKING:
    from deciban.workflows.fusers import Fuser
    from deciban.workflows.held_out import HoldOut


@click.command("eval", cls=SectionedCommand)
@evaluation_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def eval_command(results: Results | ClassResults, *, quiet: bool, as_json: bool) -> None:  # noqa: ARG001  # said before
    """Evaluate score files, one per system, on the trials of a key.

    Prints the equal error rate on the ROC convex hull, normalized detection costs, Cllr and what calibration loses.

    Many classes, such as languages: a score file has a column for each class, and the key says of which one each
    segment is. Scores are natural-log likelihoods, up to a constant for each segment, or log posteriors with
    --posterior-prior. Prints Cllr and what calibration loses, C_avg, error rates, and figures of each class.

    \b
    deciban eval sysA.txt sysB.txt --key key.txt
    deciban eval sysA.txt --key key.txt --dcf 0.01:10:1 --dcf 0.001 --json
    deciban eval languages.tsv --key languages.key --preset lre17
    deciban eval logits.npy --key labels.npy --classes cat,dog,eel --prior 0.5,0.3,0.2
    """
    if as_json:
        click.echo(results.to_json())
    elif isinstance(results, ClassResults):
        from deciban.cli.shared.multiclass_tables import print_class_results

        print_class_results(results)
    else:
        from deciban.cli.shared.tables import print_results

        print_results(results)


@click.command("report", cls=SectionedCommand)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...")
@joining_options
@class_options
@click.option(
    "--train", multiple=True, metavar="FILE", help="Scores of the same system on training trials. Repeatable."
)
@click.option(
    "--train-key",
    metavar="FILE",
    help="Key of the training trials. It needs the column of --weights, --key may lack it.",
)
@click.option("--model", "model_path", metavar="FILE", help="Calibrate or fuse the scores with this model.")
@click.option(
    "--quality",
    multiple=True,
    metavar="[SIDE=]FILE",
    help="For a fusion with quality measures: see deciban fuse --help.",
)
@click.option(
    "--train-quality", multiple=True, metavar="[SIDE=]FILE", help="The same for training, if in another file."
)
@click.option("--select", is_flag=True, help="Show which systems of a fusion help, in which order, on training trials.")
@click.option(
    "--cross-validate", metavar="COLUMN[,COLUMN][:N] | N", help="What --select holds out; see deciban fuse --help."
)
@click.option("-o", "--output", required=True, metavar="FILE.html", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--title", help="Heading of the page.")
def report_command(
    scores: tuple[str, ...],
    key: str | None,
    *,
    points: list[Any],
    reading: Any,
    asked: AskedOfClasses,
    quiet: bool,
    train: tuple[str, ...],
    train_key: str | None,
    model_path: str | None,
    quality: tuple[str, ...],
    train_quality: tuple[str, ...],
    select: bool,
    cross_validate: str | None,
    output: Path,
    title: str | None,
) -> None:
    """Evaluate score files into one HTML page with tables and plots, readable offline.

    With --train, training and test stand side by side; all files are read in the same way. With a calibration as
    --model, everything is shown before and after, with the record of training. With a fusion, its systems and the
    fusion are shown, its weights, and (with --train) what each system is worth to it.

    \b
    deciban report sysA.txt sysB.txt --key key.txt -o report.html
    deciban report eval.txt --key eval.key --train dev.txt --train-key dev.key --model model.json -o report.html
    """
    from deciban.cli.shared.tables import print_results
    from deciban.io.outputs import refuse_overwriting
    from deciban.workflows.held_out import DEFAULT_FOLDS, HoldOut
    from deciban.workflows.measures import quality_paths

    if (train_key is not None or train_quality or select) and not train:
        raise click.UsageError(
            "--train-key, --train-quality and --select are about training scores: name them with --train."
        )
    if cross_validate is not None and not select:
        raise click.UsageError("--cross-validate says what --select holds out. Add --select, or leave it out.")
    if asked.is_about_classes(scores, key, reading, two_class=("quality", "train_quality", "select", "cross_validate")):
        from deciban.cli.commands.multiclass import report_classes

        how: Any = {
            "asked": asked,
            "reading": reading,
            "model_path": model_path,
            "train": train,
            "train_key": train_key,
        }
        report_classes(scores, key, output=output, title=title, quiet=quiet, **how)
        return
    by, folds = parse_cross_validation(cross_validate)
    files = parse_quality(quality), parse_quality(train_quality or quality, "--train-quality")
    told = [path for one in files for path in quality_paths(one)]
    refuse_overwriting([output], [*scores, key, *train, train_key, model_path, *told])
    model = load_model(model_path) if model_path is not None else None
    with working("") as say:
        options = {"operating_points": points, "progress": say, **reading}
        sets = (scores, key, files[0]), (train, train_key, files[1])
        chosen = HoldOut(by or DEFAULT_FOLDS, **folds) if select else None
        results, shown = _shown(model, *sets, options, select=chosen)
    tell(results.facts, quiet=quiet)
    if (trained := shown["train"]) is not None:
        tell(("training", *trained.facts), quiet=quiet)
    write_report(results, output, title, model=model, **shown)
    if not quiet:
        print_results(results)
        click.echo(f"wrote {output}")


def _shown(
    model: Model | None, test: Any, train: Any, options: Any, *, select: HoldOut | None
) -> tuple[Results, dict[str, Any]]:
    """The results of a page, and what stands beside them; ``test`` and ``train`` are scores, key and quality."""
    from deciban.workflows.fusers import Fuser

    of_test = {**options, "weights_required": not train[0]}
    if isinstance(model, Fuser):
        return _fused(model, test, train, of_test, options, select=select)
    if select is not None:
        raise click.UsageError("--select is for fusions: name one with --model.")
    if test[2] is not None or train[2] is not None:
        raise click.UsageError("--quality is for fusions: name one with --model.")
    before, results = _before_and_after(model, test[0], test[1], of_test)
    if not train[0]:
        return results, {"before": before, "train": None}
    train_before, trained = _before_and_after(model, train[0], train[1], options, of_training=True)
    return results, {"before": before, "train": trained, "train_before": train_before}


def _fused(
    model: Fuser, test: Any, train: Any, of_test: Any, options: Any, *, select: HoldOut | None
) -> tuple[Results, dict[str, Any]]:
    """The same for a fusion: how it does beside its systems, on training and test."""
    from deciban.workflows import evaluate_fused
    from deciban.workflows.fused_figures import figures_of_model
    from deciban.workflows.fusion import selection_of

    results, trials = evaluate_fused(model, *test[:2], quality=test[2], **of_test)
    if not train[0]:
        return results, {"train": None}
    trained, dev = evaluate_fused(model, *train[:2], quality=train[2], of_training=True, **options)
    say = options["progress"]
    shown: dict[str, Any] = {"train": trained}
    shown["figures"] = figures_of_model(model, dev, trials, options["operating_points"])
    if select is not None:
        shown["selection"] = selection_of(model, dev, select, say)
    return results, shown


def _before_and_after(
    model: Model | None, scores: tuple[str, ...], key: str | None, options: Any, *, of_training: bool = False
) -> tuple[Results | None, Results]:
    if model is None:
        return None, evaluate_files(scores, key, **options)
    return evaluate_calibrated(model, scores, key, of_training=of_training, **options)


def write_report(results: Results, output: Path, title: str | None = None, **more: Any) -> None:
    """Write the page, whole or not at all; ``more`` is what `deciban.report.render` shows beside the results."""
    from deciban.io import atomic_write
    from deciban.report import render

    page = render(results, title=title, facts=results.facts, **more)
    with atomic_write(output) as stream:
        stream.write(page.encode())
