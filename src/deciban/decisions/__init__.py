"""Decisions at a price: Bayes decisions for any costs and prior, and what they cost on trials of known truth.

An application is a matrix of costs, (n_actions, n_classes), and a prior. From log-likelihoods it makes decisions, one
action per trial, which may be any: one class out of many, accept or reject, a set of classes, nothing at all. Classes
are averaged one by one and weighted by the prior: the class proportions of the data never enter. Log-likelihoods are
in nats, risks in the unit of the costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.decisions.application import Application, combine_applications, error_costs
    from deciban.decisions.points import bayes_threshold, effective_prior
    from deciban.decisions.risks import (
        bayes_decisions,
        decision_counts,
        decision_risk,
        default_risk,
        empirical_risk,
    )
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.decisions.application": ("Application", "combine_applications", "error_costs"),
            "deciban.decisions.points": ("bayes_threshold", "effective_prior"),
            "deciban.decisions.risks": (
                "bayes_decisions",
                "decision_counts",
                "decision_risk",
                "default_risk",
                "empirical_risk",
            ),
        },
    )

__all__ = [
    "Application",
    "bayes_decisions",
    "bayes_threshold",
    "combine_applications",
    "decision_counts",
    "decision_risk",
    "default_risk",
    "effective_prior",
    "empirical_risk",
    "error_costs",
]
