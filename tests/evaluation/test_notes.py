"""Notes of two classes: what they say is where and as the tables show it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from deciban import evaluate
from deciban._validate.arrays import probabilities_note
from deciban.evaluation.two_class import evaluate as two_class
from deciban.evaluation.two_class.evaluate import notes_on
from deciban.evaluation.two_class.summary import summarize
from deciban.workflows.inspection import inspect_file


def bad_places(result):
    """Log odds of the prior axis at which actual decisions are worse than none."""
    return result.curves.prior_log_odds[result.curves.act_error > 1.0]


def prior(text):
    """A prior as notes write it."""
    return 1 - float(text.partition("\N{MINUS SIGN} ")[2]) if text.startswith("1 ") else float(text)


def note_on_calibration(result):
    (note,) = [note for note in result.notes if "using the scores clearly costs more than ignoring them" in note]
    return note


def test_bad_calibration_names_the_whole_range_of_priors_and_the_points():
    rng = np.random.default_rng(8)
    tar = np.concatenate((rng.normal(4, 2, 2000), np.full(20, 8.0)))
    non = np.concatenate((rng.normal(-6, 2, 20_000), rng.normal(4.5, 0.3, 1000)))
    result = evaluate(tar, non, operating_points=[0.02, 0.5])
    assert result.operating_points[0].act_dcf > 1.0 > result.operating_points[1].act_dcf
    note = note_on_calibration(result)
    places = bad_places(result)
    assert note.startswith("At effective priors from ")
    low, high = note.partition("priors from ")[2].partition(",")[0].split(" to ")
    for said, true in ((prior(low), places[0]), (prior(high), places[-1])):
        assert said == pytest.approx(1 / (1 + np.exp(-true)), rel=0.06)


def test_one_good_place_splits_no_range_of_bad_ones():
    """A single prior that happens to be good between many bad ones is no end of the range."""
    rng = np.random.default_rng(1)
    tar, non = rng.normal(3, 1, 400), 3 * rng.normal(-1, 1.5, 4000)
    result = evaluate(tar, non, operating_points=[0.01])
    curves = result.curves
    bad = curves.act_error > 1.0
    assert bad.any()
    assert not bad.all()
    spotted = curves.act_error.copy()
    spotted[np.flatnonzero(bad)[len(bad[bad]) // 2]] = 0.5
    summary = summarize(tar, non)
    (before,) = (note for note in notes_on(summary, result.operating_points, curves) if "costs more" in note)
    with_spot = type(curves)(**{name: getattr(curves, name) for name in curves.__slots__} | {"act_error": spotted})
    assert before in notes_on(summary, result.operating_points, with_spot)


def test_bad_everywhere_is_said_in_few_words():
    assert "At every prior" in note_on_calibration(evaluate([-100.0] * 40, [100.0] * 40))


def many(*runs):
    """Scores from pairs of a score and how often it occurs."""
    return np.concatenate([np.full(n, float(score)) for score, n in runs])


def test_few_errors_name_the_threshold_that_they_were_counted_at():
    """The threshold of 4.6 misses 10 targets, the best one, between 10 and 20, misses 35."""
    tar, non = many((-8, 10), (5, 25), (20, 415)), many((-20, 40_000), (10, 35), (30, 40))
    result = evaluate(tar, non, operating_points=[0.01])
    assert result.operating_points[0].n_miss == 10
    (note,) = [note for note in result.notes if "fewer than 30" in note]
    assert note == "actDCF at p_target 0.01 rests on fewer than 30 misses."


@pytest.mark.parametrize("p_target", [0.5, 0.1, 0.01, 0.001, 0.0001, 0.999])
def test_notes_on_few_errors_judge_the_counts_that_tables_show(p_target):
    rng = np.random.default_rng(3)
    result = evaluate(1 + 2 * rng.normal(2, 2, 900), rng.normal(-2, 2, 9000), operating_points=[p_target])
    (point,) = result.operating_points
    actual = " ".join(note for note in result.notes if "actDCF" in note)
    weights = np.array([p_target, 1.0 - p_target]) / min(p_target, 1.0 - p_target)
    kinds = zip(("misses", "false alarms"), weights, (point.n_miss, point.n_fa), (900, 9000), strict=True)
    for kind, weight, n, total in kinds:
        matters = weight * (n + 3) / total > 0.05 * point.act_dcf
        assert (kind in actual) == (n < 30 and matters)


@pytest.mark.parametrize("costs", [(1e20, 1.0), (1.0, 1e20)])
def test_effective_priors_that_round_to_a_limit_have_notes(costs):
    notes = evaluate([1.0, 2.0], [0.0, -1.0], operating_points=[(0.5, *costs)]).notes
    assert any("rests on fewer than 30" in note or "rest on fewer than 30" in note for note in notes)


def test_errors_that_hardly_cost_anything_may_be_few():
    tar, non = many((20, 1000)), many((-20, 39_000), (10, 1000))
    notes = evaluate(tar, non, operating_points=[0.01]).notes
    assert not any("actDCF" in note for note in notes)  # of its cost of 2.5, three misses would be 0.003


def test_points_of_which_the_same_is_to_be_said_share_a_sentence():
    tar, non = many((-8, 10), (5, 25), (20, 415)), many((-20, 40_000), (10, 35), (30, 40))
    result = evaluate(tar, non, operating_points=[0.01, 0.009, 0.01])
    (note,) = [note for note in result.notes if "fewer than 30" in note]
    assert note == "actDCF at p_target 0.01 and 0.009 rest on fewer than 30 misses."


def test_what_matters_most_comes_first():
    rng = np.random.default_rng(1)
    tar, non = rng.normal(3, 1, 400), 3 * rng.normal(-1, 1.5, 4000)
    notes = evaluate(np.append(tar, np.inf), np.append(non, -np.inf), operating_points=[0.0001, 0.9]).notes
    words = "2 scores are infinite", "using the scores clearly costs more than ignoring them", "fewer than 30"
    found = [next(k for k, said in enumerate(words) if said in note) for note in notes]
    assert found == sorted(found)
    assert set(found) == {0, 1, 2}


def test_probabilities_are_called_so_in_the_same_words_everywhere(tmp_path):
    rng = np.random.default_rng(3)
    tar, non = rng.beta(5, 2, 200), rng.beta(2, 5, 200)
    words = probabilities_note()
    assert words in evaluate(tar, non).notes
    assert not any("probabilities" in note for note in evaluate(np.append(tar, 1.01), non).notes)
    assert not any("probabilities" in note for note in evaluate(np.append(tar, np.inf), non).notes)
    path = tmp_path / "scores.txt"
    path.write_text("".join(f"t{i} {score}\n" for i, score in enumerate(np.append(tar, non))))
    assert words in inspect_file(path).remarks


def test_costs_of_no_recognizer_are_not_worse_than_these_where_they_were_rounded():
    summary, result = (
        summarize([0.0, 0.0], [0.0]),
        evaluate([0.0, 0.0], [0.0]),
    )  # every decision is that of no recognizer
    rounded = replace(result.curves, act_error=result.curves.act_error * (1.0 + 2.0**-52))
    assert rounded.act_error.max() > 1.0
    assert two_class._badly_calibrated(summary, [], rounded) == []
    worse = replace(rounded, act_error=rounded.act_error * (1.0 + 1e-8))
    (note,) = two_class._badly_calibrated(summary, [], worse)
    assert note == "At nearly every prior, using the scores clearly costs more than ignoring them."


def test_one_error_at_extreme_priors_is_no_bad_calibration():
    """One miss of 600 costs much at prior 0.998, but could as well not have happened."""
    rng = np.random.default_rng(2)
    tar, non = rng.normal(9, 3, 599), rng.normal(-9, 3, 600)
    few, many = (evaluate(np.append(tar, [-6.5] * n), non) for n in (1, 12))
    assert few.curves.act_error.max() > 1.0
    assert not any("costs more" in note for note in few.notes)
    assert any("costs more" in note for note in many.notes)


def test_ranges_of_priors_are_in_ascending_order_whatever_their_width():
    summary, result = summarize([0.0, 0.0], [0.0]), evaluate([0.0, 0.0], [0.0])
    error, n = np.full(len(result.curves.act_error), 0.5), len(result.curves.act_error)
    error[50:52], error[n // 2 : n // 2 + 60], error[-60:-20] = 2.0, 2.0, 2.0
    (note,) = two_class._badly_calibrated(summary, [], replace(result.curves, act_error=error))
    ranges = re.findall(r"from (\S+) to ([^\s,]+)", note)
    assert len(ranges) == 3
    assert [float(low) for low, _ in ranges] == sorted(float(low) for low, _ in ranges)
    assert note.count(" and ") == 1


def test_points_with_costs_are_told_apart():
    tar, non = many((-8, 10), (5, 40), (20, 400)), many((-20, 40_000), (10, 100), (30, 40))
    result = evaluate(tar, non, operating_points=[(0.01, 2, 1), 0.02])
    (note,) = [note for note in result.notes if "fewer than 30" in note]
    assert note == "actDCF at p_target 0.01 (costs 2:1) and 0.02 rest on fewer than 30 misses."


@pytest.mark.parametrize("scale", [0.5, 1e-3, 1e-6])
def test_notes_do_not_depend_on_the_scale_of_weights(scale):
    rng = np.random.default_rng(5)
    tar, non = rng.normal(2, 2, 500), rng.normal(-2, 2, 2000)
    weights = {"tar_weights": np.full(500, scale), "non_weights": np.full(2000, scale)}
    reversed_ = evaluate(-tar, -non, **weights).notes
    assert reversed_[0].startswith("Scores look reversed")
    assert reversed_[1] == "At every prior, using the scores clearly costs more than ignoring them."
    assert "priors from 0.00091 to 0.1 and from 0.93 to" in note_on_calibration(evaluate(3 * tar, 3 * non, **weights))


def test_scores_below_chance_by_chance_are_not_reversed():
    rng = np.random.default_rng(0)
    tar, non = rng.normal(size=200), rng.normal(size=2000)
    some = [evaluate(tar, non, name=sign) if sign == "+" else evaluate(-tar, -non) for sign in "+-"]
    assert min(one.auc for one in some) < 0.5
    assert not any("reversed" in note for one in some for note in one.notes)


def test_a_bad_operating_point_outside_of_the_bad_priors_is_named():
    rng = np.random.default_rng(0)
    tar = np.r_[rng.normal(6, 1, 4500), np.full(500, -4.0)]
    result = evaluate(tar, np.r_[rng.normal(-6, 1, 60), 5.0, 5.2])
    assert result.operating_points[0].act_dcf > 3.0
    assert result.notes[1] == "At p_target 0.01, using the scores costs more than ignoring them, but not clearly."
    assert result.notes[0].startswith("At effective priors from ")
