"""Peak memory of twenty commands, each with a `--memory` that its data exceed.

Memory is anonymous memory: pages that the system cannot read again from a file. A watcher reads it from
/proc/PID/status while the command runs. The exit code is 1 if a peak is above its limit, or a command fails.

`compare`, `inspect` and `merge` have no option `--memory`. `merge` must stay below the limit of the other commands.
`compare` and `inspect` read all trials, and their peaks are printed only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

SPEAKERS, CLASSES = 400, 5
LIMIT, JOINED = 150, 400
"""Megabytes: of most commands, and of those that match trials by their names."""


@dataclass(frozen=True)
class Case:
    """One command.

    Attributes
    ----------
    name : str
        What the table prints.
    words : str
        The command line, without `--memory`.
    rows : int
        Rows of the data.
    limit : int or None
        Megabytes that the command may take; None prints the peak without a limit.
    has_option : bool
        False if the command has no option `--memory`.
    """

    name: str
    words: str
    rows: int
    limit: int | None = LIMIT
    has_option: bool = True


def write_two_classes(folder: Path, n: int) -> None:
    """Write trials of two classes: a Parquet folder, the same as CSV, shards with names and a key, and a matrix."""
    rng, rows = np.random.default_rng(7), max(n // 10, 1)
    for name in ("trials", "shards"):
        (folder / name).mkdir()
    keys, csvs = list[pa.Table](), list[pa.Table]()
    for at, first in enumerate(range(0, n, rows)):
        k = min(rows, n - first)
        speaker, other = rng.integers(0, SPEAKERS, k), rng.integers(0, SPEAKERS, k)
        target = rng.random(k) < 0.3
        other = np.where(target, speaker, other)
        target = speaker == other
        scores = {
            system: (rng.standard_normal(k) * 2 + np.where(target, 3, -3)).astype(np.float32) for system in ("a", "b")
        }
        of_speaker = pa.array([f"spk{i:04d}" for i in range(SPEAKERS)])
        label = pa.array(np.where(target, "target", "nontarget"))
        names = {"enroll": of_speaker.take(speaker), "test": pa.array([f"utt{i:09d}" for i in range(first, first + k)])}
        about = {"condition": pa.array(np.array(["phone", "mic"])[speaker % 2]), "weight": rng.random(k) + 0.5}
        table = pa.table(names | {"score": scores["a"], "label": label} | about)
        pq.write_table(table, folder / "trials" / f"{at}.parquet", row_group_size=rows)
        csvs.append(table.select(["enroll", "test", "score", "label"]))
        keys.append(pa.table(names | {"label": label} | about))
        for system, values in scores.items():
            path = folder / "shards" / system
            path.mkdir(exist_ok=True)
            shuffled = pa.table(names | {"score": values}).take(rng.permutation(k))
            pq.write_table(shuffled, path / f"{at}.parquet", row_group_size=rows)
    pyarrow.csv.write_csv(pa.concat_tables(csvs), folder / "trials.csv")
    pq.write_table(pa.concat_tables(keys), folder / "key.parquet", row_group_size=rows)
    listed = pa.concat_tables(keys).select(["enroll", "test"])
    pyarrow.csv.write_csv(listed, folder / "list.tsv", pyarrow.csv.WriteOptions(delimiter="\t"))
    submitted = pa.concat_tables(csvs).select(["enroll", "test", "score"])
    pyarrow.csv.write_csv(submitted, folder / "submission.tsv", pyarrow.csv.WriteOptions(delimiter="\t"))
    side = int(np.sqrt(4 * n))
    own = np.arange(side) % SPEAKERS
    same = own[:, None] == own
    np.save(folder / "key.npy", np.where(same, 1, -1).astype(np.int8))
    np.save(folder / "scores.npy", (rng.standard_normal((side, side)) * 2 + np.where(same, 3, -3)).astype(np.float32))


def write_classes(folder: Path, n: int) -> None:
    """Write trials of several classes, with units, to a folder of Parquet files."""
    rng, rows = np.random.default_rng(8), max(n // 10, 1)
    (folder / "classes").mkdir()
    words = [f"lang{i}" for i in range(CLASSES)]
    for at, first in enumerate(range(0, n, rows)):
        k = min(rows, n - first)
        truth = rng.integers(0, CLASSES, k)
        speaker = CLASSES * rng.integers(0, SPEAKERS // CLASSES, k) + truth
        scores = rng.standard_normal((k, CLASSES)) + 2 * (truth[:, None] == np.arange(CLASSES))
        columns = {word: scores[:, i].astype(np.float32) for i, word in enumerate(words)}
        who = {"class": pa.array(np.array(words)[truth]), "speaker": pa.array([f"s{i}" for i in speaker])}
        pq.write_table(pa.table(columns | who), folder / "classes" / f"{at}.parquet", row_group_size=rows)


def write_all(folder: Path, n: int, n_classes: int) -> None:
    """Write all data, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "classes").exists():
        write_two_classes(folder, n)
        write_classes(folder, n_classes)
    shutil.rmtree(folder / "llrs", ignore_errors=True)


def cases(n: int, n_classes: int) -> list[Case]:
    """Return the commands, in an order in which files are written before they are read."""
    side = int(np.sqrt(4 * n))
    return [
        Case("Parquet folder", "eval trials --no-intervals", n),
        Case("CSV", "eval trials.csv --no-intervals", n),
        Case("matrix", "eval scores.npy --key key.npy --no-intervals", side**2),
        Case("folder with key", "eval shards/a --key key.parquet --no-intervals", n, JOINED),
        Case("two systems with key", "eval shards/a shards/b --key key.parquet --no-intervals", n, JOINED),
        Case("units", "eval trials --units enroll", n),
        Case("conditions", "eval trials --by condition --units enroll", n),
        Case("weights", "eval trials --weights weight --units enroll", n),
        Case("bootstrap", "eval trials --units enroll --bootstrap 200", n),
        Case("multiclass", "eval classes --no-intervals", n_classes),
        Case("multiclass with units", "eval classes --units speaker", n_classes),
        Case("detectors", "eval classes --units speaker --pairs --p-target 0.1", n_classes),
        Case("calibrate", "calibrate trials -o c.json --units enroll", n),
        Case("cross-validate", "calibrate trials -o cv.json --units enroll --cross-validate enroll:3", n),
        Case("fuse", "fuse shards/a shards/b --key key.parquet --units enroll -o f.json", n, JOINED),
        Case("apply", "apply c.json trials -o llrs", n),
        Case("summarize", "summarize trials -o part.summary", n),
        Case("summarize a CSV", "summarize trials.csv -o csv.summary", n),
        Case("merge", "merge part.summary csv.summary -o all.summary", 2 * n, has_option=False),
        Case("evaluate summaries", "eval part.summary", n),
        Case("convert", "convert trials.csv copy.parquet", n),
        Case("validate", "validate submission.tsv --trials list.tsv", n, JOINED),
        Case("inspect", "inspect trials", n, None, has_option=False),
        Case("compare", "compare shards/a shards/b --key key.parquet --units enroll", n, None, has_option=False),
    ]


def anonymous(pid: int) -> int:
    """Return the anonymous memory of a process in bytes, and 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def watch(words: list[str], folder: Path) -> tuple[int, float, int, str]:
    """Run a command, and return its peak memory in bytes, seconds, exit code and messages."""
    begun, most = time.perf_counter(), 0
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-m", "deciban", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, cwd=folder, env=os.environ)
        while process.poll() is None:
            most = max(most, anonymous(process.pid))
            time.sleep(0.005)
        said.seek(0)
        return most, time.perf_counter() - begun, process.returncode, said.read().decode("utf-8", "replace")


def costs(chosen: list[Case], folder: Path, small: Path) -> None:
    """Print how many bytes a row takes where all fit in memory: the difference of two peaks, divided by the rows."""
    for case in chosen:
        words = case.words.split() + (["--memory=2GB"] if case.has_option else [])
        many, few = (watch(words, where)[0] for where in (folder, small))
        print(f"{case.name}: {few / 1e6:.0f} MB and {(many - few) / case.rows:.0f} bytes for a row", flush=True)


def run_all(chosen: list[Case], folder: Path) -> bool:
    """Run commands, print a table, and return True if all of them stay within their limits."""
    table = Table("command", "rows", "--memory [MB]", "peak [MB]", "ratio", "seconds", "result", title_justify="left")
    good = True
    for case in chosen:
        words = case.words.split() + ([f"--memory={case.limit}MB"] if case.has_option and case.limit else [])
        most, seconds, code, said = watch(words, folder)
        ratio = most / (1e6 * case.limit) if case.limit else float("nan")
        if code:
            result = next((line for line in reversed(said.splitlines()) if line.strip()), f"exit code {code}")
        else:
            result = "above its limit" if ratio > 1 else ""
        good &= code == 0 and not ratio > 1
        limit = f"{case.limit}" if case.limit else "none"
        table.add_row(
            case.name, f"{case.rows:,}", limit, f"{most / 1e6:.0f}", f"{ratio:.2f}", f"{seconds:.1f}", result[:100]
        )
        print(f"{case.name}: {most / 1e6:.0f} of {limit} MB, {seconds:.1f} s {result}", file=sys.stderr, flush=True)
    Console(width=170).print(table)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=float, default=1e6, help="of two classes")
    parser.add_argument("--class-trials", type=float, default=5e5, help="of several classes")
    parser.add_argument("--only", help="commands whose names contain this word")
    parser.add_argument("--folder", type=Path, help="keep the data here; left out, they are removed at the end")
    parser.add_argument("--costs", action="store_true", help="print the bytes that a row takes with --memory=2GB")
    options = parser.parse_args()
    n, n_classes = int(options.trials), int(options.class_trials)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        write_all(folder, n, n_classes)
        chosen = [case for case in cases(n, n_classes) if options.only is None or options.only in case.name]
        if options.costs:
            write_all(Path(temporary) / "small", 2000, 2000)
            costs(chosen, folder, Path(temporary) / "small")
        else:
            sys.exit(0 if run_all(chosen, folder) else 1)


if __name__ == "__main__":
    main()
