"""Divergence between posteriors: the closed form is the one of the definition, at every magnitude."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, rel_entr

from deciban.errors import InputError
from deciban.fusion import posterior_divergence

IS_TARGET = np.array([True, True, False, False, False])


def by_definition(llr, is_target, p_target, one, other):
    """Mean of both Kullback-Leibler divergences over both outcomes, in bits."""
    q1, q2 = (expit(llr[:, k] + np.log(p_target / (1 - p_target))) for k in (one, other))
    trial = (rel_entr(q1, q2) + rel_entr(1 - q1, 1 - q2) + rel_entr(q2, q1) + rel_entr(1 - q2, 1 - q1)) / 2
    return (p_target * trial[is_target].mean() + (1 - p_target) * trial[~is_target].mean()) / np.log(2)


@given(st.lists(st.lists(st.floats(-8, 8), min_size=3, max_size=3), min_size=5, max_size=5), st.floats(0.01, 0.99))
def test_it_is_the_mean_of_both_kullback_leibler_divergences(llr, p_target):
    llr = np.array(llr)
    found = posterior_divergence(llr, IS_TARGET, p_target=p_target)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 0.0)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        expected = by_definition(llr, IS_TARGET, p_target, one, other)
        assert found[one, other] == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_a_value_by_hand():
    """Posteriors 1/2 and 3/4 differ by (1/4) ln 3 / 2 nats."""
    found = posterior_divergence([[0.0, np.log(3)], [0.0, np.log(3)]], [True, False])
    assert found[0, 1] == pytest.approx(np.log2(3) / 8, rel=1e-15)


@pytest.mark.parametrize(
    "pair", [(40.0, 41.0), (-300.0, -299.0), (700.0, 650.0), (1e-9, 0.0), (30.0, 30.0 + 1e-9), (-500.0, 500.0)]
)
def test_no_digits_are_lost_where_posteriors_are_close_to_each_other_or_to_certainty(pair):
    with localcontext() as context:
        context.prec = 700
        x, y = (Decimal(value) for value in pair)
        nats = (1 / (1 + (-x).exp()) - 1 / (1 + (-y).exp())) * (x - y) / 2
        expected = float(nats / Decimal(2).ln())
    assert posterior_divergence([pair, pair], [True, False])[0, 1] == pytest.approx(expected, rel=1e-12)


def test_certainty_differs_infinitely_from_everything_but_itself():
    inf = np.inf
    llr = np.array([[inf, inf, 900.0, -inf], [-inf, -inf, -900.0, inf], [0.0, 0.0, 0.0, 0.0]])
    found = posterior_divergence(llr, [True, False, False])
    off = ~np.eye(4, dtype=bool)
    off[0, 1] = off[1, 0] = False
    assert found[0, 1] == 0.0
    np.testing.assert_array_equal(found[off], inf)
    # Finite ones may be as far apart as they like: the posteriors are 0 and 1.
    assert posterior_divergence([[1e6, -1e6]] * 2, [True, False])[0, 1] == pytest.approx(1e6 / np.log(2))


def test_classes_are_weighted_by_the_prior_and_not_by_their_size():
    rng = np.random.default_rng(1)
    llr = rng.normal(size=(5, 2))
    twice = np.array([0, 1, 2, 2, 3, 3, 4, 4])
    once = posterior_divergence(llr, IS_TARGET, p_target=0.1)
    np.testing.assert_allclose(posterior_divergence(llr[twice], IS_TARGET[twice], p_target=0.1), once, rtol=1e-14)
    weight = [1, 3, 0, 2, 5]
    copies = np.repeat(np.arange(5), weight)
    np.testing.assert_allclose(
        posterior_divergence(llr, IS_TARGET, sample_weight=weight),
        posterior_divergence(llr[copies], IS_TARGET[copies]),
        rtol=1e-14,
    )


def test_a_trial_of_weight_0_does_not_count_even_where_it_is_infinite():
    llr = np.array([[np.inf, 0.0], [1.0, 0.0], [0.0, 0.0]])
    found = posterior_divergence(llr, [True, True, False], sample_weight=[0, 1, 1])
    np.testing.assert_array_equal(found, posterior_divergence(llr[1:], [True, False]))


def test_what_is_refused():
    with pytest.raises(InputError, match="NaN"):
        posterior_divergence([[np.nan, 0.0], [0.0, 0.0]], [True, False])
    with pytest.raises(InputError, match="p_target"):
        posterior_divergence([[0.0], [0.0]], [True, False], p_target=1.0)
    with pytest.raises(InputError, match="p_target: expected one prior, got"):
        posterior_divergence([[0.0], [0.0]], [True, False], p_target=[0.1, 0.2])
