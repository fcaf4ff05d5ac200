"""What the commands do when scores are of many classes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.multiclass_options import AskedOfClasses
from deciban.cli.shared.options import tell, working
from deciban.cli.shared.training import check_outputs, parse_cross_validation

if TYPE_CHECKING:
    from deciban.models.multiclass import ClassModel
    from deciban.workflows import TrainedClasses

METHODS = {
    "affine": "MulticlassCalibrator",
    "scale": "MulticlassScaleCalibrator",
    "shift": "MulticlassShiftCalibrator",
    "gaussian": "GaussianBackend",
    "class-scale": "ClassScaleTransformation",
    "class-matrix": "MatrixTransformation",
    "pav": "DetectionPavTransformation",
}
"""Calibrations, transformations and the back-end of many classes, as ``--method`` calls them."""

_SHARED = ("prior", "ridge", "toward_calibration", "smoothing", "interpolation", "bound")
_WORDS = {"covariance": "--separate-variances", "shared_variance": "--separate-variances"}
"""Options that methods of many classes have, and how they are written where that is not by their name."""

_APPLIED = ("format", "columns", "log10", "by_order")


def class_calibrator_of(method: str, prior: Any, classes: Sequence[str] | None, given: Mapping[str, Any]) -> ClassModel:
    """The calibrator of many classes that a user asked for.

    Parameters
    ----------
    method : str
    prior : list of float, mapping, "flat" or None
        Of training. By name it needs ``classes``.
    classes : sequence of str, optional
    given : mapping of str to value
        The options of all methods of two classes; None for those that were not given.

    Raises
    ------
    click.UsageError
        If there is no such method for many classes, or an option is for two.
    InputError
        If an option has a value that it cannot have.
    """
    from deciban import calibration

    if method not in METHODS:
        raise click.BadParameter(
            f"{method!r} is none for many classes. There are {', '.join(METHODS)}.", param_hint="--method"
        )
    own = {name: value for name, value in given.items() if value is not None}
    if method == "gaussian":
        own |= _covariance(own)
    made = getattr(calibration, METHODS[method])
    takes = set(inspect.signature(made).parameters)
    foreign = [name for name in own if name not in takes]
    if foreign:
        words, known = (
            ", ".join(_WORDS.get(name, f"--{name.replace('_', '-')}") for name in names)
            for names in (foreign, sorted(takes & {*_SHARED, "covariance"}))
        )
        raise click.UsageError(f"{words}: not for the method {method} of many classes, which takes {known}.")
    model: ClassModel = made(prior=prior_of_training(prior, classes), **own)
    return model


def _covariance(own: dict[str, Any]) -> dict[str, Any]:
    """What the options of a Gaussian of two classes say of covariances; those that were understood are taken out."""
    shared = own.pop("shared_variance", None)
    if "smoothing" in own:
        if shared is not None:
            raise click.UsageError(
                "--smoothing is between shared and separate covariances: leave the other option out."
            )
        return {"covariance": "smoothed"}
    return {} if shared is None else {"covariance": "shared" if shared else "separate"}


def prior_of_training(prior: Any, classes: Sequence[str] | None) -> Any:
    """The prior of an objective, in the order of the classes.

    Raises
    ------
    click.UsageError
        If it is by name, and the order is not known.
    """
    if prior is None or prior == "flat":
        return None
    if not isinstance(prior, dict):
        return prior
    from deciban._validate.classes import prior_of

    if classes is None:
        raise click.UsageError(
            "--prior by names trains with --classes NAME,NAME,... only. Name them, or write 0.2,0.3,..."
        )
    return prior_of(prior, classes).tolist()


def train_classes_command(
    scores: Sequence[str],
    key: str | None,
    model: ClassModel,
    *,
    asked: AskedOfClasses,
    reading: Mapping[str, Any],
    output: str,
    cross_validate: str | None,
    apply_to: Sequence[str],
    apply_key: str | None,
    llrs: str | None,
    to: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train a model of many classes, write it and what it makes of scores, and print what it is worth."""
    from deciban.io.writing import plainly_opened, target_name
    from deciban.models.loading import to_text
    from deciban.workflows import apply_class_files, train_class_files

    by, folds = parse_cross_validation(cross_validate)
    read = asked.reading(reading)
    how: dict[str, Any] = {"cross_validate": by, "figures": asked.figures, **folds, **read}
    if apply_key is not None:
        how |= {"test_scores": list(apply_to), "test_key": apply_key}
    with working("") as say:
        done = train_class_files(list(scores), key, model, progress=say, **how)
        facts = list(done.facts)
        with plainly_opened(output) as stream:  # before anything else is written: it may be impossible
            stream.write(to_text(done.model).encode())
            if llrs:
                told = {name: read[name] for name in (*_APPLIED, "classes", "posterior_prior")}
                told |= {name: read[name] for name in ("missing", "duplicates")} if len(scores) > 1 else {}
                known = None if apply_to else done.held_out
                source = list(apply_to or scores)
                facts += apply_class_files(done.model, source, llrs, to=to, known=known, progress=say, **told)
    tell([*facts, f"wrote {target_name(output)}"], quiet=quiet)
    _print_trained(done, to_stderr="-" in (output, llrs), as_json=as_json)


def fuse_classes_command(
    scores: Sequence[str],
    key: str | None,
    *,
    asked: AskedOfClasses,
    reading: Mapping[str, Any],
    offsets: bool,
    ridge: float | None,
    output: str,
    llrs: str | None,
    to: str | None,
    apply_to: Sequence[str],
    apply_key: str | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Train a fusion of many classes; see `train_classes_command`."""
    from deciban.fusion import MulticlassFusion
    from deciban.io.outputs import refuse_overwriting

    if str(reading["missing"]).startswith("subset"):
        raise click.UsageError("--missing subset is for two classes: drop segments that lack scores, or fill them in.")
    if apply_key is not None and not apply_to:
        raise click.UsageError("--apply-key belongs to the scores of --apply-to. Name these.")
    check_outputs(
        output,
        llrs,
        for_llrs=to is not None or (bool(apply_to) and apply_key is None),
        rereads_stdin="-" in (apply_to or scores) and (apply_key is not None or not apply_to),
        as_json=as_json,
    )
    refuse_overwriting([output, *([llrs] if llrs else [])], [*scores, key, *apply_to, apply_key])
    prior = prior_of_training(asked.figures.get("prior"), asked.classes)
    fusion = MulticlassFusion(prior=prior, offsets=offsets, ridge=0.0 if ridge is None else ridge)
    told: dict[str, Any] = {"output": output, "llrs": llrs, "to": to, "apply_to": apply_to, "apply_key": apply_key}
    train_classes_command(scores, key, fusion, asked=asked, reading=reading, as_json=as_json, **told, **how)


def _print_trained(done: TrainedClasses, *, to_stderr: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(done.to_dict(), indent=2, ensure_ascii=False))
        return
    from rich.text import Text

    from deciban.cli.shared.multiclass_tables import print_class_results
    from deciban.cli.shared.tables import console

    out = console(stderr=to_stderr)
    if done.test is not None:
        out.print(Text("Segments of training", style="bold"))
    print_class_results(done.results, out, with_classes=False)
    if done.test is not None:
        out.print(Text("\nOther segments", style="bold"))
        print_class_results(done.test, out, with_classes=False)
        out.print("")
    for line in done.summary:
        out.print(Text(line), soft_wrap=True)


def report_classes(
    scores: Sequence[str],
    key: str | None,
    *,
    asked: AskedOfClasses,
    reading: Mapping[str, Any],
    model_path: str | None,
    train: Sequence[str],
    train_key: str | None,
    output: Path,
    title: str | None,
    quiet: bool,
) -> None:
    """Evaluate class-score files into one page, before and after a model if there is one."""
    from deciban.cli.shared.multiclass_tables import print_class_results
    from deciban.io import atomic_write
    from deciban.io.outputs import refuse_overwriting
    from deciban.models import load_model
    from deciban.report import render_classes
    from deciban.workflows import evaluate_class_files, evaluate_class_model
    from deciban.workflows.classes_models import require_class_model

    refuse_overwriting([output], [*scores, key, *train, train_key, model_path])
    model = None if model_path is None else require_class_model(load_model(model_path), model_path)
    sets = [("test" if train else "", scores, key)] + ([("training", train, train_key)] if train else [])
    pages = []
    with working("") as say:
        for name, files, own_key in sets:
            read = {**asked.reading(reading), "weights_required": name == "training" or not train}
            if model is None:
                before, after = None, evaluate_class_files(list(files), own_key, progress=say, **asked.figures, **read)
            else:
                how: dict[str, Any] = {"figures": asked.figures, "progress": say, **read}
                before, after = evaluate_class_model(model, list(files), own_key, **how)
            pages.append((name, before, after))
    for name, _, after in pages:
        tell(([name] if name == "training" else []) + list(after.facts), quiet=quiet)
    (_, before, results), *others = pages
    trained = others[0] if others else (None, None, None)
    page = render_classes(results, before=before, train=trained[2], train_before=trained[1], model=model, title=title)
    with atomic_write(output) as stream:
        stream.write(page.encode())
    if not quiet:
        print_class_results(results)
        click.echo(f"wrote {output}")
