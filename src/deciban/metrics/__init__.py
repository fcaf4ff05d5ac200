"""Figures of two sets of scores: error rates, costs, proper scoring rules, curves.

Every function takes the scores of target trials and of non-target trials, in any order: ``metric(tar, non)``.
Larger scores favour target, a trial is accepted if its score is at or above the threshold, equal scores are never
split. Log-likelihood ratios and log odds are in nats, Cllr in bits, error rates are fractions in [0, 1]. Each class
is averaged by itself and weighted by the prior that is asked for: the class proportions of the data never enter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.core.ranks.hull import Pav, Rocch
    from deciban.core.ranks.operating import OperatingPoint
    from deciban.metrics.costs import (
        act_dcf,
        bayes_error,
        calibration_loss,
        dr30,
        min_bayes_error,
        min_dcf,
    )
    from deciban.metrics.mixtures import (
        c_primary,
        min_c_primary,
        min_point_mass_cost,
        point_mass_cost,
        point_masses,
    )
    from deciban.metrics.ranks import auc, eer, pav, prbep, roc, roc_error_area, rocch, uer
    from deciban.metrics.rules import (
        cllr,
        cross_entropy,
        min_cllr,
        min_cross_entropy,
        min_scoring_rule_cost,
        scoring_rule_cost,
        threshold_weighting,
    )
    from deciban.metrics.sorted_scores import SortedScores
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.core.ranks.hull": ("Pav", "Rocch"),
            "deciban.core.ranks.operating": ("OperatingPoint",),
            "deciban.metrics.costs": (
                "act_dcf",
                "bayes_error",
                "calibration_loss",
                "dr30",
                "min_bayes_error",
                "min_dcf",
            ),
            "deciban.metrics.mixtures": (
                "c_primary",
                "min_c_primary",
                "min_point_mass_cost",
                "point_mass_cost",
                "point_masses",
            ),
            "deciban.metrics.ranks": ("auc", "eer", "pav", "prbep", "roc", "roc_error_area", "rocch", "uer"),
            "deciban.metrics.rules": (
                "cllr",
                "cross_entropy",
                "min_cllr",
                "min_cross_entropy",
                "min_scoring_rule_cost",
                "scoring_rule_cost",
                "threshold_weighting",
            ),
            "deciban.metrics.sorted_scores": ("SortedScores",),
        },
    )

__all__ = [
    "OperatingPoint",
    "Pav",
    "Rocch",
    "SortedScores",
    "act_dcf",
    "auc",
    "bayes_error",
    "c_primary",
    "calibration_loss",
    "cllr",
    "cross_entropy",
    "dr30",
    "eer",
    "min_bayes_error",
    "min_c_primary",
    "min_cllr",
    "min_cross_entropy",
    "min_dcf",
    "min_point_mass_cost",
    "min_scoring_rule_cost",
    "pav",
    "point_mass_cost",
    "point_masses",
    "prbep",
    "roc",
    "roc_error_area",
    "rocch",
    "scoring_rule_cost",
    "threshold_weighting",
    "uer",
]
