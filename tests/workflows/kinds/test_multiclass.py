"""Keys that number the classes which scores name."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import logsumexp

import deciban
from deciban import InputError, KeyMismatchError, evaluate_files

NAMES = [f"c{k}" for k in range(12)]
RNG = np.random.default_rng(3)
LABEL = RNG.permutation(np.arange(240) % 12)
LOGLIK = RNG.normal(size=(240, 12)) + 2 * np.eye(12)[LABEL]


@pytest.fixture
def folder(tmp_path):
    """Scores with their columns in another order than that of the numbers."""
    rows = (f"s{k}," + ",".join(map(repr, row)) for k, row in enumerate(LOGLIK[:, ::-1].tolist()))
    (tmp_path / "scores.csv").write_text("\n".join([",".join(["segment", *NAMES[::-1]]), *rows]) + "\n")
    return tmp_path


def cllr(loglik, label):
    cost = logsumexp(loglik, axis=1) - loglik[np.arange(len(label)), label]
    return np.mean([cost[label == k].mean() for k in range(loglik.shape[1])]) / np.log(2)


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_more_than_ten_classes_are_counted_not_sorted_as_words(folder, ending):
    key = folder / f"key.{ending}"
    if ending == "npy":
        np.save(key, LABEL)
    elif ending == "csv":
        key.write_text("segment,class\n" + "".join(f"s{k},{label}\n" for k, label in enumerate(LABEL)))
    else:
        pq.write_table(pa.table({"segment": [f"s{k}" for k in range(240)], "class": LABEL}), key)
    (found,) = evaluate_files(folder / "scores.csv", key, classes=NAMES, by_order=ending == "npy").systems
    assert found.cllr == pytest.approx(cllr(LOGLIK, LABEL), rel=1e-12)


def test_a_column_of_numbers_in_a_frame():
    frame = {**dict(zip(NAMES, LOGLIK.T, strict=True)), "class": LABEL}
    assert deciban.evaluate_classes(frame, classes=NAMES).cllr == pytest.approx(cllr(LOGLIK, LABEL), rel=1e-12)


@pytest.mark.parametrize(
    ("numbers", "error", "words"),
    [
        (LABEL + 1, KeyMismatchError, "has scores for"),
        (LABEL * 2, KeyMismatchError, "counted from 0, but 12 classes are named"),
        (LABEL.astype(object) * 10**30, KeyMismatchError, "has scores for"),
        (np.where(LABEL == 5, 6, LABEL), InputError, "class 'c5': no segment has this class"),
    ],
    ids=["from 1", "too many", "beyond integers", "one is lacking"],
)
def test_numbers_that_count_no_classes(folder, numbers, error, words):
    (folder / "key.csv").write_text("segment,class\n" + "".join(f"s{k},{one}\n" for k, one in enumerate(numbers)))
    with pytest.raises(error, match=words):
        evaluate_files(folder / "scores.csv", folder / "key.csv", classes=NAMES)
