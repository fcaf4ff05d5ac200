"""The commands on scores of many classes."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from deciban import load_model
from deciban.io import read_class_scores
from support.class_files import CLASSES, names, trials, write_key, write_table
from support.many_classes import cross_entropy

pytestmark = pytest.mark.usefixtures("files", "sketches")  # of pages, the words are tested here


def calibrated(loglik, label, prior=None):
    """Scale and offsets of mean 0 by an optimizer that knows nothing of ours."""

    def objective(x):
        return cross_entropy(x[0] * loglik + np.append(x[1:], 0), label, prior)

    best = minimize(objective, np.r_[1.0, np.zeros(loglik.shape[1] - 1)], method="BFGS", options={"gtol": 1e-9}).x
    offset = np.append(best[1:], 0)
    return best[0], offset - offset.mean()


def metrics(out):
    return json.loads(out)["systems"]


@pytest.mark.parametrize(
    "words",
    [
        "sysA.csv --key key.csv",
        "lre.tsv --key lre.key",
        "loglik.npy --key label.npy",
        "loglik.npy --key label.npy --classes cat,dog,eel",
        "sysA.csv --key label.npy --classes cat,dog,eel --by-order",
        "sysA.parquet --key key.csv",
        "both.csv",
        "sysA.csv --key key.csv --classes eel,cat,dog",
        "sysA.csv --key key.csv --kind classes",
    ],
)
def test_eval_gives_the_same_figures_whatever_the_form_of_the_files(words, files, run):
    loglik, label = files
    write_table("both.csv", loglik, more={"class": [CLASSES[k] for k in label]})
    pq.write_table(pa.table({"trial": names(90), **{c: loglik[:, k] for k, c in enumerate(CLASSES)}}), "sysA.parquet")
    code, out, err = run("eval", *words.split(), "--json")
    assert code == 0, err
    assert "90 segments x 3 classes" in err
    assert "90 matched · 0 missing" in err
    (one,) = metrics(out)
    assert one["cllr"] == pytest.approx(cross_entropy(loglik, label) / math.log(2), rel=1e-12)
    assert one["reference"] == pytest.approx(math.log2(3))
    assert one["information"] == pytest.approx(math.log2(3) - one["cllr"])
    scale, offset = calibrated(loglik, label)
    assert one["min_cllr"] == pytest.approx(cross_entropy(scale * loglik + offset, label) / math.log(2), rel=1e-8)
    wrong = np.argmax(loglik, axis=1) != label
    assert one["error_rate"] == pytest.approx(np.mean([wrong[label == k].mean() for k in range(3)]))
    assert sum(map(sum, one["confusion"])) == 90
    assert sorted(one["counts"]) == [30, 30, 30]


def test_eval_names_the_classes_in_their_order(run):
    _, out, _ = run("eval", "sysA.csv", "--key", "key.csv", "--classes", "eel,cat,dog", "--json")
    (one,) = metrics(out)
    assert one["classes"] == ["eel", "cat", "dog"]
    assert [row["target"] for row in one["detectors"]] == ["eel", "cat", "dog"]


def test_eval_at_a_prior(files, run):
    loglik, label = files
    prior = [0.5, 0.25, 0.25]
    for words in ("0.5,0.25,0.25", "2:1:1", "eel=0.25,dog=0.25,cat=0.5"):
        code, out, err = run("eval", "sysA.csv", "--key", "key.csv", "--prior", words, "--json")
        assert code == 0, err
        (one,) = metrics(out)
        assert one["cross_entropy"] == pytest.approx(cross_entropy(loglik, label, prior) / math.log(2), rel=1e-12)
        assert one["prior_entropy"] == pytest.approx(1.5)
        assert one["default_error_rate"] == pytest.approx(0.5)
        wrong = np.argmax(loglik + np.log(prior), axis=1) != label
        assert one["error_rate"] == pytest.approx(sum(p * wrong[label == k].mean() for k, p in enumerate(prior)))


def test_log_posteriors_are_freed_of_their_prior(files, run):
    loglik, label = files
    prior = np.array([0.7, 0.2, 0.1])
    logits = loglik + np.log(prior)
    write_table("posteriors.csv", logits - logsumexp(logits, axis=1, keepdims=True))
    code, out, err = run("eval", "posteriors.csv", "--key", "key.csv", "--json")
    assert code == 0
    (raw,) = metrics(out)
    assert raw["cllr"] == pytest.approx(cross_entropy(logits, label) / math.log(2), rel=1e-10)
    assert "look like log posteriors" in " ".join(raw["notes"])
    code, out, err = run("eval", "posteriors.csv", "--key", "key.csv", "--posterior-prior", "7:2:1", "--json")
    assert code == 0
    (freed,) = metrics(out)
    assert freed["cllr"] == pytest.approx(cross_entropy(loglik, label) / math.log(2), rel=1e-10)
    assert "posteriors" not in " ".join(freed["notes"])
    assert "the logarithms of the prior 0.7, 0.2, 0.1 were subtracted" in err


def test_common_logarithms(files, run):
    loglik, label = files
    write_table("log10.csv", loglik / math.log(10))
    _, out, err = run("eval", "log10.csv", "--key", "key.csv", "--log10", "--json")
    assert metrics(out)[0]["cllr"] == pytest.approx(cross_entropy(loglik, label) / math.log(2), rel=1e-12)
    assert "multiplied by ln 10" in err


def c_avg(loglik, label, p):
    """Average detection cost from its definition: likelihood against the mean likelihood of the others."""
    total = []
    for t in range(3):
        others = [k for k in range(3) if k != t]
        llr = loglik[:, t] - (logsumexp(loglik[:, others], axis=1) - math.log(2))
        accept = llr >= -math.log(p / (1 - p))
        p_fa = np.mean([accept[label == k].mean() for k in others])
        total.append(p * (1 - accept[label == t].mean()) + (1 - p) * p_fa)
    return np.mean(total)


def test_average_detection_cost(files, run):
    loglik, label = files
    _, out, _ = run("eval", "sysA.csv", "--key", "key.csv", "--p-target", "0.5", "--p-target", "0.1", "--json")
    points = metrics(out)[0]["operating_points"]
    for point, p in zip(points, (0.5, 0.1), strict=True):
        assert point["p_target"] == p
        assert point["c_avg"] == pytest.approx(c_avg(loglik, label, p))
        assert point["normalized"] == pytest.approx(point["c_avg"] / p)
        assert point["min_c_avg"] <= point["c_avg"]
    code, out, err = run("eval", "sysA.csv", "--key", "key.csv", "--p-target", "0.5", "--p-target", "0.1", "-q")
    assert (code, err) == (0, "")
    assert re.search(r"sysA +mean +0\.\d{4}", out)


def test_the_last_class_may_be_out_of_set(files, run):
    loglik, label = files
    code, out, err = run("eval", "sysA.csv", "--key", "key.csv", "--out-of-set", "0.2", "--json")
    assert code == 0, err
    (one,) = metrics(out)
    assert [row["target"] for row in one["detectors"]] == ["cat", "dog"]
    costs = []
    for t, other in ((0, 1), (1, 0)):  # by hand: target 0.5, out of set 0.2, the other class 0.3
        rest = np.logaddexp(loglik[:, other] + math.log(0.3), loglik[:, 2] + math.log(0.2)) - math.log(0.5)
        accept = loglik[:, t] - rest >= 0
        rate = [accept[label == k].mean() for k in range(3)]
        costs.append(0.5 * (1 - rate[t]) + 0.3 * rate[other] + 0.2 * rate[2])
    assert one["operating_points"][0]["c_avg"] == pytest.approx(np.mean(costs))
    assert np.mean([row["cost"] for row in one["detectors"]]) == pytest.approx(np.mean(costs))


def test_subsets_come_by_size(files, run):
    loglik, label = files
    _, out, _ = run("eval", "sysA.csv", "--key", "key.csv", "--json")
    subsets = metrics(out)[0]["subsets"]
    assert subsets["n"] == 4
    pairs = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        first = loglik[:, i] >= loglik[:, j]
        second = loglik[:, j] >= loglik[:, i]
        miss = [1 - first[label == i].mean(), 1 - second[label == j].mean()]
        alarm = [first[label == j].mean(), second[label == i].mean()]
        pairs.append(np.mean([0.5 * m + 0.5 * a for m, a in zip(miss, alarm, strict=True)]))
    assert subsets["mean_by_size"]["2"] == pytest.approx(np.mean(pairs))
    assert subsets["mean_by_size"]["3"] == pytest.approx(c_avg(loglik, label, 0.5))
    _, out, _ = run("eval", "sysA.csv", "--key", "key.csv", "--no-subsets", "--json")
    assert metrics(out)[0]["subsets"] is None


def test_tables_of_one_and_of_several_systems(run):
    code, out, err = run("eval", "sysA.csv", "sysB.csv", "--key", "key.csv")
    assert code == 0, err
    assert re.search(r"^sysA +\d", out, re.MULTILINE)
    assert re.search(r"^dog +30 +error rate +\d+\.\d\d % .* \d+\.\d\d % ", out, re.MULTILINE)
    code, out, _ = run("eval", "sysB.csv", "--key", "key.csv")
    assert "offsets alone would save" in out
    assert "most frequent confusions" in out
    assert "pairs" not in out
    _, out, _ = run("eval", "sysB.csv", "--key", "key.csv", "--no-pairs")
    assert "3 pairs of classes are not evaluated: --pairs adds them" in out


def test_pairs_of_many_classes_are_left_out_with_a_word(run):
    """A hundred and one classes: 101 times 100 / 2 pairs, which are there for whoever asks for them."""
    np.save("many.npy", 5.0 * np.eye(101, dtype=np.float32))
    np.save("labels.npy", np.arange(101))
    _, out, err = run("eval", "many.npy", "--key", "labels.npy")
    assert "5,050 pairs of classes are not evaluated: --pairs adds them" in out, err
    _, out, _ = run("eval", "many.npy", "--key", "labels.npy", "--pairs", "--json")
    assert metrics(out)[0]["pairwise"] is not None


def test_weights_count_like_copies(files, run):
    loglik, label = files
    weight = np.arange(90) % 4
    write_key("weighted.csv", label, more={"w": weight})
    rows = np.repeat(np.arange(90), weight)
    write_table("copies.csv", loglik[rows], called=names(len(rows)))
    write_key("copies.key", label[rows], called=names(len(rows)))
    _, out, _ = run("eval", "sysA.csv", "--key", "weighted.csv", "--weights", "w", "--json")
    one = metrics(out)[0]
    _, out, _ = run("eval", "copies.csv", "--key", "copies.key", "--no-subsets", "--json")
    other = metrics(out)[0]
    assert one["counts"] == other["counts"]
    assert one["confusion"] == other["confusion"]
    for name in ("cllr", "min_cllr", "error_rate", "brier"):
        assert one[name] == pytest.approx(other[name], rel=1e-9)
    for a, b in zip(one["detectors"], other["detectors"], strict=True):
        assert a["eer"] == pytest.approx(b["eer"])
        assert a["min_cllr"] == pytest.approx(b["min_cllr"], rel=1e-9)


def test_missing_segments(files, run):
    loglik, label = files
    write_table("short.csv", loglik[:80])
    assert run("eval", "short.csv", "--key", "key.csv")[0] == 2
    code, out, err = run("eval", "short.csv", "--key", "key.csv", "--missing", "drop", "--json")
    assert code == 0
    assert json.loads(out)["join"] == {"matched": 80, "missing": 10, "extra": 0, "duplicate": 0}
    assert metrics(out)[0]["cllr"] == pytest.approx(cross_entropy(loglik[:80], label[:80]) / math.log(2))
    code, out, err = run("eval", "short.csv", "--key", "key.csv", "--missing", "fill=0", "--json")
    filled = np.vstack((loglik[:80], np.zeros((10, 3))))
    assert metrics(out)[0]["cllr"] == pytest.approx(cross_entropy(filled, label) / math.log(2))
    assert "segments without scores got 0 for every class" in err


def test_segments_that_the_first_file_of_a_fusion_lacks_are_counted_once(files, run):
    loglik, _ = files
    write_table("sysC.csv", loglik + np.random.default_rng(3).normal(size=loglik.shape))
    words = "sysA.csv sysB.csv sysC.csv --key key.csv -o fusion.json"
    assert run("fuse", *words.split())[0] == 0
    write_table("sysA.csv", loglik[:80])
    code, _, err = run("apply", "fusion.json", "sysA.csv", "sysB.csv", "sysC.csv", "-o", "out.csv")
    assert code == 0, err
    assert "warn  10 segments left out, because sysA.csv does not have them" in err.splitlines()
    assert len(Path("out.csv").read_text().splitlines()) == 81


def test_infinite_scores_are_words(files, run):
    loglik, label = files
    loglik = loglik.copy()
    loglik[0, label[0]] = -np.inf
    write_table("inf.csv", loglik)
    code, out, err = run("eval", "inf.csv", "--key", "key.csv", "--json")
    assert code == 0, err
    (one,) = metrics(out)
    assert one["cllr"] == "inf"
    assert any("Cllr is infinite" in note for note in one["notes"])
    assert "NaN" not in out


def test_calibrate_finds_the_optimum_and_apply_writes_it(files, run):
    loglik, label = files
    test, test_label = trials(seed=5)
    write_table("eval.csv", test, more={"speaker": [f"s{i % 7}x" for i in range(90)]})
    write_key("eval.key", test_label)
    words = "sysA.csv --key key.csv -o model.json --prior 0.5,0.25,0.25 --cross-validate 5"
    code, out, err = run("calibrate", *words.split())
    assert code == 0, err
    assert "sysA (calibrated)" in out
    assert "because it was trained on these trials: expect those of 'sysA (cross-validated)'" in out
    scale, offset = calibrated(loglik, label, [0.5, 0.25, 0.25])
    model = load_model("model.json")
    assert model.scale_ == pytest.approx(scale, rel=1e-5)
    np.testing.assert_allclose(model.offset_, offset, atol=1e-5)
    assert model.classes_ == CLASSES
    assert model.training_.systems == ("sysA",)
    code, _, err = run("apply", "model.json", "eval.csv", "-o", "out.csv")
    assert code == 0, err
    assert "trained on 90 segments, 3 classes" in err
    found = read_class_scores("out.csv")
    np.testing.assert_allclose(found.score, scale * test + offset, atol=1e-4)
    assert found.trials.column("trial").to_pylist() == names(90)
    assert found.trials.condition("speaker").to_pylist()[:3] == ["s0x", "s1x", "s2x"]


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ("--method scale --ridge 0.5", "MulticlassScaleCalibrator(prior=None, ridge=0.5)"),
        ("--method shift --prior 2:1:1", "MulticlassShiftCalibrator(prior=[0.5, 0.25, 0.25])"),
        (
            "--method gaussian --separate-variances",
            "GaussianBackend(covariance='separate', smoothing=0.5, ridge=0.0, prior=None)",
        ),
        (
            "--method gaussian --smoothing 0.25",
            "GaussianBackend(covariance='smoothed', smoothing=0.25, ridge=0.0, prior=None)",
        ),
        ("--method class-matrix --ridge 0.1", "MatrixTransformation(prior=None, ridge=0.1, toward_calibration=0.0)"),
        (
            "--method class-scale --toward-calibration 0.5",
            "ClassScaleTransformation(prior=None, ridge=0.0, toward_calibration=0.5)",
        ),
        (
            "--method pav --bound 3 --interpolation step",
            "DetectionPavTransformation(prior=None, interpolation='step', smoothing=1.0, bound=3.0)",
        ),
    ],
)
def test_methods_and_their_options(words, model, files, run):
    loglik, _ = files
    code, out, err = run("calibrate", "sysA.csv", "--key", "key.csv", "-o", "model.json", *words.split())
    assert code == 0, err
    assert (
        "sysA (calibrated)" if model.endswith("Calibrator", None, model.index("(")) else "sysA (transformed)"
    ) in out
    assert repr(load_model("model.json")) == model
    code, _, err = run("apply", "model.json", "sysA.csv", "-o", "out.csv")
    assert code == 0, err
    np.testing.assert_array_equal(read_class_scores("out.csv").score, load_model("model.json").transform(loglik))
    assert run("report", "sysA.csv", "--key", "key.csv", "--model", "model.json", "-o", "r.html", "-q")[0] == 0


def test_classes_are_matched_with_those_of_training_by_name(run):
    run("calibrate", "sysA.csv", "--key", "key.csv", "-o", "model.json")
    test, _ = trials(seed=5)
    write_table("eval.csv", test)
    write_table("turned.csv", test[:, [2, 0, 1]], header=("eel", "cat", "dog"))
    np.save("eval.npy", test)
    outs = {}
    for file in ("eval.csv", "turned.csv", "eval.npy"):
        out = f"out-{file}"
        code, _, err = run("apply", "model.json", file, "-o", out)
        assert code == 0, err
        outs[file] = read_class_scores(out)
    np.testing.assert_array_equal(outs["turned.csv"].of_classes(CLASSES).score, outs["eval.csv"].score)
    assert outs["turned.csv"].classes == ("eel", "cat", "dog")
    np.testing.assert_array_equal(outs["eval.npy"].score, outs["eval.csv"].score)
    assert "classes in the order of training: cat, dog, eel" in err


def test_cross_validated_log_likelihoods(files, run):
    loglik, label = files
    write_key("speakers.csv", label, more={"speaker": [f"s{i // 15}" for i in range(90)]})
    words = "sysA.csv --key speakers.csv -o model.json --cross-validate speaker:6 --llrs llr.csv"
    code, _, err = run("calibrate", *words.split())
    assert code == 0, err
    llr = read_class_scores("llr.csv").score
    for i in range(6):  # as many parts as speakers: each is left out in turn
        inside = np.arange(90) // 15 == i
        scale, offset = calibrated(loglik[~inside], label[~inside])
        np.testing.assert_allclose(llr[inside], scale * loglik[inside] + offset, atol=1e-4)


def test_models_remember_the_prior_that_was_in_the_posteriors(files, run):
    loglik, label = files
    posterior = loglik + np.log([0.5, 0.25, 0.25])
    write_table("posteriors.csv", posterior)
    words = "posteriors.csv --key key.csv -o model.json --posterior-prior 2:1:1"
    assert run("calibrate", *words.split())[0] == 0
    code, _, err = run("apply", "model.json", "posteriors.csv", "-o", "out.csv")
    assert code == 2
    assert "--posterior-prior cat=0.5,dog=0.25,eel=0.25" in " ".join(err.split())
    code, _, err = run("apply", "model.json", "posteriors.csv", "-o", "out.csv", "--posterior-prior", "2:1:1")
    assert code == 0, err
    scale, offset = calibrated(loglik, label)
    np.testing.assert_allclose(read_class_scores("out.csv").score, scale * loglik + offset, atol=1e-4)
    run("calibrate", "sysA.csv", "--key", "key.csv", "-o", "other.json")
    code, _, err = run("apply", "other.json", "posteriors.csv", "-o", "out2.csv", "--posterior-prior", "2:1:1")
    assert code == 2
    assert "scores without it" in err


def test_report_shows_classes_before_and_after(run):
    assert run("calibrate", "sysA.csv", "--key", "key.csv", "-o", "model.json")[0] == 0
    words = "sysB.csv --key key.csv --train sysA.csv --train-key key.csv --model model.json -o r.html"
    code, out, err = run("report", *words.split())
    assert code == 0, err
    page = Path("r.html").read_text()
    for text in (
        "sysB (calibrated)",
        "<h3>Training</h3>",
        "Most frequent confusions",
        "offset of dog",
        "Pairs of classes",
    ):
        assert text in page
    assert page.count("<img ") == 2  # the parameters of the model; scripts draw all charts of results
    assert "wrote r.html" in out
    code, _, err = run("report", "sysA.csv", "sysB.csv", "--key", "key.csv", "-o", "two.html", "-q")
    assert code == 0, err
    assert all(line.startswith(("sysA", "sysB")) for line in err.splitlines())  # notes on the meaning of numbers


def test_plots_of_classes(run):
    for kind in ("confusion", "class-losses", "pairwise-loss", "class-ape", "c-avg-curve", "subset-c-avg"):
        code, _, err = run("plot", kind, "sysA.csv", "--key", "key.csv", "-o", f"{kind}.svg")
        assert code == 0, err
        assert Path(f"{kind}.svg").read_text().startswith("<?xml")
    code, _, err = run("plot", "det", "sysA.csv", "--key", "key.csv", "-o", "det.svg")
    assert code == 2
    assert "is no plot of multiclass scores" in " ".join(err.split())


AMBIGUOUS = "trial,eng_score,fra_score\na,2,1\nb,0,1\nc,1,0\n"


def test_what_could_be_either_is_decided_by_the_key_or_by_name(run):
    Path("either.csv").write_text(AMBIGUOUS)
    Path("two.key").write_text("trial,label\na,target\nb,nontarget\nc,nontarget\n")
    Path("many.key").write_text("trial,class\na,eng_score\nb,fra_score\nc,fra_score\n")
    code, out, err = run("eval", "either.csv", "--key", "two.key", "--json")
    assert code == 0, err
    assert "n_tar" in metrics(out)[0]
    code, out, err = run("eval", "either.csv", "--key", "many.key", "--json")
    assert code == 0, err
    assert metrics(out)[0]["classes"] == ["eng_score", "fra_score"]
    Path("none.key").write_text("trial,label,class\na,target,eng_score\nb,nontarget,fra_score\nc,nontarget,fra_score\n")
    code, out, err = run("eval", "either.csv", "--key", "none.key")
    assert code == 2
    assert "Set the kind, name the classes (--classes), or choose a column" in " ".join(err.split())
    for words, field in (
        ("--kind two-class", "n_tar"),
        ("--kind classes", "classes"),
        ("--classes eng_score,fra_score", "classes"),
    ):
        code, out, err = run("eval", "either.csv", "--key", "none.key", *words.split(), "--json")
        assert code == 0, err
        assert field in metrics(out)[0]


def test_groups_of_classes(files, run):
    loglik, label = files
    land = logsumexp(loglik[:, :2], axis=1) - math.log(2)
    expected = cross_entropy(np.column_stack((land, loglik[:, 2])), np.array([0, 0, 1])[label], [0.5, 0.5])
    asked = ("sysA.csv", "--key", "key.csv", "--group", "land=cat,dog", "--group", "sea=eel")
    code, out, err = run("eval", *asked, "--json")
    assert code == 0, err
    (found,) = metrics(out)
    assert found["classes"] == ["land", "sea"]
    assert found["counts"] == [60, 30]
    assert found["cllr"] == pytest.approx(expected / math.log(2), rel=1e-12)  # cats and dogs are equally many
    assert run("report", *asked, "-o", "page.html")[0] == 0
    assert "land = cat, dog; sea = eel" in Path("page.html").read_text()
    assert run("plot", "confusion", *asked, "-o", "confusion.svg")[0] == 0


@pytest.mark.usefixtures("files")
def test_the_prior_at_which_most_is_told(run):
    code, out, _ = run("eval", "sysA.csv", "--key", "key.csv", "--capacity", "-q")
    assert code == 0
    assert re.search(r"at the best prior: \d\.\d+ bits after calibration \((cat|dog|eel) [\d.]+, ", out)
    (one,) = json.loads(run("eval", "sysA.csv", "--key", "key.csv", "--capacity", "--json", "-q")[1])["systems"]
    assert one["capacity"]["bits"] >= one["information_at"][0]["available"] - 1e-9
    assert sum(one["capacity"]["prior"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "caption"),
    [
        ("", "equal priors (C_avg: target prior 0.5); without scores: Cllr 1.585 bits, error rate 66.7 %"),
        ("--prior a=0.5,b=0.3,c=0.2", "cross-entropy at prior a 0.5, b 0.3, c 0.2 (C_avg: target prior 0.5); without"),
        (
            "--group ab=a,b --group c=c",
            "error rate, Brier and cross-entropy at prior ab 0.667, c 0.333 (C_avg: target prior 0.5); without scores:",
        ),
    ],
)
def test_the_caption_states_the_prior_of_each_metric(run, tmp_path, monkeypatch, options, caption):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loglik.csv").write_text("segment,class,a,b,c\ns1,a,2,0,0\ns2,b,0,3,0\ns3,c,0,0,1\ns4,c,1,0,0\n")
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = run(f"eval loglik.csv {options}")
    assert code == 0, err
    assert caption in " ".join(out.split())
