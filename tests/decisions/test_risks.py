"""Bayes decisions and risks against the definitions in exact fractions, and what must not change them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit

from deciban import InputError, decisions, metrics
from support.class_trials import anything, class_mean, class_trials
from support.strategies import classes, coarse, log_odds

LABEL = [0, 1, 2, 2]
LOGLIK = np.array([[2.0, 0, -1], [0, 1, 0], [0, 0.5, 1.5], [1, 0, 0.5]])
DETECT = [[0, 1], [1, 0]]
cost = st.integers(0, 12).map(lambda k: k / 4)


@st.composite
def exact_problems(draw):
    """Log-likelihoods that are logarithms of small integers, so that ties are common and fractions exact."""
    n_classes = draw(st.integers(2, 4))
    n_actions = draw(st.integers(1, 5))
    likelihoods = draw(
        st.lists(st.lists(st.integers(0, 6), min_size=n_classes, max_size=n_classes), min_size=1, max_size=8)
    )
    costs = [[draw(cost) for _ in range(n_classes)] for _ in range(n_actions)]
    parts = draw(st.lists(st.integers(0, 5), min_size=n_classes, max_size=n_classes))
    assume(sum(part > 0 for part in parts) >= 2)
    assume(all(any(p and w for p, w in zip(parts, row, strict=True)) for row in likelihoods))
    return likelihoods, costs, parts


@given(exact_problems(), st.sampled_from([0.0, 3.5, -100.25]))
def test_decisions_are_those_of_exact_arithmetic_ties_included(problem, shift):
    likelihoods, costs, parts = problem
    expected = []
    for row in likelihoods:
        risks = [sum(Fraction(c) * p * w for c, p, w in zip(action, parts, row, strict=True)) for action in costs]
        expected.append(risks.index(min(risks)))
    with np.errstate(divide="ignore"):
        loglik = np.log(np.array(likelihoods, dtype=np.float64)) + shift
    prior = np.array(parts) / sum(parts)
    np.testing.assert_array_equal(decisions.bayes_decisions(loglik, costs=costs, prior=prior), expected)


@given(class_trials(values=coarse | st.floats(-50, 50)), st.data())
def test_risk_is_that_of_the_definition(trials, data):
    loglik, label = trials
    n_classes = loglik.shape[1]
    costs = np.array(
        data.draw(st.lists(st.lists(cost, min_size=n_classes, max_size=n_classes), min_size=1, max_size=4))
    )
    parts = data.draw(st.lists(st.integers(1, 5), min_size=n_classes, max_size=n_classes))
    prior = np.array(parts) / sum(parts)
    posterior = prior * np.exp(loglik - loglik.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    decided = decisions.bayes_decisions(loglik, costs=costs, prior=prior)
    expected_cost = posterior @ costs.T
    chosen = expected_cost[np.arange(len(label)), decided]
    np.testing.assert_allclose(chosen, expected_cost.min(axis=1), rtol=1e-12, atol=1e-14)
    risk = class_mean(costs[decided, label], label, prior)
    assert decisions.empirical_risk(loglik, label, costs=costs, prior=prior) == pytest.approx(risk, abs=1e-12)
    assert decisions.decision_risk(decided, label, costs=costs, prior=prior) == pytest.approx(risk, abs=1e-12)
    table = decisions.decision_counts(loglik, label, costs=costs, prior=prior)
    assert table.sum() == len(label)
    for action, true in np.ndindex(table.shape):
        assert table[action, true] == np.sum((decided == action) & (label == true))


@given(classes(), log_odds.filter(lambda x: abs(x) < 30), st.sampled_from([(1, 1), (10, 1), (0.5, 4)]))
def test_two_classes_are_detection(scores, prior_log_odds, costs):
    """The same errors as in the two-class metrics, but for scores that rounding alone keeps off the threshold."""
    (tar, non), (c_miss, c_fa) = scores, costs
    threshold = -(prior_log_odds + (math.log(c_miss) - math.log(c_fa)))
    assume(all(score == threshold or abs(score - threshold) > 1e-12 for score in (*tar, *non)))
    prior = expit([prior_log_odds, -prior_log_odds])
    expected = metrics.act_dcf(tar, non, prior_log_odds=prior_log_odds, c_miss=c_miss, c_fa=c_fa, normalize=False)
    llr, label = [*tar, *non], [0] * len(tar) + [1] * len(non)
    for loglik in (llr, np.column_stack([llr, np.zeros(len(llr))])):
        risk = decisions.empirical_risk(loglik, label, costs=[[0, c_fa], [c_miss, 0]], prior=prior)
        assert risk == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(st.floats(0.001, 0.999), st.sampled_from([0.1, 1.0, 7.0]), st.sampled_from([0.3, 1.0, 99.0]))
def test_a_score_at_the_bayes_threshold_is_accepted(p_target, c_miss, c_fa):
    threshold = decisions.bayes_threshold(p_target, c_miss, c_fa)
    scores = [threshold, threshold - 1e-12 * max(abs(threshold), 1), np.inf, -np.inf]
    decided = decisions.bayes_decisions(scores, costs=[[0, c_fa], [c_miss, 0]], prior=[p_target, 1 - p_target])
    np.testing.assert_array_equal(decided, [0, 1, 0, 1])


@given(
    class_trials(values=coarse | st.sampled_from([-math.inf, math.inf])),
    st.sampled_from([0.0, 0.25]),
    st.sampled_from([1.0, -64.0, 1e6]),
)
def test_what_is_added_to_all_log_likelihoods_of_a_trial_changes_nothing(trials, reject, shift):
    loglik, label = trials
    costs = decisions.error_costs(loglik.shape[1], reject=reject)
    one, two = (decisions.empirical_risk(each, label, costs=costs) for each in (loglik, loglik + shift))
    assert one == two


@given(class_trials(values=anything), st.randoms())
def test_the_order_of_trials_does_not_matter_and_whole_weights_are_copies(trials, random):
    loglik, label = trials
    costs = decisions.error_costs(loglik.shape[1], reject=0.25)
    order = [random.randrange(len(label)) for _ in label] + list(range(len(label)))
    counts = np.bincount(order, minlength=len(label))
    copies = decisions.empirical_risk(loglik[order], label[order], costs=costs)
    weighted = decisions.empirical_risk(loglik, label, costs=costs, sample_weight=counts)
    fractional = decisions.empirical_risk(loglik, label, costs=costs, sample_weight=counts / 7)
    assert copies == weighted == pytest.approx(fractional, rel=1e-14)


def test_infinite_log_likelihoods():
    inf = np.inf
    loglik = [[-inf, 0, -5], [inf, 1e300, 0], [0, inf, inf], [-inf, -inf, 0.0], [inf, inf, inf]]
    assert decisions.bayes_decisions(loglik, costs=decisions.error_costs(3)).tolist() == [1, 0, 1, 2, 0]
    costs = decisions.error_costs(3, reject=0.5)
    # Two certain classes are equally likely before the prior: an error has probability 1/2, which ties with reject.
    assert decisions.bayes_decisions(loglik, costs=costs).tolist() == [1, 0, 1, 2, 3]
    assert decisions.bayes_decisions(loglik, costs=costs, prior=[0.5, 0.2, 0.3]).tolist() == [1, 0, 2, 2, 0]


def test_classes_of_prior_0_play_no_part():
    loglik = [[50.0, 1, 0], [np.inf, 0, 1], [0.0, -np.inf, -np.inf]]
    decided = decisions.bayes_decisions(loglik, costs=decisions.error_costs(3), prior=[0, 0.4, 0.6])
    # What is left of the last trial are two excluded classes, of which none is preferred: the prior decides.
    assert decided.tolist() == [1, 2, 2]
    risk = decisions.empirical_risk([[0.0, 2, 1], [0, 0, 3]], [1, 2], costs=[[9, 0, 1], [9, 1, 0]], prior=[0, 0.5, 0.5])
    assert risk == 0
    assert decisions.decision_risk([0, 1], [1, 2], costs=[[9, 0, 1], [9, 1, 0]], prior=[0, 0.5, 0.5]) == 0


def test_small_differences_beside_large_common_costs_count():
    """An unavoidable cost of 1e9 leaves the decision to what can be avoided."""
    costs = np.array([[0, 1e-6], [1e-6, 0]]) + 1e9
    assert decisions.bayes_decisions([-0.001, 0.001], costs=costs).tolist() == [1, 0]


def test_extreme_costs_and_priors_do_not_underflow():
    costs, prior = [[0, 1e-200], [1e-200, 0]], [1e-59, 1 - 1e-59]
    assert decisions.bayes_decisions([135.0, 137.0], costs=costs, prior=prior).tolist() == [1, 0]


def test_float32_and_memory_order_give_the_same_decisions():
    loglik = np.random.default_rng(0).normal(size=(3000, 5)).astype(np.float32)
    costs = decisions.error_costs(5, reject=0.6)
    expected = decisions.bayes_decisions(loglik.astype(np.float64), costs=costs)
    for same in (loglik, np.asfortranarray(loglik), loglik.tolist()):
        np.testing.assert_array_equal(decisions.bayes_decisions(same, costs=costs), expected)
    assert len(np.unique(expected)) == 6
    before = loglik.copy()
    decisions.bayes_decisions(loglik, costs=costs)
    np.testing.assert_array_equal(loglik, before)


def test_default_and_normalized_risk():
    costs, prior = [[0, 1], [10, 0]], [0.01, 0.99]
    assert decisions.default_risk(costs=costs, prior=prior) == pytest.approx(0.1)
    nothing_known = decisions.empirical_risk([0.0, 0.0], [0, 1], costs=costs, prior=prior, normalize=True)
    assert nothing_known == pytest.approx(1)
    assert decisions.decision_risk([0, 0], [0, 1], costs=costs, prior=prior, normalize=True) == pytest.approx(9.9)


def test_names_of_classes():
    names = ["eng", "fra", "deu"]
    named = decisions.empirical_risk(
        LOGLIK, ["eng", "fra", "deu", "deu"], costs=decisions.error_costs(3), classes=names
    )
    assert named == decisions.empirical_risk(LOGLIK, LABEL, costs=decisions.error_costs(3)) == pytest.approx(1 / 6)
    with pytest.raises(InputError, match=r"label: class 1 \('fra'\) has no trial"):
        decisions.empirical_risk(LOGLIK, ["eng", "deu", "deu", "deu"], costs=decisions.error_costs(3), classes=names)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"costs": [[0, 1, -1], [1, 0, 1]]}, "costs: 1 of 6 are negative, the first of action 0 for class 2: -1"),
        (
            {"costs": [[0, 1, math.nan]]},
            "costs: values must be finite, but 1 of 3 values are not, the first at index 2",
        ),
        ({"costs": [[0, 1, math.inf]]}, "costs: values must be finite"),
        ({"costs": [0, 1, 1]}, r"costs: expected an array of shape \(n_actions, n_classes\).*got \(3,\)"),
        ({"costs": np.zeros((0, 3))}, r"costs: expected an array of shape .*got \(0, 3\)"),
        ({"costs": [["a", "b", "c"]]}, "costs: expected real numbers"),
        ({"costs": DETECT}, "loglik: 3 classes, but costs are for 2"),
        ({"prior": [0.5, 0.5]}, r"prior: shape \(2,\) for 3 classes"),
        ({"prior": [0.5, 0.7, -0.2]}, "prior: probabilities are 0 or within"),
        ({"prior": [0.5, 0.7, 0.2]}, "prior: probabilities sum to 1.4, not to 1"),
        ({"prior": [1.0, 0, 0]}, "prior: only one class is possible"),
        ({"loglik": [[0.0, math.nan, 1]] * 4}, "loglik: 4 of 4 trials contain NaN, the first at row 0, column 1"),
        ({"loglik": [[-math.inf] * 3] * 4}, "exclude every class"),
        ({"loglik": [0.0, 1.0, 2.0, 3.0]}, "loglik: 2 classes, but costs are for 3"),
        ({"label": [0, 1, 2]}, r"label: shape \(3,\) for 4 trials"),
        ({"label": [0, 1, 2, 3]}, "label: classes are whole numbers from 0 to 2"),
        ({"label": [0, 1, 1, 1]}, "label: class 2 has no trial"),
        ({"sample_weight": [1, 1, 0, 0]}, "label: class 2 has only trials of weight 0"),
        ({"sample_weight": [1, 1, -1, 1]}, "sample_weight: weights are finite and at least 0"),
        ({"costs": [[0, 1, 1], [0, 0, 0]], "normalize": True}, "normalize: the default decision costs nothing"),
    ],
)
def test_refusals(change, message):
    arguments = {"loglik": LOGLIK, "label": LABEL, "costs": decisions.error_costs(3)} | change
    with pytest.raises(InputError, match=message):
        decisions.empirical_risk(arguments.pop("loglik"), arguments.pop("label"), **arguments)


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ([0, 1, 2, 3], "decision: 1 of 4 are not actions, the first at index 3: 3. Actions are rows of costs, 0 to 2"),
        ([0, -1, 2, 2], "decision: 1 of 4 are not actions, the first at index 1: -1"),
        ([0.0, 1.0, 2.0, 2.0], "decision: expected a vector of indices of actions, got float64"),
        ([], "decision: expected a vector of indices"),
        ([0, 1, 2], r"label: shape \(4,\) for 3 trials"),
    ],
)
def test_decisions_that_are_none(decision, message):
    with pytest.raises(InputError, match=message):
        decisions.decision_risk(decision, LABEL, costs=decisions.error_costs(3))
