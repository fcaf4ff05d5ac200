"""Costs and counts of decisions on which other programs agree; `decisions.json` says which."""

import json
from pathlib import Path

import numpy as np
import pytest

from deciban import decisions

CASE = json.loads((Path(__file__).parent / "decisions.json").read_text())["decisions"]["mc3_raw"]
LOGLIK, LABEL, EXPECT = np.array(CASE["loglik_classes_by_trials"]).T, CASE["label_0_based"], CASE["expect"]
RISING = np.array([1, 2, 3]) / 6
ORDINAL = [[abs(i - j) * (2 if i > j else 1) for i in range(3)] for j in range(3)]


@pytest.mark.parametrize(
    ("costs", "prior", "risk", "counts"),
    [
        (
            decisions.error_costs(3),
            None,
            EXPECT["error_rate_balanced_flat_prior"],
            EXPECT["decision_counts_flat_prior"],
        ),
        (decisions.error_costs(3), RISING, *EXPECT["prior_1toN"].values()),
        (decisions.error_costs(3, reject=0.3), None, *EXPECT["reject_option_cost_0.3_flat_prior"].values()),
        (
            ORDINAL,
            RISING,
            EXPECT["ordinal_cost_prior_1toN"]["average_cost"],
            EXPECT["ordinal_cost_prior_1toN"]["decision_counts"],
        ),
    ],
    ids=["errors", "prior", "reject", "ordinal"],
)
def test_risks_and_counts(costs, prior, risk, counts):
    assert decisions.empirical_risk(LOGLIK, LABEL, costs=costs, prior=prior) == pytest.approx(risk, abs=1e-12)
    table = decisions.decision_counts(LOGLIK, LABEL, costs=costs, prior=prior)
    np.testing.assert_array_equal(table.sum(axis=1), counts)
    decided = decisions.bayes_decisions(LOGLIK, costs=costs, prior=prior)
    np.testing.assert_array_equal(np.bincount(decided, minlength=len(costs)), counts)


def test_c_avg_is_a_combination_of_detection_problems():
    """Thesis 8.3 to 8.6."""
    detectors = [
        decisions.Application([1 - target, target], 0.5 * target + 0.25 * (1 - target)) for target in np.eye(3)
    ]
    combined = decisions.combine_applications(detectors, weights=np.full(3, 1 / 3))
    risk = decisions.empirical_risk(LOGLIK, LABEL, costs=combined.costs, prior=combined.prior)
    assert risk == pytest.approx(EXPECT["c_avg"], abs=1e-12)
