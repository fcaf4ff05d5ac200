"""Metrics of scores that arrive in batches, for training loops, with the methods of torchmetrics and Hugging Face."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from deciban._validate import arrays as _validate
from deciban._validate.arrays import probabilities_note
from deciban.core.ranks.roc import PointLike
from deciban.errors import InputError, warn
from deciban.evaluation.metrics import METRICS, key_among, keys_of, metric_of
from deciban.evaluation.results import Evaluation
from deciban.evaluation.two_class.evaluate import evaluation_of
from deciban.evaluation.two_class.summary import DEFAULT_POINTS, Summary, TwoClassMetrics, merged, summarize
from deciban.types import AnyArray, Foreign, Tensor, Weights


class ScoreMetric:
    """Metrics of scores that arrive in batches, exactly as if all had arrived at once.

    ``update``, ``compute`` and ``reset`` are the methods of torchmetrics, ``add``, ``add_batch`` and
    ``compute(predictions=..., references=...)`` those of Hugging Face ``evaluate``. The object itself is a
    ``compute_metrics`` of its ``Trainer``.

    Parameters
    ----------
    metrics : str or sequence of str
        Names of metrics, such as ``eer``, ``min_dcf``, ``cllr``; ``min_dcf@2`` is at the second operating point.
    operating_points : iterable
        See `deciban.evaluation.evaluate`.
    prior : float, optional
        Share of targets in the training data of a classifier: its log odds are subtracted from the scores, so that
        logits become log-likelihood ratios.
    gather : function, optional
        Returns a list with the objects of all processes, given the object of this process. Then `compute` returns the
        metrics of the trials of all processes. Processes without batches send an empty summary.

    Raises
    ------
    InputError
        If a metric is unknown.

    Attributes
    ----------
    summaries : list of Summary
        Summaries of the batches.
    name : str
        Prefix of metrics in ``evaluate.combine``.

    Notes
    -----
    It stores the distinct scores of each batch with their counts. Each process sends one summary, not its trials.

    Examples
    --------
    >>> metric = ScoreMetric(["eer", "cllr"])
    >>> metric.update([1.0, 0.0], [1, 0])
    >>> metric.update([2.0, 2.0, 1.0, -1.0], [1, 1, 0, 0])
    >>> {name: round(value, 4) for name, value in metric.compute().items()}
    {'eer': 0.1667, 'cllr': 0.6941}
    """

    name = "deciban"

    def __init__(
        self,
        metrics: str | Sequence[str] = ("eer", "min_dcf", "cllr"),
        *,
        operating_points: Iterable[PointLike] = DEFAULT_POINTS,
        prior: float | None = None,
        gather: Callable[[Summary], Sequence[Summary]] | None = None,
    ) -> None:
        self.metrics, self.gather = (metrics,) if isinstance(metrics, str) else tuple(metrics), gather
        self.requested = TwoClassMetrics.of(operating_points)
        known = keys_of(METRICS, "two-class", {"point": len(self.requested.operating_points)})
        self._keys = [key_among(known, name, "the scores", "metrics") for name in self.metrics]
        self.shift = 0.0 if prior is None else -float(logit(_validate.fraction(prior, "prior", "It is inside (0, 1)")))
        self.summaries, self._forgets, self._warned = list[Summary](), False, False

    def reset(self) -> None:
        """Forget all batches."""
        self.summaries, self._forgets = [], False

    def update(self, scores: object, labels: object, weights: Weights = None) -> None:
        """Add a batch.

        Parameters
        ----------
        scores : (n,), (n, 1) or (n, 2) array_like or tensor
            Scores, higher for targets; two columns are logits of non-target and target.
        labels : (n,) or (n, 1) array_like or tensor
            True or 1 for targets, False or 0 for non-targets.
        weights : (n,) array_like, optional

        Raises
        ------
        InputError
            If the arrays do not match or contain NaN, or a label is not 0 or 1.
        """
        score, label = _vector_of(scores, "scores"), _vector_of(labels, "labels")
        if score.ndim == 2 and score.shape[1] == 2:
            score = np.subtract(*_validate.score_matrix(score, "scores").astype(np.float64).T[::-1])
        checked = _validate.scores(score, "scores").astype(np.float64) + self.shift
        if label.dtype.kind in "if" and np.any(label == _IGNORED):
            raise InputError(
                f"labels: got {_IGNORED}, which marks rows to ignore. Leave these rows out: pass scores[labels != "
                f"{_IGNORED}] and labels[labels != {_IGNORED}]."
            )
        truth = _validate.truth(label, len(checked), "labels")
        value = _validate.weights(weights, len(checked), "weights")
        by_class = [None if value is None else value[one] for one in (truth, ~truth)]
        part = summarize(
            checked[truth], checked[~truth], metrics=self.requested, tar_weights=by_class[0], non_weights=by_class[1]
        )
        self.summaries.append(part)

    def add(
        self,
        *,
        prediction: object = None,
        reference: object = None,
        predictions: object = None,
        references: object = None,
    ) -> None:
        """Add one trial, with the names of ``evaluate`` or of ``evaluate.combine``; see `add_batch`."""
        own = [one if one is not None else other for one, other in ((prediction, predictions), (reference, references))]
        self.add_batch(predictions=own[:1], references=own[1:])

    def add_batch(self, *, predictions: object, references: object) -> None:
        """Add a batch; see `update`. `compute` then forgets all batches, as in Hugging Face ``evaluate``.

        Batches of `update` are forgotten, too.
        """
        self.update(predictions, references)
        self._forgets = True

    def _feature_names(self) -> list[str]:
        """Return the names of the arguments, as ``evaluate.combine`` asks for them."""
        return ["predictions", "references"]

    def merge_state(self, others: Iterable[ScoreMetric]) -> None:
        """Add the batches of other metrics, for example of other processes."""
        for other in others:
            self.summaries += other.summaries
            self._forgets |= other._forgets  # noqa: SLF001  # an object of the same class

    def evaluation(self) -> Evaluation:
        """Return all metrics of the batches, of all processes if ``gather`` is set.

        Raises
        ------
        InputError
            If there are no batches, or a class has no trials.
        """
        self.summaries = [merged(self.summaries or [summarize([], [], metrics=self.requested)])]
        result = merged(self.summaries if self.gather is None else self.gather(self.summaries[0]))
        if not result.n_tar and not result.n_non:
            raise InputError("scores: there are no batches. Call update before compute.")
        return evaluation_of(result)

    def compute(self, *, predictions: object = None, references: object = None) -> dict[str, float]:
        """Return the metrics by name.

        Parameters
        ----------
        predictions, references : array_like, optional
            A last batch; then all batches are forgotten afterwards, as in Hugging Face ``evaluate``. After an error,
            only this batch is forgotten.

        Raises
        ------
        InputError
            As in `update` and `evaluation`, or if only one of ``predictions`` and ``references`` is passed.
        """
        if (predictions is None) != (references is None):
            missing = "predictions" if predictions is None else "references"
            raise InputError(f"{missing}: missing. Pass predictions and references together, or neither.")
        before = list(self.summaries)
        try:
            if predictions is not None:
                self.update(predictions, references)
            result = self.evaluation()
        except InputError:
            self.summaries = before
            raise
        if predictions is not None or self._forgets:
            self.reset()
        needs_llrs = any(metric_of(key).needs_llrs for key in self._keys) and not self._warned
        if needs_llrs and probabilities_note() in result.notes:
            self._warned = True
            warn(probabilities_note())
        return {name: float(result.value(key)) for name, key in zip(self.metrics, self._keys, strict=True)}

    def __call__(self, prediction: Foreign) -> dict[str, float]:
        """Return the metrics of an ``EvalPrediction`` of the Hugging Face ``Trainer``."""
        return self.compute(predictions=prediction.predictions, references=prediction.label_ids)


_IGNORED = -100
"""Label of rows that PyTorch and Hugging Face ignore."""


def _vector_of(values: Tensor, name: str) -> AnyArray:
    """Return an array or a tensor on any device as an array; a single column becomes a vector."""
    value: ArrayLike = values.detach().cpu().numpy() if hasattr(values, "detach") else values
    result = _validate.array(value, name)
    return result[:, 0] if result.ndim == 2 and result.shape[1] == 1 else result


class EarlyStopping:
    """Decision to stop training when a metric of validation data, such as minDCF or Cllr, no longer improves.

    Parameters
    ----------
    patience : int
        Number of validations without improvement before training stops, at least 1.
    min_delta : float
        Smallest change that counts as an improvement, at least 0.
    larger_is_better : bool
        True for metrics such as AUC.

    Raises
    ------
    InputError
        If ``patience`` or ``min_delta`` is out of range.

    Attributes
    ----------
    best : float
    n_without : int
        Number of validations since the best one.

    Notes
    -----
    The best value is optimistic, because it was chosen on the validation data: evaluate the model on other trials.

    Examples
    --------
    >>> should_stop = EarlyStopping(patience=2)
    >>> [should_stop(value) for value in (0.5, 0.4, 0.41, 0.4)]
    [False, False, False, True]
    """

    def __init__(self, *, patience: int = 3, min_delta: float = 0.0, larger_is_better: bool = False) -> None:
        self.patience = _validate.whole(patience, "patience", 1, math.inf, "It is a whole number from 1")
        self.min_delta = _validate.in_range(min_delta, "min_delta", 0.0, math.inf, "It is a number from 0")
        self.sign = -1.0 if larger_is_better else 1.0
        self.best, self.n_without = self.sign * math.inf, 0

    def __call__(self, value: float) -> bool:
        """Return True if training should stop after this value; NaN is no improvement."""
        if self.sign * value < self.sign * self.best - self.min_delta:
            self.best, self.n_without = value, 0
        else:
            self.n_without += 1
        return self.n_without >= self.patience
