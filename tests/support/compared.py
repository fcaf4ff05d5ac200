"""Comparisons of made systems, and lines of their pictures."""

import numpy as np

import deciban


def comparison(names, **options):
    rng = np.random.default_rng(3)
    unit = np.repeat(np.arange(40), 4)
    common = rng.normal(size=(2, 160))
    gaps = dict(zip("ABCDEF", (1.5, 2.0, 1.4, 1.7, 1.2, 1.8), strict=True))
    pairs = [common + 0.5 * rng.normal(size=(2, 160)) + np.array([[gaps[k]], [-gaps[k]]]) for k in names]
    how = {"tar_units": unit, "non_units": unit, "names": list(names), **options}
    return deciban.compare(*map(tuple, pairs), **how)


def intervals_of(ax):
    """Low end, number and high end, row and colour of every interval that was drawn."""
    ends = [line for line in ax.lines if line.get_marker() == "|" and len(line.get_xdata()) == 2]
    dots = [ax.lines[list(ax.lines).index(line) + 1] for line in ends]
    drawn = [
        (*line.get_xdata(), *dot.get_xdata(), dot.get_ydata()[0], dot.get_color())
        for line, dot in zip(ends, dots, strict=True)
    ]
    return [((low, middle, high), row, color) for low, high, middle, row, color in drawn]
