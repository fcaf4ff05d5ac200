"""Smaller pictures look the same."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.report.scripts import smaller, thinned

PLACES = st.tuples(st.floats(-500, 500), st.floats(-500, 500))


def distance(point, start, end):
    """From a point to a segment."""
    point, start, end = map(np.asarray, (point, start, end))
    along = float(np.dot(end - start, end - start))
    share = 0.0 if along == 0 else float(np.clip(np.dot(point - start, end - start) / along, 0, 1))
    return float(np.hypot(*(point - start - share * (end - start))))


@given(st.lists(PLACES, min_size=1, max_size=40))
def test_what_is_left_out_is_on_what_remains(points):
    kept = thinned(points)
    assert (kept[0], kept[-1]) == (points[0], points[-1]) or len(kept) == 1
    segments = list(itertools.pairwise(kept)) or [(kept[0], kept[0])]
    for point in points:
        assert min(distance(point, *segment) for segment in segments) <= 0.25


def test_a_smooth_curve_needs_few_corners():
    x = np.linspace(0, 300, 5000)
    y = 100 * np.sin(x / 50)
    kept = thinned(list(zip(x.tolist(), y.tolist(), strict=True)))
    assert len(kept) < 150
    found = np.interp(x, *np.array(kept).T)
    assert np.abs(found - y).max() < 0.4


def test_a_staircase_keeps_its_corners():
    corners = [(0.0, 0.0), (0.0, 5.0), (3.0, 5.0), (3.0, 9.0), (8.0, 9.0)]
    assert thinned(corners) == corners


@given(st.lists(PLACES, min_size=2, max_size=20))
def test_steps_end_where_the_line_ends(points):
    data = "M " + "\nL ".join(f"{x:.6f} {y:.6f}" for x, y in points)
    short = smaller(f'<path d="{data} "/>')
    numbers = np.array(re.findall(r"-?[\d.]+", short), dtype=float).reshape(-1, 2)
    assert numbers.sum(axis=0) == pytest.approx(points[-1], abs=0.06)


def test_curves_end_where_they_ended():
    short = smaller('<path d="M 1.23456 2 Q 3 4 5.55555 6 C 1 1 2 2 7.77777 -3 L 8 8.126 z M 1 1 L 2 2 "/>')
    assert short == '<path d="M1.23 2q1.77 2 4.33 4c-4.56-5-3.56-4 2.22-9l0.22 11.13zM1 1l1 1"/>'


def test_whatever_is_not_a_line_or_a_curve_stays_as_it_is():
    for text in ('<path d="M 1.23456 2 A 3 4 5 6 7 8 9"/>', "<text>d=1.23456</text>", '<path id="a"/>'):
        assert smaller(text) == text
