"""Detection llrs of many classes in and out of the commands."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

from deciban.io import read_class_scores
from deciban.multiclass import project_detection_llr
from support.class_files import CLASSES, trials, write_table

pytestmark = pytest.mark.usefixtures("files")


def metrics(out):
    (one,) = json.loads(out)["systems"]
    return one


def write_detection(path, loglik, **how):
    """Ratios of posteriors by a flat prior."""
    posterior = softmax(loglik, axis=1)
    write_table(path, np.log(posterior / (1.0 - posterior)) + np.log(posterior.shape[1] - 1.0), **how)


def test_figures_are_those_of_log_likelihoods(files, run):
    loglik, _ = files
    write_detection("detection.csv", loglik)
    asked = ["--key", "key.csv", "--p-target", "0.1", "--json"]
    plain = metrics(run("eval", "sysA.csv", *asked)[1])
    code, out, err = run("eval", "detection.csv", "--detection-llr", *asked)
    assert code == 0, err
    found = metrics(out)
    assert found["operating_points"][0]["c_avg"] == plain["operating_points"][0]["c_avg"]
    assert found["cllr"] == pytest.approx(plain["cllr"], rel=1e-9)
    assert "detection llrs; they were projected to log-likelihoods" in err
    assert abs(metrics(run("eval", "detection.csv", *asked)[1])["cllr"] - plain["cllr"]) > 0.01


def test_apply_writes_what_eval_reads(run):
    assert run("calibrate", "sysA.csv", "--key", "key.csv", "-o", "m.json")[0] == 0
    assert run("apply", "m.json", "sysA.csv", "-o", "loglik.csv")[0] == 0
    code, _, err = run("apply", "m.json", "sysA.csv", "-o", "detection.csv", "--as", "detection-llr")
    assert code == 0, err
    assert "written as detection llrs" in err
    loglik, detection = (read_class_scores(f"{name}.csv") for name in ("loglik", "detection"))
    assert loglik.classes == detection.classes == CLASSES
    back = project_detection_llr(detection.score)
    made = loglik.score
    np.testing.assert_allclose(back - back[:, :1], made - made[:, :1], atol=1e-9)
    plain = metrics(run("eval", "loglik.csv", "--key", "key.csv", "--json")[1])
    found = metrics(run("eval", "detection.csv", "--key", "key.csv", "--detection-llr", "--json")[1])
    assert found["cllr"] == pytest.approx(plain["cllr"], rel=1e-9)
    assert found["min_cllr"] == pytest.approx(plain["min_cllr"], rel=1e-7)


def test_training_takes_them(files, run):
    loglik, _ = files
    write_detection("detection.csv", loglik)
    write_detection("other.csv", trials(seed=2, strength=1.0)[0])
    for words in ("calibrate {a}", "fuse {a} {b}"):
        found = []
        for a, b, more in (("sysA.csv", "sysB.csv", ""), ("detection.csv", "other.csv", "--detection-llr")):
            code, out, err = run(f"{words.format(a=a, b=b)} --key key.csv -o m.json --llrs out.csv --json {more}")
            assert code == 0, err
            found.append((json.loads(out)["dev"][-1]["cllr"], read_class_scores("out.csv").score))
        (plain, one), (projected, two) = found
        assert projected == pytest.approx(plain, rel=1e-6)
        np.testing.assert_allclose(two - two[:, :1], one - one[:, :1], atol=1e-4)


def test_submissions_are_told_to_hold_them(run):
    note = "contain detection llrs: if this is one, all results are wrong without --detection-llr"
    assert note in " ".join(run("eval", "lre.tsv", "--key", "lre.key")[2].split())
    assert note not in " ".join(run("eval", "lre.tsv", "--key", "lre.key", "--detection-llr")[2].split())
    assert note not in " ".join(run("eval", "sysA.csv", "--key", "key.csv")[2].split())


@pytest.mark.parametrize(
    "words", ["eval s.txt --key k.txt --detection-llr", "apply two.json s.txt -o o --as detection-llr"]
)
def test_they_are_of_many_classes(words, run):
    rows = [(f"s{i}", i % 3 == 0, i * 7 % 10 / 5 + (i % 3 == 0)) for i in range(30)]
    Path("s.txt").write_text("".join(f"m {name} {score}\n" for name, _, score in rows))
    Path("k.txt").write_text("".join(f"m {name} {'target' if y else 'nontarget'}\n" for name, y, _ in rows))
    assert run("calibrate s.txt --key k.txt -o two.json")[0] == 0
    code, _, err = run(words)
    assert code == 2, err
    assert "for multiclass scores" in " ".join(err.split())
    assert not Path("o").exists()


def test_one_unit_at_a_time(run):
    code, _, err = run("eval sysA.csv --key key.csv --detection-llr --posterior-prior 0.5,0.3,0.2")
    assert code == 2
    assert "detection llrs or log posteriors, not both" in " ".join(err.split())
