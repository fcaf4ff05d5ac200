"""What is best in bins against exact fractions, table by table; for other trials it is bounded."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.linearised import BestDecisions, beta_costs_at, brier_costs_at, dcf_weights, log_costs_at
from support.naive import min_error, pav_blocks, unequal_error_rate
from support.strategies import classes, coarse

few = classes(coarse)


def counts(sets, places):
    return tuple(np.array([list(scores).count(place) for place in places]) for scores in sets)


def mean(costs, tables):
    """Mean costs of the trials of each table, both classes added."""
    return sum(np.sum(one * own, axis=-1) / own.sum(axis=-1) for one, own in zip(costs, tables, strict=True))


@given(few, st.sampled_from([0.25, 1, 3]))
def test_the_crossing_is_where_exact_fractions_meet(sets, ratio):
    tables = counts(sets, sorted({*sets[0], *sets[1]}))
    found = mean(BestDecisions.of(*tables).crossing(ratio), tables)
    assert found[0] == pytest.approx(float(unequal_error_rate(*sets, ratio)), abs=1e-12)


@given(few, st.sampled_from([0.1, 0.5, 0.8]))
def test_the_least_cost_is_that_of_the_best_threshold_of_all(sets, prior):
    tables = counts(sets, sorted({*sets[0], *sets[1]}))
    found = mean(BestDecisions.of(*tables).dcf(math.log(prior / (1 - prior))), tables)
    assert found[0] == pytest.approx(float(min_error(*sets, prior)) / min(prior, 1 - prior), abs=1e-12)


@given(few, st.sampled_from([-2.0, 0.0, 1.0]))
def test_least_entropy_and_brier_score_are_those_of_pooled_blocks(sets, log_odds):
    tables = counts(sets, sorted({*sets[0], *sets[1]}))
    best, expected = BestDecisions.of(*tables), np.zeros(2)
    prior = 1 / (1 + math.exp(-log_odds))
    for n_tar, n_non, _, _ in pav_blocks(*sets):
        p_tar, p_non = n_tar / len(sets[0]), n_non / len(sets[1])
        posterior = prior * p_tar / (prior * p_tar + (1 - prior) * p_non)
        for weight, share in ((prior * p_tar, posterior), ((1 - prior) * p_non, 1 - posterior)):
            if weight:
                expected += weight * np.array([-math.log(share), (1 - share) ** 2])
    found = [
        mean(costs, tables)[0]
        for costs in (best.cost_of(log_costs_at(log_odds)), best.cost_of(brier_costs_at(log_odds)))
    ]
    assert found == pytest.approx(expected.tolist(), abs=1e-12)
    # The beta family has the logarithmic rule at (1, 1) and, at its scale, the quadratic one at (2, 2).
    assert mean(best.cost_of(beta_costs_at(1.0, 1.0, log_odds)), tables)[0] == pytest.approx(expected[0], abs=1e-12)
    assert mean(best.cost_of(beta_costs_at(2.0, 2.0, log_odds)), tables)[0] == pytest.approx(
        3.0 * expected[1], abs=1e-12
    )


@given(st.lists(few, min_size=1, max_size=4))
def test_tables_at_once_are_tables_one_by_one(many):
    places = sorted({score for sets in many for one in sets for score in one})
    stacked = [np.stack(one) for one in zip(*(counts(sets, places) for sets in many), strict=True)]
    together = BestDecisions.of(*stacked)
    for row, sets in enumerate(many):
        alone = BestDecisions.of(*counts(sets, places))
        for one, other in (
            (together.dcf(-1.0), alone.dcf(-1.0)),
            (together.crossing(2.0), alone.crossing(2.0)),
            (together.cost_of(log_costs_at(0.5)), alone.cost_of(log_costs_at(0.5))),
            (together.bounded().cost_of(log_costs_at(0.5)), alone.bounded().cost_of(log_costs_at(0.5))),
        ):
            assert one[:, row].tolist() == other[:, 0].tolist()


@given(st.lists(few, min_size=1, max_size=4), st.sampled_from([0.25, 1, 3]))
def test_means_by_block_are_means_over_cells_and_those_of_each_table_alone(many, ratio):
    places = sorted({score for sets in many for one in sets for score in one})
    tables = [np.stack(one) for one in zip(*(counts(sets, places) for sets in many), strict=True)]
    best = BestDecisions.of(*tables)
    for least in (
        lambda one: one.crossing(ratio),
        lambda one: one.dcf(-1.0),
        lambda one: one.cost_of(log_costs_at(0.5)),
        lambda one: one.cost_of(brier_costs_at(-0.5)),
    ):
        blocks = best.by_block()
        found = blocks.means(least(blocks))
        assert found == pytest.approx(mean(least(best), tables), rel=1e-13, abs=1e-15)
        for row, sets in enumerate(many):
            alone = BestDecisions.of(*counts(sets, places)).by_block()
            assert alone.means(least(alone)).tolist() == [found[row]]


@given(few)
def test_for_other_trials_llrs_are_finite_and_ascend(sets):
    tables = counts(sets, sorted({*sets[0], *sets[1]}))
    best = BestDecisions.of(*tables)
    bounded = best.bounded()
    mixed = np.isfinite(best.llr)
    assert np.all(np.isfinite(bounded.llr))
    assert np.all(np.diff(bounded.llr) >= 0)
    assert bounded.llr[mixed].tolist() == pytest.approx(best.llr[mixed].tolist())
    assert np.all(np.isfinite(bounded.cost_of(log_costs_at(0.0))))


def test_a_block_of_one_class_counts_one_trial_of_the_other():
    best = BestDecisions.of(np.array([0, 1, 4]), np.array([6, 1, 0]))
    expected = [math.log((1 / 5) / (6 / 7)), math.log((1 / 5) / (1 / 7)), math.log((4 / 5) / (1 / 7))]
    assert best.bounded().llr.tolist() == pytest.approx(expected)
    halves = BestDecisions.of(np.array([0, 0.5, 2]), np.array([3, 0.5, 0])).bounded(0.5, 0.5)
    assert halves.llr.tolist() == pytest.approx(expected)


def test_empty_cells_belong_to_the_block_below_and_the_first_ones_to_the_first():
    best = BestDecisions.of(np.array([0, 0, 0, 3, 0]), np.array([0, 2, 0, 0, 0]))
    assert best.block.tolist() == [[0, 0, 0, 1, 1]]


@pytest.mark.parametrize(("prior", "weights"), [(0.01, (1.0, 99.0)), (0.5, (1.0, 1.0)), (0.8, (4.0, 1.0))])
def test_weights_are_normalized_by_the_better_default(prior, weights):
    assert dcf_weights(math.log(prior / (1 - prior))) == pytest.approx(weights)


def test_a_bounded_block_stays_below_the_next_one():
    best = BestDecisions.of(np.array([0, 1, 4]), np.array([1, 5, 0]))
    # One target among one non-target would say more for targets than the next block does.
    assert best.bounded().llr[0] == best.llr[1] == pytest.approx(math.log((1 / 5) / (5 / 6)))
    best = BestDecisions.of(np.array([0, 5, 1]), np.array([4, 1, 0]))
    assert best.bounded().llr[2] == best.llr[1]


def test_a_cell_at_the_threshold_is_accepted():
    """Two tables: llrs 0, 0 in one block, and -ln 3, ln 3; the prior log odds are those of these blocks, and less."""
    best = BestDecisions.of(np.array([[1, 1], [1, 3]]), np.array([[1, 1], [3, 1]]))
    own = best.llr[-2:]  # -ln 3, ln 3 as they were rounded
    np.testing.assert_allclose(own, [-math.log(3), math.log(3)], rtol=1e-15)
    found = best.positions(np.array([0.0, -1e-9, -own[0], -own[1], -own[1] - 1e-9]))
    assert found.tolist() == [[0, 2, 0, 2, 2], [1, 1, 0, 1, 2]]
