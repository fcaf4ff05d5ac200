"""Expected costs against sums that lose no digit."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import betaln

from deciban import metrics
from deciban.core.expected import cross_entropy, log_cost, normalized_cross_entropy
from deciban.core.proper import scoring_rule_cost


def surprise(x):
    """``ln(1 + exp(x))``, of one number."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def mean_surprise(scores, shift, sign):
    return math.fsum(surprise(sign * x + shift) for x in scores.tolist()) / len(scores)


@pytest.mark.parametrize("width", [1e-9, 1 / 64, 1 / 32, 1 / 16, 0.5, 0.99, 1.5, 8.0])
@pytest.mark.parametrize("centre", [-3.0, 0.1, 2.0])
@pytest.mark.parametrize("n", [255, 256, 5000, 20_000])
def test_neighbours_have_the_cost_of_their_sum(width, centre, n):
    """However close scores are, and however many, what they share is no more than rounding."""
    scores = centre + width * np.random.default_rng(n).uniform(-0.5, 0.5, n)
    for sign, shift in ((1, 0.0), (-1, 1.25)):
        assert log_cost((scores, None), shift, sign=sign).value == pytest.approx(
            mean_surprise(scores, shift, sign), rel=4e-15
        )


def test_cllr_of_sorted_scores_is_that_of_the_definition():
    rng = np.random.default_rng(1)
    tar, non = np.sort(rng.uniform(0.0, 20.0, 3000)), np.sort(rng.uniform(-30.0, 5.0, 40_000))
    expected = (mean_surprise(tar, 0.0, -1) + mean_surprise(non, 0.0, 1)) / (2 * math.log(2))
    assert metrics.cllr(tar, non) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("log_odds", [-700.0, -5.0, 0.0, 0.7, 40.0])
def test_the_normalized_cross_entropy_is_relative_to_knowing_nothing(log_odds):
    rng = np.random.default_rng(2)
    tar, non = (rng.normal(2.0, 2.0, 50), None), (rng.normal(-2.0, 2.0, 70), None)
    nothing = (np.zeros(1), None)
    found = normalized_cross_entropy(tar, non, log_odds)
    expected = cross_entropy(tar, non, log_odds) / cross_entropy(nothing, nothing, log_odds)
    assert found == pytest.approx(expected, rel=1e-12)
    assert normalized_cross_entropy(nothing, nothing, log_odds) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("log_odds", [-1e6, -800.0, -746.0, -745.0, 0.0])
def test_an_infinite_cost_stays_infinite_however_small_its_prior_is(log_odds):
    """As the normalized cost does: the prior underflows in float64, but finite log odds are never the prior 0."""
    wrong, right = (np.array([-math.inf]), None), (np.array([-1.0]), None)
    assert cross_entropy(wrong, right, log_odds) == math.inf
    assert cross_entropy((-right[0], None), (-wrong[0], None), -log_odds) == math.inf
    assert normalized_cross_entropy(wrong, right, log_odds) == math.inf


def softplus(x):
    return (1 + x.exp()).ln() if -100 < x < 2000 else x.exp() if x < 0 else x


def by_decimals(tar, non, log_odds):
    with localcontext() as context:
        context.prec = 60
        tau = Decimal(log_odds)
        of_tar = sum(softplus(-Decimal(x) - tau) for x in tar) / len(tar) / (1 + (-tau).exp())
        of_non = sum(softplus(Decimal(x) + tau) for x in non) / len(non) / (1 + tau.exp())
        return float(of_tar + of_non)


@pytest.mark.parametrize(
    ("tar", "non", "log_odds"),
    [
        ([0.0], [1e290], 745.0),
        ([0.0, -3.0], [1e290, 2.0], 800.0),
        ([-1e300], [0.0], -746.0),
        ([-1e300, 1e300], [0.0], -1350.0),
        ([-700.0], [3.0], -701.0),
        ([1.0, 0.5], [1.0], -720.0),
        ([1.0], [2.0], 699.0),
        ([1.0], [2.0], 2.0),
    ],
)
def test_a_finite_cost_counts_however_small_the_prior_is(tar, non, log_odds):
    assert metrics.cross_entropy(tar, non, prior_log_odds=log_odds) == pytest.approx(
        by_decimals(tar, non, log_odds), rel=1e-11, abs=0.0
    )


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.05, 100), (0.7, 1.6)])
@pytest.mark.parametrize("log_odds", [-1e4, -1500.0])
def test_finite_scores_cost_little_at_an_extreme_prior(alpha, beta, log_odds):
    """With q = exp(log_odds), the costs are q^alpha / (alpha B) + q q^(alpha-1) / ((1-alpha) B), weighted."""
    zero = np.zeros(1), None
    found = scoring_rule_cost(zero, zero, log_odds, alpha, beta)
    wanted = math.exp(alpha * log_odds - betaln(alpha, beta)) * (1 / alpha + 1 / (1 - alpha))
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-300)
    assert scoring_rule_cost(zero, zero, -log_odds, beta, alpha) == pytest.approx(wanted, rel=1e-11, abs=1e-300)
