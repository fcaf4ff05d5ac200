"""Pictures of what errors are made of."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from deciban import plots
from deciban.errors import InputError
from deciban.evaluation import evaluate


def lines_of(ax, linestyle):
    return [one for one in ax.lines if one.get_linestyle() == linestyle and len(one.get_xdata()) > 2]


def test_misses_and_false_alarms_are_counted_and_add_up():
    rng = np.random.default_rng(3)
    tar, non = rng.normal(2, 2, 80), rng.normal(-2, 2, 300)
    ax = plots.error_contributions(evaluate(tar, non))
    (whole,), (misses,), (alarms,) = (lines_of(ax, style) for style in ("-", "--", ":"))
    x = whole.get_xdata()
    for place in range(0, len(x), 37):
        p, default = expit(x[place]), min(expit(x[place]), expit(-x[place]))
        assert misses.get_ydata()[place] == pytest.approx(p * np.mean(tar < -x[place]) / default)
        assert alarms.get_ydata()[place] == pytest.approx((1 - p) * np.mean(non >= -x[place]) / default)
    np.testing.assert_allclose(whole.get_ydata(), misses.get_ydata() + alarms.get_ydata(), atol=1e-12)


def test_only_a_system_alone_is_shaded(system, systems):
    assert len(plots.error_contributions(system).collections) == 2
    assert len(plots.error_contributions(systems).collections) == 0


def test_bars_are_error_rates_at_the_operating_points():
    tar, non = [2.0, 1.0, -1.0, 3.0], [-2.0, 0.5, -3.0, -1.0, -4.0]
    result = evaluate(tar, non, operating_points=[0.5, (0.2, 2, 1)])
    ax = plots.ape_bars(result)
    wholes = [low[0].get_height() + high[0].get_height() for low, high in zip(*[iter(ax.containers)] * 2, strict=True)]
    # At 0.5 one of four targets and one of five non-targets are wrong; (0.2, 2, 1) is a prior of 1/3, threshold ln 2.
    assert wholes == pytest.approx([0.5 / 4 + 0.5 / 5, 1 / 3 / 4])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["p_target 0.5", "p_target 0.2, costs 2:1"]
    assert all(high[0].get_hatch() for high in ax.containers[1::2])


def test_development_is_dashed_and_evaluation_solid(systems):
    dev = [evaluate([1.0, 2.0, 4.0], [-3.0, 0.0, 1.5], name=one.name) for one in systems]
    ax = plots.dev_and_eval(dev, systems)
    solid, dashed = lines_of(ax, "-"), lines_of(ax, "--")
    for k, (new, old) in enumerate(zip(systems, dev, strict=True)):
        np.testing.assert_array_equal(solid[2 * k].get_ydata(), new.curves.act_error)
        np.testing.assert_array_equal(dashed[2 * k].get_ydata(), old.curves.act_error)
        np.testing.assert_array_equal(dashed[2 * k + 1].get_ydata(), old.curves.min_error)
        assert solid[2 * k].get_color() == dashed[2 * k].get_color()


def test_the_same_systems_are_on_both_sets(systems):
    with pytest.raises(InputError, match="dev: 1 systems, but result has 3"):
        plots.dev_and_eval(systems[0], systems)


@pytest.mark.parametrize("kind", ["error_contributions", "ape_bars"])
def test_degenerate_systems_are_drawn(kind, degenerate):
    for one in [*degenerate, degenerate]:
        assert getattr(plots, kind)(one).get_legend() is not None


def test_results_without_decisions_at_priors_are_refused(system):
    with pytest.raises(InputError, match="sysA has no decisions at priors"):
        plots.error_contributions(replace(system, at_priors=None))
