"""Metrics of classifier papers on request: values of scikit-learn, standard errors of a jackknife, and the command."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn import metrics as of_sklearn

import deciban
from deciban import metrics
from deciban.errors import InputError
from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.saved import read_saved

RNG = np.random.default_rng(4)
UNITS = np.repeat(np.arange(40), 10)
LABEL = RNG.random(400) < 0.3
SCORE = RNG.normal(1.5 * LABEL) + RNG.normal(0, 0.4, 40)[UNITS] - 0.5
ASKED = TwoClassMetrics(classifier=True)


def found(rows=slice(None), **units):
    label, score = LABEL[rows], SCORE[rows]
    return evaluate(score[label], score[~label], operating_points=ASKED, **units)


@pytest.fixture(scope="module")
def whole():
    return found(tar_units=UNITS[LABEL], non_units=UNITS[~LABEL])


def test_values_are_those_of_scikit_learn(whole):
    (values,) = whole.requested.classifier
    share = LABEL.mean()
    chance = expit(SCORE + logit(share))
    decided = chance >= 0.5
    precision, recall = (one[:-1] for one in of_sklearn.precision_recall_curve(LABEL, SCORE)[:2])
    expected = {
        "p_target": share,
        "accuracy": of_sklearn.accuracy_score(LABEL, decided),
        "balanced_accuracy": of_sklearn.balanced_accuracy_score(LABEL, decided),
        "f1": of_sklearn.f1_score(LABEL, decided),
        "matthews": of_sklearn.matthews_corrcoef(LABEL, decided),
        "youden": of_sklearn.balanced_accuracy_score(LABEL, decided, adjusted=True),
        "best_f1": max(2 / (1 / precision + 1 / recall)),
        "average_precision": of_sklearn.average_precision_score(LABEL, SCORE),
        "ece": metrics.ece(SCORE[LABEL], SCORE[~LABEL], prior=share),
        "ace": metrics.ece(SCORE[LABEL], SCORE[~LABEL], prior=share, scheme="mass"),
        "mce": metrics.mce(SCORE[LABEL], SCORE[~LABEL], prior=share),
        "smooth_ece": metrics.smooth_ece(SCORE[LABEL], SCORE[~LABEL], prior=share),
        "sample_log_loss": of_sklearn.log_loss(LABEL, chance),
        "sample_brier": of_sklearn.brier_score_loss(LABEL, chance),
    }
    assert values == pytest.approx(expected, rel=1e-12)


def test_standard_errors_are_those_of_leaving_units_out(whole):
    """At the share of targets of all trials: units do not change the share that metrics refer to."""
    share = LABEL.mean()

    def at_share(rows):
        label, score = LABEL[rows], SCORE[rows]
        weights = np.where(label, share / label.mean(), (1 - share) / (1 - label.mean()))
        chance = expit(score + logit(share))
        given = {"sample_weight": weights}
        return {
            "accuracy": of_sklearn.accuracy_score(label, chance >= 0.5, **given),
            "f1": of_sklearn.f1_score(label, chance >= 0.5, **given),
            "matthews": of_sklearn.matthews_corrcoef(label, chance >= 0.5, **given),
            "youden": of_sklearn.balanced_accuracy_score(label, chance >= 0.5, adjusted=True, **given),
            "average_precision": of_sklearn.average_precision_score(label, score, **given),
            "sample_brier": of_sklearn.brier_score_loss(label, chance, **given),
        }

    without = [at_share(unit != UNITS) for unit in range(40)]
    for name in without[0]:
        values = np.array([one[name] for one in without])
        error = np.sqrt(39 / 40 * ((values - values.mean()) ** 2).sum())
        assert whole.interval((name, 0)).standard_error == pytest.approx(error, rel=0.1), name


def test_a_class_without_errors_gives_no_interval_of_decisions():
    tar, non = np.linspace(-1, 9, 120), np.linspace(-9, -8, 300)
    units = {"tar_units": np.arange(120) // 3, "non_units": np.arange(300) // 10}
    one = evaluate(tar, non, operating_points=ASKED, **units)
    assert one.requested.classifier[0]["accuracy"] < 1.0
    assert ("accuracy", 0) not in one.estimates


def test_json_has_bounds_and_requirements_can_name_them(whole, tmp_path):
    from deciban.evaluation import Results

    (tmp_path / "r.json").write_text(Results((whole,)).to_json())
    (saved,) = read_saved(tmp_path / "r.json")
    value = saved.metric("average_precision")
    assert value.low < value.value < value.high
    assert saved.metric("ece").low is None
    rows = {row.metric: row for row in whole.metrics if row.place.startswith("p_target 0.")}
    assert rows["f1"].low == saved.metric("f1").low


def test_the_command_prints_two_tables_and_refuses_scores_beyond_memory(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{int(one)},{score:.4f},{unit}" for one, score, unit in zip(LABEL, SCORE, UNITS, strict=True)]
    (tmp_path / "s.csv").write_text("\n".join(["label,score,speaker", *rows]) + "\n")
    code, out, _ = run("eval", "s.csv", "--classifier", "--units", "speaker", "-q")
    assert code == 0
    assert "average precision" in out
    assert "smooth ECE" in out
    assert run("report", "s.csv", "--classifier", "-o", "page.html", "-q")[0] == 0
    assert (tmp_path / "page.html").read_text().count("Metrics of classifier papers, table") == 2
    printed = json.loads(run("eval", "s.csv", "--classifier", "--json")[1])
    assert printed["systems"][0]["classifier"][0]["accuracy"] == pytest.approx(
        found().requested.classifier[0]["accuracy"]
    )


def test_files_with_too_many_scores_are_refused_before_they_are_read(run, tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from deciban.workflows.reading import inputs

    n = 2_000_000
    (tmp_path / "a.txt").write_text(
        "trial,score,label\n" + "".join(["t,0.125,target\n", "u,-0.25,nontarget\n"] * (n // 2))
    )
    pq.write_table(pa.table({"score": np.zeros(n), "label": np.arange(n) % 2 == 0}), tmp_path / "a.parquet")

    def not_called(*_args, **_kw):
        raise AssertionError

    monkeypatch.setattr(inputs, "open_source", not_called)
    for name in ("a.txt", "a.parquet"):
        with pytest.raises(
            InputError, match=r"classifier: these metrics need all scores in memory, which takes \d\d\d MB"
        ):
            deciban.evaluate_files(tmp_path / name, memory="200MB", classifier=True)
        assert "which takes" in run("eval", str(tmp_path / name), "--classifier", "--memory", "200MB")[2]


def test_counts_of_merged_scores_are_refused():
    from dataclasses import replace

    from deciban.core.ranks.roc import CoarseTable
    from deciban.evaluation import summarize
    from deciban.evaluation.metrics import requested_of

    summary = summarize(SCORE[LABEL], SCORE[~LABEL], metrics=ASKED)
    ranks = summary.ranks
    table = CoarseTable(
        *(getattr(ranks.table, name) for name in ("n_tar", "n_non", "tar_entries", "non_entries", "tar", "non")), None
    )
    merged = replace(summary, ranks=type(ranks).of_sorted(ranks.tar, ranks.non, table=table))
    with pytest.raises(InputError, match="classifier: these metrics need all scores in memory"):
        requested_of(merged)
