"""Tables of trials: keeping, dropping, splitting, renaming and transforming."""

import numpy as np
import pytest

from deciban import InputError
from deciban.trials import IdMap, Index, Key, Origin, Scores, Trials
from support.joins import listed

IDS = {"enroll": ["ann", "ann", "bob", "bob"], "test": ["x", "y", "x", "z"]}
CONDITIONS = {"gender": ["f", "f", "m", None], "year": [8, 8, 10, 8]}
SCORES = Scores.of(IDS, [1.0, 2.0, 3.0, 4.0], name="mine", conditions=CONDITIONS)


@pytest.mark.parametrize(
    ("criteria", "rows"),
    [
        ({"enroll": "bob"}, [2, 3]),
        ({"enroll": ["bob", "eve"]}, [2, 3]),
        ({"enroll": "ann", "test": ["x", "z"]}, [0]),
        ({"where": {"gender": "f"}}, [0, 1]),
        ({"where": {"gender": ["m", "f"]}}, [0, 1, 2]),
        ({"where": {"year": "8"}, "test": "z"}, [3]),
        ({"where": {"year": "8", "gender": "f"}, "enroll": "ann"}, [0, 1]),
    ],
)
def test_keep_meets_all_criteria(criteria, rows):
    kept = SCORES.keep(**criteria)
    assert kept.score.tolist() == [SCORES.score[row] for row in rows]
    assert listed(kept.trials) == [listed(SCORES.trials)[row] for row in rows]
    assert kept.trials.condition("year").to_pylist() == [CONDITIONS["year"][row] for row in rows]
    assert kept.name == "mine"


@pytest.mark.parametrize(
    ("criteria", "rows"),
    [
        ({"enroll": "bob"}, [0, 1]),
        ({"enroll": "ann", "test": ["x"]}, [3]),
        ({"where": {"gender": "f"}}, [2, 3]),
        ({"test": ["nobody"]}, [0, 1, 2, 3]),
    ],
)
def test_drop_meets_any_criterion(criteria, rows):
    assert SCORES.drop(**criteria).score.tolist() == [SCORES.score[row] for row in rows]


def test_a_name_is_not_a_list_of_letters():
    table = Scores.of({"trial": ["a", "b", "ab"]}, [1.0, 2.0, 3.0], conditions={"kind": ["k", "l", "kl"]})
    assert table.keep(trial="ab").score.tolist() == [3]
    assert table.keep(where={"kind": "kl"}).score.tolist() == [3]


@pytest.mark.parametrize(
    ("criteria", "said"),
    [
        ({}, "no criterion"),
        ({"enroll": ["eve"]}, "trials: none of 4 trials is left"),
        ({"trial": ["ann"]}, "trial: trials of trials are identified by enroll, test"),
        ({"where": {"age": "1"}}, "no condition 'age'; its columns of conditions: gender, year"),
        ({"where": {"gender": ["f", "w"]}}, "no trial has gender = 'w'; the values are f, m"),
        ({"where": {"year": [8]}}, "year: names of trials must be text, but got int64"),
        ({"enroll": 3}, "enroll: names of trials must be text"),
    ],
)
def test_criteria_that_make_no_sense(criteria, said):
    with pytest.raises(InputError, match=said):
        SCORES.keep(**criteria)


def test_dropping_everything_is_refused():
    with pytest.raises(InputError, match="none of 4 trials is left"):
        SCORES.drop(enroll=["ann", "bob"])


def test_split_by_condition_and_side():
    by_gender = SCORES.split("gender")
    assert {gender: part.score.tolist() for gender, part in by_gender.items()} == {"f": [1, 2], "m": [3], "": [4]}
    assert list(SCORES.split("test")) == ["x", "y", "z"]
    assert [part.score.tolist() for part in SCORES.split("test").values()] == [[1, 3], [2], [4]]
    assert {year: len(part) for year, part in SCORES.split("year").items()} == {"8": 3, "10": 1}
    with pytest.raises(InputError, match="no condition 'trial'"):
        SCORES.split("trial")


def test_split_loses_no_trial_without_a_value():
    """Neither null nor empty is a value; both must not fight for one name."""
    table = Index.of({"trial": ["a", "b", "c"]}, conditions={"sex": [None, "", "f"]})
    assert {sex: listed(part.trials) for sex, part in table.split("sex").items()} == {
        "": [("a",), ("b",)],
        "f": [("c",)],
    }


def test_split_of_nothing():
    assert Index.of({"trial": []}, conditions={"sex": []}).split("sex") == {}


def test_split_of_a_grid_keeps_truth_with_trials():
    key = Key(Trials.of_grid(["a", "b"], ["x", "y"]), np.array([True, False, False, True]))
    assert [part.is_target.tolist() for part in key.split("test").values()] == [[True, False], [False, True]]


def test_rename():
    to = IdMap.of({"ann": "A", "bob": "B", "eve": "E"})
    renamed = SCORES.rename(to, "enroll")
    assert listed(renamed.trials) == [("A", "x"), ("A", "y"), ("B", "x"), ("B", "z")]
    assert renamed.score is SCORES.score or renamed.score.tolist() == [1, 2, 3, 4]
    assert renamed.trials.condition("year").to_pylist() == CONDITIONS["year"]
    both = SCORES.rename(IdMap.of({"ann": "A", "bob": "A"}), "enroll")
    assert listed(both.trials) == [("A", "x"), ("A", "y"), ("A", "x"), ("A", "z")]


def test_rename_with_unknown_names():
    to = IdMap.of({"x": "X", "z": "Z"})
    with pytest.raises(InputError, match="1 of 3 names of test are not in the map, the first 'y'"):
        SCORES.rename(to, "test")
    assert [pair[1] for pair in listed(SCORES.rename(to, "test", unknown="keep").trials)] == ["X", "y", "X", "Z"]
    dropped = SCORES.rename(to, "test", unknown="drop")
    assert (listed(dropped.trials), dropped.score.tolist()) == ([("ann", "X"), ("bob", "X"), ("bob", "Z")], [1, 3, 4])
    with pytest.raises(InputError, match="none of 4 trials is left"):
        SCORES.rename(IdMap.of({"q": "Q"}), "test", unknown="drop")
    with pytest.raises(InputError, match="unknown: expected 'error', 'keep' or 'drop', got 'skip'"):
        SCORES.rename(to, "test", unknown="skip")
    with pytest.raises(InputError, match="side: trials are identified by enroll, test, not by 'trial'"):
        SCORES.rename(to, "trial")


@pytest.mark.parametrize("unknown", ["error", "drop", "keep"])
def test_names_without_a_trial_need_no_new_name(unknown):
    index = Index(Trials.of_grid(["a"], ["x", "y"], np.array([[True, False]])))
    renamed = index.rename(IdMap.of({"x": "X"}), "test", unknown=unknown)
    assert listed(renamed.trials) == [("a", "X")]


def test_a_renamed_grid_stays_a_grid_as_long_as_names_differ():
    index = Index(Trials.of_grid(["a"], ["x", "y"]))
    assert index.rename(IdMap.of({"x": "y", "y": "x"}), "test").trials.listed is None
    joined = index.rename(IdMap.of({"x": "y", "y": "y"}), "test")
    assert listed(joined.trials) == [("a", "y")] * 2


def test_transform():
    assert SCORES.transform(lambda score: -score).score.tolist() == [-1, -2, -3, -4]
    assert SCORES.transform(lambda score: score.astype(np.float32)).score.dtype == np.float32
    with pytest.raises(InputError, match="the function returned 2 scores for 4 trials"):
        SCORES.transform(lambda score: score[:2])
    with pytest.raises(InputError, match="result of the function: 1 of 4 scores are NaN"):
        SCORES.transform(lambda score: np.where(score > 3, np.nan, score))


def test_take_wants_rows_of_this_table():
    with pytest.raises(InputError, match="expected row numbers or 4 booleans"):
        SCORES.take(np.array([True, False]))
    assert SCORES.take([3, 0]).score.tolist() == [4, 1]
    assert SCORES.take(np.array([False, True, False, False])).score.tolist() == [2]


def test_counts_and_indexes():
    key = Key.of(IDS, [True, False, False, False])
    assert (key.n_tar, key.n_non, len(key), len(key.index), len(SCORES.index)) == (1, 3, 4, 4, 4)
    assert key.index.trials is key.trials


def test_nats():
    assert SCORES.nats is SCORES.score
    log10 = Scores.of({"trial": ["a", "b"]}, [2.0, -np.inf], log10=True)
    assert log10.nats.tolist() == [2 * np.log(10), -np.inf]
    assert Scores.of({"trial": ["a"]}, np.array([1], np.float32), log10=True).nats.dtype == np.float32


def test_a_selection_tells_the_lines_of_its_source():
    trials = Trials.of(IDS, origin=Origin("k.txt", lines=lambda rows: [row + 1 for row in rows]))
    assert Index(trials).keep(enroll="bob").trials.origin.where(0) == "k.txt:3"
    assert Index(trials).split("test")["y"].keep(enroll="ann").trials.origin.where(0) == "k.txt:2"


def test_values_count_and_not_how_they_are_written():
    conditions = {"snr": [1.0, 2.5, np.nan], "clean": [True, False, True], "n": [1, 2, None]}
    index = Index.of({"trial": ["a", "b", "c"]}, conditions=conditions)
    wanted = {"snr": ["1", "1.0", "1e0"], "clean": ["False"], "n": ["2", "2.0"]}
    for name, texts in wanted.items():
        for text in texts:
            assert index.keep(where={name: text}).trials.name_of(0) == ("(a)" if name == "snr" else "(b)")
    assert len(index.keep(where={"clean": "true"})) == 2
    assert len(index.keep(where={"snr": "nan"})) == 1
    with pytest.raises(InputError, match=r"no trial has n = '2.5'; the values are 1, 2"):
        index.keep(where={"n": "2.5"})


def test_scores_in_natural_logarithms():
    scores = Scores.of({"trial": ["a"]}, [1.0], log10=True)
    assert scores.in_nats().score == pytest.approx(np.log(10))
    assert not scores.in_nats().log10
    assert scores.transform(lambda score: score).log10
    assert not scores.transform(lambda score: score * np.log(10), log10=False).log10


def test_many_small_groups_are_taken_without_a_pass_over_all_names():
    n = 20_000
    names = [f"t{i}" for i in range(n)]
    scores = Scores.of({"enroll": [f"m{i // 2}" for i in range(n)], "test": names}, np.arange(n, dtype=float))
    picked = scores.take(np.array([19_999, 3, 4]))
    assert [picked.trials.name_of(row) for row in range(3)] == ["(m9999, t19999)", "(m1, t3)", "(m2, t4)"]
    assert [len(side) for side in picked.trials.names] == [3, 3]
    assert picked.trials.names[1].to_pylist() == ["t3", "t4", "t19999"]
