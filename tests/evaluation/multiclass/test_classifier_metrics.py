"""Metrics of classifier papers for several classes: values of scikit-learn, intervals, and the commands."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import softmax
from sklearn import metrics as of_sklearn

import deciban
from deciban import multiclass
from deciban.errors import InputError
from deciban.evaluation import ClassMetrics, Results, evaluate_classes, summarize_classes
from deciban.evaluation.saved import read_saved

RNG = np.random.default_rng(5)
COUNTS = np.array([20, 30, 40, 60, 70, 80, 100])
LABEL = RNG.permutation(np.repeat(np.arange(7), COUNTS))
UNITS = np.arange(400) % 80
LOGLIK = RNG.normal(size=(400, 7)) + 1.5 * np.eye(7)[LABEL] + 0.5 * RNG.normal(size=(80, 7))[UNITS]
WEIGHT = RNG.integers(0, 3, 400)


def found(loglik=LOGLIK, label=LABEL, **more):
    return evaluate_classes(loglik, label, classifier=True, subsets=False, pairs=False, **more)


def expected(loglik, label, weight, share):
    """Values at a given share, by scikit-learn with weights that have these shares."""
    own = weight * (share / np.bincount(label, weight))[label]
    chance = softmax(loglik + np.log(share), axis=1)
    decided, how = chance.argmax(axis=1), {"sample_weight": own}
    errors = np.square(chance - np.eye(len(share))[label]).sum(axis=1)
    return {
        "accuracy": of_sklearn.accuracy_score(label, decided, **how),
        "top_k_accuracy": of_sklearn.top_k_accuracy_score(label, chance, k=min(5, len(share) - 1), **how)
        if len(share) > 2
        else of_sklearn.accuracy_score(label, decided, **how),
        "balanced_accuracy": of_sklearn.balanced_accuracy_score(label, decided, **how),
        "sample_macro_f1": of_sklearn.f1_score(label, decided, average="macro", **how),
        "sample_log_loss": of_sklearn.log_loss(label, chance, **how),
        "sample_brier": np.average(errors, weights=own),
    }


@pytest.fixture(scope="module")
def whole():
    return found(units=UNITS)


@pytest.mark.parametrize("n_classes", [2, 4, 7])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_values_are_those_of_scikit_learn(n_classes, weight):
    kept = n_classes > LABEL
    loglik, label = LOGLIK[kept, :n_classes], LABEL[kept]
    own = np.ones(len(label)) if weight is None else weight[kept]
    share = np.bincount(label, own) / own.sum()
    given = {"sample_weight": None if weight is None else own}
    (values,) = found(loglik, label, **given).requested.classifier
    values = dict(values)
    assert values.pop("k") == min(5, n_classes - 1)
    wanted = expected(loglik, label, own, share)
    for name, kind, scheme in (
        ("ece", "class-wise", "width"),
        ("ace", "class-wise", "mass"),
        ("top_ece", "top-label", "width"),
        ("top_ace", "top-label", "mass"),
    ):
        wanted[name] = multiclass.ece(loglik, label, prior=share, kind=kind, scheme=scheme, **given)
    assert values == pytest.approx(wanted, rel=1e-12)


def test_weights_count_like_copies_and_the_order_of_trials_has_no_effect():
    copies = np.repeat(np.arange(400), WEIGHT)
    (of_weights,) = found(sample_weight=WEIGHT).requested.classifier
    (of_copies,) = found(LOGLIK[copies], LABEL[copies]).requested.classifier
    assert of_weights == pytest.approx(of_copies, rel=1e-12)
    order = RNG.permutation(400)
    assert found(LOGLIK[order], LABEL[order]).requested == found().requested


def test_two_classes_have_the_metrics_of_two_class_scores():
    kept = LABEL < 2
    loglik, label = LOGLIK[kept, :2], LABEL[kept]
    llr = loglik[:, 0] - loglik[:, 1]
    asked = deciban.evaluation.TwoClassMetrics(classifier=True)
    (two,) = deciban.evaluate(llr[label == 0], llr[label == 1], operating_points=asked).requested.classifier
    (several,) = found(loglik, label).requested.classifier
    shared = ["accuracy", "balanced_accuracy", "ece", "ace", "sample_log_loss"]
    assert [several[name] for name in shared] == pytest.approx([two[name] for name in shared], rel=1e-12)
    assert several["top_k_accuracy"] == several["accuracy"]
    assert several["sample_brier"] == pytest.approx(2 * two["sample_brier"], rel=1e-12)  # summed over both classes


def test_standard_errors_are_those_of_leaving_units_out(whole):
    share = COUNTS / 400
    without = [expected(LOGLIK[k != UNITS], LABEL[k != UNITS], np.ones(395), share) for k in range(80)]
    for name in without[0]:
        values = np.array([one[name] for one in without])
        error = np.sqrt(79 / 80 * ((values - values.mean()) ** 2).sum())
        assert whole.interval((name, 0)).standard_error == pytest.approx(error, rel=0.06), name
    assert ("ece", 0) not in whole.estimates


def test_intervals_contain_the_value_of_many_trials():
    label, n_draws = np.repeat(np.arange(3), [20, 40, 60]), 40

    def drawn(n):
        rng, many = np.random.default_rng(n), np.tile(label, n)
        return rng.normal(size=(len(many), 3)) + 1.2 * np.eye(3)[many], many

    true = expected(*drawn(1000), np.ones(120_000), np.array([1, 2, 3]) / 6)
    names = ["accuracy", "balanced_accuracy", "sample_macro_f1", "sample_log_loss", "sample_brier"]
    hits = np.zeros(len(names))
    loglik = drawn(n_draws)[0].reshape(n_draws, 120, 3)
    for one in loglik:
        result = found(one, label, units=np.arange(120))
        limits = [result.interval((name, 0)) for name in names]
        hits += [at.low <= true[name] <= at.high for name, at in zip(names, limits, strict=True)]
    assert np.all(hits >= 0.87 * n_draws), dict(zip(names, hits, strict=True))


def test_replicates_have_the_spread_of_the_linearised_errors():
    drawn = found(units=UNITS, bootstrap=200, seed=3)
    for name in ("accuracy", "sample_macro_f1", "sample_log_loss"):
        values = drawn.uncertainty.bootstrap.values[name, 0]
        error, value = drawn.uncertainty.estimates[name, 0].standard_error, drawn.requested.classifier[0][name]
        assert np.std(values) == pytest.approx(error, rel=0.2), name
        assert abs(np.mean(values) - value) < 0.5 * error, name


def test_perfect_decisions_have_no_intervals_of_costs():
    perfect = found(20.0 * np.eye(7)[LABEL], units=UNITS)
    assert perfect.interval(("accuracy", 0)).low < 1.0
    assert not {("sample_macro_f1", 0), ("sample_log_loss", 0)} & {*perfect.estimates}


def test_requests_that_need_other_trials_are_refused():
    asked = ClassMetrics(classifier=True)
    with pytest.raises(InputError, match="classifier: need all trials at once"):
        summarize_classes(LOGLIK, LABEL, metrics=asked)
    with pytest.raises(InputError, match="groups weight their classes by the prior"):
        found(groups=[[0, 1, 2], [3, 4, 5, 6]])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    names = [f"c{k}" for k in range(7)]
    columns = {name: LOGLIK[:, k] for k, name in enumerate(names)}
    table = pa.table({**columns, "label": np.array(names)[LABEL], "speaker": UNITS})
    pq.write_table(table, folder / "s.parquet")
    (folder / "parts").mkdir()
    for k in range(2):
        pq.write_table(table.slice(200 * k, 200), folder / "parts" / f"{k}.parquet")
    return folder


def test_files_in_parts_have_the_same_values(files, whole):
    for given in (files / "s.parquet", files / "parts", pq.read_table(files / "parts")):
        (one,) = deciban.evaluate_files(given, classifier=True, units="speaker").systems
        assert one.requested.classifier[0] == pytest.approx(whole.requested.classifier[0], rel=1e-14)
        for name in ("accuracy", "sample_macro_f1", "sample_brier"):
            assert one.interval((name, 0)).low == pytest.approx(whole.interval((name, 0)).low, rel=1e-12)


def test_scores_that_do_not_fit_are_refused_with_the_memory_that_they_need(files, monkeypatch):
    from deciban.memory import Cost

    monkeypatch.setattr(Cost, "CLASSIFIER", 10**9)
    with pytest.raises(
        InputError, match=r"classifier: these metrics need all scores in memory, which takes 2,800,\d+ MB"
    ):
        deciban.evaluate_files(pq.read_table(files / "parts"), classifier=True, units="speaker")


def test_commands_print_two_tables_and_the_page_has_them(files, run, monkeypatch, whole):
    monkeypatch.chdir(files)
    code, out, _ = run("eval", "s.parquet", "--classifier", "--units", "speaker", "-q")
    assert code == 0
    assert "top-label ECE" in out
    assert "k = 5" in out
    assert run("report", "s.parquet", "--classifier", "-o", "page.html", "-q")[0] == 0
    assert (files / "page.html").read_text().count("Metrics of classifier papers, table") == 2
    printed = json.loads(run("eval", "s.parquet", "--classifier", "--units", "speaker", "--json")[1])
    (entry,) = printed["systems"][0]["classifier"]
    values = whole.requested.classifier[0]
    assert {name: entry[name] for name in values} == values
    (files / "r.json").write_text(Results((whole,)).to_json())
    (saved,) = read_saved(files / "r.json")
    assert saved.metric("sample_macro_f1").low == whole.interval(("sample_macro_f1", 0)).low
    places = {row.metric: row.place for row in whole.metrics if row.metric in values}
    assert (places["accuracy"], places["top_k_accuracy"]) == ("", "k 5")
