"""Costs of llrs, summed up part by part: those of all together, whatever weighs nothing."""

import numpy as np
import pytest

from deciban.core.expected import mixed
from deciban.engines import Threads
from deciban.fusion import LinearFusion
from deciban.models.score_model import costs_of_mapped
from deciban.trials.sources import Batch
from support.array_sources import source_of


@pytest.mark.parametrize("rule", [{}, {"alpha": 0.5, "beta": 2.0, "p_target": 0.1}])
@pytest.mark.parametrize("weighted", [False, True])
def test_costs_by_a_rule_are_those_of_all_llrs_at_once(rule, weighted):
    rng = np.random.default_rng(1)
    truth, llr = rng.random(500) < 0.3, rng.normal(size=500)
    weight = rng.integers(0, 3, 500) if weighted else None
    if weighted:
        llr[weight == 0] = np.inf  # which cost nothing
    rows = np.ones(500, bool) if weight is None else weight > 0
    sets = [(llr[some & rows], None if weight is None else weight[some & rows]) for some in (truth, ~truth)]
    fusion = LinearFusion(**rule)
    found = fusion.cost_of_source(source_of(llr, truth, rng, weights=weight, n_partitions=9), Threads())
    assert found == pytest.approx(fusion.cost_of(*sets), rel=1e-14)


def test_logarithmic_costs_of_what_a_map_makes_of_scores():
    rng = np.random.default_rng(2)
    truth, score = np.arange(100) < 40, rng.normal(size=100)
    costs = costs_of_mapped(lambda own: 2.0 * own, Batch((score,), truth))
    expected = np.mean(np.logaddexp(0.0, -2.0 * score[truth])) + np.mean(np.logaddexp(0.0, 2.0 * score[~truth]))
    assert mixed(*costs.of_class, 0.0) == pytest.approx(0.5 * expected, rel=1e-14)
