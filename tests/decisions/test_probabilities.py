"""Log-likelihood ratios from probabilities: exact rational arithmetic, both ends, and what is refused."""

from fractions import Fraction
from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import calibration, decisions, fusion, metrics
from deciban.decisions import llr_from_probability
from deciban.errors import DecibanWarning, InputError


@given(st.fractions(Fraction(1, 1000), Fraction(999, 1000)), st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_odds_are_divided_by_those_of_the_prior(probability, prior):
    ratio = probability / (1 - probability) * (1 - prior) / prior
    found = llr_from_probability([float(probability)], float(prior))[0]
    assert found == pytest.approx(log(ratio), rel=1e-12, abs=1e-12)


def test_certainty_is_infinite_and_the_prior_itself_says_nothing():
    assert llr_from_probability([0.0, 1.0, 0.3], 0.3).tolist() == [-inf, inf, 0.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_small_probabilities_keep_their_digits(dtype):
    probability = np.array([2.0**-14, 0.5, 1 - 2.0**-8], dtype)
    odds = [float(p) / (1 - float(p)) for p in probability]
    found = llr_from_probability(probability, 0.5)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.log(odds), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("probability", "prior", "words"),
    [
        ([0.5, 1.5, -0.1], 0.5, "2 of 3 trials have scores outside .0, 1., the first at index 1: 1.5"),
        ([0.5, np.nan], 0.5, "1 of 2 scores are NaN"),
        ([0.5, np.inf], 0.5, "at index 1: inf"),
        ([True, False], 0.5, "booleans"),
        ([0.5], 0.0, "p_target: got 0.0"),
        ([0.5], 1, "p_target: got 1"),
        ([0.5], "half", "p_target: got 'half'"),
        ([0.5], [0.4, 0.6], "one number inside"),
        ([0.5], np.nan, "p_target: got nan"),
        ([], 0.5, "empty"),
    ],
)
def test_what_is_no_probability_or_no_prior_is_refused(probability, prior, words):
    with pytest.raises(InputError, match=words):
        llr_from_probability(probability, prior)


TAR, NON = np.linspace(0.3, 0.99, 20), np.linspace(0.01, 0.6, 30)
TAKE_LLRS = {
    "cllr": metrics.cllr,
    "cross_entropy": lambda tar, non: metrics.cross_entropy(tar, non, p_target=0.1),
    "scoring_rule_cost": lambda tar, non: metrics.scoring_rule_cost(tar, non, alpha=2.0, beta=1.0, p_target=0.1),
    "brier": lambda tar, non: metrics.brier(tar, non, p_target=0.1),
    "score_parts": lambda tar, non: metrics.score_parts(tar, non, rule="log", p_target=0.1),
    "misleading_evidence": metrics.misleading_evidence,
    "act_dcf": lambda tar, non: metrics.act_dcf(tar, non, p_target=0.1),
    "bayes_error": lambda tar, non: metrics.bayes_error(tar, non, p_target=0.1),
    "calibration_loss": lambda tar, non: metrics.calibration_loss(tar, non, p_target=0.1),
    "c_primary": lambda tar, non: metrics.c_primary(tar, non, operating_points=[0.1]),
    "point_mass_cost": lambda tar, non: metrics.point_mass_cost(tar, non, thresholds=[0.0], masses=[1.0]),
    "elub_bounds": calibration.elub_bounds,
    "posterior_divergence": lambda tar, non: fusion.posterior_divergence(
        np.append(tar, non)[:, None], np.repeat([True, False], [len(tar), len(non)])
    ),
    "bayes_decisions": lambda tar, non: decisions.bayes_decisions(np.append(tar, non), costs=1 - np.eye(2)),
}


@pytest.mark.parametrize("name", TAKE_LLRS)
def test_functions_of_llrs_notice_probabilities_once_and_at_the_line_of_the_user(name):
    with pytest.warns(DecibanWarning, match="All scores lie in .0, 1.*llr_from_probability") as told:
        TAKE_LLRS[name](TAR, NON)
    assert [one.filename for one in told] == [__file__]
    for tar, non in ((TAR + 0.02, NON), (TAR, NON - 0.02), (TAR[:5], NON[:4]), (0.05 * TAR, 0.05 * NON)):
        TAKE_LLRS[name](tar, non)  # warnings are errors here


@pytest.mark.parametrize("name", ["eer", "min_cllr", "auc"])
def test_functions_of_ranks_take_any_scores(name):
    """Without a warning, which would be an error here; a monotone map does not change them."""
    metric = getattr(metrics, name)
    assert metric(TAR, NON) == metric(np.log(TAR / (1 - TAR)), np.log(NON / (1 - NON)))


def test_the_cost_of_what_comes_out_is_that_of_the_llrs_that_went_in():
    rng = np.random.default_rng(1)
    tar, non = rng.normal(1, 2, 50), rng.normal(-1, 2, 70)
    prior = 0.2
    posterior = [1 / (1 + np.exp(-(llr + np.log(prior / (1 - prior))))) for llr in (tar, non)]
    found = metrics.cllr(*(llr_from_probability(one, prior) for one in posterior))
    assert found == pytest.approx(metrics.cllr(tar, non), rel=1e-12)
