"""Every rule that turns metrics into an answer, on both sides of its limit."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from deciban import evaluate
from deciban.report.answers import (
    APART,
    CALIBRATED,
    ENOUGH,
    QUESTIONS,
    SystemFacts,
    apart,
    calibrated,
    enough,
    fails,
    next_steps,
)
from deciban.report.answers import verdict as of_one_line

SOUND = SystemFacts(
    apart="targets from non-targets",
    n_classes=2,
    n_rarest=10_000.0,
    are_too_few=False,
    reference=1.0,
    cllr=0.102,
    min_cllr=0.1,
    scale=1.0,
    mended=0.101,
    leaning="",
    is_far_off=False,
    errors=("3 % of decisions are wrong.",),
    is_reversed=False,
    are_llrs=True,
    has_wrong_certainty=False,
    failures=(),
    weak_spots=(),
    idle=(),
    helps=True,
    scarce=(),
    n_units=100,
    noun="speaker",
    width=0.2,
    main_metric="EER",
)


def verdict(ask, **other):
    found = ask(replace(SOUND, **other))
    return found.verdict, found.mood


@pytest.mark.parametrize(
    ("min_cllr", "answer"),
    [
        (0.0, ("very well", "good")),
        (0.0999, ("very well", "good")),
        (0.11, ("well", "good")),
        (0.29, ("well", "good")),
        (0.31, ("in part", "fair")),
        (0.59, ("in part", "fair")),
        (0.61, ("poorly", "bad")),
        (0.91, ("no", "bad")),
        (1.0, ("no", "bad")),
        (math.nan, ("unknown", "unknown")),
    ],
)
def test_how_well_classes_are_told_apart_is_the_share_of_what_there_is_to_know(min_cllr, answer):
    assert verdict(apart, min_cllr=min_cllr) == answer
    assert verdict(apart, min_cllr=3 * min_cllr, reference=3.0) == answer


def test_of_few_trials_no_figure_is_praised():
    assert verdict(apart, are_too_few=True) == ("too few trials", "unknown")


def test_the_information_that_scores_hold_is_said():
    words = apart(replace(SOUND, min_cllr=0.643, reference=math.log2(10), apart="the 10 classes")).sentences
    assert words[0].startswith(
        "With ideal calibration, its scores would deliver 2.68 of the 3.32 bits needed to tell the 10"
    )
    assert words[1] == "3 % of decisions are wrong."


def test_reversed_scores_are_no_matter_of_calibration():
    turned = replace(SOUND, is_reversed=True, cllr=3.0, mended=0.9, scale=-1.0)
    answers = [ask(turned) for ask in QUESTIONS]
    assert (answers[0].verdict, answers[0].mood) == ("reversed", "bad")
    assert "verconfident" not in " ".join(answers[1].sentences)
    assert next_steps(turned, answers).verdict == "check the input"


@pytest.mark.parametrize(
    ("metrics", "answer"),
    [
        ({"cllr": 0.105}, ("yes", "good")),  # 4.8 % of Cllr
        ({"cllr": 0.108, "mended": 0.1}, ("yes", "good")),  # 0.9 % of what the scores hold
        ({"cllr": 0.12, "mended": 0.1}, ("nearly", "fair")),  # a sixth of Cllr
        ({"cllr": 0.2, "mended": 0.1}, ("no", "bad")),
        ({"cllr": 0.2, "mended": 0.1, "n_rarest": 10.0}, ("yes, on these trials", "good")),
        ({"cllr": 0.2, "mended": 0.1, "n_rarest": 10.0, "are_too_few": True}, ("too few trials", "unknown")),
        ({"cllr": 0.2, "mended": math.nan, "n_rarest": 10.0, "scale": None}, ("no", "bad")),
        ({"cllr": 1.01, "mended": 0.1}, ("no", "bad")),
        ({"cllr": math.inf, "has_wrong_certainty": True}, ("no", "bad")),
        ({"are_llrs": False}, ("no", "bad")),
        ({"min_cllr": math.nan}, ("unknown", "unknown")),
        ({"min_cllr": math.nan, "cllr": 1.5, "mended": math.nan, "scale": None}, ("no", "bad")),
    ],
)
def test_numbers_are_taken_at_their_word_where_bad_calibration_takes_little(metrics, answer):
    assert verdict(calibrated, **metrics) == answer


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({"scale": 0.39}, "Overconfident: its llrs are 2.6 times too extreme (best scale 0.39)."),
        ({"scale": 0.79}, "Overconfident: its llrs are 1.3 times too extreme (best scale 0.79)."),
        ({"scale": 2.5}, "Underconfident: its llrs are 2.5 times too weak (best scale 2.5)."),
        ({"scale": 1.2, "leaning": "are too high by 2.0 nats"}, "Its llrs are too high by 2.0 nats."),
        ({"scale": 0.81}, "A scale and an offset would not correct this"),
    ],
)
def test_how_scores_are_off_is_said(metrics, words):
    said = calibrated(replace(SOUND, cllr=0.4, mended=0.1, **metrics)).sentences
    assert any(line.startswith(words) for line in said)
    assert len(said) == 2


@pytest.mark.parametrize(
    ("scale", "offset", "words"),
    [
        (2.5, 5.0, "its llrs are shifted up and 2.5 times too extreme"),
        (0.4, -3.0, "its llrs are shifted down and 2.5 times too weak"),
        (1.0, 3.0, "its llrs are too high by 3.0 nats"),
        (2.5, 0.2, "its llrs are 2.5 times too extreme"),
    ],
)
def test_the_verdict_names_a_wrong_offset_and_a_wrong_scale(scale, offset, words):
    llr = np.sqrt(8.0) * norm.ppf((np.arange(4000) + 0.5) / 4000)  # calibrated: the variance is twice the mean
    sentence = of_one_line(evaluate(scale * (4.0 + llr) + offset, scale * (llr - 4.0) + offset, name="a"))
    assert f", but {words}: calibrate" in sentence


def test_whoever_misleads_is_told_so():
    said = calibrated(replace(SOUND, cllr=1.2, min_cllr=0.5, mended=0.5)).sentences[0]
    assert said == "Cllr is 1.200 bits, above the 1 bit of scores without information: the scores mislead."


def test_failures_come_before_weak_spots():
    assert verdict(fails) == ("at none of the operating points", "good")
    found = fails(replace(SOUND, failures=("one",), weak_spots=("two",)))
    assert (found.mood, found.sentences) == ("bad", ("one", "two"))


@pytest.mark.parametrize(
    ("metrics", "answer", "words"),
    [
        ({}, ("yes", "good"), "Intervals rest on 100 speakers."),
        ({"n_units": 30}, ("yes", "good"), "Intervals rest on 30 speakers."),
        ({"n_units": 29}, ("no", "bad"), "Intervals rest on 29 speakers, fewer than 30: they are rough."),
        ({"width": 1.1}, ("not for all metrics", "fair"), "the interval of the EER is wide."),
        ({"scarce": ("few",)}, ("not for all metrics", "fair"), "few"),
        ({"n_units": None}, ("unknown", "unknown"), "no metric has an interval."),
        ({"n_units": None, "scarce": ("few",)}, ("unknown", "fair"), "few"),
    ],
)
def test_data_are_enough_by_errors_units_and_intervals(metrics, answer, words):
    found = enough(replace(SOUND, **metrics))
    assert (found.verdict, found.mood) == answer
    assert words in " ".join(found.sentences)


@pytest.mark.parametrize(
    ("metrics", "verdict"),
    [
        ({}, "use it"),
        ({"cllr": 0.3, "mended": 0.1}, "calibrate"),
        ({"min_cllr": 0.6, "cllr": 0.6}, "improve the recognizer"),
        ({"n_units": None}, "give the units"),
        ({"n_units": 7}, "collect more"),
        ({"n_units": None, "are_too_few": True}, "give the units and collect more"),
        (
            {"cllr": 0.9, "min_cllr": 0.6, "mended": 0.6, "n_units": 7},
            "calibrate and improve the recognizer and collect more",
        ),
    ],
)
def test_steps_follow_from_the_answers(metrics, verdict):
    facts = replace(SOUND, **metrics)
    answers = [ask(facts) for ask in QUESTIONS]
    assert [answer.question for answer in answers[:2]] == [APART, CALIBRATED]
    assert answers[3].question == ENOUGH
    found = next_steps(facts, answers)
    assert found.verdict == verdict
    assert (found.mood == "good") == (verdict == "use it")


@pytest.mark.parametrize(
    ("metrics", "answer"),
    [
        ({}, ("at none of the operating points", "good")),
        ({"failures": ("At p_target 0.5 worse.",)}, ("at some priors", "bad")),
        ({"failures": ("At p_target 0.5 worse.",), "helps": False}, ("at every prior", "bad")),
        ({"helps": False}, ("at every prior", "bad")),
        ({"are_llrs": False, "failures": ("At p_target 0.5 worse.",)}, ("unknown", "unknown")),
        ({"are_too_few": True}, ("too few trials", "unknown")),
        ({"idle": ("At p_target 0.01 little.",)}, ("may save little at operating points", "fair")),
    ],
)
def test_where_it_fails_promises_nothing_that_figures_do_not_bear(metrics, answer):
    assert verdict(fails, **metrics) == answer


@pytest.mark.parametrize(
    ("metrics", "answer"),
    [
        ({}, ("too few trials", "unknown")),
        ({"cllr": 0.7, "min_cllr": 0.0, "scale": None, "mended": math.nan}, ("too few trials", "unknown")),
        ({"cllr": 0.9, "mended": 0.11, "scale": 0.2}, ("no", "bad")),
    ],
)
def test_few_trials_are_believed_only_where_they_are_far_off(metrics, answer):
    assert verdict(calibrated, **{"are_too_few": True, "n_rarest": 20.0, **metrics}) == answer


def test_too_few_trials_are_not_enough_whatever_their_units():
    assert verdict(enough, are_too_few=True, n_units=None, scarce=("There are 3 targets.",)) == ("no", "bad")


def test_who_needs_more_trials_is_sent_to_the_command_that_plans_them():
    facts = replace(SOUND, are_too_few=True)
    steps = next_steps(facts, [ask(facts) for ask in QUESTIONS]).sentences
    step = next(step for step in steps if "Collect" in step)
    assert "(deciban plan shows how many)" in step


@pytest.mark.parametrize(
    ("scale", "shift", "words"),
    [(1.0, 0.8, "and its calibration can be improved (its llrs"), (2.0, 0.0, "%), and its llrs are")],
)
def test_llrs_that_are_twice_too_extreme_are_a_fault_of_their_own(scale, shift, words):
    draw = np.random.default_rng(5)
    one = evaluate(*(scale * draw.normal(mean, 1.4, 4000) + shift for mean in (1.0, -1.0)))
    assert 0.05 < one.calibration_loss / one.cllr < 0.2, "a small share of Cllr in both cases"
    assert words in of_one_line(one)
