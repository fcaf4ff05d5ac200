"""What is collected from evaluations of both kinds before anything is said."""

import math
from dataclasses import replace

import numpy as np
import pytest

from deciban.evaluation import evaluate, evaluate_classes
from deciban.report.answers import facts_of, fails, in_words

RNG = np.random.default_rng(11)
TAR, NON = RNG.normal(2, 2, 3000), RNG.normal(-2, 2, 3000)


def logits(n=600, k=4, strength=2.0):
    label = np.arange(n) % k
    return np.random.default_rng(5).normal(0, 1, (n, k)) + strength * np.eye(k)[label], label


@pytest.mark.parametrize(
    ("times", "plus", "leaning"), [(2.5, 0, ""), (1, 2, "are too high by 2.0 nats"), (1, -2, "are too low by 2.0 nats")]
)
def test_two_classes_are_off_by_what_was_done_to_them(times, plus, leaning):
    facts = facts_of(evaluate(times * TAR + plus, times * NON + plus))
    assert facts.scale == pytest.approx(1 / times, rel=0.08)
    assert facts.leaning.startswith(leaning)
    assert bool(facts.leaning) == bool(leaning)


def test_many_classes_are_off_by_what_was_done_to_them():
    scores, label = logits()
    sound = evaluate_classes(2.0 * scores, label, classes=list("abcd"))
    assert facts_of(sound).scale == pytest.approx(1.0, abs=0.15)
    assert facts_of(evaluate_classes(8.0 * scores, label)).scale == pytest.approx(0.25, rel=0.15)
    pushed = evaluate_classes(2.0 * scores + [0, 0, 4.0, 0], label, classes=list("abcd"))
    assert facts_of(pushed).leaning.startswith("favour class 'c' over the others, by ")
    lowered = evaluate_classes(2.0 * scores - [0, 4.0, 0, 0], label, classes=list("abcd"))
    assert facts_of(lowered).leaning.startswith("underrate class 'b' against the others, by ")
    assert not facts_of(sound).leaning


def test_failures_are_the_points_where_decisions_cost_more_than_none():
    one = evaluate(3 * TAR, 3 * NON, operating_points=[0.5, 0.01])
    assert one.operating_points[0].act_dcf < 1 < one.operating_points[1].act_dcf
    (only,) = facts_of(one).failures
    assert only.startswith("At p_target 0.01 decisions cost ")
    assert f"{one.operating_points[1].act_dcf:.3f} times" in only
    assert facts_of(evaluate(TAR, NON)).failures == ()


def test_strong_misleading_evidence_is_counted():
    one = evaluate([*TAR, -8.0], NON)
    (said,) = [line for line in facts_of(one).weak_spots if "likelihood ratio of more than 100" in line]
    strong = next(found for found in one.misleading if found.factor == 100)
    assert strong.n_tar >= 1
    assert f"in {strong.n_tar:,.0f} of {one.n_tar:,.0f} targets and" in said


def test_weak_classes_and_confusions_are_named():
    scores, label = logits()
    scores[label == 2, 1] += 5.0
    said = " ".join(facts_of(evaluate_classes(scores, label, classes=list("abcd"))).weak_spots)
    assert "Highest error rates: c (" in said
    assert "c decided as b (" in said


def test_what_is_scarce():
    assert facts_of(evaluate(TAR[:20], NON)).scarce == (
        "There are 20 target trials, fewer than 30: all metrics are rough.",
    )
    assert facts_of(evaluate(TAR, NON, operating_points=[0.5])).scarce == ()
    scores, label = logits(n=100)
    assert facts_of(evaluate_classes(scores, label, classes=list("abcd"))).scarce[0] == (
        "There are fewer than 30 segments of a, b, c and 1 more."
    )


def test_intervals_and_units():
    units = {"tar_units": np.arange(3000) % 50, "non_units": np.arange(6000).reshape(3000, 2) % 50}
    one = evaluate(TAR, NON, **units)
    facts, found = facts_of(one), one.interval("eer")
    assert (facts.n_units, facts.noun) == (50, "unit")
    assert facts.width == pytest.approx((found.high - found.low) / one.eer)
    assert math.isnan(facts_of(evaluate(TAR, NON)).width)


@pytest.mark.parametrize(
    "hostile",
    [
        evaluate([1.0], [0.0]),
        evaluate([0.0], [0.0]),
        evaluate([-np.inf, 3.0], [np.inf, 1.0]),
        evaluate([np.inf], [-np.inf]),
        evaluate(RNG.uniform(0, 1, 60), RNG.uniform(0, 0.5, 60)),
        evaluate_classes([[0.0, 0.0, 0.0]] * 3, [0, 1, 2]),
        evaluate_classes([[0.0, -np.inf, 1.0], [np.inf, 0.0, 0.0], [0.0, 0.0, 9.0]], [0, 1, 2]),
    ],
    ids=["two trials", "alike", "wrong and certain", "right and certain", "probabilities", "classes alike", "infinite"],
)
def test_every_system_gets_five_answers_without_a_number_that_is_none(hostile):
    answers = in_words(hostile)
    assert len({answer.question for answer in answers}) == 5
    said = " ".join(line for answer in answers for line in answer.sentences)
    assert "nan" not in said
    assert "None" not in said


def test_scores_that_are_no_llrs_are_said_to_be_none():
    shares = evaluate(RNG.uniform(0.2, 1, 200), RNG.uniform(0, 0.8, 200))
    assert not facts_of(shares).are_llrs
    assert facts_of(evaluate(TAR, NON)).are_llrs


@pytest.mark.parametrize("shift", [0.0, -0.7])
def test_scores_by_chance_are_not_called_the_wrong_way_round(shift):
    """Of two draws from one distribution every other one has an AUC below a half."""
    draws = [np.random.default_rng(seed).normal(size=(2, 400)) for seed in range(12)]
    found = [evaluate(tar + shift, non) for tar, non in draws]
    assert any(one.auc < 0.5 for one in found)
    assert {facts_of(one).is_reversed for one in found} == {shift < 0}
    label = np.arange(600) % 3
    classes = [np.random.default_rng(seed).normal(size=(600, 3)) + 2 * shift * np.eye(3)[label] for seed in range(12)]
    named = [evaluate_classes(scores, label) for scores in classes]
    assert any(one.error_rate > one.default_error_rate for one in named)
    assert {facts_of(one).is_reversed for one in named} == {shift < 0}


def test_decisions_that_help_at_some_priors_between_are_not_said_to_help_at_all():
    one = evaluate(TAR, [*NON, *[6.0] * 40])
    helps = one.curves.act_error < 1.0
    first, last = np.flatnonzero(helps)[[0, -1]]
    said = next(line for line in facts_of(one).weak_spots if line.startswith("On these trials, decisions cost less"))
    assert ("with gaps" in said) == (not helps[first:last].all())
    constant = facts_of(evaluate([0.0] * 50, [0.0] * 50))
    assert not constant.helps
    assert not any("less than ignoring" in line for line in constant.weak_spots)


def test_scores_that_are_no_llrs_say_nothing_of_likelihood_ratios():
    assert facts_of(evaluate(TAR - 40, NON - 40)).weak_spots == ()


def test_points_at_which_decisions_save_little_are_named():
    one = evaluate(0.5 * TAR, 0.5 * NON, operating_points=[0.5, 0.01])
    assert one.operating_points[0].act_dcf < 0.9 <= one.operating_points[1].act_dcf <= 1.0
    (said,) = facts_of(one).idle
    assert said.startswith("At p_target 0.01 decisions save little")
    assert f"{one.operating_points[1].act_dcf:.3f} times" in said


def test_the_default_point_is_named_where_it_fails_nowhere():
    facts = facts_of(evaluate(TAR, NON))
    assert facts.points == "p_target 0.01"
    found = fails(replace(facts, idle=(), are_too_few=False))
    assert found.verdict == "at none of the operating points"
    assert found.sentences[0] == "Operating points: p_target 0.01."
    scores, label = logits()
    assert facts_of(evaluate_classes(scores, label)).points.startswith("detection at prior ")


def test_decisions_are_better_by_point_estimates_alone():
    """At a point within the range the interval of the cost may reach above 1."""
    (said,) = [line for line in facts_of(evaluate(TAR, NON)).weak_spots if "ignoring the scores" in line]
    assert said.startswith("On these trials, decisions cost less than ignoring the scores ")


def test_a_class_that_is_never_missed_has_too_few_errors():
    scores, label = logits(strength=1.0)
    scores[label == 0, 0] += 50.0
    one = evaluate_classes(scores, label, classes=list("abcd"))
    missed = [int(np.count_nonzero(scores[label == k].argmax(axis=1) != k)) for k in range(4)]
    assert missed[0] == 0
    assert min(missed[1:]) >= 30
    assert facts_of(one).scarce == ("There are fewer than 30 errors of a (0): their error rates are rough.",)
