"""``deciban calibrate`` and ``deciban fuse``, and the methods of training as users name them, each with its options."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options
from deciban.cli.shared.parsing import METHODS

if TYPE_CHECKING:
    from deciban.calibration import Calibrator
    from deciban.models.multiclass import ClassModel
    from deciban.models.score_model import ScoreModel
    from deciban.workflows.options import Options


@click.command("calibrate", cls=SectionedCommand)
@click.argument("scores", required=False, metavar="[SCORES]", shell_complete=files)
@options("model", "methods", "calibrate")
@joining_options(figures="training", more=("units", "uncertainty", "scale"))
@options("interval", "llrs", "tables", "json")
def calibrate_command(
    scores: str | None, *, key: str | None, asked: Asked, method: str, apply_to: str | None, **given: Any
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
    deciban calibrate --tar same.txt --non different.txt -o model.json --cross-validate 5
    deciban calibrate dev.txt --key dev.key -o model.json --p-target 0.01 --alpha 2 --beta 2
    deciban calibrate logits.npy --key labels.npy --classes cat,dog,eel -o model.json --cross-validate 5
    """
    from deciban.cli.shared.training import TrainingRequest, train
    from deciban.workflows.inputs import paths_of

    own = ("output", "cross_validate", "llrs", "to", "interval", "write_as", "quiet", "shown")
    named = {name: given.pop(name) for name in own}
    inputs = paths_of(asked.inputs([] if scores is None else [scores], key))
    request = TrainingRequest(scores=inputs, key=key, apply_to=[apply_to] if apply_to else [], **named)

    def model(options: Options) -> ScoreModel:
        if options.kind == "classes":
            return class_calibrator_of(method, options.figures.prior, options.reading.classes, given)
        return calibrator_of(method, given)

    train(request, asked, model)


@click.command("fuse", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@options("model", "fuse")
@joining_options(missing="missing-or-subset", figures="training", more=("units", "uncertainty", "scale"))
@options("interval", "offsets", "llrs", "tables", "json")
def fuse_command(
    scores: tuple[str, ...], *, key: str | None, asked: Asked, apply_to: tuple[str, ...], **given: Any
) -> None:
    """Train a weighted sum of the SCORES of several systems that is a log-likelihood ratio, and save it as a model.

    Prints what each system is worth alone, what the fusion loses without it, and what the fusion is worth. With
    --missing subset there is a fusion for every set of systems that scored a trial (subset=N: and for every set that
    lacks up to N of them), and --llrs are of every trial that one of them scored, whatever the order of the files.

    Many classes, such as languages: a score file has a column for each class. The fusion has one weight for each system
    and an offset for each class, trained at --prior; its output are log-likelihoods of the classes. Options about
    quality, --select, --alpha and --beta are for two classes.

    \b
    deciban fuse sysA.txt sysB.txt --key dev.key -o fusion.json
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --cross-validate speaker --llrs dev_llr.txt
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --quality quality.h5 --measures snr,speech
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --apply-to ea.txt --apply-to eb.txt --llrs eval_llr.txt
    deciban fuse a.txt b.txt c.txt --key dev.key -o fusion.json --select
    deciban fuse a.tsv b.tsv --key languages.key -o fusion.json --prior 0.5,0.3,0.2
    """
    from deciban.cli.shared.training import TrainingRequest, train
    from deciban.workflows.inputs import paths_of

    if (given["apply_key"] or given["apply_quality"]) and not apply_to:
        raise click.UsageError("--apply-key and --apply-quality belong to the scores of --apply-to. Name these.")
    own = ("output", "cross_validate", "llrs", "to", "interval", "write_as", "apply_key", "quiet", "shown")
    extra, named, inputs = _quality(given), {name: given.pop(name) for name in own}, paths_of(asked.inputs(scores, key))
    request = TrainingRequest(scores=inputs, key=key, apply_to=list(apply_to), extra=extra, **named)
    train(request, asked, lambda about: _fusion(about, asked.subsets, given, with_quality="quality" in extra))


def _quality(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of training about quality and selection, which are taken out of ``given``."""
    given["test_quality"] = given.pop("apply_quality")
    taken = {name: given.pop(name) for name in ("quality", "measures", "combine", "test_quality", "select")}
    arguments = {name: value for name, value in taken.items() if value}
    if ("measures" in arguments or "combine" in arguments) and "quality" not in arguments:
        raise click.UsageError("--measures and --combine are about quality measures: name their file with --quality.")
    return arguments


def _fusion(options: Options, subsets: str | None, given: Mapping[str, Any], *, with_quality: bool) -> ScoreModel:
    """The fusion that was asked for.

    Parameters
    ----------
    options : Options
    subsets : str or None
        What ``--missing`` says that is the business of a fusion.
    given : mapping
        ``asymmetric``, ``no_offsets`` and arguments of its constructor; None for those that were not given.
    with_quality : bool
    """
    from deciban import fusion

    own = {name: given[name] for name in ("p_target", "alpha", "beta", "ridge") if given[name] is not None}
    if options.kind == "classes":
        if subsets is not None:
            raise click.UsageError(
                "--missing subset is for two classes: drop segments that lack scores, or fill them in."
            )
        prior = prior_of_training(options.figures.prior, options.reading.classes)
        return fusion.MulticlassFusion(prior=prior, offsets=not given["no_offsets"], **own)
    if given["asymmetric"] and not with_quality:
        raise click.UsageError("--asymmetric is about quality measures: name their file with --quality.")
    if subsets is None:
        return (
            fusion.QualityFusion(symmetric=not given["asymmetric"], **own)
            if with_quality
            else fusion.LinearFusion(**own)
        )
    if with_quality:
        raise click.UsageError("--missing subset is for fusions without quality: leave --quality or the subsets out.")
    _, equals, number = subsets.partition("=")
    if equals and not number.isdecimal():
        raise click.BadParameter(f"{subsets!r}: N in subset=N is a number.", param_hint="--missing")
    return fusion.SubsetFusion(missing="subset", max_missing=int(number or 0), **own)


_ARGUMENTS = {"scores_are": "scores"}
_WORDS = dict.fromkeys(("shared_variance", "covariance"), "--separate-variances") | {"scores": "--scores-are"}
"""How options are written where that is not by the name of the argument."""


def _word(argument: str) -> str:
    return _WORDS.get(argument, f"--{argument.replace('_', '-')}")


def _listed(arguments: Iterable[str]) -> str:
    return ", ".join(sorted(map(_word, arguments))) or "none"


def calibrator_of(method: str, given: Mapping[str, Any]) -> Calibrator:
    """The calibrator that a user asked for.

    Parameters
    ----------
    method : str
    given : mapping of str to value
        The options of all methods; None for those that were not given.

    Raises
    ------
    click.UsageError
        If there is no such method, or an option belongs to another one.
    InputError
        If an option has a value that it cannot have.
    """
    from deciban import calibration

    own = {_ARGUMENTS.get(name, name): value for name, value in given.items() if value is not None}
    names = [name.strip() for name in method.split(",")]
    for name in names:
        if name not in METHODS:
            raise click.BadParameter(f"{name!r} is none. There are {', '.join(METHODS)}.", param_hint="--method")
    takes = {name: set(inspect.signature(getattr(calibration, METHODS[name])).parameters) for name in METHODS}
    for argument in own:
        if not any(argument in takes[name] for name in names):
            users = ", ".join(name for name in METHODS if argument in takes[name]) or "methods of many classes"
            raise click.UsageError(
                f"{_word(argument)} is no option of the method {method}, which takes "
                f"{_listed({word for name in names for word in takes[name]})}. It belongs to {users}."
            )
    steps = [
        getattr(calibration, METHODS[name])(**{key: value for key, value in own.items() if key in takes[name]})
        for name in names
    ]
    return steps[0] if len(steps) == 1 else calibration.Chain(*steps)


MULTICLASS_METHODS = {
    "affine": "MulticlassCalibrator",
    "scale": "MulticlassScaleCalibrator",
    "shift": "MulticlassShiftCalibrator",
    "gaussian": "GaussianBackend",
    "class-scale": "ClassScaleTransformation",
    "class-matrix": "MatrixTransformation",
    "pav": "DetectionPavTransformation",
    "one-against-rest": "DetectionAffineTransformation",
}
"""Calibrations, transformations and the back-end of many classes, as ``--method`` calls them."""

_SHARED = ("prior", "ridge", "toward_calibration", "smoothing", "interpolation", "bound")
"""Options that methods of many classes have."""


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

    if method not in MULTICLASS_METHODS:
        raise click.BadParameter(
            f"{method!r} is none for many classes. There are {', '.join(MULTICLASS_METHODS)}.", param_hint="--method"
        )
    own = {name: value for name, value in given.items() if value is not None}
    if method == "gaussian":
        own |= _covariance(own)
    made = getattr(calibration, MULTICLASS_METHODS[method])
    takes = set(inspect.signature(made).parameters)
    if foreign := [name for name in own if name not in takes]:
        known = _listed(takes & {*_SHARED, "covariance"})
        words = ", ".join(map(_word, foreign))
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
