"""Joins: matched, missing, extra, duplicate and conflicting trials are counted, named or refused."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from deciban import InputError, Key, KeyMismatchError, Scores, align, evaluate_files, metrics, read_key, read_scores
from deciban.trials import Index, JoinReport, Origin, Trials, align_systems
from deciban.trials.joining.join import concatenate, refuse_conflicts
from deciban.trials.joining.matching import align_incomplete, copies_in

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
        KeyMismatchError, match=r"2 of 4 key trials have no score in trials, for example \(bob, x\), \(bob, y\)"
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
    with pytest.raises(
        KeyMismatchError, match=r"share no trial: the key begins with \(ann, x\), the scores with \(eve, q\)"
    ):
        align(scores([("eve", "q", 1.0)]), KEY)


def test_swapped_columns_of_a_file_come_with_the_option_that_exchanges_them(tmp_path):
    (tmp_path / "scores.txt").write_text("x ann 1\ny bob 2\n")
    (tmp_path / "key.txt").write_text("ann x target\nbob y nontarget\n")
    one, key = read_scores(tmp_path / "scores.txt"), read_key(tmp_path / "key.txt")
    with pytest.raises(KeyMismatchError, match='columns="test,enroll,score"'):
        align(one, key)
    assert align(read_scores(tmp_path / "scores.txt", columns="test,enroll,score"), key).report.matched == 2


def test_scores_of_a_verifier_that_were_read_as_a_key_come_with_their_format(tmp_path):
    path = tmp_path / "asv.txt"
    path.write_text("bonafide target 1.5\nbonafide nontarget -0.25\nA07 spoof 0.3\nA08 spoof -0.7\n")
    with pytest.raises(KeyMismatchError, match='format="asvspoof2019-asv"'):
        evaluate_files(path)


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


def test_scores_meet_the_trials_of_an_index():
    aligned = align(scores(FULL, "mine"), Index(KEY.trials))
    assert aligned.scores.score.tolist() == aligned.score.tolist() == [1, 2, 3, 4]
    assert (aligned.name, aligned.is_target) == ("mine", None)
    assert [aligned.trials.name_of(row) for row in range(4)] == ["(ann, x)", "(ann, y)", "(bob, x)", "(bob, y)"]
    with pytest.raises(InputError, match="contains trials without labels"):
        aligned.tar


def test_an_index_that_shares_nothing_leaves_nothing_to_drop():
    index = Index.of({"enroll": ["eve"], "test": ["x"]})
    with pytest.raises(KeyMismatchError, match="share no trial"):
        align(scores(FULL), index, "drop")
    assert align(scores(FULL), index, -3.0).score.tolist() == [-3]


def test_systems_that_share_nothing_with_one_another():
    with pytest.raises(KeyMismatchError, match="No trial of trials has a score in each of trials, trials"):
        align_systems([scores(FULL[:2]), scores(FULL[2:])], KEY, "drop")


def test_the_side_is_part_of_the_trial():
    ids = {"enroll": ["m", "m"], "test": ["s", "s"], "side": ["a", "b"]}
    key = Key.of(ids, [True, False])
    given_scores = Scores.of({side: values[::-1] for side, values in ids.items()}, [2.0, 1.0])
    assert align(given_scores, key).score.tolist() == [1, 2]
    without = Scores.of({"enroll": ["m"], "test": ["s"]}, [1.0])
    with pytest.raises(KeyMismatchError, match="If the side is irrelevant, ignore it"):
        align(without, key)


def test_trials_without_names_are_matched_by_order_only_when_asked():
    rows = Scores(Trials.of_rows(4), np.array([1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(KeyMismatchError, match="can only be matched by order: by_order=True"):
        align(rows, KEY)
    aligned = align(rows, KEY, by_order=True)
    assert aligned.score.tolist() == [1, 2, 3, 4]
    assert aligned.trials.sides == ("enroll", "test")
    with pytest.raises(KeyMismatchError, match="contains 4 scores, trials 3 trials. Matching by order needs equal"):
        align(rows, KEY.take(np.arange(3)), by_order=True)
    assert align(rows, Index(Trials.of_rows(4))).score.tolist() == [1, 2, 3, 4]
    assert align(rows.take(np.array([2, 0])), Index(Trials.of_rows(4)), "drop").score.tolist() == [1, 3]


@pytest.mark.parametrize(("n_scores", "n_key"), [(5, 4), (4, 5)])
@pytest.mark.parametrize("missing", ["error", "drop", 0.0])
def test_rows_of_lists_of_two_lengths_are_not_the_same_trials(n_scores, n_key, missing):
    """One label that is missing at the beginning would give every score the label of its neighbour."""
    rows = Scores(Trials.of_rows(n_scores, origin=Origin("s.npy")), np.arange(n_scores) * 1.0)
    key = Key(Trials.of_rows(n_key, origin=Origin("y.npy")), np.arange(n_key) % 2 == 0)
    with pytest.raises(KeyMismatchError, match=f"s.npy has {n_scores} rows, y.npy {n_key}.*by_order=True"):
        align(rows, key, missing)
    with pytest.raises(KeyMismatchError, match=f"y.npy has {n_key} rows, s.npy {n_scores}"):
        refuse_conflicts(key, Key(rows.trials, np.arange(n_scores) % 2 == 0))
    few = np.arange(4)
    assert align(rows.take(few), key.take(few), by_order=True).score.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kept", [[0, 1, 2], [1, 3], [4, 0]])
def test_a_selection_of_rows_is_known_by_the_rows_it_came_from(kept):
    rows = Scores(Trials.of_rows(5), np.arange(5) * 1.0)
    key = Key(Trials.of_rows(5), np.arange(5) < 2).take(np.array(kept))
    assert align(rows, key).score.tolist() == kept
    both = concatenate([rows.take(np.array([0, 1])), rows.take(np.array([4, 3, 2]))])
    assert align(both, key).score.tolist() == kept


def test_by_order_ignores_names():
    assert align(scores(FULL), KEY, by_order=True).score.tolist() == [4, 2, 3, 1]


def test_copies_in_a_key_are_matched_by_order_as_they_are():
    key = Key.of({"trial": ["a", "b", "a"]}, [True, False, False])
    aligned = align(Scores.of({"trial": ["x", "y", "z"]}, [1.0, 2.0, 3.0]), key, by_order=True)
    assert (aligned.tar.tolist(), aligned.non.tolist()) == ([1], [2, 3])
    assert aligned.report == JoinReport(3, 0, 0, 0)
    with pytest.raises(InputError, match="duplicates: expected"):
        align(aligned.scores, key, by_order=True, duplicates="some")


def test_swapped_sides_are_not_suspected_without_cause():
    key = Key.of({"enroll": ["a", "b"], "test": ["x", "y"]}, [True, False])
    with pytest.raises(KeyMismatchError) as caught:
        align(Scores.of({"enroll": ["a", "c"], "test": ["x", "z"]}, [1.0, 2.0]), key)
    assert "sides swapped" not in str(caught.value)


def test_conflicts_are_counted():
    key = Key.of({"trial": ["a", "b"]}, [True, False])
    twice = Scores.of({"trial": ["a", "b", "a", "b"]}, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(KeyMismatchError, match=r"has two different scores \(2 such trials\)"):
        align(twice, key)


def test_common_logarithms_become_natural_ones():
    log10 = Scores.of({"trial": ["a", "b"]}, [1.0, -2.0], log10=True)
    aligned = align(log10, Key.of({"trial": ["b", "a"]}, [False, True]))
    assert aligned.scores.score.tolist() == [-2, 1]
    assert aligned.score.tolist() == [-2 * math.log(10), math.log(10)]
    assert aligned.tar.tolist() == [math.log(10)]


def test_float32_stays_unless_the_fill_does_not_fit():
    single = Scores.of({"trial": ["a"]}, np.array([0.5], np.float32))
    index = Index.of({"trial": ["a", "b"]})
    assert align(single, index, -1.5).score.dtype == np.float32
    assert align(single, index, -math.inf).score.dtype == np.float32
    for fill in (0.1, 1e300):
        assert align(single, index, fill).score.tolist() == [0.5, fill]


def test_a_fill_beyond_floats_is_refused():
    with pytest.raises(InputError, match="missing: expected"):
        align(scores(FULL), KEY, missing=10**400)


def test_messages_name_the_lines_of_a_selection():
    """Rows of a table that was cut out of another are told by the lines of the file they came from."""
    trials = Trials.of(
        {"trial": ["a", "b", "c", "b", "d"]}, origin=Origin("s.txt", lines=lambda rows: [10 + row for row in rows])
    )
    some = Scores(trials, np.array([0.0, 1, 2, 1, 3])).drop(trial="a")
    with pytest.raises(KeyMismatchError, match=r"s\.txt:11 and s\.txt:13: trial \(b\) occurs more than once"):
        align(some, Index.of({"trial": ["b", "c"]}))
    key = Key(trials, np.array([True, False, True, False, True])).drop(trial="a")
    with pytest.raises(KeyMismatchError, match=r"for example d \(s\.txt:14\)"):
        align(Scores.of({"trial": ["b", "c"]}, [1.0, 2.0]), key, duplicates="keep-one")


def test_equal_grids_are_joined_without_encoding_a_trial(monkeypatch):
    monkeypatch.setattr(Trials, "codes_in", None)
    trials = Trials.of_grid(["a", "b"], ["x", "y"], np.array([[True, False], [True, True]]))
    other = Trials.of_grid(["a", "b"], ["x", "y"], np.array([[True, False], [True, True]]))
    given_scores = Scores(trials, np.array([1.0, 2.0, 3.0]))
    aligned = align(given_scores, Key(other, np.array([True, False, True])))
    assert aligned.score is given_scores.score
    assert aligned.report == JoinReport(3, 0, 0, 0)


def test_labels_that_contradict_a_key():
    told = Key.of({"trial": ["z", "b", "a", "a"]}, [True, False, True, False])
    key = Key.of({"trial": ["a", "b"]}, [True, False])
    with pytest.raises(KeyMismatchError, match=r"row 3: trial \(a\) has another label than in trials \(1 such trial\)"):
        refuse_conflicts(told, key)
    refuse_conflicts(told.take(np.arange(3)), key)
    refuse_conflicts(key, key)
    with pytest.raises(KeyMismatchError, match=r"row 0: trial \(a\) .* \(2 such trials\)"):
        refuse_conflicts(Key(key.trials, ~key.is_target), key)


def test_trials_stay_where_a_system_has_no_score_and_nothing_is_taken_for_one():
    part = scores([("bob", "y", 4.0), ("ann", "y", -np.inf)], name="part")
    full, lacking = align_incomplete([scores(FULL), part], KEY)
    assert full.score.tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(lacking.score, [np.nan, -np.inf, np.nan, 4.0])
    assert lacking.report == full.report == JoinReport(matched=2, missing=2, extra=0, duplicate=0)
    with pytest.raises(InputError, match="NaN"):
        metrics.eer(lacking.tar, lacking.non)
    with pytest.raises(KeyMismatchError, match="share no trial"):
        align_incomplete([scores(FULL), scores([("eve", "z", 1.0)])], KEY)
    with pytest.raises(KeyMismatchError, match="occurs more than once"):
        align_incomplete([scores([*FULL, FULL[0]])], KEY)
    with pytest.raises(KeyMismatchError, match="equal numbers"):
        align_incomplete([part], KEY, by_order=True)
    with pytest.raises(InputError, match="none given"):
        align_incomplete([], KEY)


def test_a_class_that_the_policy_left_out_is_not_blamed_on_labels():
    key = Key.of({"trial": ["a", "b", "c"]}, [True, False, False])
    scores = Scores.of({"trial": ["b", "c"]}, [1.0, 2.0])
    with pytest.raises(KeyMismatchError, match=r"1 of 3 trials were dropped .* the remaining 2 contain no target"):
        align(scores, key, missing="drop")


def test_the_copy_that_is_named_comes_first_in_the_file():
    """Partitions of names are joined separately; line 3 repeats line 2 before line 6 repeats line 1."""
    table = SimpleNamespace(trials=Trials.of({"trial": ["a", "b", "b", "c", "d", "a"]}), content=None)
    parts = [copies_in(table, np.array(rows))[1] for rows in ([[0], [5]], [[1], [2]])]
    for whole in (parts[0] + parts[1], parts[1] + parts[0]):
        assert (whole.trials.name_of(1), whole.n) == ("(b)", 2)
