"""Tables of labels and numbers as machine learning writes them: read at once, whatever the columns are called."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from deciban import metrics, multiclass

RNG = np.random.default_rng(5)
LABEL = RNG.integers(0, 2, 60)
PROB = (1 / (1 + np.exp(-RNG.normal(2.0 * LABEL - 1)))).round(6)
CLASS = RNG.integers(0, 4, 80)
POINTS = RNG.normal(size=(80, 4)).round(4) + 2.0 * np.eye(4)[CLASS]
WRITERS = {".csv": pyarrow.csv.write_csv, ".parquet": pq.write_table, ".feather": pyarrow.feather.write_feather}


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


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("header", ["prob", "similarity", "whatever"])
def test_a_label_and_one_column_of_numbers(evaluated, ending, header):
    found, err = evaluated({"label": LABEL, header: PROB}, ending=ending)
    assert found["eer"] == pytest.approx(metrics.eer(PROB[LABEL == 1], PROB[LABEL == 0]))
    assert f"score='{header}'" in err
    assert any("All scores lie in [0, 1]" in note for note in found["notes"])


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("header", ["gt", "ground_truth", "is_match", "is_fraud"])
def test_other_headers_of_labels(evaluated, ending, header):
    found, err = evaluated({header: LABEL, "prob": PROB}, ending=ending)
    assert found["n_tar"] == LABEL.sum()
    assert f"label='{header}'" in err


@pytest.mark.parametrize(
    ("values", "words"),
    [([f"{100 * one:.2f}%" for one in PROB], "is not a number as it is read"), (100 * PROB, "outside [0, 1]")],
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
    ],
    ids=["numbered", "named", "numbers", "in order", "shared", "from 1"],
)
def test_many_columns_of_numbers_and_a_label_are_classes(evaluated, ending, names, label):
    table = {name: POINTS[:, at] for at, name in enumerate(names)} | {"label": label}
    found, _ = evaluated(table, ending=ending)
    assert found["cllr"] == pytest.approx(multiclass.cllr(POINTS, CLASS))


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
    assert "--columns label=label,score=prob|logit" in err
