"""Every rule: concave entropy, 0 at the vertices, divergence at least 0, channels add nothing."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import rel_entr

from deciban import InputError, metrics
from deciban.decisions import Application, default_risk, expected_costs, minimizing_actions
from deciban.rules import (
    ActionCosts,
    Beta,
    DetectionOfEach,
    Dirichlet,
    Logarithmic,
    MeetingPoint,
    Mixture,
    Quadratic,
    ThresholdDensity,
    ThresholdWeights,
    rule_of_applications,
)

UNDECIDED = [[0, 4], [1, 0], [0.3, 0.5]]
OF_TWO = {
    "logarithm": Logarithmic(2),
    "quadratic": Quadratic(),
    "beta": Beta(2.0, 0.7),
    "actions": ActionCosts(UNDECIDED),
    "meeting": MeetingPoint([0.2, 0.8]),
    "each": DetectionOfEach(0.3),
    "points": ThresholdWeights([0.9, 0.2, 0.5], [1.0, 0.5, 2.0]),
    "density": ThresholdDensity([0.0, 0.3, 0.31, 1.0], [0.0, 2.0, 0.5, 1.0]),
    "mixture": Mixture([Quadratic(), Beta(0.5, 0.5)], [0.3, 2.0]),
}
OF_THREE = {
    "logarithm": Logarithmic(),
    "quadratic": Quadratic(),
    "dirichlet": Dirichlet([2.0, 1.5, 1.0]),
    "actions": ActionCosts([[0, 1, 1], [1, 0, 2], [3, 1, 0], [0.4, 0.4, 0.4]]),
    "meeting": MeetingPoint([0.5, 0.3, 0.2]),
    "each": DetectionOfEach(),
}
RULES = [(rule, 2) for rule in OF_TWO.values()] + [(rule, 3) for rule in OF_THREE.values()]
NAMES = [f"{name}-2" for name in OF_TWO] + [f"{name}-3" for name in OF_THREE]
every_rule = pytest.mark.parametrize(("rule", "n"), RULES, ids=NAMES)


def distributions(n, size, seed=1):
    return np.random.default_rng(seed).dirichlet(np.full(n, 0.7), size)


@every_rule
def test_entropy_is_concave_and_nothing_is_left_at_the_vertices(rule, n):
    p, q = distributions(n, 200), distributions(n, 200, seed=2)
    t = np.random.default_rng(3).random(200)[:, None]
    middle = rule.entropy(t * p + (1 - t) * q)
    assert (middle >= t[:, 0] * rule.entropy(p) + (1 - t[:, 0]) * rule.entropy(q) - 1e-9).all()
    np.testing.assert_allclose(rule.entropy(np.eye(n)), 0.0, atol=1e-15)


@every_rule
def test_nothing_is_gained_by_stating_something_else(rule, n):
    p, q = distributions(n, 500), distributions(n, 500, seed=2)
    assert (rule.divergence(q, p) >= -1e-10).all()
    np.testing.assert_allclose(rule.divergence(p, p), 0.0, atol=1e-12)


@every_rule
def test_what_passes_a_channel_tells_no_more(rule, n):
    """Data processing: the mean entropy of posteriors grows when outcomes are mixed up (thesis 2.2.7, 2.3)."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        joint = rng.dirichlet(np.ones(n * 6)).reshape(n, 6)
        blurred = joint @ rng.dirichlet(np.full(4, 0.5), 6)

        def left(table):
            return table.sum(axis=0) @ rule.entropy((table / table.sum(axis=0)).T)

        prior = rule.entropy(joint.sum(axis=1))
        assert left(joint) <= left(blurred) + 1e-9 <= prior + 2e-9


def test_shannon_and_kullback():
    p, q = distributions(3, 50), distributions(3, 50, seed=2)
    np.testing.assert_allclose(Logarithmic(2).divergence(q, p), rel_entr(p, q).sum(axis=1) / math.log(2), rtol=1e-9)
    np.testing.assert_allclose(Quadratic().divergence(q, p), ((p - q) ** 2).sum(axis=1), atol=1e-12)
    assert Logarithmic(2).entropy([0.125] * 8) == pytest.approx(3.0)


def test_an_impossible_class_costs_nothing_however_it_was_stated():
    assert Logarithmic().cross_entropy([1.0, 0.0], [1.0, 0.0]) == 0.0
    assert Logarithmic().cross_entropy([1.0, 0.0], [0.9, 0.1]) == math.inf
    assert Mixture([Logarithmic(), Quadratic()], [0.0, 1.0]).cross_entropy([1.0, 0.0], [0.0, 1.0]) == 2.0


@pytest.mark.parametrize(("rule", "density"), [(Beta(2.0, 0.7), Beta(2.0, 0.7).density), (OF_TWO["density"], None)])
def test_costs_are_integrals_of_the_density_of_thresholds(rule, density):
    """Thesis 7.35, by quadrature."""
    points = () if density else rule.eta.tolist()
    of = density or (lambda eta: np.interp(eta, rule.eta, rule.density))
    for q in (0.05, 0.3, 0.305, 0.77):
        found = rule.costs([q, 1 - q])
        inside = [x for x in points if q < x < 1]
        assert found[0] == pytest.approx(quad(lambda h: of(h) / h, q, 1 - 1e-12, points=inside or None)[0], rel=1e-6)
        inside = [x for x in points if 0 < x < q]
        assert found[1] == pytest.approx(quad(lambda h: of(h) / (1 - h), 0, q, points=inside or None)[0], rel=1e-6)


@pytest.mark.parametrize("small", [1e-3, 1e-9, 1e-15, 1e-200])
def test_nothing_cancels_next_to_a_vertex(small):
    """By series of the closed forms: the next term is smaller by a factor of ``small``."""
    near = [1.0 - small, small]
    series = small**2 / 2 + small**3 / 3 + small**4 / 4 + small**5 / 5 + small**6 / 6  # int h / (1 - h)
    triangle = ThresholdDensity([0.0, 0.4, 1.0], [0.0, 2.0, 0.0])  # 5 h below 0.4, 10 / 3 (1 - h) above
    found = (
        Quadratic().entropy(near),
        Logarithmic().costs(near)[0],
        triangle.costs(near[::-1])[1],
        triangle.costs(near)[0],
    )
    exact = 2.0 * small * (1.0 - small), -math.log1p(-small), 5.0 * series, 10.0 / 3.0 * series
    np.testing.assert_allclose(found, exact, rtol=1e-13)


def test_impossible_reports_cost_without_limit_where_the_density_reaches_an_end():
    assert ThresholdDensity([0.0, 1.0], [1.0, 1.0]).costs([0.0, 1.0]).tolist() == [math.inf, 0.0]


def test_points_are_weighted_detection_problems():
    """A point at eta is the cost matrix with a miss at 1 / eta and a false alarm at 1 / (1 - eta), ties accepted."""
    p = np.vstack((distributions(2, 100), [[0.2, 0.8], [0.5, 0.5]]))
    parts = [ActionCosts([[0, 1 / (1 - eta)], [1 / eta, 0]]) for eta in (0.2, 0.5)]
    found = ThresholdWeights([0.5, 0.2], [3.0, 1.0]).costs(p)
    np.testing.assert_allclose(found, Mixture(parts, [1.0, 3.0]).costs(p), rtol=1e-12)
    np.testing.assert_allclose(MeetingPoint([0.2, 0.8]).costs(p), ThresholdWeights([0.2], [1.0]).costs(p), rtol=1e-12)


def test_a_dirichlet_of_two_classes_is_the_beta_rule_and_of_ones_the_logarithm():
    p = distributions(2, 20)
    np.testing.assert_allclose(Dirichlet([2.0, 0.7]).costs(p), Beta(2.0, 0.7).costs(p), rtol=1e-12)
    q = distributions(4, 20)
    np.testing.assert_allclose(Dirichlet(1.0).costs(q), Logarithmic().costs(q), rtol=1e-10)


def test_entropy_of_actions_is_the_default_risk_and_equivalent_costs_decide_alike():
    p = distributions(2, 50)
    rule = ActionCosts(UNDECIDED)
    np.testing.assert_allclose(rule.entropy(p), [default_risk(costs=UNDECIDED, prior=row) for row in p], rtol=1e-12)
    moved = ActionCosts(3.0 * np.array(UNDECIDED) + [5.0, 0.5])  # thesis 3.5
    assert rule.actions(p).tolist() == moved.actions(p).tolist()
    np.testing.assert_allclose(moved.divergence(p[::-1], p), 3.0 * rule.divergence(p[::-1], p), atol=1e-12)


def test_applications_at_their_priors_become_one_rule():
    """Thesis 6.3 to 6.8: the rule at the flat prior has the sum of the risks."""
    some = [Application([[0, 1], [10, 0]], [0.01, 0.99]), Application(UNDECIDED, [0.4, 0.6])]
    rule, likelihood = rule_of_applications(some, weights=[2.0, 0.5]), np.array([0.7, 0.1])
    posterior = likelihood / likelihood.sum()
    expected = 0.0
    for one, weight in zip(some, (2.0, 0.5), strict=True):
        own = likelihood * one.prior
        action = expected_costs([own / own.sum()], costs=one.costs)[0].argmin()
        expected = expected + weight * one.costs[action] * one.prior * 2
    np.testing.assert_allclose(rule.costs(posterior), expected, rtol=1e-12)


def test_rules_say_in_what_they_count():
    units = [Logarithmic(base).unit for base in (None, 2, 10, 3)]
    assert units == ["nats", "bits", "bans", "logarithms to base 3"]
    assert (Beta(1, 1).unit, Dirichlet([1, 1, 1]).unit) == ("nats", "nats")
    assert {Beta(1, 2).unit, Dirichlet([1, 2, 1]).unit, Mixture([Logarithmic(2), Quadratic()]).unit} == {
        Quadratic().unit
    }
    assert Mixture([Logarithmic(2), Logarithmic(2)]).unit == "bits"


def test_all_actions_of_least_expected_cost():
    posterior = [[0.5, 0.5], [0.9, 0.1]]
    assert minimizing_actions(posterior, costs=[[0, 1], [1, 0], [0.5, 0.5]]).tolist() == [
        [True] * 3,
        [True, False, False],
    ]
    np.testing.assert_allclose(expected_costs(posterior, costs=[[0, 4], [1, 0]]), [[2.0, 0.5], [0.4, 0.9]])


def test_beta_density_is_normalized_and_weights_costs():
    assert quad(Beta(2.5, 1.2).density, 0, 1)[0] == pytest.approx(1.0, rel=1e-8)
    tar, non = [1.0, -0.5, 2.0], [0.2, -1.0]
    thresholds = np.linspace(1e-5, 1 - 1e-5, 20001)
    rule = ThresholdDensity(thresholds, Beta(2.0, 3.0).density(thresholds))
    costs = [
        rule.costs(np.stack((1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x))), axis=1)) for x in map(np.array, (tar, non))
    ]
    mean = 0.5 * costs[0][:, 0].mean() + 0.5 * costs[1][:, 1].mean()
    assert mean == pytest.approx(metrics.scoring_rule_cost(tar, non, alpha=2.0, beta=3.0, p_target=0.5), rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Logarithmic(1.0), "base: 1"),
        (lambda: Beta(0.0, 1.0), "alpha"),
        (lambda: ThresholdWeights([0.0]), "eta: .* inside"),
        (lambda: ThresholdWeights([0.5], [-1.0]), "weights: expected 1"),
        (lambda: ThresholdDensity([0.5, 0.5], [1, 1]), "eta: .* ascend"),
        (lambda: ThresholdDensity([0.1, 0.5], [1]), "density: expected 2"),
        (lambda: Mixture([]), "rules: empty"),
        (lambda: Mixture([Beta(1, 1), MeetingPoint([0.2, 0.3, 0.5])]), r"rules: for \[2, 3\]"),
        (lambda: Beta(1, 1).costs([0.2, 0.3, 0.5]), "posterior: 3 classes, but the rule is for 2"),
        (lambda: Quadratic().costs([0.2, 0.3]), "posterior: 1 of 1 rows are not probabilities"),
        (lambda: Quadratic().cross_entropy([0.5, 0.5], [0.2, 0.3, 0.5]), "truth: 3 classes, but posterior has 2"),
        (lambda: Beta(2, 2).density([1.0]), "eta: thresholds"),
        (lambda: DetectionOfEach(1.0), "p_target"),
        (lambda: expected_costs([[0.5, 0.5]], costs=np.ones((2, 3))), "posterior: 2 classes, but costs"),
    ],
)
def test_what_is_no_rule_or_no_distribution_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
