"""Methods of data frames, and relations of DuckDB as data frames."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deciban
from deciban.workflows import register_accessors

RNG = np.random.default_rng(2)
LABEL = np.arange(90) % 3 == 0
COLUMNS = {"llr": RNG.normal(2.0 * LABEL), "other": RNG.normal(LABEL), "is_target": LABEL}


@pytest.mark.parametrize("frame", [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)])
def test_data_frames_have_the_functions_as_methods(frame):
    assert register_accessors() == ("pandas", "polars")
    found = frame.deciban.evaluate(score="llr", label="is_target")
    expected = deciban.evaluate(COLUMNS, score="llr", label="is_target")
    assert (found.name, found.cllr, found.interval("eer")) == (expected.name, expected.cllr, expected.interval("eer"))
    assert len(frame.deciban.evaluate(score=["llr", "other"], label="is_target").systems) == 2
    method = frame.deciban.evaluate
    assert method.__doc__ == deciban.evaluate.__doc__
    assert [*inspect.signature(method).parameters] == [*inspect.signature(deciban.evaluate).parameters][1:]
    trained = frame.deciban.calibrate(score="llr", label="is_target")
    assert trained.model.scale_ == deciban.calibrate(COLUMNS, score="llr", label="is_target").model.scale_


def test_relations_of_duckdb_and_what_has_only_its_method_are_tables():
    class Relation:
        def fetch_arrow_table(self):
            return pa.table(COLUMNS)

    assert deciban.evaluate(Relation(), score="llr", label="is_target").n_tar == 30
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        connection.register("trials", pa.table(COLUMNS))
        found = connection.sql("select llr, is_target from trials where other < 9")
        assert deciban.evaluate(found, score="llr", label="is_target").n_tar == 30
