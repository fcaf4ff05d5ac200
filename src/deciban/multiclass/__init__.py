"""Recognizers of many classes: costs, error rates, detection, pairs, groups, subsets, calibration analysis.

``loglik`` has one row per trial and one column per class, in nats; only differences within a row mean anything.
``label`` holds the true classes, as positions from 0 or as names with ``classes=``. Every class is averaged by itself
and weighted by the prior that is asked for. Information is in bits, `cross_entropy` in nats, error rates are fractions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.multiclass.analysis import (
        DetectionAnalysis,
        PairwiseAnalysis,
        detection_analysis,
        pairwise_analysis,
    )
    from deciban.multiclass.costs import brier, cllr, cross_entropy, information_delivered
    from deciban.multiclass.derived import (
        detection_llr,
        detection_llrs,
        pairwise_llr,
        posterior,
        project_detection_llr,
    )
    from deciban.multiclass.detection import c_avg
    from deciban.multiclass.groups import Partition, group_loglik, partition
    from deciban.multiclass.identification import class_error_rates, confusion, error_rate
    from deciban.multiclass.recalibration import ClassCalibration, calibration_analysis, min_cllr
    from deciban.multiclass.scoring_rules import dirichlet_cost, dirichlet_rule, eta_cost, eta_rule
    from deciban.multiclass.subsets import SubsetCosts, subset_c_avg
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.multiclass.analysis": (
                "DetectionAnalysis",
                "PairwiseAnalysis",
                "detection_analysis",
                "pairwise_analysis",
            ),
            "deciban.multiclass.recalibration": ("ClassCalibration", "calibration_analysis", "min_cllr"),
            "deciban.multiclass.costs": ("brier", "cllr", "cross_entropy", "information_delivered"),
            "deciban.multiclass.derived": (
                "detection_llr",
                "detection_llrs",
                "pairwise_llr",
                "posterior",
                "project_detection_llr",
            ),
            "deciban.multiclass.detection": ("c_avg",),
            "deciban.multiclass.groups": ("Partition", "group_loglik", "partition"),
            "deciban.multiclass.identification": ("class_error_rates", "confusion", "error_rate"),
            "deciban.multiclass.scoring_rules": ("dirichlet_cost", "dirichlet_rule", "eta_cost", "eta_rule"),
            "deciban.multiclass.subsets": ("SubsetCosts", "subset_c_avg"),
        },
    )

__all__ = [
    "ClassCalibration",
    "DetectionAnalysis",
    "PairwiseAnalysis",
    "Partition",
    "SubsetCosts",
    "brier",
    "c_avg",
    "calibration_analysis",
    "class_error_rates",
    "cllr",
    "confusion",
    "cross_entropy",
    "detection_analysis",
    "detection_llr",
    "detection_llrs",
    "dirichlet_cost",
    "dirichlet_rule",
    "error_rate",
    "eta_cost",
    "eta_rule",
    "group_loglik",
    "information_delivered",
    "min_cllr",
    "pairwise_analysis",
    "pairwise_llr",
    "partition",
    "posterior",
    "project_detection_llr",
    "subset_c_avg",
]
