"""Cross-entropy, Cllr, Brier and information of many classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics, multiclass
from deciban.multiclass.tables import ScoredClasses, calibrated_surprises
from support.class_trials import class_mean, class_trials, finite, limited, priors, random_trials, surprise

INF = math.inf
COSTS = {
    "cross_entropy": multiclass.cross_entropy,
    "brier": multiclass.brier,
    "information": multiclass.information_delivered,
}


@given(class_trials(finite), st.data())
def test_cross_entropy_is_the_mean_of_its_definition(trials, data):
    loglik, label = trials
    prior = data.draw(priors(loglik.shape[1]))
    expected = class_mean(surprise(loglik, label, prior), label, prior)
    assert multiclass.cross_entropy(loglik, label, prior=prior) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@given(class_trials(finite), st.data())
def test_brier_is_the_mean_of_its_definition(trials, data):
    loglik, label = trials
    prior = data.draw(priors(loglik.shape[1]))
    q = multiclass.posterior(loglik, prior=prior)
    costs = [1 - 2 * row[k] + row @ row for row, k in zip(q, label, strict=True)]
    assert multiclass.brier(loglik, label, prior=prior) == pytest.approx(class_mean(costs, label, prior), abs=1e-14)


@pytest.mark.parametrize("n", [2, 3, 14, 100])
@pytest.mark.parametrize("lead", [0.0, 1.0, 40.0, 700.0])
def test_closed_forms(n, lead):
    """All trials are alike: the true class leads by so much."""
    loglik, label = lead * np.eye(n), np.arange(n)
    surprise_of_each = math.log1p((n - 1) * math.exp(-lead))
    assert multiclass.cross_entropy(loglik, label, prior=None) == pytest.approx(surprise_of_each, rel=1e-14)
    assert multiclass.cllr(loglik, label) == pytest.approx(surprise_of_each / math.log(2), rel=1e-14)
    missing = (n - 1) * math.exp(-lead) / (1 + (n - 1) * math.exp(-lead))
    assert multiclass.brier(loglik, label) == pytest.approx(missing**2 + missing**2 / (n - 1), rel=1e-14)
    delivered = math.log2(n) - surprise_of_each / math.log(2)
    assert multiclass.information_delivered(loglik, label) == pytest.approx(delivered, abs=1e-14)


def test_no_information_costs_the_entropy_of_the_prior():
    loglik, label, prior = np.zeros((3, 3)), [0, 1, 2], [0.5, 0.25, 0.25]
    assert multiclass.cllr(loglik, label) == pytest.approx(math.log2(3), rel=1e-15)
    assert multiclass.cross_entropy(loglik, label, prior=prior) == pytest.approx(1.5 * math.log(2), rel=1e-15)
    assert multiclass.information_delivered(loglik, label, prior=prior) == pytest.approx(0, abs=1e-15)
    assert multiclass.information_delivered(5 * np.eye(3)[[1, 2, 0]], label) < 0


@given(class_trials(n_classes=st.just(2)), st.sampled_from([0.5, 0.01, 0.3, 1 - 1e-9]))
def test_two_classes_are_the_binary_metrics(trials, p):
    loglik, label = trials
    with np.errstate(invalid="ignore", over="ignore"):
        llr = np.where(loglik[:, 0] == loglik[:, 1], 0.0, loglik[:, 0] - loglik[:, 1])
    tar, non = llr[label == 0], llr[label == 1]
    assert multiclass.cllr(loglik, label) == metrics.cllr(tar, non)
    found = multiclass.cross_entropy(loglik, label, prior=[p, 1 - p])
    assert found == pytest.approx(metrics.cross_entropy(tar, non, p_target=p), rel=1e-14)
    rule = metrics.scoring_rule_cost(tar, non, alpha=2, beta=2, p_target=p)
    assert multiclass.brier(loglik, label, prior=[p, 1 - p]) == pytest.approx(rule * 2 / 3, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("name", COSTS)
@given(trials=class_trials(), data=st.data())
def test_laws(name, trials, data):
    loglik, label = trials
    prior = data.draw(priors(loglik.shape[1]))
    cost = COSTS[name]
    value = pytest.approx(cost(loglik, label, prior=prior), rel=1e-12, abs=1e-14)
    order = data.draw(st.permutations(range(len(label))))
    assert cost(loglik[order], label[order], prior=prior) == value
    classes = np.array(data.draw(st.permutations(range(len(prior)))))
    assert cost(loglik[:, classes], np.argsort(classes)[label], prior=prior[classes]) == value
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(label), max_size=len(label))))
    repeated = cost(np.repeat(loglik, weights, axis=0), np.repeat(label, weights), prior=prior)
    assert cost(loglik, label, prior=prior, sample_weight=weights) == pytest.approx(repeated, rel=1e-12, abs=1e-14)
    scaled = cost(loglik, label, prior=prior, sample_weight=weights * 0.3)
    assert scaled == pytest.approx(repeated, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", COSTS)
@given(trials=class_trials(st.integers(-64, 64).map(lambda k: k / 8)), shift=st.integers(-(2**40), 2**40))
def test_a_constant_for_each_trial_changes_no_digit(name, trials, shift):
    loglik, label = trials
    shifts = shift * (np.arange(len(label)) % 3)[:, None]  # exact in binary
    assert COSTS[name](loglik + shifts, label, prior=None) == COSTS[name](loglik, label, prior=None)


@pytest.mark.parametrize("name", COSTS)
def test_classes_of_prior_zero_drop_out(name):
    loglik, label = random_trials(4, 60)
    kept = (label == 0) | (label == 2)
    few = COSTS[name](loglik[kept][:, [0, 2]], label[kept] // 2, prior=[0.3, 0.7])
    assert COSTS[name](loglik, label, prior=[0.3, 0, 0.7, 0]) == pytest.approx(few, rel=1e-14)
    # Their trials are not needed, either.
    assert COSTS[name](loglik[kept], label[kept], prior=[0.3, 0, 0.7, 0]) == pytest.approx(few, rel=1e-14)


@pytest.mark.parametrize("name", COSTS)
def test_trials_of_weight_zero_do_not_count(name):
    loglik, label = random_trials(3, 20)
    loglik[3:6] = [[-INF, 0, 0], [0, -INF, 0], [0, 0, -INF]]
    label[3:6] = [0, 1, 2]
    kept = np.ones(20)
    kept[3:6] = 0
    left = COSTS[name](loglik[kept > 0], label[kept > 0], prior=None)
    assert COSTS[name](loglik, label, prior=None, sample_weight=kept) == pytest.approx(left, rel=1e-15)


@given(class_trials(st.sampled_from([-INF, INF, 0.0, 1.0, -2.5])))
def test_infinities_are_limits(trials):
    """Log-likelihoods of 10^4 behave as infinite ones do, except that surprise has a limit, too."""
    loglik, label = trials
    near = limited(loglik)
    assert multiclass.brier(loglik, label) == pytest.approx(multiclass.brier(near, label), rel=1e-14, abs=1e-300)
    assert multiclass.error_rate(loglik, label) == multiclass.error_rate(near, label)
    cost = multiclass.cross_entropy(near, label, prior=None)
    assert multiclass.cross_entropy(loglik, label, prior=None) == pytest.approx(cost if cost < 100 else INF, rel=1e-14)


@pytest.mark.parametrize(
    ("row", "bits"),
    [
        ([-INF, 0, 0], INF),
        ([-INF, -INF, 5], INF),
        ([0, -INF, -INF], 0),
        ([INF, 0, 0], 0),
        ([0, INF, 0], INF),
        ([INF, INF, 3], 1),
        ([INF, INF, INF], math.log2(3)),
        ([INF, INF, -INF], 1),
        ([-INF, INF, INF], INF),
        ([1e308, -1e308, 0], 0),
    ],
)
def test_infinite_evidence_about_class_zero(row, bits):
    others = [[-INF, 0, -INF], [-INF, -INF, 0]]
    assert multiclass.cllr([row, *others], [0, 1, 2]) == pytest.approx(bits / 3, rel=1e-14)


def test_float32_is_as_good_as_the_same_numbers_in_float64():
    loglik, label = random_trials(5, 300)
    narrow = loglik.astype(np.float32)
    for cost in COSTS.values():
        assert cost(narrow, label, prior=None) == cost(narrow.astype(np.float64), label, prior=None)


def test_blocks_do_not_show():
    """More trials than a block holds are the mean of their parts."""
    loglik, label = random_trials(3, 50_000)
    parts = [np.flatnonzero(label == k) for k in range(3)]
    whole = multiclass.cross_entropy(loglik, label, prior=None)
    assert whole == pytest.approx(class_mean(surprise(loglik, label, np.full(3, 1 / 3)), label, [1 / 3] * 3), rel=1e-13)
    assert min(map(len, parts)) > 5_000


@pytest.mark.parametrize("scale", [0.0, 2.5])
def test_surprises_of_calibrated_trials_are_those_of_their_map(scale):
    """By class, as `trial_surprises`; a scale of 0 leaves offsets, of infinite scores as well."""
    loglik, label = random_trials(3, 40)
    offset = np.array([0.5, -0.2, -0.3])
    in_order = np.argsort(label, kind="stable")
    expected = surprise((scale * loglik + offset)[in_order], label[in_order], np.full(3, 1 / 3))
    if scale == 0.0:
        loglik = np.where(loglik > 1.0, np.inf, loglik)
    found = calibrated_surprises(ScoredClasses.of_metric(loglik, label, None, None), scale, offset)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
