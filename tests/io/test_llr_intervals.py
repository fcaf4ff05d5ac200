"""Bounds of llrs as two more columns: in which formats, under which names, in which unit."""

import csv

import numpy as np
import pytest

from deciban import FormatError, Key, Scores
from deciban.io import read_contents, write
from deciban.io.formats import Contents
from deciban.io.reader import read_input
from deciban.io.rewrite import with_intervals, write_rescored

LLR = np.array([-3.25, 0.1, 1e-300, np.inf])
BOUNDS = np.array([-3.75, 0.0, -1.0, 4.25]), np.array([-3.0, 0.30000000000000004, 1.0, np.inf])
IDS = {"enroll": ["ann", "ann", "bob", "bob"], "test": ["x", "y", "x", "y"]}


@pytest.fixture
def path(tmp_path):
    scores = Scores.of(IDS, [1.0, 2.0, 3.0, 4.0], conditions={"gender": ["f", "f", "m", "m"]})
    write(scores, tmp_path / "in.csv", Key.of(IDS, [True, False, False, True]))
    return tmp_path / "in.csv"


def rescored(path, target, to=None, **options):
    found = read_input(path, need="scores", **options)
    llr = found.contents.scores.in_nats().transform(lambda _: LLR)
    return list(map(str, write_rescored(found, llr, target, to=to, interval=BOUNDS)))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow", ".npz", ".csv.gz"])
def test_formats_with_columns_by_name_hold_them(ending, path, tmp_path):
    target = tmp_path / f"out{ending}"
    messages = rescored(path, target)
    assert len(messages) == 1
    read = read_contents(target)
    np.testing.assert_array_equal(read.scores.score, LLR)
    assert read.key.is_target.tolist() == [True, False, False, True]
    conditions = read.index.trials.conditions
    assert list(conditions) == ["gender", "llr_low", "llr_high"]
    for name, end in zip(("llr_low", "llr_high"), BOUNDS, strict=True):
        np.testing.assert_array_equal([float(value) for value in conditions[name].to_pylist()], end)


def test_lir_has_names_and_a_unit_of_its_own(path, tmp_path):
    messages = rescored(path, tmp_path / "out.csv", to="lir")
    assert messages[0].endswith("the unit of lir")
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    for name, values in (("llr", LLR), ("llr_interval_low", BOUNDS[0]), ("llr_interval_high", BOUNDS[1])):
        np.testing.assert_allclose([float(row[name]) for row in rows], values / np.log(10), rtol=1e-15)
    read = read_contents(tmp_path / "out.csv", format="lir")
    np.testing.assert_allclose(read.scores.in_nats().score, LLR, rtol=1e-15)
    low = [float(value) for value in read.index.trials.conditions["llr_interval_low"].to_pylist()]
    np.testing.assert_allclose(np.array(low) * np.log(10), BOUNDS[0], rtol=1e-15)


@pytest.mark.parametrize(("name", "target"), [("kaldi", "out.txt"), ("bosaris-hdf5", "out.h5")])
def test_other_formats_refuse_and_leave_what_was_there(name, target, path, tmp_path):
    (tmp_path / target).write_text("old")
    with pytest.raises(FormatError, match=f"{name} cannot contain the columns llr_low and llr_high. Choose a format"):
        rescored(path, tmp_path / target, to=name)
    assert (tmp_path / target).read_text() == "old"


def test_former_bounds_are_replaced_and_that_is_said(path, tmp_path):
    rescored(path, tmp_path / "once.csv")
    first, *_ = rescored(tmp_path / "once.csv", tmp_path / "twice.csv")
    assert first == "note  the columns llr_high and llr_low of the input: replaced"
    assert (tmp_path / "twice.csv").read_text() == (tmp_path / "once.csv").read_text()


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_former_bounds_do_not_stay_beside_other_llrs(ending, path, tmp_path):
    once, twice = tmp_path / f"once{ending}", tmp_path / f"twice{ending}"
    rescored(path, once)
    found = read_input(once, need="scores")
    llr = found.contents.scores.in_nats().transform(lambda _: LLR + 9.0)
    first, *_ = map(str, write_rescored(found, llr, twice))
    assert first == "note  the columns llr_high and llr_low of the input: left out"
    assert list(read_contents(twice).index.trials.conditions) == ["gender"]
    np.testing.assert_array_equal(read_contents(twice).scores.score, LLR + 9.0)
    assert list(read_contents(once).index.trials.conditions) == ["gender", "llr_low", "llr_high"]


def test_bounds_in_another_unit_are_replaced_too(path, tmp_path):
    rescored(path, tmp_path / "once.csv")
    messages = rescored(tmp_path / "once.csv", tmp_path / "lir.csv", to="lir")
    assert "note  the columns llr_high and llr_low of the input: replaced" in messages
    header = (tmp_path / "lir.csv").read_text().splitlines()[0].split(",")
    assert not {"llr_low", "llr_high"} & set(header)
    assert {"llr_interval_low", "llr_interval_high", "gender"} < set(header)


def test_nothing_else_changes():
    scores = Scores.of(IDS, LLR, conditions={"gender": ["f", "f", "m", "m"]})
    contents = Contents.of(scores, Key.of(IDS, [True, False, False, True]))
    made, messages = with_intervals(contents, BOUNDS, None)
    assert messages == []
    assert made.kinds == contents.kinds
    assert all(list(one.trials.conditions)[-2:] == ["llr_low", "llr_high"] for one in made.tables)
    assert list(contents.index.trials.conditions) == ["gender"]
