"""Tables of labels and numbers as machine learning writes them: read at once, whatever the columns are called."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from scipy.special import softmax

from deciban import metrics, multiclass

RNG = np.random.default_rng(5)
LABEL = RNG.integers(0, 2, 60)
PROB = (1 / (1 + np.exp(-RNG.normal(2.0 * LABEL - 1)))).round(6)
CLASS = RNG.integers(0, 4, 80)
POINTS = RNG.normal(size=(80, 4)).round(4) + 2.0 * np.eye(4)[CLASS]


def write_tsv(table, path):
    pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(delimiter="\t"))


def write_json_lines(table, path):
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))


WRITERS = {
    ".csv": pyarrow.csv.write_csv,
    ".tsv": write_tsv,
    ".parquet": pq.write_table,
    ".feather": pyarrow.feather.write_feather,
    ".jsonl": write_json_lines,
}

HEADERS = (
    *("llr", "match_score", "y_proba", "prob", "proba", "probability", "p", "pred", "prediction", "y_pred", "y_hat"),
    *("logit", "logits", "similarity", "sim", "cosine", "distance", "confidence", "output", "decision", "lr", "LR"),
    *("log_lr", "loglr", "log10lr"),
)
"""Header words beside a label that users have."""


def cllr(tar, non):
    """Cllr in bits, also of scores that are no llrs."""
    return (np.logaddexp(0, -tar).mean() + np.logaddexp(0, non).mean()) / (2 * np.log(2))


@pytest.fixture
def evaluated(run, tmp_path, monkeypatch):
    """Evaluates columns that are written in a format, and returns the results with what was printed beside them."""
    monkeypatch.chdir(tmp_path)

    def evaluate(columns, *words, ending=".csv"):
        WRITERS[ending](pa.table(columns), f"x{ending}")
        code, out, err = run("eval", f"x{ending}", "--json", *words)
        assert code == 0, err
        return json.loads(out)["systems"][0], err

    return evaluate


@pytest.mark.parametrize(
    ("ending", "header"), [*((ending, "prob") for ending in WRITERS), (".csv", "similarity"), (".csv", "whatever")]
)
def test_a_label_and_one_column_of_numbers(evaluated, ending, header):
    found, err = evaluated({"label": LABEL, header: PROB}, ending=ending)
    assert found["eer"] == pytest.approx(metrics.eer(PROB[LABEL == 1], PROB[LABEL == 0]))
    assert f"score='{header}'" in err
    assert any("All scores lie in [0, 1]" in note for note in found["notes"])


@pytest.mark.parametrize("header", HEADERS)
def test_every_header_of_the_only_numbers_is_that_of_the_score_in_every_format(evaluated, header):
    values = {"lr": PROB / (1 - PROB), "LR": PROB / (1 - PROB)}.get(header, PROB)
    others = [*WRITERS][1:]
    endings = (".csv", others[HEADERS.index(header) % len(others)])
    found = [evaluated({"label": LABEL, header: values}, ending=ending)[0] for ending in endings]
    assert found[0]["eer"] == pytest.approx(metrics.eer(PROB[LABEL == 1], PROB[LABEL == 0]))
    assert all(one["cllr"] == found[0]["cllr"] and one["notes"] == found[0]["notes"] for one in found)
    llr = np.log(values) if header in ("lr", "LR") else values * (np.log(10) if "log10" in header else 1.0)
    assert found[0]["cllr"] == pytest.approx(cllr(llr[LABEL == 1], llr[LABEL == 0]))
    is_noted = any("lie in [0, 1]" in note for note in found[0]["notes"])
    assert is_noted == (header not in ("lr", "LR", "log10lr"))


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("header", ["class", "target", "y"])
def test_headers_that_may_be_labels_are_if_their_words_are(evaluated, run, ending, header):
    """Also in tables that are sorted by it, and in columns of floats."""
    order = np.repeat([1, 0], 300)
    score = RNG.normal(order)
    labels = (order, order[::-1], order.astype(float), np.array(["nontarget", "target"])[order])
    for label in labels if ending == ".csv" else labels[len(ending) % 2 :: 2]:
        right = label == ("target" if label.dtype.kind == "U" else 1)
        found, err = evaluated({header: label, "prob": score}, ending=ending)
        assert found["n_tar"] == 300
        assert found["cllr"] == pytest.approx(cllr(score[right], score[~right]))
        assert f"label='{header}' score='prob'" in err or f"score='prob' label='{header}'" in err
    WRITERS[ending](pa.table({header: np.arange(600) % 3, "prob": score}), f"x{ending}")
    assert run("eval", f"x{ending}")[0] == 2


@pytest.mark.parametrize(
    ("ending", "header"),
    [*zip(WRITERS, ("is_fraud", "gt", "ground_truth", "is_match", "is_fraud"), strict=True), (".csv", "gt")],
)
def test_other_headers_of_labels(evaluated, ending, header):
    found, err = evaluated({header: LABEL, "prob": PROB}, ending=ending)
    assert found["n_tar"] == LABEL.sum()
    assert f"label='{header}'" in err


@pytest.mark.parametrize(
    ("values", "words"),
    [([f"{100 * one:.2f}%" for one in PROB], "is not a valid number"), (100 * PROB, "outside [0, 1]")],
    ids=["signs", "numbers"],
)
def test_percentages_are_named(run, tmp_path, monkeypatch, values, words):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(pa.table({"label": LABEL, "prob": values}), "x.csv")
    code, _, err = run("eval", "x.csv", "--probabilities", "0.5")
    assert code == 2
    assert words in err
    assert "ivide percentages by 100" in err


@pytest.mark.parametrize("columns", ["label,prob", "prob"])
def test_columns_may_be_listed_by_their_names(evaluated, columns):
    found, _ = evaluated({"label": LABEL, "prob": PROB, "logit": np.log(PROB)}, "--columns", columns)
    assert found["n_tar"] == LABEL.sum()


@pytest.mark.parametrize("words", [("yes", "no"), ("Hp", "Hd"), ("KM", "KNM"), ("genuine", "forged"), ("live", "fake")])
def test_words_of_other_fields(evaluated, words):
    found, _ = evaluated({"label": np.where(LABEL == 1, *words), "pred": PROB})
    assert found["n_tar"] == LABEL.sum()


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize(
    ("names", "label"),
    [
        ([f"class_{at}" for at in range(4)], CLASS),
        ([f"class_{at}" for at in range(4)], np.array([f"class_{at}" for at in range(4)])[CLASS]),
        ([str(at) for at in range(4)], CLASS),
        (["a", "b", "c", "d"], CLASS),
        (["p_a", "p_b", "p_c", "p_d"], np.array(["a", "b", "c", "d"])[CLASS]),
        (["p1", "p2", "p3", "p4"], CLASS + 1),
        (["a", "b", "c", "d"], CLASS.astype(float)),
    ],
    ids=["numbered", "named", "numbers", "in order", "shared", "from 1", "floats"],
)
def test_many_columns_of_numbers_and_a_label_are_classes(evaluated, ending, names, label):
    columns = {name: POINTS[:, at] for at, name in enumerate(names)}
    headers = ("label", "target", "y", "class", "y_true")
    for header in headers[len(names[0]) % 4 :][:2] if ending == ".csv" else headers[len(ending) % 5 :][:1]:
        found, _ = evaluated(columns | {header: label}, ending=ending)
        assert found["cllr"] == pytest.approx(multiclass.cllr(POINTS, CLASS))


@pytest.mark.parametrize("ending", WRITERS)
def test_probabilities_of_many_classes_and_a_label(evaluated, ending):
    posterior = softmax(POINTS, axis=1)
    columns = {f"prob_{name}": posterior[:, at] for at, name in enumerate("abcd")}
    found, _ = evaluated(columns | {"label": np.array([*"abcd"])[CLASS]}, "--probabilities", "flat", ending=ending)
    assert found["cllr"] == pytest.approx(multiclass.cllr(POINTS, CLASS))


def test_features_beside_a_target_are_no_scores(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(
        pa.table({f"f{name}": POINTS[:, at] for at, name in enumerate("abcd")} | {"target": CLASS % 3}), "x.csv"
    )
    code, _, err = run("eval", "x.csv")
    assert code == 2
    assert "does not contain the classes" in err


@pytest.mark.parametrize("memory", [(), ("--memory", "105MB")])
def test_classes_that_are_no_whole_numbers_are_named_by_their_row(run, tmp_path, monkeypatch, memory):
    monkeypatch.chdir(tmp_path)
    table = {name: POINTS[:, at] for at, name in enumerate("abcd")} | {
        "label": np.where(np.arange(80) == 7, 0.5, CLASS)
    }
    pq.write_table(pa.table(table), "x.parquet")
    code, _, err = run("eval", "x.parquet", *memory)
    assert code == 2
    assert "x.parquet, row 7: class 0.5 is neither an integer nor a name" in err


def test_the_prediction_beside_numbered_classes_is_no_class(evaluated):
    table = {f"class_{at}": POINTS[:, at] for at in range(4)} | {"pred": POINTS.argmax(axis=1), "label": CLASS}
    assert evaluated(table)[0]["classes"] == ["class_0", "class_1", "class_2", "class_3"]


def test_of_two_probabilities_that_of_the_target_is_offered(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"prob_0": 1 - PROB, "prob_1": PROB, "label": LABEL})
    for ending, write in WRITERS.items():
        write(table, f"two{ending}")
        code, _, err = run("eval", f"two{ending}")
        assert code == 2
        assert [line for line in err.splitlines() if "--columns " in line][-1].endswith("score=prob_1,label=label")


def test_columns_of_unknown_meaning_are_asked_for_by_role(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(pa.table({"label": LABEL, "prob": PROB, "logit": PROB}), "x.csv")
    code, _, err = run("eval", "x.csv", "--columns", "label,prob,logit")
    assert code == 2
    assert "--columns label=label,score=prob." in err
