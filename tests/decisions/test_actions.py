"""Actions of least cost where likelihoods differ by more than the exponentials of a float."""

from fractions import Fraction

import numpy as np
import pytest

from deciban.decisions import bayes_decisions, error_costs


def by_fractions(loglik, costs):
    """Likelihoods are powers of 2; less what no action avoids, ties are ties."""
    costs = [[Fraction(c) for c in row] for row in costs]
    least = [min(column) for column in zip(*costs, strict=True)]
    decisions = []
    for row in loglik:
        likelihood = [Fraction(2) ** int(k) if np.isfinite(k) else Fraction(0) for k in row]
        expected = [sum((c - m) * x for c, m, x in zip(action, least, likelihood, strict=True)) for action in costs]
        decisions.append(expected.index(min(expected)))
    return decisions


@pytest.mark.parametrize("size", [10, 600, 1100, 5000, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_no_difference_is_too_small_to_count(seed, size):
    rng = np.random.default_rng([seed, size])
    n_actions, n_classes = rng.integers(2, 5, 2)
    costs = rng.integers(0, 4, (n_actions, n_classes)).astype(float)
    powers = rng.integers(-size, size, (200 if size < 100_000 else 40, n_classes)).astype(float)
    powers[rng.random(powers.shape) < 0.1] = -np.inf
    powers[:, 0] = np.where(np.isneginf(powers).all(axis=1), 0.0, powers[:, 0])
    found = bayes_decisions(powers * np.log(2.0), costs=costs)
    for row, one, best in zip(powers, found.tolist(), by_fractions(powers, costs), strict=True):
        if one != best:  # the rounding of logarithms makes a tie, or unmakes it
            likelihood = [Fraction(2) ** int(k) if np.isfinite(k) else Fraction(0) for k in row]
            avoidable = costs - costs.min(axis=0)
            a, b = (sum(Fraction(c) * x for c, x in zip(avoidable[k], likelihood, strict=True)) for k in (one, best))
            assert a - b <= Fraction(1e-9) * b


def test_an_action_that_is_never_worse_wins_at_any_distance():
    loglik = [[0.0, 800.0], [0.0, 1e300], [0.0, 700.0], [800.0, 0.0], [0.0, np.inf], [0.0, 0.0]]
    # Where one class is certain, and both actions cost the same there, it is a tie.
    assert bayes_decisions(loglik, costs=[[2.0, 0.0], [1.0, 0.0]]).tolist() == [1, 1, 1, 1, 0, 1]


def test_where_all_errors_cost_the_same_scores_are_compared_as_they_are():
    """Other costs, here of a third action, are compared up to the rounding of sums; the first of equals is taken."""
    nearly_alike = [[0.0, 1e-15], [1e-15, 0.0]]
    assert bayes_decisions(nearly_alike, costs=error_costs(2)).tolist() == [1, 0]
    assert bayes_decisions(nearly_alike, costs=error_costs(2, reject=0.9)).tolist() == [0, 0]
