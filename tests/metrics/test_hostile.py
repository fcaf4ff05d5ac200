"""What goes in wrong, and what comes out: a clear error or a right number, never NaN."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from deciban import InputError, OperatingPoint, evaluate, metrics

METRICS = {
    "cllr": metrics.cllr,
    "min_cllr": metrics.min_cllr,
    "eer": metrics.eer,
    "auc": metrics.auc,
    "act_dcf": lambda tar, non: metrics.act_dcf(tar, non, p_target=0.1),
    "min_dcf": lambda tar, non: metrics.min_dcf(tar, non, p_target=0.1),
    "cross_entropy": lambda tar, non: metrics.cross_entropy(tar, non, p_target=0.1),
    "rule": lambda tar, non: metrics.scoring_rule_cost(tar, non, alpha=2, beta=1, p_target=0.1),
    "evaluate": evaluate,
}
BAD = {
    "nan": ([1.0, math.nan, 2.0, math.nan], "2 of 4 scores are NaN, the first at index 1"),
    "empty": ([], "empty"),
    "column": ([[1.0], [2.0]], r"one-dimensional array, got shape \(2, 1\)"),
    "scalar": (1.0, r"one-dimensional array, got shape \(\)"),
    "ragged": ([[1.0], [2.0, 3.0]], "cannot be read as an array"),
    "text": (["a", "b"], "real numbers"),
    "numbers as text": (["1.0", "2.0"], "real numbers"),
    "complex": ([1j, 2.0], "real numbers"),
    "none": (np.array([1.0, None], dtype=object), "NoneType None at index 1"),
    "text in objects": (np.array([1.0, "2.0"], dtype=object), "str '2.0' at index 1"),
    "masked": (np.ma.array([1.0, 2.0], mask=[False, True]), "1 of 2 entries are masked"),
    "big integers": ([2**60 + 1, 3], "beyond 2\\*\\*53"),
    "one too big": (np.array([2**53 + 1, 3]), "beyond 2\\*\\*53"),
    "big objects": (np.array([2**70 + 1, 3], dtype=object), "at index 0 is beyond 2\\*\\*53"),
    "huge objects": ([10**400, 1], "at index 0 is beyond 2\\*\\*53"),
    "dates": (np.array(["2020-01-01"], dtype="datetime64[D]"), "real numbers"),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("side", ["tar", "non"])
def test_bad_scores_are_refused_by_name(name, kind, side):
    values, message = BAD[kind]
    sets = (values, [0.0, 1.0]) if side == "tar" else ([0.0, 1.0], values)
    with pytest.raises(InputError, match=f"^{side}: .*{message}"):
        METRICS[name](*sets)


@pytest.mark.parametrize("name", [name for name in METRICS if name != "evaluate"])
@pytest.mark.parametrize(
    "convert",
    [
        np.float32,
        np.float16,
        np.int8,
        np.uint64,
        np.longdouble,
        lambda x: np.array([Fraction(int(v)) for v in x], dtype=object),
        lambda x: np.repeat(np.asarray(x, float), 2)[::2],
        lambda x: np.asarray(x, float)[::-1][::-1],
        lambda x: np.ma.array(x, dtype=float),
        lambda x: memoryview(np.asarray(x, float)),
        list,
        tuple,
    ],
)
def test_every_kind_of_array_gives_the_same_number(name, convert):
    tar, non = np.array([3, 4, 4, 9]), np.array([0, 1, 3, 4, 2])
    expected = METRICS[name](tar.astype(float), non.astype(float))
    assert METRICS[name](convert(tar), convert(non)) == pytest.approx(expected, rel=1e-15)
    assert METRICS[name](convert(tar), non.astype(float)) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("name", METRICS)
def test_labels_and_scores_are_told_from_scores_of_two_classes(name):
    y, score = np.array([1, 0, 1, 0, 0]), np.array([2.5, -1.0, 0.25, 1.5, -3.0])
    for labels in (y, y.tolist(), y.astype(np.uint8), y.astype(float)):
        with pytest.raises(InputError, match=r"^tar: only 0 and 1.*pass non\[tar == 1\], non\[tar == 0\]"):
            METRICS[name](labels, score)
        with pytest.raises(InputError, match=r"^non: only 0 and 1.*pass tar\[non == 1\], tar\[non == 0\]"):
            METRICS[name](score, labels)
    with pytest.raises(InputError, match="booleans, which are labels"):
        METRICS[name](y == 1, score)
    # Whatever else is legal stays so: other lengths, other numbers, scores that are whole numbers, floats.
    expected = METRICS[name](score[y == 1], score[y == 0])
    assert METRICS[name](score[y == 1], score[y == 0]) == expected
    for tar, non in (([0, 1], [0.5, 1.5, 2.5]), ([0, 1, 2], [0.5, 1.0, 0.0]), ([0, 1], [0, 1]), ([0.0, 1.0], [0.5, 1])):
        METRICS[name](tar, non)


def test_decimals_are_not_numbers_we_guess_about():
    with pytest.raises(InputError, match="Decimal"):
        metrics.cllr(np.array([Decimal("1.5")], dtype=object), [0.0])


def test_input_arrays_are_left_alone():
    tar, non = np.array([3.0, 1.0, 2.0]), np.array([2.0, 0.0])
    tar.flags.writeable = non.flags.writeable = False
    evaluate(tar, non)
    assert tar.tolist() == [3, 1, 2]
    assert non.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("sets", "eer", "min_dcf", "min_cllr", "auc"),
    [
        (([7.0] * 3, [7.0] * 5), 0.5, 1.0, 1.0, 0.5),
        (([math.inf] * 3, [math.inf]), 0.5, 1.0, 1.0, 0.5),
        (([2.0, 3.0], [0.0, 1.0]), 0.0, 0.0, 0.0, 1.0),
        (([math.inf], [-math.inf]), 0.0, 0.0, 0.0, 1.0),
        (([0.0], [1.0]), 0.5, 1.0, 1.0, 0.0),
        (([-math.inf], [math.inf]), 0.5, 1.0, 1.0, 0.0),
        (([5e-324], [0.0]), 0.0, 0.0, 0.0, 1.0),
        (([1e300], [-1e300]), 0.0, 0.0, 0.0, 1.0),
    ],
)
def test_degenerate_sets_have_defined_figures(sets, eer, min_dcf, min_cllr, auc):
    assert metrics.eer(*sets) == eer
    assert metrics.min_dcf(*sets, p_target=[0.01, 0.5]).tolist() == [min_dcf] * 2
    assert metrics.min_cllr(*sets) == min_cllr
    assert metrics.auc(*sets) == auc
    result = evaluate(*sets)
    assert (result.eer, result.min_cllr, result.auc) == (eer, min_cllr, auc)


def test_infinite_evidence_for_the_wrong_class_costs_infinitely():
    assert metrics.cllr([-math.inf, 1.0], [0.0]) == math.inf
    assert metrics.cllr([0.0], [math.inf]) == math.inf
    assert metrics.cllr([math.inf], [-math.inf]) == 0.0
    assert metrics.cross_entropy([-math.inf], [0.0], prior_log_odds=[-1e4, 0.0]).tolist() == [math.inf] * 2
    assert metrics.cross_entropy([-math.inf], [0.0], p_target=0.5, normalize=True) == math.inf
    result = evaluate([-math.inf, 1.0], [0.0])
    assert result.to_dict()["cllr"] == "inf"
    assert any("infinite evidence" in note for note in result.notes)


def test_zero_weight_removes_even_an_infinite_cost():
    assert metrics.cllr([-math.inf, 0.0], [0.0], tar_weights=[0, 1]) == pytest.approx(1.0)


@pytest.mark.parametrize("log_odds", [-1e4, -800.0, 800.0, 1e4])
def test_extreme_priors_give_finite_costs(log_odds):
    tar, non = np.array([1.0, 3.0, -1.0]), np.array([-2.0, 0.0, 1.0])
    assert metrics.bayes_error(tar, non, prior_log_odds=log_odds) == 0.0
    assert metrics.act_dcf(tar, non, prior_log_odds=log_odds) == 1.0
    assert metrics.cross_entropy(tar, non, prior_log_odds=log_odds) == 0.0
    # Far from 0, accepting (rejecting) everything but the pure end of the scores is best.
    assert metrics.min_dcf(tar, non, prior_log_odds=log_odds) == pytest.approx(2 / 3)
    # The evidence scales the small odds of the rare class: its mean inverse (direct) likelihood ratio is what counts.
    rare, likely = (tar, non) if log_odds < 0 else (-non, -tar)
    size = abs(log_odds)
    limit = (np.exp(likely).mean() + np.mean(size - rare)) / (1 + size)
    assert metrics.cross_entropy(tar, non, prior_log_odds=log_odds, normalize=True) == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize("p_target", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_priors_outside_are_refused(p_target):
    with pytest.raises(InputError, match="p_target: a prior must be inside"):
        metrics.min_dcf([1.0], [0.0], p_target=[0.5, p_target])
    with pytest.raises(InputError, match="p_target"):
        OperatingPoint(p_target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give exactly one of them"),
        ({"p_target": 0.5, "prior_log_odds": 0.0}, "give exactly one of them"),
        ({"prior_log_odds": math.inf}, "prior_log_odds: log odds must be finite"),
        ({"prior_log_odds": math.nan}, "prior_log_odds: log odds must be finite"),
        ({"p_target": "half"}, "p_target: expected real numbers, got str 'half'"),
        ({"p_target": 0.5, "c_miss": -1}, "c_miss: got -1. A cost must be finite and at least 0"),
        ({"p_target": 0.5, "c_fa": math.nan}, "c_fa: got nan"),
        ({"p_target": 0.5, "c_fa": [1, 2]}, "c_fa: got \\[1, 2\\]"),
        ({"p_target": 0.5, "c_fa": 0, "c_miss": 0}, "both are 0"),
        ({"p_target": 0.5, "c_fa": 0}, "normalize: with a cost of 0"),
    ],
)
def test_bad_operating_points_are_refused(options, message):
    for metric in (metrics.act_dcf, metrics.min_dcf):
        with pytest.raises(InputError, match=message):
            metric([1.0], [0.0], **options)


def test_a_free_error_is_legal_without_normalization():
    tar, non = [1.0, -1.0], [0.0, 2.0]
    options = {"p_target": 0.25, "c_fa": 0.0, "normalize": False}
    assert metrics.act_dcf(tar, non, **options) == 0.0
    assert metrics.min_dcf(tar, non, **options) == 0.0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "tar_weights: 1 weights for 2 trials"),
        (
            [1.0, -1.0],
            "tar_weights: weights are finite and at least 0, but 1 of 2 values are not, the first at index 1",
        ),
        ([math.nan, 1.0], "the first at index 0: nan"),
        ([math.inf, 1.0], "tar_weights"),
        ([0.0, 0.0], "all 2 weights are 0"),
        ([1.0, 1e200], r"within \[1e-100, 1e100\], but 1 of 2 values are not, the first at index 1"),
        ([1e-300, 1.0], r"within \[1e-100, 1e100\]"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        metrics.eer([1.0, 2.0], [0.0], tar_weights=weights)


@pytest.mark.parametrize(("alpha", "beta"), [(0, 1), (1, 0.049), (101, 1), (math.nan, 1), (-1, 1)])
def test_rules_outside_the_family_are_refused(alpha, beta):
    with pytest.raises(InputError, match=r"\[0.05, 100\]"):
        metrics.scoring_rule_cost([1.0], [0.0], alpha=alpha, beta=beta, p_target=0.5)


@pytest.mark.parametrize("ratio", [0, -1, math.inf, math.nan])
def test_ratios_and_error_numbers_are_positive(ratio):
    with pytest.raises(InputError, match="ratio"):
        metrics.uer([1.0], [0.0], ratio=ratio)
    if ratio != math.inf:
        with pytest.raises(InputError, match="n_errors"):
            metrics.dr30([1.0], [0.0], n_errors=ratio)


def test_scores_exactly_at_the_threshold_are_accepted():
    """logit(sigma(x)) is not x: the threshold must be -prior_log_odds itself."""
    for x in (0.1, 1.7, -3.3, 25.0, 1e4):
        assert metrics.act_dcf([-x], [-x], prior_log_odds=x, normalize=False) == pytest.approx(
            1 / (1 + np.exp(min(x, 700)))
        )
        below = np.nextafter(-x, -np.inf)
        found = metrics.bayes_error([below], [below], prior_log_odds=x)
        assert found == pytest.approx(1 / (1 + np.exp(-x)))


def test_break_even_point_of_huge_counts_keeps_its_digits():
    found = metrics.prbep([0.0] * 14, [0.0], non_weights=[2**41])
    assert found == pytest.approx(14 * 2**41 / (14 + 2**41), rel=1e-15)


@pytest.mark.parametrize("points", [0.01, [np.full(4, 0.1)], [([0.1, 0.2], 1, 1)], [None], ["0.1"], [{}]])
def test_points_that_are_none(points):
    with pytest.raises(InputError):
        evaluate([1.0], [0.0], operating_points=points)


def test_operating_points_with_vanishing_costs():
    assert OperatingPoint(0.5, 5e-324, 5e-324).effective_prior == 0.5
    assert str(OperatingPoint(0.9999999999999999)) == "p_target 0.9999999999999999"
    with pytest.raises(InputError, match="one prior"):
        OperatingPoint([0.1, 0.2])
    with pytest.raises(InputError, match="p_target: expected one prior, got 2"):
        metrics.threshold_weighting(0.0, alpha=1, beta=1, p_target=[0.1, 0.2])
    with pytest.raises(InputError, match=r"prior_log_odds: got 701.*must be in \[-700, 700\]"):
        metrics.threshold_weighting(0.0, alpha=1, beta=1, prior_log_odds=701.0)


def test_sums_of_huge_scores_do_not_warn():
    assert evaluate([-1.7e308], [0.0]).curves.act_cross_entropy[0] > 1e300
    result = evaluate(np.full(10_000, 1e305), [0.0])
    assert result.cllr == pytest.approx(0.5)
    assert np.all(np.isfinite(result.curves.act_cross_entropy))


def test_c_primary_needs_a_point():
    with pytest.raises(InputError, match="operating_points: empty"):
        metrics.c_primary([1.0], [0.0], operating_points=[])
    assert metrics.c_primary([0.0], [0.0]) == 1.0


def test_threshold_weighting_of_the_logarithmic_rule():
    """For (1, 1) at even prior it is the derivative of the sigmoid (Bruemmer and Doddington 2013, figure 1)."""
    t = np.linspace(-5, 5, 11)
    s = 1 / (1 + np.exp(-t))
    np.testing.assert_allclose(metrics.threshold_weighting(t, alpha=1, beta=1, p_target=0.5), s * (1 - s), rtol=1e-10)
