"""Small plots of one kind side by side, which share both axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import count

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deciban.plots.paper import letters, paper, size_for

PANEL = (2.15, 1.75)

"""Inches of a panel."""

NARROWEST = 5.8

"""Inches that the legend takes in one line, without a band."""

_ENTRY = 1.5

"""Inches of each of its entries where there is one more: if they do not fit, they stand in two lines."""


def panels_of(n: int, columns: int | None, x: str, y: str) -> tuple[Figure, list[Axes]]:
    """Make a figure of panels that share both axes; only those at the edges carry numbers.

    Parameters
    ----------
    n : int
    columns : int or None
        Panels side by side; by default 2 to 6, so that few places are left empty.
    x, y : str
        Labels of all.

    Examples
    --------
    >>> figure, panels = panels_of(5, None, "Score", "Density")
    >>> len(panels), figure.get_supxlabel()
    (5, 'Score')
    """
    n_columns = min(n, _most_columns(_best_columns(n)) if columns is None else columns)
    n_rows = -(-n // n_columns)
    size = (max(n_columns * PANEL[0] + 0.6, NARROWEST), n_rows * PANEL[1] + 1.0)
    figure = Figure(figsize=size_for(size, by_rows=True), layout="constrained")
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    panels = list(grid.flat)
    for spare in panels[n:]:
        spare.remove()
    for at, panel in enumerate(panels[:n]):
        panel.grid(visible=True, color="0.9", linewidth=0.6)
        panel.set_axisbelow(True)
        lowest = at + n_columns >= n
        panel.tick_params(labelsize=letters(8), labelbottom=lowest)
    figure.supxlabel(x, fontsize=letters(10))
    figure.supylabel(y, fontsize=letters(10))
    return figure, panels[:n]


def _best_columns(n: int) -> int:
    """Return how many columns of 3 to 6 leave the fewest panels empty, near a square."""
    if n <= 4:
        return 2 if n == 4 else 3
    return min(range(3, 7), key=lambda columns: (-n % columns, abs(columns - math.sqrt(1.2 * n))))


def _most_columns(wanted: int) -> int:
    """Return how many columns there is room for: in print, panels are half as wide at least."""
    asked = paper()
    return wanted if asked is None else max(1, min(wanted, int((asked.width - 0.4) / (0.5 * PANEL[0]))))


def legend_above(figure: Figure, handles: Sequence[Line2D], title: str | None, *, is_long: bool) -> None:
    """Say above all panels what the lines mean, in several lines where they have no room in one.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    handles : sequence of matplotlib.lines.Line2D
    title : str or None
    is_long : bool
        Whether one line may be too short for all, which it is not on a screen without bands.
    """
    n_rows = 1
    if is_long or paper() is not None:
        n_rows = math.ceil(len(handles) * _ENTRY * letters(9) / 9 / figure.get_figwidth())
    figure.legend(
        handles=list(handles),
        ncols=-(-len(handles) // n_rows),
        title=title,
        loc="outside upper center",
        frameon=False,
        fontsize=letters(9),
        title_fontsize=letters(8),
    )


# Okabe and Ito's colours for all kinds of colour vision, without their black (reference lines) and their yellow
# (too light for lines on white), then three of Paul Tol's.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#882255", "#999933")

LABEL_WIDTH = 30

NAME_WIDTH = 22

"""Letters of a class name on an axis; longer ones lose their middle."""


def system_colors(n: int) -> list[str]:
    """Return the colours of several systems, as hexadecimal codes, in the order in which plots use them.

    People with any kind of colour vision can tell the first ones apart; after nine they come again, darker.

    Parameters
    ----------
    n : int
        Number of systems.

    Returns
    -------
    list of str

    Examples
    --------
    >>> system_colors(2)
    ['#0072B2', '#D55E00']
    """
    shades = []
    for i in range(n):
        shade, (red, green, blue) = 0.55 ** (i // len(PALETTE)), to_rgb(PALETTE[i % len(PALETTE)])
        shades.append(to_hex((shade * red, shade * green, shade * blue)).upper())
    return shades


def shortened(name: str, width: int) -> str:
    """The beginning and the end of a name that is longer.

    >>> shortened("a long name", 7), shortened("name", 7)
    ('a …ame', 'name')
    """
    half = width // 2
    return f"{name[: half - 1]}…{name[-half:]}" if len(name) > width else name


def readable(names: Sequence[str], used: AbstractSet[str] = frozenset(), *, width: int = LABEL_WIDTH) -> list[str]:
    """Shorten names, number those that are used already, and guard them so that each character is drawn as it is."""
    labels: list[str] = []
    for name in names:
        short = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(name.split())) or "(unnamed)"
        short = shortened(short, width)
        # Dollars would begin a formula, and legends leave out what begins with an underscore: a hair space hides it.
        short = short.replace("$", r"\$")
        short = f"\u200a{short}" if short.startswith("_") else short
        numbered = (f"{short} #{i}" if i > 1 else short for i in count(1))
        labels.append(next(label for label in numbered if label not in used and label not in labels))
    return labels
