"""Units of class scores: detection llrs as evaluations define them, in and out, and what convert makes of files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from deciban import evaluate_files, read_scores
from deciban.errors import InputError
from deciban.evaluation import preset
from deciban.io import read_class_scores
from deciban.io.writing import convert
from deciban.multiclass import detection_llrs, project_detection_llr
from support.class_files import trials, write_key, write_table


def detection(loglik):
    """Of each class against the mean likelihood of the others, one by one."""
    others = [logsumexp(np.delete(loglik, k, axis=1), axis=1) for k in range(loglik.shape[1])]
    return loglik - np.stack(others, axis=1) + np.log(loglik.shape[1] - 1)


def c_primary(llr, label):
    """Evaluation plan of LRE 2017, section 4: costs at beta 1 and 9, each threshold its logarithm, and their mean."""
    n, costs = llr.shape[1], []
    for beta in (1.0, 9.0):
        accepted = llr >= np.log(beta)
        p_miss = [np.mean(~accepted[label == t, t]) for t in range(n)]
        p_fa = [[np.mean(accepted[label == i, t]) for i in range(n) if i != t] for t in range(n)]
        costs.append(np.mean([p_miss[t] + beta / (n - 1) * sum(p_fa[t]) for t in range(n)]))
    return np.mean(costs)


@pytest.fixture
def submission(tmp_path):
    """A submission with the columns of LRE 2017, its key, and the log-likelihoods that it was made of."""
    loglik, label = trials()
    write_table(tmp_path / "lre.tsv", detection(loglik), first="segmentid", delimiter="\t")
    write_key(tmp_path / "lre.key", label, header=("segmentid", "language_code"), delimiter="\t")
    return tmp_path, loglik, label


def test_the_primary_cost_is_that_of_the_plan(submission):
    folder, loglik, label = submission
    points = preset("lre17").class_metrics["p_target"]
    found = evaluate_files(folder / "lre.tsv", folder / "lre.key", detection_llr=True, p_target=points)
    costs = [point.normalized for point in found.systems[0].points]
    assert np.mean(costs) == pytest.approx(c_primary(detection(loglik), label), rel=1e-12)
    assert any("were projected to log-likelihoods" in str(one) for one in found.messages)
    assert not any("contradict" in str(one) for one in found.messages)


def test_detectors_that_contradict_each_other_are_told(submission):
    folder, loglik, _ = submission
    moved = detection(loglik) + np.array([0.0, 1.0, -0.5])
    write_table(folder / "lre.tsv", moved, first="segmentid", delimiter="\t")
    found = evaluate_files(folder / "lre.tsv", folder / "lre.key", detection_llr=True)
    sums = expit(moved - np.log(2)).sum(axis=1)
    (said,) = [str(one) for one in found.messages if "contradict each other:" in str(one)]
    assert f"sum to {sums.min():.3g} to {sums.max():.3g}, not to 1" in said


@given(st.integers(0, 10**6), st.floats(0.1, 12.0))
def test_detection_llrs_come_back(seed, spread):
    loglik = np.random.default_rng(seed).normal(0, spread, (6, 4))
    llr = detection(loglik)
    np.testing.assert_allclose(detection_llrs(project_detection_llr(llr)), llr, rtol=1e-9, atol=1e-9)


def test_convert_turns_them_into_log_likelihoods_and_back(submission):
    folder, loglik, _ = submission
    told = convert(folder / "lre.tsv", folder / "loglik.csv", detection_llr=True)
    assert any("projected" in str(one) for one in told)
    made = read_class_scores(folder / "loglik.csv").score
    np.testing.assert_allclose(made - made[:, :1], loglik - loglik[:, :1], atol=1e-12)
    told = convert(folder / "loglik.csv", folder / "again.tsv", to="nist-lre", write_as="detection-llr")
    assert any("written as detection llrs" in str(one) for one in told)
    assert not any("holds log-likelihoods" in str(one) for one in told)
    back = read_class_scores(folder / "again.tsv").score
    np.testing.assert_allclose(back, read_class_scores(folder / "lre.tsv").score, rtol=1e-12, atol=1e-12)


def test_log_likelihoods_in_the_format_of_submissions_are_told(submission):
    folder = submission[0]
    convert(folder / "lre.tsv", folder / "loglik.csv", detection_llr=True)
    for source, how in (("loglik.csv", {}), ("lre.tsv", {"detection_llr": True})):
        told = convert(folder / source, folder / "out.tsv", to="nist-lre", **how)
        assert any("contains log-likelihoods, but the language recognition" in str(one) for one in told)
    copied = convert(folder / "lre.tsv", folder / "copy.tsv", to="nist-lre")  # whatever it holds
    assert not any("holds log-likelihoods" in str(one) for one in copied)
    assert (folder / "copy.tsv").read_text() == (folder / "lre.tsv").read_text()


def test_convert_takes_probabilities(tmp_path):
    (tmp_path / "p.txt").write_text("a 0.2\nb 0.5\nc 1\n")
    told = convert(tmp_path / "p.txt", tmp_path / "llr.txt", probabilities=0.2)
    np.testing.assert_allclose(read_scores(tmp_path / "llr.txt").score, [0.0, np.log(4.0), np.inf], atol=1e-15)
    assert any("1 trial with a probability of exactly 0 or 1" in str(one) for one in told)
    write_table(tmp_path / "p.csv", np.array([[0.5, 0.3, 0.2], [0.25, 0.25, 0.5]]))
    convert(tmp_path / "p.csv", tmp_path / "loglik.csv", probabilities=[0.5, 0.3, 0.2])
    found = read_class_scores(tmp_path / "loglik.csv").score
    np.testing.assert_allclose(found, np.log([[1, 1, 1], [0.5, 5 / 6, 2.5]]), atol=1e-15)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"detection_llr": True}, "detection_llr: .*no multiclass scores"),
        ({"write_as": "detection-llr"}, "write_as: .*no multiclass scores"),
        ({"write_as": "llr"}, "write_as: got 'llr'"),
        ({"probabilities": 0.5, "detection_llr": True}, "scores can be only one of them"),
        ({"probabilities": 1.5}, "one number inside"),
        ({"probabilities": 0.5, "log10": True}, "contains common logarithms"),
    ],
)
def test_units_that_scores_cannot_have_are_refused(given, words, tmp_path):
    (tmp_path / "p.txt").write_text("a 0.2\nb 0.5\n")
    with pytest.raises(InputError, match=words):
        convert(tmp_path / "p.txt", tmp_path / "out.txt", **given)
    assert not (tmp_path / "out.txt").exists()
