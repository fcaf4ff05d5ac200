"""Losses of PyTorch tensors on the CPU: values, first and second derivatives, types, and that training works."""

import math

import numpy as np
import pytest
from hypothesis import given

from deciban import losses, metrics
from deciban.errors import InputError
from support.strategies import classes, log_odds

torch = pytest.importorskip("torch", reason="no torch to differentiate: pip install '.[torch]'")

RULES = [(1, 1), (2, 2), (0.5, 0.5), (2, 1), (1, 2), (0.7, 1.6), (0.3, 4.0), (12, 5)]


def tensor(values, **how):
    return torch.tensor(values, dtype=how.pop("dtype", torch.float64), **how)


def leaf(values, **how):
    return tensor(values, requires_grad=True, **how)


@pytest.mark.filterwarnings("ignore:All scores lie in")
@pytest.mark.parametrize(("alpha", "beta"), RULES)
@given(sets=classes(), x=log_odds)
def test_values_are_those_of_the_metric(alpha, beta, sets, x):
    how = {"alpha": alpha, "beta": beta, "prior_log_odds": x}
    tar, non = map(leaf, sets)
    value = losses.scoring_rule_cost(tar, non, **how)
    assert value.shape == ()
    np.testing.assert_allclose(value.item(), metrics.scoring_rule_cost(*sets, **how), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(losses.cllr(tar, non).item(), metrics.cllr(*sets), rtol=1e-12)
    value.backward()
    assert not tar.grad.isnan().any()
    assert not non.grad.isnan().any()
    assert (tar.grad <= 0).all()
    assert (non.grad >= 0).all()


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_first_and_second_derivatives_are_differences(alpha, beta):
    generator = torch.Generator().manual_seed(2)
    tar = torch.randn(5, generator=generator, dtype=torch.float64).mul(3).requires_grad_()
    non = torch.randn(4, generator=generator, dtype=torch.float64).mul(3).requires_grad_()

    def cost(tar, non):
        return losses.scoring_rule_cost(tar, non, alpha=alpha, beta=beta, p_target=0.2, tar_weights=[1, 2, 0, 1, 0.5])

    assert torch.autograd.gradcheck(cost, (tar, non), atol=1e-8)
    assert torch.autograd.gradgradcheck(cost, (tar, non), atol=1e-8)
    assert torch.autograd.gradcheck(losses.cllr, (tar, non), atol=1e-8)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_autograd_and_formulas_agree(alpha, beta):
    tar, non = leaf([3.0, 0.0, -0.5, -40.0]), leaf([-2.0, 0.0, 1.5])
    how = {"alpha": alpha, "beta": beta, "p_target": 0.05, "non_weights": torch.tensor([1, 2, 3])}
    losses.scoring_rule_cost(tar, non, **how).backward()
    cost = losses.scoring_rule_cost_and_gradient(tar, non, **how)
    assert not any(part.requires_grad for part in cost)
    torch.testing.assert_close(cost.grad_tar, tar.grad, rtol=1e-13, atol=0)
    torch.testing.assert_close(cost.grad_non, non.grad, rtol=1e-13, atol=0)


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_derivatives_at_posterior_log_odds_zero(alpha, beta):
    # sigma = 1/2: the slope is 2^-(alpha + beta - 1) / B, the curvature (alpha - beta + 1) / 2 times that.
    non = leaf([0.0])
    value = losses.scoring_rule_cost(tensor([1.0]), non, alpha=alpha, beta=beta, p_target=0.5)
    (first,) = torch.autograd.grad(value, non, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), non)
    slope = 2.0 ** (1 - alpha - beta) * math.gamma(alpha + beta) / math.gamma(alpha) / math.gamma(beta)
    assert first.item() == pytest.approx(0.5 * slope, rel=1e-13)
    assert second.item() == pytest.approx(0.25 * slope * (alpha - beta + 1), rel=1e-13)


def test_half_of_softplus_at_zero():
    tar, non = leaf([0.0, -0.0]), leaf([0.0])
    value = losses.cllr(tar, non)
    assert value.item() == 1.0
    value.backward()
    np.testing.assert_allclose(tar.grad, [-1 / (8 * math.log(2))] * 2, rtol=1e-15)
    np.testing.assert_allclose(non.grad, [1 / (4 * math.log(2))], rtol=1e-15)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_far_out_everything_is_finite(dtype):
    tar, non = leaf([1e4, -1e4], dtype=dtype), leaf([1e4, -1e4], dtype=dtype)
    value = losses.cllr(tar, non)
    value.backward()
    assert value.item() == pytest.approx(5e3 / math.log(2), rel=1e-6)
    np.testing.assert_allclose(tar.grad, np.array([0, -0.25]) / math.log(2), rtol=1e-6)
    np.testing.assert_allclose(non.grad, np.array([0.25, 0]) / math.log(2), rtol=1e-6)


def test_infinite_costs_have_gradients():
    tar, non = leaf([-math.inf, math.inf]), leaf([math.inf, -math.inf])
    value = losses.cllr(tar, non)
    value.backward()
    assert value.item() == math.inf
    np.testing.assert_allclose(tar.grad, np.array([-0.25, 0]) / math.log(2), rtol=1e-15)
    np.testing.assert_allclose(non.grad, np.array([0.25, 0]) / math.log(2), rtol=1e-15)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 2), (2, 1), (1.5, 1.25)])
def test_second_derivatives_vanish_far_out(alpha, beta):
    far = [1e4, -1e4, math.inf, -math.inf]
    tar, non = leaf(far), leaf(far)
    value = losses.scoring_rule_cost(tar, non, alpha=alpha, beta=beta, p_target=0.5)
    first = torch.autograd.grad(value, (tar, non), create_graph=True)
    for second in torch.autograd.grad(first[0].sum() + first[1].sum(), (tar, non)):
        assert second.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("alpha", "beta"), RULES)
def test_trials_of_weight_zero_do_not_exist(alpha, beta):
    tar, non = leaf([-math.inf, 1.0]), leaf([0.0])
    value = losses.scoring_rule_cost(tar, non, alpha=alpha, beta=beta, p_target=0.5, tar_weights=torch.tensor([0.0, 3]))
    value.backward()
    alone = metrics.scoring_rule_cost([1.0], [0.0], alpha=alpha, beta=beta, p_target=0.5)
    assert value.item() == pytest.approx(alone, rel=1e-13)
    assert tar.grad[0] == 0
    assert tar.grad[1] < 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (0.7, 1.6)])
def test_types_and_devices_are_kept(dtype, alpha, beta):
    tar, non = leaf([1.5, -0.25], dtype=dtype), leaf([0.5, -2.0, -1.0], dtype=dtype)
    value = losses.scoring_rule_cost(tar, non, alpha=alpha, beta=beta, p_target=0.5)
    value.backward()
    assert value.dtype == tar.grad.dtype == non.grad.dtype == dtype
    assert value.device == tar.device
    wanted = metrics.scoring_rule_cost([1.5, -0.25], [0.5, -2.0, -1.0], alpha=alpha, beta=beta, p_target=0.5)
    rel = 1e-15 if dtype == torch.float64 else 0  # rounded once, from float64
    assert value.item() == pytest.approx(torch.tensor(wanted, dtype=torch.float64).to(dtype).item(), rel=rel, abs=0)


def test_a_million_float32_costs_lose_no_digits():
    # 0.1 in float32, a million times: a running float32 sum would be off in the third digit.
    n = 10**6
    value = losses.cllr(torch.full((n,), 0.1), torch.full((n,), -0.1))
    wanted = math.log1p(math.exp(-float(np.float32(0.1)))) / math.log(2)
    assert value.item() == float(np.float32(wanted))


def test_tensors_of_any_layout():
    table = leaf([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.0]])
    value = losses.cllr(table[:, 0], table.flip(0)[::2, 1])
    value.backward()
    assert value.item() == pytest.approx(metrics.cllr([1.0, 0.5, -1.0], [0.0, -2.0]), rel=1e-14)
    assert (table.grad != 0).tolist() == [[True, True], [True, False], [True, True]]
    assert not losses.cllr(table.detach()[:, 0], table.detach()[:, 1]).requires_grad
    with torch.no_grad():
        assert not losses.cllr(table[:, 0], table[:, 1]).requires_grad


def test_whole_numbers_are_scores():
    value = losses.cllr(torch.tensor([1, 3]), torch.tensor([0, -2]))
    assert value.dtype == torch.float64
    assert value.item() == pytest.approx(metrics.cllr([1, 3], [0, -2]), rel=1e-14)


def test_bad_tensors_are_refused():
    good = leaf([0.0, 1.0])
    for bad, words in [
        (torch.tensor([0.0, math.nan], dtype=torch.bfloat16), "tar: 1 of 2 scores are NaN, the first at index 1"),
        (leaf([[0.0, 1.0]]), r"tar: expected a one-dimensional array, got shape \(1, 2\)"),
        (torch.tensor([]), "tar: empty"),
        (torch.tensor(1.0), "tar: expected a one-dimensional array"),
        (torch.tensor([1j]), "tar: expected real numbers"),
        (np.zeros(2), "arrays of one library, got numpy.ndarray and torch.Tensor"),
        ([0.0, 1.0], "arrays of one library"),
    ]:
        with pytest.raises(InputError, match=words):
            losses.cllr(bad, good)
    with pytest.raises(InputError, match=r"tar_weights: requires a gradient.* Pass tar_weights.detach\(\)"):
        losses.cllr(good, good, tar_weights=leaf([1.0, 1.0]))
    with pytest.raises(InputError, match="non_weights: weights are finite and at least 0"):
        losses.cllr(good, good, non_weights=torch.tensor([1.0, -1.0], dtype=torch.bfloat16))


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 2), (0.7, 1.6)])
def test_training_finds_the_calibration(alpha, beta):
    # Scores of N(+-d/2, d) are llrs; shifted and scaled, the best affine map brings them back.
    rng = np.random.default_rng(3)
    llr = rng.normal(2.0, 2.0, 4000), rng.normal(-2.0, 2.0, 4000)
    tar, non = (torch.from_numpy(0.25 * s + 3.0) for s in llr)
    scale, offset = leaf(1.0), leaf(0.0)
    optimizer = torch.optim.LBFGS([scale, offset], max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        value = losses.scoring_rule_cost(
            scale * tar + offset, scale * non + offset, alpha=alpha, beta=beta, p_target=0.5
        )
        value.backward()
        return value

    before = losses.cllr(tar, non).item()
    optimizer.step(loss)
    after = losses.cllr(scale * tar + offset, scale * non + offset).item()
    assert before > 1.5
    assert after == pytest.approx(metrics.cllr(*llr), rel=0.01)
    assert (scale.item(), offset.item()) == pytest.approx((4.0, -12.0), rel=0.1)
