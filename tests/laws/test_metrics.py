"""Laws that hold for every metric and every pair of score sets. A metric that is registered here is tested by all."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import evaluate, metrics
from support.strategies import classes, coarse, finite_classes, log_odds

pytestmark = pytest.mark.filterwarnings("ignore:All scores lie in")  # laws hold of what looks like probabilities, too


def _parts(tar, non, rule, **kw):
    found = metrics.score_parts(tar, non, rule=rule, p_target=0.2, **kw)
    return found.total, found.discrimination_loss


RANKS = {
    "eer": metrics.eer,
    "uer": lambda tar, non, **kw: metrics.uer(tar, non, ratio=0.3, **kw),
    "auc": metrics.auc,
    "error_area": metrics.roc_error_area,
    "min_cllr": metrics.min_cllr,
    "min_dcf": lambda tar, non, **kw: metrics.min_dcf(tar, non, p_target=0.02, c_miss=3, **kw),
    "min_brier": lambda tar, non, **kw: metrics.min_scoring_rule_cost(tar, non, alpha=2, beta=2, p_target=0.3, **kw),
    "min_ece": lambda tar, non, **kw: metrics.min_cross_entropy(tar, non, p_target=0.1, normalize=True, **kw),
    "min_c_primary": metrics.min_c_primary,
    "min_points": lambda tar, non, **kw: metrics.min_point_mass_cost(tar, non, thresholds=[-1.0, 0.5, 3.0], **kw),
    "interpolated": lambda tar, non, **kw: metrics.eer_conventions(tar, non, **kw)["interpolated"],
    "brier_refined": lambda tar, non, **kw: _parts(tar, non, "brier", **kw)[1],
    "rocch_area": lambda tar, non, **kw: metrics.rocch(tar, non, **kw).area,
}
STEPS = {
    "conventions": lambda tar, non, **kw: list(metrics.eer_conventions(tar, non, **kw).values()),
    "fnmr": lambda tar, non, **kw: metrics.fnmr_at_fmr(tar, non, fmr=[0.0, 0.2, 0.5], **kw),
    "fmr": lambda tar, non, **kw: metrics.fmr_at_fnmr(tar, non, fnmr=[0.0, 0.2, 0.5], **kw),
    "eer_threshold": metrics.eer_threshold,
    "min_dcf_threshold": lambda tar, non, **kw: metrics.min_dcf_threshold(tar, non, p_target=[0.1, 0.5], **kw),
}
"""They jump where one metric passes another, which the rounding of fractional weights may do."""
COUNTS = {"prbep": metrics.prbep, "dr30": lambda tar, non, **kw: metrics.dr30(tar, non, n_errors=3, **kw)}
LOG_4, LOG_5_2 = np.log(4), np.log(2.5)
LEVELS = {
    "cllr": metrics.cllr,
    "act_dcf": lambda tar, non, **kw: metrics.act_dcf(tar, non, p_target=0.02, c_fa=2, **kw),
    "bayes_error": lambda tar, non, **kw: metrics.bayes_error(tar, non, prior_log_odds=[-1.0, 0.5], **kw),
    "calibration_loss": lambda tar, non, **kw: metrics.calibration_loss(tar, non, p_target=0.2, **kw),
    "cross_entropy": lambda tar, non, **kw: metrics.cross_entropy(tar, non, p_target=0.1, **kw),
    "normalized": lambda tar, non, **kw: metrics.cross_entropy(tar, non, p_target=0.9, normalize=True, **kw),
    "brier": lambda tar, non, **kw: metrics.scoring_rule_cost(tar, non, alpha=2, beta=2, p_target=0.3, **kw),
    "rule": lambda tar, non, **kw: metrics.scoring_rule_cost(tar, non, alpha=0.7, beta=1.6, p_target=0.3, **kw),
    "brier_score": lambda tar, non, **kw: metrics.brier(tar, non, p_target=[0.3, 0.5], **kw),
    "log_parts": lambda tar, non, **kw: _parts(tar, non, "log", **kw),
    "hter": lambda tar, non, **kw: metrics.hter(tar, non, threshold=0.5, **kw),
    "misleading": lambda tar, non, **kw: [
        (one.p_tar, one.p_non) for one in metrics.misleading_evidence(tar, non, **kw)
    ],
    "c_primary": metrics.c_primary,
    "points": lambda tar, non, **kw: metrics.point_mass_cost(tar, non, thresholds=[-1.0, 0.5, 3.0], **kw),
}
ALL = {**RANKS, **STEPS, **COUNTS, **LEVELS}
RULES = [(1, 1), (2, 2), (0.5, 0.5), (2, 1), (0.3, 4.0)]


def assert_close(a, b, rel=1e-12):
    """Equal up to rounding, infinities included."""
    np.testing.assert_allclose(a, b, rtol=rel, atol=1e-14)


@pytest.mark.parametrize("name", ALL)
@given(sets=classes(), data=st.data())
def test_order_means_nothing(name, sets, data):
    tar, non = sets
    assert_close(ALL[name](data.draw(st.permutations(tar)), data.draw(st.permutations(non))), ALL[name](tar, non))


@pytest.mark.parametrize("name", ALL)
@given(sets=classes(max_size=6), data=st.data())
def test_whole_weights_are_copies(name, sets, data):
    tar, non = sets
    weights = [data.draw(st.lists(st.integers(0, 3), min_size=len(s), max_size=len(s)).filter(any)) for s in sets]
    copies = [np.repeat(scores, weight) for scores, weight in zip((tar, non), weights, strict=True)]
    assert_close(ALL[name](tar, non, tar_weights=weights[0], non_weights=weights[1]), ALL[name](*copies))


@pytest.mark.parametrize("name", {**RANKS, **LEVELS})
@given(sets=classes(max_size=6), factor=st.sampled_from([0.1, 1 / 3, 7.3]))
def test_the_scale_of_weights_means_nothing(name, sets, factor):
    tar, non = sets
    weights = [np.arange(1, len(scores) + 1) % 4 + 1.0 for scores in sets]
    scaled = {"tar_weights": weights[0] * factor, "non_weights": weights[1] * factor}
    assert_close(ALL[name](tar, non, **scaled), ALL[name](tar, non, tar_weights=weights[0], non_weights=weights[1]))


@pytest.mark.parametrize("name", {**RANKS, **LEVELS})
@pytest.mark.parametrize("side", ["tar_weights", "non_weights"])
@given(sets=classes(max_size=6), factor=st.sampled_from([0.1, 0.5, 7.3]))
def test_one_class_alone_may_be_weighted(name, side, sets, factor):
    n = len(sets[side == "non_weights"])
    whole = np.arange(n) % 3 + 1
    assert_close(ALL[name](*sets, **{side: whole * factor}), ALL[name](*sets, **{side: whole}))


@given(classes(max_size=30), st.sampled_from([0.1, 1 / 3, 0.7, 1e-90]))
def test_fractional_weights_make_the_same_blocks(sets, factor):
    weights = [np.arange(len(scores)) % 5 + 1 for scores in sets]
    whole = metrics.pav(*sets, tar_weights=weights[0], non_weights=weights[1])
    parts = metrics.pav(*sets, tar_weights=weights[0] * factor, non_weights=weights[1] * factor)
    np.testing.assert_array_equal(parts.low, whole.low)
    np.testing.assert_allclose(parts.llr, whole.llr, rtol=1e-9, atol=1e-12)
    assert np.all(np.diff(parts.llr) > 0)


@pytest.mark.parametrize("name", RANKS)
@given(sets=classes(coarse))
def test_increasing_maps_move_no_rank_figure(name, sets):
    tar, non = np.array(sets[0]), np.array(sets[1])
    assert_close(RANKS[name](np.arctan(tar) - 3, np.arctan(non) - 3), RANKS[name](tar, non))


@pytest.mark.parametrize("name", ["eer", "auc", "error_area", "min_cllr", "rocch_area", "cllr"])
@given(sets=classes())
def test_swapping_hypotheses_and_signs_changes_nothing(name, sets):
    tar, non = np.array(sets[0]), np.array(sets[1])
    assert_close(ALL[name](-non, -tar), ALL[name](tar, non))


@given(finite_classes, log_odds.filter(lambda x: abs(x) < 100))
def test_swapping_flips_the_prior(sets, x):
    # Acceptance at equality is the one asymmetry; the cross-entropy has no thresholds.
    tar, non = np.array(sets[0]), np.array(sets[1])
    for normalize in (False, True):
        swapped = metrics.cross_entropy(-non, -tar, prior_log_odds=-x, normalize=normalize)
        assert_close(swapped, metrics.cross_entropy(tar, non, prior_log_odds=x, normalize=normalize))
    assert_close(metrics.min_dcf(-non, -tar, prior_log_odds=-x), metrics.min_dcf(tar, non, prior_log_odds=x))


@given(classes(), log_odds)
def test_minimum_is_never_above_actual(sets, x):
    tar, non = sets
    assert metrics.min_dcf(tar, non, prior_log_odds=x) <= metrics.act_dcf(tar, non, prior_log_odds=x) * (1 + 1e-15)
    assert metrics.min_dcf(tar, non, prior_log_odds=x) <= 1
    assert metrics.calibration_loss(tar, non, prior_log_odds=x) >= 0


def test_rounding_makes_no_calibration_loss_negative():
    """Accepting all is best here, and its cost by counting is an ulp below that on the hull."""
    tar, non = [2.0, -1.0, 3.0, 0.0, 4.0, 3.0, 1.0], [2.0, 2.0, -1.0]
    assert metrics.act_dcf(tar, non, p_target=0.7) < metrics.min_dcf(tar, non, p_target=0.7) == 1.0
    assert metrics.calibration_loss(tar, non, p_target=0.7) == 0.0
    assert metrics.min_cllr(tar, non) <= min(metrics.cllr(tar, non), 1) * (1 + 1e-14)


@given(classes())
def test_hull_slope_is_the_likelihood_ratio(sets):
    hull = metrics.rocch(*sets)
    with np.errstate(divide="ignore"):
        slopes = np.diff(hull.p_miss) / np.diff(hull.p_fa)
    assert_close(np.exp(metrics.pav(*sets).llr), np.abs(slopes), rel=1e-9)
    assert np.all(np.diff(hull.llr) > 0)


@given(classes())
def test_eer_is_the_worst_minimum_error(sets):
    tar, non = sets
    hull = metrics.rocch(tar, non)
    priors = np.linspace(0.001, 0.999, 999)
    assert np.max(metrics.min_bayes_error(tar, non, p_target=priors)) <= hull.eer() + 1e-12
    # The maximum is attained where the edge that crosses the diagonal is flat: at its own llr.
    crossing = -hull.llr[np.argmax(hull.p_fa[1:] <= hull.p_miss[1:])]
    if np.isfinite(crossing):
        assert_close(metrics.min_bayes_error(tar, non, prior_log_odds=crossing), hull.eer())


@given(finite_classes, st.booleans())
def test_area_under_the_error_curve_is_cllr(sets, recalibrate):
    """The integral of the Bayes error over log odds is 2 ln 2 Cllr; exact, because the error is piecewise smooth."""
    if recalibrate:
        blocks = metrics.pav(*sets)
        finite = np.isfinite(blocks.llr)
        tar, non = (np.repeat(blocks.llr[finite], n[finite]) for n in (blocks.n_tar, blocks.n_non))
        tar = np.append(tar, np.full(blocks.n_tar[~finite].sum(), 60.0))
        non = np.append(non, np.full(blocks.n_non[~finite].sum(), -60.0))
        expected = metrics.min_cllr(*sets)
    else:
        tar, non = (np.array(s) for s in sets)
        expected = metrics.cllr(tar, non)
    edges = np.unique(np.concatenate(([-90.0, 90.0], -tar, -non)))
    middle, ends = (edges[1:] + edges[:-1]) / 2, (edges[:-1], edges[1:])
    # Between neighbouring edges P_miss and P_fa are constant: integrate the sigmoids in closed form.
    p_miss = np.array([np.mean(tar < -x) for x in middle])
    p_fa = np.array([np.mean(non >= -x) for x in middle])
    sigmoid = np.logaddexp(0, ends[1]) - np.logaddexp(0, ends[0])
    mirrored = np.logaddexp(0, -ends[0]) - np.logaddexp(0, -ends[1])
    area = np.sum(p_miss * sigmoid + p_fa * mirrored)
    assert area == pytest.approx(2 * math.log(2) * expected, rel=1e-9, abs=1e-12)
    sampled = metrics.bayes_error(tar, non, prior_log_odds=middle)
    np.testing.assert_allclose(sampled, p_miss / (1 + np.exp(-middle)) + p_fa / (1 + np.exp(middle)), rtol=1e-9)


@given(classes(coarse), st.sampled_from(RULES), st.floats(0.05, 0.95), st.data())
def test_pav_is_optimal_for_every_rule_and_prior(sets, rule, prior, data):
    """No other monotone map of the scores costs less (thesis theorem 5)."""
    alpha, beta = rule
    tar, non = np.array(sets[0]), np.array(sets[1])
    levels = np.unique(np.concatenate((tar, non)))
    steps = data.draw(st.lists(st.floats(0, 2), min_size=len(levels), max_size=len(levels)))
    other = np.cumsum(steps) + data.draw(st.floats(-6, 3))
    mapped = [other[np.searchsorted(levels, scores)] for scores in (tar, non)]
    least = metrics.min_scoring_rule_cost(tar, non, alpha=alpha, beta=beta, p_target=prior)
    assert least <= metrics.scoring_rule_cost(*mapped, alpha=alpha, beta=beta, p_target=prior) * (1 + 1e-12) + 1e-300


@given(classes(), st.sampled_from(RULES))
def test_recalibrated_scores_are_at_their_minimum(sets, rule):
    blocks = metrics.pav(*sets)
    tar, non = np.repeat(blocks.llr, blocks.n_tar), np.repeat(blocks.llr, blocks.n_non)
    assert_close(metrics.cllr(tar, non), metrics.min_cllr(*sets))
    again = metrics.pav(tar, non)
    np.testing.assert_array_equal([again.n_tar, again.n_non], [blocks.n_tar, blocks.n_non])
    options = {"alpha": rule[0], "beta": rule[1], "p_target": 0.2}
    assert_close(metrics.scoring_rule_cost(tar, non, **options), metrics.min_scoring_rule_cost(*sets, **options))
    assert_close(metrics.act_dcf(tar, non, p_target=0.3), metrics.min_dcf(*sets, p_target=0.3))


@given(finite_classes, log_odds)
def test_log_rule_is_the_cross_entropy(sets, x):
    assert metrics.scoring_rule_cost(*sets, alpha=1, beta=1, prior_log_odds=x) == metrics.cross_entropy(
        *sets, prior_log_odds=x
    )
    assert_close(metrics.cross_entropy(*sets, prior_log_odds=0.0), metrics.cllr(*sets) * math.log(2))


@given(finite_classes, st.floats(-30, 30))
def test_normalized_is_divided_by_the_default(sets, x):
    default = [np.zeros(1), np.zeros(1)]
    for cost in (metrics.cross_entropy, metrics.bayes_error, metrics.min_bayes_error):
        ratio = cost(*sets, prior_log_odds=x) / cost(*default, prior_log_odds=x)
        assert_close(cost(*sets, prior_log_odds=x, normalize=True), ratio, rel=1e-9)
        assert_close(cost(*default, prior_log_odds=x, normalize=True), 1.0)


@given(classes(), st.floats(0.001, 0.999), st.sampled_from([(1, 1), (10, 1), (1, 3.5)]))
def test_costs_are_a_change_of_prior(sets, prior, costs):
    point = metrics.OperatingPoint(prior, *costs)
    at_point = {"p_target": prior, "c_miss": costs[0], "c_fa": costs[1]}
    at_prior = {"prior_log_odds": point.log_odds}
    assert_close(metrics.min_dcf(*sets, **at_point), metrics.min_dcf(*sets, **at_prior), rel=1e-9)
    assert_close(metrics.act_dcf(*sets, **at_point), metrics.act_dcf(*sets, **at_prior), rel=1e-9)


@given(classes())
def test_evaluate_says_what_the_metrics_say(sets):
    result = evaluate(*sets, operating_points=[0.01, (0.3, 2, 5)])
    assert_close(result.eer, metrics.eer(*sets))
    assert_close(result.auc, metrics.auc(*sets))
    assert_close(result.cllr, metrics.cllr(*sets))
    assert_close(result.min_cllr, metrics.min_cllr(*sets))
    assert_close(result.prbep, metrics.prbep(*sets))
    assert result.dr30 == metrics.dr30(*sets)
    for point in result.operating_points:
        at_point = {"p_target": point.p_target, "c_miss": point.c_miss, "c_fa": point.c_fa}
        assert_close(point.act_dcf, metrics.act_dcf(*sets, **at_point), rel=1e-9)
        assert_close(point.min_dcf, metrics.min_dcf(*sets, **at_point), rel=1e-9)
        assert point.n_miss == sum(s < point.threshold for s in sets[0])
        assert point.n_fa == sum(s >= point.threshold for s in sets[1])


@given(classes(coarse, max_size=40), st.integers(1, 8))
def test_dr30_marks_where_errors_run_out(sets, n_errors):
    tar, non = sets
    false_alarms, misses = metrics.dr30(tar, non, n_errors=n_errors)
    hull = metrics.rocch(tar, non)

    def errors(x):
        p_miss, p_fa = hull.best_rates(np.array([x]))
        return round(p_miss[0] * len(tar)), round(p_fa[0] * len(non))

    for x in np.linspace(-9, 9, 37) + 0.01:
        n_miss, n_fa = errors(x)
        assert (n_fa >= n_errors) == (x >= false_alarms)
        assert (n_miss >= n_errors) == (x < misses)


@pytest.mark.parametrize(
    ("n_errors", "false_alarms", "misses"),
    [(1, -LOG_5_2, LOG_4), (2, -LOG_5_2, 0), (4, 0, -LOG_5_2), (9, LOG_4, -np.inf), (13, np.inf, -np.inf)],
)
def test_dr30_is_where_one_line_of_the_hull_ends(n_errors, false_alarms, misses):
    """Corners of the hull have 0, 1, 3 and 8 misses, 12, 6, 3 and 0 false alarms; ratios between are 1/4, 1, 5/2."""
    tar, non = np.repeat([0, 1, 2], [1, 2, 5]), np.repeat([0, 1, 2], [6, 3, 3])
    found = metrics.dr30(tar, non, n_errors=n_errors)
    assert found == pytest.approx((false_alarms, misses), rel=1e-14)
