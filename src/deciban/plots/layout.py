"""Where the Axes of a picture stand: as far out as their labels and their legend leave room."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.spines import Spine
from matplotlib.transforms import Bbox

from deciban.types import FloatArray

_SIDES = 0.6, 0.12
"""Inches that most pictures need on the left and on the right: where measuring begins."""

_ROUNDS = 6
"""How often a place may be found wanting; mostly the first one is right."""


def lay_out(figure: Figure, engine: ConstrainedLayoutEngine) -> None:
    """Do what an engine does, in half the time where there is but one Axes.

    The engine measures all labels twice, and each side of the frame as if it were one more label. Here they are
    measured again only where moving the Axes changed what they need, and sides are known to need nothing.
    """
    if not (_is_simple(figure) and _place(figure.axes[0], engine)):
        engine.execute(figure)


def _is_simple(figure: Figure) -> bool:
    """Whether all that needs room is one Axes, with what belongs to it, in a grid of one."""
    if len(figure.axes) != 1 or figure.subfigs or figure.texts or figure.legends:
        return False
    place = figure.axes[0].get_subplotspec()
    return place is not None and place.get_gridspec().get_geometry() == (1, 1) and figure.axes[0].get_in_layout()


def _place(ax: Axes, engine: ConstrainedLayoutEngine) -> bool:
    """Put an Axes to its place; False if nothing is left of it."""
    figure: Any = ax.figure
    told, size = engine.get(), figure.bbox.size
    pads = figure.dpi * np.array([told["w_pad"], told["h_pad"]])
    begin = ax.get_position(original=True)
    left, right = np.minimum(np.array(_SIDES) / figure.get_figwidth(), 0.2)
    _move(ax, np.array([left, begin.y0]), np.array([1.0 - right, begin.y1]))
    measured = None
    for _ in range(_ROUNDS):
        ticks, frame = _ticks(ax), ax.bbox.width
        if measured is None or measured[0] != ticks:
            measured = ticks, _beyond(ax, _labels(ax))
        legend = _legend(ax)
        needed = np.maximum(measured[1], _beyond(ax, legend)) + pads
        low, high = needed[0] / size, 1.0 - needed[1] / size
        if min(high - low) <= 0.0:
            ax.set_position(begin)
            ax.set_in_layout(True)
            return False
        _move(ax, low, high)
        # A legend that is wider than the frame sticks out the less, the wider the frame is.
        if _ticks(ax) == ticks and (legend is None or legend.width <= min(frame, ax.bbox.width)):
            break
    return True


def _move(ax: Axes, low: FloatArray, high: FloatArray) -> None:
    left, bottom = low.tolist()
    width, height = (high - low).tolist()
    ax.set_position((left, bottom, width, height))
    ax.set_in_layout(True)  # which setting a position ends, for good
    ax.apply_aspect()


def _labels(ax: Axes) -> Bbox | None:
    """The box around an Axes with all that belongs to it, but its legend."""
    known = (Legend, Spine)
    artists = [artist for artist in ax.get_default_bbox_extra_artists() if not isinstance(artist, known)]
    return ax.get_tightbbox(for_layout_only=True, bbox_extra_artists=artists)


def _legend(ax: Axes) -> Bbox | None:
    """The box around the legend, if there is one."""
    legend = ax.get_legend()
    return None if legend is None or not legend.get_in_layout() else legend.get_tightbbox()


def _beyond(ax: Axes, box: Bbox | None) -> FloatArray:
    """How far a box reaches beyond the frame, in pixels: to the left and below, to the right and above."""
    if box is None:
        return np.zeros((2, 2))
    corners: FloatArray = np.asarray(ax.bbox.get_points()) - box.get_points()
    corners[1] *= -1.0
    return corners


def _ticks(ax: Axes) -> list[list[float]]:
    """Where tick marks stand: how many there are depends on the room for them."""
    return [axis.get_majorticklocs().tolist() for axis in (ax.xaxis, ax.yaxis)]
