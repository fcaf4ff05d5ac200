"""Where the Axes of a picture stand."""

import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG

from deciban import plots
from support.evaluated import gaussian

LONG = [gaussian(f"a system with a very long name, the {i}th", seed=i) for i in range(3)]


@pytest.mark.parametrize("kind", plots.KINDS)
@pytest.mark.parametrize("systems", [gaussian("A"), LONG], ids=["one", "long"])
def test_nothing_leaves_the_picture_and_no_room_is_lost(kind, systems):
    ax = getattr(plots, kind)(systems)
    FigureCanvasSVG(ax.figure)
    ax.figure.dpi = 72  # of SVG
    ax.figure.draw_without_rendering()
    box, page = ax.get_tightbbox(for_layout_only=True), ax.figure.bbox
    assert min(*box.min, *(page.max - box.max)) >= 2.5
    assert ax.bbox.width > 0.5 * page.width
