"""Weights of trials from a column of the key: what is read, what is refused, and where it stands."""

import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import InputError, KeyMismatchError, evaluate, evaluate_files
from deciban.trials import Trials
from deciban.workflows import Options, read_joined
from deciban.workflows.reading.units import weight_column

SCORES = {"a": 2.0, "b": 1.0, "c": 0.5, "d": 1.5, "e": -1.0}
KEY = "trial,label,w\na,target,2\nb,target,0.5\nc,nontarget,1e0\nd,nontarget,0\ne,nontarget,+3\n"
WEIGHTS = {"a": 2.0, "b": 0.5, "c": 1.0, "d": 0.0, "e": 3.0}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "s.txt").write_text("".join(f"{name} {score}\n" for name, score in reversed(SCORES.items())))
    (tmp_path / "key.csv").write_text(KEY)
    return tmp_path


def joined_by(scores, key, **options):
    return read_joined(scores, key, Options.of("read_joined", options))


def column(values):
    return Trials.of_rows(len(values), conditions={"w": values})


@pytest.mark.parametrize(
    "values",
    [
        [1, 0, 3],
        np.array([1, 0, 3], np.uint8),
        np.array([1, 0, 3], np.float32),
        pa.array([Decimal("1.00"), Decimal("0.00"), Decimal("3.00")]),
        ["1", "0.0", "3e0"],
        ["+1.", ".0", "30E-1"],
    ],
)
def test_numbers_are_read_however_they_are_stored(values):
    assert weight_column(column(values), "w").tolist() == [1.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            ["1", "x", "x"],
            r"row 1: 'x' in column 'w', which contains the weights of trials, is not a number \(2 such trials\)",
        ),
        (["1", "1_0"], "row 1: '1_0' in column 'w'"),
        (["0,5", "1"], "row 0: '0,5' in column 'w'"),
        ([True, False], "row 0: 'true' in column 'w'"),
        (["1", "nan"], "row 1: nan in column 'w', but weights are finite and at least 0"),
        ([1.0, np.nan], "row 1: nan in column 'w', but weights are finite"),
        ([np.inf, 1.0], "row 0: inf in column 'w', but weights are finite"),
        (["1", "-2", "-1"], r"row 1: -2 in column 'w', but weights are finite and at least 0 \(2 such trials\)"),
        ([1e-200, 1.0], r"row 0: 1e-200 in column 'w', but weights are 0 or within \[1e-100, 1e100\]"),
        (["1", ""], "row 1: no value in column 'w', which contains the weights of trials"),
        ([1.0, None], "row 1: no value in column 'w'"),
    ],
)
def test_what_is_no_weight_is_refused_with_its_place(values, words):
    with pytest.raises(InputError, match=words):
        weight_column(column(values), "w")


def test_weights_follow_their_trials(files):
    key = (files / "key.csv").read_text().splitlines()
    (files / "other.csv").write_text("\n".join([key[0], *reversed(key[1:])]))
    for name in ("key.csv", "other.csv"):
        joined = joined_by(files / "s.txt", files / name, weights="w")
        names = [joined.batch.trials.name_of(i)[1:-1] for i in range(5)]
        assert dict(zip(names, joined.batch.weight.tolist(), strict=True)) == WEIGHTS
    assert joined_by(files / "s.txt", files / "key.csv").batch.weight is None


def test_trials_that_are_left_out_take_their_weights_with_them(files):
    (files / "some.txt").write_text("a 2\nd 1.5\ne -1\n")
    joined = joined_by(files / "some.txt", files / "key.csv", weights="w", missing="drop")
    assert joined.batch.weight.tolist() == [2, 0, 3]
    assert "weights  " + str(files / "key.csv") + "   column 'w'   from 2 to 3 · 1 of 3 are 0" in map(
        str, joined.messages
    )


def test_only_trials_that_are_used_need_a_weight(files):
    (files / "key.csv").write_text(KEY.replace("0.5", "").replace("+3", "many"))
    (files / "some.txt").write_text("a 2\nc 0.5\n")
    joined = joined_by(files / "some.txt", files / "key.csv", weights="w", missing="drop")
    assert joined.batch.weight.tolist() == [2, 1]
    with pytest.raises(InputError, match=r"key\.csv:3: no value in column 'w'"):
        joined_by(files / "s.txt", files / "key.csv", weights="w")


def test_figures_are_those_of_weighted_trials(files):
    (found,) = evaluate_files(files / "s.txt", files / "key.csv", weights="w").systems
    tar, non = ([SCORES[name] for name in names] for names in ("ab", "cde"))
    expected = evaluate(
        tar, non, name="s", tar_weights=[WEIGHTS[n] for n in "ab"], non_weights=[WEIGHTS[n] for n in "cde"]
    )
    assert found.to_dict() == expected.to_dict()
    assert (found.n_tar, found.n_non) == (2.5, 4)


def test_a_key_without_the_column(files):
    (files / "plain.csv").write_text("".join(f"{line.rpartition(',')[0]}\n" for line in KEY.splitlines()))
    with pytest.raises(
        InputError, match=r"plain\.csv: no column 'w' contains the weights of trials; the columns are none"
    ):
        joined_by(files / "s.txt", files / "plain.csv", weights="w")
    joined = joined_by(files / "s.txt", files / "plain.csv", weights="w", weights_required=False)
    assert joined.batch.weight is None
    words = "has no column 'w' of weights: all its trials have equal weight"
    assert any(words in fact for fact in map(str, joined.messages))
    with pytest.raises(InputError, match=r"no column 'v' contains the weights of trials; the columns are w"):
        joined_by(files / "s.txt", files / "key.csv", weights="v")


@pytest.mark.parametrize(("label", "kind"), [("target", "target"), ("nontarget", "non-target")])
def test_a_class_that_does_not_count_is_refused(files, label, kind):
    rows = [line.split(",") for line in KEY.splitlines()]
    lines = [f"{t},{y},{'0' if y == label else w}" for t, y, w in rows]
    (files / "key.csv").write_text("\n".join(lines))
    with pytest.raises(InputError, match=rf"key\.csv, column 'w': all {kind} trials have weight 0"):
        joined_by(files / "s.txt", files / "key.csv", weights="w")


def test_copies_of_a_trial_have_one_weight(files):
    how = {"weights": "w", "duplicates": "keep-one"}
    (files / "key.csv").write_text(KEY + "a,target,2.0\n")
    assert joined_by(files / "s.txt", files / "key.csv", **how).batch.weight.tolist() == list(WEIGHTS.values())
    (files / "s.txt").write_text((files / "s.txt").read_text() + "a 2.0\n")
    (files / "key.csv").write_text(KEY)  # of the copies that were left out none is in the key
    assert joined_by(files / "s.txt", files / "key.csv", **how).batch.weight.tolist() == list(WEIGHTS.values())
    (files / "key.csv").write_text(KEY + "a,target,1\n")
    with pytest.raises(KeyMismatchError, match=r"key\.csv:7: trial \(a\) has the weight 1 .* but 2 at .*key\.csv:2"):
        joined_by(files / "s.txt", files / "key.csv", **how)


def test_columns_are_read_without_pandas(tmp_path):
    """Its import takes 25 MB and longer than the evaluation of a small file."""
    at = np.arange(40)
    columns = {"score": np.linspace(-1, 1, 40), "label": at % 3 == 0, "weight": np.ones(40)}
    columns |= {name: [f"{name}{i % 8}" for i in at] for name in ("speaker", "channel")}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    evaluated = 'deciban.evaluate_files("a.parquet", units="speaker", by="channel", weights="weight")'
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        f"import sys, deciban; {evaluated}; print('pandas' in sys.modules)",
    ]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip() == "False"
