"""Trials of both kinds in data frames of every library."""

import numpy as np
import pyarrow as pa
import pytest

RNG = np.random.default_rng(20)
N = 300
TRUTH = RNG.random(N) < 0.3
SCORES = np.where(TRUTH, RNG.normal(2, 1, N), RNG.normal(0, 1.5, N)).round(2)
OTHER = (SCORES + RNG.normal(0, 1, N)).round(2)
COLUMNS = {
    "llr": SCORES,
    "other": OTHER,
    "same": TRUTH,
    "speaker": [f"s{k % 20}" for k in range(N)],
    "utterance": [f"u{k}" for k in range(N)],
    "copies": np.arange(N) % 3,
}
CLASSES = ("cat", "dog", "eel")
CLASS = RNG.integers(0, 3, N)
LOGLIK = RNG.normal(size=(N, 3))
LOGLIK[np.arange(N), CLASS] += 1.5


class Stream:
    """Anything that hands out its columns the Arrow way."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def of_pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def of_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


MAKERS = {
    "mapping": dict,
    "pandas": of_pandas,
    "polars": of_polars,
    "table": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "stream": lambda columns: Stream(pa.table(columns)),
}
