"""Arrays and data frames as score files: for training (`calibrate`, `fuse`) and, of frames, for evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deciban import calibration, fusion
from deciban._validate import arrays as _validate
from deciban._validate.arrays import array, several
from deciban._validate.probabilities import unit_of
from deciban.errors import InputError
from deciban.io.contents import Contents
from deciban.io.frames import columns_named, contents_of_frame, held, of_one_system
from deciban.models.score_model import ScoreModel
from deciban.multiclass.tables import ScoredClasses
from deciban.trials import ClassKey, ClassScores, Trials
from deciban.trials.frames import is_frame
from deciban.types import Names, ScoreUnit
from deciban.workflows.inputs import ScoreFiles
from deciban.workflows.train import Trained, train_files

_OF_FILES = ("format", "columns", "key_format", "key_columns", "by_order", "missing", "kind", "weights_required")
"""Options of files that data frames and arrays have no use for."""

_NO_WORDS = "labels: are words for targets and non-targets. The classes of many are named by classes=."

WEIGHTS = "weights"
"""What the column of weights is called that came as an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a user said about scores in memory.

    Attributes
    ----------
    score : str, sequence of str, or mapping of str to sequence of str, optional
        Columns of scores; of arrays the names of systems.
    label : str or array_like, optional
        The truth, or its column.
    classes : sequence of str, optional
    sides : mapping of str to str or None
        Columns of the names of the trials.
    labels : mapping, optional
        Words for targets and non-targets.
    weights : str or array_like, optional
    options : mapping
        Whatever else was said, as functions on files take it, and ``name``.
    """

    score: Any = None
    label: Any = None
    classes: Names = None
    sides: Mapping[str, str | None] = field(default_factory=dict)
    labels: Mapping[str, str] | None = None
    weights: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = [name for name in self.options if name in _OF_FILES]
        if named:
            raise InputError(f"{', '.join(named)}: is about files, and there are none. Leave it out.")

    @property
    def in_arrays(self) -> bool:
        """Whether the truth is an array, and no column of a data frame."""
        return self.label is not None and not isinstance(self.label, str)

    @property
    def system(self) -> str | None:
        """What to call a single system, if it was said."""
        name = self.options.get("name")
        return None if name is None else str(name)

    @property
    def unit(self) -> ScoreUnit | None:
        """The unit that was declared for scores; None if none was."""
        return unit_of(log10=bool(self.options.get("log10")), lr=bool(self.options.get("lr")))

    @property
    def arguments(self) -> dict[str, Any]:
        """What is said of files as well."""
        return {name: value for name, value in self.options.items() if name != "name"}


def two_class_files(frame: Any, given: Given, unit: ScoreUnit | None = None) -> ScoreFiles:
    """A data frame with scores of systems and the truth, as if it were a file; a unit counts more than its columns."""
    named = columns_named("score", "score" if given.score is None else given.score)
    how: Any = {"labels": given.labels, "system": given.system or named[0], "unit": given.unit or unit}
    roles = {**given.sides, "score": named, "label": "label" if given.label is None else given.label}
    contents = contents_of_frame(frame, roles, need="scores", **how)
    return ScoreFiles((held(contents, "data frame"),), None)


def class_files(frame: Any, given: Given) -> ScoreFiles:
    """A data frame with scores of classes, of one system or of several, and the truth, as if they were files."""
    classes, score = given.classes, given.score
    if given.labels is not None:
        raise InputError(_NO_WORDS)
    if isinstance(classes, str) or not isinstance(classes, Iterable) or getattr(classes, "ndim", 1) == 0:
        raise InputError("classes: name the classes, whose scores are the columns: classes=['eng', 'fra'].")
    called = [str(one) for one in classes]
    if score is not None and not isinstance(score, Mapping):
        raise InputError("score: write the columns of each system: {'A': ['A eng', 'A fra'], 'B': ['B eng', 'B fra']}.")
    systems = {given.system or "system": called} if score is None else score
    roles = {**given.sides, "score": called, "class": "class" if given.label is None else given.label}
    inputs = []
    for name in systems:
        own = of_one_system(frame, systems, name, called)
        contents = contents_of_frame(own, roles, need="class-scores", system=name)
        inputs.append(held(contents, name))
    return ScoreFiles(tuple(inputs), None)


def two_class_arrays(scores: Any, given: Given) -> ScoreFiles:
    """Arrays of two classes as columns of a data frame."""
    if given.classes is not None:
        raise InputError("classes: the model is of two classes. Leave it out, or pass a model of many.")
    if _validate.array(scores, "scores").ndim == 2:
        matrix = _validate.score_matrix(scores, "scores")
        called = _names_of(matrix.shape[1], given.score)
    else:
        matrix = _validate.scores(scores, "scores")[:, None]
        called = [given.system or "system"]
    truth = _validate.array(given.label, "label")
    if truth.shape != (len(matrix),):
        raise InputError(f"label: expected {len(matrix)} labels, one per trial, got shape {truth.shape}.")
    weight = _validate.weights(given.weights, len(matrix), "weights")
    systems = dict(zip(called, matrix.T, strict=True))
    taken = {"label": truth, **({} if weight is None else {WEIGHTS: weight})}
    if set(taken) & set(systems):
        raise InputError(f"score: a system cannot be called {' or '.join(sorted(set(taken) & set(systems)))}.")
    own = replace(given, score=called, label="label")
    return two_class_files({**systems, **taken}, own, "nats")  # names of systems declare no unit


def class_arrays(scores: Any, given: Given) -> ScoreFiles:
    """Arrays of many classes as tables of trials."""
    if given.labels is not None:
        raise InputError(_NO_WORDS)
    array = _validate.array(scores, "scores")
    stacked = array[:, None] if array.ndim == 2 else array
    if stacked.ndim != 3 or not stacked.size:
        raise InputError(
            f"scores: expected shape (n_trials, n_classes), or (n_trials, n_systems, n_classes), got {array.shape}."
        )
    own = [given.system or "system"] if array.ndim == 2 else _names_of(stacked.shape[1], given.score)
    inputs = []
    for k, name in enumerate(own):
        checked = ScoredClasses.of(stacked[:, k], given.label, given.weights, given.classes)
        called = checked.classes or tuple(map(str, range(checked.n_classes)))
        conditions = {} if checked.weights is None else {WEIGHTS: checked.weights}
        trials = Trials.of_rows(len(checked.label), conditions=conditions)
        tables = ClassScores(trials, called, checked.loglik, name), ClassKey(trials, called, checked.label)
        inputs.append(held(Contents.of(*tables), name))
    return ScoreFiles(tuple(inputs), None)


def _names_of(n_systems: int, names: Any) -> list[str]:
    """What the systems of arrays are called."""
    if names is None:
        return [f"system {k + 1}" for k in range(n_systems)]
    listed = several(names, "score", "['sysA', 'sysB']")
    words = {one for one in listed if isinstance(one, str)}
    if not len(listed) == len(words) == n_systems:
        raise InputError(f"score: expected {n_systems} different names of systems, got {names!r}.")
    return listed


def require_frame(given: Any, otherwise: str) -> None:
    """Refuse what is no data frame where one is needed."""
    if not is_frame(given):
        raise InputError(
            f"{otherwise}, or a data frame (pandas, polars, Arrow, or a mapping of columns) and the names of its "
            f"columns; got {type(given).__name__} alone."
        )


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
