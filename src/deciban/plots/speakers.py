"""Speakers: who is hard to recognize, and who is taken for others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from deciban.errors import InputError
from deciban.evaluation.speaker_means import ANIMALS, Menagerie
from deciban.plots.axes import HALO, Canvas, Style
from deciban.plots.paper import letters

_SIZE = (5.6, 5.0)
_LIMIT: Style = {"linestyle": ":", "linewidth": 1.0, "zorder": 1.8}
_CORNERS = {"doves": (1, 0), "chameleons": (1, 1), "phantoms": (0, 0), "worms": (0, 1)}
"""Where their box is: at the right end, at the top."""

_MOST_WITH_BOXES = 3


def zoo(result: Menagerie | Sequence[Menagerie], ax: Axes | None = None, **line_kw: Any) -> Axes:
    """Draw each speaker's mean non-target score over the mean target score, and the corners of the extreme quarters.

    Parameters
    ----------
    result : Menagerie or sequence of Menagerie
        One system or several; `deciban.evaluation.menagerie` makes one.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the dots of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no system, or something else.

    Notes
    -----
    Each corner holds speakers that are in an extreme quarter by both means, and says how many: doves are recognized
    and taken for nobody, worms are neither, chameleons match everybody, phantoms nobody. Were both means independent,
    one speaker of 16 would be in each corner. Several systems are seen best if their scores are on one scale, as llrs
    are; more than three are drawn without corners. Source: Yager and Dunstone, The biometric menagerie, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 32, 2010.

    Examples
    --------
    >>> from deciban.evaluation import menagerie
    >>> pairs = [[i, j] for i in range(4) for j in range(i, 4)]
    >>> ax = zoo(menagerie([9, 2, 2, 4, 8, 2, 4, 3, 4, 1], [i == j for i, j in pairs], pairs))
    >>> sorted(text.get_text() for text in ax.texts)
    ['chameleons: 0', 'doves: 1', 'phantoms: 0', 'worms: 1']
    """
    given = [result] if isinstance(result, Menagerie) else list(result)
    for one in given:
        if not isinstance(one, Menagerie):
            raise InputError(f"result: expected Menageries, got {type(one).__name__}. `menagerie(...)` makes one.")
    if not given:
        raise InputError("result: there is no system to draw.")
    dots: Style = {"linestyle": "none", "marker": "o", "markersize": 4, "alpha": 0.6, "markeredgewidth": 0}
    canvas = Canvas([one.name for one in given], ax, line_kw, size=_SIZE, dots=dots)
    for mark, one in zip(canvas.marks, given, strict=True):
        canvas.ax.plot(one.tar_mean, one.non_mean, **mark.main)
    if len(given) <= _MOST_WITH_BOXES:
        for mark, one in zip(canvas.marks, given, strict=True):
            _corners(canvas, mark.color, one, is_alone=len(given) == 1)
        canvas.explain("quartiles", **_LIMIT)
    noun = given[0].noun
    return canvas.finish(f"Mean target score of each {noun}", f"Mean non-target score of each {noun}")


def _corners(canvas: Canvas, color: Any, one: Menagerie, *, is_alone: bool) -> None:
    """Draw the limits, and where there is one system name what lies in their corners."""
    ax = canvas.ax
    for limit in one.tar_limits:
        ax.axvline(limit, color=color, **_LIMIT)
    for limit in one.non_limits:
        ax.axhline(limit, color=color, **_LIMIT)
    for animal in ANIMALS if is_alone else ():
        right, top = _CORNERS[animal]
        place: Style = {"ha": "right" if right else "left", "va": "top" if top else "bottom", "fontsize": letters(9)}
        text = f"{animal}: {int(one.members(animal).sum())}"
        at = (0.985 if right else 0.015, 0.985 if top else 0.015)
        ax.text(*at, text, transform=ax.transAxes, path_effects=[HALO], zorder=5, **place)
