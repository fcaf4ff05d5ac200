"""Pictures of fusions show the numbers of models and of trials."""

import numpy as np
import pytest

from deciban import InputError, plots
from deciban.fusion import LinearFusion
from deciban.models.weight_intervals import weight_intervals


def fusion_of(n_systems, **how):
    rng = np.random.default_rng(3)
    is_target = np.arange(240) % 3 == 0
    scores = np.where(is_target, 1.0, -1.0)[:, None] * np.linspace(0.1, 0.4, n_systems) + rng.normal(
        size=(240, n_systems)
    )
    return LinearFusion().fit(scores, is_target, **how)


@pytest.mark.parametrize("n_systems", [1, 2, 10])
def test_weights_and_intervals_are_drawn_in_rows(n_systems):
    fusion = fusion_of(n_systems, units=np.arange(240) // 6)
    ax = plots.fusion_weights(fusion, level=0.9)
    drawn = {(tuple(line.get_xdata()), line.get_ydata()[0]) for line in ax.lines if len(line.get_xdata())}
    for row, one in enumerate(weight_intervals(fusion, level=0.9)):
        assert {((one.weight,), row), ((one.low, one.high), row)} <= drawn
    assert len(ax.get_yticklabels()) == n_systems
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["weight", "90 % interval"]


def test_weights_without_units_are_dots():
    ax = plots.fusion_weights(fusion_of(2))
    assert [len(line.get_xdata()) for line in ax.lines] == [2, 1, 1]  # the line at 0, and the weights
    with pytest.raises(InputError, match="level"):
        plots.fusion_weights(fusion_of(2), level=1.0)
