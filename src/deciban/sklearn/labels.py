"""The two labels of a detection problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from deciban.errors import InputError
from deciban.types import AnyArray


def two_classes(labels: ArrayLike, name: str) -> AnyArray:
    """Return the two different labels in ascending order, as ``classes_`` has them.

    Raises
    ------
    InputError
        If there are more, or only one, or some are NaN, infinite or of another kind than the rest.
    ValueError
        From scikit-learn, in its words, if these are no class labels at all: fractions, or several per trial.
    """
    given = np.asarray(labels)
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError(f"{name}: {np.count_nonzero(~np.isfinite(given))} labels are NaN or infinite.")
    try:
        check_classification_targets(given)
        kind = type_of_target(given, input_name=name, raise_unknown=True)
    except TypeError as error:
        raise InputError(f"{name}: labels of different kinds, which have no order: {error}.") from error
    if kind != "binary":  # the words are those that scikit-learn asks for
        raise InputError(f"{name}: Only binary classification is supported. The type of the target is {kind}.")
    found = np.unique(given)
    if len(found) < 2:
        raise InputError(f"{name}: all labels are {listed(found)}, one class. Two different ones are needed.")
    return found


def listed(labels: AnyArray) -> str:
    """The labels as people write them."""
    return ", ".join(map(repr, labels.tolist()))
