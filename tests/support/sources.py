"""What trials in pieces hold, put together again: to be compared with what is read as a whole."""

import gc
import tempfile
from pathlib import Path

import numpy as np

from deciban.io.shards.pieces import Wanted
from deciban.workflows.inputs import read_joined
from deciban.workflows.options import Options


def gathered(source, *, units=False, weight=False):
    """Rows of scores of all systems, truth, and keys of units or weights, in an order that is that of their values."""
    rows = []
    for piece in source.pieces:
        wanted = Wanted(tuple(range(len(source.systems))), truth=True, units=units, weight=weight)
        rows.append(_rows(piece.read(wanted)))
    return _sorted(np.concatenate(rows))


def _rows(chunk):
    columns = [np.atleast_2d(one.T).astype(np.float64) for one in chunk.scores]
    columns.append(np.atleast_2d(chunk.truth.astype(np.float64)))
    if chunk.units is not None:
        columns += [np.atleast_2d(chunk.units.keys[side].astype(np.float64)) for side in chunk.units.codes]
    if chunk.weight is not None:
        columns.append(np.atleast_2d(chunk.weight.astype(np.float64)))
    return np.concatenate(columns).T


def _sorted(rows):
    return rows[np.lexsort(rows.T)]


def in_memory(scores, key=None, *, units=None, **options):
    """The same of what is read as a whole, and how trials met."""
    asked = Options.of("evaluate_files", options | ({} if units is None else {"units": units}))
    joined = read_joined(scores, key, asked)
    columns = [np.atleast_2d(one.score.T).astype(np.float64) for one in joined.aligned]
    columns.append(np.atleast_2d(joined.truth.astype(np.float64)))
    if units is not None:
        found, _ = joined.units(asked.how_sure)
        columns += [np.atleast_2d(found.keys[side].astype(np.float64)) for side in found.codes]
    if joined.weight is not None:
        columns.append(np.atleast_2d(joined.weight.astype(np.float64)))
    return _sorted(np.concatenate(columns).T), joined.report


def left_behind():
    """Temporary folders that should have gone."""
    gc.collect()
    return {str(path) for path in Path(tempfile.gettempdir()).glob("deciban-*")}
