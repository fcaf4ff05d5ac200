"""Losses of NumPy and array API arrays: the numbers of the metrics, and gradients from formulas and differences."""

import math
import subprocess
import sys

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import beta as beta_function
from scipy.special import expit

from deciban import losses, metrics
from deciban.errors import InputError
from deciban.losses import rules as terms
from support.strategies import classes, coarse, log_odds

RULES = [(1, 1), (2, 2), (0.5, 0.5), (2, 1), (1, 2), (0.7, 1.6), (0.05, 100), (30, 4)]
in_both_libraries = pytest.mark.parametrize("array", [np.asarray, strict.asarray], ids=["numpy", "strict"])
FINITE = classes(st.one_of(coarse, st.floats(-30, 30)), max_size=6)


def assert_same(got, wanted, rel=1e-12):
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=rel, atol=1e-300)


@pytest.mark.filterwarnings("ignore:All scores lie in")
@in_both_libraries
@given(sets=classes())
def test_cllr_is_the_metric(array, sets):
    tar, non = sets
    wanted = metrics.cllr(tar, non)
    assert_same(losses.cllr(array(tar), array(non)), wanted)
    assert_same(losses.cllr_and_gradient(array(tar), array(non)).value, wanted)


@pytest.mark.filterwarnings("ignore:All scores lie in")
@in_both_libraries
@pytest.mark.parametrize(("alpha", "beta"), RULES)
@given(sets=classes(), x=log_odds)
def test_costs_are_the_metric(array, alpha, beta, sets, x):
    tar, non = sets
    how = {"alpha": alpha, "beta": beta, "prior_log_odds": x}
    wanted = metrics.scoring_rule_cost(tar, non, **how)
    assert_same(losses.scoring_rule_cost(array(tar), array(non), **how), wanted)
    assert_same(losses.scoring_rule_cost_and_gradient(array(tar), array(non), **how).value, wanted)


@in_both_libraries
@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_weights_are_those_of_the_metric(array, alpha, beta):
    tar, non = [1.0, -np.inf, 2.5], [0.0, -1.0, 3.0, np.inf]
    how = {"alpha": alpha, "beta": beta, "p_target": 0.2, "tar_weights": [2, 0, 1], "non_weights": [0.3, 1.7, 1, 0]}
    cost = losses.scoring_rule_cost_and_gradient(array(tar), array(non), **how)
    assert_same(cost.value, metrics.scoring_rule_cost(tar, non, **how))
    assert np.asarray(cost.grad_tar)[1] == np.asarray(cost.grad_non)[3] == 0
    on_device = {**how, "tar_weights": array([2.0, 0.0, 1.0]), "non_weights": array([0.3, 1.7, 1.0, 0.0])}
    assert_same(losses.scoring_rule_cost(array(tar), array(non), **on_device), np.asarray(cost.value), rel=0)


@in_both_libraries
@pytest.mark.parametrize(("alpha", "beta"), RULES)
@given(sets=FINITE, x=st.floats(-5, 5))
def test_gradients_are_the_formulas(array, alpha, beta, sets, x):
    # Thesis 7.38 differentiated through the posterior, written without logarithms.
    tar, non = (np.asarray(scores, dtype=float) for scores in sets)
    cost = losses.scoring_rule_cost_and_gradient(array(tar), array(non), alpha=alpha, beta=beta, prior_log_odds=x)
    p, q = expit(tar + x), expit(-tar - x)
    tar_slope = -(p ** (alpha - 1)) * q**beta / beta_function(alpha, beta)
    assert_same(cost.grad_tar, expit(x) * tar_slope / len(tar), rel=1e-11)
    p, q = expit(non + x), expit(-non - x)
    non_slope = p**alpha * q ** (beta - 1) / beta_function(alpha, beta)
    assert_same(cost.grad_non, expit(-x) * non_slope / len(non), rel=1e-11)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_gradients_are_differences_of_the_metric(alpha, beta):
    tar, non = np.array([2.0, 0.0, -1.5]), np.array([-3.0, 0.0, 0.7, 1.1])
    how = {"alpha": alpha, "beta": beta, "p_target": 0.3, "tar_weights": [1, 2.5, 0.5], "non_weights": [1, 1, 2, 3]}
    cost = losses.scoring_rule_cost_and_gradient(tar, non, **how)
    h = 0.01 / max(alpha, beta, 1)
    for scores, gradient in ((tar, cost.grad_tar), (non, cost.grad_non)):
        for i in range(len(scores)):
            at = {}
            middle = scores[i]
            for k in (-2, -1, 1, 2):
                scores[i] = middle + k * h
                at[k] = metrics.scoring_rule_cost(tar, non, **how)
            scores[i] = middle
            difference = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
            assert gradient[i] == pytest.approx(difference, rel=1e-7, abs=1e-9 * cost.value)


@in_both_libraries
def test_half_of_softplus_at_zero(array):
    cost = losses.cllr_and_gradient(array([0.0, -0.0]), array([0.0]))
    assert_same(cost.value, 1.0, rel=1e-15)
    assert_same(cost.grad_tar, [-1 / (8 * math.log(2))] * 2, rel=1e-15)
    assert_same(cost.grad_non, [1 / (4 * math.log(2))], rel=1e-15)


@in_both_libraries
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_far_out_everything_is_finite(array, dtype):
    kind = getattr(strict if array is strict.asarray else np, dtype)
    tar, non = array([1e4, -1e4], dtype=kind), array([1e4, -1e4, 1e4], dtype=kind)
    cost = losses.cllr_and_gradient(tar, non)
    rel = 1e-6 if dtype == "float32" else 1e-14
    assert_same(cost.value, (1e4 / 2 + 1e4 * 2 / 3) / (2 * math.log(2)), rel)
    assert_same(cost.grad_tar, np.array([0, -0.25]) / math.log(2), rel)
    assert_same(cost.grad_non, np.array([1, 0, 1]) / (6 * math.log(2)), rel)
    for alpha, beta in [(2, 2), (2, 1), (1, 2), (1.5, 30), (100, 100)]:
        cost = losses.scoring_rule_cost_and_gradient(tar, non, alpha=alpha, beta=beta, p_target=0.01)
        assert all(np.isfinite(np.asarray(part)).all() for part in cost)


@in_both_libraries
@pytest.mark.parametrize(("alpha", "beta"), [*RULES, (1 + 2**-52, 1 - 2**-53)])
@pytest.mark.parametrize("x", [0.0, 1e4, -1e4])
def test_infinite_scores_make_no_nan(array, alpha, beta, x):
    scores = [np.inf, -np.inf, 1.7e308, -1.7e308, 0.0]
    cost = losses.scoring_rule_cost_and_gradient(array(scores), array(scores), alpha=alpha, beta=beta, prior_log_odds=x)
    for part in cost:
        assert not np.isnan(np.asarray(part)).any()


def test_slopes_of_infinite_scores_are_limits():
    cost = losses.cllr_and_gradient(np.array([-np.inf, np.inf]), np.array([-np.inf, np.inf]))
    assert cost.value == np.inf
    assert_same(cost.grad_tar, np.array([-1, 0]) / (4 * math.log(2)))
    assert_same(cost.grad_non, np.array([0, 1]) / (4 * math.log(2)))
    boosting = losses.scoring_rule_cost_and_gradient(
        np.array([-np.inf, np.inf]), np.zeros(1), alpha=0.5, beta=0.5, p_target=0.5
    )
    np.testing.assert_array_equal(boosting.grad_tar, [-np.inf, 0])


@in_both_libraries
@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_float32_in_float32_out(array, alpha, beta):
    rng = np.random.default_rng(1)
    tar, non = rng.normal(2, 2, 500).astype(np.float32), rng.normal(-2, 2, 700).astype(np.float32)
    how = {"alpha": alpha, "beta": beta, "p_target": 0.1}
    cost = losses.scoring_rule_cost_and_gradient(array(tar), array(non), **how)
    assert [str(part.dtype).rpartition(".")[2] for part in cost] == ["float32"] * 3
    # Correctly rounded: everything in between is float64.
    assert np.asarray(cost.value) == np.float32(metrics.scoring_rule_cost(tar, non, **how))


def test_the_wider_type_wins_and_each_gradient_keeps_its_own():
    cost = losses.cllr_and_gradient(np.ones(2, dtype=np.float32), np.zeros(2))
    assert [part.dtype for part in cost] == [np.float64, np.float32, np.float64]


@in_both_libraries
def test_whole_numbers_and_lists_are_scores(array):
    wanted = metrics.cllr([1, 3], [0, -2])
    assert losses.cllr([1, 3], [0, -2]) == pytest.approx(wanted, rel=1e-14)
    value = losses.cllr(array([1, 3]), array([0, -2]))
    assert np.asarray(value).dtype == np.float64
    assert_same(value, wanted)


@pytest.mark.parametrize("name", ["device1", "no_float64"])
@pytest.mark.parametrize("rule", [(1, 1), (0.7, 1.6)])
def test_the_device_is_kept(name, rule):
    device = strict.Device(name)
    tar, non = (strict.asarray(s, dtype=strict.float32, device=device) for s in ([1.0, -2.0], [0.5, -1.0, 0.0]))
    how = {"alpha": rule[0], "beta": rule[1], "p_target": 0.5, "tar_weights": [1, 2], "non_weights": [0, 1, 1]}
    cost = losses.scoring_rule_cost_and_gradient(tar, non, **how)
    assert all(part.device == device and part.dtype == strict.float32 for part in cost)
    wanted = metrics.scoring_rule_cost([1.0, -2.0], [0.5, -1.0, 0.0], **how)
    assert float(cost.value) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(("alpha", "beta"), [rule for rule in RULES if rule in terms._CLOSED_FORMS])
def test_closed_forms_keep_their_digits_everywhere(alpha, beta):
    # A single trial at a time, so that no large cost hides the digits of a small one.
    how = {"alpha": alpha, "beta": beta, "p_target": 0.5}
    for llr in np.concatenate([np.linspace(-300, 300, 61), np.linspace(-12, 12, 121), [-1.0, np.nextafter(-1, -2)]]):
        for sets in (([np.inf], [llr]), ([llr], [-np.inf])):
            assert_same(losses.scoring_rule_cost(*sets, **how), metrics.scoring_rule_cost(*sets, **how), rel=2e-14)


def test_arguments_are_untouched():
    tar, non = np.array([1.0, -np.inf, 1e300]), np.array([0.0, 2.0])
    kept = tar.copy(), non.copy()
    losses.scoring_rule_cost_and_gradient(tar, non, alpha=2, beta=1, p_target=0.5, tar_weights=[1, 0, 1])
    np.testing.assert_array_equal(tar, kept[0])
    np.testing.assert_array_equal(non, kept[1])


@in_both_libraries
@pytest.mark.parametrize(
    ("tar", "words"),
    [
        ([0.0, np.nan, 1.0, np.nan], "tar: 2 of 4 scores are NaN, the first at index 1"),
        ([], "tar: empty"),
        ([[1.0]], r"tar: expected a one-dimensional array, got shape \(1, 1\)"),
        ([1j], "tar: expected real numbers"),
    ],
)
def test_bad_scores_are_refused_in_the_same_words(array, tar, words):
    for loss in (losses.cllr, losses.cllr_and_gradient):
        with pytest.raises(InputError, match=words):
            loss(array(tar), array([0.0]))


def test_arrays_that_do_not_fit_together_are_refused():
    with pytest.raises(InputError, match=r"arrays of one library, got array_api_strict\S+ and numpy.ndarray. Convert"):
        losses.cllr(strict.asarray([1.0]), np.zeros(1))
    with pytest.raises(InputError, match="arrays on one device, got .*CPU_DEVICE.* and .*device1.*. Move one"):
        losses.cllr(strict.asarray([1.0]), strict.asarray([1.0], device=strict.Device("device1")))
    with pytest.raises(InputError, match="tar_weights: 1 weights for 2 trials"):
        losses.cllr(np.zeros(2), np.zeros(2), tar_weights=[1])
    with pytest.raises(InputError, match="non_weights: all 2 weights are 0"):
        losses.cllr(np.zeros(2), np.zeros(2), non_weights=strict.asarray([0.0, 0.0]))


@pytest.mark.parametrize("loss", [losses.scoring_rule_cost, losses.scoring_rule_cost_and_gradient])
def test_rules_and_priors_are_checked(loss):
    for how, words in [
        ({"alpha": 0.01, "beta": 1, "p_target": 0.5}, "alpha: got 0.01"),
        ({"alpha": 1, "beta": 101, "p_target": 0.5}, "beta: got 101"),
        ({"alpha": 1, "beta": 1}, "p_target, prior_log_odds: give exactly one"),
        ({"alpha": 1, "beta": 1, "p_target": 1.0}, "a prior must be inside"),
        ({"alpha": 1, "beta": 1, "p_target": [0.1, 0.5]}, "p_target: expected one prior, got 2. Sum the losses"),
    ]:
        with pytest.raises(InputError, match=words):
            loss(np.zeros(1), np.zeros(1), **how)


def test_torch_is_not_loaded_for_others():
    code = (
        "import sys, numpy, deciban; deciban.losses.cllr(numpy.zeros(1), numpy.zeros(1)); print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False"]
