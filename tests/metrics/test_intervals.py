"""Influences and intervals of single metrics: central differences of the metrics themselves, and what is refused."""

import numpy as np
import pytest
from scipy import stats

from deciban import InputError, evaluate, metrics
from deciban.metrics.intervals import influences, interval
from support.speakers import crossed, one_sided

CASES = [
    ("eer", {}),
    ("uer", {"ratio": 3.0}),
    ("auc", {}),
    ("cllr", {}),
    ("min_cllr", {}),
    ("act_dcf", {"p_target": 0.2}),
    ("act_dcf", {"p_target": 0.2, "c_miss": 3.0, "c_fa": 2.0}),
    ("min_dcf", {"p_target": 0.05, "c_fa": 2.0}),
    ("cross_entropy", {"p_target": 0.1}),
    ("min_cross_entropy", {"p_target": 0.3}),
    ("scoring_rule_cost", {"alpha": 2.0, "beta": 1.0, "p_target": 0.1}),
    ("min_scoring_rule_cost", {"alpha": 0.5, "beta": 0.5, "p_target": 0.6}),
]


@pytest.mark.parametrize("trials", [crossed(12), one_sided(12)], ids=["crossed", "one"])
@pytest.mark.parametrize(("figure", "at"), CASES)
def test_influences_are_central_differences(trials, figure, at):
    found, step, metric = influences(figure, trials.tar, trials.non, **trials.arguments, **at), 1e-5, None
    metric = getattr(metrics, figure)
    for unit in (0, 5, 11):
        sides = []
        for weight in (1 + step, 1 - step):
            by_unit = np.ones(12)
            by_unit[unit] = weight
            tar, non = trials.weights(by_unit)
            sides.append(metric(trials.tar, trials.non, tar_weights=tar, non_weights=non, **at))
        assert found[unit] == pytest.approx((sides[0] - sides[1]) / 2 / step, abs=2e-6)


def test_intervals_are_those_of_evaluations():
    trials = crossed(15)
    whole = evaluate(trials.tar, trials.non, operating_points=[0.2], optimism=False, **trials.arguments)
    point = {"p_target": 0.2}
    for figure, at in (("eer", {}), ("auc", {}), ("min_cllr", {}), ("act_dcf", point), ("min_dcf", point)):
        expected = whole.interval(figure, level=0.8)
        found = interval(figure, trials.tar, trials.non, **trials.arguments, level=0.8, **at)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_difference_of_systems_is_one_of_influences():
    rng = np.random.default_rng(1)
    tar, non = rng.normal(1, 1, (2, 300)), rng.normal(-1, 1, (2, 300))
    units = {"tar_units": np.arange(300), "non_units": 300 + np.arange(300)}
    one, other = (influences("act_dcf", tar[k], non[k], p_target=0.5, **units) for k in (0, 1))
    gap = (tar[0] < 0) * 1.0 - (tar[1] < 0), (non[0] >= 0) * 1.0 - (non[1] >= 0)
    expected = sum(stats.sem(side, ddof=0) ** 2 for side in gap)
    assert np.sum((one - other) ** 2) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("figure", "at", "words"),
    [
        ("err", {}, "got 'err'. There are eer"),
        ("uer", {}, "uer lacks ratio"),
        ("eer", {"ratio": 1.0}, "eer takes no ratio"),
        ("act_dcf", {}, "lacks p_target"),
    ],
)
def test_figures_and_their_arguments_must_be_known(figure, at, words):
    with pytest.raises(InputError, match=words):
        influences(figure, [1.0, 2.0], [0.0, 1.0], tar_units=[1, 2], non_units=[1, 2], **at)


def test_what_has_no_interval_is_refused():
    with pytest.raises(InputError, match="cllr is inf"):
        interval("cllr", [-np.inf, 1.0], [0.0, 1.0], tar_units=[1, 2], non_units=[1, 2])
    with pytest.raises(InputError, match="one unit"):
        interval("eer", [0.0, 1.0], [0.0, 1.0], tar_units=[1, 1], non_units=[1, 1])
    with pytest.raises(InputError, match="tar_units: units of 1 trials for 2 scores"):
        interval("eer", [0.0, 1.0], [0.0, 1.0], tar_units=[1], non_units=[1, 1])
    with pytest.raises(InputError, match="level"):
        interval("eer", [0.0, 1.0], [0.0, 1.0], tar_units=[1, 2], non_units=[1, 2], level=2)
    with pytest.raises(InputError, match="non_units: 3.6 effective units. An interval needs at least 5"):
        interval("eer", np.arange(6), np.arange(6), tar_units=np.arange(6), non_units=[1, 1, 2, 2, 3, 4])
