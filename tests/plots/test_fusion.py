"""Pictures of fusions show the numbers of models and of trials."""

import numpy as np
import pytest
from matplotlib.lines import AxLine
from scipy import stats

from deciban import InputError, plots
from deciban.analysis import score_pairs
from deciban.calibration import MulticlassCalibrator
from deciban.core.ranks.roc import OperatingPoint
from deciban.fusion import LinearFusion
from deciban.models.multiclass import weight_intervals


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


def calibrator_of(**how):
    rng = np.random.default_rng(4)
    label = np.arange(240) % 3
    loglik = 2.0 * (np.eye(3)[label] + rng.normal(size=(240, 3)) / 2) + [0.0, 1.0, -1.0]
    return MulticlassCalibrator().fit(loglik, label, units=np.arange(240) // 6, **how)


def test_offsets_and_the_scale_are_drawn_with_their_intervals():
    model = calibrator_of(classes=["eel", "owl", "yak"])
    known = model.uncertainty_
    reach, bias = stats.t.ppf(0.95, known.degrees), known.bias
    errors = np.sqrt(np.diag(model.parameter_covariance_))
    ax = plots.class_parameters(model, level=0.9)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["eel", "owl", "yak"]
    assert ax.lines[0].get_xdata() == [0.0, 0.0]
    drawn = [tuple(line.get_xdata()) for line in ax.lines[1:]]
    for x, error, by in zip(model.offset_, errors[1:], bias[1:], strict=True):
        assert (x,) in drawn
        assert any(
            one == pytest.approx((x - by - reach * error, x - by + reach * error)) for one in drawn if len(one) == 2
        )
    ax = plots.class_parameters(model, what="scale", level=0.9)
    assert ax.lines[0].get_xdata() == [1.0, 1.0]
    ends = model.scale_ - bias[0] - reach * errors[0], model.scale_ - bias[0] + reach * errors[0]
    assert [tuple(line.get_xdata()) for line in ax.lines[1:3]] == [pytest.approx(ends), (model.scale_,)]


def test_classes_without_names_have_those_that_are_passed_or_numbers():
    model = calibrator_of()
    labels = [plots.class_parameters(model, classes=names).get_yticklabels() for names in ((), ("a", "b", "c"))]
    assert [[text.get_text() for text in some] for some in labels] == [["0", "1", "2"], ["a", "b", "c"]]
    with pytest.raises(InputError, match="'weight'"):
        plots.class_parameters(model, what="weight")


def two_systems(n, **how):
    rng = np.random.default_rng(5)
    is_target = np.arange(n) % 3 == 0
    scores = np.where(is_target, 1.0, -1.0)[:, None] * [0.8, 0.5] + rng.normal(size=(n, 2))
    return scores, is_target, score_pairs(scores, is_target, names=["A", "B"], **how)


def test_dots_are_scores_and_the_line_lies_between_decisions():
    fusion = fusion_of(2)
    scores, is_target, pairs = two_systems(300, model=fusion, operating_points=[OperatingPoint(0.2)])
    ax = plots.score_scatter(pairs)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), scores[is_target])
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), scores[~is_target])
    (line,) = [one for one in ax.lines if isinstance(one, AxLine)]
    np.testing.assert_allclose(fusion.transform([line.get_xy1(), line.get_xy2()]), np.log(4.0))
    assert "fusion decides at p_target 0.2" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_many_trials_are_cells_with_scales_of_counts():
    _, _, pairs = two_systems(6000)
    ax = plots.score_scatter(pairs)
    non, tar = ax.collections
    assert (non.get_array().sum(), tar.get_array().sum()) == (4000, 2000)
    assert [bar.get_ylabel() for bar in ax.figure.axes[1:]] == [
        "Non-targets in a cell (4,000 in all)",
        "Targets in a cell (2,000 in all)",
    ]
    with pytest.raises(InputError, match="got int"):
        plots.score_scatter(3)
