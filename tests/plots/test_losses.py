"""Stacked bars of discrimination and calibration loss."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from deciban import plots
from deciban.errors import InputError
from support.evaluated import recognizer


def widths(container):
    return [bar.get_width() for bar in container]


def with_detection(result, **arrays):
    return dataclasses.replace(result, detection=dataclasses.replace(result.detection, **arrays))


def test_bars_add_up_to_cllr():
    result = recognizer(4, scale=3.0, names=("ant", "bee", "cat", "dog"))
    ax = plots.class_losses(result)
    low, high = ax.containers
    np.testing.assert_array_equal(widths(low), result.detection.min_cllr)
    np.testing.assert_allclose(np.add(widths(low), widths(high)), result.detection.cllr)
    assert [bar.get_x() for bar in high] == widths(low)
    assert min(widths(high)) > 0.01
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ant", "bee", "cat", "dog"]
    middles = [bar.get_y() + bar.get_height() / 2 for bar in low]
    assert middles == pytest.approx([0, 1, 2, 3])
    assert ax.yaxis_inverted()
    assert "bits" in ax.get_xlabel()
    assert len(ax.texts) == 4
    assert float(ax.texts[0].get_text()) == pytest.approx(result.detection.cllr[0], abs=0.006)


def test_bars_of_systems_stand_side_by_side():
    systems = [recognizer(3), recognizer(3, "sysB", scale=4.0)]
    ax = plots.class_losses(systems)
    assert len(ax.containers) == 4
    spans = sorted(
        (bar.get_y(), bar.get_y() + bar.get_height()) for c in (ax.containers[0], ax.containers[2]) for bar in c
    )
    assert all(one[1] < two[0] for one, two in pairwise(spans))
    np.testing.assert_array_equal(widths(ax.containers[2]), systems[1].detection.min_cllr)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:4] == ["sysA", "sysB", "discrimination loss (min Cllr)", "calibration loss"]


def test_long_bars_are_cut_off_and_their_numbers_stay():
    result = with_detection(recognizer(3), cllr=np.array([np.inf, 7.5, 0.9]), min_cllr=np.array([0.5, 0.25, 0.9]))
    ax = plots.class_losses(result)
    assert ax.get_xlim() == (0.0, 2.0)
    assert [text.get_text() for text in ax.texts] == ["∞ →", "7.50 →", ".900"]
    assert np.all(np.isfinite(widths(ax.containers[1])))
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    assert all(text.get_window_extent().x1 < frame.x1 for text in ax.texts)
    assert "without scores (llr 0)" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_perfect_detectors_draw():
    result = with_detection(recognizer(3), cllr=np.zeros(3), min_cllr=np.zeros(3))
    ax = plots.class_losses(result)
    assert ax.get_xlim() == (0.0, 1.0)
    assert [text.get_text() for text in ax.texts] == ["0", "0", "0"]


def test_the_class_that_is_out_of_set_has_no_bar():
    few = {
        name: getattr(recognizer(3).detection, name)[:-1] for name in ("target", "cost", "min_cost", "cllr", "min_cllr")
    }
    result = with_detection(recognizer(3), classes=("0", "1"), **few)
    assert [label.get_text() for label in plots.class_losses(result).get_yticklabels()] == ["0", "1"]
    with pytest.raises(InputError, match="do not detect the same classes"):
        plots.class_losses([recognizer(3), result])


def test_bar_keywords():
    ax = plots.class_losses(recognizer(3), hatch="//", color="red")
    assert {bar.get_hatch() for container in ax.containers for bar in container} == {"//"}
    assert ax.patches[0].get_facecolor() == (1.0, 0.0, 0.0, 1.0)
