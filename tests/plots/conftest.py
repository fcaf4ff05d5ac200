"""Systems to draw."""

import numpy as np
import pytest

from deciban import plots
from deciban.evaluation import evaluate
from support.evaluated import gaussian


@pytest.fixture(scope="session")
def system():
    return gaussian("sysA")


@pytest.fixture(scope="session")
def drawn(system):
    """Every plot of `system`, to be looked at and not to be changed."""
    return {kind: getattr(plots, kind)(system) for kind in plots.KINDS}


@pytest.fixture(scope="session")
def systems():
    return [gaussian("sysA"), gaussian("sysB", 2.5, scale=1.7, seed=1), gaussian("sysC", 1.5, n_non=900, seed=2)]


@pytest.fixture(scope="session")
def degenerate():
    """Sets whose rates, llrs or scores are 0, 1, equal or infinite."""
    inf, largest = np.inf, 1.7e308
    return [
        evaluate([1.0] * 5, [1.0] * 7, name="all equal"),
        evaluate([1.0], [0.0], name="one trial each"),
        evaluate([0.0], [1.0], name="one trial each, reversed"),
        evaluate(np.arange(5.0, 55.0), np.arange(-90.0, 1.0), name="separated"),
        evaluate([inf, inf], [-inf], name="all infinite"),
        evaluate([inf, 2.0, -inf, 0.5], [-inf, inf, 0.0, 1.0], name="some infinite, wrong side too"),
        evaluate([largest, 2.0], [-largest, 3.0], name="huge"),
        evaluate([1e-300, 2e-300], [0.0, 5e-324], name="tiny"),
        evaluate([1.0, 700.0, -3.0], [0.0, -650.0, 3.0], name="extreme priors", operating_points=[1e-300, 0.999999]),
    ]
