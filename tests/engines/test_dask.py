"""Passes on a real cluster of two processes, one of which is killed in the middle of them."""

import gc
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deciban import evaluate_files, memory
from deciban.core.ranks.loops import count_loops
from deciban.engines import Threads
from deciban.engines import dask as dask_clusters
from deciban.engines import dask as engine
from deciban.engines import sorting as by_value
from deciban.engines.sorting import Ascending, summarize_source
from deciban.errors import ClusterError, FormatError, InputError, KeyMismatchError, command_spelling, heard_by
from deciban.evaluation import Metric, register_metric
from deciban.evaluation.two_class.evaluate import evaluation_of
from deciban.evaluation.two_class.summary import TwoClassMetrics, summarize
from deciban.trials.sources import SourcePass
from support.partitions import held, some_trials
from support.sources import trials, write

distributed = pytest.importorskip("distributed", reason="needs dask and distributed")
psutil = pytest.importorskip("psutil")  # a dependency of distributed

MEMORY = 1 << 28


@pytest.fixture
def many_tasks(monkeypatch):
    """As on data of hundreds of millions of rows."""
    monkeypatch.setattr(engine, "_ROWS_PER_TASK", 1000)


def n_trials(found):
    return sum(len(scores) for _, scores, _ in found.result)


def in_memory(scores, truth):
    return evaluation_of(summarize(scores[truth], scores[~truth]))


def same(found, expected):
    """Equal to the bit, but for sums of costs, and for means of parts of a class, which only a picture shows."""
    for one in fields(expected):
        a, b = getattr(found, one.name), getattr(expected, one.name)
        if one.name == "curves":
            for part in fields(b):
                same_curve(getattr(a, part.name), getattr(b, part.name))
        elif one.name == "information_at" or not one.compare:
            pass  # of Cllr and of the curve of cross-entropy; of cells
        elif one.name in ("cllr", "calibration_loss"):
            assert a == pytest.approx(b, rel=1e-14), one.name
        elif one.name != "name":
            assert a == b, one.name


def same_curve(a, b):
    if isinstance(b, np.ndarray):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(("dtype", "is_killed"), [(np.float32, True), (np.float64, False)])
@pytest.mark.usefixtures("many_tasks")
def test_of_many_trials_it_is_what_it_is_in_memory_though_a_worker_is_killed(
    client, tmp_path, dtype, is_killed, monkeypatch
):
    monkeypatch.setattr(by_value, "FEWEST_ROWS", 1)
    monkeypatch.setattr(memory.Cost, "HELD", 10**6)
    monkeypatch.setattr(memory.Cost, "HELD_WIDE", 10**6)
    monkeypatch.setattr(by_value, "_by_files", None if dtype == np.float32 and count_loops() else by_value._by_files)
    scores, truth = some_trials(100_000, 1, dtype=dtype)
    cuts = np.arange(5000, 100_000, 5000)
    source = held(scores, truth, cuts, {12: ("kill", str(tmp_path / "killed"))} if is_killed else None)
    before = set(client.scheduler_info()["workers"])
    with engine.DaskEngine.of(client) as cluster:
        summary = summarize_source(source, cluster, MEMORY)
    assert (tmp_path / "killed").exists() == is_killed
    assert (set(client.scheduler_info()["workers"]) != before) == is_killed
    assert cluster.n_passes == 1
    local = summarize_source(held(scores, truth, cuts), Threads(2), MEMORY)
    same(evaluation_of(summary), in_memory(scores, truth))
    same(evaluation_of(summary), evaluation_of(local))


WEIGHTS = {
    "none": lambda _rng, _n: None,
    "whole": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "fractional": lambda rng, n: rng.random(n),
}


@pytest.fixture
def in_ranges(many_tasks, monkeypatch):  # noqa: ARG001
    """Trials are sorted on workers, in ranges, as if they did not fit here."""
    monkeypatch.setattr(memory.Cost, "HELD", 10**9)
    monkeypatch.setattr(memory.Cost, "HELD_WIDE", 10**9)
    monkeypatch.setattr("deciban.engines._EACH_OF", 16)


def mixed_trials(seed, dtype):
    """With many ties, a partition of one score that others have too, and one of one class, in 20 partitions."""
    scores, truth = some_trials(40_000, seed, dtype=dtype, share=0.2)
    if seed % 2:
        scores[seed % 3 :: 3] = np.random.default_rng(seed).normal(size=len(scores[seed % 3 :: 3])).astype(dtype)
    scores[6000:8000], truth[10_000:12_000] = scores[0], False
    return scores, truth, np.arange(2000, 40_000, 2000)


def close(found, expected):
    """Equal to the last digits, as sums of fractional weights are."""
    for name in ("n_tar", "n_non", "eer", "auc", "cllr", "min_cllr", "n_tied"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12), name


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.usefixtures("in_ranges")
def test_workers_sort_and_count_ranges_of_scores(client, monkeypatch, tmp_path, weighted, dtype, seed):
    """In any order of rows and partitions, and if a worker is killed."""
    scores, truth, cuts = mixed_trials(seed, dtype)
    weights = WEIGHTS[weighted](np.random.default_rng(seed), len(scores))
    monkeypatch.setattr("deciban.engines.sorting._sample", None)  # no trial is read here
    order = np.random.default_rng(9).permutation(len(scores))
    other = None if weights is None else weights[order]
    one = summarize_source(
        held(scores, truth, cuts, {7: ("kill", str(tmp_path / "killed"))}, weights), engine.DaskEngine(client), MEMORY
    )
    two = summarize_source(held(scores[order], truth[order], cuts[::3], None, other), engine.DaskEngine(client), MEMORY)
    assert (tmp_path / "killed").exists()
    by = {} if weights is None else {"tar_weights": weights[truth], "non_weights": weights[~truth]}
    whole = evaluation_of(summarize(scores[truth], scores[~truth], **by))
    for summary in (one, two):
        (close if weighted == "fractional" else same)(evaluation_of(summary), whole)
    assert one.is_weighted == (weighted != "none")


@pytest.mark.parametrize("weighted", ["none", "whole"])
@pytest.mark.usefixtures("in_ranges")
def test_all_trials_of_one_score_are_one_range(client, weighted):
    """Its workers send one number for them."""
    truth = np.arange(30_000) % 5 == 0
    weights = WEIGHTS[weighted](np.random.default_rng(3), len(truth))
    summary = summarize_source(
        held(np.full(30_000, 0.5), truth, np.arange(3000, 30_000, 3000), None, weights),
        engine.DaskEngine(client),
        MEMORY,
    )
    assert [len(one.scores) for one in (summary.ranks.tar, summary.ranks.non)] == [1, 1]
    assert summary.n_tar == (6000 if weights is None else weights[truth].sum())
    assert evaluation_of(summary).eer == 0.5


@pytest.mark.usefixtures("in_ranges")
def test_costs_of_registered_metrics_are_added_here(client):
    """Workers may not have the module of such a metric; this one cannot be sent."""
    lock = threading.Lock()

    def hinge(llr):
        with lock:
            return np.maximum(1 - llr, 0), np.maximum(1 + llr, 0)

    remove = register_metric(Metric("hinge", "hinge loss", costs=hinge))
    try:
        scores, truth, cuts = mixed_trials(1, np.float64)
        scores[np.isinf(scores)] = 0.0
        metrics = TwoClassMetrics()
        summary = summarize_source(held(scores, truth, cuts), engine.DaskEngine(client), MEMORY, metrics=metrics)
        assert dict(summary.own) == pytest.approx(dict(summarize(scores[truth], scores[~truth], metrics=metrics).own))
    finally:
        remove()


@pytest.mark.usefixtures("in_ranges")
def test_a_class_without_trials_is_refused_and_nothing_is_left(client):
    with pytest.raises(KeyMismatchError, match="target"):
        summarize_source(
            held(np.linspace(0, 1, 9000), np.zeros(9000, bool), [3000, 6000]), engine.DaskEngine(client), MEMORY
        )
    assert nothing_left(client)


@pytest.mark.usefixtures("in_ranges")
def test_a_scheduler_that_stops_while_ranges_are_sorted_is_one_sentence(client, monkeypatch):
    def gather(*_args, **_how):
        raise distributed.comm.CommClosedError("closed")

    monkeypatch.setattr(client, "gather", gather)
    scores, truth, cuts = mixed_trials(1, np.float64)
    with pytest.raises(ClusterError, match=r"^dask: the scheduler stopped during a pass\. Start it again"):
        summarize_source(held(scores, truth, cuts), engine.DaskEngine(client), MEMORY)


@pytest.mark.usefixtures("many_tasks")
def test_a_pass_begins_again_when_all_workers_are_lost_with_what_it_shares(client, tmp_path):
    scores, truth = some_trials(20_000, 2)
    harms = {at: ("kill", str(tmp_path / str(at))) for at in (3, 16)}
    summary = summarize_source(
        held(scores, truth, np.arange(1000, 20_000, 1000), harms), engine.DaskEngine(client), MEMORY
    )
    assert len(list(tmp_path.iterdir())) == 2
    same(evaluation_of(summary), in_memory(scores, truth))


def test_a_worker_that_is_lost_before_the_scheduler_hears_of_it_does_no_harm(client, monkeypatch):
    partitions, failed = held(*some_trials(1000, 4), [100, 400]).partitions, []

    def scatter(*args, **how):
        if not failed:
            failed.append(OSError("Timed out trying to connect to a worker that is gone"))
            raise failed[0]
        return type(client).scatter(client, *args, **how)

    monkeypatch.setattr(client, "scatter", scatter)
    monkeypatch.setattr(client, "nthreads", dict)  # all are begun again just now
    survey = Ascending(0, np.float32)
    assert n_trials(engine.DaskEngine(client).run(survey, partitions)) == 1000
    assert failed


@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")  # threads of Dask use it
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cuts_order_tasks_and_batches_change_nothing(client, monkeypatch, data):
    scores, truth = some_trials(data.draw(st.integers(2, 400)), data.draw(st.integers(0, 1000)), share=0.4)
    order = np.random.default_rng(data.draw(st.integers(0, 9))).permutation(len(scores))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(scores)), max_size=9)))
    monkeypatch.setattr(engine, "_ROWS_PER_TASK", data.draw(st.sampled_from([1, 30, 10**6])))
    monkeypatch.setattr(SourcePass, "of_row", data.draw(st.sampled_from([40, 10**7])))
    partitions = engine.DaskEngine(client)
    summary = summarize_source(held(scores[order], truth[order], cuts), partitions, MEMORY)
    same(evaluation_of(summary), in_memory(scores, truth))


@given(rows=st.lists(st.integers(0, 1000), min_size=1, max_size=60), n=st.integers(1, 20))
def test_shares_are_neighbours_and_nearly_equal(rows, n):
    source = held(np.zeros(sum(rows)), np.zeros(sum(rows), bool), np.cumsum(rows)[:-1])
    found = engine.shares(source.partitions, n)
    assert [partition for share in found for partition in share] == list(source.partitions)
    assert len(found) <= n
    assert all(sum(one.n_rows for one in share) <= sum(rows) / n + max(rows) for share in found)


@pytest.mark.usefixtures("many_tasks")
@pytest.mark.parametrize(("in_command", "way"), [(False, "where=..."), (True, "--where")])
def test_errors_of_workers_arrive_in_the_spelling_of_the_user(client, in_command, way):
    scores, truth = some_trials(3000, 3)
    harmed = held(scores, truth, [500, 1000, 2000], {2: ("damaged",)})
    with (
        command_spelling(used=in_command),
        pytest.raises(FormatError, match=rf"shard 2: is damaged\. Select others \({way}\)"),
    ):
        summarize_source(harmed, engine.DaskEngine(client), MEMORY)
    assert nothing_left(client)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("memory", r"ran out of memory \(Unable to allocate 8.00 GiB\). Give workers more memory"),
        ("gone", "a worker cannot access /nowhere/shard 2. All workers must access files under the same path"),
    ],
)
def test_what_workers_lack_is_named_with_the_way_out(client, harm, told):
    scores, truth = some_trials(3000, 3)
    with pytest.raises(ClusterError, match=told):
        summarize_source(held(scores, truth, [500, 1000, 2000], {2: (harm,)}), engine.DaskEngine(client), MEMORY)


def test_a_task_that_kills_every_worker_ends_with_what_to_do(cluster, client, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    scores, truth = some_trials(3000, 3)
    with pytest.raises(
        ClusterError,
        match=r"lost repeatedly at the same task \(shard.*\), .* ran out of memory. Give workers more memory",
    ):
        summarize_source(held(scores, truth, [500, 1000, 2000], {3: ("kill",)}), engine.DaskEngine(client), MEMORY)


def nothing_left(client):
    """Whether the scheduler soon forgets all tasks, and workers stop."""

    def is_empty():
        gc.collect()  # the traceback of an interrupt can hold a task that was just submitted
        return not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))

    wait_until(is_empty)
    return not any(client.processing().values())


def test_ctrl_c_cancels_what_was_submitted(client, tmp_path):
    scores, truth = some_trials(1000, 4)
    harms = {at: ("slow", str(tmp_path / str(at))) for at in range(1, 1000)}
    threading.Thread(target=interrupt_when_there_is_something_in, args=(tmp_path,)).start()
    with pytest.raises(KeyboardInterrupt):
        summarize_source(held(scores, truth, np.arange(1, 1000), harms), slow_engine(client), MEMORY)
    assert nothing_left(client)
    counts = [-1]

    def is_still():  # tasks that had begun may end
        counts.append(len(list(tmp_path.iterdir())))
        return len(counts) > 20 and len(set(counts[-20:])) == 1

    wait_until(is_still)
    assert 0 < counts[-1] < 500


def interrupt_when_there_is_something_in(folder):
    while not any(folder.iterdir()):
        time.sleep(0.05)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def slow_engine(client):
    """One that reads piece by piece, and looks in between."""
    made = engine.DaskEngine(client)
    made._memory_per_thread = lambda *_: 0.0
    return made


@pytest.mark.usefixtures("many_tasks")
def test_progress_is_that_of_the_whole(client):
    scores, truth = some_trials(50_000, 5)
    heard = []
    with heard_by(lambda *told: heard.append(told)):
        survey = Ascending(0, np.float32)
        found = slow_engine(client).run(survey, held(scores, truth, np.arange(5000, 50_000, 5000)).partitions)
    assert n_trials(found) == 50_000
    assert len(heard) > 1
    assert [done for done, _, _ in heard] == sorted(done for done, _, _ in heard)
    assert all(told[1:] == (50_000, "rows") for told in heard)
    assert heard[-1][0] <= 50_000


def test_other_versions_on_workers_are_refused(client, monkeypatch):
    monkeypatch.setattr(dask_clusters, "__version__", "9.9")
    with pytest.raises(ClusterError, match=r"2 workers with another version: tcp.* this process has 9.9. .* install"):
        engine.DaskEngine(client)


def test_what_does_not_fit_in_workers_is_refused_before_it_begins(client):
    scores, truth = some_trials(1000, 4)
    survey = Ascending(0, np.float32)
    survey.n_bytes = 10**9
    with pytest.raises(ClusterError, match=r"needs 4.0 GB in every thread, .* has 1.0 GB for each. Give"):
        engine.DaskEngine(client).run(survey, held(scores, truth, [10]).partitions)


def test_a_temporary_folder_that_workers_do_not_see_is_refused_before_anything_is_read(client, monkeypatch, tmp_path):
    text = tmp_path / "scores.txt"
    text.write_text("a x 1.5 target\nb y -2.0 nontarget\n")
    monkeypatch.setattr(dask_clusters, "_missing", lambda paths: paths)  # as on another machine
    told = rf"dask: .*scores.txt was written to {tempfile.gettempdir()}.*, .* tcp:.* cannot access. Name a .* \(TMPDIR="
    with pytest.raises(ClusterError, match=told):
        evaluate_files(text, dask=client)
    key, scores = tmp_path / "key.txt", tmp_path / "alone.txt"
    key.write_text("a x target\nb y nontarget\n")
    scores.write_text("b y 1.5\na x -2.0\n")
    with pytest.raises(ClusterError, match=r"alone.txt was written to"):
        evaluate_files(scores, key, dask=client)


def test_what_is_joined_by_name_here_is_counted_there(client, tmp_path):
    rng = np.random.default_rng(1)
    table = trials(rng, n=200)
    names = zip(table["enroll"].to_pylist(), table["test"].to_pylist(), strict=True)
    labels = ["target" if int(one[1:]) % 5 == int(other[1:]) % 5 else "nontarget" for one, other in names]
    scores = write(table.select(["enroll", "test", "score"]).take(rng.permutation(200)), tmp_path / "scores", rng)
    key = write(table.drop_columns(["score", "label"]).append_column("label", [labels]), tmp_path / "key", rng)
    expected = evaluate_files(scores, key, intervals=False).systems[0]
    (found,) = evaluate_files(scores, key, dask=client, intervals=False).systems
    assert (found.eer, found.min_cllr, found.n_tar) == (expected.eer, expected.min_cllr, expected.n_tar)
    part = write(table.select(["enroll", "test", "score"]).slice(0, 60), tmp_path / "part", rng)
    whole = evaluate_files(scores, key).systems[0].uncertainty
    for how in ({}, {"dask": client}):  # names are linked by trials without scores, too
        own = evaluate_files(part, key, missing="drop", **how).systems[0].uncertainty
        assert (own.noun, own.n_units) == ("speaker", whole.n_units)


def test_work_is_told_to_take_what_workers_have(client):
    made = engine.DaskEngine(client)
    assert made.bounded(10**8) == 10**8
    assert made.bounded(10**12) == 500_000_000
    assert Threads(2).bounded(10**12) == 10**12


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("somewhere", "Write tcp://HOST:PORT of a scheduler, or local:N"),
        ("local:0", "Write local:2 for two"),
        (3, "got int. Pass the address of a scheduler"),
    ],
)
def test_what_is_no_cluster_is_refused(given, told):
    with pytest.raises(InputError, match=told):
        engine.DaskEngine.of(given)


def test_no_scheduler_is_an_error_that_says_how_to_start_one(monkeypatch):
    monkeypatch.setattr(dask_clusters, "_PATIENCE", 0.3)
    with pytest.raises(ClusterError, match="no scheduler answers at tcp://127.0.0.1:9 .*: dask scheduler; and workers"):
        engine.DaskEngine.of("tcp://127.0.0.1:9")


def test_no_worker_is_an_error_that_says_how_to_start_one(monkeypatch):
    monkeypatch.setattr(dask_clusters, "_PATIENCE", 0.3)
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(n_workers=0, processes=False, **quiet) as empty,
        distributed.Client(empty, set_as_default=False) as client,
        pytest.raises(ClusterError, match="no worker connected to .* Start workers with: dask worker"),
    ):
        engine.DaskEngine(client)


@pytest.mark.parametrize("n_failures", [1, 2])
def test_processes_that_are_killed_while_they_start_are_started_once_more(n_failures, monkeypatch, folder):
    usual, tries = distributed.LocalCluster, []

    def fail(**options):
        tries.append(options)
        if len(tries) <= n_failures:
            raise RuntimeError("Nanny failed to start.")
        return usual(**options)

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    if n_failures == 1:
        same(evaluate_files([folder], dask="local:1").systems[0], evaluate_files([folder]).systems[0])
    else:
        with pytest.raises(ClusterError, match=r"1 processes did not start \(Nanny failed to start\.\)\. Use fewer"):
            engine.DaskEngine.of("local:1")
    assert len(tries) == 2


def test_without_dask_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'deciban\[dask\]'"):
        engine.DaskEngine.of("local:2")


@pytest.fixture
def folder(tmp_path):
    """Shards of a table of scores and labels."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    scores, truth = some_trials(20_000, 6)
    for at, own in enumerate(np.array_split(np.arange(20_000), 3)):
        table = pa.table({"score": scores[own], "is_target": truth[own]})
        pq.write_table(table, tmp_path / f"part-{at}.parquet", row_group_size=3000)
    return tmp_path


def test_a_client_and_an_address_serve_as_well(client, folder):
    local = evaluate_files([folder])
    for place in (client, client.scheduler.address):
        same(evaluate_files([folder], dask=place).systems[0], local.systems[0])


def test_the_command_line_begins_and_ends_processes_of_its_own(folder):
    command = [sys.executable, "-m", "deciban", "eval", str(folder), "--json", "--dask", "local:1"]
    done = subprocess.run(command, capture_output=True, check=True, text=True, start_new_session=True)
    assert json.loads(done.stdout)["systems"] == evaluate_files([folder]).to_dict()["systems"]


def test_a_file_that_cannot_be_read_is_told_once_and_without_the_words_of_workers(folder):
    path = folder / "part-1.parquet"
    content = bytearray(path.read_bytes())
    content[5:400] = b"\xff" * 395
    path.write_bytes(bytes(content))
    command = [sys.executable, "-m", "deciban", "eval", str(folder), "--dask", "local:1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, start_new_session=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert re.match(r"deciban: FormatError: .*part-1\.parquet, row group 0: damaged", done.stderr)


def test_ctrl_c_ends_all_processes_without_a_word_of_theirs(folder):
    command = [sys.executable, "-m", "deciban", "eval", str(folder), "--dask", "local:2"]
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_until(lambda: run.poll() is not None or psutil.Process(run.pid).children())  # workers, or all done
    os.killpg(run.pid, signal.SIGINT)
    told = run.communicate(timeout=120)[1]
    if run.returncode == 130:  # it may have been faster
        assert told.splitlines()[-1] == "deciban: interrupted"
    wait_until(lambda: not any(is_of_session(pid, run.pid) for pid in psutil.pids()))


def is_of_session(pid, session):
    try:
        return os.getsid(pid) == session
    except ProcessLookupError:
        return False


def wait_until(condition, seconds=120.0):
    """Wait for a condition, however busy the machine is."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_was_still_to_be_read_is_named():
    partitions = held(np.zeros(50), np.zeros(50, bool), [10, 20, 30, 40]).partitions
    shares = [engine.Share([one], 10) for one in partitions]
    progress = engine._Progress(None, partitions)
    for at, done in ((1, 10), (3, 5)):
        progress._hear((0.0, (at, done)))
    assert progress.left(shares) == "shard 0, shard 2, shard 3 and 1 more"
