"""Class scores and class keys: by segment and by the name of the class."""

import time

import numpy as np
import pytest

from deciban import InputError, KeyMismatchError
from deciban.trials import ClassKey, ClassScores, JoinReport, Trials, align_classes
from deciban.trials.classes import align_class_systems

SCORES = ClassScores.of({"trial": ["a", "b", "c"]}, ["cat", "dog", "emu"], np.arange(9.0).reshape(3, 3), name="mine")


def test_rows_go_with_their_segments():
    some = SCORES.take(np.array([2, 0]))
    assert (some.score.tolist(), some.classes, some.name) == ([[6, 7, 8], [0, 1, 2]], SCORES.classes, "mine")
    key = ClassKey.of({"trial": ["a", "b", "c"]}, ["dog", "cat", "dog"], conditions={"sex": ["f", "m", "m"]})
    assert key.classes == ("cat", "dog")
    assert {sex: part.label.tolist() for sex, part in key.split("sex").items()} == {"f": [1], "m": [0, 1]}


def test_alignment():
    key = ClassKey.of({"trial": ["c", "a"]}, ["dog", "cat"], classes=["dog", "cat"])
    aligned = align_classes(SCORES, key)
    assert aligned.score.tolist() == [[6, 7, 8], [0, 1, 2]]
    assert (aligned.label.tolist(), aligned.classes, aligned.name) == ([1, 0], ("cat", "dog", "emu"), "mine")
    assert aligned.report == JoinReport(matched=2, missing=0, extra=1, duplicate=0)
    assert [aligned.trials.name_of(row) for row in range(2)] == ["(c)", "(a)"]


def test_missing_segments():
    key = ClassKey.of({"trial": ["z", "a"]}, ["dog", "cat"])
    with pytest.raises(KeyMismatchError, match=r"1 of 2 key trials have no score in trials, for example z"):
        align_classes(SCORES, key)
    dropped = align_classes(SCORES, key, "drop")
    assert (dropped.score.tolist(), dropped.label.tolist(), dropped.report.missing) == ([[0, 1, 2]], [0], 1)
    assert align_classes(SCORES, key, -2.5).score.tolist() == [[-2.5] * 3, [0, 1, 2]]


def test_rows_of_lists_of_two_lengths_are_not_the_same_segments():
    rows = ClassScores(Trials.of_rows(3), SCORES.classes, SCORES.score)
    key = ClassKey(Trials.of_rows(2), SCORES.classes, np.array([0, 1]))
    with pytest.raises(KeyMismatchError, match="trials has 3 rows, trials 2"):
        align_classes(rows, key, "drop")
    assert align_classes(rows, ClassKey(rows.trials, key.classes, np.array([0, 1, 2])).take([2])).label.tolist() == [2]


def test_a_class_without_scores_is_named():
    key = ClassKey.of({"trial": ["a", "b", "c"]}, ["cat", "yak", "yak"])
    with pytest.raises(KeyMismatchError, match=r"row 1: \(b\) is of class 'yak' \(2 segments of such classes\)"):
        align_classes(SCORES, key)
    unused = ClassKey.of({"trial": ["a"]}, ["cat"], classes=["yak", "cat"])
    assert align_classes(SCORES, unused).label.tolist() == [0]


def test_copies_and_conflicts():
    twice = ClassScores.of({"trial": ["a", "a"]}, ["cat", "dog"], [[1.0, 2.0], [1.0, 2.0]])
    key = ClassKey.of({"trial": ["a"]}, ["cat"], classes=["cat", "dog"])
    with pytest.raises(KeyMismatchError, match=r"trial \(a\) occurs more than once"):
        align_classes(twice, key)
    kept = align_classes(twice, key, duplicates="keep-one")
    assert (kept.score.tolist(), kept.report.duplicate) == ([[1, 2]], 1)
    differs = ClassScores(twice.trials, twice.classes, np.array([[1.0, 2.0], [1.0, 2.5]]))
    with pytest.raises(
        KeyMismatchError, match=r"row 0 and trials, row 1: trial \(a\) has two different sets of scores"
    ):
        align_classes(differs, key, duplicates="keep-one")
    two = ClassKey.of({"trial": ["a", "a"]}, ["cat", "dog"])
    with pytest.raises(KeyMismatchError, match=r"trial \(a\) is of two classes at once"):
        align_classes(twice, two, duplicates="keep-one")


@pytest.mark.parametrize(
    ("classes", "score", "said"),
    [
        (["cat"], [[1.0]], "classes: expected at least 2 distinct names, got 'cat'"),
        (["cat", "cat"], [[1.0, 2.0]], "classes: expected at least 2 distinct names"),
        ("ab", [[1.0, 2.0]], "classes: expected a list of names, got one name: 'ab'"),
        (["cat", "dog"], [[1.0]], r"score: expected 1 segments x 2 classes, got shape \(1, 1\)"),
        (["cat", "dog"], [[1.0, np.nan]], r"row 0: a score of \(s\) is NaN"),
        (["cat", "dog"], [["1", "2"]], "score: expected real numbers"),
        (["cat", "dog"], [[2**60 + 1, 1]], "score: integers beyond"),
        (["cat", "dog"], [[1.0, 2.0], [1.0]], "score: cannot be read as an array"),
    ],
)
def test_what_are_no_class_scores(classes, score, said):
    with pytest.raises(InputError, match=said):
        ClassScores.of({"trial": ["s"]}, classes, score)


def test_numbers_of_any_real_kind():
    assert ClassScores.of({"trial": ["s"]}, ["cat", "dog"], [[1, 2]]).score.dtype == np.float64
    assert ClassScores.of({"trial": ["s"]}, ["cat", "dog"], np.zeros((1, 2), np.float32)).score.dtype == np.float32
    assert ClassScores.of({"trial": ["s"]}, ["cat", "dog"], [[np.inf, -np.inf]]).score.tolist() == [[np.inf, -np.inf]]


def test_what_is_no_class_key():
    with pytest.raises(InputError, match="label: 1 labels for 2 segments"):
        ClassKey.of({"trial": ["a", "b"]}, ["cat"])
    with pytest.raises(InputError, match="row 1: class 'dog' is not among the classes cat, emu"):
        ClassKey.of({"trial": ["a", "b"]}, ["cat", "dog"], classes=["cat", "emu"])
    with pytest.raises(InputError, match="conditions: these trials already have conditions"):
        ClassKey.of(Trials.of({"trial": ["a"]}), ["cat"], classes=["cat", "dog"], conditions={"sex": ["f"]})


def test_several_systems_have_one_order_of_classes_and_one_report():
    turned = ClassScores.of({"trial": ["c", "a"]}, ["emu", "cat", "dog"], [[8.0, 6.0, 7.0], [2.0, 0.0, 1.0]])
    key = ClassKey.of({"trial": ["a", "b", "c"]}, ["dog", "cat", "emu"])
    first, second = align_class_systems([SCORES, turned], key, "drop")
    assert first.classes == second.classes == ("cat", "dog", "emu")
    assert first.score.tolist() == second.score.tolist() == [[0, 1, 2], [6, 7, 8]]
    assert first.label.tolist() == [1, 2]
    assert first.report is second.report
    assert first.report == JoinReport(matched=2, missing=1, extra=0, duplicate=0)
    other = ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[0.0, 1.0]])
    with pytest.raises(KeyMismatchError, match="only one of them has emu"):
        align_class_systems([SCORES, other], key)
    with pytest.raises(InputError, match="none given"):
        align_class_systems([], key)


def test_matching_by_order_looks_at_no_name():
    key = ClassKey.of({"trial": ["x", "y", "z"]}, ["dog", "cat", "emu"])
    (aligned,) = align_class_systems([SCORES], key, by_order=True)
    assert aligned.score.tolist() == SCORES.score.tolist()
    with pytest.raises(KeyMismatchError, match="equal numbers"):
        align_class_systems([SCORES], key.take(np.array([0, 1])), by_order=True)


def test_classes_are_chosen_by_name():
    some = SCORES.of_classes(["emu", "cat"])
    assert (some.classes, some.score.tolist(), some.name) == (("emu", "cat"), [[2, 0], [5, 3], [8, 6]], "mine")
    with pytest.raises(InputError, match="no scores for 'fox'"):
        SCORES.of_classes(["cat", "fox"])
    with pytest.raises(InputError, match="distinct"):
        SCORES.of_classes(["cat", "cat"])


def test_all_segments_of_a_shard_may_be_of_one_class():
    key = ClassKey.of({"trial": ["a", "b"]}, ["cat", "cat"])
    assert (key.classes, key.label.tolist()) == (("cat",), [0, 0])


def test_tens_of_thousands_of_classes_are_put_in_order_at_once():
    """Searching for each name among all names took half a minute for 50,000 classes."""
    names = [f"class {k}" for k in range(30_000)]
    scores = ClassScores.of({"trial": ["a"]}, names, np.arange(30_000.0)[None, :])
    start = time.process_time()
    found = scores.of_classes(names[::-1])
    assert time.process_time() - start < 2.0
    assert found.score[0, :2].tolist() == [29_999.0, 29_998.0]
