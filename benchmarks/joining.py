"""Ten million scores joined with ten million key trials by names, against the joins of pandas, polars and pyarrow.

Every round of every job runs in a process of its own, so that its peak memory (input included) can be told. What
counts is the time from columns of text to scores and truth in the order of the key. deciban and polars and pandas are
asked to refuse duplicates and to keep the order of the key; pyarrow can do neither.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from side_by_side import machine  # isort: skip  # sets the number of threads first

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table

Timed = Callable[[], object]


def write_pairs(folder: Path, n_trials: int) -> None:
    """Write trials of 5000 models and 20,000 segments: a tenth of all pairs, both tables shuffled."""
    rng = np.random.default_rng(1)
    n_segments = 20_000
    n_models = max(1, n_trials * 10 // n_segments)
    model = pa.array([f"model_{i:05d}_f" for i in range(n_models)])
    segment = pa.array([f"sre12_{i:09d}_a" for i in range(n_segments)])
    cells = np.unique(rng.integers(0, n_models * n_segments, n_trials * 11 // 10))
    cells = rng.permutation(cells)[:n_trials]
    _write(folder, {"enroll": (model, cells // n_segments), "test": (segment, cells % n_segments)}, rng)


def write_singles(folder: Path, n_trials: int) -> None:
    """Write trials with a name each, all different."""
    rng = np.random.default_rng(1)
    digits = pc.utf8_lpad(pa.array(np.arange(n_trials)).cast(pa.string()), 9, "0")
    name = pc.binary_join_element_wise("utt", digits, "_")
    _write(folder, {"trial": (name, rng.permutation(n_trials))}, rng)


def _write(folder: Path, sides: dict[str, tuple[pa.Array, np.ndarray]], rng: np.random.Generator) -> None:
    n_trials = len(next(iter(sides.values()))[1])
    score, order = rng.normal(0, 1, n_trials), rng.permutation(n_trials)
    tables = {
        "scores.arrow": {"score": score} | {side: names.take(pa.array(at)) for side, (names, at) in sides.items()},
        "key.arrow": {"is_target": score[order] > 2}
        | {side: names.take(pa.array(at[order])) for side, (names, at) in sides.items()},
    }
    for name, columns in tables.items():
        with pa.ipc.new_file(folder / name, (table := pa.table(columns)).schema) as file:
            file.write_table(table)


def deciban(scores: pa.Table, key: pa.Table, sides: list[str]) -> Timed:
    from deciban.trials import Key, Scores, align

    score, truth = scores["score"].to_numpy(), key["is_target"].to_numpy()

    def join() -> tuple[np.ndarray, np.ndarray]:
        given = Scores.of({side: scores[side] for side in sides}, score)
        wanted = Key.of({side: key[side] for side in sides}, truth)
        aligned = align(given, wanted)
        return aligned.score, aligned.is_target

    return join


def polars(scores: pa.Table, key: pa.Table, sides: list[str]) -> Timed:
    import polars as pl

    left, right = pl.from_arrow(key), pl.from_arrow(scores)
    return lambda: left.join(right, on=sides, how="left", validate="1:1", maintain_order="left")


def pandas(scores: pa.Table, key: pa.Table, sides: list[str]) -> Timed:
    import pandas as pd

    left, right = (table.to_pandas(types_mapper=pd.ArrowDtype) for table in (key, scores))
    return lambda: left.merge(right, on=sides, how="left", validate="1:1")


def pyarrow(scores: pa.Table, key: pa.Table, sides: list[str]) -> Timed:
    return lambda: key.join(scores, sides, join_type="left outer")


JOBS = {"deciban": deciban, "polars": polars, "pandas": pandas, "pyarrow, neither": pyarrow}
TASKS = {"trials of two names, a tenth of the pairs": write_pairs, "trials of one name, all different": write_singles}


def run(job: str, folder: Path) -> None:
    """Do one job once and print seconds and peak bytes."""
    tables = []
    for name in ("scores.arrow", "key.arrow"):
        with (folder / name).open("rb") as file:
            tables.append(pa.ipc.open_file(file).read_all().combine_chunks())
    scores, key = tables
    sides = [name for name in key.column_names if name != "is_target"]
    timed = JOBS[job](scores, key, sides)
    start = time.perf_counter()
    joined = timed()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if job == "deciban" and not np.array_equal(joined[0] > 2, joined[1]):
        raise SystemExit("scores and truth do not belong together")
    print(json.dumps({"seconds": seconds, "peak": peak}))


def compare(title: str, folder: Path, rounds: int, jobs: list[str]) -> None:
    """Print the table for one task."""
    seconds: dict[str, list[float]] = {job: [] for job in jobs}
    peaks: dict[str, int] = {}
    for _ in range(rounds):
        for job in jobs:
            command = [sys.executable, __file__, "--job", job, "--folder", str(folder)]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            seconds[job].append(told["seconds"])
            peaks[job] = told["peak"]
    table = Table(title=title, title_justify="left")
    for heading in ("job", "best [s]", "median [s]", "ratio to deciban", "peak [GB], with input"):
        table.add_column(heading, justify="left" if heading == "job" else "right")
    for job in jobs:
        best, median = min(seconds[job]), float(np.median(seconds[job]))
        ratio = best / min(seconds["deciban"])
        table.add_row(job, f"{best:.2f}", f"{median:.2f}", f"{ratio:.2f}", f"{peaks[job] / 1e9:.2f}")
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-rivals", action="store_true", help="time deciban only")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        run(options.job, options.folder)
        return
    print(machine())
    for title, write in TASKS.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), options.trials)
            jobs = ["deciban"] if options.no_rivals else list(JOBS)
            compare(f"{options.trials:,} scores and key trials: {title}", Path(folder), options.rounds, jobs)


if __name__ == "__main__":
    main()
