"""Trials that do not fit in memory: time and anonymous memory, beside a read with a sort, and rivals.

Every job is a process of its own, whose tree is watched: anonymous memory is what a machine must have, page cache is
not. Seconds begin when everything is imported and workers are there. All read the same: a table of Parquet with a
column of scores (float32) and one of labels, in row groups of a million.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from side_by_side import machine  # isort: skip  # sets the number of threads first

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

ROWS = 1_000_000


def write(folder: Path, n: int, share: float) -> Path:
    """Write trials, unless they are there: scores of targets N(3, 2.2), of the others N(-3, 1.6), in random order."""
    if folder.exists():
        return folder
    aside = folder.with_name(f".{folder.name}")
    aside.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([("score", pa.float32()), ("is_target", pa.bool_())])
    per_file = max(n // 40, min(n, ROWS))
    for at, first in enumerate(range(0, n, per_file)):
        rng, upto = np.random.default_rng([7, at]), min(first + per_file, n)
        plain: Any = {"use_dictionary": False, "compression": "NONE"}
        with pq.ParquetWriter(aside / f"part-{at:04d}.parquet", schema, **plain) as writer:
            for begin in range(first, upto, ROWS):
                k = min(ROWS, upto - begin)
                target, noise = rng.random(k, dtype=np.float32) < share, rng.standard_normal(k, dtype=np.float32)
                score = np.where(target, 3 + 2.2 * noise, -3 + 1.6 * noise).astype(np.float32)
                writer.write_table(pa.table([score, target], schema=schema), row_group_size=ROWS)
    return aside.rename(folder)


def row_groups(folder: Path) -> list[tuple[Path, int]]:
    paths = sorted(folder.glob("*.parquet"))
    return [(path, at) for path in paths for at in range(pq.ParquetFile(path).num_row_groups)]


def read_and_sort(folder: Path, n_threads: int) -> dict[str, Any]:
    """The columns into numpy and scores sorted, row group by row group: less can nobody do."""

    def one(place: tuple[Path, int]) -> None:
        with pq.ParquetFile(place[0]) as file:
            table = file.read_row_group(place[1], use_threads=False)
        table.column("is_target").to_numpy()
        np.sort(table.column("score").to_numpy())

    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(one, row_groups(folder)))
    return {}


def source_of(folder: Path) -> Any:
    from deciban.io.partitions.opening import open_trials

    return open_trials(folder)


def ours(folder: Path, memory: int, engine: Any) -> dict[str, Any]:
    """All figures and curves."""
    from deciban.engines.sorting import summarize_source
    from deciban.evaluation.two_class.evaluate import evaluation_of

    found = evaluation_of(summarize_source(source_of(folder), engine, memory))
    return {
        "eer": found.eer,
        "min_cllr": found.min_cllr,
        "cllr": found.cllr,
        "min_dcf": found.operating_points[0].min_dcf,
    }


def streamed(folder: Path, memory: int) -> dict[str, Any]:
    from deciban.engines import Threads

    return ours(folder, memory, Threads(2))


def crossing(batches: Iterable[tuple[np.ndarray, np.ndarray]], n_tar: int, n_non: int) -> float:
    """Equal error rate, by the crossing of both rates, from counts in ascending order of score."""
    miss, below = 0, 0
    for tar, non in batches:
        misses, rejected = miss + np.cumsum(tar), below + np.cumsum(non)
        at = int(np.argmax(misses / n_tar >= 1 - rejected / n_non))
        if misses[at] / n_tar >= 1 - rejected[at] / n_non:
            return float(misses[at] / n_tar + 1 - rejected[at] / n_non) / 2
        miss, below = int(misses[-1]), int(rejected[-1])
    return 0.5


def by_duckdb(folder: Path, memory: int) -> dict[str, Any]:
    """Groups of equal scores in order, of which one figure is made."""
    import duckdb

    connection = duckdb.connect(config={"memory_limit": f"{memory // 10**6}MB", "threads": 2})
    table = f"read_parquet('{folder}/*.parquet')"
    count = f"select count(*) filter (where is_target), count(*) filter (where not is_target) from {table}"  # noqa: S608
    n_tar, n_non = connection.execute(count).fetchall()[0]
    query = f"select score, count(*) filter (where is_target) t, count(*) n from {table} group by score order by score"  # noqa: S608

    def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        highest = -np.inf
        result: Any = connection.execute(query)
        for batch in (getattr(result, "to_arrow_reader", None) or result.fetch_record_batch)(1_000_000):
            score, tar = batch.column(0).to_numpy(), batch.column(1).to_numpy()
            if not (score[0] > highest):
                raise RuntimeError("groups came out of order")
            highest = score[-1]
            yield tar, batch.column(2).to_numpy() - tar

    return {"eer": crossing(batches(), n_tar, n_non)}


def by_polars(folder: Path) -> dict[str, Any]:
    """The same in its streaming engine."""
    import polars as pl

    groups = (
        pl.scan_parquet(f"{folder}/*.parquet").group_by("score").agg(pl.col("is_target").sum(), pl.len().alias("n"))
    )
    found = groups.sort("score").collect(engine="streaming")
    tar, n = found["is_target"].to_numpy().astype(np.int64), found["n"].to_numpy().astype(np.int64)
    return {"eer": crossing([(tar, n - tar)], int(tar.sum()), int((n - tar).sum()))}


@dataclass(frozen=True)
class Watched:
    """What a process took: seconds of its job, those of processors with its start, anonymous bytes, what it found."""

    seconds: float
    processors: float
    memory: int
    found: dict[str, Any]
    failed: str = ""


def watched(job: str, folder: Path, memory: int) -> Watched:
    """Run a job in a process of its own."""
    command = [sys.executable, __file__, "--job", job, "--folder", str(folder), "--memory", str(memory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        most, over, seconds = 0, threading.Event(), dict[int, float]()

        def watch() -> None:
            nonlocal most
            while not over.wait(0.02):
                pids = list(tree(process.pid))
                most = max(most, sum(map(anonymous, pids)))
                seconds.update({pid: max(of_processors(pid), seconds.get(pid, 0.0)) for pid in pids})

        thread = threading.Thread(target=watch)
        thread.start()
        told, errors = process.communicate()
        over.set()
        thread.join()
    took = sum(seconds.values())  # nobody waits for workers that are copies of another process
    if process.returncode:
        return Watched(np.nan, took, most, {}, (errors.strip().splitlines() or ["ended"])[-1])
    found = json.loads(told.strip().splitlines()[-1])
    return Watched(found.pop("seconds"), took, most, found)


def anonymous(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def of_processors(pid: int) -> float:
    """Processor seconds of a process until now."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from tree(int(child))
    except OSError:
        return


def run_job(job: str, folder: Path, memory: int) -> None:
    """Do one job in this process, and print what came of it."""
    jobs: dict[str, Callable[[], dict[str, Any]]] = {
        "read1": lambda: read_and_sort(folder, 1),
        "read2": lambda: read_and_sort(folder, 2),
        "streamed": lambda: streamed(folder, memory),
        "duckdb": lambda: by_duckdb(folder, 2 * memory),
        "polars": lambda: by_polars(folder),
    }
    if job == "nothing":
        print(json.dumps({"seconds": 0.0}))
    elif job.startswith("dask"):
        from deciban.engines.dask import DaskEngine

        with DaskEngine.of(f"local:{job[4:]}") as engine:
            engine.client.run(imported)
            timed(lambda: ours(folder, memory, engine))
    else:
        timed(jobs[job])


def imported() -> None:
    """Import what a process needs, which is none of the job."""
    import deciban.engines.sorting
    import deciban.evaluation.two_class.evaluate
    import deciban.io.partitions.opening  # noqa: F401
    from deciban.core.ranks.loops import count_loops

    count_loops()
    pa.chunked_array([[True]]).to_numpy()


def timed(job: Callable[[], dict[str, Any]]) -> None:
    imported()
    begun = time.perf_counter()
    found = job()
    print(json.dumps({**found, "seconds": time.perf_counter() - begun}))


def compare(title: str, jobs: Sequence[tuple[str, str]], folder: Path, memory: int, rounds: int) -> dict[str, Watched]:
    """Run jobs in turn, and print the fastest round of each with ratios to the first."""
    best: dict[str, Watched] = {}
    for _ in range(rounds):
        for job, _name in jobs:
            found = watched(job, folder, memory)
            if job not in best or found.seconds < best[job].seconds:
                best[job] = found
    table = Table(title=title, title_justify="left")
    for heading in ("job", "seconds", f"ratio to {jobs[0][1]}", "of processors", "anonymous memory [MB]", "found"):
        table.add_column(heading, justify="left" if heading in ("job", "found") else "right")
    for job, name in jobs:
        one = best[job]
        words = one.failed or "  ".join(f"{key} {value:.6g}" for key, value in one.found.items())
        ratio = one.seconds / best[jobs[0][0]].seconds
        cells = f"{one.seconds:.2f}", f"{ratio:.2f}", f"{one.processors:.1f}", f"{one.memory / 1e6:.0f}"
        table.add_row(name, *cells, words)
    Console(width=150).print(table)
    return best


RANKS = [
    ("read2", "read and sort, two threads"),
    ("read1", "read and sort, one thread"),
    ("streamed", "deciban, in batches"),
    ("dask2", "deciban, Dask with two workers"),
]
RIVALS = [("duckdb", "DuckDB, groups, EER only"), ("polars", "Polars, groups, EER only")]


def run_all(folder: Path, n: int, options: argparse.Namespace) -> None:
    """Print all tables."""
    memory, rounds = int(options.memory), options.rounds
    jobs = [*RANKS, *([] if options.no_rivals else RIVALS)]
    few = write(folder / f"few-{n}", n, options.share)
    whole = compare(f"{n:,} trials, {options.share:.2%} targets", jobs, few, memory, rounds)
    tenth = write(folder / f"tenth-{n}", n // 10, min(10 * options.share, 0.5))
    small = compare(f"{n // 10:,} trials, as many targets", RANKS[2:3], tenth, memory, rounds)
    growth = whole["streamed"].memory / small["streamed"].memory - 1
    print(f"memory from {n // 10:,} to {n:,} trials with as many targets: {growth:+.1%}\n")
    n_half = min(n, 10**8)
    half = write(folder / f"half-{n_half}", n_half, 0.5)
    compare(f"{n_half:,} trials, 50 % targets", [RANKS[0], RANKS[2]], half, memory, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=float, default=1e7, help="1e9 for the real thing: 4 GB")
    parser.add_argument("--share", type=float, default=0.01, help="of targets")
    parser.add_argument("--memory", type=float, default=750e6, help="bytes that deciban is told it may take")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-rivals", action="store_true", help="time deciban and the read only")
    parser.add_argument("--folder", type=Path, help="where trials are kept; left out, they are removed at the end")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        run_job(options.job, options.folder, int(options.memory))
        return
    print(machine())
    if options.folder is not None:
        run_all(options.folder, int(options.trials), options)
        return
    with tempfile.TemporaryDirectory() as folder:
        run_all(Path(folder), int(options.trials), options)


if __name__ == "__main__":
    main()
