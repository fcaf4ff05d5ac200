"""Methods of training as users name them, each with its options: for two classes and for many."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from deciban.calibration import Calibrator
    from deciban.models.multiclass import ClassModel

METHODS = {
    "affine": "AffineCalibrator",
    "pav": "PavCalibrator",
    "gaussian": "GaussianCalibrator",
    "beta": "BetaCalibrator",
    "shift": "ShiftCalibrator",
    "scale": "ScaleCalibrator",
    "bound": "BoundCalibrator",
    "elub": "ElubCalibrator",
}
"""The class of each method; the options are called as the arguments of its constructor, but for those below."""

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
