"""Tables share no memory that can be written to with anyone, wherever they go."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest

from deciban import InputError
from deciban.trials import ClassKey, ClassScores, Key, Origin, Scores, SegmentQuality, Trials, align
from deciban.trials.joining.join import concatenate

IDS = {"trial": ["a", "b"]}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_the_caller_changes_later_is_not_in_the_table(dtype):
    score, matrix, truth = np.array([1, 2], dtype), np.eye(2, dtype=dtype), np.array([True, False])
    mask, snr, view = np.array([[True, False]]), np.array([1.0, 2.0]), np.array([1, 2], dtype)
    closed = view[:]
    closed.setflags(write=False)
    tables = (
        Scores.of(IDS, score, conditions={"snr": snr}),
        ClassScores.of(IDS, ["x", "y"], matrix),
        Key.of(IDS, truth),
        Trials.of_grid(["a"], ["x", "y"], mask),
        SegmentQuality.of(["a", "b"], snr),
        Scores.of(IDS, closed),
    )
    for array in (score, matrix, truth, mask, snr, view):
        array[...] = ~array if array.dtype == np.bool_ else np.nan
    assert tables[0].score.tolist() == tables[5].score.tolist() == [1, 2]
    assert tables[0].trials.condition("snr").to_pylist() == [1, 2]
    assert tables[1].score.tolist() == [[1, 0], [0, 1]]
    assert tables[2].is_target.tolist() == [True, False]
    assert tables[3].mask.tolist() == [[True, False]]
    assert tables[4].values.tolist() == [[1], [2]]


def arrays():
    scores, key = Scores.of(IDS, [1.0, 2.0]), Key.of(IDS, [True, False])
    grid = Trials.of_grid(["a"], ["x", "y"], np.array([[True, False]]))
    yield from (scores.score, key.is_target, scores.trials.codes[0], grid.mask, *grid.codes)
    yield from Trials.of_grid(["a"], ["x"]).codes
    yield from (align(scores, key).score, align(scores, key).is_target, scores.take([1]).score)
    yield ClassKey.of(IDS, ["x", "y"]).label
    yield ClassScores.of(IDS, ["x", "y"], np.eye(2)).score
    yield SegmentQuality.of(["a"], [1.0]).values
    yield pickle.loads(pickle.dumps(scores)).score  # noqa: S301  # our own
    yield copy.deepcopy(key).is_target


def test_arrays_of_tables_cannot_be_written_to():
    assert [array.flags.writeable for array in arrays()] == [False] * len(list(arrays()))


def test_a_transform_in_place_leaves_the_scores_alone():
    scores = Scores.of(IDS, [1.0, 2.0])
    assert scores.transform(lambda score: np.negative(score, out=score)).score.tolist() == [-1, -2]
    assert scores.score.tolist() == [1, 2]


def test_masks_are_not_lost():
    hidden = np.ma.array([1.0, 2.0], mask=[False, True])
    for make in (
        lambda: Key.of(IDS, np.ma.array([True, False], mask=[False, True])),
        lambda: ClassScores.of(IDS, ["x", "y"], np.ma.array(np.eye(2), mask=np.eye(2))),
        lambda: SegmentQuality.of(["a", "b"], hidden),
        lambda: Scores.of(IDS, hidden),
        lambda: Trials.of_grid(["a"], ["x"], np.ma.array([[True]], mask=True)),
    ):
        with pytest.raises(InputError, match=r"[12] of [124] entries are masked"):
            make()


def test_the_mask_of_a_grid_may_be_a_list():
    assert len(Trials.of_grid(["a"], ["x"], [[True]])) == 1
    with pytest.raises(InputError, match=r"mask: expected \(1, 1\) booleans, got int64"):
        Trials.of_grid(["a"], ["x"], [[1]])


def test_tables_can_be_pickled_with_what_names_their_rows():
    one, other = (Scores(Trials.of(IDS, origin=Origin(name)), np.array([1.0, 2.0])) for name in ("x", "y"))
    joined = concatenate([one, other])
    chosen = joined.take(np.array([1, 3, 2]))
    back = pickle.loads(pickle.dumps(chosen))  # noqa: S301  # our own
    assert [back.trials.origin.where(row) for row in range(3)] == ["x, row 1", "y, row 1", "y, row 0"]
    assert back.trials.origin.where_all([2, 0]) == ["y, row 0", "x, row 1"]
    assert back.score.tolist() == [2, 2, 1]
    grid = Trials.of({"enroll": ["a"], "test": ["x"]}).as_grid()[0]
    assert pickle.loads(pickle.dumps(grid)).name_of(0) == "(a, x)"  # noqa: S301  # our own


def test_rows_are_named_by_their_lines_where_there_are_some():
    rows = [9000, *range(0, 9000, 10)]
    origin = Origin("f", lines=lambda rows: [row + 2 + (row >= 5000) for row in rows])
    assert origin.where_all(rows) == [f"f:{row + 2 + (row >= 5000)}" for row in rows]
    assert Origin("f", lines=lambda rows: [None] * len(rows)).where_all([0, 5, 7]) == [
        "f, row 0",
        "f, row 5",
        "f, row 7",
    ]
    assert origin.where_all([]) == []


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view()])
def test_dictionaries_of_any_text(kind):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", "b"]).cast(kind))
    trials = Trials.of({"trial": words}, conditions={"sex": words, "plain": pa.array(["a", "b", "a"]).cast(kind)})
    assert [trials.name_of(row) for row in range(3)] == ["(a)", "(b)", "(a)"]
    assert {column.type for column in trials.conditions.values()} == {pa.string()}
    assert trials.condition("sex").to_pylist() == ["a", "b", "a"]


def test_a_condition_is_one_value_per_trial():
    with pytest.raises(InputError, match=r"^tags: contains list.* A condition must have one value per trial"):
        Trials.of({"trial": ["a"]}, conditions={"tags": [["x", "y"]]})


def long_text():
    """More than 2 GiB of text, of which hardly any takes memory: all of it is zero."""
    size, n = 1 << 20, 2100
    offsets = np.arange(n + 1, dtype=np.int64) * size
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.zeros(n * size, np.uint8))]
    return pa.Array.from_buffers(pa.large_string(), n, buffers)


def test_text_that_is_too_long_for_one_array():
    text = long_text()
    assert len(Trials.of({"trial": text}).names[0]) == 1
    assert len(Trials.of({"trial": pa.chunked_array([text])}).names[0]) == 1
    with pytest.raises(InputError, match="notes: cannot store these values"):
        Trials.of({"trial": ["a"] * len(text)}, conditions={"notes": text})
