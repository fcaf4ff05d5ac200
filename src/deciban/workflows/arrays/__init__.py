"""Functions on arrays and data frames: evaluate, compare, calibrate and fuse.

`deciban.evaluation` evaluates arrays directly. Other inputs become tables of trials, and are handled like files.
Imports are delayed, so that an evaluation of arrays loads only numpy and scipy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from deciban._validate import arrays as _validate
from deciban._validate.arrays import unit_of
from deciban._validate.classes import llrs_of_ratios
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError, names_apart, option, refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deciban.analysis.comparison import Against, Comparison
    from deciban.core.ranks.roc import PointLike
    from deciban.evaluation import ClassEvaluation, Evaluation, Results
    from deciban.evaluation.one_system import OneSystem
    from deciban.models.score_model import ScoreModel
    from deciban.types import Frame, KindName, Names, Raw, ScoreUnit, Weights
    from deciban.workflows.reading.inputs import ScoreFiles
    from deciban.workflows.train import Trained


@overload
def evaluate(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    name: str = ...,
    operating_points: Iterable[PointLike] = ...,
    tar_weights: Weights = None,
    non_weights: Weights = None,
    lr: bool = False,
    **metrics: Raw,
) -> Evaluation: ...
@overload
def evaluate(
    tar: Frame,
    non: None = None,
    *,
    score: str | None = None,
    label: str | None = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    **options: Raw,
) -> Evaluation: ...
@overload
def evaluate(tar: Frame, non: None = None, *, score: Sequence[str], **options: Raw) -> Results[Evaluation]: ...
def evaluate(
    tar: ArrayLike | Frame,
    non: ArrayLike | None = None,
    *,
    score: str | Sequence[str] | None = None,
    label: str | None = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    **options: object,
) -> Evaluation | Results[Evaluation]:
    """Evaluate two-class scores: two arrays, or columns of a data frame.

    ``evaluate(tar, non)`` needs the scores of targets and of non-targets. ``evaluate(frame, score="llr",
    label="is_target")`` needs a pandas, polars or Arrow table, or a mapping of columns, with a row for each trial. The
    arguments are not those of scikit-learn: for labels and scores, pass ``evaluate(score[y == 1], score[y == 0])``.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials. Metrics of calibrated scores need natural-log likelihood ratios; see
        `deciban.evaluation.evaluate`. Or a data frame as ``tar``, without ``non``.
    score : str or sequence of str, optional
        Column of the scores, or columns of several systems. By default ``"score"``.
    label : str, optional
        Column of the truth: booleans, 1 and 0, or known words such as target and nontarget. By default ``"label"``.
    enroll, test, side, trial : str, optional
        Columns of trial names, for messages and to refuse duplicate trials.
    labels : mapping, optional
        Words in the column of the truth: ``{"target": "bonafide", "nontarget": "spoof"}``.
    **options
        ``name`` of the system, and ``operating_points``. ``lr=True``: the scores are likelihood ratios, not logarithms
        (the default for a column called ``lr``). ``negate=True``: lower scores favour targets. ``intervals=False``: no
        confidence intervals. Arrays: ``tar_weights``, ``non_weights``, ``tar_units`` and ``non_units``, as in
        `deciban.evaluation.evaluate`. Data frames: ``weights`` (a column), ``where`` (``{"gender": "f"}``: only these
        rows), ``duplicates``, ``log10``, and options of uncertainty such as ``units`` (a column, a column for each
        side, or a mapping of names to units), as in `deciban.evaluate_files`. Without units or linked names, trials are
        assumed to be independent.

    Returns
    -------
    Evaluation
        For one system. `Results` for a sequence of columns, even of one column, and with conditions (``by``,
        ``equalize``).

    Raises
    ------
    InputError, FormatError
        If a class is empty, a score is NaN or missing, a label is unknown, a column does not exist, or the arguments
        are labels and scores instead of the scores of two classes.

    Examples
    --------
    >>> evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).min_cllr.__round__(4)
    0.3333
    >>> frame = {"llr": [1.0, 2.0, 2.0, 0.0, 1.0, -1.0], "same": ["yes", "yes", "yes", "no", "no", "no"]}
    >>> found = evaluate(frame, score="llr", label="same", labels={"target": "yes", "nontarget": "no"})
    >>> found.name, found.n_tar, round(found.min_cllr, 4)
    ('llr', 3, 0.3333)
    """
    sides = {"enroll": enroll, "test": test, "side": side, "trial": trial}
    if non is not None:
        _refuse_columns({"score": score, "label": label, **sides, "labels": labels})
        _refuse_frame(tar, non)
        from deciban.evaluation import evaluate as of_arrays

        if options.pop("lr", False):
            _validate.pair(tar, non)  # refuses labels instead of scores
            tar, non = llrs_of_ratios(tar, "tar"), llrs_of_ratios(non, "non")
        if options.pop("negate", False):
            tar, non = (-one for one in _validate.pair(tar, non))
        return of_arrays(tar, non, **_with_units(options, {"tar_units": tar, "non_units": non}))

    require_frame(tar, "non: none given. Pass the scores of targets and of non-targets")
    value = ArrayArguments(score=score, label=label, sides=sides, labels=labels, options=options)
    results = _evaluated(two_class_files(tar, value), "two-class", value)
    is_one = (score is None or isinstance(score, str | int)) and not results.conditions
    return results.systems[0] if is_one else results


@overload
def evaluate_classes(
    loglik: ArrayLike | Frame,
    label: ArrayLike | str | None = None,
    *,
    classes: Names = None,
    score: None = None,
    trial: str | None = None,
    **options: Raw,
) -> ClassEvaluation: ...
@overload
def evaluate_classes(
    loglik: ArrayLike | Frame,
    label: str | None = None,
    *,
    classes: Names = None,
    score: Mapping[str, Sequence[str]],
    trial: str | None = None,
    **options: Raw,
) -> Results[ClassEvaluation]: ...
def evaluate_classes(
    loglik: ArrayLike | Frame,
    label: ArrayLike | str | None = None,
    *,
    classes: Names = None,
    score: Mapping[str, Sequence[str]] | None = None,
    trial: str | None = None,
    **options: object,
) -> ClassEvaluation | Results[ClassEvaluation]:
    """Evaluate multiclass scores: a matrix with labels, or columns of a data frame.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Natural-log likelihoods; see `deciban.evaluation.evaluate_classes`. Or a data frame (pandas, polars, Arrow or a
        mapping of columns) with a row for each segment.
    label : (n_trials,) array_like, or str
        True classes: indices from 0, or names if ``classes`` are given. Data frame: column of the names of the true
        classes, by default ``"class"``.
    classes : sequence of str, optional
        Names of the columns of a matrix. Data frame: the columns of the scores, which are named after the classes.
    score : mapping of str to sequence of str, optional
        Data frame: the columns of each of several systems, in the order of ``classes``.
    trial : str, optional
        Data frame: column of segment names, for messages.
    **options
        ``lr=True``: the scores are likelihoods, not logarithms. As in `deciban.evaluation.evaluate_classes`: ``name``,
        ``prior``, ``p_target``, ``p_out_of_set``, ``subsets``, ``pairs``. ``intervals=False``: no confidence intervals.
        Arrays: ``sample_weight`` and ``units``; without units, segments are assumed to be independent. Data frames:
        ``groups``, ``weights`` (a column), ``where``, ``posterior_prior``, ``detection_llr``, ``log10``, and options of
        uncertainty such as ``units`` (a column), as in `deciban.evaluate_files`.

    Returns
    -------
    ClassEvaluation
        For one system. `Results` with ``score`` or with conditions (``by``, ``equalize``).

    Raises
    ------
    InputError, FormatError
        If a score is NaN, a label is unknown, a class has no trials, a prior is out of range, or a column does not
        exist.

    Examples
    --------
    >>> frame = {"cat": [2.0, 0.0, 1.0], "dog": [0.0, 1.0, 0.5], "animal": ["cat", "dog", "dog"]}
    >>> found = evaluate_classes(frame, label="animal", classes=["cat", "dog"])
    >>> found.classes, found.confusion.tolist()
    (('cat', 'dog'), [[1, 0], [1, 1]])
    """
    if label is not None and not isinstance(label, str):
        _refuse_columns({"score": score, "trial": trial})
        from deciban.evaluation import evaluate_classes as of_arrays

        loglik = llrs_of_ratios(loglik, "loglik") if options.pop("lr", False) else loglik
        return of_arrays(loglik, label, classes=classes, **_with_units(options, {"units": label}))

    require_frame(loglik, "label: none given. Pass log-likelihoods and true classes")
    arguments = ArrayArguments(score=score, label=label, classes=classes, sides={"trial": trial}, options=options)
    results = _evaluated(class_files(loglik, arguments), "classes", arguments)
    return results.systems[0] if score is None and not results.conditions else results


def compare(
    first: OneSystem | Results[Any] | tuple[ArrayLike, ArrayLike] | Frame,
    second: object = None,
    *others: object,
    names: Sequence[str] | None = None,
    against: Against | str = "all",
    level: float = LEVEL,
    permutations: int = 0,
    seed: int = 0,
    **options: object,
) -> Comparison:
    """Compare systems on the same trials: differences of metrics with paired intervals and p-values.

    Parameters
    ----------
    first, second, *others : Evaluation, ClassEvaluation, or pair of arrays
        Evaluations with units; or the scores of targets and of non-targets of each system, with the same units
        ``tar_units`` and ``non_units``. Or only ``first``: a data frame, with ``score`` for the columns of all systems
        and ``units`` for the column of the units; or the `Results` of several systems.
    names : sequence of str, optional
        Names of the systems.
    against : {"all", "first"} or str
        Compare all pairs, or every system with the first one or with the system of this name.
    level : float
        Level of the intervals.
    permutations : int
        Number of replicates of a permutation test, which exchanges the two systems by units; with 0, p-values come from
        a t test.
    seed : int
        Seed of the permutations.
    **options
        Options for arrays and data frames, as in `deciban.evaluate`.

    Returns
    -------
    Comparison
        Differences are first minus second.

    Raises
    ------
    InputError
        If there are fewer than two systems, units are unknown, operating points differ, or as in `deciban.evaluate`.

    Notes
    -----
    The influences of a unit on the metrics of two systems are subtracted: with ``d_k`` the difference for unit k, the
    variance of the difference is ``n / (n - 1) sum d_k^2``, and its interval uses the t quantile with the effective
    number of units minus 1. Evaluations of different trials are compared in the same way: units of only one evaluation
    vary independently, and n is the smaller number of units.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> speaker = np.repeat(np.arange(50), 4)
    >>> easy, hard = rng.normal(2.0, 1.0, (2, 200))
    >>> non = rng.normal(-2.0, 1.0, 200)
    >>> found = compare((easy, non), (hard - 1.0, non), names=["A", "B"], tar_units=speaker, non_units=speaker)
    >>> difference = found.difference("cllr")
    >>> difference.high < 0.0, difference.p_value < 0.01
    (True, True)
    """
    from deciban.analysis.comparison import compare_results
    from deciban.evaluation.results import Results

    items = (first, *(() if second is None else (second, *others)))
    if len(items) == 1:
        results = _together(first, options)
    else:
        results = Results(tuple(_evaluated_system(one, at, options) for at, one in enumerate(items)))
    systems = results.systems
    called = [one.name for one in systems]
    if names is not None:
        if isinstance(names, str) or len(names) != len(systems):
            raise InputError(f"names: got {names!r} for {len(systems)} systems. Give one name for each.")
        called = list(map(str, names))
    elif len(set(called)) == 1:
        called = [f"system {k + 1}" for k in range(len(systems))]
    results = replace(results, systems=_renamed(systems, names_apart(called, ()) if names is None else called))
    return compare_results(results, against=against, level=level, permutations=permutations, seed=seed)


def _renamed(systems: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(one if one.name == name else replace(one, name=name) for one, name in zip(systems, names, strict=True))


def _together(value: object, options: dict[str, Any]) -> Results[Any]:
    """Return the results of several systems, possibly after evaluating a data frame."""
    from deciban.evaluation.one_system import OneSystem
    from deciban.evaluation.results import Results

    if isinstance(value, Results):
        refuse(options, "is for scores, but the arguments are evaluations. Leave it out.")
        return value
    if isinstance(value, OneSystem):
        raise InputError("second: none given. A comparison needs two systems: compare(first, second).")
    results = evaluate(value, **options)
    if not isinstance(results, Results):
        raise InputError("score: name the columns of all systems: score=['a', 'b'].")
    return results


def _evaluated_system(value: object, at: int, options: dict[str, Any]) -> Any:
    """Return an evaluation, possibly after evaluating scores of both classes."""
    from deciban.evaluation.one_system import OneSystem

    if isinstance(value, OneSystem):
        refuse(options, "is for scores, but the arguments are evaluations. Leave it out.")
        return value
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(
            f"system {at + 1}: got {type(value).__name__}. Pass an evaluation with units, or a pair of arrays with the "
            "scores of targets and of non-targets. Pass a data frame as the only argument."
        )
    return evaluate(*value, name=f"system {at + 1}", **options)


def _evaluated(files: ScoreFiles, kind: KindName, arguments: ArrayArguments) -> Results[Any]:
    from deciban.workflows.evaluate import evaluate_source
    from deciban.workflows.options import Options

    about: dict[str, Any] = {"kind": kind, **({"classes": arguments.classes} if kind == "classes" else {})}
    options = Options.of("evaluate" if kind == "two-class" else "evaluate_classes", {**arguments.arguments, **about})
    options.scale.refuse("an evaluation of arrays and frames")
    return evaluate_source(files.as_source(options), options)


def _with_units(options: dict[str, Any], classes: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for arrays in which every trial is a unit, unless units are given or intervals are off.

    Parameters
    ----------
    options : dict
    classes : mapping of str to array_like
        Arguments for units, each with an array of one entry per trial.
    """
    entries = dict(options)
    intervals = entries.pop("intervals", True)
    if not isinstance(intervals, bool):
        raise InputError(f"intervals: got {intervals!r}. It must be True or False.")
    if not intervals or any(entries.get(name) is not None for name in classes):
        return entries
    import numpy as np

    from deciban.core.resampling.units import TrialUnits

    try:
        sizes = [np.asarray(one).shape for one in classes.values()]
    except ValueError:  # the evaluation refuses it with a reason
        return entries
    if any(len(size) != 1 for size in sizes):
        return entries
    ends = np.cumsum([0, *(n for (n,) in sizes)]).tolist()
    units = TrialUnits.each(ends[-1], "trial" if len(sizes) > 1 else "segment")
    return entries | {name: units.take(slice(*ends[at : at + 2])) for at, name in enumerate(classes)}


def _refuse_columns(entries: Mapping[str, Any]) -> None:
    """Refuse names of columns with arrays."""
    why = "is for a data frame, and the first two arguments are arrays. Pass only the frame, or leave it out."
    refuse((name for name, value in entries.items() if value is not None), why)


def _refuse_frame(tar: object, non: object) -> None:
    """Refuse a data frame, or the name of a column, instead of the scores of a class."""
    if isinstance(non, str):
        raise InputError(f"non: got {non!r}. Columns of a data frame are named: score={non!r}, label='label'.")
    for name, one in (("tar", tar), ("non", non)):
        if isinstance(one, Mapping) or (hasattr(one, "columns") and getattr(one, "ndim", 2) == 2):
            raise InputError(
                f"{name}: got {type(one).__name__}, which has columns. Pass the frame as the only positional argument, "
                "and name the columns: evaluate(frame, score='llr', label='is_target')."
            )


_OF_FILES = ("format", "columns", "key_format", "key_columns", "by_order", "missing", "kind", "weights_required")
"""Options for files, which are not allowed with data frames and arrays."""

_NO_WORDS = "labels: are words for targets and non-targets. Name the classes of multiclass scores with classes."

WEIGHTS = "weights"
"""Name of a column for weights that were given as an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayArguments:
    """Arguments for scores in memory.

    Attributes
    ----------
    score : str, sequence of str, or mapping of str to sequence of str, optional
        Columns of scores; with arrays, names of systems.
    label : str or array_like, optional
        The truth, or the name of its column.
    classes : sequence of str, optional
    sides : mapping of str to str or None
        Columns of trial names.
    labels : mapping, optional
        Label words of targets and non-targets.
    weights : str or array_like, optional
    options : mapping
        Further options, as for functions on files, and ``name``.
    """

    score: Raw = None
    label: Raw = None
    classes: Names = None
    sides: Mapping[str, str | None] = field(default_factory=dict)
    labels: Mapping[str, str] | None = None
    weights: Raw = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refuse((name for name in self.options if name in _OF_FILES), "is for files, and there are none. Leave it out.")

    @property
    def in_arrays(self) -> bool:
        """True if the truth is an array, not a column of a data frame."""
        return self.label is not None and not isinstance(self.label, str)

    @property
    def system(self) -> str | None:
        """Name of a single system, if given."""
        return None if self.options.get("name") is None else str(self.options["name"])

    @property
    def unit(self) -> ScoreUnit | None:
        """Declared unit of the scores; None if none was declared."""
        return unit_of(log10=bool(self.options.get("log10")), lr=bool(self.options.get("lr")))

    @property
    def arguments(self) -> dict[str, Any]:
        """Options that functions on files have, too."""
        return {name: value for name, value in self.options.items() if name != "name"}


def two_class_files(frame: object, arguments: ArrayArguments, unit: ScoreUnit | None = None) -> ScoreFiles:
    """Return a data frame of two-class systems and the truth as files; `unit` takes precedence over column names."""
    from deciban.io.columns.columnar import columns_named, contents_of_frame
    from deciban.io.recognition import held_in_memory
    from deciban.workflows.reading.inputs import ScoreFiles

    named = columns_named("score", "score" if arguments.score is None else arguments.score)
    read = partial(
        contents_of_frame, labels=arguments.labels, system=arguments.system or named[0], unit=arguments.unit or unit
    )
    roles = {**arguments.sides, "score": named, "label": "label" if arguments.label is None else arguments.label}
    return ScoreFiles((held_in_memory(read(frame, roles, need="scores"), "data frame"),), None)


def class_files(frame: object, arguments: ArrayArguments) -> ScoreFiles:
    """Return a data frame of multiclass systems and the truth as files."""
    from deciban.io.columns.columnar import contents_of_frame, of_one_system
    from deciban.io.recognition import held_in_memory
    from deciban.workflows.reading.inputs import ScoreFiles

    classes, score = arguments.classes, arguments.score
    if arguments.labels is not None:
        raise InputError(_NO_WORDS)
    if isinstance(classes, str) or not isinstance(classes, Iterable) or getattr(classes, "ndim", 1) == 0:
        raise InputError(f"classes: name the classes; their scores are the columns: {option(classes=['eng', 'fra'])}.")
    called = [str(one) for one in classes]
    if score is not None and not isinstance(score, Mapping):
        raise InputError("score: write the columns of each system: {'A': ['A eng', 'A fra'], 'B': ['B eng', 'B fra']}.")
    systems = {arguments.system or "system": called} if score is None else score
    roles = {**arguments.sides, "score": called, "class": "class" if arguments.label is None else arguments.label}
    inputs = []
    for name in systems:
        own = of_one_system(frame, systems, name, called)
        inputs.append(held_in_memory(contents_of_frame(own, roles, need="class-scores", system=name), name))
    return ScoreFiles(tuple(inputs), None)


def two_class_arrays(scores: ArrayLike, arguments: ArrayArguments) -> ScoreFiles:
    """Return two-class arrays as files."""
    if arguments.classes is not None:
        raise InputError("classes: the model is two-class. Leave it out, or pass a multiclass model.")
    if _validate.array(scores, "scores").ndim == 2:
        matrix = _validate.score_matrix(scores, "scores")
        called = _names_of(matrix.shape[1], arguments.score)
    else:
        matrix = _validate.scores(scores, "scores")[:, None]
        called = [arguments.system or "system"]
    truth = _validate.array(arguments.label, "label")
    if truth.shape != (len(matrix),):
        raise InputError(f"label: expected {len(matrix)} labels, one per trial, got shape {truth.shape}.")
    weight = _validate.weights(arguments.weights, len(matrix), "weights")
    systems = dict(zip(called, matrix.T, strict=True))
    taken = {"label": truth, **({} if weight is None else {WEIGHTS: weight})}
    if set(taken) & set(systems):
        raise InputError(f"score: a system cannot be called {' or '.join(sorted(set(taken) & set(systems)))}.")
    own = replace(arguments, score=called, label="label")
    return two_class_files({**systems, **taken}, own, "nats")  # names of systems do not declare units


def class_arrays(scores: ArrayLike, arguments: ArrayArguments) -> ScoreFiles:
    """Return multiclass arrays as files."""
    from deciban.io.formats import Contents
    from deciban.io.recognition import held_in_memory
    from deciban.multiclass.tables import ScoredClasses
    from deciban.trials import ClassKey, ClassScores, Trials
    from deciban.workflows.reading.inputs import ScoreFiles

    if arguments.labels is not None:
        raise InputError(_NO_WORDS)
    array = _validate.array(scores, "scores")
    stacked = array[:, None] if array.ndim == 2 else array
    if stacked.ndim != 3 or not stacked.size:
        raise InputError(
            f"scores: expected shape (n_trials, n_classes), or (n_trials, n_systems, n_classes), got {array.shape}."
        )
    own = [arguments.system or "system"] if array.ndim == 2 else _names_of(stacked.shape[1], arguments.score)
    inputs = []
    for k, name in enumerate(own):
        checked = ScoredClasses.of(stacked[:, k], arguments.label, arguments.weights, arguments.classes)
        called = checked.classes or tuple(map(str, range(checked.n_classes)))
        conditions = {} if checked.weights is None else {WEIGHTS: checked.weights}
        trials = Trials.of_rows(len(checked.label), conditions=conditions)
        tables = ClassScores(trials, called, checked.loglik, name), ClassKey(trials, called, checked.label)
        inputs.append(held_in_memory(Contents.of(*tables), name))
    return ScoreFiles(tuple(inputs), None)


def _names_of(n_systems: int, names: object) -> list[str]:
    """Return the names of the systems of arrays."""
    if names is None:
        return [f"system {k + 1}" for k in range(n_systems)]
    from deciban._validate.arrays import several

    items = several(names, "score", "['sysA', 'sysB']")
    if not len(items) == len({one for one in items if isinstance(one, str)}) == n_systems:
        raise InputError(f"score: expected {n_systems} different names of systems, got {names!r}.")
    return items


def require_frame(value: object, otherwise: str) -> None:
    """Refuse an argument that is not a data frame."""
    from deciban.trials.frames import is_frame

    if not is_frame(value):
        raise InputError(
            f"{otherwise}, or a data frame (pandas, polars, Arrow, or a mapping of columns) and the names of its "
            f"columns; got {type(value).__name__} alone."
        )


def calibrate(
    scores: ArrayLike | Frame,
    label: ArrayLike | str | None = None,
    model: ScoreModel | None = None,
    *,
    score: str | None = None,
    classes: Names = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    weights: ArrayLike | str | None = None,
    **options: object,
) -> Trained:
    """Train a calibration to log-likelihood ratios, and evaluate it: arrays, or columns of a data frame.

    Parameters
    ----------
    scores : (n_trials,) array_like
        Two-class scores; multiclass (n_trials, n_classes). Or a data frame; see `evaluate`.
    label : (n_trials,) array_like, or str
        Truth of each trial: booleans, 1 and 0, or known words; multiclass as in `evaluate_classes`. Data frame: its
        column, by default ``"label"`` or ``"class"``.
    model : calibrator, optional
        Model to copy and train. By default ``AffineCalibrator()``, multiclass ``MulticlassCalibrator()``.
    score : str, optional
        Data frame: column of the two-class scores, by default ``"score"``.
    classes : sequence of str, optional
        Multiclass: names of the columns.
    enroll, test, side, trial : str, optional
        Data frame: columns of trial names.
    labels : mapping, optional
        Label words of targets and non-targets.
    weights : (n_trials,) array_like, or str, optional
        Weight of each trial within its class; data frame: its column.
    **options
        ``name`` of the system, and as in `deciban.train_files`: ``cross_validate`` (a number of folds, or a column of
        a data frame such as the speaker), ``operating_points``, ``log10``, ``lr``, multiclass ``prior``, and others.

    Returns
    -------
    Trained
        ``model`` is the trained calibrator, ``before`` and ``after`` are evaluations; see `deciban.train_files`.

    Raises
    ------
    InputError, FormatError
        If a score is NaN, a label is unknown, a column does not exist, the model is a fusion, or the optimum is not
        finite.

    Examples
    --------
    >>> trained = calibrate([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [1, 1, 1, 0, 0, 0])
    >>> trained.model.transform([2.0]).round(3), round(trained.after.cllr, 3)
    (array([1.656]), 0.543)
    """
    sides = {"enroll": enroll, "test": test, "side": side, "trial": trial}
    make = partial(ArrayArguments, score=score, label=label, classes=classes, labels=labels, weights=weights)
    return _trained("calibrate", scores, model, make(sides=sides, options=options))


def fuse(
    scores: ArrayLike | Frame,
    label: ArrayLike | str | None = None,
    model: ScoreModel | None = None,
    *,
    score: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    classes: Names = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    weights: ArrayLike | str | None = None,
    **options: object,
) -> Trained:
    """Train a fusion of several systems, and evaluate it and its systems: arrays, or columns of a data frame.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Two-class scores; multiclass (n_trials, n_systems, n_classes). Or a data frame; see `evaluate`.
    label, model, enroll, test, side, trial, labels, weights
        As in `calibrate`, with a fusion as model: by default ``LinearFusion()``, multiclass ``MulticlassFusion()``.
    score : sequence of str, or mapping of str to sequence of str
        Data frame: the columns of the systems; multiclass: the columns of each system, in the order of ``classes``.
        Arrays: the names of the systems, by default ``system 1`` and so on.
    classes : sequence of str, optional
        Multiclass: names of the classes.
    **options
        As in `calibrate`; ``select=True`` uses only systems that help.

    Returns
    -------
    Trained
        ``model`` is the trained fusion; ``rows`` contain evaluations of each system, of the fusion without each system,
        and of the fusion; see `deciban.train_files`.

    Raises
    ------
    InputError, FormatError
        As in `calibrate`, or if the model is not a fusion.

    Examples
    --------
    >>> from deciban.fusion import LinearFusion
    >>> frame = {"a": [3, 1, 2, -1, 1.5, 0], "b": [1, 2, -0.5, 0.5, 0, -1], "y": [1, 1, 1, 0, 0, 0]}
    >>> trained = fuse(frame, label="y", score=["a", "b"], model=LinearFusion(ridge=0.1))
    >>> [(row.name, round(row.dev.cllr, 2)) for row in trained.rows]
    [('a', 0.64), ('b', 0.82), ('fusion', 0.5)]
    """
    sides = {"enroll": enroll, "test": test, "side": side, "trial": trial}
    make = partial(ArrayArguments, score=score, label=label, classes=classes, labels=labels, weights=weights)
    return _trained("fuse", scores, model, make(sides=sides, options=options))


def _trained(verb: str, scores: ArrayLike | Frame, model: ScoreModel | None, arguments: ArrayArguments) -> Trained:
    """Train on arrays or a data frame, two-class or multiclass."""
    from deciban.workflows.train import train_files

    chosen = _model_for(verb, model, many=arguments.classes is not None)
    many, weights = chosen.scores_kind == "classes", arguments.weights
    if verb == "calibrate":
        _require_one(arguments, _validate.array(scores, "scores").ndim if arguments.in_arrays else 0, many=many)
    if arguments.in_arrays:
        named = (side for side, column in arguments.sides.items() if column is not None)
        refuse(named, "names a column of a data frame, but the scores are arrays. Leave it out.")
        files = (class_arrays if many else two_class_arrays)(scores, arguments)
        weights = None if weights is None else WEIGHTS
    else:
        require_frame(scores, "label: none given. Pass the truth of the trials with their scores")
        if verb == "fuse" and arguments.score is None:
            raise InputError("score: none given. Name the columns of the systems: score=['sysA', 'sysB'].")
        files = (class_files if many else two_class_files)(scores, arguments)
    about = {**arguments.arguments, **({"classes": arguments.classes} if many else {})}
    return train_files(files, None, chosen, weights=weights, **about)


def _model_for(verb: str, model: ScoreModel | None, *, many: bool) -> ScoreModel:
    """Return the model to train, by default a new one; refuse a model for the other function."""
    from deciban import calibration, fusion
    from deciban.models.score_model import ScoreModel

    if model is None:
        if verb == "fuse":
            return fusion.MulticlassFusion() if many else fusion.LinearFusion()
        return calibration.MulticlassCalibrator() if many else calibration.AffineCalibrator()
    if not isinstance(model, ScoreModel):
        raise InputError(f"model: got {type(model).__name__}. Pass a calibrator or fusion, such as AffineCalibrator().")
    if model.is_fusion != (verb == "fuse"):
        other = "deciban.fuse" if model.is_fusion else "deciban.calibrate"
        raise InputError(f"model: {type(model).__name__} is for {other}. Call that, or pass another model.")
    return model


def _require_one(arguments: ArrayArguments, n_axes: int, *, many: bool) -> None:
    """Refuse to calibrate several systems at once: several columns, or an array with too many axes."""
    if n_axes > 1 + many or not isinstance(arguments.score, str | int | None):
        raise InputError("scores: got several systems, but a calibration is for one. Pass one, or use deciban.fuse.")
