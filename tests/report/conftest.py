"""Results to report on."""

import numpy as np
import pytest

from deciban.evaluation import Results, evaluate
from deciban.trials import JoinReport

HOSTILE = ("<script>alert(1)</script>", '"><img src=x>')


@pytest.fixture(scope="session")
def results():
    """Two systems whose names would do harm if they were not escaped, one with infinite scores for the wrong class."""
    rng = np.random.default_rng(4)
    tar, non = rng.normal(2, 2, 300), rng.normal(-2, 2, 3000)
    points = [0.01, (0.01, 10, 1)]
    good = evaluate(tar, non, name=HOSTILE[0], operating_points=points)
    bad = evaluate(np.append(tar, -np.inf), np.append(non, np.inf), name=HOSTILE[1], operating_points=points)
    return Results((good, bad), JoinReport(3300, 12, 5, 0))
