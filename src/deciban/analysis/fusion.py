"""What a fusion is worth: against each system alone, and without each of them, on the same and on other trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from deciban.analysis.data import LabelledData
from deciban.analysis.fused_systems import FusionAnalysis
from deciban.analysis.rows import FusionTask, names_apart, on_cancelling_weights
from deciban.core.ranks.operating import PointLike, as_operating_point
from deciban.errors import InputError
from deciban.evaluation.two_class import DEFAULT_POINTS
from deciban.fusion import LinearFusion
from deciban.models.two_class import Fusion


def analyse_fusion(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    fusion: Fusion | None = None,
    names: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    quality: Mapping[str, ArrayLike] | None = None,
    eval_scores: ArrayLike | None = None,
    eval_is_target: ArrayLike | None = None,
    eval_sample_weight: ArrayLike | None = None,
    eval_quality: Mapping[str, ArrayLike] | None = None,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
) -> FusionAnalysis:
    """Train a fusion, every system alone and every leave-one-out, and evaluate them all.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Development scores, which everything is trained on.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    fusion : LinearFusion, QualityFusion or SubsetFusion, optional
        What to train: every row has its settings; copies are trained, it stays as it is. The default is
        ``LinearFusion()``.
    names : sequence of str, optional
        Of the systems; "system 0", "system 1" and so on if left out.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    quality : mapping of str to (n_trials, n_measures) array_like, optional
        The measures that ``QualityFusion.fit`` takes, by argument: ``enroll_quality``, ``test_quality`` and
        ``trial_quality``.
    eval_scores, eval_is_target, eval_sample_weight, eval_quality : optional
        The same for other trials, which everything is evaluated on, too.
    operating_points : iterable
        Where detection costs are wanted, as in `deciban.evaluate`.

    Returns
    -------
    FusionAnalysis

    Raises
    ------
    InputError
        If names or systems are not equally many, or the fusion itself cannot be trained or evaluated. Where that is so
        of a system alone or of a leave-one-out, its row says why instead.

    Notes
    -----
    With quality measures, every system alone and every leave-one-out is a fusion with quality, too, and one more row
    is without. With a `SubsetFusion`, every row is trained on what there is, and evaluated on the trials that all
    systems scored, so that rows can be compared.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> is_target = np.arange(400) < 100
    >>> scores = rng.normal(size=(400, 3)) + np.where(is_target, 1.0, -1.0)[:, None]
    >>> found = analyse_fusion(scores, is_target, names=["A", "B", "C"])
    >>> for row in found.dev.systems:
    ...     print(f"{row.name:9}  {row.cllr:.3f}  {row.min_cllr:.3f}")
    A          0.465  0.411
    B          0.505  0.464
    C          0.546  0.505
    without A  0.263  0.223
    without B  0.270  0.221
    without C  0.220  0.171
    fusion     0.120  0.086
    """
    prototype = LinearFusion() if fusion is None else fusion
    dev = LabelledData.of(prototype, scores, is_target, sample_weight=sample_weight, quality=quality)
    n_systems = dev.scores.shape[1]
    others = _other(prototype, eval_scores, eval_is_target, eval_sample_weight, eval_quality, n_systems)
    _require_complete(dev, "scores")
    return analysed(prototype, system_names(names, n_systems), dev, others, list(operating_points))


def system_names(names: Sequence[str] | None, n_systems: int) -> tuple[str, ...]:
    """What the systems are called.

    Raises
    ------
    InputError
        If there are not as many names as systems, or one occurs twice.
    """
    if names is None:
        return tuple(f"system {k}" for k in range(n_systems))
    given = (names,) if isinstance(names, str) else tuple(names)
    if len(given) != n_systems or not all(isinstance(name, str) for name in given):
        raise InputError(f"names: got {given!r} for {n_systems} systems. Give one string for each system.")
    if len(set(given)) < n_systems:
        raise InputError(f"names: {given!r} has a name twice. Give each system its own.")
    return given


def analysed(
    prototype: Fusion,
    names: tuple[str, ...],
    dev: LabelledData,
    others: LabelledData | None,
    points: Sequence[PointLike],
    *,
    trained: Fusion | None = None,
) -> FusionAnalysis:
    """Analyse a fusion on checked trials; see `analyse_fusion`.

    Parameters
    ----------
    prototype : fusion
        Whose settings all trainings have.
    names : tuple of str
        Of the systems.
    dev, others : LabelledData
    points : sequence
    trained : fusion, optional
        What training on ``dev`` gave already.
    """
    work = FusionTask(prototype, names, dev, others, tuple(as_operating_point(point) for point in points))
    every = tuple(range(len(names)))
    wanted = [f"without {name}" for name in names] + ["fusion without quality", prototype.table_name]
    *without, plainer, fused = names_apart(wanted, names)
    try:
        fusion = work.evaluated(trained or work.trained(every), every, fused, role="fusion")
    except InputError as error:
        raise InputError(f"{fused}: {error}") from error
    singles = tuple(work.row("single", (k,), names[k]) for k in every)
    rest = [(*every[:k], *every[k + 1 :]) for k in every] if len(every) > 2 else []
    left = tuple(work.row("leave-one-out", systems, name) for systems, name in zip(rest, without, strict=False))
    simple = None if fusion.model is None else fusion.model.without_quality
    unaware = None if simple is None else work.evaluated(simple, every, plainer, role="without quality")
    note = on_cancelling_weights(fusion, names, left or singles[::-1], work.compared)
    fusion = replace(fusion, note=note)
    return FusionAnalysis(names, singles, left, fusion, work.divergence(singles), unaware)


def _other(
    prototype: Fusion,
    scores: ArrayLike | None,
    is_target: ArrayLike | None,
    weight: ArrayLike | None,
    quality: Mapping[str, ArrayLike] | None,
    n_systems: int,
) -> LabelledData | None:
    if scores is None:
        if is_target is not None or weight is not None or quality is not None:
            raise InputError(
                "eval_scores: not given, but labels, weights or measures of such trials are. Pass the scores, too."
            )
        return None
    if is_target is None:
        raise InputError("eval_is_target: not given. Evaluation needs to know which trials are targets.")
    try:
        trials = LabelledData.of(prototype, scores, is_target, sample_weight=weight, quality=quality)
    except InputError as error:
        raise InputError(f"Trials for evaluation (eval_scores, eval_is_target): {error}") from error
    if trials.scores.shape[1] != n_systems:
        raise InputError(
            f"eval_scores: {trials.scores.shape[1]} systems, but there are {n_systems} to train on. Pass the same "
            "systems in the same order."
        )
    _require_complete(trials, "eval_scores")
    return trials


def _require_complete(trials: LabelledData, name: str) -> None:
    if not trials.complete.has_both_classes:
        raise InputError(
            f"{name}: no targets, or no non-targets, have scores of all systems. Rows are compared on trials that all "
            "systems scored; leave out the system that lacks most."
        )
