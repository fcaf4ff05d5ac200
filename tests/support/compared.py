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


def lines_of(ax, n_points):
    return [line for line in ax.lines if len(line.get_xdata()) == n_points and not np.isscalar(line.get_ydata())]
