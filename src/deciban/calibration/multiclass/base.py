"""What all maps from the log-likelihoods of one system to log-likelihoods share: fit and transform."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban.models.model import Plain
from deciban.models.multiclass import NAMES, VECTOR, ClassModel, LabelledClasses, require_classes
from deciban.types import FloatArray, ScoreArray


class ClassMap(ClassModel):
    """A map from log-likelihoods of one system to log-likelihoods, trained on labelled trials of many classes."""

    parameter_schema: ClassVar[dict[str, Any]] = {"classes": NAMES, "offset": VECTOR}
    offset_: FloatArray

    def fit(
        self,
        loglik: ArrayLike,
        label: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Log-likelihoods in nats, or scores of that sense; -inf excludes a class, +inf excludes all others.
        label : (n_trials,) array_like
            The true class: its column, counted from 0, or its name.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        classes : sequence of str, optional
            Names of the columns, in their order.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a log-likelihood is NaN, shapes do not fit, a label is unknown, a class has no trial, or nothing finite
            can be learnt from these scores.
        """
        checked = _validate_classes.loglik(loglik)
        data = self._labelled(checked, checked.shape[1], label, sample_weight, classes)
        self._record(data, self._fit(data))
        return self

    @abstractmethod
    def _fit(self, data: LabelledClasses) -> Mapping[str, Plain]:
        """Set the parameters, and return what else is worth knowing."""

    def transform(self, loglik: ArrayLike) -> FloatArray:
        """Map the log-likelihoods of trials.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Classes in the order of training; may be infinite.

        Returns
        -------
        (n_trials, n_classes) array
            Log-likelihoods in nats, of which only differences within a trial mean anything.

        Raises
        ------
        InputError
            If the map was not trained, a log-likelihood is NaN, the number of classes is another one, finite
            log-likelihoods become too large for a float, or the map does not know what to make of infinite ones.
        """
        self.require_fitted()
        checked = _validate_classes.loglik(loglik)
        require_classes(checked, self.n_classes_)
        return self._transform(checked)

    @abstractmethod
    def _transform(self, loglik: ScoreArray) -> FloatArray:
        """Map checked log-likelihoods, into a new array."""

    def fit_transform(
        self,
        loglik: ArrayLike,
        label: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
    ) -> FloatArray:
        """Train on trials and map the same trials, which flatters the result.

        Parameters, errors
            As in `fit`.

        Returns
        -------
        (n_trials, n_classes) array
            Log-likelihoods in nats.
        """
        return self.fit(loglik, label, sample_weight=sample_weight, classes=classes).transform(loglik)

    @property
    def n_classes_(self) -> int:
        """How many classes it maps."""
        return len(self.offset_)
