"""What trials in batches hold, put together again: to be compared with what is read as a whole."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from deciban.trials.sources import TrialFields
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options
from deciban.workflows.reading.inputs import read_joined
from deciban.workflows.reading.units import units_of_batch


def gathered(source, *, units=False, weight=False):
    """Rows of scores of all systems, truth, and keys of units or weights, in an order that is that of their values."""
    rows = []
    for partition in source.partitions:
        wanted = TrialFields(tuple(range(len(source.systems))), truth=True, units=units, weight=weight)
        rows.append(_rows(partition.read(wanted)))
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
    unit = options.pop("unit", None)
    options |= {} if unit is None else {unit: True}
    asked = Options.of("evaluate_files", options | ({} if units is None else {"units": units}))
    source = read_joined(scores, key, asked)
    if units is not None:
        source, _ = units_of_batch(source, asked.how_sure, kind_called(source.kind_name()))
    return _sorted(_rows(source.batch)), source.report


def trials(rng, n=60, **more):
    """A table of distinct trials with ties and infinities among their scores."""
    pairs = rng.permutation(400)[:n]
    score = rng.choice([-np.inf, -1.5, 0.0, 0.1, 2.0, np.inf, *rng.normal(size=10)], n)
    columns = {
        "enroll": [f"m{one // 20}" for one in pairs],
        "test": [f"t{one % 20}" for one in pairs],
        "score": score.astype(rng.choice([np.float32, np.float64])),
        "label": np.where(rng.random(n) < 0.4, "target", "nontarget"),
        "gender": rng.choice(["f", "m"], n),
        "age": rng.integers(20, 23, n),
        "weight": rng.choice([0.0, 0.5, 1.0, 2.0], n),
        "speaker": [f"s{one % 5}" for one in pairs],
    }
    return pa.table(columns | more)


def write(table, folder, rng, *, arrow=False):
    """Cut a table into files and row groups by chance, some of them empty."""
    folder.mkdir()
    cuts = np.sort(rng.integers(0, len(table) + 1, rng.integers(0, 4)))
    borders = [0, *map(int, cuts), len(table)]
    for at, (start, stop) in enumerate(pairwise(borders)):
        part, size = table.slice(start, stop - start), int(rng.integers(1, 30))
        if arrow:
            pyarrow.feather.write_feather(
                part, folder / f"{at}.arrow", chunksize=size, compression=str(rng.choice(["uncompressed", "lz4"]))
            )
        else:
            pq.write_table(part, folder / f"{at}.parquet", row_group_size=size)
    return folder


def split(table, path, rng, *, shuffled):
    """Scores and key in tables of their own, the former perhaps in another order."""
    order = rng.permutation(len(table)) if shuffled else np.arange(len(table))
    scores = write(table.select(["enroll", "test", "score"]).take(order), path / "scores", rng)
    return scores, write(table.drop_columns("score"), path / "key", rng)
