"""What a model file tells of maps that are not trained by minimizing the cost that it reports."""

from __future__ import annotations

import math

from deciban.core.rules.expected import WeightedScores, cross_entropy
from deciban.models.model import Plain


def outcome(tar: WeightedScores, non: WeightedScores, status: str) -> dict[str, Plain]:
    """Results of training under the names that all calibrators use.

    Parameters
    ----------
    tar, non : (llr, weights)
        Log-likelihood ratios of the training trials after calibration, in nats, with optional weights.
    status : str
        What became of training, in words.

    Returns
    -------
    dict
        ``objective`` is the cross-entropy at prior 0.5 in nats, ``objective_relative_to_llr_0`` the same as Cllr in
        bits, and ``status``.
    """
    objective = cross_entropy(_counting(tar), _counting(non), 0.0)
    return {"objective": objective, "objective_relative_to_llr_0": objective / math.log(2), "status": status}


def _counting(trials: WeightedScores) -> WeightedScores:
    """Leave out trials of weight 0: nothing of an infinite cost is nothing."""
    llr, weights = trials
    return trials if weights is None else (llr[weights > 0], weights[weights > 0])
