"""Scores that are no log-likelihood ratios are called so; those that are, badly calibrated or not, never."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from deciban import evaluate, evaluate_classes
from deciban.errors import topic_of
from deciban.evaluation import TwoClassMetrics
from deciban.evaluation.curves import far_off
from deciban.evaluation.one_system import shared_notes
from deciban.evaluation.results import Results
from deciban.evaluation.two_class.evaluate import evaluation_of
from deciban.evaluation.two_class.summary import merged, summarize


def remarks(result):
    return [note for note in result.notes if topic_of(note) == "no-llrs"]


def llrs(rng, mean, n_tar, n_non):
    """Calibrated Gaussian llrs: of variance twice their mean."""
    spread = np.sqrt(2 * mean)
    return rng.normal(mean, spread, n_tar), rng.normal(-mean, spread, n_non)


def best_scale(tar, non):
    """That of logistic regression with equal classes, without a penalty worth mentioning."""
    model = LogisticRegression(C=1e8, class_weight="balanced")
    return model.fit(np.append(tar, non)[:, None], np.arange(len(tar) + len(non)) < len(tar)).coef_[0, 0]


@pytest.mark.parametrize("seed", range(2))
def test_no_calibrated_llrs_are_called_anything_else(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        mean = 10 ** rng.uniform(-2.5, 1.3)
        tar, non = llrs(rng, mean, rng.integers(10, 300), rng.integers(10, 600))
        assert not remarks(evaluate(tar, non))


def test_nor_are_those_whose_scale_is_off_by_less_than_4():
    rng = np.random.default_rng(1)
    for _ in range(20):
        tar, non = llrs(rng, 10 ** rng.uniform(-1, 1.3), rng.integers(30, 300), rng.integers(30, 600))
        scale = np.exp(rng.uniform(-1, 1) * np.log(2.5))
        assert not remarks(evaluate(scale * tar, scale * non))


def test_nor_are_llrs_of_which_a_few_are_wrong_and_certain():
    rng = np.random.default_rng(3)
    tar, non = llrs(rng, 4.0, 400, 4000)
    tar[:40] = -50.0
    assert evaluate(tar, non).cllr > 1.0
    assert not remarks(evaluate(tar, non))


@pytest.mark.parametrize("seed", range(5))
def test_cosines_are_called_what_they_are_once(seed):
    rng = np.random.default_rng(seed)
    tar, non = np.tanh(rng.normal(0.8, 0.2, 300)), np.tanh(rng.normal(0.0, 0.2, 3000))
    assert best_scale(tar, non) > 4
    result = evaluate(tar, non, operating_points=[0.01, 0.5])
    (note,) = remarks(result)
    assert "scale far too small" in note
    assert "deciban calibrate" in note
    assert result.notes[0] == note
    assert not any("Badly" in one or "actual threshold" in one for one in result.notes)


def test_large_scores_are_called_so_and_those_of_one_sign_that_are_only_shifted():
    rng = np.random.default_rng(1)
    tar, non = llrs(rng, 3.0, 400, 4000)
    assert "scale far too large" in remarks(evaluate(20 * tar, 20 * non))[0]
    (note,) = remarks(evaluate(tar + 30, non + 30))
    assert "none is negative" in note
    assert "none is positive" in remarks(evaluate(tar - 30, non - 30))[0]
    assert not remarks(evaluate(tar + 3, non + 3))  # of both signs: badly calibrated, no more


@pytest.mark.parametrize("change", [lambda x: x, lambda x: x.astype(np.float32), lambda x: x[::-1]])
def test_nothing_depends_on_order_type_or_parts(change):
    rng = np.random.default_rng(0)
    tar, non = np.tanh(rng.normal(0.8, 0.2, 9000)), np.tanh(rng.normal(0.0, 0.2, 9000))
    assert remarks(evaluate(change(tar), change(non)))
    parts = [summarize(change(tar[rows]), change(non[rows])) for rows in (slice(0, 50), slice(50, None))]
    assert evaluation_of(merged(parts)).notes == evaluate(change(tar), change(non)).notes


def test_weights_count_like_copies():
    rng = np.random.default_rng(0)
    tar, non = np.tanh(rng.normal(0.8, 0.2, 100)), np.tanh(rng.normal(0.0, 0.2, 100))
    twice = evaluate(np.tile(tar, 2), np.tile(non, 2))
    weighted = evaluate(tar, non, tar_weights=np.full(100, 2), non_weights=np.full(100, 2))
    assert remarks(weighted) == remarks(twice) != []


def test_weights_decide_on_the_best_scale():
    rng = np.random.default_rng(2)
    (tar_small, non_small), (tar, non) = ([0.05 * one for one in llrs(rng, 3.0, 100, 100)], llrs(rng, 3.0, 100, 100))
    sets = np.append(tar_small, tar), np.append(non_small, non)
    for weights, n_remarks in (((200, 1), 1), ((1, 200), 0)):
        weight = np.repeat(weights, 100)
        assert len(remarks(evaluate(*sets, tar_weights=weight, non_weights=weight))) == n_remarks


@pytest.mark.parametrize("seed", range(3))
def test_a_part_of_many_scores_stands_for_all(seed):
    tar, non = llrs(np.random.default_rng(seed), 0.3, 30_000, 30_000)
    best = best_scale(tar, non)
    assert remarks(evaluate(tar * best / 4.1, non * best / 4.1))
    assert not remarks(evaluate(tar * best / 3.9, non * best / 3.9))


def test_scores_of_one_sign_may_touch_zero():
    tar, non = llrs(np.random.default_rng(1), 3.0, 400, 4000)
    lowest = min(tar.min(), non.min())
    assert "none is negative" in remarks(evaluate(tar - lowest, non - lowest))[0]


def test_hostile_scores_are_no_trouble():
    for tar, non in (([1e300] * 40, [-1e300] * 40), ([5e-324] * 40, [0.0] * 40), ([3.0] * 40, [3.0] * 40)):
        assert 0.0 <= evaluate(tar, non).min_cllr <= 1.0
    assert evaluate([1e308, *range(40)], [-1e308, *range(40)]).cllr > 0.0


def test_probabilities_are_called_so_and_nothing_else_is_said_of_their_calibration():
    rng = np.random.default_rng(3)
    result = evaluate(rng.beta(5, 2, 200), rng.beta(2, 5, 200), operating_points=[0.5, 0.001])
    assert result.notes[0].startswith("All scores lie in [0, 1]")
    assert "(probabilities=PRIOR, or decisions.llr_from_probability)" in result.notes[0]
    assert not any("Badly" in note for note in result.notes)


def test_many_classes_by_the_same_rule():
    rng = np.random.default_rng(5)
    label = np.arange(600) % 4
    loglik = rng.normal(size=(600, 4)) * np.sqrt(3) + 3 * np.eye(4)[label]  # scale 1 is the best
    for scale, words in ((0.05, "scale far too small"), (20.0, "scale far too large")):
        (note,) = remarks(evaluate_classes(scale * loglik, label))
        assert f"The scores are not log-likelihoods ({words}" in note
    for scale in (1.0, 0.4, 2.5):
        assert not remarks(evaluate_classes(scale * loglik, label))


def test_a_note_on_several_systems_names_them_all():
    one, two = (evaluate([1.0], [-1.0], name=name) for name in ("one", "two"))
    other = evaluate([1.0] * 3, [2.0] * 3, name="other")
    few = one.notes
    assert [note.split(maxsplit=1)[0] for note in few] == ["EER,", "actDCF"]
    found = {note: [system.name for system in some] for some, note in shared_notes([one, other, two])}
    alike = [note for note in few if note in other.all_notes]
    assert alike
    assert all(found[note] == ["one", "other", "two"] for note in alike)
    assert all(found[note] == ["one", "two"] for note in few if note not in alike)
    assert all(found[note] == ["other"] for note in other.all_notes if note not in few)
    assert Results((one, two)).note_lines == tuple(f"one · two: {note}" for note in few)


def test_nor_are_scores_that_no_scale_mends():
    """Fifth powers of llrs: half of what they hold is lost by every scale and offset."""
    tar, non = (one**5 for one in llrs(np.random.default_rng(1), 1.0, 800, 800))
    found = evaluate(tar, non)
    model = LogisticRegression(C=1e8, class_weight="balanced", tol=1e-10, max_iter=10_000)
    score, is_target = np.append(tar, non)[:, None] / 100, np.repeat([True, False], 800)
    mended = log_loss(is_target, model.fit(score, is_target).predict_proba(score)) / np.log(2)
    assert 0.3 < (1 - mended) / (1 - found.min_cllr) < 0.7
    assert best_scale(tar / 100, non / 100) < 25  # of the scores themselves it is below 1/4
    assert found.cllr > 1
    assert not remarks(found)


@pytest.mark.parametrize(
    ("bits", "n_trials", "expected"),
    [
        ((0.54, 0.0), 1000, True),  # 0.46 of 1 bit
        ((0.46, 0.0), 1000, False),
        ((0.99, 0.97), 370, True),  # 4 * 370 * 0.02 * ln 2 = 20.5
        ((0.99, 0.97), 350, False),
        ((0.99, 0.2), 30, True),
        ((0.99, 0.2), 29, False),
    ],
)
def test_far_off_is_half_of_what_they_hold_and_no_matter_of_chance(bits, n_trials, expected):
    assert far_off(*bits, 1.0, n_trials, 2) is expected


RATIOS = "All scores are positive, from"


def noted(tar, non, **how):
    return [one for one in evaluate(tar, non, **how).notes if one.startswith(RATIOS)]


def test_likelihood_ratios_are_noticed_whatever_batches_they_come_in():
    tar, non = (np.exp(one) for one in llrs(np.random.default_rng(4), 4.0, 60, 200))
    assert noted(tar, non)
    assert "add lr=True." in noted(tar, non)[0]
    assert noted(np.append(tar, np.inf), np.append(non, 0.0))
    parts = [summarize(tar[k::3], non[k::3]) for k in range(3)]
    assert [one for one in evaluation_of(merged(parts), name="a").notes if one.startswith(RATIOS)] == noted(tar, non)


@pytest.mark.parametrize("seed", range(4))
def test_other_positive_scores_are_not_called_likelihood_ratios(seed):
    rng = np.random.default_rng(seed)
    tar, non = llrs(rng, 4.0, 60, 200)
    assert not noted(tar, non)
    assert not noted(np.abs(tar), np.abs(non) + 1.5)  # none below 1
    assert not noted(5 + tar / 10, 4 + non / 10)  # a ratio below 1000
    assert not noted(np.exp(tar), np.append(np.exp(non), -1e-9))
    assert not noted(np.exp(tar), np.exp(non + 8))  # most non-targets above 1
    in_log10 = summarize(np.exp(tar), np.exp(non), metrics=TwoClassMetrics(axis="log10"))
    assert not any(one.startswith(RATIOS) for one in evaluation_of(in_log10).notes)
