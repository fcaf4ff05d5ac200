"""What recipes need to know of models of many classes, and their data as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deciban.calibration import MulticlassCalibrator
from deciban.errors import InputError
from deciban.fusion import MulticlassFusion
from deciban.models import Model
from deciban.models.multiclass import ClassModel
from deciban.trials import ClassScores
from deciban.types import AnyArray, FloatArray, ScoreArray
from deciban.workflows.classes_joined import class_read_fact
from deciban.workflows.joined import fact

POSTERIOR_PRIOR = "posterior_prior"
"""Where the record of training says which prior was taken out of log posteriors."""


def is_fusion(model: ClassModel) -> bool:
    """Whether a model takes the scores of several systems."""
    return isinstance(model, MulticlassFusion)


def result_name(model: ClassModel, systems: Sequence[str]) -> str:
    """What tables call that which a model makes of systems; transformations are no calibrations."""
    if is_fusion(model):
        return "fusion"
    return f"{systems[0]}, {'calibrated' if isinstance(model, MulticlassCalibrator) else 'transformed'}"


def require_class_model(model: Model, shown: str) -> ClassModel:
    """Refuse models of two classes.

    Raises
    ------
    InputError
    """
    if not isinstance(model, ClassModel):
        raise InputError(f"{shown}: a model of kind {model.kind!r} is for two classes, but the scores are of classes.")
    model.require_fitted()
    return model


def model_data(model: ClassModel, scores: Sequence[ScoreArray]) -> AnyArray:
    """Scores as a model takes them: of one system (n, n_classes), of several (n, n_systems, n_classes).

    Raises
    ------
    InputError
        If there are several systems for a model of one.
    """
    if is_fusion(model):
        return np.stack(scores, axis=1)
    if len(scores) > 1:
        raise InputError(
            f"scores: {len(scores)} systems, but a model of kind {model.kind!r} is for one. Give one, or fuse them "
            "(deciban fuse)."
        )
    return scores[0]


def prior_text(prior: FloatArray | None) -> str | None:
    """A prior as it stands in the record of training, and as the command line takes it; None for a flat one."""
    if prior is None or np.ptp(prior) == 0.0:
        return None
    return ",".join(repr(p) for p in prior.tolist())


def require_same_posteriors(model: ClassModel, prior: FloatArray | None) -> None:
    """Refuse to apply a model to scores with another prior in them than those that it was trained on.

    Raises
    ------
    InputError
    """
    trained = None if model.training_ is None else model.training_.results.get(POSTERIOR_PRIOR)
    given = prior_text(prior)
    if trained is None and given is not None:
        raise InputError(
            "posterior_prior: given, but the model was trained on scores from which no prior was taken out. Leave it "
            "out, or train with it."
        )
    if trained is not None and given != trained:
        told = "none is named" if prior is None else given or "flat"
        raise InputError(
            f"posterior_prior: {told}, but the model was trained on log posteriors. It is for scores with the same "
            f"prior in them: name it (--posterior-prior {trained}), or train on scores like these."
        )


def in_order_of_model(model: ClassModel, scores: ClassScores) -> tuple[ClassScores, list[str]]:
    """Scores with the classes in the order of training.

    Returns
    -------
    ClassScores
    list of str
        What is to be said about it.

    Raises
    ------
    InputError
        If they are other classes.
    """
    facts = [class_read_fact(scores)]
    trained = model.classes_
    n_classes = len(trained) if trained else int(getattr(model, "n_classes_", len(scores.classes)))
    if trained is not None and set(trained) == set(scores.classes):
        return (scores if scores.classes == trained else scores.of_classes(trained)), facts
    numbered = tuple(map(str, range(n_classes)))
    if len(scores.classes) == n_classes and (trained is None or numbered in (trained, scores.classes)):
        if trained is not None and trained != numbered:
            facts.append(fact("note", f"classes in the order of training: {', '.join(trained)}"))
        return scores, facts
    known = f" ({', '.join(trained)})" if trained else ""
    raise InputError(
        f"{scores.trials.origin.name}: has scores for {', '.join(scores.classes[:20])}, but the model was trained on "
        f"{n_classes} classes{known}. Name the columns to take (--classes)."
    )
