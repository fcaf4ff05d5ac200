"""From class-score files and a class key to results: read, join, evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from deciban._validate.classes import Groups, Prior
from deciban.errors import InputError
from deciban.evaluation.multiclass.evaluate import P_TARGET, evaluate_classes
from deciban.evaluation.multiclass.groups import evaluate_groups
from deciban.evaluation.multiclass.result import ClassEvaluation, ClassResults
from deciban.io.source import PathLike
from deciban.types import Progress, ScoreArray
from deciban.workflows.classes_joined import ClassReading, JoinedClasses, read_joined_classes


class ClassFigures(TypedDict, total=False):
    """The keyword arguments that say which figures of many classes are wanted; see `evaluate_classes`."""

    prior: Prior | None
    p_target: float | Sequence[float]
    p_out_of_set: float | None
    subsets: bool | None
    groups: Groups | None


def evaluate_class_files(
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    prior: Prior | None = None,
    p_target: float | Sequence[float] = P_TARGET,
    p_out_of_set: float | None = None,
    subsets: bool | None = None,
    groups: Groups | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ClassReading],
) -> ClassResults:
    """Evaluate class-score files, one per system, on the segments of one class key.

    Parameters
    ----------
    scores : sequence of paths, or one path
        One file for each system: tables with a column for each class, or matrices; see `deciban.io.read_class_scores`.
    key : path, optional
        Which class each segment is of. Left out, the first score file must say so itself.
    prior, p_target, p_out_of_set, subsets
        As in `deciban.evaluate_classes`; the prior also by names of classes.
    groups : mapping from names of groups to sequences of classes, or sequence of such sequences, optional
        Evaluate which of these groups a segment is of, not which class; see `deciban.evaluation.evaluate_groups`.
    progress : function, optional
        Called with a few words at every step.
    **reading
        How files are read and joined: ``classes``, ``posterior_prior``, ``missing``, ``duplicates``, ``format``,
        ``columns``, ``key_format``, ``key_columns``, ``where``, ``log10``, ``by_order``, ``weights``; see
        `deciban.workflows.read_joined_classes`.

    Returns
    -------
    ClassResults
        The evaluations, how the segments met, and in ``facts`` what was read and assumed.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.workflows.read_joined_classes` and `deciban.evaluate_classes`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "sys.csv").write_text("trial,eng,fra\\ns1,2.25,-1.5\\ns2,-0.5,0.75\\ns3,1,0.5\\n")
    >>> _ = (folder / "key.csv").write_text("trial,class\\ns1,eng\\ns2,fra\\ns3,fra\\n")
    >>> results = evaluate_class_files(folder / "sys.csv", folder / "key.csv")
    >>> results.classes, round(results.systems[0].cllr, 3)
    (('eng', 'fra'), 0.459)
    """
    joined = read_joined_classes(scores, key, progress=progress, **reading)
    figures: ClassFigures = {
        "prior": prior,
        "p_target": p_target,
        "p_out_of_set": p_out_of_set,
        "subsets": subsets,
        "groups": groups,
    }
    return evaluate_joined_classes(joined, progress=progress, **figures)


def evaluate_joined_classes(
    joined: JoinedClasses, *, progress: Progress | None = None, **figures: Unpack[ClassFigures]
) -> ClassResults:
    """Evaluate systems that were joined to a key; see `evaluate_class_files`."""
    evaluations = []
    for system in joined.aligned:
        if progress is not None:
            progress(f"evaluating {system.name}")
        evaluations.append(evaluate_system(joined, system.score, system.name, **figures))
    return ClassResults(tuple(evaluations), joined.report, joined.facts)


def evaluate_system(
    joined: JoinedClasses, loglik: ScoreArray, name: str, **figures: Unpack[ClassFigures]
) -> ClassEvaluation:
    """Evaluate log-likelihoods of the segments of a join, those of a system or what a model made of them.

    Raises
    ------
    InputError
        If a class has no segment; it names the class.
    """
    _require_all_classes(joined)
    told: dict[str, Any] = dict(figures)
    groups = told.pop("groups", None)
    told |= {"classes": joined.classes, "name": name, "sample_weight": joined.weight}
    if groups is not None:
        return evaluate_groups(loglik, joined.label, groups, **told)
    return evaluate_classes(loglik, joined.label, **told)


def _require_all_classes(joined: JoinedClasses) -> None:
    """Refuse classes without segments in words of files."""
    counts = np.bincount(joined.label, minlength=len(joined.classes))
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        name = joined.classes[int(empty[0])]
        more = f" (and {len(empty) - 1} more classes)" if len(empty) > 1 else ""
        raise InputError(
            f"class {name!r}{more}: no segment is of it, so that nothing can be said of it. Every class is averaged by "
            "itself. Leave it out by naming the others (classes=, --classes), or use a key that has some."
        )
