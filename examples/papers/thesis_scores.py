"""Figures 7.2 and 8.2 and table 8.1 of the thesis: hulls of small ROCs, fusion, and calibration of three classes.

    python examples/papers/thesis_scores.py -o pictures/

Figures 7.1, 7.3, 7.8 and 7.9 are made by bosaris.py, 8.3 and 8.4 by subsets.py, the others by thesis_rules.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import generators
import numpy as np
from generators import Array, Labels, Pair
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import Drawings, axes, panels, run

from deciban import plots
from deciban.calibration import MulticlassCalibrator
from deciban.evaluation import evaluate
from deciban.fusion import LinearFusion
from deciban.metrics import roc, rocch
from deciban.multiclass import calibration_analysis, error_rate

SMALL: dict[str, Pair] = {
    "non below tar": (np.array([1.0]), np.array([0.0])),
    "tar below non": (np.array([0.0]), np.array([1.0])),
    "non between two tar": (np.array([0.0, 2.0]), np.array([1.0])),
    "tar between two non": (np.array([1.0]), np.array([0.0, 2.0])),
}


class Row(NamedTuple):
    """A row of table 8.1: databases, cross-entropies in nats, and wrong decisions."""

    test: str
    train: str
    total: float
    best: float
    loss: float
    error_rate: float


def figure_7_2(n: int) -> Figure:
    """Steps and hulls of six sets of scores."""
    many = {f"{size} of each": generators.unequal_gaussians(size, 9) for size in (12, max(n // 20, 13))}
    six = panels(2, 3, size=(9.6, 6.4))
    for ax, (name, (tar, non)) in zip(six, {**SMALL, **many}.items(), strict=True):
        steps, hull = roc(tar, non), rocch(tar, non)
        ax.plot(steps.p_fa, steps.p_miss, "C2v-", markersize=4, label="ROC")
        ax.plot(hull.p_fa, hull.p_miss, "C3^--", markersize=4, label="hull")
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), xlabel="P_fa", ylabel="P_miss")
        ax.set_title(name, fontsize=10)
    six[0].legend(frameon=False, fontsize=9)
    return six[0].figure


def systems_and_fusion(n: int) -> dict[str, Pair]:
    """Scores of four systems on new trials, and those of their fusion, trained at prior 0.091 on others."""
    scores, label = generators.subsystems(n)
    fused = LinearFusion(p_target=1.0 / 11.0).fit(scores, label == 1)
    new, truth = generators.subsystems(n, seed=4)
    columns = {f"system {k + 1}": new[:, k] for k in range(new.shape[1])}
    columns["fusion"] = fused.transform(new)
    return {name: (column[truth == 1], column[truth == 0]) for name, column in columns.items()}


def figure_8_2(n: int) -> Axes:
    """Their DET curves."""
    return plots.det([evaluate(*scores, name=name) for name, scores in systems_and_fusion(n).items()])


def databases(n: int) -> dict[str, tuple[Array, Labels]]:
    """Three classes in two years, by a recognizer that takes evidence four times too seriously."""
    return {
        "2006": generators.languages(n, 11, n_classes=3, confidence=4.0, lean=2.0, spread=4.0),
        "2008": generators.languages(n, 12, n_classes=3, confidence=3.5, lean=2.6, spread=4.0),
    }


def table_8_1(n: int) -> list[Row]:
    """Cross-entropies and error rates without calibration and with one of either year."""
    data = databases(n)
    maps = {year: MulticlassCalibrator().fit(*scores) for year, scores in data.items()}
    rows = []
    for test, train in (("2006", "-"), ("2006", "2006"), ("2008", "-"), ("2008", "2006"), ("2008", "2008")):
        loglik, label = data[test]
        used = maps[train].transform(loglik) if train in maps else loglik
        found = calibration_analysis(used, label)
        total, best = found.total * np.log(2.0), found.minimum * np.log(2.0)
        rows.append(Row(test, train, total, best, total - best, error_rate(used, label)))
    return rows


def drawn_table(rows: Sequence[Row]) -> Axes:
    """Table 8.1 as a picture."""
    ax = axes("", "", size=(5.6, 2.2))
    ax.axis("off")
    cells = [
        [row.test, row.train, *(f"{round(x, 3) + 0.0:.3f}" for x in row[2:5]), f"{100 * row.error_rate:.2f}"]
        for row in rows
    ]
    titles = ["test", "train", "E_log", "E_log opt", "L_cal", "% err"]
    ax.table(cells, colLabels=titles, loc="center", edges="horizontal")
    return ax


def draw(n: int) -> Drawings:
    """All figures by name."""
    return {
        "thesis-7-2": figure_7_2(n),
        "thesis-8-2": figure_8_2(10 * n),
        "thesis-table-8-1": drawn_table(table_8_1(n)),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write them into a folder."""
    run(__doc__ or "", draw, 500, arguments)


if __name__ == "__main__":
    main()
