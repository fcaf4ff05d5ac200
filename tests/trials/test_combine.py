"""Merging parts, stacking systems, filling gaps."""

import numpy as np
import pyarrow as pa
import pytest

from deciban import InputError, KeyMismatchError
from deciban.trials import (
    ClassKey,
    ClassScores,
    Index,
    JoinReport,
    Key,
    Origin,
    Scores,
    Trials,
    merge,
    set_missing,
    stack,
)
from support.joins import listed, trials_of


def scores(name="system", origin=None, conditions=None, **score):
    trials = Trials.of({"trial": list(score)}, origin=origin, conditions=conditions or {})
    return Scores(trials, np.array(list(score.values())), name)


class TestMerge:
    def test_parts_stand_in_the_order_given(self):
        merged = merge([scores(b=1.0, a=2.0), scores(d=3.0), scores(c=4.0)])
        assert (listed(merged.trials), merged.score.tolist()) == ([("b",), ("a",), ("d",), ("c",)], [1, 2, 3, 4])
        one = scores(a=1.0)
        assert merge([one]) is one

    def test_grids_and_lists(self):
        grid = Key(Trials.of_grid(["a"], ["x", "y"]), np.array([True, False]))
        merged = merge([grid, Key(trials_of([("b", "y"), ("b", "x")]), np.array([True, True]))])
        assert listed(merged.trials) == [("a", "x"), ("a", "y"), ("b", "y"), ("b", "x")]
        assert merged.is_target.tolist() == [True, False, True, True]

    def test_float32_and_float64_are_exact(self):
        merged = merge([Scores.of({"trial": ["a"]}, np.array([0.1], np.float32)), scores(b=0.1)])
        assert merged.score.tolist() == [float(np.float32(0.1)), 0.1]

    def test_conditions_that_some_lack_are_null(self):
        merged = merge([scores(a=1.0, conditions={"sex": ["f"]}), scores(b=2.0, conditions={"year": [8]})])
        known = {name: column.to_pylist() for name, column in merged.trials.conditions.items()}
        assert known == {"sex": ["f", None], "year": [None, 8]}

    def test_conflicts_name_both_places(self):
        parts = [
            scores(a=1.0, b=2.0, origin=Origin("1.txt", lines=lambda rows: [row + 5 for row in rows])),
            scores(c=0.0, b=3.0),
        ]
        for duplicates in ("error", "keep-one"):
            with pytest.raises(
                KeyMismatchError, match=r"1\.txt:6 and trials, row 1: trial \(b\) has two different scores"
            ):
                merge(parts, duplicates=duplicates)
        with pytest.raises(KeyMismatchError, match="is target and non-target at once"):
            merge([Key.of({"trial": ["a"]}, [True]), Key.of({"trial": ["a"]}, [False])], duplicates="keep-one")

    def test_copies_are_refused_or_kept_once(self):
        parts = [scores(a=1.0, b=2.0), scores(b=2.0, c=3.0), scores(b=2.0)]
        with pytest.raises(
            KeyMismatchError, match=r"row 1 and trials, row 0: trial \(b\) occurs more than once \(1 such"
        ):
            merge(parts)
        merged = merge(parts, duplicates="keep-one")
        assert (listed(merged.trials), merged.score.tolist()) == ([("a",), ("b",), ("c",)], [1, 2, 3])
        with pytest.raises(InputError, match="duplicates: expected 'error' or 'keep-one', got 'keep'"):
            merge(parts, duplicates="keep")

    def test_what_is_known_of_one_copy_is_known_of_the_trial(self):
        parts = [
            scores(a=1.0, b=2.0, conditions={"sex": ["f", None], "year": [8, 10]}),
            scores(b=2.0, conditions={"sex": ["m"]}),
            scores(b=2.0, conditions={"sex": ["m"]}),
        ]
        merged = merge(parts, duplicates="keep-one")
        known = {name: column.to_pylist() for name, column in merged.trials.conditions.items()}
        assert known == {"sex": ["f", "m"], "year": [8, 10]}
        with pytest.raises(
            KeyMismatchError, match=r"trials, row 0 and trials, row 0: trial \(b\) has two values of sex, 'm' and 'f'"
        ):
            merge([*parts, scores(b=2.0, conditions={"sex": ["f"]})], duplicates="keep-one")

    def test_an_index_has_copies_but_no_conflicts(self):
        index = Index.of({"trial": ["a", "b"]})
        assert len(merge([index, index], duplicates="keep-one")) == 2
        with pytest.raises(KeyMismatchError, match=r"occurs more than once \(2 such trials\)"):
            merge([index, index])

    def test_parts_must_be_alike(self):
        log10 = Scores.of({"trial": ["z"]}, [1.0], log10=True)
        for parts, said in [
            ([], "none given"),
            ([scores(a=1.0), Index.of({"trial": ["b"]})], "a Scores and a Index cannot be merged"),
            ([scores(a=1.0), scores("other", b=1.0)], "scores of two systems, 'system' and 'other'"),
            ([scores(a=1.0), log10], "in common and in natural logarithms.*Scores.in_nats"),
        ]:
            with pytest.raises(InputError, match=said):
                merge(parts)
        with pytest.raises(KeyMismatchError, match="identifies a trial by enroll and test, trials by trial"):
            merge([scores(a=1.0), Scores.of({"enroll": ["a"], "test": ["x"]}, [1.0])])

    def test_classes_are_matched_by_name(self):
        merged = merge(
            [
                ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[1.0, 2.0]]),
                ClassScores.of({"trial": ["b"]}, ["dog", "cat"], [[3.0, 4.0]]),
            ]
        )
        assert (merged.classes, merged.score.tolist()) == (("cat", "dog"), [[1, 2], [4, 3]])
        keys = merge(
            [
                ClassKey.of({"trial": ["a"]}, ["dog"], classes=["cat", "dog"]),
                ClassKey.of({"trial": ["b"]}, ["dog"], classes=["dog", "cat"]),
            ]
        )
        assert (keys.classes, keys.label.tolist()) == (("cat", "dog"), [1, 1])
        with pytest.raises(InputError, match="different classes; dog, emu only in one of them"):
            merge([merged, ClassScores.of({"trial": ["c"]}, ["cat", "emu"], [[1.0, 2.0]])])
        with pytest.raises(KeyMismatchError, match=r"trial \(a\) has two different sets of scores"):
            merge([merged, ClassScores.of({"trial": ["a"]}, ["cat", "dog"], [[1.0, 5.0]])], duplicates="keep-one")
        with pytest.raises(KeyMismatchError, match=r"trial \(b\) is of two classes at once"):
            merge([keys, ClassKey.of({"trial": ["b"]}, ["cat"], classes=["cat", "dog"])], duplicates="keep-one")


class TestStack:
    SYSTEMS = (scores("one", a=1.0, b=2.0, c=3.0), scores("two", c=30.0, a=10.0, b=20.0, d=40.0))
    KEY = Key.of({"trial": ["c", "a"]}, [True, False], conditions={"sex": ["f", "m"]})

    def test_on_the_trials_of_a_key(self):
        stacked = stack(self.SYSTEMS, self.KEY)
        assert stacked.score.tolist() == [[3, 30], [1, 10]]
        assert (stacked.names, stacked.is_target.tolist()) == (("one", "two"), [True, False])
        assert stacked.report == JoinReport(matched=2, missing=0, extra=3, duplicate=0)
        assert stacked.trials.condition("sex").to_pylist() == ["f", "m"]
        assert stack(self.SYSTEMS, Index(self.KEY.trials)).is_target is None

    def test_on_common_trials(self):
        with pytest.raises(
            KeyMismatchError, match=r"1 of 4 trials of trials have no score in trials, for example \(d\) .*row 3"
        ):
            stack(self.SYSTEMS)
        with pytest.raises(KeyMismatchError, match=r"1 of 4 trials of trials have no score in trials, for example d"):
            stack(self.SYSTEMS[::-1])
        for systems in (self.SYSTEMS, self.SYSTEMS[::-1]):
            stacked = stack(systems, missing="drop")
            assert listed(stacked.trials) == [row for row in listed(systems[0].trials) if row != ("d",)]
            assert stacked.score.tolist() == [
                [s.score[listed(s.trials).index(t)] for s in systems] for t in listed(stacked.trials)
            ]

    def test_fills_only_where_a_key_says_what_is_missing(self):
        key = Index.of({"trial": ["d", "a"]})
        assert stack(self.SYSTEMS, key, -9.0).score.tolist() == [[-9, 40], [1, 10]]
        with pytest.raises(InputError, match=r"-9.0 cannot be filled in, because the list of trials is unknown"):
            stack(self.SYSTEMS, missing=-9.0)

    def test_nothing_to_stack(self):
        with pytest.raises(InputError, match="systems: none given"):
            stack([])

    def test_common_logarithms_become_natural_ones(self):
        log10 = Scores.of({"trial": ["a", "c", "b"]}, [1.0, 0.0, 2.0], log10=True)
        assert stack([self.SYSTEMS[0], log10]).score.tolist() == [[1, np.log(10)], [2, 2 * np.log(10)], [3, 0]]

    def test_float32_stays(self):
        single = Scores.of({"trial": ["a"]}, np.array([1], np.float32))
        assert stack([single, single]).score.dtype == np.float32
        assert stack([single, Scores.of({"trial": ["a"]}, [0.1])]).score.tolist() == [[1, 0.1]]


def test_set_missing():
    index = Index.of({"trial": ["b", "z", "a"]}, conditions={"n": [1, 2, 3]})
    filled = set_missing(scores("mine", a=1.0, b=2.0, extra=7.0), index, -4.5)
    assert (filled.score.tolist(), filled.name) == ([2, -4.5, 1], "mine")
    assert filled.trials.condition("n").to_pylist() == [1, 2, 3]
    key = Key.of({"trial": ["z", "a"]}, [True, True])
    assert set_missing(scores(a=1.0), key, 0.0).score.tolist() == [0, 1]
    with pytest.raises(InputError, match="value: expected a score to fill in, got 'drop'"):
        set_missing(scores(a=1.0), index, "drop")
    with pytest.raises(InputError, match="missing: expected"):
        set_missing(scores(a=1.0), index, float("nan"))


def test_merged_parts_share_their_names():
    merged = merge([scores(a=1.0), scores(b=1.0)])
    assert pa.types.is_string(merged.trials.names[0].type)


def test_two_nan_are_no_conflict():
    part = Scores.of({"trial": ["a", "b"]}, [1.0, 2.0], conditions={"snr": [np.nan, 3.0]})
    assert merge([part, part], duplicates="keep-one").score.tolist() == [1, 2]
    other = Scores.of({"trial": ["a", "b"]}, [1.0, 2.0], conditions={"snr": [1.0, 4.0]})
    with pytest.raises(KeyMismatchError, match=r"two values of snr, nan and 1.0 \(2 such trials\)"):
        merge([part, other], duplicates="keep-one")
