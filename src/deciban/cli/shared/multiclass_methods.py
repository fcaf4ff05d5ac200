"""Calibrations, transformations and back-ends of many classes as users name them, each with its options."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from deciban.models.multiclass import ClassModel

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
_WORDS = {"covariance": "--separate-variances", "shared_variance": "--separate-variances"}
"""Options that methods of many classes have, and how they are written where that is not by their name."""


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
