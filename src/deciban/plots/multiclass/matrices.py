"""Pairs of classes as coloured matrices: confusions, and losses of pairwise problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation, ClassResults, Results
from deciban.plots.axes import in_percent
from deciban.plots.multiclass.cells import BLUES, ORANGES, ClassDrawable, Grid, brief, largest, numbered, one_system
from deciban.types import FloatArray


def confusion(
    result: ClassEvaluation | ClassResults | ArrayLike,
    ax: Axes | None = None,
    *,
    classes: Sequence[str] | None = None,
    decisions: Sequence[str] | None = None,
    show: Literal["rates", "counts"] = "rates",
    **mesh_kw: Any,
) -> Axes:
    """Draw which classes are taken for which: a row for each true class, a column for each decision.

    Parameters
    ----------
    result : ClassEvaluation, or (n_classes, n_decisions) array_like
        One system; or numbers of trials, or sums of their weights, as from `deciban.multiclass.confusion`. Decision
        ``k`` is right for class ``k``; there may be more decisions, such as one that rejects the trial.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, large enough for 30 classes.
    classes : sequence of str, optional
        Names of the classes of a matrix; those of an evaluation are known.
    decisions : sequence of str, optional
        Names of the decisions; those of the classes if there are as many.
    show : {"rates", "counts"}
        What is written into the cells: shares of the true class in percent, or numbers of trials.
    **mesh_kw
        Properties of both meshes of cells.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there are several systems, the matrix holds anything but finite numbers of at least 0, has fewer columns
        than rows, or names do not fit.

    Notes
    -----
    Colours are shares of the true class, whatever is written: blue for right decisions, from 0 to 100 %, orange for
    wrong ones, from 0 to the most frequent of them, so that rare confusions show too. The row of a class without
    trials is empty.

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
            f"decisions: {n_decisions} decisions for {n_classes} classes. Name all of them: those of the classes first."
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
    grid = Grid(rows, columns, ax)
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


def pairwise_loss(result: ClassDrawable, ax: Axes | None = None, *, top: float | None = None, **mesh_kw: Any) -> Axes:
    """Draw what is lost when each class is recognized against each other one: discrimination and calibration loss.

    Parameters
    ----------
    result : ClassEvaluation
        One system.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, large enough for 30 classes.
    top : float, optional
        Bits of the darkest colour; the largest finite loss by default. Plots of one recognizer before and after
        calibration can be compared if they have the same.
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
    Pairs have no direction, so that each half of the matrix can show something else: below the diagonal, in blue, the
    discrimination loss, min Cllr; above it, in orange, the calibration loss, Cllr less min Cllr. Their sum is Cllr.
    Both have the same scale. Infinite losses are nearly black. Source: paper 001 section 4.2 and figure 3 (Bruemmer
    and van Leeuwen 2006), where bars show the same.

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
        raise InputError(f"top: the darkest colour stands for bits above 0, not infinite, got {top!r}.")
    lower = np.tri(n_classes, k=-1, dtype=bool)
    losses = np.where(lower, pairs.min_cllr, pairs.calibration_loss)
    np.fill_diagonal(losses, 0.0)
    darkest = (pairs.largest_loss or 1.0) if top is None else top
    grid = Grid(system.classes, system.classes, ax)
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
        raise InputError("result: numbers of trials are finite and at least 0.")
    if table.shape[1] < table.shape[0]:
        raise InputError(f"result: {table.shape[0]} classes but {table.shape[1]} decisions. Rows are true classes.")
    return table.astype(np.float64)


def _percent(rate: float) -> str:
    """Write a share in percent in at most four letters; only 0 and 1 are written as 0 and 100."""
    if rate in (0.0, 1.0):
        return f"{100 * rate:.0f}"
    return "<.1" if rate < 0.0005 else f"{100 * min(rate, 0.999):.1f}"


def _count(n: float) -> str:
    return f"{n:,.0f}" if n == round(n) else f"{n:.3g}"
