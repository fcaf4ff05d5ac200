"""Fusion of five systems whose scores do not fit in memory, beside what else trains on a stream: time, memory, optimum.

python benchmarks/scale_training.py --trials 1e8 --folder /data/five

Makes Parquet files of five float32 columns and a bool, once. Every way runs in a process of its own, which samples its
anonymous memory from /proc: pages of files that the system keeps for itself do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

P_TARGET = 0.1
N_SYSTEMS, ROWS, SHARDS = 5, 1_000_000, 8
SYSTEMS = [f"system{k}" for k in range(N_SYSTEMS)]


def make(folder: Path, n_trials: int) -> None:
    """Systems of different quality whose errors are correlated; 1 % targets."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([*((name, pa.float32()) for name in SYSTEMS), ("is_target", pa.bool_())])
    for shard in range(SHARDS):
        rng, left = np.random.default_rng([7, shard]), n_trials // SHARDS
        path = folder / f"part-{shard:04d}.parquet"
        with pq.ParquetWriter(path, schema, use_dictionary=False, compression="NONE") as writer:
            while left > 0:
                n = min(left, ROWS)
                is_target = rng.random(n, np.float32) < 0.01
                common = rng.standard_normal(n, np.float32)
                columns = []
                for k in range(N_SYSTEMS):
                    own = common + np.float32(1.0 + 0.1 * k) * rng.standard_normal(n, np.float32)
                    columns.append(np.where(is_target, 1.4 * own + 2.5, own - 2.5).astype(np.float32))
                writer.write_table(pa.table([*columns, is_target], schema), row_group_size=ROWS)
                left -= n


def batches(folder: Path) -> Iterator[tuple[Any, Any]]:
    """Scores (n, n_systems) and truth, a million rows at a time."""
    import pyarrow.dataset as ds

    for batch in ds.dataset(folder).to_batches(batch_size=ROWS, batch_readahead=1, fragment_readahead=1):
        yield (
            np.column_stack([batch[name].to_numpy() for name in SYSTEMS]),
            batch["is_target"].to_numpy(zero_copy_only=False),
        )


def class_weights(folder: Path) -> tuple[float, float]:
    """Weights of non-targets and targets whose mean over all trials is the prior-weighted objective."""
    counts = np.zeros(2)
    for _, truth in batches(folder):
        counts += np.bincount(truth, minlength=2)
    return tuple((counts.sum() * np.array([1.0 - P_TARGET, P_TARGET]) / counts).tolist())  # type: ignore[return-value]


def with_deciban(folder: Path) -> tuple[Any, float, str]:
    from deciban.engines import Threads
    from deciban.fusion import LinearFusion
    from deciban.io.partitions.opening import open_trials

    source = open_trials(folder, columns=["score"] * N_SYSTEMS + ["label"])
    fusion = LinearFusion(p_target=P_TARGET).fit_source(source, Threads(), 10**9)
    assert fusion.training_ is not None  # noqa: S101
    return fusion.weights_, fusion.offset_, f"{fusion.training_.results['passes']} passes after the sample"


def with_sgd(folder: Path, epochs: int) -> tuple[Any, float, str]:
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", penalty=None, average=True, random_state=0)
    weights = class_weights(folder)
    for _ in range(epochs):
        for scores, truth in batches(folder):
            model.partial_fit(scores, truth, classes=[False, True], sample_weight=np.where(truth, *weights[::-1]))
    return model.coef_[0], float(model.intercept_[0]) - np.log(P_TARGET / (1 - P_TARGET)), f"{epochs} epochs"


def with_dask_ml(folder: Path) -> tuple[Any, float, str]:
    import dask.array as da
    import dask.dataframe as dd
    from dask_ml.linear_model import LogisticRegression

    frame = dd.read_parquet(folder)
    scores = frame[SYSTEMS].to_dask_array(lengths=True)
    truth = frame["is_target"].to_dask_array(lengths=True)
    model = LogisticRegression(C=1e12, solver="lbfgs")  # takes no weights: another objective
    model.fit(scores, da.asarray(truth))
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), "without weights: another objective"


WAYS = {
    "deciban": with_deciban,
    "SGDClassifier.partial_fit, 1 epoch": lambda folder: with_sgd(folder, 1),
    "SGDClassifier.partial_fit, 3 epochs": lambda folder: with_sgd(folder, 3),
    "dask-ml LogisticRegression": with_dask_ml,
}


def objective(folder: Path, weights: Any, offset: float) -> float:
    """Cross-entropy by a formula of its own, in nats."""
    sums, counts = np.zeros(2), np.zeros(2)
    for scores, truth in batches(folder):
        x = scores @ np.asarray(weights) + (offset + np.log(P_TARGET / (1 - P_TARGET)))
        cost = np.logaddexp(0, np.where(truth, -x, x))
        sums += np.bincount(truth, cost, minlength=2)
        counts += np.bincount(truth, minlength=2)
    return float((1 - P_TARGET) * sums[0] / counts[0] + P_TARGET * sums[1] / counts[1])


class Memory(threading.Thread):
    """The most anonymous memory of this process, in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.is_done = 0, threading.Event()

    def run(self) -> None:
        """Look again and again."""
        while not self.is_done.wait(0.02):
            found = re.search(r"RssAnon:\s*(\d+) kB", Path("/proc/self/status").read_text())
            self.most = max(self.most, 1024 * int(found[1]) if found else 0)


def run(way: str, folder: Path) -> None:
    """Train, and print what came out."""
    memory, begin = Memory(), time.perf_counter()
    memory.start()
    weights, offset, words = WAYS[way](folder)
    seconds = time.perf_counter() - begin
    memory.is_done.set()
    found = {"weights": np.asarray(weights).tolist(), "offset": offset, "words": words}
    print(json.dumps({**found, "seconds": seconds, "memory": memory.most}))


def reading(folder: Path) -> float:
    """Seconds to read all columns once."""
    begin = time.perf_counter()
    for _ in batches(folder):
        pass
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=float, default=1e6)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--ways", default=",".join(WAYS), help="which, separated by semicolons")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run, given.folder)
        return
    if not given.folder.exists():
        make(given.folder, int(given.trials))
    once = reading(given.folder)
    print(f"{given.trials:.0e} trials of {N_SYSTEMS} systems, {os.cpu_count()} cores; reading them once: {once:.1f} s")
    best = None
    for way in WAYS if given.ways == ",".join(WAYS) else given.ways.split(";"):
        command = [sys.executable, __file__, "--folder", str(given.folder), "--run", way]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{way}: not run: {done.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(done.stdout)
        cost = objective(given.folder, found["weights"], found["offset"])
        best = cost if best is None else best
        weights = ", ".join(f"{one:.6f}" for one in found["weights"])
        print(
            f"{way}: {found['seconds']:.1f} s ({found['seconds'] / once:.1f} readings), "
            f"{found['memory'] / 1e6:.0f} MB anonymous, objective {cost:.12f} ({cost / best - 1:+.1e}); "
            f"{found['words']}; weights {weights}, offset {found['offset']:.6f}"
        )


if __name__ == "__main__":
    main()
