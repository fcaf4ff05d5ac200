"""Evaluation of arrays and data frames: `deciban.evaluate` and `deciban.evaluate_classes`.

Arrays go straight to `deciban.evaluation`. Data frames become tables of trials and take the way of files; what that
needs is imported when it is needed, so that an evaluation of arrays loads numpy and scipy alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from deciban._validate.probabilities import llrs_of_ratios
from deciban.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deciban.core.ranks.operating import PointLike
    from deciban.evaluation import ClassEvaluation, Evaluation, Results
    from deciban.types import Names, Weights
    from deciban.workflows.arrays import Given
    from deciban.workflows.inputs import ScoreFiles
    from deciban.workflows.options import KindName


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
    **figures: Any,
) -> Evaluation: ...
@overload
def evaluate(
    tar: Any,
    non: None = None,
    *,
    score: str | None = None,
    label: str | None = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    **options: Any,
) -> Evaluation: ...
@overload
def evaluate(tar: Any, non: None = None, *, score: Sequence[str], **options: Any) -> Results[Evaluation]: ...
def evaluate(
    tar: Any,
    non: Any = None,
    *,
    score: str | Sequence[str] | None = None,
    label: str | None = None,
    enroll: str | None = None,
    test: str | None = None,
    side: str | None = None,
    trial: str | None = None,
    labels: Mapping[str, str] | None = None,
    **options: Any,
) -> Any:
    """Evaluate scores of two classes: two arrays, or columns of a data frame.

    ``evaluate(tar, non)`` takes the scores of the targets and those of the non-targets; ``evaluate(frame, score="llr",
    label="is_target")`` takes a pandas, polars or Arrow table, or a mapping of columns, with a row for each trial.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Scores of target and non-target trials, natural-log likelihood ratios wherever calibrated scores count; see
        `deciban.evaluation.evaluate`. Or, in place of ``tar``, a data frame, and no ``non``.
    score : str or sequence of str, optional
        Column of the scores; a sequence names those of several systems. ``"score"`` when left out.
    label : str, optional
        Column of the truth: booleans, 1 and 0, or words that are known, such as target and nontarget. ``"label"`` when
        left out.
    enroll, test, side, trial : str, optional
        Columns of the names of the trials, if messages should use them and trials that occur twice be refused.
    labels : mapping, optional
        Other words in the column of the truth: ``{"target": "bonafide", "nontarget": "spoof"}``.
    **options
        ``name`` (of the system), ``operating_points``; ``lr=True`` if the scores are likelihood ratios rather than
        logarithms (a column called ``lr`` declares it, too); ``negate=True`` if lower scores favour target; of arrays
        ``tar_weights``, ``non_weights``, ``tar_units`` and ``non_units``, as in `deciban.evaluation.evaluate`;
        ``intervals=False`` for no intervals; of data frames ``weights`` (a column), ``where`` (``{"gender": "f"}``:
        only such rows), ``duplicates``, ``log10``, ``negate``, and what is about uncertainty (``units="speaker"``, or
        a column for each side, or a mapping of names to units), as in `deciban.evaluate_files`. Trials without units
        or linked names are taken as independent.

    Returns
    -------
    Evaluation
        Of one system. A sequence of columns, whatever its length, gives `Results`, and so do conditions (``by``,
        ``equalize``), which stand there.

    Raises
    ------
    InputError, FormatError
        If a class is empty, a score is NaN or missing, a label has no known meaning, a column is not there, or the
        arguments are labels and scores in place of the scores of two classes.

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
        from deciban._validate.arrays import pair
        from deciban.evaluation import evaluate as of_arrays

        if options.pop("lr", False):
            pair(tar, non)  # refuses labels in place of scores
            tar, non = llrs_of_ratios(tar, "tar"), llrs_of_ratios(non, "non")
        if options.pop("negate", False):
            tar, non = (-one for one in pair(tar, non))
        return of_arrays(tar, non, **_with_units(options, {"tar_units": tar, "non_units": non}))

    from deciban.workflows.arrays import Given, require_frame, two_class_files

    require_frame(tar, "non: none given. Pass the scores of targets and of non-targets")
    given = Given(score=score, label=label, sides=sides, labels=labels, options=options)
    results = _evaluated(two_class_files(tar, given), "two-class", given)
    return results if _are_several(score) or results.conditions else results.systems[0]


@overload
def evaluate_classes(
    loglik: Any,
    label: ArrayLike | str | None = None,
    *,
    classes: Names = None,
    score: None = None,
    trial: str | None = None,
    **options: Any,
) -> ClassEvaluation: ...
@overload
def evaluate_classes(
    loglik: Any,
    label: str | None = None,
    *,
    classes: Names = None,
    score: Mapping[str, Sequence[str]],
    trial: str | None = None,
    **options: Any,
) -> Results[ClassEvaluation]: ...
def evaluate_classes(
    loglik: Any,
    label: Any = None,
    *,
    classes: Names = None,
    score: Mapping[str, Sequence[str]] | None = None,
    trial: str | None = None,
    **options: Any,
) -> Any:
    """Evaluate scores for many classes: a matrix with labels, or columns of a data frame.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array_like
        Natural-log likelihoods; see `deciban.evaluation.evaluate_classes`. Or a data frame, pandas, polars, Arrow or a
        mapping of columns, with a row for each segment.
    label : (n_trials,) array_like, or str
        True classes: positions from 0, or names if ``classes`` are given. Of a data frame the column of the names of
        the true classes, ``"class"`` when left out.
    classes : sequence of str, optional
        Names of the columns of a matrix. Of a data frame, where they are needed: the columns of scores, which have the
        names of the classes.
    score : mapping of str to sequence of str, optional
        Of a data frame: the columns of each of several systems, in the order of ``classes``.
    trial : str, optional
        Of a data frame: column of the names of the segments, if messages should use them.
    **options
        ``lr=True`` if the scores are likelihoods and no logarithms, and as in `deciban.evaluation.evaluate_classes`:
        ``name``, ``prior``, ``p_target``, ``p_out_of_set``, ``subsets``,
        ``pairs``, of arrays ``sample_weight`` and ``units``; without units, segments are taken as independent, and
        ``intervals=False`` asks for no intervals. Of data frames also ``groups``, ``weights`` (a column), ``where``,
        ``posterior_prior``, ``detection_llr``, ``log10``, and what is about uncertainty (``units``, a column), as in
        `deciban.evaluate_files`.

    Returns
    -------
    ClassEvaluation
        Of one system; with ``score``, or with conditions (``by``, ``equalize``), `Results`.

    Raises
    ------
    InputError, FormatError
        If there is NaN, a label is no class, a class has no trial, a prior is out of range, or a column is not there.

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

    from deciban.workflows.arrays import Given, class_files, require_frame

    require_frame(loglik, "label: none given. Pass log-likelihoods and true classes")
    given = Given(score=score, label=label, classes=classes, sides={"trial": trial}, options=options)
    results = _evaluated(class_files(loglik, given), "classes", given)
    return results.systems[0] if score is None and not results.conditions else results


def _evaluated(files: ScoreFiles, kind: KindName, given: Given) -> Results[Any]:
    from deciban.workflows.evaluate import evaluate_source
    from deciban.workflows.options import Options

    about: dict[str, Any] = {"kind": kind, **({"classes": given.classes} if kind == "classes" else {})}
    options = Options.of("evaluate" if kind == "two-class" else "evaluate_classes", {**given.arguments, **about})
    options.scale.refuse("an evaluation of arrays and frames")
    return evaluate_source(files.as_source(options), options)


def _with_units(options: dict[str, Any], classes: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of arrays with every trial as a unit, unless units are given or no intervals are wanted.

    Parameters
    ----------
    options : dict
    classes : mapping of str to array_like
        Arguments of units, and arrays with an entry for each trial.
    """
    given = dict(options)
    intervals = given.pop("intervals", True)
    if not isinstance(intervals, bool):
        raise InputError(f"intervals: got {intervals!r}. It is True or False.")
    if not intervals or any(given.get(name) is not None for name in classes):
        return given
    import numpy as np

    from deciban.core.resampling.units import TrialUnits

    try:
        sizes = [np.asarray(one).shape for one in classes.values()]
    except ValueError:  # refused, with a reason, by what evaluates them
        return given
    if any(len(size) != 1 for size in sizes):
        return given
    ends = np.cumsum([0, *(n for (n,) in sizes)]).tolist()
    units = TrialUnits.each(ends[-1], "trial" if len(sizes) > 1 else "segment")
    return given | {name: units.take(slice(*ends[at : at + 2])) for at, name in enumerate(classes)}


def _are_several(score: Any) -> bool:
    return score is not None and not isinstance(score, str | int)


def _refuse_columns(given: Mapping[str, Any]) -> None:
    """Refuse names of columns where there are arrays."""
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise InputError(
            f"{', '.join(named)}: is about a data frame, and the first two arguments are arrays. Pass the frame alone, "
            "or leave it out."
        )


def _refuse_frame(tar: Any, non: Any) -> None:
    """Refuse a data frame, or the name of a column, in place of the scores of a class."""
    if isinstance(non, str):
        raise InputError(f"non: got {non!r}. Columns of a data frame are named: score={non!r}, label='label'.")
    for name, one in (("tar", tar), ("non", non)):
        if isinstance(one, Mapping) or (hasattr(one, "columns") and getattr(one, "ndim", 2) == 2):
            raise InputError(
                f"{name}: got {type(one).__name__}, which has columns. Name them, with the frame as the only argument "
                "beside: evaluate(frame, score='llr', label='is_target')."
            )
