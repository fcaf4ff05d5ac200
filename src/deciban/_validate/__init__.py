"""The only place that coerces and checks what users pass: arrays, priors, weights, classes."""

from __future__ import annotations

from deciban._validate.arrays import (
    all_finite,
    array,
    both_classes,
    costs,
    finite,
    in_range,
    labels,
    matrix,
    no_labels,
    pair,
    prior_log_odds,
    require_no_nan,
    rule,
    score_matrix,
    scores,
    single_log_odds,
    truth,
    weight_rules,
    weights,
)

__all__ = [
    "all_finite",
    "array",
    "both_classes",
    "costs",
    "finite",
    "in_range",
    "labels",
    "matrix",
    "no_labels",
    "pair",
    "prior_log_odds",
    "require_no_nan",
    "rule",
    "score_matrix",
    "scores",
    "single_log_odds",
    "truth",
    "weight_rules",
    "weights",
]
