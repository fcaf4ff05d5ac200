"""Whether two evaluations are equally sure of everything."""

import numpy as np

RELATIVE = 1e-9
"""Sums are added up in another order; metrics near 0 are differences of larger ones."""

OF_CELLS = {("information", 1): 2e-5}
"""Of many trials in narrow cells, which depend on what is counted as a trial: see `deciban.evaluation.Curves`."""


def assert_equally_sure(found, whole):
    """That intervals, replicates and bands of two evaluations are the same, but for the last digits of sums."""
    one, other = found.uncertainty, whole.uncertainty
    assert (one.n_units, one.noun, one.source) == (other.n_units, other.noun, other.source)
    assert one.estimates.keys() == other.estimates.keys()
    for name, theirs in other.estimates.items():
        mine = one.estimates[name]
        assert (mine.n_units, mine.scale, mine.limits) == (theirs.n_units, theirs.scale, theirs.limits), name
        ends = [(one.low, one.high) for one in (mine.interval(0.95), theirs.interval(0.95))]
        _close(*ends, name)
        _close([mine.value, mine.standard_error], [theirs.value, theirs.standard_error], name)
        assert (mine.corrected is None) == (theirs.corrected is None), name
        _close(mine.corrected or 0.0, theirs.corrected or 0.0, name)
    assert one.curves.keys() == other.curves.keys()
    for name, theirs in other.curves.items():
        _close(one.curves[name], theirs, name)
    assert (one.bootstrap is None) == (other.bootstrap is None)
    if one.bootstrap is not None:
        np.testing.assert_array_equal(one.bootstrap.numbers, other.bootstrap.numbers)
        assert one.bootstrap.values.keys() == other.bootstrap.values.keys()
        for name, theirs in other.bootstrap.values.items():
            _close(one.bootstrap.values[name], theirs, name)


def _close(mine, theirs, name):
    within = OF_CELLS.get(name, 1e-3 * RELATIVE)
    np.testing.assert_allclose(mine, theirs, rtol=RELATIVE, atol=within, err_msg=str(name))
