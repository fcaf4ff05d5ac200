"""What a fusion loses without a system: differences of costs, with intervals of the units that both share."""

import numpy as np
import pytest

import deciban
from deciban import ClassResults, InputError
from deciban.analysis import FusionRow
from deciban.analysis.comparison import compare_results
from deciban.analysis.fusion import worth_of_systems


def row(name, seed, n=240, **how):
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 3
    loglik = 2.0 * np.eye(3)[label] + rng.normal(size=(n, 3))
    return FusionRow(name=name, role="fusion", dev=deciban.evaluation.evaluate_classes(loglik, label, name=name, **how))


def test_losses_are_differences_of_costs_with_the_intervals_of_a_comparison():
    units = np.arange(240) // 3
    whole, one, other = (row(name, seed, units=units) for seed, name in enumerate("wab"))
    found = worth_of_systems("AB", whole, [one, other])
    assert [loss.name for loss in found] == ["A", "B"]
    (pair,) = compare_results(ClassResults((one.dev, whole.dev))).pairs
    assert found[0].dev.value == pytest.approx(one.dev.cllr - whole.dev.cllr, rel=1e-9)
    (interval,) = [metric.interval for metric in pair.metrics if metric.metric == "cllr"]
    assert (found[0].dev.low, found[0].dev.high) == (interval.low, interval.high)
    assert [loss.eval for loss in found] == [None, None]
    narrow = worth_of_systems("AB", whole, [one, other], level=0.5)[0].dev
    assert found[0].dev.low < narrow.low < narrow.high < found[0].dev.high
    with pytest.raises(InputError, match="level"):
        worth_of_systems("AB", whole, [one, other], level=95.0)


def test_what_cannot_be_trained_or_has_no_units_has_no_number_or_no_interval():
    whole, one = row("w", 0), row("a", 1)
    lacking = FusionRow(name="b", role="leave-one-out", dev=None, note="not trained")
    first, second = worth_of_systems("AB", whole, [one, lacking])
    assert (first.dev.value, first.dev.low) == (one.dev.cllr - whole.dev.cllr, None)
    assert second.dev is None
