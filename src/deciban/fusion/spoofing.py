"""Fusion of a countermeasure and a verifier: one log-likelihood ratio of targets against non-targets and spoofs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.errors import InputError, either, not_none
from deciban.models.model import Plain
from deciban.models.multiclass import VECTOR, MulticlassFusion
from deciban.models.score_model import ParameterRow, ScoreModel, require_systems
from deciban.types import FloatArray, Json, Priors, ScoreArray, Weights

KINDS = ("target", "non-target", "spoof")
"""Kinds of trials, in the order of their numbers."""


class SpoofingFusion(ScoreModel):
    """Log-likelihood ratio of targets against a mixture of non-targets and spoofs, by multiclass logistic regression.

    Parameters
    ----------
    prior : (3,) array_like, optional
        Priors of targets, non-targets and spoofs in the objective, all above 0; default: flat. The mixture has the
        shares of the last two. For costs of errors, use the products of prior and cost.
    ridge : float
        Penalty on the weights for standardized scores; see `MulticlassFusion`.

    Attributes
    ----------
    non_weights_, spoof_weights_ : (n_systems,) arrays
        Factors of the scores in the log-likelihoods of non-targets and of spoofs, relative to targets.
    offset_ : (2,) array
        Offsets of both, in nats.
    training_ : Training
        Numbers of trials of each kind, a fingerprint of the data, and ``results`` of training.

    Notes
    -----
    The log-likelihoods of the three kinds are linear in the scores. The ratio is not: near each threshold, the more
    probable alternative determines it. A weighted sum (`LinearFusion`) cannot reject both a confident spoof with a high
    score of the verifier, and another speaker with a high score of the countermeasure.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> means = np.array([[2.0, 2.0], [2.0, -2.0], [-2.0, 1.0]])  # of countermeasure and verifier
    >>> kinds = np.arange(300) % 3
    >>> fusion = SpoofingFusion().fit(means[kinds] + rng.normal(size=(300, 2)), kinds)
    >>> fusion.transform(means).round(1)
    array([ 7. , -6.7, -7.4])
    """

    kind: ClassVar[str] = "spoofing-fusion"
    is_fusion = True
    table_name = "fusion"
    fit_call = "fit(scores, trial_kind)"
    no_errors = "there is no formula for a ratio against a mixture"
    no_intervals = no_errors
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "non_weights": VECTOR,
        "spoof_weights": VECTOR,
        "offset": {**VECTOR, "minItems": 2, "maxItems": 2},
    }
    non_weights_: FloatArray
    spoof_weights_: FloatArray
    offset_: FloatArray

    def __init__(self, *, prior: Priors = None, ridge: float = 0.0) -> None:
        self.prior = None if prior is None else np.atleast_1d(_validate.finite(prior, "prior")).tolist()
        self.ridge = ridge
        self._shares()

    def _shares(self) -> FloatArray:
        """Return the checked priors."""
        values = _validate_classes.prior(self.prior, len(KINDS))
        if not values.all():
            raise InputError("prior: must be above 0 for targets, non-targets and spoofs.")
        return values

    def fit(self, scores: ArrayLike, trial_kind: ArrayLike, *, sample_weight: Weights = None) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Finite scores of a countermeasure, a verifier, and perhaps more systems, on the same trials.
        trial_kind : (n_trials,) array_like
            0 for targets, 1 for non-targets, 2 for spoofs.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its kind, at least 0.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN or infinite, shapes do not match, a kind has no trials, or the kinds are separated and
            there is no penalty.
        """
        matrix = _finite(_validate.matrix(scores, "scores", "system"))
        n_systems, prior = matrix.shape[1], self._shares()
        kinds = _validate_classes.label(trial_kind, len(matrix), len(KINDS))
        for k, name in enumerate(KINDS):
            if not np.any(kinds == k):
                raise InputError(f"trial_kind: no trial is a {name}. All three kinds are needed.")
        tables = np.zeros((len(matrix), 2 * n_systems, len(KINDS)))
        tables[:, :n_systems, 1] = tables[:, n_systems:, 2] = matrix
        own = MulticlassFusion(prior=prior, ridge=self.ridge).fit(tables, kinds, sample_weight=sample_weight)
        self.non_weights_, self.spoof_weights_ = own.weights_[:n_systems], own.weights_[n_systems:]
        self.offset_ = own.offset_[1:] - own.offset_[0]
        training = not_none(own.training_, "training record")
        counts = zip(self.counted, training.counts.values(), strict=True)
        self.training_ = replace(training, counts=dict(counts))
        return self

    def _data(self, *_given: object) -> NoReturn:
        way = either("fuse_spoofing_files", "fuse --spoof")
        raise InputError(f"model: a SpoofingFusion needs labels of three kinds: {way}.")

    def _fit(self, data: object) -> Mapping[str, Plain]:
        return self._data(data)

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Fuse the scores of trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats.

        Raises
        ------
        InputError
            If the fusion was not trained, a score is NaN or infinite, or the number of systems differs.
        """
        self.require_fitted()
        matrix = _finite(_validate.score_matrix(scores, "scores"))
        require_systems(matrix, self.n_systems_)
        prior = self._shares()[1:]
        logliks = matrix @ np.stack((self.non_weights_, self.spoof_weights_)).T + self.offset_
        return np.asarray(-np.logaddexp(*(logliks + np.log(prior / prior.sum())).T))

    @property
    def n_systems_(self) -> int:
        """Number of systems."""
        return len(self.non_weights_)

    @property
    def counted(self) -> tuple[str, ...]:
        """Names of the kinds in the training record."""
        return "n_tar", "n_non", "n_spoof"

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Return the weights and offsets of non-targets, and of spoofs."""
        pairs = zip(KINDS[1:], (self.non_weights_, self.spoof_weights_), self.offset_.tolist(), strict=True)
        return tuple(
            ParameterRow(f"{name} of {kind}", value)
            for kind, weights, offset in pairs
            for name, value in zip((*self.trained_systems, "offset"), (*weights.tolist(), offset), strict=True)
        )

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set weights and offsets from a file."""
        if len(parameters["non_weights"]) != len(parameters["spoof_weights"]):
            raise InputError("non_weights, spoof_weights: different lengths. Every system needs one of each.")
        super().set_parameters(parameters)


def _finite(matrix: ScoreArray) -> ScoreArray:
    wrong = np.asarray(~np.isfinite(matrix).all(axis=1))
    _validate.refuse_trials(wrong, "scores: {n} trials have infinite scores, the first ", ". Give them finite scores.")
    return matrix
