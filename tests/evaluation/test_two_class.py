"""Evaluations: what they hold, what they say, and how they come out as JSON."""

import json
import math

import numpy as np
import pytest

from deciban import InputError, OperatingPoint, evaluate_files, metrics
from deciban.evaluation import Results, evaluate
from deciban.workflows.inspection import inspect_file


@pytest.fixture(scope="module")
def gaussian():
    rng = np.random.default_rng(11)
    return rng.normal(2, 2, 3000), rng.normal(-2, 2, 30_000)


def test_curves_are_the_metrics(gaussian):
    curves = evaluate(*gaussian).curves
    x = curves.prior_log_odds
    np.testing.assert_allclose(curves.act_error, metrics.bayes_error(*gaussian, prior_log_odds=x, normalize=True))
    np.testing.assert_allclose(curves.min_error, metrics.min_bayes_error(*gaussian, prior_log_odds=x, normalize=True))
    entropy = metrics.cross_entropy(*gaussian, prior_log_odds=curves.entropy_log_odds) / math.log(2)
    np.testing.assert_allclose(curves.act_cross_entropy, entropy, rtol=0, atol=2e-5)
    least = metrics.min_cross_entropy(*gaussian, prior_log_odds=curves.entropy_log_odds) / math.log(2)
    np.testing.assert_allclose(curves.min_cross_entropy, least, rtol=1e-12)
    np.testing.assert_allclose(curves.tar_above, [np.mean(gaussian[0] >= level) for level in curves.levels])
    np.testing.assert_allclose(curves.non_above, [np.mean(gaussian[1] >= level) for level in curves.levels])


def test_entropy_of_many_weighted_trials(gaussian):
    rng = np.random.default_rng(2)
    weights = {"tar_weights": rng.random(3000), "non_weights": rng.integers(0, 4, 30_000)}
    curves = evaluate(*gaussian, **weights).curves
    entropy = metrics.cross_entropy(*gaussian, prior_log_odds=curves.entropy_log_odds, **weights) / math.log(2)
    np.testing.assert_allclose(curves.act_cross_entropy, entropy, rtol=0, atol=2e-5)


def test_densities_integrate_to_one(gaussian):
    curves = evaluate(*gaussian).curves
    widths = np.diff(curves.bins)
    assert np.sum(curves.tar_density * widths) == pytest.approx(1)
    assert np.sum(curves.non_density * widths) == pytest.approx(1)
    counts, _ = np.histogram(gaussian[0], curves.bins)
    np.testing.assert_allclose(curves.tar_density * widths * len(gaussian[0]), counts, atol=1e-9)


def test_thinned_roc_is_part_of_the_roc_and_close_to_all_of_it(gaussian):
    from scipy.special import ndtri

    thick, thin = metrics.roc(*gaussian), evaluate(*gaussian).curves
    corners = set(zip(thick.p_fa.tolist(), thick.p_miss.tolist(), strict=True))
    assert set(zip(thin.roc_p_fa.tolist(), thin.roc_p_miss.tolist(), strict=True)) <= corners
    assert (thin.roc_p_fa[[0, -1]].tolist(), thin.roc_p_miss[[0, -1]].tolist()) == ([1, 0], [0, 1])
    inside = (thick.p_fa > 1e-3) & (thick.p_fa < 0.999) & (thick.p_miss > 1e-3) & (thick.p_miss < 0.999)
    # Along either curve the difference of the two rates grows; a pixel of a DET plot is about 0.01 on a probit axis.
    along, places = thin.roc_p_miss - thin.roc_p_fa, (thick.p_miss - thick.p_fa)[inside]
    for drawn, true in ((thin.roc_p_fa, thick.p_fa), (thin.roc_p_miss, thick.p_miss)):
        assert np.max(np.abs(ndtri(np.interp(places, along, drawn)) - ndtri(true[inside]))) < 0.01


def test_the_prior_axis_reaches_every_operating_point(gaussian):
    curves = evaluate(*gaussian, operating_points=[1e-6]).curves
    assert curves.prior_log_odds[0] < math.log(1e-6) < 0 < curves.prior_log_odds[-1]


def test_an_extreme_operating_point_does_not_squash_the_plots(gaussian):
    result = evaluate(*gaussian, operating_points=[1e-300])
    assert result.curves.prior_log_odds[-1] == 25
    assert result.operating_points[0].threshold == pytest.approx(300 * math.log(10))


def test_order_of_trials_changes_no_bit(gaussian):
    rng = np.random.default_rng(1)
    shuffled = [rng.permutation(scores) for scores in gaussian]
    assert evaluate(*shuffled).to_json() == evaluate(*gaussian).to_json()


def test_operating_points_in_three_spellings(gaussian):
    points = evaluate(*gaussian, operating_points=[0.01, (0.01, 10, 1), OperatingPoint(0.01, 10, 1)]).operating_points
    assert [(p.p_target, p.c_miss, p.c_fa) for p in points] == [(0.01, 1, 1), (0.01, 10, 1), (0.01, 10, 1)]
    assert points[1] == points[2]
    assert points[1].effective_prior == pytest.approx(0.1 / 1.09, rel=1e-15)
    assert points[1].threshold == pytest.approx(math.log(9.9), rel=1e-12)


def test_effective_priors_weigh_both_costs():
    assert OperatingPoint(0.2, 3, 5).effective_prior == pytest.approx(0.6 / 4.6, rel=1e-15)
    assert str(OperatingPoint(0.2, 3, 5)) == "p_target 0.2, costs 3:5"
    assert str(OperatingPoint(0.2)) == "p_target 0.2"


def test_ranges_beyond_the_largest_float_are_halved():
    curves = evaluate([1.5e308], [-1.5e308]).curves
    assert np.all(np.isfinite(curves.bins))
    assert (curves.bins[0], curves.bins[-1]) == (-0.75e308, 0.75e308)
    assert np.all(np.diff(curves.bins) > 0)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "none given"),
        ([0.0], "a prior must be inside"),
        ([(0.1, 1, 1, 1)], r"expected p_target or \(p_target, c_miss, c_fa\)"),
        ([(0.1, 0, 1)], "has a cost of 0"),
        ([(0.1, -1, 1)], "c_miss: got -1"),
    ],
)
def test_bad_operating_points(points, message):
    with pytest.raises(InputError, match=message):
        evaluate([1.0], [0.0], operating_points=points)


def test_json_has_plain_types_only(gaussian):
    weighted = evaluate([1.0, 2.0, math.inf], [0.0], tar_weights=[0.5, 1.5, 2])
    for result in (evaluate(*gaussian), weighted):
        found = json.loads(result.to_json(), parse_constant=pytest.fail)
        assert found["calibration_loss"] == pytest.approx(result.cllr - result.min_cllr)
        assert list(found["dr30"].values()) == [x if math.isfinite(x) else str(x) for x in result.dr30]
    assert weighted.n_tar == 4.0
    assert weighted.n_infinite == 2.0


def test_results_without_files():
    found = Results((evaluate([1.0], [0.0]),)).to_dict()
    assert (found["join"], found["inputs"], found["schema"]) == (None, [], 2)


@pytest.mark.parametrize(
    ("tar", "non", "words"),
    [
        ([-1.0, -2.0], [0.0, 1.0], "Scores look reversed: the target has the higher score in only 0.0 %"),
        ([5.0] * 50 + [-9.0] * 50, [-5.0] * 100, ", using the scores clearly costs more than ignoring them."),
        ([1.0], [0.0], "EER, minDCF, min Cllr and AUC are uncertain: whatever the prior, the best threshold gives"),
        ([math.inf, 0.0], [-math.inf, 1.0], "2 scores are infinite, all for the right class"),
    ],
)
def test_notes_say_what_matters(tar, non, words):
    assert any(words in note for note in evaluate(tar, non).notes)


def test_calibrated_scores_have_no_notes():
    rng = np.random.default_rng(3)
    assert evaluate(rng.normal(2, 2, 5000), rng.normal(-2, 2, 50_000), operating_points=[0.1]).notes == ()


def test_few_errors_are_said_at_the_point():
    rng = np.random.default_rng(3)
    tar, non = rng.normal(2, 2, 5000), rng.normal(-2, 2, 50_000)
    notes = evaluate(tar, non, operating_points=[1e-5, 0.99999]).notes
    assert "actDCF and minDCF at p_target 1e-05 rest on fewer than 30 false alarms." in notes
    assert "actDCF and minDCF at p_target 0.99999 rest on fewer than 30 misses." in notes


def test_few_errors_of_raw_scores_concern_what_needs_no_llrs():
    rng = np.random.default_rng(3)
    notes = evaluate(rng.normal(0.7, 0.1, 200), rng.normal(0.2, 0.1, 2000)).notes
    assert any(
        note.startswith("EER, minDCF, min Cllr and AUC are uncertain: whatever the prior, the best") for note in notes
    )
    assert not any("actDCF" in note for note in notes)


def test_files_of_one_name_keep_their_folders(tmp_path):
    for folder in ("dev", "eval"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.txt").write_text("a 1.5 target\nb 0.5 nontarget\n")
    results = evaluate_files([tmp_path / "dev/s.txt", tmp_path / "eval/s.txt"])
    assert [system.name for system in results.systems] == [f"{tmp_path}/dev/s.txt", f"{tmp_path}/eval/s.txt"]


def test_no_file_is_an_error():
    with pytest.raises(InputError, match="scores: no file given"):
        evaluate_files([])


def test_inspection_counts_repeated_trials(tmp_path):
    path = tmp_path / "key.txt"
    path.write_text("a x target\na x target\nb x nontarget\n")
    found = inspect_file(path)
    assert ("trials", "3") in found.properties
    assert found.remarks == (f"1 rows repeat an earlier trial, the first: {path}:1 and {path}:2.",)


def test_log10_is_suspected_from_enough_trials_only(tmp_path):
    rng = np.random.default_rng(5)
    for n, suspected in ((40, False), (2000, True)):
        truth = np.arange(2 * n) < n
        llr = rng.normal(np.where(truth, 2, -2), 2) / np.log(10)
        path = tmp_path / f"{n}.txt"
        path.write_text("".join(f"t{i} {x} {t:d}\n" for i, (x, t) in enumerate(zip(llr, truth, strict=True))))
        assert any("add log10=True" in remark for remark in inspect_file(path).remarks) == suspected
        assert not any("add log10=True" in remark for remark in inspect_file(path, log10=True).remarks)


def test_whole_numbers_may_be_labels(tmp_path):
    np.save(tmp_path / "targets.npy", np.arange(100) % 2)
    assert any("Are they labels" in remark for remark in inspect_file(tmp_path / "targets.npy").remarks)
    np.save(tmp_path / "scores.npy", np.arange(100) % 2 - 0.5)
    assert not any("labels" in remark for remark in inspect_file(tmp_path / "scores.npy").remarks)
