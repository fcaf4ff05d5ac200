"""The plot of a plan: widths over numbers of speakers, what is wanted and where it is reached."""

import numpy as np
import pytest

from deciban import InputError, evaluate, plan, plots


@pytest.fixture(scope="module")
def planned():
    rng, speaker = np.random.default_rng(1), np.repeat(np.arange(40), 5)
    tar, non = rng.normal(2, 1, 200) + rng.normal(size=40)[speaker], rng.normal(-2, 1, 200)
    return plan(tar, non, tar_units=speaker, non_units=speaker, width=0.03, segments=[5, 20])


def test_curves_and_designs_are_those_of_the_plan(planned):
    ax = plots.plan(planned)
    for design, curve, label in zip(
        planned.designs, planned.curves, ("5 segments each", "20 segments each"), strict=True
    ):
        (line,) = [one for one in ax.lines if one.get_label() == label]
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack((planned.curve_units, curve)))
        (dot,) = [one for one in ax.lines if one.get_marker() == "o" and one.get_color() == line.get_color()]
        assert dot.get_xydata().tolist() == [[design.n_units, design.reached]]
    assert any(list(line.get_ydata()) == [planned.target] * 2 for line in ax.lines)
    assert ax.get_ylabel() == "Width of the interval: EER (ROCCH) (%)"
    low, high = ax.get_xlim()
    assert low < planned.designs[0].n_units < high


def test_evaluations_are_no_plans():
    with pytest.raises(InputError, match="expected a Plan"):
        plots.plan(evaluate([1.0], [0.0]))
