"""Whose trials are held out together."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import deciban
from deciban import InputError
from deciban.trials import Trials
from deciban.workflows.reading.units import groups_of

TRIALS = Trials.of(
    {"enroll": ["m1", "m2", "m1"], "test": ["x", "y", "z"]},
    conditions={
        "spk": ["bob", "ann", "bob"],
        "other": ["ann", "bob", "cid"],
        "age": [30, 20, 30],
        "gap": ["a", None, ""],
    },
)


def test_names_are_numbered_by_the_alphabet():
    assert groups_of(TRIALS, "spk").tolist() == [1, 0, 1]
    assert groups_of(TRIALS, "enroll").tolist() == [0, 1, 0]
    assert groups_of(TRIALS, "age").tolist() == [1, 0, 1]


def test_a_name_is_the_same_on_both_sides():
    one, other = groups_of(TRIALS, ("spk", "other"))
    assert (one.tolist(), other.tolist()) == ([1, 0, 1], [0, 1, 2])


def test_a_number_stands_for_the_sides_of_a_trial():
    one, other = groups_of(TRIALS, 5)
    assert (one.tolist(), other.tolist()) == ([0, 1, 0], [2, 3, 4])
    channels = Trials.of({"enroll": ["m", "m"], "test": ["x", "x"], "side": ["a", "b"]})
    assert [side.tolist() for side in groups_of(channels, 5)] == [[0, 0], [1, 1]]
    assert groups_of(Trials.of({"trial": ["a", "b"]}), 5) is None
    assert groups_of(Trials.of_rows(3), 5) is None


@given(names=st.lists(st.text(max_size=3), min_size=1), seed=st.integers(0, 99))
def test_the_order_of_trials_does_not_matter(names, seed):
    names = [f"n{name}" for name in names]
    order = np.random.default_rng(seed).permutation(len(names))

    def groups(rows):
        return groups_of(Trials.of_rows(len(names), conditions={"who": [names[i] for i in rows]}), "who")

    assert groups(order).tolist() == groups(range(len(names)))[order].tolist()


def test_what_cannot_be_a_group_is_refused():
    with pytest.raises(InputError, match="no column 'sex' .*; the columns are enroll, test, spk, other, age, gap"):
        groups_of(TRIALS, "sex")
    with pytest.raises(InputError, match=r"row 1: no value in column 'gap'.* \(2 such trials\)"):
        groups_of(TRIALS, "gap")


@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_sides_may_be_called_as_the_file_calls_them(ending, tmp_path):
    rows = "".join(f"m{i % 3}\ts{i}\t{'non' if i % 2 else ''}target\n" for i in range(12))
    path = tmp_path / "key.tsv"
    path.write_text(f"modelid\tsegmentid\ttargettype\n{rows}")
    if ending == "parquet":
        pq.write_table(csv.read_csv(path, parse_options=csv.ParseOptions(delimiter="\t")), tmp_path / "key.parquet")
    trials = deciban.read_key(tmp_path / f"key.{ending}").trials
    assert groups_of(trials, "modelid").tolist() == groups_of(trials, "enroll").tolist() == [0, 1, 2] * 4
    both, roles = groups_of(trials, ("modelid", "segmentid")), groups_of(trials, ("enroll", "test"))
    assert [one.tolist() for one in both] == [one.tolist() for one in roles]
    assert groups_of(trials.take(np.array([1, 5])), "modelid").tolist() == [0, 1]
