"""HDF5 files of hyperion: the layout of BOSARIS with conditions. Read only.

``/ID/row_ids``, ``/ID/column_ids`` and ``/scores`` with ``/score_mask``, or ``/trial_mask``, as in `bosaris_hdf5`; and
any of ``model_cond`` (one value per model), ``seg_cond`` (one per segment) and ``trial_cond`` (models x segments), at
the root or in ``/ID``. A list of strings or whole numbers becomes a condition column of the trials under that name;
conditions of any other shape or type are left out, which a note says.

A file is recognized by the names and a matrix of BOSARIS together with one of the conditions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from deciban.io.contents import Contents
from deciban.io.formats import Options
from deciban.io.formats.bosaris_hdf5 import CONDITIONS, is_grid, read_grid
from deciban.io.matrices.hdf5 import Hdf5, opened, present
from deciban.io.matrices.hdf5_arrays import cells_of, read_names
from deciban.io.source import Source
from deciban.trials import Index, Trials

NAME = "hyperion"


def signs(source: Source) -> bool:
    """Whether the names lie where this format keeps them."""
    there = present(source)
    return is_grid(there) and bool(there.intersection(CONDITIONS))


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    with opened(source) as file:
        contents = read_grid(file, options, NAME)
        if contents.index is None:
            return contents
        trials = contents.index.trials
        found: dict[str, pa.Array] = {}
        notes = []
        for path in CONDITIONS:
            if file.has(path):
                column = _condition(file, path, trials)
                if column is None:
                    notes.append(f"{file.name}, {path}: not one value per model, segment or trial; it was left out.")
                else:
                    found[path.rpartition("/")[2]] = column
    trials = replace(trials, conditions=found)
    key = None if contents.key is None else replace(contents.key, trials=trials)
    systems = tuple(replace(one, trials=trials) for one in contents.systems)
    return replace(contents, index=Index(trials), key=key, systems=systems, notes=(*contents.notes, *notes))


def _condition(file: Hdf5, path: str, trials: Trials) -> pa.Array | None:
    """The values of a condition, one per trial; None if they are no list of strings or whole numbers."""
    import h5py

    dataset, where = file.dataset(path), f"{file.name}, {path}"
    shape = tuple(len(names) for names in trials.names)
    text = h5py.check_string_dtype(dataset.dtype) is not None
    if path.endswith("trial_cond"):
        if text or dataset.dtype.kind not in "biu" or dataset.shape != shape:
            return None
        cells = cells_of(file, dataset, where)
        return pa.array(cells.ravel() if trials.mask is None else cells[trials.mask])
    side = 0 if path.endswith("model_cond") else 1
    if dataset.shape != (shape[side],) or not (text or dataset.dtype.kind in "biu"):
        return None
    values: Any = read_names(file, path).values if text else pa.array(cells_of(file, dataset, where))
    return values.take(pa.array(trials.codes[side]))
