"""Tables that are joined by name on workers are those that are joined here, though a worker is lost."""

import gc
import os
import tempfile

import numpy as np
import pyarrow as pa
import pytest

from deciban import evaluate_files
from deciban.engines import dask as engine
from deciban.engines import dask_joins
from deciban.engines.looking import found_in
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io.shards import held
from deciban.io.shards.pieces import Wanted
from deciban.workflows.options import Options
from deciban.workflows.sources import open_source
from support.pieces import where_read
from support.sources import gathered, in_memory, trials, write

pytest.importorskip("distributed", reason="needs dask and distributed")


@pytest.fixture
def files(tmp_path):
    """Scores and a key, each cut elsewhere and in another order."""
    rng = np.random.default_rng(1)
    table = trials(rng, n=200)
    scores = write(table.select(["enroll", "test", "score"]).take(rng.permutation(200)), tmp_path / "scores", rng)
    return scores, write(table.drop_columns("score"), tmp_path / "key", rng)


@pytest.fixture
def many_parts(monkeypatch):
    """As of many millions of rows."""
    monkeypatch.setattr(dask_joins, "_MOST", 30_000)


def opened(scores, key, client, **said):
    return open_source([scores], key, Options.of("evaluate_files", {"dask": client, **said}))


@pytest.mark.usefixtures("many_parts")
@pytest.mark.parametrize(
    "said", [{}, {"where": {"gender": "f"}}, {"ids": "basename"}, {"missing": "drop", "duplicates": "keep-one"}]
)
def test_trials_meet_as_in_memory_and_stay_with_the_workers(client, files, monkeypatch, tmp_path, said):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))  # no temporary file can be made
    source = opened(*files, client, **said)
    expected, report = in_memory([files[0]], files[1], **said)
    assert (source.report, source.report.renamed) == (report, report.renamed)
    assert len({key for one in source.pieces for key in one.held}) > 2
    found = found_in(source, engine.DaskEngine(client), Wanted((0,)), where_read, "looking")
    assert found.n == len(expected)
    assert os.getpid() not in found.pids
    np.testing.assert_array_equal(gathered(source), expected)  # here they are fetched
    key = next(iter(source.pieces[0].held))
    del source
    gc.collect()
    assert key not in {*held.FETCH, *engine.FUTURES}


@pytest.mark.usefixtures("many_parts")
def test_parts_that_went_with_a_worker_are_made_again(client, files):
    source = opened(*files, client)
    expected = evaluate_files(*files, intervals=False).systems[0]
    (lost, *_) = client.scheduler_info()["workers"]
    client.run(os._exit, 1, workers=[lost], on_error="ignore")
    found = evaluate_files(source, dask=client, intervals=False).systems[0]
    assert (found.eer, found.min_cllr, found.n_tar) == (expected.eer, expected.min_cllr, expected.n_tar)


def test_what_does_not_meet_is_refused_as_here(client, files, tmp_path):
    rng = np.random.default_rng(2)
    table = trials(np.random.default_rng(1), n=200)
    short = write(table.select(["enroll", "test", "score"]).slice(7), tmp_path / "short", rng)
    copied = pa.concat_tables([table, table.slice(3, 1)]).select(["enroll", "test", "score"])
    for scores in (short, write(copied, tmp_path / "copied", rng)):
        told = []
        for said in ({"dask": client}, {"memory": "100MB"}):
            with pytest.raises(KeyMismatchError) as error:
                open_source([scores], files[1], Options.of("evaluate_files", said))
            told.append(str(error.value))
        assert told[0] == told[1]
    bad = table.set_column(2, "score", pa.array([float("nan")] * 200))
    with pytest.raises(FormatError, match=r"bad/0\.parquet, row group 0, row 0: the score is NaN"):
        opened(write(bad.select(["enroll", "test", "score"]), tmp_path / "bad", rng), files[1], client)


def test_rows_of_a_cluster_that_is_closed_say_so(client, files):
    rows = opened(*files, client).pieces[0].rows
    gc.collect()
    with pytest.raises(InputError, match="was held by a cluster that is closed"):
        rows.table(["label"])
