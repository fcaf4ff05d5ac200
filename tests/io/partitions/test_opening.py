"""Trials in batches are those that are read as a whole, whatever holds them and however it is cut."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import evaluate_files
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io.partitions.opening import open_trials
from deciban.trials.sources import TrialFields
from support.sources import gathered, in_memory, split, trials, write

SAID = [
    {},
    {"unit": "log10"},
    {"where": {"gender": "f"}},
    {"where": {"age": ["20", "21.0"], "gender": "m"}},
    {"weights": "weight"},
    {"columns": {"score": "score", "label": "gender"}, "labels": {"target": "f", "nontarget": "m"}},
]


@given(st.integers(0, 2**32 - 1), st.sampled_from(SAID))
@settings(max_examples=12)
def test_one_table_is_what_it_is_in_memory(tmp_path_factory, seed, said):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("one")
    table = trials(rng)
    whole, cut = write(table, path / "whole", np.random.default_rng(0)), write(table, path / "cut", rng)
    expected, _ = in_memory([whole], **said)
    source = open_trials(cut, **said)
    np.testing.assert_array_equal(gathered(source, weight="weights" in said), expected)
    assert source.is_double == (table.schema.field("score").type == pa.float64())
    again = pickle.loads(pickle.dumps(source.partitions))  # noqa: S301  # our own
    assert sum(one.n_rows for one in again) == source.n_rows == len(table)
    assert len(again[0].read(TrialFields()).scores[0]) <= again[0].n_rows


@given(st.integers(0, 2**32 - 1), st.sampled_from(["speaker", "enroll", "enroll,test", "product"]))
@settings(max_examples=15)
def test_units_are_those_of_memory(tmp_path_factory, seed, units):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("units")
    cut = write(trials(rng), path / "cut", rng)
    expected, _ = in_memory([cut], units=units)
    parts = () if units == "product" else tuple(units.split(","))
    found = gathered(open_trials(cut, units=parts, units_apart=units == "product"), units=True)
    np.testing.assert_array_equal(found, expected)


def test_sides_are_named_as_in_memory(tmp_path, monkeypatch):
    folder = write(trials(np.random.default_rng(3)), tmp_path / "cut", np.random.default_rng(3))
    whole = evaluate_files(folder, units="product")
    for module in ("evaluate", "reading.inputs"):
        monkeypatch.setattr(f"deciban.workflows.{module}.memory_of", lambda *_: 1 << 60)
    partitions = evaluate_files(folder, units="product", memory=10**8)
    in_batches = ["they do not fit in memory" in "".join(map(str, one.messages)) for one in (whole, partitions)]
    assert in_batches == [False, True]
    assert partitions.systems[0].uncertainty.source == whole.systems[0].uncertainty.source


def test_whole_numbers_that_no_float_holds_are_refused(tmp_path):
    table = pa.table({"score": [1, 2, 2**60 + 1], "label": [True, False, True]})
    cut = write(table, tmp_path / "cut", np.random.default_rng(0))
    with pytest.raises(
        FormatError, match=r"row group \d+: a score cannot be represented as float64 .* Write scores as floats"
    ):
        gathered(open_trials(cut))


def test_arrow_files_are_partitions_too(tmp_path):
    rng = np.random.default_rng(1)
    table = trials(rng)
    cut = write(table, tmp_path / "cut", rng, arrow=True)
    expected, _ = in_memory([write(table, tmp_path / "whole", rng)])
    np.testing.assert_array_equal(gathered(open_trials(cut)), expected)
    np.testing.assert_array_equal(gathered(open_trials(cut / "*.arrow")), expected)


def test_folders_say_columns(tmp_path):
    rng = np.random.default_rng(2)
    table = trials(rng)
    for name in ("f", "m"):
        own = table.filter(pa.compute.equal(table["gender"], name)).drop_columns("gender")
        write(own, tmp_path / f"gender={name}", rng)
    for said in ({}, {"where": {"gender": "f"}}):
        np.testing.assert_array_equal(gathered(open_trials(tmp_path, **said)), in_memory([tmp_path], **said)[0])


def test_several_columns_are_several_systems(tmp_path):
    rng = np.random.default_rng(3)
    table = trials(rng).append_column("b_score", pa.array(rng.normal(size=60)))
    cut = write(table, tmp_path / "cut", rng)
    source = open_trials(cut)
    assert source.systems == ("score", "b_score")
    np.testing.assert_array_equal(gathered(source), in_memory([cut])[0])


@given(st.integers(0, 2**32 - 1), st.sampled_from([{}, {"unit": "log10"}, {"classes": ["b", "a"]}]))
@settings(max_examples=15)
def test_columns_of_classes(tmp_path_factory, seed, said):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("classes")
    n = 40
    label = rng.choice(["a", "b"] if "classes" in said else ["a", "b", "c"], n)
    scores = {name: rng.normal(size=n).astype(np.float32) for name in "abc"}
    cut = write(pa.table({"trial": [f"s{k}" for k in range(n)], **scores, "class": label}), path / "cut", rng)
    found = open_trials(cut, **{name: value for name, value in said.items() if name != "unit"})
    assert found.classes == tuple(said.get("classes", "abc"))
    if "unit" not in said:
        np.testing.assert_array_equal(gathered(found), in_memory([cut], **said)[0])


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@settings(max_examples=12)
def test_classes_of_segments_in_other_tables(tmp_path_factory, seed, by_order, numbered):
    rng, path, n = np.random.default_rng(seed), tmp_path_factory.mktemp("segments"), 40
    names, label = pa.array([f"s{k}" for k in range(n)]), rng.integers(0, 3, n)
    order = np.arange(n) if by_order else rng.permutation(n)
    tables = []
    for at in range(2):
        columns = {name: rng.normal(size=n) for name in ("eng", "fra", "ita")}
        tables.append(write(pa.table({"trial": names.take(order), **columns}), path / f"system{at}", rng))
    classes = pa.array(label) if numbered else pa.array(["eng", "fra", "ita"]).take(pa.array(label))
    key = write(pa.table({"trial": names, "class": classes, "duration": rng.integers(0, 2, n)}), path / "key", rng)
    said = {"by_order": by_order, "where": {"duration": "1"}} | ({"classes": ["eng", "fra", "ita"]} if numbered else {})
    source = open_trials(tables, key, memory=9000, **said)
    assert source.systems == ("system0", "system1")
    np.testing.assert_array_equal(gathered(source), in_memory(tables, key, **said)[0])


def test_what_scores_are_about_is_never_guessed(tmp_path):
    rng = np.random.default_rng(13)
    table = pa.table({"trial": list("abcd"), "x_score": rng.normal(size=4), "y_score": rng.normal(size=4)})
    cut = write(table, tmp_path / "cut", rng)
    with pytest.raises(InputError, match='Use kind="two-class" or kind="classes"'):
        open_trials(cut)
    with pytest.raises(InputError, match=r"classes: .*has no scores for 'z_score'"):
        open_trials(cut, classes=["x_score", "z_score"])
    with pytest.raises(InputError, match="does not contain the classes"):
        open_trials(cut, kind="classes")


@given(st.integers(0, 2**32 - 1), st.sampled_from(SAID[:5]))
@settings(max_examples=20)
def test_tables_beside_each_other(tmp_path_factory, seed, said):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("beside")
    scores, key = split(trials(rng), path, rng, shuffled=False)
    expected, report = in_memory([scores], key, by_order=True, **said)
    source = open_trials(scores, key, by_order=True, **said)
    np.testing.assert_array_equal(gathered(source, weight="weights" in said), expected)
    assert report.matched == len(expected)


def test_by_order_as_many_rows_are_needed(tmp_path):
    rng = np.random.default_rng(4)
    scores, _ = split(trials(rng), tmp_path, rng, shuffled=False)
    key = write(trials(rng, n=59), tmp_path / "shorter", rng)
    with pytest.raises(KeyMismatchError, match=r"scores contains 60 scores, .*shorter 59 trials"):
        open_trials(scores, key, by_order=True)


@pytest.mark.parametrize("by_order", [False, True])
@pytest.mark.parametrize("column", ["score", "label"])
def test_faults_are_told_of_the_table_that_has_them(tmp_path, by_order, column):
    """Both tables are cut elsewhere, and the key into fewer pieces or into more."""
    table, size = trials(np.random.default_rng(9)), {"score": 7, "label": 20}
    bad = [*table[column].to_pylist()]
    bad[45] = float("nan") if column == "score" else "perhaps"
    table = table.set_column(table.column_names.index(column), column, pa.array(bad, table.schema.field(column).type))
    for sizes in (size, {"score": 20, "label": 7}):
        for name in ("score", "label"):
            own = table.select(["enroll", "test", name])
            pq.write_table(own, tmp_path / f"{name}.parquet", row_group_size=sizes[name])
        group, row = divmod(45, sizes[column])
        with pytest.raises(FormatError, match=rf"{column}\.parquet, row group {group}, row {row}: "):
            gathered(
                open_trials(tmp_path / "score.parquet", tmp_path / "label.parquet", by_order=by_order, memory=9000)
            )


@pytest.mark.parametrize("by_order", [False, True])
def test_several_score_tables(tmp_path, by_order):
    rng = np.random.default_rng(9)
    table = trials(rng)
    one, key = split(table, tmp_path, rng, shuffled=not by_order)
    two = write(
        table.select(["enroll", "test"]).append_column("llr", pa.array(rng.normal(size=60))), tmp_path / "b", rng
    )
    source = open_trials([one, two], key, by_order=by_order, memory=9000)
    assert source.systems == ("scores", "b")
    np.testing.assert_array_equal(gathered(source), in_memory([one, two], key, by_order=by_order)[0])


def test_speakers_say_who_is_who(tmp_path):
    rng = np.random.default_rng(10)
    table = trials(rng)
    cut = write(table.drop_columns("label"), tmp_path / "cut", rng)
    enroll, test = tmp_path / "enroll2spk", tmp_path / "test2spk"
    enroll.write_text("".join(f"m{k} p{k % 7}\n" for k in range(20)))
    test.write_text("".join(f"t{k} p{k % 7}\n" for k in range(20)))
    source = open_trials(cut, speakers=[enroll, test])
    found = gathered(source, units=True)
    sides = zip(table["enroll"].to_pylist(), table["test"].to_pylist(), strict=True)
    same = [int(one[1:]) % 7 == int(other[1:]) % 7 for one, other in sides]
    assert found[:, 1].sum() == sum(same)
    assert ((found[:, 2] == found[:, 3]) == found[:, 1]).all()
    test.write_text("t0 p0\n")
    with pytest.raises(
        KeyMismatchError, match=r"\.parquet, row group 0, row \d+: .*test2spk does not contain the speaker of 't"
    ):
        gathered(open_trials(cut, speakers=[enroll, test]))
    with pytest.raises(InputError, match="Leave out one of the two"):
        open_trials(cut, cut, speakers=[enroll])


def test_words_that_mean_something_together(tmp_path):
    rng = np.random.default_rng(11)
    label = np.sort(rng.choice([1, -1], 60))[::-1]
    cut = write(trials(rng, label=label), tmp_path / "cut", rng)
    np.testing.assert_array_equal(gathered(open_trials(cut)), in_memory([cut])[0])
    odd = write(trials(rng, label=[*label[:-1], 0]), tmp_path / "odd", rng)
    with pytest.raises(FormatError, match=r"row group \d+, row \d+: unknown label"):
        gathered(open_trials(odd))


def test_what_is_missing_is_named(tmp_path):
    rng = np.random.default_rng(12)
    table = trials(rng)
    cut = write(table, tmp_path / "cut", rng)
    with pytest.raises(InputError, match=r"no condition 'sex'; its columns of conditions: gender"):
        open_trials(cut, where={"sex": "f"})
    with pytest.raises(InputError, match=r"no trial has gender = 'x'; the values are"):
        open_trials(cut, where={"gender": ["f", "x"]})
    with pytest.raises(InputError, match=r"no column 'w' contains the weights of trials"):
        open_trials(cut, weights="w")
    with pytest.raises(TypeError, match="'wheres'"):
        open_trials(cut, wheres={})
    with pytest.raises(InputError, match="contains no labels"):
        open_trials(write(table.drop_columns("label"), tmp_path / "bare", rng))
    nameless = write(table.select(["score"]), tmp_path / "nameless", rng)
    with pytest.raises(KeyMismatchError, match="by_order=True"):
        open_trials(nameless, cut)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (b"", r"part\.parquet, row group 1, row 1: no value in column 'enroll'"),
        (b"\xff", "row group 1: .* text in UTF-8"),
    ],
)
def test_names_that_cannot_be_read_are_told_with_their_place(tmp_path, name, words):
    enroll = pa.array([b"a", b"a", b"b", name], pa.binary())
    table = pa.table({"enroll": enroll, "test": list("wxyz"), "score": [0.5, 1, 2, 3], "label": [1, 0, 1, 0]})
    path = tmp_path / "part.parquet"
    pq.write_table(table, path, row_group_size=2)
    with pytest.raises(FormatError, match=words):
        for partition in open_trials(path, find_speakers=True).partitions:
            partition.read(TrialFields((0,), names=True))
    if name:
        with pytest.raises(FormatError, match=words):
            open_trials(path, duplicates="keep-one")


def test_what_is_held_out_together_is_read_with_the_rows_that_are_chosen(tmp_path):
    columns = {"trial": list("abcd"), "score": [1.0, 2.0, 3.0, 4.0], "label": [1, 0, 1, 0]}
    more = {"who": ["ann", "bob", "cid", "bob"], "sex": ["f", "m", "f", "m"]}
    pq.write_table(pa.table(columns | more), tmp_path / "a.parquet")
    source = open_trials(tmp_path / "a.parquet", groups=["who"], where={"sex": "m"})
    assert source.groups == ("who",)
    ((codes, names),) = source.partitions[0].read(TrialFields((0,), groups=True)).groups
    assert names.take(pa.array(codes)).to_pylist() == ["bob", "bob"]
    assert source.partitions[0].read(TrialFields((0,))).groups is None
    pq.write_table(pa.table(columns | {"who": ["ann", None, "cid", "bob"]}), tmp_path / "b.parquet")
    gap = open_trials(tmp_path / "b.parquet", groups=["who"])
    with pytest.raises(
        FormatError, match="row 1: no value in column 'who', which contains the groups for cross-validation"
    ):
        gap.partitions[0].read(TrialFields((), groups=True))
