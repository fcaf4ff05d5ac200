"""Whole commands, from files to files, against a bare pyarrow read of the same files and one sort of the scores.

Every run is a process of its own; its peak memory is that of the whole process, with everything Arrow's pool took.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from side_by_side import machine  # isort: skip  # sets the number of threads first

import numpy as np
import pyarrow as pa
import pyarrow.csv
from rich.console import Console
from rich.table import Table

SEGMENTS = 2000

BARE = """
import sys, numpy, pyarrow.csv as csv
for path in sys.argv[1:]:
    names = csv.ReadOptions(column_names=["a", "b", "c"], block_size=1 << 24)
    table = csv.read_csv(path, read_options=names, parse_options=csv.ParseOptions(delimiter=" "))
    if table.schema.field("c").type == "double":
        numpy.sort(table["c"].to_numpy())
"""


def write_files(folder: Path, n_lines: int) -> tuple[Path, Path]:
    """Write scores in matrix order, and a key in another order."""
    rng = np.random.default_rng(1)
    enroll, test = np.divmod(np.arange(n_lines), SEGMENTS)
    models = pa.array([f"model_{i:05d}_f" for i in range(enroll[-1] + 1)])
    segments = pa.array([f"sre12_{i:09d}_a" for i in range(SEGMENTS)])
    target, order = rng.random(n_lines) < 0.01, rng.permutation(n_lines)
    score = rng.normal(0.0, 1.0, n_lines) + 3.0 * target
    label = pa.array(["nontarget", "target"])
    tables = {
        "scores.txt": [models.take(pa.array(enroll)), segments.take(pa.array(test)), pa.array(score)],
        "key.txt": [
            models.take(pa.array(enroll[order])),
            segments.take(pa.array(test[order])),
            label.take(pa.array(target[order].astype(np.int8))),
        ],
    }
    style = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    for name, columns in tables.items():
        pyarrow.csv.write_csv(pa.table(columns, names=["a", "b", "c"]), folder / name, style)
    return folder / "scores.txt", folder / "key.txt"


def commands(folder: Path, scores: Path, key: Path) -> dict[str, list[str]]:
    """What is run: the bare reads first; the model that is applied is written by the first run of its training."""
    python, deciban = [sys.executable, "-c", BARE], [sys.executable, "-m", "deciban"]
    model, truth = str(folder / "model.json"), ["--key", str(key)]
    return {
        "pyarrow reads both and sorts": [*python, str(scores), str(key)],
        "pyarrow reads the scores and sorts": [*python, str(scores)],
        "deciban eval": [*deciban, "eval", str(scores), *truth],
        "deciban calibrate": [*deciban, "calibrate", str(scores), *truth, "-o", model],
        "deciban apply": [*deciban, "apply", model, str(scores), "-o", str(folder / "llrs.txt")],
        "deciban report": [*deciban, "report", str(scores), *truth, "-o", str(folder / "report.html")],
    }


def run(words: Sequence[str]) -> tuple[float, int]:
    """Seconds and peak memory in bytes of one process.

    Raises
    ------
    RuntimeError
        If it fails.
    """
    start = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        complaint = process.stderr.read()  # type: ignore[union-attr]
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{' '.join(words[:4])}: {complaint.decode()}")
    return seconds, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def show(title: str, runs: Mapping[str, list[tuple[float, int]]], n_lines: int) -> None:
    """Print the fastest round of each command, next to the bare read of the same files."""
    table = Table(title=title, title_justify="left")
    for heading in ("command", "best [s]", "median [s]", "ratio to a bare read", "peak [MB]", "peak [bytes/line]"):
        table.add_column(heading, justify="left" if heading == "command" else "right")
    both, scores = list(runs)[:2]
    for name, rounds in runs.items():
        seconds, peak = [one for one, _ in rounds], max(peak for _, peak in rounds)
        bare = min(one for one, _ in runs[scores if name in (scores, "deciban apply") else both])
        cells = f"{min(seconds):.2f}", f"{np.median(seconds):.2f}", f"{min(seconds) / bare:.2f}"
        table.add_row(name, *cells, f"{peak / 1e6:.0f}", f"{peak / n_lines:.0f}")
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, nargs="+", default=[10**6], help="10000000 for more")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine())
    for n_lines in options.lines:
        with tempfile.TemporaryDirectory() as name:
            jobs = commands(Path(name), *write_files(Path(name), n_lines))
            runs: dict[str, list[tuple[float, int]]] = {job: [] for job in jobs}
            for _ in range(options.rounds):
                for job, words in jobs.items():
                    runs[job].append(run(words))
            show(f"{n_lines:,} lines", runs, n_lines)


if __name__ == "__main__":
    main()
