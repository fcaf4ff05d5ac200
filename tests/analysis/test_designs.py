"""What designs promise: variances that scale as numbers do, widths and powers by their formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deciban.analysis.pilots import Pilot
from deciban.analysis.planning import Goal, Planner
from deciban.core.resampling.class_sums import Component
from deciban.errors import InputError

SIZES = {"unit": 0.02, "segment": 0.06, "pair of units": 1.5}


def pilot(**changes):
    """Fifty speakers with four segments each, all against all; variances are 4e-4, 3e-4 and 1.22e-3, and of trials."""
    parts = [
        Component(name, (1, 1), size, share)
        for (name, size), share in zip(SIZES.items(), (1 / 50, 1 / 200, 1 / math.comb(50, 2)), strict=True)
    ]
    parts += [Component("trial", (0, 0), 0.02, 1 / 200), Component("trial", (1, 1), 0.98, 1 / 9800)]
    given = {
        "metric": "cllr", "words": "Cllr", "in_percent": False, "names": ("a",), "value": 0.4, "expected": 0.4,
        "scale": "identity", "noun": "speaker", "source": "", "n_units": 50, "n_tar": 200, "n_non": 9800,
        "n_segments": 4.0, "both_sides": False, "is_crossed": True, "components": tuple(parts), "spread": 0.2,
    }  # fmt: skip
    return Pilot(**given | changes)


@given(n=st.integers(3, 10**6), segments=st.integers(1, 1000))
def test_variances_of_crossed_designs_follow_from_their_numbers(n, segments):
    planner = Planner(pilot(), Goal(width=0.1))
    n_tar, n_non = n * segments, n * (n - 1) * segments
    assert planner.counts(n, segments) == pytest.approx((n_tar, n_non))
    expected = 0.02 / n + 0.06 / (n * segments) + 1.5 / math.comb(n, 2) + 0.02 / n_tar + 0.98 / n_non
    assert planner.variance(n, segments) == pytest.approx(expected, rel=1e-12)


def test_designs_may_have_so_many_trials_of_each_segment():
    planner = Planner(pilot(), Goal(width=0.1, trials_per_segment=20))
    assert planner.counts(100, 2.0) == pytest.approx((200, 4000))
    pairs = math.comb(100, 2)
    share = 1 / pairs + (1 - 1 / pairs) / 4000
    expected = 0.02 / 100 + 0.06 / 200 + 1.5 * share + 0.02 / 200 + 0.98 / 4000
    assert planner.variance(100, 2.0) == pytest.approx(expected)


def test_segments_on_both_sides_are_tried_against_each_other():
    planner = Planner(pilot(both_sides=True, n_tar=300, n_non=19600), Goal(width=0.1))
    # 4 segments make 6 target trials, 7 make 21; non-targets are all pairs of segments of two speakers.
    assert planner.counts(50, 7.0) == pytest.approx((50 * 21, math.comb(50, 2) * 49))


def test_pilots_that_are_no_cross_keep_their_trials_of_each_segment():
    planner = Planner(pilot(is_crossed=False), Goal(width=0.1))
    assert planner.counts(500, 8.0) == pytest.approx((4000, 9800 * 10 * 2))


def test_the_width_is_that_of_the_interval_and_the_fewest_units_reach_it():
    planner = Planner(pilot(), Goal(width=0.05, level=0.9))
    design = planner.design(4.0)
    for n, reached in ((design.n_units, True), (design.n_units - 1, False)):
        width = 2 * stats.t.ppf(0.95, n - 1) * math.sqrt(planner.variance(n, 4.0))
        assert bool(width <= 0.05) is reached
    assert design.reached == pytest.approx(2 * stats.t.ppf(0.95, design.n_units - 1) * design.standard_error)
    assert (design.n_tar, design.n_non) == (4 * design.n_units, 4 * design.n_units * (design.n_units - 1))


def test_a_difference_is_seen_as_often_as_the_power_says():
    planner = Planner(pilot(names=("a", "b"), value=0.1, expected=0.1), Goal(difference=0.04, power=0.9))
    design = planner.design(4.0)
    n, ratio = design.n_units, 0.04 / design.standard_error
    # Of a two-sided t test, whose power the quantiles of the central distribution give nearly.
    limit = stats.t.ppf(0.975, n - 1)
    assert stats.nct.sf(limit, n - 1, ratio) == pytest.approx(0.9, abs=0.01)
    # Without the other system, two that err independently of each other: twice the variance.
    alone = Planner(pilot(), Goal(difference=0.04, power=0.9))
    assert alone.reached(n, 4.0) == pytest.approx(math.sqrt(2) * planner.reached(n, 4.0))


@pytest.mark.parametrize("scale", ["log", "logit", "identity"])
def test_more_units_and_more_segments_never_promise_less(scale):
    planner = Planner(pilot(scale=scale), Goal(width=0.1))
    for n in (5, 50, 5000):
        assert planner.reached(n, 4.0) > planner.reached(n + 1, 4.0)
        assert planner.reached(n, 4.0) > planner.reached(n, 5.0)


def test_standard_errors_grow_with_the_expected_value():
    grown = pilot(growth=1.25)
    assert sum(grown.levels.values()) == pytest.approx(sum(pilot().levels.values()) * 1.25**2)


def test_components_below_zero_count_as_none():
    parts = (
        Component("unit", (0, 0), 0.01, 0.02),
        Component("unit", (0, 1), -0.002, 0.04),
        Component("trial", (1, 1), -1.0, 0.1),
    )
    assert pilot(components=parts).levels == pytest.approx({"unit": 0.0002 - 0.00016, "trial of non-targets": 0.0})


def test_the_range_of_units_goes_with_what_the_pilot_knows_of_its_variance():
    planner = Planner(pilot(), Goal(width=0.05))
    low, high = planner.between(4.0)
    assert low < planner.fewest(4.0) < high
    factor = math.exp(stats.norm.ppf(0.975) * 0.2)
    assert 2 * stats.t.ppf(0.975, high - 1) * math.sqrt(factor * planner.variance(high, 4.0)) <= 0.05
    assert Planner(replace(pilot(), spread=None), Goal(width=0.05)).between(4.0) is None


def test_what_takes_more_than_a_billion_units_is_none():
    assert Planner(pilot(), Goal(width=1e-9)).design(4.0) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "got neither"),
        ({"width": 0.1, "difference": 0.1}, "got both"),
        ({"width": 0.0}, "width: got 0.0"),
        ({"width": math.inf}, "width: got inf"),
        ({"difference": -1.0}, "difference: got -1.0"),
        ({"width": math.nan}, "width: got nan"),
        ({"width": 0.1, "level": 1.0}, "level"),
        ({"difference": 0.1, "power": 0.4}, "power: got 0.4"),
        ({"difference": 0.1, "power": 1.0}, "power: got 1.0"),
    ],
)
def test_goals_that_are_none_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        Goal(**given)


def test_curves_are_what_is_reached():
    planner = Planner(pilot(), Goal(width=0.05))
    found = planner.curve(4.0, np.array([10, 100]))
    assert found == pytest.approx([planner.reached(10, 4.0), planner.reached(100, 4.0)])
