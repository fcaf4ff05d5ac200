"""Hulls of many tables at once, against one table after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.metrics import roc_auc_score

from deciban.core.resampling.minima import Hulls, areas, log_cost, quadratic_cost
from deciban.metrics import SortedScores


@st.composite
def tables(draw):
    n_tables, n_cells = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_tar, n_non = (rng.integers(0, draw(st.integers(1, 40)) + 1, (n_tables, n_cells)) for _ in range(2))
    for counts in (n_tar, n_non):  # each table has both classes
        empty = ~counts.any(axis=1)
        counts[empty, rng.integers(0, n_cells)] = 1
    return n_tar, n_non


def one_by_one(n_tar, n_non):
    for tar, non in zip(n_tar, n_non, strict=True):
        cells = np.arange(len(tar), dtype=float)
        yield np.repeat(cells, tar), np.repeat(cells, non)


@given(tables(), st.floats(0.01, 100.0))
def test_crossings_and_costs_are_those_of_single_hulls(made, ratio):
    hulls, log_odds = Hulls(*made), np.array([-4.6, 0.0, 2.0])
    crossing, least = hulls.crossing(ratio), hulls.least_dcf(log_odds)
    for k, (tar, non) in enumerate(one_by_one(*made)):
        single = SortedScores(tar, non).rocch
        assert crossing[k] == pytest.approx(single.uer(ratio), abs=1e-12)
        np.testing.assert_allclose(least[k], single.min_dcf(prior_log_odds=log_odds), atol=1e-12)


@given(tables(), st.sampled_from([-3.0, 0.0, 1.5]))
def test_least_costs_are_those_of_isotonic_posteriors(made, log_odds):
    prior = 1 / (1 + np.exp(-log_odds))
    for cost, power in ((log_cost, False), (quadratic_cost, True)):
        found = Hulls(*made).least_cost(cost, log_odds)
        for k, (tar, non) in enumerate(zip(*made, strict=True)):
            # Trials weighted so that the share of targets is the prior: least costs come from isotonic shares.
            weight = np.stack((tar * prior / tar.sum(), non * (1 - prior) / non.sum()))
            filled = weight.sum(axis=0) > 0
            weight = weight[:, filled]
            share = isotonic_regression(weight[0] / weight.sum(axis=0), weights=weight.sum(axis=0)).x
            with np.errstate(divide="ignore", invalid="ignore"):
                costs = ((1 - share) ** 2, share**2) if power else (-np.log(share), -np.log1p(-share))
                wanted = sum(np.where(w > 0, w * c, 0.0).sum() for w, c in zip(weight, costs, strict=True))
            assert found[k] == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(tables())
def test_areas_are_those_of_scikit_learn(made):
    for found, (tar, non) in zip(areas(*made), one_by_one(*made), strict=True):
        labels = np.repeat([1, 0], [len(tar), len(non)])
        assert found == pytest.approx(roc_auc_score(labels, np.concatenate((tar, non))), abs=1e-12)


@given(tables())
def test_fractional_counts_scale(made):
    whole, parts = Hulls(*made), Hulls(*(counts * 0.37 for counts in made))
    np.testing.assert_allclose(parts.crossing(1.0), whole.crossing(1.0), atol=1e-9)
    np.testing.assert_allclose(parts.least_cost(log_cost, 0.0), whole.least_cost(log_cost, 0.0), atol=1e-9)
