"""Plots of matrices (confusions, pairwise losses, maps of conditions), of conditions in rows, and of speakers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.biometrics.groups import GROUPS, Zoo
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation, ClassResults, Results
from deciban.evaluation.breakdowns import ANIMALS, ByConditions, Menagerie, SystemConditions
from deciban.evaluation.metrics import METRICS, key_among, keys_of, metric_of
from deciban.evaluation.one_system import OneSystem, shown_interval
from deciban.evaluation.uncertainty import MetricKey
from deciban.plots.axes import HALO, Canvas, Interval, Style, in_percent, new_axes, systems_of
from deciban.plots.colors import PALETTE
from deciban.plots.curves import REFERENCE
from deciban.plots.files import LEAST, NAME_WIDTH, families_for, letters, paper, readable, style_ticks, wrapped
from deciban.types import FloatArray, Graphic

ClassDrawable: TypeAlias = ClassEvaluation | ClassResults | Sequence[ClassEvaluation]


def class_systems_of(result: ClassDrawable, argument: str = "result") -> tuple[ClassEvaluation, ...]:
    """Return a tuple of systems with the same classes.

    Raises
    ------
    InputError
        If there is no system, an object of another type, or the classes differ.
    """
    systems = systems_of(result, ClassEvaluation, argument)
    for system in systems:
        if system.classes != systems[0].classes:
            raise InputError(
                f"{argument}: {system.name!r} has the classes {', '.join(system.classes)}, {systems[0].name!r} has "
                f"{', '.join(systems[0].classes)}. Draw systems on the same classes together."
            )
    return systems


def one_system(result: ClassDrawable, argument: str = "result") -> ClassEvaluation:
    """Return the only system.

    Raises
    ------
    InputError
        If there are several, or none.
    """
    systems = class_systems_of(result, argument)
    if len(systems) > 1:
        raise InputError(f"{argument}: {len(systems)} systems, but this plot shows one. Draw them one by one.")
    return systems[0]


def systems_before(before: ClassDrawable, after: Sequence[ClassEvaluation]) -> tuple[ClassEvaluation, ...]:
    """Return systems before calibration, one for each after it.

    Raises
    ------
    InputError
        If their number or their classes differ.
    """
    systems = class_systems_of(before, "before")
    if len(systems) != len(after):
        raise InputError(f"before: {len(systems)} systems, but {len(after)} after calibration.")
    if systems[0].classes != after[0].classes:
        raise InputError(
            f"before: the classes are {', '.join(systems[0].classes)}, but after calibration they are "
            f"{', '.join(after[0].classes)}."
        )
    return systems


_NAME_SIZE, _NUMBER_SIZE, _SMALLEST = 9.0, 9.0, 4.0
_LETTER = 0.6
"""Width of a digit, as a share of the font size."""
_WIDEST, _CELL = 6.0, (0.3, 1.6)
"""Inches of the width of all cells, and limits of the width of one."""
_SCALE = 0.55
"""Inches of a colour bar in print."""


def shades(color: str) -> Colormap:
    """Return a colour map from white to a colour, with near black for infinite values."""
    return LinearSegmentedColormap.from_list(color, ["white", color]).with_extremes(over="0.15", bad="none")


BLUES, ORANGES = shades(PALETTE[0]), shades(PALETTE[1])
"""Two colour maps that can be distinguished with all kinds of colour vision."""


class CellGrid:
    """Cells on an Axes, with the first row at the top.

    Parameters
    ----------
    rows, columns : sequences of str
        Their names.
    ax : Axes or None
        None makes a new figure of the necessary size.
    n_scales : int
        Number of colour bars next to the cells.
    """

    def __init__(self, rows: Sequence[str], columns: Sequence[str], ax: Axes | None, *, n_scales: int = 2) -> None:
        self.shape = (len(rows), len(columns))
        rows, columns = readable(rows, width=NAME_WIDTH), readable(columns, width=NAME_WIDTH)
        own = ax is None
        self.ax = _own_axes(rows, columns, n_scales) if ax is None else ax
        self.ax.set_xlim(-0.5, self.shape[1] - 0.5)
        self.ax.set_ylim(self.shape[0] - 0.5, -0.5)
        frame, dpi = self.ax.get_window_extent(), self.ax.figure.dpi  # before names and colour bars take space
        self._cell = 72 * frame.width / dpi / self.shape[1], 72 * frame.height / dpi / self.shape[0]
        if own and paper() is not None:
            self._cell = 72 * _room(rows, n_scales) / self.shape[1], 0.9 * self._cell[1]
        every = self._every(1)
        font = families_for(rows, self._name_size(1))
        self.ax.set_yticks(range(0, len(rows), every), rows[::every], fontproperties=font)
        slanted = max(map(len, columns)) * _LETTER * self._name_size(0) > 0.95 * self._cell[0]
        turned: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        font, every = families_for(columns, self._name_size(0)), self._every(0)
        self.ax.set_xticks(range(0, len(columns), every), columns[::every], fontproperties=font, **turned)
        self.ax.tick_params(length=0)
        self.ax.spines[:].set_visible(False)

    def shade(self, values: np.ma.MaskedArray[Any, Any], cmap: Colormap, top: float, **mesh_kw: Graphic) -> QuadMesh:
        """Colour all cells that are not masked, from 0 to ``top``; infinite values are near black."""
        # Meshes omit infinite values.
        darkest = np.where(np.isinf(values.data), 2.0 * top, np.minimum(values.data, top))
        drawn = np.ma.masked_array(darkest, values.mask)
        edges = [np.arange(n + 1) - 0.5 for n in self.shape[::-1]]
        style = {"edgecolors": "white", "linewidth": 0.8, "cmap": cmap, **mesh_kw}
        return self.ax.pcolormesh(*edges, drawn, norm=Normalize(0.0, top), **style)

    def write(self, texts: Sequence[Sequence[str]], meshes: Iterable[QuadMesh]) -> None:
        """Write text into all cells if it fits at a readable size; white on dark cells."""
        longest = max(2, *(len(text) for row in texts for text in row))
        size = min(0.8 * self._cell[0] / (_LETTER * longest), 0.6 * self._cell[1], letters(_NUMBER_SIZE))
        if size < _smallest():
            return
        font = families_for([text for row in texts for text in row], size)
        for mesh in meshes:
            values: np.ma.MaskedArray[Any, Any] = np.ma.asarray(mesh.get_array()).reshape(self.shape)
            colors = mesh.to_rgba(values)
            for row, column in zip(*np.nonzero(~np.ma.getmaskarray(values)), strict=True):
                text = texts[row][column]
                ink = "0.6" if text == "0" else ("white" if _luminance(colors[row, column]) < 0.5 else "black")
                self.ax.text(column, row, text, ha="center", va="center", fontproperties=font, color=ink)

    def explain(self, mesh: QuadMesh, label: str, **bar_kw: Graphic) -> Axes:
        """Draw a colour bar next to the cells."""
        bar = self.ax.figure.colorbar(mesh, ax=self.ax, fraction=0.05, aspect=28, **{"pad": 0.02, **bar_kw})
        bar.outline.set_visible(False)
        style_ticks(bar.ax)
        bar.set_label(wrapped(label, self._cell[1] * self.shape[0] / 72))
        return bar.ax

    def _name_size(self, axis: int) -> float:
        return float(np.clip(0.75 * self._cell[axis], _smallest(), letters(_NAME_SIZE)))

    def _every(self, axis: int) -> int:
        """Return the step between names that are written; in print, names need a readable size."""
        return 1 if paper() is None else math.ceil(1.1 * LEAST / self._cell[axis])


def _smallest() -> float:
    return _SMALLEST if paper() is None else LEAST


def _beside(names: Sequence[str]) -> float:
    """Return the inches that names take; slanted names take them vertically."""
    return 0.75 * _LETTER * letters(_NAME_SIZE) / 72 * max(map(len, names))


def _room(rows: Sequence[str], n_scales: int) -> float:
    """Return the inches of width for all cells in print."""
    request = paper()
    return 0.0 if request is None else max(request.width - _beside(rows) - 0.3 - n_scales * _SCALE, 0.3 * request.width)


def _own_axes(rows: Sequence[str], columns: Sequence[str], n_scales: int) -> Axes:
    """Return an Axes for square cells, with room for names, labels and colour bars."""
    request, cell = paper(), float(np.clip(_WIDEST / max(len(rows), len(columns)), *_CELL))
    if request is None:
        size = (cell * len(columns) + _beside(rows) + 2.2, max(cell * len(rows) + _beside(columns) + 0.8, 2.8))
    else:
        cell = min(max(_room(rows, n_scales) / len(columns), 0.22), 0.7)
        size = (request.width, max(cell * len(rows) + _beside(columns) + 0.45, 1.5))
    return new_axes(size)


def _luminance(color: Graphic) -> float:
    red, green, blue = color[:3]
    return float(0.299 * red + 0.587 * green + 0.114 * blue)


def brief(value: float) -> str:
    """Write a nonnegative number in at most five characters, rounded to at most three decimals.

    >>> [brief(value) for value in (0.0, 0.0001, 0.0338, 0.999, 1.234, 56.78, 1234.5, float("inf"))]
    ['0', '0', '.034', '.999', '1.23', '56.8', '1234', '∞']
    """
    if math.isinf(value):
        return "∞"
    if value < 0.0005:
        return "0"
    if value >= 99_999.5:
        return f"{value:.0e}".replace("e+", "e")
    n_digits = 3 if value < 0.9995 else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{n_digits}f}".removeprefix("0")


def largest(values: FloatArray, default: float) -> float:
    """Return the largest finite value, or ``default`` if no value is above 0."""
    return float(np.max(values, where=np.isfinite(values), initial=0.0)) or default


def numbered(classes: Sequence[str] | None, n_classes: int) -> tuple[str, ...]:
    """Return the names of the classes, or their numbers without names."""
    return tuple(map(str, range(n_classes))) if classes is None else tuple(classes)


def confusion(
    result: ClassEvaluation | ClassResults | ArrayLike,
    ax: Axes | None = None,
    *,
    classes: Sequence[str] | None = None,
    decisions: Sequence[str] | None = None,
    show: Literal["rates", "counts"] = "rates",
    **mesh_kw: object,
) -> Axes:
    """Draw the confusion matrix: a row for each true class, a column for each decision.

    Parameters
    ----------
    result : ClassEvaluation, or (n_classes, n_decisions) array_like
        One system; or numbers or total weights of trials, as from `deciban.multiclass.confusion`. Decision ``k`` is
        right for class ``k``; there can be more decisions, such as rejecting the trial.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, large enough for 30 classes.
    classes : sequence of str, optional
        Names of the classes of a matrix; an evaluation has names.
    decisions : sequence of str, optional
        Names of the decisions; by default those of the classes, if the numbers are equal.
    show : {"rates", "counts"}
        Text in the cells: shares of the true class in percent, or numbers of trials.
    **mesh_kw
        Properties of both meshes of cells.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there are several systems, names do not fit, or the matrix contains negative or infinite numbers or NaN, or
        has fewer columns than rows.

    Notes
    -----
    Colours are always shares of the true class: blue for right decisions, from 0 to 100 %, orange for wrong ones, from
    0 to the most frequent of them, so that rare confusions are visible. The row of a class without trials is empty.

    Examples
    --------
    >>> ax = confusion([[8, 2], [1, 19]], classes=["cat", "dog"])
    >>> [text.get_text() for text in ax.texts]
    ['80.0', '95.0', '20.0', '5.0']
    """
    if isinstance(result, ClassEvaluation | Results):
        system = one_system(result)
        result, classes = system.confusion, system.classes
    table = _table(result)
    n_classes, n_decisions = table.shape
    rows = numbered(_validate_classes.names(classes, n_classes), n_classes)
    if decisions is None and n_decisions > n_classes:
        raise InputError(
            f"decisions: {n_decisions} decisions for {n_classes} classes. Name all of them, starting with the classes."
        )
    columns = rows if decisions is None else numbered(tuple(decisions), n_decisions)
    if len(columns) != n_decisions:
        raise InputError(f"decisions: {len(columns)} names for {n_decisions} columns. Give one name per column.")
    if show not in ("rates", "counts"):
        raise InputError(f"show: {show!r} is not 'rates' or 'counts'.")
    totals = table.sum(axis=1, keepdims=True)
    rates = np.divide(table, totals, out=np.zeros_like(table), where=totals > 0)
    right = np.eye(n_classes, n_decisions, dtype=bool)
    empty = np.broadcast_to(totals == 0, table.shape)
    grid = CellGrid(rows, columns, ax)
    correct = grid.shade(np.ma.masked_array(rates, ~right | empty), BLUES, 1.0, **mesh_kw)
    wrong_rates = np.ma.masked_array(rates, right | empty)
    wrong = grid.shade(wrong_rates, ORANGES, largest(wrong_rates.filled(0.0), 1.0), **mesh_kw)
    shown = [[_percent(rate) if show == "rates" else _count(n) for rate, n in zip(*row, strict=True)]
             for row in zip(rates, table, strict=True)]  # fmt: skip
    grid.write(shown, (correct, wrong))
    grid.explain(wrong, "Wrong (% of true class)", format=in_percent)
    grid.explain(correct, "Right (% of true class)", format=in_percent)
    grid.ax.set_xlabel("Decision")
    grid.ax.set_ylabel("True class")
    return grid.ax


def pairwise_loss(
    result: ClassDrawable, ax: Axes | None = None, *, top: float | None = None, **mesh_kw: object
) -> Axes:
    """Draw discrimination and calibration loss for each pair of classes.

    Parameters
    ----------
    result : ClassEvaluation
        One system.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, large enough for 30 classes.
    top : float, optional
        Bits of the darkest colour; the largest finite loss by default. Use the same value to compare plots of a system
        before and after calibration.
    **mesh_kw
        Properties of both meshes of cells.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there are several systems, or ``top`` is not above 0 and finite.

    Notes
    -----
    Pairs have no direction, so the two halves of the matrix show different losses: below the diagonal, in blue, the
    discrimination loss, min Cllr; above it, in orange, the calibration loss, Cllr minus min Cllr. Their sum is Cllr.
    Both have the same scale. Infinite losses are near black. Source: Bruemmer and van Leeuwen 2006,
    section 4.2 and figure 3, which shows bars.

    Examples
    --------
    >>> from deciban.evaluation import evaluate_classes
    >>> loglik, label = [[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]], [0, 1, 2, 2]
    >>> ax = pairwise_loss(evaluate_classes(loglik, label))
    >>> [bar.get_ylabel() for bar in ax.figure.axes[1:]]
    ['Calibration loss (bits), above the diagonal', 'Discrimination loss (bits), below the diagonal']
    """
    system = one_system(result)
    pairs, n_classes = system.pairwise, system.n_classes
    if pairs is None:
        raise InputError(f"result: pairs of classes were not evaluated for {system.name!r}: {system.no_pairs}")
    if top is not None and not 0 < top < math.inf:
        raise InputError(f"top: got {top!r}. Use a finite number of bits above 0.")
    lower = np.tri(n_classes, k=-1, dtype=bool)
    losses = np.where(lower, pairs.min_cllr, pairs.calibration_loss)
    np.fill_diagonal(losses, 0.0)
    darkest = (pairs.largest_loss or 1.0) if top is None else top
    grid = CellGrid(system.classes, system.classes, ax)
    discrimination = grid.shade(np.ma.masked_array(losses, ~lower), BLUES, darkest, **mesh_kw)
    calibration = grid.shade(np.ma.masked_array(losses, ~lower.T), ORANGES, darkest, **mesh_kw)
    grid.write([[brief(loss) for loss in row] for row in losses], (discrimination, calibration))
    grid.explain(calibration, "Calibration loss (bits), above the diagonal")
    grid.explain(discrimination, "Discrimination loss (bits), below the diagonal")
    return grid.ax


def _table(counts: ArrayLike) -> FloatArray:
    table = _validate.array(counts, "result")
    if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "iuf":
        raise InputError(
            f"result: expected a ClassEvaluation, or numbers of trials with a row for each class, got {table.dtype} of "
            f"shape {table.shape}."
        )
    if not np.all((table >= 0) & np.isfinite(table)):
        raise InputError("result: numbers of trials must be finite and at least 0.")
    if table.shape[1] < table.shape[0]:
        raise InputError(f"result: {table.shape[0]} classes but {table.shape[1]} decisions. Rows are true classes.")
    return table.astype(np.float64)


def _percent(rate: float) -> str:
    """Write a share in percent in at most four characters; only 0 and 1 are written as 0 and 100."""
    if rate in (0.0, 1.0):
        return f"{100 * rate:.0f}"
    return "<.1" if rate < 0.0005 else f"{100 * min(rate, 0.999):.1f}"


def _count(n: float) -> str:
    return f"{n:,.0f}" if n == round(n) else f"{n:.3g}"


_WIDTH, _ROW, _HEAD = 6.0, 0.3, 1.1
"""Inches of the width of the plot, of one of its rows, and of everything else in it."""

_TOGETHER = 4
"""Number of systems that fit into a row."""

_SPREAD = 0.5
"""Share of the height of a row over which several systems are spread."""
_WIDER = 0.75
"""The same for many systems."""


def by_condition(
    results: Results[Any], ax: Axes | None = None, *, metric: str | None = None, partition: int = 0, **line_kw: object
) -> Axes:
    """Draw a metric by condition with intervals, a row for each condition, and a line for all trials.

    Parameters
    ----------
    results : Results
        Results of one or several systems with conditions: ``evaluate(..., by="channel")``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    metric : str, optional
        A metric by its name, such as ``"eer"`` or ``"act_dcf@2"``; by default EER, multiclass Cllr.
    partition : int
        Index of the partition, in the order of the request.
    **line_kw
        Properties of the intervals of each system.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the results have no conditions, no such partition or no such metric.

    Notes
    -----
    A condition without trials of a class has no mark; metrics without intervals are dots. Below the conditions is the
    result with equal weight of conditions, if requested.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> ax = by_condition(deciban.evaluate(frame, score=["score"], by="sex"), metric="cllr")
    >>> [text.get_text() for text in ax.get_yticklabels()], ax.get_xlabel()
    (['pooled', 'sex f', 'sex m'], 'Cllr')
    """
    systems = _systems(results, partition)
    pooled = systems[0].pooled
    name = metric or ("cllr" if pooled.kind == "classes" else "eer")
    chosen = key_among(_known(pooled), name, "these results")
    parts = [one.partitions[partition] for one in systems]
    labels, equal = ["pooled", *(one.name for one in parts[0].conditions)], _equalized(systems[0], parts[0])
    labels += ["equalized"] if equal else []
    dots: Style = {"linestyle": "-", "marker": "o", "markersize": 4.5}
    names, row = [str(one.pooled.name) for one in systems], _ROW * max(1.0, len(systems) / _TOGETHER)
    size = (_WIDTH, _HEAD + row * max(len(labels), 3))
    canvas = Canvas(names, ax, line_kw, size=size, by_rows=True, dots=dots)
    spread = _SPREAD if len(systems) <= _TOGETHER else _WIDER
    rows = list[list[Interval | None]]()
    for mark, one, part in zip(canvas.marks, systems, parts, strict=True):
        canvas.ax.axvline(one.pooled.value(chosen), **{**REFERENCE, "color": mark.color})
        each = _evaluations(one, part) + [same.evaluation for same in _equalized(one, part)]
        rows.append([None if output is None else _with_ends(output, chosen) for output in each])
    canvas.draw_rows(rows, spread)
    canvas.name_rows(labels)
    words = pooled.words(chosen) + (" (%)" if metric_of(chosen).in_percent else "")
    return canvas.finish(words, "", has_legend=len(systems) > 1)


def _with_ends(one: OneSystem, metric: MetricKey) -> Interval:
    """Return a metric of an evaluation with the ends of its interval, if it has one."""
    result = shown_interval(one, metric)
    return (one.value(metric), None, None) if result is None else (one.value(metric), result.low, result.high)


def condition_map(
    results: Results[Any],
    ax: Axes | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    partition: int = 0,
    **mesh_kw: object,
) -> Axes:
    """Draw a map of conditions: a row for each condition, a column for each metric of a system, or for each system.

    Parameters
    ----------
    results : Results
        Results of one or several systems with conditions: ``evaluate(..., by="channel")``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as large as the cells need.
    metrics : str or sequence of str, optional
        Metrics by their names, such as ``"eer"`` or ``"act_dcf@2"``; only one if there are several systems. By default,
        several systems show EER, multiclass Cllr; one system shows these with costs.
    partition : int
        Index of the partition, in the order of the request.
    **mesh_kw
        Properties of the mesh of cells.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the results have no conditions, no such partition or no such metric, or several systems and several metrics
        are requested.

    Notes
    -----
    Colours go from 0 to the largest finite value of a metric: systems share one scale, several metrics have separate
    scales. A condition without trials of a class has a dash; infinite values are near black.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> ax = condition_map(deciban.evaluate(frame, score=["score"], by="sex"), metrics=["eer", "cllr"])
    >>> [text.get_text() for text in ax.get_yticklabels()], [text.get_text() for text in ax.get_xticklabels()]
    (['pooled', 'sex f', 'sex m'], ['EER (ROCCH) (%)', 'Cllr'])
    """
    systems = _systems(results, partition)
    pooled = systems[0].pooled
    names = [metrics] if isinstance(metrics, str) else list(metrics or _default_metrics(systems))
    chosen = [key_among(_known(pooled), one, "these results", "metrics") for one in names]
    if len(systems) > 1 and len(chosen) != 1:
        raise InputError(f"metrics: {len(chosen)} metrics of {len(systems)} systems. Use one metric or one system.")
    several = len(systems) > 1
    columns = [str(one.pooled.name) for one in systems] if several else [_heading(one, pooled) for one in chosen]
    rows = ["pooled", *(condition.name for condition in systems[0].partitions[partition].conditions)]
    items = [_evaluations(one, one.partitions[partition]) for one in systems]
    cells = [(one, chosen[0]) for one in items] if several else [(items[0], one) for one in chosen]
    values = np.array([[np.nan if (one := c[k]) is None else one.value(f) for c, f in cells] for k in range(len(rows))])
    tops = [largest(values if several else values[:, k], 1.0) for k in range(len(columns))]
    grid = CellGrid(rows, columns, ax, n_scales=int(several))
    empty = np.isnan(values)
    mesh = grid.shade(np.ma.masked_array(np.maximum(values, 0.0) / tops, empty), BLUES, 1.0, **mesh_kw)
    texts = [[_cell(x, f) for x, (_, f) in zip(row, cells, strict=True)] for row in values.tolist()]
    grid.write(texts, [mesh])
    for row, column in zip(*np.nonzero(empty), strict=True):
        grid.ax.text(column, row, "-", ha="center", va="center", color="0.6", fontsize=letters(9))
    if several:
        top = tops[0] * (100.0 if metric_of(chosen[0]).in_percent else 1.0)
        grid.explain(mesh, _heading(chosen[0], pooled), format=lambda share, _position: brief(share * top))
    return grid.ax


def _systems(results: object, partition: int) -> tuple[SystemConditions, ...]:
    """Return the systems of results with this partition."""
    systems: tuple[SystemConditions, ...] = getattr(results, "conditions", ())
    if not systems or not 0 <= partition < len(systems[0].partitions):
        n_known = len(systems[0].partitions) if systems else 0
        raise InputError(f"partition: got {partition}; the results have {n_known}. Evaluate by conditions first.")
    return systems


def _evaluations(one: SystemConditions, part: ByConditions) -> list[Any]:
    """Return the evaluations of all trials, and of each condition."""
    return [one.pooled, *(condition.evaluation for condition in part.conditions)]


def _default_metrics(systems: Sequence[SystemConditions]) -> list[str]:
    of_classes = systems[0].pooled.kind == "classes"
    names = ["cllr", "min_cllr", "error_rate"] if of_classes else ["eer", "min_dcf", "act_dcf", "min_cllr", "cllr"]
    return names if len(systems) == 1 else names[:1]


def _heading(metric: MetricKey, pooled: OneSystem) -> str:
    return pooled.words(metric).replace(" at p_target ", " at ") + (" (%)" if metric_of(metric).in_percent else "")


def _cell(value: float, metric: MetricKey) -> str:
    """Return the text of a cell; only calibration loss can be negative."""
    size = abs(value) * (100.0 if metric_of(metric).in_percent else 1.0)
    return "" if np.isnan(value) else ("\N{MINUS SIGN}" if value < 0 and brief(size) != "0" else "") + brief(size)


def _equalized(one: SystemConditions, part: ByConditions) -> list[Any]:
    return [same for same in one.equalized if same.title == part.title][:1]


def _known(one: OneSystem) -> list[MetricKey]:
    """Return the metrics that can be drawn, with or without intervals."""
    return keys_of(METRICS, one.kind, {"point": len(one.cost_points)})


_SIZE = (5.6, 5.0)
_LIMIT: Style = {"linestyle": ":", "linewidth": 1.0, "zorder": 1.8}
_CORNERS = {"doves": (1, 0), "chameleons": (1, 1), "phantoms": (0, 0), "worms": (0, 1)}
"""Corners of the boxes: 1 at the right, 1 at the top."""

_MOST_WITH_BOXES = 3


def zoo(result: Menagerie | Sequence[Menagerie], ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the mean non-target score over the mean target score of each speaker, with the corners of extreme quarters.

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
        If there is no system, or an object of another type.

    Notes
    -----
    Each corner contains speakers in an extreme quarter by both means, with their number. Doves are recognized and not
    confused with others, worms the reverse; chameleons match everybody, phantoms nobody. If both means were
    independent, each corner would have one speaker of 16. Several systems should have scores on one scale, such as
    llrs; more than three are drawn without corners. Source: Yager and Dunstone, The biometric menagerie, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 32, 2010.

    Examples
    --------
    >>> from deciban.evaluation import menagerie
    >>> pairs = [[i, j] for i in range(4) for j in range(i, 4)]
    >>> ax = zoo(menagerie([9, 2, 2, 4, 8, 2, 4, 3, 4, 1], [i == j for i, j in pairs], pairs))
    >>> sorted(text.get_text() for text in ax.texts)
    ['chameleons: 0', 'doves: 1', 'phantoms: 0', 'worms: 1']
    """
    values = [result] if isinstance(result, Menagerie) else list(result)
    for one in values:
        if not isinstance(one, Menagerie):
            raise InputError(f"result: expected Menageries, got {type(one).__name__}. `menagerie(...)` makes one.")
    if not values:
        raise InputError("result: no system to draw.")
    dots: Style = {"linestyle": "none", "marker": "o", "markersize": 4, "alpha": 0.6, "markeredgewidth": 0}
    canvas = Canvas([one.name for one in values], ax, line_kw, size=_SIZE, dots=dots)
    for mark, one in zip(canvas.marks, values, strict=True):
        canvas.ax.plot(one.tar_mean, one.non_mean, **mark.main)
    if len(values) <= _MOST_WITH_BOXES:
        for mark, one in zip(canvas.marks, values, strict=True):
            _corners(canvas, mark.color, one, is_alone=len(values) == 1)
        canvas.explain("quartiles", **_LIMIT)
    noun = values[0].noun
    return canvas.finish(f"Mean target score of each {noun}", f"Mean non-target score of each {noun}")


def _corners(canvas: Canvas, color: object, one: Menagerie, *, is_alone: bool) -> None:
    """Draw the limits, and for a single system the number of speakers in each corner."""
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


def subjects(result: Zoo, ax: Axes | None = None, **line_kw: object) -> Axes:
    """Draw the mean scores of subjects with intervals, in ascending order: goats, lambs and wolves.

    Parameters
    ----------
    result : Zoo
        From `deciban.biometrics.zoo`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    **line_kw
        Properties of the dots.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the result has another type.

    Notes
    -----
    Left: mean mated score of each subject. Middle and right: mean non-mated score as a reference and as a probe.
    Dotted: mean over subjects. Crosses: subjects that differ from it significantly, for all subjects together. Source:
    Doddington et al., Sheep, goats, lambs and wolves, ICSLP 1998.

    Examples
    --------
    >>> from deciban.biometrics import zoo
    >>> reference, probe = np.repeat(np.arange(9), 9), np.tile(np.arange(9), 9)
    >>> scores = np.random.default_rng(1).normal(size=81) + 4 * (reference == probe)
    >>> [text.get_text() for text in subjects(zoo(scores, reference == probe, reference, probe)).get_xticklabels()]
    ['goats: 0 of 9', 'lambs: 0 of 9', 'wolves: 0 of 9']
    """
    if not isinstance(result, Zoo):
        raise InputError(f"result: expected a Zoo, got {type(result).__name__}. `deciban.biometrics.zoo` makes one.")
    dots: Style = {"linestyle": "none", "marker": ".", "markersize": 3}
    canvas, start, ticks = Canvas([result.name], ax, line_kw, size=_SIZE, dots=dots), 0, {}
    (mark,) = canvas.marks
    for animal in GROUPS:
        one = getattr(result, animal)
        order, n = np.argsort(one.mean), len(one.mean)
        at = start + np.arange(n)
        canvas.ax.vlines(at, one.low[order], one.high[order], color=mark.color, alpha=0.3, linewidth=0.8)
        canvas.ax.plot(at, one.mean[order], **mark.main)
        canvas.ax.hlines(one.center, start, start + n - 1, color="black", **_LIMIT)
        member = one.is_member[order]
        canvas.ax.plot(at[member], one.mean[order][member], "x", color="black", markersize=5)
        ticks[start + (n - 1) / 2] = f"{animal}: {int(member.sum())} of {n}"
        start += n + max(n // 10, 1)
    canvas.ax.set_xticks(list(ticks), list(ticks.values()))
    canvas.explain("significantly different", color="black", marker="x", linestyle="none", markersize=5)
    return canvas.finish("Subjects by mean score", f"Mean score [{100 * result.level:.4g} % intervals]")
