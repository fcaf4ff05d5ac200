"""Trials of many classes, checked once: log-likelihoods, true classes, weights and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.classes.counts import ordered_by_class, tally
from deciban.core.classes.loglik import detection_llr, prior_ratio, relative, row_blocks
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, ScoreArray


@dataclass(frozen=True, eq=False)
class ScoredClasses:
    """Checked trials of many classes; nothing depends on their order."""

    loglik: ScoreArray
    label: IntArray
    weights: CountArray | None
    classes: tuple[str, ...] | None

    @classmethod
    def of(
        cls,
        loglik: ArrayLike,
        label: ArrayLike,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
    ) -> ScoredClasses:
        """Check the arguments of a metric."""
        matrix = _validate_classes.loglik(loglik)
        n_trials, n_classes = matrix.shape
        names = _validate_classes.names(classes, n_classes)
        truth = _validate_classes.label(label, n_trials, n_classes, names)
        return cls(matrix, truth, _validate.weights(sample_weight, n_trials, "sample_weight"), names)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.loglik.shape[1])

    def prior(self, values: ArrayLike | None) -> FloatArray:
        """Check a prior, and that there are trials of all classes that it holds possible."""
        prior = _validate_classes.prior(values, self.n_classes)
        self.require(prior > 0)
        return prior

    def require(self, needed: BoolArray | None = None) -> None:
        """Refuse classes without trials."""
        _validate_classes.all_classes(
            self.label, self.n_classes, weights=self.weights, needed=needed, classes=self.classes
        )

    @cached_property
    def _by_class(self) -> tuple[IntArray, IntArray]:
        """Trials that count, class by class, and where each class begins."""
        order = ordered_by_class(self.label, self.n_classes)
        if self.weights is not None:
            order = order[self.weights[order] > 0]
        counts = np.bincount(self.label[order], minlength=self.n_classes)
        return order, np.concatenate(([0], np.cumsum(counts)))

    def rows(self, k: int) -> IntArray:
        """Positions of the trials of class ``k``, those of weight 0 left out."""
        order, begins = self._by_class
        return order[begins[k] : begins[k + 1]]

    def weights_of(self, rows: IntArray) -> CountArray | None:
        """Weights of some trials."""
        return None if self.weights is None else self.weights[rows]

    def totals(self) -> CountArray:
        """Number of trials of every class, or the sum of their weights."""
        return tally(self.label, self.n_classes, self.weights)

    def detection_llr(self, rows: IntArray, target: int, prior: FloatArray) -> FloatArray:
        """Log-likelihood ratio of a class of positive prior against the rest, for some trials."""
        columns = np.flatnonzero(prior > 0)
        ratio, place = prior_ratio(prior[columns]), int(np.searchsorted(columns, target))
        few = None if len(columns) == self.n_classes else columns
        llr = np.empty(len(rows))
        for part in row_blocks(len(rows), self.n_classes):
            llr[part] = detection_llr(relative(self.loglik, rows[part], few), ratio, place)
        return llr
