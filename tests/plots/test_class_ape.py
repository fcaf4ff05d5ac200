"""APE curves of every class."""

import numpy as np
import pytest

from deciban import plots
from deciban.errors import InputError
from deciban.evaluation import evaluate_classes
from deciban.evaluation.bands import detector_bands
from support.evaluated import class_trials, open_set, recognizer


def lines_of(panel):
    """Curves by style: reference, main, minimum, then the two before calibration."""
    pale = [line for line in panel.lines if line.get_alpha() == 0.45]
    full = [line for line in panel.lines if line.get_alpha() is None]
    reference, actual, least = (
        next(line for line in full if line.get_linestyle() == style) for style in (":", "-", "--")
    )
    return reference, actual, least, pale


def test_panels_draw_the_curves_of_each_class():
    result, before = recognizer(4), recognizer(4, scale=4.0)
    figure = plots.class_ape(result, before=before)
    assert len(figure.axes) == 4
    log_odds = result.curves.detector_log_odds
    for k, panel in enumerate(figure.axes):
        default = np.minimum(1 / (1 + np.exp(-log_odds)), 1 / (1 + np.exp(log_odds)))
        reference, actual, least, pale = lines_of(panel)
        np.testing.assert_allclose(reference.get_ydata(), default)
        np.testing.assert_array_equal(actual.get_ydata(), result.curves.act_error[k])
        np.testing.assert_array_equal(least.get_ydata(), result.curves.min_error[k])
        assert least.get_ydata().max() == pytest.approx(result.detection.eer[k], rel=0.02)
        assert len(pale) == 2
        np.testing.assert_array_equal(pale[0].get_ydata(), before.curves.act_error[k])
        np.testing.assert_array_equal(pale[1].get_ydata(), before.curves.min_error[k])
        # The area under the actual curve is 2 ln 2 Cllr, but for its ends.
        area = np.trapezoid(actual.get_ydata(), log_odds)
        assert area == pytest.approx(2 * np.log(2) * result.detection.cllr[k], abs=0.02)
        (text,) = panel.texts
        (cllr, least_cllr) = text.get_text().split("\n")
        was, now = cllr.removeprefix("Cllr ").split(" → ")
        assert float(was) == pytest.approx(before.detection.cllr[k], abs=0.006)
        assert float(now) == pytest.approx(result.detection.cllr[k], abs=0.006)
        assert float(least_cllr.removeprefix("min ")) == pytest.approx(result.detection.min_cllr[k], abs=0.006)


def test_bands_by_units_are_shaded_around_both_curves():
    loglik, label = class_trials(3)
    result = evaluate_classes(loglik, label, units=np.arange(len(label)) % 15, level=0.9)
    figure = plots.class_ape(result, before=evaluate_classes(3.0 * loglik, label, units=np.arange(60) % 15))
    for k, panel in enumerate(figure.axes):
        shaded = panel.collections
        assert len(shaded) == 2  # none of before
        for area, (low, high) in zip(shaded, detector_bands(result, k), strict=True):
            drawn = {tuple(point) for point in area.get_paths()[0].vertices}
            log_odds = result.curves.detector_log_odds[::4]
            assert drawn.issuperset(zip(log_odds, low[::4], strict=True))
            assert drawn.issuperset(zip(log_odds, high[::4], strict=True))
    (legend,) = figure.legends
    assert legend.get_texts()[-1].get_text() == "90 % band by unit"
    figure.draw_without_rendering()
    box = legend.get_window_extent()  # in two lines, as there are few panels
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    for one, more in ((result, {"bands": False}), (recognizer(3), {})):
        plain = plots.class_ape(one, **more)
        assert not any(panel.collections for panel in plain.axes)
        assert not any("band" in text.get_text() for text in plain.legends[0].get_texts())


def test_panels_share_their_axes_and_name_units_once():
    figure = plots.class_ape(recognizer(7, names=tuple("abcdefg")))
    assert [panel.get_title(loc="left") for panel in figure.axes] == list("abcdefg")
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in figure.axes}) == 1
    assert figure.axes[0].get_xlim() == (-7.0, 7.0)
    assert "nats" in figure.get_supxlabel()
    assert "(%)" in figure.get_supylabel()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["actual", "minimum", "without scores (llr 0)"]
    assert legend.get_title().get_text() == "Cllr in bits"


@pytest.mark.parametrize(("n", "columns"), [(2, 2), (3, 3), (4, 2), (7, 4), (20, 5)])
def test_few_places_are_left_empty(n, columns):
    figure = plots.class_ape(recognizer(n))
    figure.draw_without_rendering()
    places = [panel.get_subplotspec() for panel in figure.axes]
    assert len(places) == n
    assert places[0].get_gridspec().ncols == columns
    numbered = [p for p in figure.axes if any(label.get_text() for label in p.get_xticklabels())]
    assert len(numbered) == columns
    boxes = [panel.get_tightbbox() for panel in figure.axes]
    (legend,) = figure.legends
    assert legend.get_window_extent().y0 >= max(box.y1 for box in boxes)
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_columns_can_be_chosen():
    assert plots.class_ape(recognizer(4), columns=1).axes[0].get_gridspec().ncols == 1
    assert plots.class_ape(recognizer(4), columns=9).axes[0].get_gridspec().ncols == 4
    with pytest.raises(InputError, match="columns: got"):
        plots.class_ape(recognizer(4), columns=0)


def test_line_keywords_style_the_actual_curve():
    _, actual, least, _ = lines_of(plots.class_ape(recognizer(3), c="#123456", lw=3.5).axes[0])
    assert (actual.get_color(), actual.get_linewidth()) == ("#123456", 3.5)
    assert (least.get_color(), least.get_linewidth()) == ("#123456", 1.2)


def test_awful_curves_before_calibration_leave_the_panel():
    result = recognizer(3, n_trials=60)
    highest = max(line.get_ydata().max() for panel in plots.class_ape(result).axes for line in lines_of(panel)[1:3])
    top = plots.class_ape(result, before=recognizer(3, scale=-3.0, n_trials=60)).axes[0].get_ylim()[1]
    assert highest < top < 3 * highest


def test_other_classes_detected_before():
    with pytest.raises(InputError, match="before: 2 classes are detected, but 3 after calibration"):
        plots.class_ape(recognizer(3), before=open_set(3))


def test_a_class_out_of_set_has_no_panel():
    figure = plots.class_ape(open_set(4, names=("ant", "bee", "cat", "other")))
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["ant", "bee", "cat"]
