"""Plans from pilots: what they predict comes out in larger evaluations, and what does not fit is refused."""

from dataclasses import replace

import numpy as np
import pytest

from deciban import evaluate, plan
from deciban.analysis.planning import Goal, Planner, plan_of_pilot
from deciban.errors import InputError
from deciban.metrics import act_dcf

from .test_pilots import crossed, pilot


@pytest.fixture(scope="module")
def scored():
    score, same, units, names = crossed(1)
    return {
        "tar": score[same], "non": score[~same], "tar_units": units[same], "non_units": units[~same],
        "tar_segments": names[same], "non_segments": names[~same],
    }  # fmt: skip


@pytest.fixture(scope="module")
def pilots():
    seeds = np.random.default_rng(7).integers(0, 10**6, 16)
    return [pilot(*crossed(int(seed), 25, 3), metric="act_dcf") for seed in seeds]


@pytest.mark.parametrize(("n", "n_segments"), [(20, 8), (60, 1), (60, 3)])
def test_predicted_standard_errors_come_out(n, n_segments, pilots):
    rng = np.random.default_rng(8)
    predicted = np.mean([Planner(one, Goal(width=0.1)).variance(n, n_segments) for one in pilots]) ** 0.5
    found = []
    for seed in rng.integers(0, 10**6, 120):
        score, same, *_ = crossed(int(seed), n, n_segments)
        found.append(act_dcf(score[same], score[~same], p_target=0.05))
    # The standard deviation of 120 draws is known to 6 %, the mean of 16 pilots to some 5 %.
    assert predicted == pytest.approx(np.std(found, ddof=1), rel=0.2)


def test_a_plan_has_the_smallest_designs(scored):
    found = plan(**scored, metric="eer", width=0.03, segments=[3, 1])
    assert [one.n_segments for one in found.designs] == [3.0, 1.0]
    assert all(one.reached <= 0.03 for one in found.designs)
    assert found.designs[0].n_units < found.designs[1].n_units
    assert found.designs[0].n_tar == 3 * found.designs[0].n_units
    assert found.endless <= found.designs[0].n_units
    assert found.between[0] <= found.designs[0].n_units <= found.between[1]
    default = plan(**scored, metric="eer", width=0.03)
    assert [one.n_segments for one in default.designs] == [3.0, 1.0, 2.0, 5.0, 10.0]


def test_shares_of_the_figure_are_of_its_expected_value(scored):
    found = plan(**scored, metric="cllr", width=0.1, relative=True)
    value = evaluate(scored["tar"], scored["non"]).cllr
    assert found.target == pytest.approx(0.1 * value)


def test_systems_that_err_together_need_fewer(scored):
    rng = np.random.default_rng(2)
    alike = tuple(scored[name] + 0.2 * rng.normal(size=len(scored[name])) for name in ("tar", "non"))
    both = plan(**scored, metric="cllr", difference=0.02, second=alike)
    alone = plan(**scored, metric="cllr", difference=0.02)
    assert both.designs[0].n_units < 0.3 * alone.designs[0].n_units
    assert both.pilot.value == pytest.approx(evaluate(scored["tar"], scored["non"]).cllr - evaluate(*alike).cllr)


def test_evaluations_are_planned_by_their_units_alone(scored):
    units = {name: scored[name] for name in ("tar_units", "non_units")}
    found = plan(evaluate(scored["tar"], scored["non"], **units), metric="cllr", width=0.05)
    assert [one.n_segments for one in found.designs] == [None]
    assert "all of the variance is assigned to differences between units" in found.lines


def test_refusals(scored):
    evaluated = evaluate(scored["tar"], scored["non"], tar_units=scored["tar_units"], non_units=scored["non_units"])
    scores = {name: scored[name] for name in ("tar", "non")}
    units = {name: scored[name] for name in ("tar_units", "non_units")}
    segments = {name: scored[name] for name in ("tar_segments", "non_segments")}
    own = {"tar_units": range(5), "non_units": range(5)}
    good = {"tar": [2.0, 3.0, 4.0, 5.0, 6.0], "non": [-1.0, 0.0, -2.0, -3.0, -4.0], **own}
    cases = [
        (scores, {}, "tar_units, non_units: none given"),
        ({"tar": scored["tar"]}, {}, "non: none given"),
        ({"tar": evaluated, "non": scored["non"]}, {}, "non: needs scores"),
        (scored, {"metric": "loss"}, "is not a metric of system"),
        (scored, {"metric": ("act_dcf", 3)}, "no interval"),
        (scored, {"segments": [0]}, "segments: got 0"),
        (scored, {"segments": [2.5]}, "whole numbers"),
        (scored, {"segments": []}, "at least one"),
        ({**scores, **units}, {"segments": [2]}, "segments of each unit are unknown"),
        ({**scores, **units}, {"trials_per_segment": 2}, "segments of each unit are unknown"),
        (scored, {"trials_per_segment": 0}, "trials_per_segment: got 0"),
        ({**scores, **units, "tar_segments": segments["tar_segments"]}, {}, "non_segments: missing"),
        ({**scores, **units, **segments, "tar_segments": [1]}, {}, "tar_segments: 1 segments"),
        (scored, {"second": scored["tar"]}, "second: pass the scores"),
        (scored, {"second": (scored["tar"], scored["tar"])}, "second: has not as many"),
        (good, {}, "does not vary"),
        (scored, {"width": 1e-12}, "more than a billion"),
        ({**scores, "tar_units": np.ones(120), "non_units": np.ones(4680)}, {}, "fewer than two"),
    ]
    for arguments, changed, words in cases:
        with pytest.raises(InputError, match=words):
            plan(**arguments, **{"width": 0.05, **changed})
    of_nothing = replace(pilot(*crossed(1)), scale="identity", value=0.0, expected=0.0)
    with pytest.raises(InputError, match="the metric is 0"):
        plan_of_pilot(of_nothing, Goal(width=0.1, relative=True))
