"""What a fusion is worth: against each system alone, and without each of them, on the same and on other trials."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban.core.operating import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError
from deciban.evaluation.result import Evaluation, Results, plain
from deciban.evaluation.single import DEFAULT_POINTS, evaluate
from deciban.fusion import LinearFusion, posterior_divergence
from deciban.fusion.fuser import LabelledSystems
from deciban.types import CountArray, FloatArray, ScoreArray


@dataclass(frozen=True, slots=True)
class FusedSystems:
    """Some of the systems, calibrated and fused; one system alone is calibrated.

    Attributes
    ----------
    name : str
        What tables and legends call it.
    systems : tuple of int
        Columns of the scores, in ascending order.
    model : LinearFusion
        Trained on these columns of the development scores.
    penalized_objective : float
        What training made as small as it could: the objective with the penalty.
    dev : Evaluation
        On the trials of training, which flatters.
    eval : Evaluation or None
        On other trials.
    """

    name: str
    systems: tuple[int, ...]
    model: LinearFusion = field(repr=False, compare=False)
    penalized_objective: float
    dev: Evaluation
    eval: Evaluation | None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        return {
            "name": self.name,
            "systems": list(self.systems),
            "weights": self.model.weights_.tolist(),
            "standardized_weights": self.model.standardized_weights_.tolist(),
            "offset": self.model.offset_,
            "objective": self.model.objective_,
            "penalized_objective": self.penalized_objective,
            "dev": self.dev.to_dict(),
            "eval": None if self.eval is None else self.eval.to_dict(),
        }


@dataclass(frozen=True)
class FusionAnalysis:
    """A fusion, its systems alone, and what is lost without each of them.

    Attributes
    ----------
    names : tuple of str
        Of the systems.
    singles : tuple of FusedSystems
        Each system calibrated alone, by the same rule and prior.
    leave_one_out : tuple of FusedSystems
        The fusion without each system; empty if there is only one.
    fusion : FusedSystems
        Of all systems.
    divergence : (n_systems, n_systems) array
        Mean symmetric divergence in bits between the posteriors of the systems calibrated alone, on the trials of
        training and at the prior of the objective; see `deciban.fusion.posterior_divergence`.
    """

    names: tuple[str, ...]
    singles: tuple[FusedSystems, ...]
    leave_one_out: tuple[FusedSystems, ...]
    fusion: FusedSystems
    divergence: FloatArray = field(compare=False)

    @property
    def rows(self) -> tuple[FusedSystems, ...]:
        """Single systems, every leave-one-out, and the fusion, as tables show them."""
        return (*self.singles, *self.leave_one_out, self.fusion)

    @property
    def dev(self) -> Results:
        """The evaluations of all rows on the trials of training."""
        return Results(tuple(row.dev for row in self.rows))

    @property
    def eval(self) -> Results | None:
        """The evaluations of all rows on other trials, if there are any."""
        found = tuple(row.eval for row in self.rows if row.eval is not None)
        return Results(found) if found else None

    @property
    def standardized_weights(self) -> dict[str, float]:
        """The weight of each system on scores divided by their standard deviation: how much it moves the result."""
        return dict(zip(self.names, self.fusion.model.standardized_weights_.tolist(), strict=True))

    @property
    def best_single(self) -> FusedSystems:
        """The single system with the least training objective; of equal ones the first."""
        return min(self.singles, key=lambda single: single.penalized_objective)

    @property
    def objective_gain(self) -> float:
        """By how much the objective of training, penalty included, is below that of the best single system.

        At least 0, up to the precision of training: a weight of 0 would leave a system out.
        """
        return self.best_single.penalized_objective - self.fusion.penalized_objective

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers (not the curves) as plain JSON types; infinite ones are ``"inf"``."""
        answer: dict[str, Any] = plain(
            {
                "names": list(self.names),
                "settings": self.fusion.model.settings,
                "singles": [row.to_dict() for row in self.singles],
                "leave_one_out": [row.to_dict() for row in self.leave_one_out],
                "fusion": self.fusion.to_dict(),
                "best_single": self.best_single.name,
                "objective_gain": self.objective_gain,
                "divergence": self.divergence.tolist(),
            }
        )
        return answer

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


def analyse_fusion(
    scores: ArrayLike,
    is_target: ArrayLike,
    *,
    fusion: LinearFusion | None = None,
    names: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    eval_scores: ArrayLike | None = None,
    eval_is_target: ArrayLike | None = None,
    eval_sample_weight: ArrayLike | None = None,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
) -> FusionAnalysis:
    """Train a fusion, every system alone and every leave-one-out, and evaluate them all.

    Parameters
    ----------
    scores : (n_trials, n_systems) array_like
        Development scores, which everything is trained on.
    is_target : (n_trials,) array_like
        True (or 1) for targets, False (or 0) for non-targets.
    fusion : LinearFusion, optional
        Rule, prior and penalty of all trainings; copies are trained, it stays as it is. The default is
        ``LinearFusion()``.
    names : sequence of str, optional
        Of the systems; "system 0", "system 1" and so on if left out.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial within its class, at least 0.
    eval_scores, eval_is_target, eval_sample_weight : optional
        The same for other trials, which everything is evaluated on, too.
    operating_points : iterable
        Where detection costs are wanted, as in `deciban.evaluate`.

    Returns
    -------
    FusionAnalysis

    Raises
    ------
    InputError
        If names or systems are not equally many, or a training or an evaluation refuses its trials; the message
        names the systems and says why.

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
    data = LabelledSystems.of(scores, is_target, sample_weight)
    other = _other(eval_scores, eval_is_target, eval_sample_weight, data.scores.shape[1])
    named = system_names(names, data.scores.shape[1])
    points = [as_operating_point(point) for point in operating_points]
    prototype = LinearFusion() if fusion is None else fusion
    every = tuple(range(len(named)))

    def fused(systems: tuple[int, ...], name: str) -> FusedSystems:
        return _fused(prototype, systems, name, data, other, points)

    singles = tuple(fused((k,), name) for k, name in enumerate(named))
    without = [fused((*every[:k], *every[k + 1 :]), f"without {named[k]}") for k in every if len(every) > 1]
    llrs = np.column_stack([row.model.transform(_columns(data, row.systems)) for row in singles])
    divergence = posterior_divergence(
        llrs, data.is_target, p_target=prototype.p_target, sample_weight=data.float_weight
    )
    return FusionAnalysis(named, singles, tuple(without), fused(every, "fusion"), divergence)


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


def _other(
    scores: ArrayLike | None, is_target: ArrayLike | None, weight: ArrayLike | None, n_systems: int
) -> LabelledSystems | None:
    if scores is None:
        if is_target is not None or weight is not None:
            raise InputError("eval_scores: not given, but labels or weights of such trials are. Pass the scores, too.")
        return None
    if is_target is None:
        raise InputError("eval_is_target: not given. Evaluation needs to know which trials are targets.")
    try:
        data = LabelledSystems.of(scores, is_target, weight)
    except InputError as error:
        raise InputError(f"Trials for evaluation (eval_scores, eval_is_target): {error}") from error
    if data.scores.shape[1] != n_systems:
        raise InputError(
            f"eval_scores: {data.scores.shape[1]} systems, but there are {n_systems} to train on. Pass the same "
            "systems in the same order."
        )
    return data


def _columns(data: LabelledSystems, systems: tuple[int, ...]) -> ScoreArray:
    """Scores of some systems; neighbours are not copied."""
    first, last = systems[0], systems[-1] + 1
    return data.scores[:, first:last] if last - first == len(systems) else data.scores[:, list(systems)]


def _fused(
    prototype: LinearFusion,
    systems: tuple[int, ...],
    name: str,
    data: LabelledSystems,
    other: LabelledSystems | None,
    points: list[OperatingPoint],
) -> FusedSystems:
    try:
        model = copy.deepcopy(prototype).fit(_columns(data, systems), data.is_target, sample_weight=data.float_weight)
        evaluated = [
            None if trials is None else _evaluated(model, systems, name, trials, points) for trials in (data, other)
        ]
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    penalty = 0.5 * model.ridge * float(model.standardized_weights_ @ model.standardized_weights_)
    dev, on_others = evaluated
    assert dev is not None  # noqa: S101  # these trials are always there
    return FusedSystems(name, systems, model, model.objective_ + penalty, dev, on_others)


def _evaluated(
    model: LinearFusion, systems: tuple[int, ...], name: str, trials: LabelledSystems, points: list[OperatingPoint]
) -> Evaluation:
    llr = model.transform(_columns(trials, systems))
    truth = trials.is_target
    weights: list[CountArray | None] = [None, None]
    if trials.weight is not None:
        weights = [trials.weight[truth], trials.weight[~truth]]
    return evaluate(
        llr[truth],
        llr[~truth],
        name=name,
        operating_points=points,
        tar_weights=weights[0],
        non_weights=weights[1],
    )
