"""Intervals of single metrics: errors of the jackknife, intervals of evaluations, and what is refused."""

import numpy as np
import pytest

from deciban import InputError, evaluate, metrics
from deciban.metrics.intervals import interval
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
def test_errors_of_mean_costs_are_those_of_the_jackknife(trials, figure, at):
    found, metric, changes = (
        interval(figure, trials.tar, trials.non, **trials.arguments, **at),
        getattr(metrics, figure),
        [],
    )
    assert found.low < found.estimate == metric(trials.tar, trials.non, **at) < found.high
    if figure in ("cllr", "act_dcf", "cross_entropy", "scoring_rule_cost"):
        for unit in range(12):
            keep = [~(one.reshape(len(one), -1) == unit).any(axis=1) for one in (trials.tar_units, trials.non_units)]
            changes.append(metric(trials.tar[keep[0]], trials.non[keep[1]], **at) - found.estimate)
        assert found.standard_error == pytest.approx(np.sqrt(11 / 12 * np.sum(np.square(changes))), rel=1e-9)


def test_intervals_are_those_of_evaluations():
    trials = crossed(15)
    whole = evaluate(trials.tar, trials.non, operating_points=[0.2], optimism=False, **trials.arguments)
    point = {"p_target": 0.2}
    for figure, at in (("eer", {}), ("auc", {}), ("min_cllr", {}), ("act_dcf", point), ("min_dcf", point)):
        expected = whole.interval(figure, level=0.8)
        found = interval(figure, trials.tar, trials.non, **trials.arguments, level=0.8, **at)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("figure", "at", "words"),
    [
        ("err", {}, "got 'err'. Known metrics: eer"),
        ("uer", {}, "uer requires ratio"),
        ("eer", {"ratio": 1.0}, "eer takes no ratio"),
        ("act_dcf", {}, "requires p_target"),
    ],
)
def test_figures_and_their_arguments_must_be_known(figure, at, words):
    with pytest.raises(InputError, match=words):
        interval(figure, [1.0, 2.0], [0.0, 1.0], tar_units=[1, 2], non_units=[1, 2], **at)


def test_what_has_no_interval_is_refused():
    with pytest.raises(InputError, match="cllr is inf"):
        interval("cllr", [-np.inf, 1.0], [0.0, 1.0], tar_units=[1, 2], non_units=[1, 2])
    with pytest.raises(InputError, match="one unit"):
        interval("eer", [0.0, 1.0], [0.0, 1.0], tar_units=[1, 1], non_units=[1, 1])
    with pytest.raises(InputError, match="tar_units: 1 units for 2 scores"):
        interval("eer", [0.0, 1.0], [0.0, 1.0], tar_units=[1], non_units=[1, 1])
    with pytest.raises(InputError, match="level"):
        interval("eer", [0.0, 1.0], [0.0, 1.0], tar_units=[1, 2], non_units=[1, 2], level=2)
    with pytest.raises(InputError, match="non_units: 3.6 effective units. An interval needs at least 5"):
        interval("eer", np.arange(6), np.arange(6), tar_units=np.arange(6), non_units=[1, 1, 2, 2, 3, 4])
