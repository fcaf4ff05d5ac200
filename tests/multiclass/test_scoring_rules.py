"""``C_eta`` and the Dirichlet family: against their definitions as integrals over the simplex, and as rules."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import gammainc, gammaincc, gammaln, log_softmax, softmax
from scipy.stats import dirichlet

from deciban import InputError, metrics, multiclass
from deciban.decisions import empirical_risk
from deciban.multiclass.recalibration import dirichlet_cost, dirichlet_rule, eta_cost, eta_rule
from support.class_trials import anything, class_mean, class_trials, finite, priors, random_trials

SIMPLEX = np.array([[0.5, 0.3, 0.2], [0.05, 0.05, 0.9], [0.2, 0.79, 0.01], [1 / 3, 1 / 3, 1 / 3], [0.98, 0.01, 0.01]])
shapes = st.floats(0.6, 6) | st.sampled_from([1.0, 2.0, 0.55, 1.0 + 1e-9, 1.0 - 1e-9, 100.0])
binary_shapes = st.floats(0.05, 6) | st.sampled_from([1.0, 2.0, 0.5, 100.0])


@st.composite
def points(draw, n_classes):
    """Posteriors inside the simplex."""
    return softmax(draw(st.lists(st.floats(-12, 12), min_size=n_classes, max_size=n_classes)))


def panels(low, high, width, order=12):
    """Gauss-Legendre nodes and weights on panels."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    edges = np.linspace(low, high, math.ceil((high - low) / width) + 1)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()


def integral_over_simplex(q, i, density, far=60.0, width=2.0):
    """``int C_eta(q | i) density(eta) d eta`` for three classes.

    In the logarithms x and y of the ratios of the other two components of ``eta`` to that of class i (thesis D.3), the
    class is missed unless both are at least those of ``q``; the Jacobian is the product of ``eta`` (thesis D.6).
    """
    j, k = (n for n in range(3) if n != i)
    x0, y0 = math.log(q[j] / q[i]), math.log(q[k] / q[i])
    total = 0.0
    for x_range, y_range in (((-far, x0), (-far, far)), ((x0, far), (-far, y0))):
        (x, x_weight), (y, y_weight) = panels(*x_range, width), panels(*y_range, width)
        eta = np.empty((3, len(x), len(y)))
        eta[i], eta[j], eta[k] = 0.0, x[:, None], y
        eta = softmax(eta, axis=0)
        total += x_weight @ (density(eta) * eta[j] * eta[k] / 2) @ y_weight
    return total


def dirichlet_density(a):
    a = np.array(a)
    return lambda eta: np.exp(
        gammaln(a.sum()) + ((a - 1)[:, None, None] * np.log(eta) - gammaln(a)[:, None, None]).sum(0)
    )


def one_integral(log_ratio, own, others, scale):
    """The integral over a gamma variable by adaptive quadrature, piece by piece."""

    def integrand(u):
        hazard = 0.0
        for x, a in zip(log_ratio, others, strict=True):
            below = gammainc(a, np.exp(u + x))
            hazard -= math.log1p(-below) if below < 0.5 else math.log(max(gammaincc(a, np.exp(u + x)), 1e-300))
        return math.exp((own - 1) * u - math.exp(u) - gammaln(own)) * -math.expm1(-hazard)

    start = min(-max(log_ratio), 0.0) - 12
    edges = [*np.linspace(start - 45 / (own - 1 + min(others)), start, 30)[:-1], *np.linspace(start, 7, 160)]
    partitions = [quad(integrand, low, high, epsabs=1e-300, epsrel=1e-12)[0] for low, high in pairwise(edges)]
    return scale * math.fsum(partitions)


@pytest.mark.parametrize("q", SIMPLEX.tolist())
def test_equal_weights_integrate_to_the_logarithm_for_three_classes(q):
    """Thesis 8.13 by quadrature, with the uniform density Gamma(3) = 2."""
    for i in range(3):
        value = integral_over_simplex(q, i, lambda eta: np.full(eta.shape[1:], 2.0))
        assert value == pytest.approx(-math.log(q[i]), rel=1e-9)


@pytest.mark.parametrize("a", [[1, 1, 1, 1, 1], [2, 0.8, 1.3, 3, 1]])
def test_rules_are_means_of_decisions_for_five_classes(a):
    """Thesis 8.13 by sampling ``eta`` and deciding; with other weights it gives the Dirichlet family."""
    rng = np.random.default_rng(7)
    q, n, a = np.array([0.4, 0.3, 0.15, 0.1, 0.05]), 400_000, np.array(a, np.float64)
    expected = dirichlet_rule([q], concentration=a)[0]
    if (a == 1).all():
        np.testing.assert_allclose(expected, -np.log(q), rtol=1e-14)
    for i in range(5):
        # Where eta_i is small costs are large: more such samples, which weigh less, make the variance finite.
        bent = a - 0.5 * (np.arange(5) == i)
        eta = rng.dirichlet(bent, n)
        weight = np.exp(gammaln(a.sum()) - gammaln(a[i]) - gammaln(bent.sum()) + gammaln(bent[i])) * np.sqrt(eta[:, i])
        sampled = weight * (np.argmax(q / eta, axis=1) != i) / (4 * eta[:, i])
        error = sampled.std() / math.sqrt(n)
        assert error < 0.01
        assert sampled.mean() == pytest.approx(expected[i], abs=4 * error)


@pytest.mark.parametrize(
    ("a", "far", "width"),
    [([2, 2, 2], 60, 2), ([0.7, 0.9, 1.6], 60, 2), ([5, 1, 0.6], 45, 1.5), ([30, 8, 3], 12, 0.5), ([1, 1, 2], 60, 2)],
)
def test_the_rule_is_the_integral_over_the_simplex(a, far, width):
    rule = dirichlet_rule(SIMPLEX, concentration=a)
    for q, costs in zip(SIMPLEX, rule, strict=True):
        for i in range(3):
            value = integral_over_simplex(q, i, dirichlet_density(a), far, width)
            assert costs[i] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_parameters_2_have_a_closed_form(n_classes):
    """``(2N-1)/(N-1) (1 - q_i sum_k k! e_k)`` with elementary symmetric polynomials ``e_k`` of the other posteriors."""
    q = np.random.default_rng(n_classes).dirichlet(np.ones(n_classes), 20)
    rule = dirichlet_rule(q, concentration=2)
    for row, costs in zip(q, rule, strict=True):
        for i in range(n_classes):
            rest = np.delete(row, i)
            sums = [math.factorial(k) * sum(map(math.prod, combinations(rest, k))) for k in range(n_classes)]
            expected = (2 * n_classes - 1) / (n_classes - 1) * (1 - row[i] * math.fsum(sums))
            assert costs[i] == pytest.approx(expected, rel=1e-11, abs=1e-13)


@given(points(4), shapes)
def test_one_parameter_other_than_1_has_a_closed_form(q, a):
    rule = dirichlet_rule([q], concentration=[a, 1, 1, 1])[0]
    scale = (a + 2) / 3
    log_q = -math.log1p(q[1:].sum() / q[0])
    own = scale * (math.expm1((a - 1) * log_q) / (1 - a) if a != 1 else -log_q)
    assert rule[0] == pytest.approx(own, rel=1e-11, abs=1e-15)
    if a == 2:  # Q(2, x) = (1 + x) exp(-x)
        np.testing.assert_allclose(rule[1:], scale * (-np.log(q[1:]) - q[0]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("log_ratio", "own", "others"),
    [
        ([0.3, -1.0], 0.55, [0.55, 0.55]),
        ([6.0, 3.0], 0.55, [0.6, 7.0]),
        ([-30.0, -31.0, -2.0], 1.3, [2.2, 0.5, 0.9]),
        ([-2.0, 1.0], 100.0, [100.0, 100.0]),
        ([4.7, 1.0], 1.0, [100.0, 20.0]),
        ([-1.0, 0.05], 1.0, [100.0, 20.0]),
        ([5.0, 1.0], 30.0, [5.0, 0.1]),
        ([250.0, 240.0, -10.0], 1.0, [3.0, 1.5, 0.3]),
        ([250.0, 240.0, -10.0], 0.6, [3.0, 1.5, 0.6]),
        ([-100.0, -90.0], 0.05, [1.05, 1.2]),
        ([80.0, -60.0], 0.9999, [0.4, 2.0]),
    ],
)
def test_any_parameters_and_posteriors(log_ratio, own, others):
    a = [own, *others]
    cost = dirichlet_cost([[0.0, *log_ratio]] + [[0.0] * len(a)] * len(others), range(len(a)), concentration=a)
    rest = [dirichlet_rule([np.full(len(a), 1 / len(a))], concentration=a)[0, k] for k in range(1, len(a))]
    cost = cost * len(a) - math.fsum(rest)
    expected = one_integral(log_ratio, own, others, (sum(a) - 1) / len(others))
    assert cost == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_tiny_costs_keep_their_digits():
    """Of a trial that is almost certain, and right, every class has its small share of the cost."""
    small = 1e-9
    rule = dirichlet_rule([[1 - 3 * small, small, 2 * small]], concentration=[1.5, 2, 3])[0]
    scale = 5.5 / 2
    # F(g) = P(2, r g) + P(3, 2 r g) - ..., P(2, x) = x^2 / 2: the integral of g^(a-2) e^-g times it.
    expected = scale * math.gamma(2.5) / math.gamma(1.5) * small**2 / 2
    assert rule[0] == pytest.approx(expected, rel=1e-7)


@given(class_trials(values=anything, n_classes=st.just(2)), binary_shapes, binary_shapes, st.floats(0.01, 0.99))
def test_two_classes_are_the_beta_family(trials, alpha, beta, p_target):
    loglik, label = trials
    with np.errstate(invalid="ignore"):
        llr = np.where(loglik[:, 0] == loglik[:, 1], 0.0, loglik[:, 0] - loglik[:, 1])
    expected = metrics.scoring_rule_cost(llr[label == 0], llr[label == 1], alpha=alpha, beta=beta, p_target=p_target)
    cost = dirichlet_cost(loglik, label, concentration=[alpha, beta], prior=[p_target, 1 - p_target])
    assert cost == pytest.approx(expected, rel=1e-10, abs=1e-300)


def test_the_general_way_gives_the_beta_family_too():
    """A third class that is excluded leaves two, but the costs are computed as those of three."""
    x = np.linspace(-30, 30, 13)
    q = softmax(np.column_stack([x, np.zeros(13), np.full(13, -np.inf)]), axis=1)
    for alpha, beta in [(2.0, 2.0), (0.7, 0.8), (0.3, 5.0), (40.0, 1.5)]:
        a = [alpha, beta, 3.0]
        three, two = dirichlet_rule(q, concentration=a), dirichlet_rule(q[:, :2], concentration=a[:2])
        factor = ((sum(a) - 1) / 2) / (alpha + beta - 1)
        np.testing.assert_allclose(three[:, :2], factor * two, rtol=1e-10)


@given(class_trials(values=anything), st.data())
def test_parameters_1_are_the_cross_entropy(trials, data):
    loglik, label = trials
    prior = data.draw(priors(loglik.shape[1]))
    expected = multiclass.cross_entropy(loglik, label, prior=prior)
    assert dirichlet_cost(loglik, label, concentration=1, prior=prior) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(st.integers(3, 5), st.data())
def test_rules_are_proper(n_classes, data):
    a = data.draw(st.lists(shapes, min_size=n_classes, max_size=n_classes))
    p, q = data.draw(points(n_classes)), data.draw(points(n_classes))
    honest, other = dirichlet_rule([p, q], concentration=a)
    assert (honest >= 0).all()
    assert p @ other >= p @ honest * (1 - 1e-10)
    eta = data.draw(points(n_classes))
    honest, other = eta_rule([p, q], eta=eta)
    assert p @ other >= p @ honest * (1 - 1e-10)


@pytest.mark.parametrize("a", [[0.6, 0.9, 2.5], [3.0, 3.0, 3.0], [6.0, 2.0, 0.5]])
def test_rules_are_strictly_proper(a):
    """The best answer is the truth, found from elsewhere."""
    p = np.array([0.6, 0.3, 0.1])
    found = minimize(
        lambda x: p @ dirichlet_rule(softmax([x]), concentration=a)[0], np.zeros(3), method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-15, "maxiter": 2000},
    )  # fmt: skip
    np.testing.assert_allclose(softmax(found.x), p, atol=1e-5)


def test_narrow_weights_come_close_to_one_decision():
    eta = np.array([0.5, 0.3, 0.2])
    far_from_borders = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.2, 0.1, 0.7]])
    narrow = dirichlet_rule(far_from_borders, concentration=100 * eta)
    np.testing.assert_allclose(narrow, eta_rule(far_from_borders, eta=eta), rtol=0.1, atol=0.02)


def test_costs_of_certainty():
    """``(A-1) / ((N-1) (a_i-1))`` where the true class is excluded, the mean of 1 / eta_i; infinite if a_i <= 1."""
    a = [1.5, 1.0, 3.0]
    rule = dirichlet_rule(np.eye(3), concentration=a)
    limits = [4.5 / 2 / 0.5, np.inf, 4.5 / 2 / 2]
    np.testing.assert_allclose(rule, np.where(np.eye(3), 0, limits))
    assert limits[2] == pytest.approx(1 / 2 * np.mean(1 / dirichlet(a, seed=1).rvs(200_000)[:, 2]), rel=0.01)
    nearly = dirichlet_rule([[1e-200, 1 - 1e-9, 1e-9]], concentration=a)[0]
    assert nearly[0] == pytest.approx(limits[0], rel=1e-12)
    inf = np.inf
    loglik, label = [[-inf, 0, 1], [5, inf, 0], [inf, 0, inf]], [0, 1, 2]
    half = dirichlet_rule([[0.5, 0, 0.5]], concentration=a)[0, 2]
    assert dirichlet_cost(loglik, label, concentration=a) == pytest.approx((limits[0] + 0 + half) / 3, rel=1e-14)
    assert dirichlet_cost([[0, -inf, 1], [-inf, -inf, 1]], [1, 2], concentration=a, prior=[0, 0.5, 0.5]) == inf


@pytest.mark.parametrize("own", [0.6, 1.0, 2.5])
def test_distances_beyond_float64(own):
    """Costs at log-likelihoods so far apart that only limits are left: no NaN, no warning."""
    for far in (1e3, 1e5, 1e300):
        cost = dirichlet_cost([[-far, 0.0, -1.0], [0, far, 0], [0, 0, far]], [0, 1, 2], concentration=[own, 2, 1.5])
        if own > 1:
            assert cost == pytest.approx((own + 2.5) / 2 / (own - 1) / 3, rel=1e-9)
        elif own == 1:
            # E[ln(1 / g)] of the least ratio is of order 1, so that the cost grows as far does.
            assert cost * 3 / far == pytest.approx(3.5 / 2, rel=1e-2)
        else:
            assert cost == (math.inf if far > 1e4 else pytest.approx(math.exp(0.4 * far), rel=10))


@given(class_trials(values=finite), st.data())
def test_expected_costs_are_class_means_of_the_rules(trials, data):
    loglik, label = trials
    n_classes = loglik.shape[1]
    prior = data.draw(priors(n_classes))
    a = data.draw(st.lists(st.floats(0.6, 5), min_size=n_classes, max_size=n_classes))
    posterior = np.exp(log_softmax(loglik + np.log(prior), axis=1))
    rows = np.arange(len(label))
    rule = dirichlet_rule(posterior, concentration=a)[rows, label]
    cost = dirichlet_cost(loglik, label, concentration=a, prior=prior)
    assert cost == pytest.approx(class_mean(rule, label, prior), rel=1e-8)
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(label), max_size=len(label)))
    copies = np.repeat(rows, weights)
    assert dirichlet_cost(loglik, label, concentration=a, prior=prior, sample_weight=weights) == pytest.approx(
        dirichlet_cost(loglik[copies], label[copies], concentration=a, prior=prior), rel=1e-12
    )
    order = np.random.default_rng(len(label)).permutation(n_classes)
    renamed = np.argsort(order)[label]
    turned = dirichlet_cost(loglik[:, order], renamed, concentration=np.array(a)[order], prior=prior[order])
    assert turned == pytest.approx(cost, rel=1e-10)


@given(class_trials(values=anything), st.data())
def test_eta_cost_is_the_risk_of_its_costs(trials, data):
    """Thesis 8.12 as a matrix of costs; at the flat ``eta`` it is the error rate."""
    loglik, label = trials
    n_classes = loglik.shape[1]
    prior, eta = data.draw(priors(n_classes)), data.draw(priors(n_classes))
    costs = (1 - np.eye(n_classes)) / ((n_classes - 1) * eta)
    q = multiclass.posterior(loglik, prior=prior)
    ratio = np.sort(q / eta, axis=1)
    cost = eta_cost(loglik, label, eta=eta, prior=prior)
    if (ratio[:, -2] < ratio[:, -1] * (1 - 1e-9)).all():  # rounding may decide ties one way or the other
        assert cost == pytest.approx(empirical_risk(loglik, label, costs=costs, prior=prior), rel=1e-12)
        rule = eta_rule(q, eta=eta)[np.arange(len(label)), label]
        assert cost == pytest.approx(class_mean(rule, label, prior), rel=1e-12)
    flat = eta_cost(loglik, label, eta=np.full(n_classes, 1 / n_classes), prior=prior)
    errors = multiclass.error_rate(loglik, label, prior=prior)
    assert flat * (n_classes - 1) / n_classes == pytest.approx(errors, rel=1e-12)


def test_decisions_meet_at_eta():
    eta = np.array([0.5, 0.3, 0.2])
    assert eta_rule([eta], eta=eta)[0, 0] == 0  # a tie goes to the first
    around = eta + 1e-9 * np.array([[2, -1, -1], [-1, 2, -1], [-1, -1, 2]])
    np.testing.assert_array_equal(eta_rule(around, eta=eta) == 0, np.eye(3, dtype=bool))
    # Every decision has expectation 1 there.
    np.testing.assert_allclose(eta_rule(around, eta=eta) @ eta, 1)


def test_two_classes_meet_at_a_threshold():
    """Thesis 3.12: costs 1 / eta and 1 / (1 - eta)."""
    tar, non = np.array([2.0, -1.0, 0.5, 3.0]), np.array([-2.0, 1.5, -0.5])
    loglik = np.column_stack([np.append(tar, non), np.zeros(7)])
    threshold = math.log(0.2 / 0.8)
    expected = 0.5 * np.mean(tar < threshold) / 0.2 + 0.5 * np.mean(non >= threshold) / 0.8
    assert eta_cost(loglik, [0] * 4 + [1] * 3, eta=[0.2, 0.8]) == pytest.approx(expected)


def test_classes_of_prior_0_and_names():
    loglik, label = random_trials(4, 60)
    keep = label != 2
    names = ["a", "b", "c", "d"]
    prior, a = np.array([0.2, 0.3, 0, 0.5]), np.array([1.5, 2, 0.7, 3])
    cost = dirichlet_cost(loglik[keep], np.array(names)[label[keep]], concentration=a, prior=prior, classes=names)
    without = np.delete(a, 2)
    three = dirichlet_cost(
        np.delete(loglik, 2, axis=1)[keep],
        label[keep] - (label[keep] > 2),
        concentration=without,
        prior=prior[prior > 0],
    )
    assert cost == pytest.approx(three * ((a.sum() - 1) / 3) / ((without.sum() - 1) / 2), rel=1e-10)
    with pytest.raises(InputError, match=r"label: class 2 \('c'\) has no trial"):
        dirichlet_cost(loglik[keep], label[keep], concentration=a, classes=names)
    with pytest.raises(InputError, match="label: class 2 has no trial"):
        eta_cost(loglik[keep], label[keep], eta=np.full(4, 0.25))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda q: dirichlet_rule(q, concentration=[1, 2]), r"concentration: shape \(2,\) for 3 classes"),
        (lambda q: dirichlet_rule(q, concentration=0), "concentration: 0 for class 0. Parameters must be in"),
        (lambda q: dirichlet_rule(q, concentration=[1, 2, 101]), "concentration: 101 for class 2"),
        (lambda q: dirichlet_rule(q, concentration=math.nan), "concentration: values must be finite"),
        (lambda q: dirichlet_rule(q, concentration=0.5), "0.5 and 0.5 for classes 0 and 1 sum to less than 1.1"),
        (lambda q: dirichlet_rule(q, concentration=[2, 0.4, 0.6]), "0.4 and 0.6 for classes 1 and 2 sum to"),
        (
            lambda q: dirichlet_rule(q * 2, concentration=1),
            "posterior: 5 of 5 rows are not probabilities that sum to 1",
        ),
        (lambda q: dirichlet_rule(q - np.array([0, 1, -1]), concentration=1), "posterior: 5 of 5 rows"),
        (lambda q: dirichlet_rule(q + np.array([0, math.nan, 0]), concentration=1), "posterior: 5 of 5 rows"),
        (lambda q: dirichlet_rule(q[:, :1], concentration=1), r"posterior: shape \(5, 1\). At least two"),
        (lambda q: dirichlet_rule(q[0], concentration=1), r"posterior: expected .* shape \(n_trials, n_classes\)"),
        (lambda q: eta_rule(q, eta=[0.5, 0.5, 0]), "eta: 0 for class 2. Every entry must be above 0"),
        (lambda q: eta_rule(q, eta=[0.5, 0.5]), r"eta: shape \(2,\) for 3 classes"),
        (lambda q: eta_rule(q, eta=[0.5, 0.5, 0.5]), "eta: probabilities sum to 1.5, not to 1"),
        (lambda q: eta_cost(q, [0, 1, 2, 0, 3], eta=[0.5, 0.3, 0.2]), "label: classes are whole numbers from 0 to 2"),
    ],
)
def test_refusals(wrong, message):
    with pytest.raises(InputError, match=message):
        wrong(SIMPLEX)
