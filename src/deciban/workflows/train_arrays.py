"""Models trained on arrays and data frames; the way of files (`deciban.workflows.train`) for what is in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deciban import calibration, fusion
from deciban._validate.arrays import array
from deciban.errors import InputError
from deciban.models.score_model import ScoreModel
from deciban.types import Names
from deciban.workflows.memory_inputs import (
    WEIGHTS,
    Given,
    class_arrays,
    class_files,
    require_frame,
    two_class_arrays,
    two_class_files,
)
from deciban.workflows.train import train_files
from deciban.workflows.trained import Trained


def calibrate(
    scores: Any,
    label: Any = None,
    model: ScoreModel | None = None,
    *,
    score: str | None = None,
    classes: Names = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    weights: Any = None,
    **options: Any,
) -> Trained:
    """Train a map from scores to log-likelihood ratios, and tell what it is worth: arrays, or columns of a data frame.

    Parameters
    ----------
    scores : (n_trials,) array_like
        Scores of two classes; of many classes (n_trials, n_classes). Or a data frame; see `evaluate`.
    label : (n_trials,) array_like, or str
        The truth of each trial: booleans, 1 and 0, or words that are known; of many classes as in `evaluate_classes`.
        Of a data frame its column, ``"label"`` or ``"class"`` when left out.
    model : calibrator, optional
        What to train; a copy is, it stays as it is. ``AffineCalibrator()`` when left out, ``MulticlassCalibrator()``
        of many classes.
    score : str, optional
        Of a data frame: column of the scores of two classes, ``"score"`` when left out.
    classes : sequence of str, optional
        Many classes: names of the columns.
    enroll, test, side, trial : str, optional
        Of a data frame: columns of the names of the trials.
    labels : mapping, optional
        Other words for targets and non-targets.
    weights : (n_trials,) array_like, or str, optional
        How much each trial counts within its class; of a data frame its column.
    **options
        ``name`` (of the system), and as in `deciban.train_files`: ``cross_validate`` (a number of folds, or a column of
        a data frame such as the speaker), ``operating_points``, ``log10``, ``lr``, of many classes ``prior`` and the
        like.

    Returns
    -------
    Trained
        ``model`` is the trained calibrator, ``before`` and ``after`` are evaluations; see `deciban.train_files`.

    Raises
    ------
    InputError, FormatError
        If a score is NaN, a label has no known meaning, a column is not there, the model is a fusion, or nothing finite
        can be learnt.

    Examples
    --------
    >>> trained = calibrate([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [1, 1, 1, 0, 0, 0])
    >>> trained.model.transform([2.0]).round(3), round(trained.after.cllr, 3)
    (array([1.656]), 0.543)
    """
    sides = {"enroll": enroll, "test": test, "side": side, "trial": trial}
    given = Given(
        score=score, label=label, classes=classes, sides=sides, labels=labels, weights=weights, options=options
    )
    return _trained("calibrate", scores, model, given)


def fuse(
    scores: Any,
    label: Any = None,
    model: ScoreModel | None = None,
    *,
    score: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    classes: Names = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    weights: Any = None,
    **options: Any,
) -> Trained:
    """Train a fusion of several systems, and tell what each is worth: arrays, or columns of a data frame.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Scores of two classes; of many classes (n_trials, n_systems, n_classes). Or a data frame; see `evaluate`.
    label, model, enroll, test, side, trial, labels, weights
        As in `calibrate`; the model is a fusion, ``LinearFusion()`` when left out, ``MulticlassFusion()`` of many
        classes.
    score : sequence of str, or mapping of str to sequence of str
        Of a data frame: the columns of the systems; of many classes for each system its columns, in the order of
        ``classes``. Of arrays the names of the systems, ``system 1`` and so on when left out.
    classes : sequence of str, optional
        Many classes: their names.
    **options
        As in `calibrate`; ``select`` takes only systems that help.

    Returns
    -------
    Trained
        ``model`` is the trained fusion; ``rows`` have evaluations of each system alone, of the fusion without each, and
        of the fusion; see `deciban.train_files`.

    Raises
    ------
    InputError, FormatError
        As in `calibrate`, or if the model is no fusion.

    Examples
    --------
    >>> from deciban.fusion import LinearFusion
    >>> frame = {"a": [3, 1, 2, -1, 1.5, 0], "b": [1, 2, -0.5, 0.5, 0, -1], "y": [1, 1, 1, 0, 0, 0]}
    >>> trained = fuse(frame, label="y", score=["a", "b"], model=LinearFusion(ridge=0.1))
    >>> [(row.name, round(row.dev.cllr, 2)) for row in trained.rows]
    [('a', 0.64), ('b', 0.82), ('fusion', 0.5)]
    """
    sides = {"enroll": enroll, "test": test, "side": side, "trial": trial}
    given = Given(
        score=score, label=label, classes=classes, sides=sides, labels=labels, weights=weights, options=options
    )
    return _trained("fuse", scores, model, given)


def _trained(verb: str, scores: Any, model: ScoreModel | None, given: Given) -> Trained:
    """Train on arrays or a data frame, of either kind."""
    chosen = _model_for(verb, model, many=given.classes is not None)
    many, weights = chosen.scores_kind == "classes", given.weights
    if verb == "calibrate":
        _require_one(given, array(scores, "scores").ndim if given.in_arrays else 0, many=many)
    if given.in_arrays:
        named = [side for side, column in given.sides.items() if column is not None]
        if named:
            raise InputError(f"{', '.join(named)}: names a column of a data frame, and there are arrays. Leave it out.")
        files = (class_arrays if many else two_class_arrays)(scores, given)
        weights = None if weights is None else WEIGHTS
    else:
        require_frame(scores, "label: none given. Pass the truth of the trials beside their scores")
        if verb == "fuse" and given.score is None:
            raise InputError("score: none given. Name the columns of the systems: score=['sysA', 'sysB'].")
        files = (class_files if many else two_class_files)(scores, given)
    about = {**given.arguments, **({"classes": given.classes} if many else {})}
    return train_files(files, None, chosen, weights=weights, **about)


def _model_for(verb: str, model: ScoreModel | None, *, many: bool) -> ScoreModel:
    """What to train: the model that was given, if it is what the verb makes."""
    if model is None:
        if verb == "fuse":
            return fusion.MulticlassFusion() if many else fusion.LinearFusion()
        return calibration.MulticlassCalibrator() if many else calibration.AffineCalibrator()
    if not isinstance(model, ScoreModel):
        raise InputError(f"model: got {type(model).__name__}. Pass a calibrator or fusion, such as AffineCalibrator().")
    if model.is_fusion != (verb == "fuse"):
        other = "deciban.fuse" if model.is_fusion else "deciban.calibrate"
        raise InputError(f"model: {type(model).__name__} is what {other} trains. Call that, or pass another model.")
    return model


def _require_one(given: Given, n_axes: int, *, many: bool) -> None:
    """Refuse to calibrate several systems at once: several columns, or an array with an axis too many."""
    if n_axes > 1 + many or not isinstance(given.score, str | int | None):
        raise InputError("scores: of several systems, but a calibration is of one. Pass one, or call deciban.fuse.")
