"""Text lines read and joined by name, against a bare pyarrow read of the same file."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import numpy as np
import pyarrow as pa
import pyarrow.csv

from deciban import align, read_key, read_scores


def write_files(folder: Path, models: int, segments: int) -> tuple[Path, Path]:
    """Write scores in matrix order and a key in another order."""
    rng = np.random.default_rng(1)
    model = np.repeat([f"model_{i:05d}_f" for i in range(models)], segments)
    segment = np.tile([f"sre12_{i:09d}_a" for i in range(segments)], models)
    target = rng.random(models * segments) < 0.01
    order = rng.permutation(models * segments)
    tables = {
        "scores.txt": [model, segment, rng.normal(0, 1, len(model)) + 3 * target],
        "key.txt": [model[order], segment[order], np.where(target[order], "target", "nontarget")],
    }
    style = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    for name, columns in tables.items():
        pyarrow.csv.write_csv(pa.table(columns, names=["a", "b", "c"]), folder / name, style)
    return folder / "scores.txt", folder / "key.txt"


def bare(path: Path) -> pa.Table:
    """Read three columns, names as strings, without asking what they mean."""
    read = pyarrow.csv.ReadOptions(column_names=["a", "b", "c"], block_size=1 << 24)
    return pyarrow.csv.read_csv(path, read_options=read, parse_options=pyarrow.csv.ParseOptions(delimiter=" "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--segments", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        scores, key = write_files(Path(folder), options.models, options.segments)
        read, truth = read_scores(scores), read_key(key)
        jobs = {
            "pyarrow.csv, scores only": lambda: bare(scores),
            "read_scores": lambda: read_scores(scores),
            "read_key": lambda: read_key(key),
            "align": lambda: align(read, truth),
            "read_scores and align": lambda: align(read_scores(scores), truth),
        }
        n_trials = options.models * options.segments
        show(f"{n_trials:,} lines", measure(jobs, options.rounds), "pyarrow.csv, scores only", n_trials)


if __name__ == "__main__":
    main()
