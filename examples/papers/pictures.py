"""What the scripts of this folder share: their command line, and empty axes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deciban import plots

Drawings = Mapping[str, Axes | Figure]


def axes(x: str, y: str, *, size: tuple[float, float] = (5.4, 3.8)) -> Axes:
    """Empty axes with a faint grid, on a figure of their own."""
    ax = Figure(figsize=size, layout="constrained").add_subplot()
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(visible=True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def panels(rows: int, columns: int, *, size: tuple[float, float]) -> list[Axes]:
    """Axes side by side on one figure, row by row."""
    found = Figure(figsize=size, layout="constrained").subplots(rows, columns, squeeze=False)
    return [ax for row in found for ax in row]


def run(document: str, draw: Callable[[int], Drawings], trials: int, arguments: Sequence[str] | None) -> None:
    """Parse the command line of a script, draw, and write a picture for each name."""
    parser = argparse.ArgumentParser(description=document.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--trials", type=int, default=trials, help=f"trials of each class ({trials})")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, drawing in draw(options.trials).items():
        file = options.output / f"{name}.svg"
        plots.save(drawing, file, "svg")
        print(f"wrote {file}")
