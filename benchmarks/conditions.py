"""``deciban eval`` with and without conditions: ten of them, with intervals by units, from a Parquet file to tables.

The same with ``--memory``, where trials are read in batches and sorted by condition into a temporary folder. Processor
time of whole commands, a process each, which other work on the machine does not change much.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from side_by_side import machine  # isort: skip  # sets the number of threads first

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def main() -> None:
    """Time evaluations of all trials, by ten conditions, and with these counting alike."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**6)
    parser.add_argument("--speakers", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", help="read in batches within so much memory, such as 400MB")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.parquet"
        write(path, given.trials, given.speakers)
        by, equalized = ["--by", "gender,channel"], ["--equalize", "gender,channel"]
        scale = ["--memory", given.memory] if given.memory else []
        asked = {"all trials": [], "by 10 conditions": by, "by 10 conditions, and equalized": [*by, *equalized]}
        seconds: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(given.rounds):
            for name, options in asked.items():
                seconds[name].append(seconds_of(path, [*scale, *options]))
    base = min(seconds["all trials"])
    for name, found in seconds.items():
        print(f"{name:32} {min(found):6.2f} s   {min(found) / base:5.2f}")


def seconds_of(path: Path, options: list[str]) -> float:
    """Processor time of a command."""
    call = [sys.executable, "-m", "deciban", "eval", str(path), "-q", "--units", "speaker,test_speaker", *options]
    before = os.times()
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def write(path: Path, n_trials: int, n_speakers: int) -> None:
    """Trials of speakers with genders and channels."""
    rng = np.random.default_rng(0)
    enroll, other = rng.integers(0, n_speakers, (2, n_trials))
    is_target = rng.random(n_trials) < 0.05
    test = np.where(is_target, enroll, other)
    names = np.array([f"s{k:05d}" for k in range(n_speakers)])
    channel = np.array(["tel", "mic", "far", "voip", "radio"])[rng.integers(0, 5, n_trials)]
    columns = {
        "enroll": names[enroll],
        "test": [f"t{k}" for k in range(n_trials)],
        "score": rng.normal(np.where(is_target, 3.0, -3.0), 2.0),
        "is_target": is_target,
        "gender": np.array(["f", "m"])[test % 2],
        "channel": channel,
        "speaker": names[enroll],
        "test_speaker": names[test],
    }
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    pq.write_table(table, path, row_group_size=250_000)


if __name__ == "__main__":
    main()
