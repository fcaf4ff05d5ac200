"""What a call means is looked at before files are: what cannot mean anything is refused by the name of its argument."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import InputError, evaluate_files, read_scores, report_files, train_files
from deciban.workflows.reading.units import HoldOut
from support.both_kinds import MADE

WRONG = [
    ("where", "x"),
    ("where", 3),
    ("where", ["sex"]),
    ("columns", 3),
    ("columns", [3]),
    ("columns", {"trial": 1}),
    ("key_columns", 2.5),
    ("labels", 3),
    ("labels", "target=tgt"),
    ("labels", {"target": 1, "nontarget": 0}),
    ("format", ["table"]),
    ("key_format", {"table": 1}),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_options_of_a_type_that_says_nothing(both, name, value):
    with pytest.raises(InputError, match=f"{name.removeprefix('key_')}: got"):
        evaluate_files(both.paths[0], both.key, **{name: value})


def test_a_column_of_weights_is_named_by_text(both):
    with pytest.raises(InputError, match=r"no column \['x'\] contains the weights of trials"):
        evaluate_files(both.paths[0], both.key, weights=["x"])


@pytest.mark.parametrize(
    ("name", "value"), [("groups", 3), ("groups", "ab"), ("classes", 3), ("prior", 3), ("p_target", "x")]
)
def test_options_of_many_classes(tmp_path, name, value):
    files = MADE["classes"](tmp_path)
    with pytest.raises(InputError, match=f"{name}: "):
        evaluate_files(files.paths[0], files.key, **{name: value})


def test_columns_and_labels_of_a_file_alone(both):
    with pytest.raises(InputError, match=r"columns: got 3\. Write the roles in order"):
        read_scores(both.paths[0], columns=3)
    with pytest.raises(InputError, match=r"labels: got 3\. Pass a mapping"):
        read_scores(both.paths[0], labels=3)


@pytest.mark.parametrize("by", [2.5, True, np.True_, 1, -3, None, {"speaker": 1}])
def test_what_is_held_out_is_a_number_or_a_name(by):
    with pytest.raises(InputError, match=r"cross_validate: got .* It must be a whole number of folds \(2 or more\)"):
        HoldOut(by)
    if by is not None:
        with pytest.raises(InputError, match="cross_validate: got"):
            train_files("no.csv", None, cross_validate=by)  # before the file is looked for


@pytest.mark.parametrize("by", [(), ("a", "b", "c"), (3, 4), ["a", None]])
def test_what_is_held_out_is_one_column_or_two(by):
    with pytest.raises(InputError, match="cross_validate: got .* Name a column"):
        HoldOut(by)


@pytest.mark.parametrize("n_folds", [2.5, True, "x", 1, None])
def test_numbers_of_folds(both, n_folds):
    with pytest.raises(InputError, match="n_folds: got"):
        HoldOut("sex", n_folds)
    with pytest.raises(InputError, match="n_folds: got"):
        report_files(both.paths[0], both.key, both.folder / "page.html", n_folds=n_folds)
    with pytest.raises(InputError, match="n_folds: got"):
        train_files(both.paths, both.key, select=True, n_folds=n_folds)


def test_a_list_of_columns_is_a_pair_and_numbers_of_arrays_are_numbers():
    assert HoldOut(["spk", "other"]) == HoldOut(("spk", "other"))
    assert HoldOut(np.int64(4), np.int32(3)) == HoldOut(4, 3)
    assert HoldOut(np.int64(4)).parts == 4


def test_a_key_of_other_trials_without_their_scores(both):
    with pytest.raises(InputError, match="test_scores: none given, but test_key is"):
        train_files("no.csv", None, test_key="no.key")
    with pytest.raises(InputError, match="test_scores: no file given"):
        train_files(both.paths[0], both.key, both.calibrator(), test_scores=[], test_key=both.key)


TWICE = {
    "model and scores": lambda: evaluate_files("-", "key.csv", model="-"),
    "model and key": lambda: evaluate_files("a.csv", "-", model="-"),
    "scores and other scores": lambda: train_files("-", "key.csv", test_scores="-", test_key="key.csv"),
    "scores and other key": lambda: train_files(["a.csv", "-"], "key.csv", test_scores="b.csv", test_key="-"),
    "both keys": lambda: train_files("a.csv", "-", test_scores="b.csv", test_key="-"),
    "scores and scores of training": lambda: report_files("-", "key.csv", train=["b.csv", "-"]),
    "model and key of training": lambda: report_files("a.csv", model="-", train="b.csv", train_key="-"),
}


@pytest.mark.parametrize("case", TWICE)
def test_standard_input_is_read_once_in_a_call(case):
    with pytest.raises(InputError, match=r"standard input \(-\) can be read only once, but 2 inputs"):
        TWICE[case]()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_more_classes_than_rows_are_refused_before_rows_are_read(tmp_path, monkeypatch, kind):
    """Of 50,000 columns in Parquet, only the label is looked at; reading all took five times as long as a CSV."""

    def read(*_arguments, **_options):
        raise AssertionError("read")

    monkeypatch.setattr("deciban.io.reader.parse_blocks", read)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", read)
    looked = []
    batches = pq.ParquetFile.iter_batches
    monkeypatch.setattr(
        pq.ParquetFile,
        "iter_batches",
        lambda file, *, columns=None, **how: looked.append(columns) or batches(file, columns=columns, **how),
    )
    n_classes, path = 2000, tmp_path / f"wide.{kind}"
    names = [f"c{k}" for k in range(n_classes)]
    if kind == "csv":
        rows = [",".join([*["0.5"] * n_classes, f"c{k}"]) for k in range(30)]
        path.write_text("\n".join([",".join([*names, "label"]), *rows]) + "\n")
    else:
        pq.write_table(pa.table({**dict.fromkeys(names, np.full(30, 0.5)), "label": names[:30]}), path)
    with pytest.raises(InputError, match=r"2,000 columns are scores of classes, but there are at most 3\d rows"):
        evaluate_files(path)
    assert looked in ([], [["label"]], [["label"], ["label"]])
