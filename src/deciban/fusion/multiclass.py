"""Fusion of many classes: one weight for each system, and an offset for each class."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.classes.loglik import row_blocks
from deciban.core.training.moments import overflown, refuse_overflow
from deciban.errors import InputError, TrialError
from deciban.fusion.linear import penalized, require_systems
from deciban.models.model import Plain
from deciban.models.multiclass import NAMES, VECTOR, ClassModel
from deciban.trials.sources import Chunk
from deciban.types import CountArray, FloatArray, IntArray, ScoreArray

_WEIGHTS: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"type": "number"}}


class MulticlassFusion(ClassModel):
    """Log-likelihoods ``offset + sum_k weight_k loglik_k`` of several systems (thesis 8.16).

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective, which sums to 1; flat if not given. Proportions of the data never matter. A class of
        prior 0 takes no part in training, and its offset is 0.
    ridge : float
        Half of it times the squares of the weights on standardized scores (each system divided by its width: the root
        of the mean variance of the differences between two classes) is added to the objective. Offsets are never
        penalized.
    offsets : bool
        Whether there are offsets; without them they are 0.

    Attributes
    ----------
    weights_ : (n_systems,) array
        Factor of each system's log-likelihoods. May be negative: a system can tell what another one gets wrong.
    standardized_weights_ : (n_systems,) array
        The same for scores divided by their width in all trials: how much each system moves the result.
    offset_ : (n_classes,) array
        In nats; their mean is 0.
    objective_ : float
        Cross-entropy at the prior (thesis 8.17) at the optimum, in nats, without the penalty.
    penalized_objective_ : float
        What training made as small as it could: the same with the penalty.
    classes_ : tuple of str, optional
        Names of the classes, if there are any.
    training_ : Training
        Number of trials of each class, a fingerprint of the data, and in ``results`` how training went.

    Notes
    -----
    Of two classes this is the map of `LinearFusion` of the differences. Systems that say the same share their weight.
    A system that gives all trials the same scores, but for what is added to all classes of a trial and for rounding,
    says nothing and gets weight 0: it never stands in for offsets. Classes that the systems separate together are
    refused unless there is a penalty. A class that one system excludes (-inf) is excluded, if the system has a positive
    weight. With a negative one certainty would become its contrary: `fit` and `transform` refuse that. A system of
    weight 0 does not count, even where it is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.array([[2, 0, 0], [1, 0, 0], [0, 1, 0], [0, 2, 0], [1, 0, 0], [0, 0, 1], [0, 0.4, 1], [0, 1, 0]])
    >>> two = np.array([[1, 1, 0], [0, 1, 0], [1, 0.5, 1], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 0, 2], [0, 1, 1]])
    >>> fusion = MulticlassFusion().fit(np.stack([one, two], axis=1), [0, 0, 0, 1, 1, 2, 2, 2])
    >>> fusion.weights_.round(2), fusion.offset_.round(2)
    (array([0.99, 0.85]), array([ 0.11, -0.21,  0.09]))
    >>> fusion.transform([[[1, 0, 0], [1, 0, 1]]]).round(2)
    array([[ 1.95, -0.21,  0.94]])
    """

    kind: ClassVar[str] = "multiclass-fusion"
    is_fusion = True
    no_errors = ""
    table_name = "fusion"
    parameter_schema: ClassVar[dict[str, Any]] = {
        "classes": NAMES,
        "weights": _WEIGHTS,
        "standardized_weights": _WEIGHTS,
        "offset": VECTOR,
    }

    def __init__(self, *, prior: ArrayLike | None = None, ridge: float = 0.0, offsets: bool = True) -> None:
        self._set_prior(prior)
        self.ridge = ridge
        self.offsets = offsets
        self._checked()

    def _checked(self) -> tuple[float, bool]:
        """Penalty and whether there are offsets; they are attributes and may have been changed."""
        if not isinstance(self.offsets, bool | np.bool_):
            raise InputError(f"offsets: got {self.offsets!r}. It is True or False.")
        return self._ridge(), bool(self.offsets)

    def _checked_scores(self, loglik: ArrayLike) -> ScoreArray:
        """Return log-likelihoods of several systems, checked system by system, not copied if they are floats.

        Raises
        ------
        InputError
            If they have not three dimensions, or those of a system are not log-likelihoods.
        """
        table = _validate.array(loglik, "loglik")
        if table.ndim != 3:
            raise InputError(
                f"loglik: expected an array of shape (n_trials, n_systems, n_classes), got {table.shape}. The matrices "
                "of several systems become one array by np.stack([one, other], axis=1)."
            )
        if table.shape[1] == 0:
            raise InputError(f"loglik: shape {table.shape}, no system. At least one is needed.")
        checked = [_validate_classes.loglik(table[:, k], f"loglik[:, {k}]") for k in range(table.shape[1])]
        return table if checked[0].dtype == table.dtype else np.stack(checked, axis=1)

    def _fit(self, data: Any) -> Mapping[str, Plain]:
        from deciban.core.training.multiclass_training import train_counted  # models that are trained need none of it

        ridge, offset = self._checked()
        fit = train_counted(data.counted, ridge=ridge, offset=offset)
        if np.any(fit.weights <= 0.0):
            data.look(partial(_require_positive_in, fit.weights))
        results = self._results_of(fit)
        self.weights_, self.standardized_weights_ = fit.weights, fit.standardized
        self.offset_, self.objective_ = fit.offsets, fit.objective
        self.penalized_objective_ = penalized(fit, ridge)
        return results

    def _linear_form(self) -> tuple[FloatArray, dict[str, bool]]:
        return self.weights_, {"scale": True, "offset": bool(self.offsets)}

    def _require_same(self, scores: ScoreArray) -> None:
        require_systems(scores, self.n_systems_)
        super()._require_same(scores)

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        _require_positive(loglik, self.weights_, np.flatnonzero(self.weights_ < 0.0))
        fused = self._fused(loglik)
        _require_agreement(fused, loglik)
        return fused

    def _fused(self, systems: ScoreArray) -> FloatArray:
        """The weighted sum of checked systems, NaN where infinite ones contradict each other."""
        fused, far = np.empty((len(systems), self.n_classes_)), np.zeros(len(systems), np.bool_)
        used = np.flatnonzero(self.weights_)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in row_blocks(len(systems), self.n_classes_):
                fused[rows] = self.offset_
                for k in used:
                    fused[rows] += self.weights_[k] * systems[rows, k]
                if not _validate.all_finite(fused[rows]):
                    some = systems[rows][:, used]
                    certain = np.where(np.isinf(some).any(axis=1), np.inf, 0.0)
                    far[rows] = overflown(certain, fused[rows])
                    far[rows] |= overflown(some, some * self.weights_[used, None]).any(axis=1)
        refuse_overflow(far)
        return fused

    @property
    def n_systems_(self) -> int:
        """How many systems it fuses."""
        return len(self.weights_)

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take names, weights and offsets from a file."""
        if len(parameters["weights"]) != len(parameters["standardized_weights"]):
            raise InputError("weights and standardized_weights are not equally many.")
        super().set_parameters(parameters)


def _require_positive_in(weights: FloatArray, trials: Chunk) -> None:
    """Refuse what `_require_positive` refuses, and find nothing."""
    _require_positive(trials.stacked, weights, np.flatnonzero(weights <= 0.0), trials.weight)


def _require_positive(
    systems: ScoreArray, weights: FloatArray, wrong: IntArray, sample_weight: CountArray | None = None
) -> None:
    """Refuse weights that turn certainty into its contrary, or into nothing, in trials that count.

    Raises
    ------
    TrialError
        If one of the ``wrong`` systems has infinite log-likelihoods.
    """
    for k in wrong.tolist():
        if _validate.all_finite(systems[:, k]):
            continue
        infinite = np.isinf(systems[:, k]).any(axis=1)
        trials = np.flatnonzero(infinite if sample_weight is None else infinite & (sample_weight > 0))
        if len(trials):
            raise TrialError(
                f"loglik: the weight of system {k} is {weights[k]:.3g}, but its log-likelihoods of {len(trials)} of "
                f"{len(systems)} trials are infinite, the first ",
                int(trials[0]),
                ": they would be taken for certainty of the contrary. Make infinite ones finite, or leave the system "
                "out.",
            )


def _require_agreement(fused: FloatArray, systems: ScoreArray) -> None:
    """Refuse trials in which systems contradict each other with infinite log-likelihoods.

    Raises
    ------
    InputError
        If there are such.
    """
    if _validate.all_finite(fused):
        return
    wrong = np.flatnonzero(np.isnan(fused).any(axis=1) | np.isneginf(fused).all(axis=1))
    if len(wrong):
        raise InputError(
            f"loglik: in {len(wrong)} trials systems contradict each other with infinite log-likelihoods, the first at "
            f"index {wrong[0]}: {systems[wrong[0]].tolist()}. Give them finite ones."
        )
