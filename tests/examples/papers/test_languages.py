"""What Bruemmer and van Leeuwen 2006 say of its metrics."""

import numpy as np
import pytest

from deciban.multiclass import c_avg, calibration_analysis, detection_analysis, detection_llr, pairwise_analysis


@pytest.fixture(scope="module")
def scores(script):
    return script("languages").before_and_after(150)


def test_half_of_the_loss_is_calibration_but_less_of_the_detection_cost(scores):
    before, after, label = scores
    found = calibration_analysis(before, label)
    assert found.scale == pytest.approx(0.38, abs=0.05)
    saved = 1.0 - found.minimum / found.total
    assert 0.3 < saved < 0.6
    assert 0.0 < 1.0 - c_avg(after, label) / c_avg(before, label) < saved


def test_pairs_are_all_better_and_keep_their_information(scores):
    before, after, label = scores
    one, two = (pairwise_analysis(loglik, label) for loglik in (before, after))
    assert two.min_cllr == pytest.approx(one.min_cllr, abs=1e-12)
    pairs = ~np.eye(len(one.cllr), dtype=bool)
    assert np.all(two.cllr[pairs] < one.cllr[pairs])
    assert one.cllr[0, 1] > 1.0  # English against Hindi, as in the paper
    assert np.all((two.cllr - two.min_cllr)[pairs] < 0.5 * np.maximum((one.cllr - one.min_cllr)[pairs], 0.2))


def test_little_is_left_to_calibrate_in_pairs(scores):
    before, after, label = scores
    one, two = (pairwise_analysis(loglik, label) for loglik in (before, after))
    pairs = ~np.eye(len(one.cllr), dtype=bool)
    lost, left = ((found.cllr - found.min_cllr)[pairs] for found in (one, two))
    assert left.max() < 0.1
    assert left.sum() < 0.2 * lost.sum()
    costs = np.where(pairs, one.cllr, 0.0).sum(axis=0)
    assert set(np.argsort(costs)[-2:]) == {0, 1}  # English and Hindi, "the problem languages"


def test_detectors_are_all_better_and_change_their_information_little(scores):
    before, after, label = scores
    one, two = (detection_analysis(loglik, label) for loglik in (before, after))
    assert np.all(two.cllr - two.min_cllr < 0.15 * two.cllr)
    assert np.all(two.cllr < one.cllr)
    change = np.abs(two.min_cllr - one.min_cllr)
    assert 0.0 < change.max() < 0.05


def test_detection_llrs_follow_a_line_but_are_no_function(script, scores):
    before, after, _ = scores
    x, y = (detection_llr(loglik, target=script("languages").JAPANESE) for loglik in (before, after))
    assert np.polyfit(x, y, 1)[0] == pytest.approx(0.38, abs=0.05)
    assert 0.99 < np.corrcoef(x, y)[0, 1] < 0.99999
    assert np.any(np.diff(y[np.argsort(x)]) < 0)
