"""Plot of the posterior simplex of three classes, with the regions of Bayes decisions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban.decisions import Application, error_costs
from deciban.errors import InputError, either, option
from deciban.evaluation import ClassEvaluation, ClassResults
from deciban.multiclass import posterior
from deciban.plots.axes import GREY, HALO, Canvas, Style
from deciban.plots.colors import system_colors
from deciban.plots.files import NAME_WIDTH, families_for, letters, readable, shortened
from deciban.plots.matrices import one_system
from deciban.types import FloatArray, Graphic, IntArray, ScoreArray

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
"""Corners of the triangle: certainty of class 0, 1, 2."""

_LIMITS = (0.0, 1.0), (0.0, math.sqrt(3) / 2)
_SIZE = (6.0, 5.0)
_SCALE = (0.2, 0.4, 0.6, 0.8)
_TINT = 0.2
_GREYS = ("0.55", "0.3")
"""Colours of actions beyond one for each class, for few actions."""
_NAME_SIZE = 9.0
_ENOUGH, _ROOM = 1e-9, 0.02
"""Shares of the triangle: smaller regions are lines or points, or too small for a name."""

_NEAR = 0.06
"""Least distance of names from the prior; the side of the triangle is 1."""

_MANY = 2000
"""Number of dots above which they become one image in vector files."""

_DOTS: Style = {"linestyle": "none", "marker": ".", "markersize": 5.0, "markeredgewidth": 0.0}
_PRIOR: Style = {"marker": "X", "markersize": 8.5, "color": "black", "markeredgecolor": "white", "zorder": 5}
_PRIOR |= {"linestyle": "none", "clip_on": False}


def simplex(
    application: Application | ClassEvaluation | ClassResults,
    ax: Axes | None = None,
    *,
    loglik: ArrayLike | None = None,
    label: ArrayLike | None = None,
    classes: Sequence[str] | None = None,
    actions: Sequence[str] | None = None,
    **line_kw: object,
) -> Axes:
    """Draw the best actions in the posterior simplex of three classes, with the posteriors of trials.

    Parameters
    ----------
    application : Application, or ClassEvaluation
        Costs of any number of actions for three classes, and the prior. Or one system: then some of its trials are
        drawn, and regions are its decisions with equal costs of errors. For more than three classes, three are drawn
        without the others.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    loglik : (n_trials, 3) array_like, optional
        Log-likelihoods in nats of trials to draw, at their posteriors at the prior of the application.
    label : (n_trials,) array_like, optional
        True classes of the trials, for their colours. Positions from 0, or names among ``classes``.
    classes : sequence of str, optional
        Names of the classes. For a system with more than three, three of them; by default, the three most confused
        classes.
    actions : sequence of str, optional
        Names of the actions; by default those of the classes, if the numbers are equal.
    **line_kw
        Properties of the dots of trials.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        Unless there are three classes and one system, all names are known, and names, log-likelihoods and labels fit.

    Notes
    -----
    Corners are certainty of a class, and the distance from the opposite side, as a share of the height, is the
    posterior of the class; grey lines are 0.2 apart. The cross is the prior, the posterior of trials without
    information. Regions are computed as in `deciban.decisions.bayes_decisions`; actions that are never best have none.
    Source: thesis figure 8.1.

    Examples
    --------
    >>> from deciban.decisions import Application, error_costs
    >>> ax = simplex(Application(error_costs(3)), loglik=[[2.0, 0.0, 0.0], [-1.0, 0.0, 1.0]], label=[0, 2])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['class 0', 'class 2', 'prior']
    """
    if not isinstance(application, Application):
        shown = triangle_of(one_system(application, "application"), classes)
        application, classes, loglik, label = Application(error_costs(3), shown.prior), shown.classes, *shown.trials
    if application.n_classes != 3:
        raise InputError(
            f"application: {application.n_classes} classes, but a triangle has three corners. Draw three at a time, or "
            f"three groups of classes ({either('evaluate_groups', '--group')})."
        )
    known = _validate_classes.names(classes, 3)
    values = known or tuple(f"class {k}" for k in range(3))
    named = readable(values, width=NAME_WIDTH)
    canvas = Canvas(["trials"] if label is None else values, ax, line_kw, size=_SIZE, dots=_DOTS)
    _frame(canvas, named)
    _regions(canvas, application, _action_names(actions, application.n_actions, named))
    if loglik is not None:
        checked = _validate_classes.loglik(loglik)
        if checked.shape[1] != 3:
            raise InputError(
                f"loglik: {checked.shape[1]} columns for 3 classes. Give the columns of the three classes."
            )
        _trials(canvas, posterior(checked, prior=application.prior), label, known)
    elif label is not None:
        raise InputError("label: labels without log-likelihoods. Pass loglik=, or leave label out.")
    canvas.explain("prior", **{**_PRIOR, "clip_on": True})
    canvas.ax.plot(*_place(application.prior[None]), gid="prior", **_PRIOR)
    return canvas.finish("", "")


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """Three classes of a system: their names and positions, their shares of the prior, and trials to draw."""

    classes: tuple[str, ...]
    at: tuple[int, ...]
    prior: FloatArray
    trials: tuple[ScoreArray | None, IntArray | None]


def triangle_of(system: ClassEvaluation, classes: Sequence[str] | None = None) -> Triangle:
    """Return three classes of a system, by default the three most confused ones.

    Parameters
    ----------
    system : ClassEvaluation
    classes : sequence of str, optional

    Raises
    ------
    InputError
        If the system has fewer than three classes or more than twelve, or ``classes`` is not three of them.
    """
    if system.curves.sample is None:
        raise InputError(_why_not(system))
    known = {name: k for k, name in enumerate(system.classes)}
    if classes is not None and (len(set(classes)) != 3 or len(classes) != 3 or not {*classes} <= {*known}):
        strange = [name for name in classes if name not in known]
        got = f"unknown class {_listed(strange[:1])!r}" if strange else f"got {_listed(classes)}"
        raise InputError(f"{either('classes', '--corners')}: {got}. Name three different ones of {_listed(known)}.")
    at = _most_confused(system) if classes is None else tuple(known[name] for name in classes)
    prior = system.prior[list(at)]
    prior = prior / prior.sum() if prior.sum() > 0.0 else np.full(3, 1.0 / 3.0)
    names = tuple(system.classes[k] for k in at)
    loglik, label = system.curves.sample
    own = np.isin(label, at)
    corner = np.zeros(system.n_classes, np.int64)
    corner[list(at)] = range(3)
    return Triangle(names, at, prior, (loglik[own][:, list(at)], corner[label[own]]))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(shortened(name, NAME_WIDTH) for name in names)


def _why_not(system: ClassEvaluation) -> str:
    """Return the reason why there is nothing to draw."""
    if system.n_classes < 3:
        return (
            f"{system.name}: {system.n_classes} classes, but a triangle needs three. For two classes, draw confusion, "
            f"or histogram with one class as targets ({option(kind='two-class')})."
        )
    return (
        f"{system.name}: {system.n_classes} classes, but trials for plots are kept for at most twelve. Evaluate "
        f"groups of classes ({either('evaluate_groups', '--group')})"
        f"{either(', or pass log-likelihoods of three classes (loglik=...) with an Application', '')}."
    )


def _most_confused(system: ClassEvaluation) -> tuple[int, ...]:
    """Return the three classes with the largest shares of confusions among them."""
    shares = system.confusion / np.maximum(system.confusion.sum(axis=1, keepdims=True), 1)
    np.fill_diagonal(shares, 0.0)
    triples = itertools.combinations(range(system.n_classes), 3)
    return max(triples, key=lambda at: float(shares[np.ix_(at, at)].sum()))


def _place(probabilities: FloatArray) -> FloatArray:
    """Return the coordinates ``(2, n)`` of probabilities ``(n, 3)``."""
    return np.asarray((probabilities @ _CORNERS).T)


def _frame(canvas: Canvas, lines: Sequence[str]) -> None:
    """Draw the triangle with a scale for each class in its colour."""
    ax = canvas.ax
    ax.set_axis_off()
    canvas.keep_limits(_LIMITS[0], _LIMITS[1])
    canvas.equalize((_LIMITS[1][1] - _LIMITS[1][0]) / (_LIMITS[0][1] - _LIMITS[0][0]))
    ax.add_patch(Polygon(_CORNERS, fill=False, edgecolor="0.3", linewidth=1.2, zorder=4, clip_on=False))
    unit, middle = np.eye(3), _CORNERS.mean(axis=0)
    fonts = families_for(lines, letters(_NAME_SIZE))
    for k, color in enumerate(system_colors(3)):
        following, last = unit[(k + 1) % 3], unit[(k + 2) % 3]
        outward = middle - _CORNERS[(k + 2) % 3]
        for value in _SCALE:
            ends = np.array([value * unit[k] + (1 - value) * other for other in (following, last)])
            ax.plot(*_place(ends), color="0.6", linewidth=0.5, zorder=1.5, gid="scale")
            _outside(ax, _place(ends[:1])[:, 0], outward, f"{value:g}", 4, color=color, fontsize=letters(7.0))
        _outside(ax, _CORNERS[k], _CORNERS[k] - middle, lines[k], 9, color=color, fontproperties=fonts, weight="bold")


def _outside(ax: Axes, at: FloatArray, outward: FloatArray, text: str, distance: float, **style: Graphic) -> None:
    """Write next to the triangle, ``distance`` points away from it."""
    x, y = outward / np.hypot(*outward)
    sideways = "center" if abs(x) < 0.3 else "left" if x > 0 else "right"
    # Names of bottom corners are below them, centred, because they can be long.
    style = {"ha": "center" if style.get("weight") else sideways, "va": "bottom" if y > 0 else "top", **style}
    ax.annotate(text, (at[0], at[1]), xytext=(distance * x, distance * y), textcoords="offset points", **style)


def _regions(canvas: Canvas, application: Application, acting: Sequence[str]) -> None:
    """Tint the region of each action with its name, which goes into the legend if the region is small."""
    colors = [*system_colors(3), *_GREYS] if len(acting) <= 3 + len(_GREYS) else system_colors(len(acting))
    fonts = families_for(acting, letters(_NAME_SIZE))
    for action, name in enumerate(acting):
        corners = _region(application.costs, action)
        area = float(sum(abs(np.linalg.det([corners[0], *corners[i : i + 2]])) for i in range(1, len(corners) - 1)))
        if area < _ENOUGH:
            continue
        patch = Polygon(_place(corners).T, facecolor=colors[action], alpha=_TINT, edgecolor="none", zorder=1, gid=name)
        canvas.ax.add_patch(patch)
        outline = Polygon(_place(corners).T, fill=False, edgecolor="0.3", linewidth=1.0, zorder=3.5)
        canvas.ax.add_patch(outline)
        if area < _ROOM:
            canvas.explain(name, marker="s", markersize=9, linestyle="none", color=colors[action], alpha=2 * _TINT)
            continue
        x, y = _centroid(_place(corners).T)
        if np.hypot(*(_place(application.prior[None])[:, 0] - (x, y))) < _NEAR:
            y -= _NEAR
        style: Style = {"fontproperties": fonts, "color": "0.15", "path_effects": [HALO], "zorder": 4.5}
        canvas.ax.text(x, y, name, ha="center", va="center", **style)


def _region(costs: FloatArray, action: int) -> FloatArray:
    """Return the corners ``(n, 3)`` of the posteriors at which an action is best: the simplex cut by planes."""
    corners = np.eye(3)
    for other, cost in enumerate(costs):
        excess = cost - costs[action]
        if other < action and not excess.any():
            return corners[:0]  # ties go to the lowest index
        corners = _cut(corners, excess)
    return corners


def _cut(corners: FloatArray, normal: FloatArray) -> FloatArray:
    """Keep the part of a convex polygon on the positive side of a plane through the origin."""
    heights = corners @ normal
    kept = []
    for i, (corner, height) in enumerate(zip(corners, heights, strict=True)):
        if height >= 0:
            kept.append(corner)
        following = (i + 1) % len(corners)
        if height * heights[following] < 0:
            kept.append(corner + (corners[following] - corner) * (height / (height - heights[following])))
    return np.array(kept).reshape(-1, 3)


def _centroid(polygon: FloatArray) -> FloatArray:
    """Return the centroid of a convex polygon: the mean of its triangles, weighted by their areas."""
    first, edges = polygon[0], polygon[1:] - polygon[0]
    areas = np.abs(edges[:-1, 0] * edges[1:, 1] - edges[:-1, 1] * edges[1:, 0])
    return np.asarray(first + (areas @ (edges[:-1] + edges[1:])) / (3 * areas.sum()))


def _trials(canvas: Canvas, probabilities: FloatArray, label: ArrayLike | None, lines: tuple[str, ...] | None) -> None:
    """Draw a dot for each trial, with small classes on top of large ones."""
    n_trials = len(probabilities)
    truth = np.zeros(n_trials, np.int64) if label is None else _validate_classes.label(label, n_trials, 3, lines)
    opacity = float(np.clip(20.0 / math.sqrt(max(n_trials, 1)), 0.25, 0.9))  # many dots need transparency
    dots: Style = {"clip_on": False, "alpha": opacity, "rasterized": n_trials > _MANY}
    sizes = np.bincount(truth, minlength=len(canvas.marks))
    for k, mark in enumerate(canvas.marks):
        rank = int(np.count_nonzero(sizes > sizes[k]))
        color = {"color": GREY} if label is None else {}
        if sizes[k]:
            style = {**dots, **mark.main, "zorder": 2.5 + 0.1 * rank, **color}
            canvas.ax.plot(*_place(probabilities[truth == k]), **{**style, "label": None})
            seen: Style = {"markersize": 9.0, "alpha": 1.0, "clip_on": True}
            canvas.ax.plot([], [], **{**style, **seen})  # a visible legend entry


def _action_names(actions: Sequence[str] | None, n_actions: int, lines: Sequence[str]) -> list[str]:
    """Return the names of the actions: the given names, those of the classes, or numbers."""
    if actions is None:
        return list(lines) if n_actions == len(lines) else [f"action {k}" for k in range(n_actions)]
    if isinstance(actions, str) or len(actions) != n_actions:
        raise InputError(f"actions: {len(actions)} names for {n_actions} actions. Give one name per row of the costs.")
    return readable(actions, width=NAME_WIDTH)
