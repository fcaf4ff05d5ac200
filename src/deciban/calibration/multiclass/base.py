"""What all maps from log-likelihoods to log-likelihoods share, and why a covariance is singular."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from deciban._validate import classes as _validate_classes
from deciban.core.classes.gaussian import NOISE, is_singular
from deciban.errors import InputError
from deciban.models.multiclass import NAMES, VECTOR, ClassModel, LabelledClasses
from deciban.types import FloatArray, IntArray


def require_regular(
    model: FloatArray, data: LabelledClasses, *, shared: FloatArray, own: int | None, may_smooth: bool
) -> None:
    """Refuse a covariance without an inverse.

    Parameters
    ----------
    model : (n_features, n_features) array
        Of features relative to their ranges, with the ridge.
    data : LabelledClasses
        What it was estimated from.
    shared : (n_features, n_features) array
        The shared covariance, without the ridge.
    own : int, optional
        The class of which it is; shared by all if not given.
    may_smooth : bool
        Whether no part of the shared one is in it.

    Raises
    ------
    InputError
        If it is singular; the message names the features that have no variance.
    """
    constant = np.flatnonzero(np.diag(model) <= NOISE)
    if len(constant) == 0 and not is_singular(model):
        return
    counts = np.ones(len(data.label), np.bool_) if data.weight is None else data.weight > 0
    n_trials, n_features = int(np.count_nonzero(counts if own is None else counts & (data.label == own))), len(model)
    is_seen_once = n_trials == (data.n_classes if own is None else 1)
    of_class = None if own is None else _validate_classes.called(own, data.classes)
    ways = 'covariance="smoothed" or ridge=1e-3' if may_smooth else "ridge=1e-3"
    for_good = np.flatnonzero(np.diag(shared) <= NOISE)
    if len(for_good) and not is_seen_once:
        mattering = "" if data.prior.all() else " of prior above 0"
        raise InputError(
            f"features: {_listed(for_good, n_features)} the same within each class{mattering}, so its shared variance "
            "is 0, and so is any ridge, which is a multiple of that. Leave it out."
        )
    if len(constant) and not is_seen_once:
        raise InputError(
            f"features: {_listed(constant, n_features)} the same in all trials of {of_class}, so its variance is 0. "
            f"Set {ways}, or leave it out."
        )
    whose = "shared covariance" if of_class is None else f"covariance of {of_class}"
    cause = "there are too few trials, or some features follow from others"
    way = "Collect more trials" if len(for_good) else f"Set {ways}, leave features out, or collect more trials"
    raise InputError(
        f"features: the {whose}, of {n_features} features from {n_trials:,} trial{'' if n_trials == 1 else 's'}, is "
        f"singular: {cause}. {way}."
    )


def _listed(features: IntArray, n_features: int) -> str:
    more = f" (and {len(features) - 1} more of {n_features})" if len(features) > 1 else ""
    return f"feature {features[0]}{more} is"


class ClassMap(ClassModel):
    """A map from log-likelihoods of one system to log-likelihoods, trained on labelled trials of many classes."""

    parameter_schema: ClassVar[dict[str, Any]] = {"classes": NAMES, "offset": VECTOR}
