"""Lists of trials: what they hold, how they are cut, and when they are a matrix."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import InputError, evaluate_files
from deciban.trials import Origin, Trials
from deciban.trials.lists import Lookup
from support.joins import listed, trials_of

PAIRS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def test_what_identifies_a_trial():
    for sides in (("enroll", "test"), ("enroll", "test", "side"), ("trial",), ("row",)):
        assert Trials.of({side: ["a"] for side in sides}).sides == sides
    with pytest.raises(InputError, match=r"ids: trials are identified by enroll and test \(and side\), or by trial"):
        Trials.of({"test": ["a"]})


def test_columns_have_one_length():
    with pytest.raises(InputError, match=r"ids: expected columns of one length, got \{'trial': 1, 'sex': 2\}"):
        Trials.of({"trial": ["a"]}, conditions={"sex": ["f", "m"]})
    with pytest.raises(InputError, match="sex: cannot store these values"):
        Trials.of({"trial": ["a"]}, conditions={"sex": 3})


def test_a_condition_of_which_nothing_is_known_is_text():
    trials = Trials.of({"trial": ["a"]}, conditions={"sex": [None], "channel": pa.nulls(1)})
    assert [column.type for column in trials.conditions.values()] == [pa.string(), pa.string()]


def test_no_trials():
    none = Trials.of({"enroll": [], "test": []})
    assert len(none) == len(none.take(np.array([], np.int64))) == len(none.densest()) == 0
    assert none.codes_in(trials_of(PAIRS)).tolist() == []
    assert trials_of(PAIRS).codes_in(none).tolist() == [-1] * 4


def test_rows_have_numbers_for_names():
    trials = Trials.of_rows(3, origin=Origin("x.npy"))
    assert (len(trials), trials.sides, trials.name_of(2), trials.origin.where(2)) == (
        3,
        ("row",),
        "(2)",
        "x.npy, row 2",
    )
    assert listed(trials) == [("0",), ("1",), ("2",)]
    assert Trials.of_rows(2, conditions={"sex": ["f", "m"]}).condition("sex").to_pylist() == ["f", "m"]
    with pytest.raises(InputError, match=r"conditions: expected 2 values of each, got \{'sex': 1\}"):
        Trials.of_rows(2, conditions={"sex": ["f"]})


def test_a_grid_with_distinct_names():
    grid = Trials.of_grid(["a", "b"], ["x", "y"])
    assert listed(grid) == PAIRS
    assert (grid.mask, Trials.of_grid(["a", "b"], ["x", "y"], np.ones((2, 2), np.bool_)).mask) == (None, None)
    with pytest.raises(InputError, match="test: 1 of 3 names repeat another one, the first 'y'"):
        Trials.of_grid(["a"], ["x", "y", "y"])
    with pytest.raises(InputError, match=r"mask: expected \(1, 2\) booleans, got bool of shape \(2, 1\)"):
        Trials.of_grid(["a"], ["x", "y"], np.ones((2, 1), np.bool_))


def test_take_by_number_and_by_mask():
    trials = trials_of(PAIRS, conditions={"n": [1, 2, 3, 4]})
    some = trials.take(np.array([2, 0]))
    assert (listed(some), some.conditions["n"].to_pylist()) == ([("b", "x"), ("a", "x")], [3, 1])
    assert [names.to_pylist() for names in some.names] == [["a", "b"], ["x"]]
    assert listed(trials.take(np.array([False, True, False, True]))) == [("a", "y"), ("b", "y")]
    for rows, said in [
        (np.array([True]), "expected row numbers or 4 booleans, got bool values of shape"),
        (np.array([4, 9]), "no row 4 in trials; there are 4, numbered from 0"),
        (np.array([0, -1]), "no row -1 in trials"),
        (np.array([0.0]), "expected row numbers or 4 booleans, got float64"),
        (np.array([[0]]), "expected row numbers or 4 booleans"),
    ]:
        with pytest.raises(InputError, match=f"rows: {said}"):
            trials.take(rows)


def test_places_are_those_of_the_source():
    origin = Origin("t.txt", "kaldi", lines=lambda rows: [100 + 2 * row for row in rows])
    trials = trials_of(PAIRS, origin=origin)
    again = trials.take(np.array([3, 1])).take(np.array([1]))
    assert (trials.origin.where(3), again.origin.where(0)) == ("t.txt:106", "t.txt:102")
    assert trials_of(PAIRS).take(np.array([3, 1])).origin.where(1) == "trials, row 1"
    assert Origin("t.txt", lines=lambda rows: [None] * len(rows)).where(5) == "t.txt, row 5"


def test_codes_are_equal_for_equal_trials_only():
    one, other = trials_of([("a", "x"), ("c", "x"), ("b", "z"), ("b", "y")]), trials_of(PAIRS)
    assert one.codes_in(other).tolist() == [other.codes_in(other)[0], -1, -1, other.codes_in(other)[3]]
    assert len(set(other.codes_in(other).tolist())) == 4
    sides = ("enroll", "test", "side")
    three = trials_of([("a", "x", "1"), ("b", "x", "2")], sides)
    mixed = trials_of([("b", "x", "1"), ("q", "x", "2"), ("b", "q", "2"), ("b", "x", "q"), ("b", "x", "2")], sides)
    codes = mixed.codes_in(three)
    assert codes[1:].tolist() == [-1, -1, -1, three.codes_in(three)[1]]
    assert codes[0] >= 0
    assert codes[0] not in three.codes_in(three)


def test_more_combinations_than_integers_are_refused():
    codes = tuple(np.zeros(2, np.int32) for _ in range(3))
    many, fewer = pa.nulls(2**21, pa.string()), pa.nulls(2**21 - 1, pa.string())
    sides = ("enroll", "test", "side")
    assert Trials(sides, (many, many, fewer), codes).n_possible == 2**63 - 2**42
    trials = Trials(sides, (many, many, many), codes)
    with pytest.raises(InputError, match=r"trials: 2\*\*63 or more possible combinations of names"):
        trials.codes_in(trials)


def test_as_grid():
    shuffled = trials_of([PAIRS[i] for i in (0, 3, 1)])
    grid, cells = shuffled.as_grid()
    assert (grid.mask.tolist(), cells.tolist()) == ([[True, True], [False, True]], [0, 3, 1])
    full, cells = trials_of(PAIRS).as_grid()
    assert (full.mask, full.listed, cells) == (None, None, None)
    with pytest.raises(InputError, match=r"row 2: trial \(a, x\) occurs twice; a matrix has one cell"):
        trials_of([PAIRS[0], PAIRS[1], PAIRS[0], PAIRS[1]]).as_grid()
    with pytest.raises(InputError, match="a matrix needs trials of enroll and test, but these are identified by trial"):
        Trials.of({"trial": ["a"]}).as_grid()
    n = 20_000
    with pytest.raises(InputError, match="a matrix of 20,000 x 20,000 cells for 20,000 trials would be nearly empty"):
        trials_of([(str(i), str(i)) for i in range(n)]).as_grid()


@pytest.mark.parametrize(
    ("pairs", "is_grid"),
    [
        (PAIRS, True),
        ([PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]], False),
        ([PAIRS[1], PAIRS[0], PAIRS[2], PAIRS[3]], False),
        (PAIRS[:3], False),
        ([PAIRS[0], PAIRS[0], PAIRS[3], PAIRS[3]], False),
        ([PAIRS[1], PAIRS[0], PAIRS[3], PAIRS[2]], True),
    ],
)
def test_densest(pairs, is_grid):
    trials = trials_of(pairs, conditions={"at": [str(pair) for pair in pairs]})
    dense = trials.densest()
    assert (dense.listed is None) == is_grid
    assert listed(dense) == pairs
    assert dense.condition("at").to_pylist() == [str(pair) for pair in pairs]


def test_columns_of_names_and_conditions():
    trials = trials_of(PAIRS, conditions={"sex": pa.chunked_array([["f", "f"], ["m", None]]), "year": [8, 8, 10, 12]})
    assert trials.column("test").to_pylist() == ["x", "y", "x", "y"]
    assert trials.condition("sex").to_pylist() == ["f", "f", "m", None]
    with pytest.raises(InputError, match="trials: no condition 'age'; its columns of conditions: sex, year"):
        trials.condition("age")


def test_names_with_many_to_one():
    trials = trials_of(PAIRS).densest()
    assert trials.with_names(0, pa.array(["c", "d"])).listed is None
    assert listed(trials.with_names(0, pa.array(["c", "c"]))) == [("c", "x"), ("c", "y")] * 2


def test_rows_have_names_only_if_they_are_read(tmp_path, monkeypatch):
    rows, few = Trials.of_rows(4), Trials.of_rows(4).take(np.array([2, 3]))
    assert rows.names[0].to_pylist() == ["0", "1", "2", "3"]
    assert (rows.numbers.tolist(), few.numbers.tolist()) == ([0, 1, 2, 3], [2, 3])
    assert (rows.is_numbered, few.is_numbered, Trials.of({"row": ["1", "x"]}).is_numbered) == (True, False, False)
    named = Trials.of({"row": ["x", "00", " 1"]})
    assert Lookup(named).find(named.take(np.array([2, 0]))).rows.tolist() == [1, -1, 0]

    def refused(trials):
        raise AssertionError(f"{len(trials)} numbers were written as names")

    monkeypatch.setattr(vars(Trials)["names"], "func", refused)
    score = np.random.default_rng(3).normal(size=60)
    pq.write_table(pa.table({"score": score, "label": score + np.arange(60) % 3 > 0.7}), tmp_path / "scores.parquet")
    assert evaluate_files([tmp_path / "scores.parquet"]).systems[0].interval("eer").low > 0.0
    with pytest.raises(AssertionError, match="4 numbers were written"):
        Trials.of_rows(4).column("row")
