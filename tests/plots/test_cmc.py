"""The plot of identification rates over the rank."""

import numpy as np
import pytest

from deciban.biometrics import cmc
from deciban.errors import InputError
from deciban.plots import cmc as draw


def searched(seed, n=40):
    rng = np.random.default_rng(seed)
    return cmc(rng.normal(size=(n, 20)) + 2 * np.eye(20)[np.arange(n) % 20], np.arange(n) % 20, np.arange(20))


def test_curves_are_the_rates_on_a_logarithmic_axis():
    systems = {"a": searched(1), "b": searched(2)}
    ax = draw(systems)
    lines = {line.get_label(): line for line in ax.lines if len(line.get_xdata())}
    assert ax.get_xscale() == "log"
    for name, one in systems.items():
        np.testing.assert_array_equal(lines[name].get_xdata(), np.arange(1, 21))
        np.testing.assert_array_equal(lines[name].get_ydata(), np.asarray(one))
        assert lines[name].get_drawstyle() == "steps-post"
    assert len(ax.collections) == 2
    assert "95 % intervals by subject" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_without_intervals_nothing_is_shaded():
    ax = draw({"a": cmc([[0.9, 0.1], [0.6, 0.2]], ["x", "y"], ["x", "y"])})
    assert len(ax.collections) == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a"]


@pytest.mark.parametrize("wrong", [{}, searched(1), {"a": [1.0]}, None])
def test_other_objects_are_refused(wrong):
    with pytest.raises(InputError, match="mapping of names"):
        draw(wrong)
