"""Joins: matched, missing, extra, duplicate and conflicting trials are counted, named or refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, Key, KeyMismatchError, Scores, align
from deciban.trials import JoinReport, align_systems

KEY = Key.of({"enroll": ["ann", "ann", "bob", "bob"], "test": ["x", "y", "x", "y"]}, [True, False, False, True])


def scores(pairs, name="system"):
    enroll, test, score = zip(*pairs, strict=True)
    return Scores.of({"enroll": enroll, "test": test}, score, name=name)


FULL = [("bob", "y", 4.0), ("ann", "y", 2.0), ("bob", "x", 3.0), ("ann", "x", 1.0)]


def test_trials_are_matched_by_name_not_by_line():
    aligned = align(scores(FULL), KEY)
    assert aligned.score.tolist() == [1, 2, 3, 4]
    assert aligned.tar.tolist() == [1, 4]
    assert aligned.non.tolist() == [2, 3]
    assert aligned.report == JoinReport(matched=4, missing=0, extra=0, duplicate=0)


def test_names_are_never_glued():
    key = Key.of({"enroll": ["a", "ab"], "test": ["bc", "c"]}, [True, False])
    assert align(Scores.of({"enroll": ["ab", "a"], "test": ["c", "bc"]}, [0.0, 1.0]), key).score.tolist() == [1, 0]


def test_missing_trials_are_named():
    with pytest.raises(
        KeyMismatchError, match=r"2 of 4 key trials have no score in trials, the first \(bob, x\), \(bob, y\)"
    ):
        align(scores([FULL[1], FULL[3]]), KEY)


def test_missing_trials_can_be_dropped_or_filled():
    some = scores([*FULL[1:], ("eve", "x", 9.0), ("ann", "z", 9.0)])
    dropped = align(Scores(some.trials, some.score), KEY, missing="drop")
    assert dropped.score.tolist() == [1, 2, 3]
    assert dropped.report == JoinReport(matched=3, missing=1, extra=2, duplicate=0)
    filled = align(some, KEY, missing=-math.inf)
    assert filled.score.tolist() == [1, 2, 3, -math.inf]
    assert filled.report == dropped.report


@pytest.mark.parametrize("missing", ["skip", math.nan, None, True, [1.0]])
def test_other_policies_are_refused(missing):
    with pytest.raises(InputError, match="missing: expected"):
        align(scores(FULL), KEY, missing=missing)


def test_numbers_of_numpy_fill_too():
    assert align(scores(FULL[1:]), KEY, missing=np.float32(-1.5)).score.tolist() == [1, 2, 3, -1.5]


def test_misspelt_policies_are_refused():
    with pytest.raises(InputError, match="duplicates: expected 'error' or 'keep-one', got 'keep_one'"):
        align(scores(FULL), KEY, duplicates="keep_one")


@pytest.mark.parametrize("ids", [[1, 2], ["a", None], [b"\xff", b"a"]])
def test_names_are_text(ids):
    with pytest.raises(InputError, match="ids: "):
        Key.of({"trial": ids}, [True, False])


def test_a_trial_dropped_for_one_system_is_dropped_for_all():
    systems = align_systems([scores(FULL, "a"), scores(FULL[1:], "b")], KEY, "drop")
    assert [system.score.tolist() for system in systems] == [[1, 2, 3], [1, 2, 3]]
    assert systems[0].report == systems[1].report == JoinReport(matched=3, missing=1, extra=0, duplicate=0)
    assert [system.name for system in systems] == ["a", "b"]


def test_duplicates_are_refused_or_kept_once():
    double = scores([*FULL, FULL[0], FULL[0]])
    with pytest.raises(KeyMismatchError, match=r"row 0 and .*row 4: trial \(bob, y\) occurs more than once"):
        align(double, KEY)
    aligned = align(double, KEY, duplicates="keep-one")
    assert aligned.score.tolist() == [1, 2, 3, 4]
    assert aligned.report.duplicate == 2


@pytest.mark.parametrize("duplicates", ["error", "keep-one"])
def test_conflicting_scores_are_always_refused(duplicates):
    with pytest.raises(KeyMismatchError, match=r"row 0 and .*row 4: trial \(bob, y\) has two different scores"):
        align(scores([*FULL, ("bob", "y", 4.5)]), KEY, duplicates=duplicates)


def test_keys_with_copies():
    ids = {"trial": ["a", "b", "a", "a"]}
    one = Scores.of({"trial": ["a", "b"]}, [1.0, 0.0])
    with pytest.raises(KeyMismatchError, match="occurs more than once"):
        align(one, Key.of(ids, [True, False, True, True]))
    aligned = align(one, Key.of(ids, [True, False, True, True]), duplicates="keep-one")
    assert (aligned.score.tolist(), aligned.report.duplicate) == ([1, 0], 2)
    with pytest.raises(KeyMismatchError, match="is target and non-target at once"):
        align(one, Key.of(ids, [True, False, True, False]), duplicates="keep-one")


def test_no_trial_in_common():
    with pytest.raises(KeyMismatchError, match="share no trial: the key begins with"):
        align(scores([("eve", "q", 1.0)]), KEY)


def test_swapped_sides_are_recognized():
    swapped = [(test, enroll, score) for enroll, test, score in FULL]
    with pytest.raises(KeyMismatchError, match="match with their sides swapped"):
        align(scores(swapped), KEY)


def test_sides_must_agree():
    with pytest.raises(KeyMismatchError, match="identifies a trial by trial, trials by enroll and test"):
        align(Scores.of({"trial": ["ann"]}, [1.0]), KEY)


@pytest.mark.parametrize(("truth", "lacking"), [([True] * 4, "non-target"), ([False] * 4, "target")])
def test_one_class_only(truth, lacking):
    with pytest.raises(KeyMismatchError, match=f"no {lacking} trial among 4"):
        align(scores(FULL), Key(KEY.trials, np.array(truth)))


def test_truth_is_boolean():
    with pytest.raises(InputError, match="is_target: expected 2 booleans, got int64 values"):
        Key.of({"trial": ["a", "b"]}, [1, 0])
    with pytest.raises(InputError, match=r"expected columns of one length, got \{'enroll': 1, 'test': 2\}"):
        Key.of({"enroll": ["a"], "test": ["a", "b"]}, [True, False])
    with pytest.raises(InputError, match="score: 1 scores for 2 trials"):
        Scores.of({"trial": ["a", "b"]}, [1.0])


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=3)


@given(
    st.dictionaries(st.tuples(names, names), st.tuples(st.booleans(), st.floats(-9, 9), st.booleans()), min_size=2),
    st.data(),
)
def test_alignment_is_a_dictionary_look_up(trials, data):
    pairs = list(trials)
    truth = [trials[pair][0] for pair in pairs]
    scored = data.draw(st.permutations([pair for pair in pairs if trials[pair][2]]))
    kept = [pair for pair in pairs if trials[pair][2]]
    if not scored or len({trials[pair][0] for pair in kept}) < 2:
        return
    key = Key.of({"enroll": [p[0] for p in pairs], "test": [p[1] for p in pairs]}, truth)
    given_scores = scores([(*pair, trials[pair][1]) for pair in scored])
    aligned = align(given_scores, key, missing="drop")
    assert aligned.score.tolist() == [trials[pair][1] for pair in kept]
    assert aligned.is_target.tolist() == [trials[pair][0] for pair in kept]
    assert aligned.report == JoinReport(len(kept), len(pairs) - len(kept), 0, 0)
