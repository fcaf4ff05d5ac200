"""Pictures for print: as wide as a column or a page, with letters of the size that stands there in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from deciban.errors import InputError

NAMED = {"column": 3.5, "page": 7.2}
"""Inches: the width of one of two columns, and that of both."""

HIGHEST = 6.0
"""Inches in print, of Axes with equally long units and their labels: a legend and a caption have room on the page."""

_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}
_LENGTH = re.compile(r"(?P<number>\d+(\.\d*)?|\.\d+)(?P<unit>in|cm|mm|pt)")
_LEAST_WIDTH, _LEAST_HEIGHT, _MOST = 2.0, 1.5, 40.0
LABEL, TICK, LEAST = 8.0, 7.0, 6.5
"""Points in print: of the labels of axes, of tick labels and legends, and of anything at least."""

_LETTER = 0.54
"""Width of a letter, as a share of its size."""
_BEYOND = 0.35
"""Inches that the label of an axis may be longer than it: there are tick labels at its ends."""
_SHRUNK = 0.78
"""Letters in print, as a share of those on a screen."""
_THINNED = 0.75
"""The same of lines and markers."""


@dataclass(frozen=True)
class Paper:
    """How large a picture is to be, in inches; without a height it is as high as it needs."""

    width: float
    height: float | None = None


_PAPER: ContextVar[Paper | None] = ContextVar("paper", default=None)


def paper() -> Paper | None:
    """Return the size that was asked for by `print_style`, if it was."""
    return _PAPER.get()


def paper_of(size: str) -> Paper:
    """Read a size.

    Parameters
    ----------
    size : str
        ``"column"`` or ``"page"``; or a width, or width ``x`` height, each with its unit: ``"85mm"``,
        ``"85mmx60mm"``, ``"3.5inx2.5in"``.

    Returns
    -------
    Paper

    Raises
    ------
    InputError
        If a unit is missing, this is no size, or one that nothing can be read at.

    Examples
    --------
    >>> paper_of("column"), paper_of("3inx2in")
    (Paper(width=3.5, height=None), Paper(width=3.0, height=2.0))
    """
    if size in NAMED:
        return Paper(NAMED[size])
    sides = [_LENGTH.fullmatch(side.strip()) for side in str(size).split("x")]
    if len(sides) > 2 or None in sides:
        bare = re.fullmatch(r"[\d.]+\s*(in|cm|mm|pt)?\s*(x\s*[\d.]+\s*(in|cm|mm|pt)?)?", str(size))
        why = "each number needs its unit" if bare else "this is no size"
        raise InputError(
            f"size: got {size!r}, but {why}. Write column ({NAMED['column']:g} in wide), page ({NAMED['page']:g} in), "
            "a width such as 85mm, or width x height such as 85mmx60mm or 3.5inx2.5in (units: in, cm, mm, pt)."
        )
    width, *more = (float(side["number"]) * _UNITS[side["unit"]] for side in sides if side is not None)
    height = more[0] if more else None
    if not _LEAST_WIDTH <= width <= _MOST or not (height is None or _LEAST_HEIGHT <= height <= _MOST):
        raise InputError(
            f"size: {size} is {width:.3g} in wide" + ("" if height is None else f" and {height:.3g} in high") + "; "
            f"pictures can be read from {_LEAST_WIDTH:g} in of width and {_LEAST_HEIGHT:g} in of height on, and have "
            f"{_MOST:g} in at most."
        )
    return Paper(width, height)


@contextmanager
def print_style(size: str = "column") -> Iterator[None]:
    """Draw for print: in the block, figures are made in this size, with letters that are right at this size.

    Parameters
    ----------
    size : str
        ``"column"`` (3.5 in wide), ``"page"`` (7.2 in); or a width, or width ``x`` height, each with its unit:
        ``"85mm"``, ``"85mmx60mm"``, ``"3.5inx2.5in"``. Left out, heights are what pictures need.

    Raises
    ------
    InputError
        If a unit is missing, this is no size, or one that nothing can be read at.

    Notes
    -----
    Labels of axes have 8 points, tick labels and legends 7, nothing has less than 6.5. Where there are several systems,
    each has a marker of its own along its curves, so that they can be told apart in grey print. Plots that draw on Axes
    of one's own leave the size of their figure alone. Save pictures in the block, too: they are laid out then. Put them
    into documents without scaling.

    Examples
    --------
    >>> import deciban
    >>> with print_style("column"):
    ...     ax = deciban.plots.tippett(deciban.evaluate([1.0, 2.0], [0.0, 1.0]))
    >>> float(ax.figure.get_figwidth()), ax.xaxis.label.get_fontsize()
    (3.5, 8.0)
    """
    from matplotlib import rc_context

    token = _PAPER.set(paper_of(size))
    letters_of: Any = {"font.size": LABEL, "axes.labelsize": LABEL, "axes.titlesize": LABEL}
    letters_of |= {"xtick.labelsize": TICK, "ytick.labelsize": TICK, "legend.fontsize": TICK}
    letters_of |= {"axes.linewidth": 0.6, "hatch.linewidth": 0.6}
    try:
        with rc_context(letters_of):
            yield
    finally:
        _PAPER.reset(token)


def letters(points: float) -> float:
    """Return the size of letters in points: as on a screen, or as print needs them."""
    return points if paper() is None else min(max(_SHRUNK * points, LEAST), LABEL)


def line_width(points: float) -> float:
    """Return the width of a line, or the size of a marker, in points: as on a screen, or thinner in print."""
    return points if paper() is None else _THINNED * points


def size_for(natural: tuple[float, float], *, by_rows: bool = False) -> tuple[float, float]:
    """Return width and height of a figure in inches.

    Parameters
    ----------
    natural : (float, float)
        What it has on a screen.
    by_rows : bool
        Whether its height comes from rows of letters: it does not follow the width then.
    """
    asked = paper()
    if asked is None:
        return natural
    width, height = natural
    followed = _SHRUNK * height if by_rows else height * asked.width / width
    return asked.width, asked.height or max(followed, _LEAST_HEIGHT)


def wrapped(label: str, inches: float) -> str:
    """Break the label of an axis into two lines of about one length, where in print it is longer than its axis."""
    breaks = [place for place, letter in enumerate(label) if letter == " "]
    if (
        paper() is None
        or len(label) * _LETTER * LABEL <= 72 * (inches + _BEYOND)
        or not breaks
        or {"$", "\n"} & {*label}
    ):
        return label
    at = min(breaks, key=lambda place: abs(2 * place - len(label)))
    return f"{label[:at]}\n{label[at + 1 :]}"


def has_own_height() -> bool:
    """Whether figures are as high as they need."""
    asked = paper()
    return asked is None or asked.height is None


def style_ticks(ax: Any) -> None:
    """Set the letters of the ticks of an Axes, which are made when it is drawn: the style of the block is gone then."""
    if paper() is not None:
        ax.tick_params(labelsize=TICK, width=0.6, length=2.5, pad=2.5)
        for axis in (ax.xaxis, ax.yaxis):
            axis.offsetText.set_fontsize(LEAST)
