"""Arrays and data frames as if they were score files: tables of trials, with the truth beside the scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deciban._validate import arrays as _validate
from deciban._validate.labels import several
from deciban._validate.probabilities import unit_of
from deciban.errors import InputError
from deciban.io.contents import Contents
from deciban.io.frames import columns_named, contents_of_frame, held, of_one_system
from deciban.multiclass.tables import ScoredClasses
from deciban.trials import ClassKey, ClassScores, Trials
from deciban.trials.frames.columns import is_frame
from deciban.types import Names, ScoreUnit
from deciban.workflows.inputs import ScoreFiles

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
