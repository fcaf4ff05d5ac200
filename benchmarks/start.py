"""Time until something happens: importing deciban, help, and whole commands on files of sixty trials.

Shown are the time that passes and that which processors work (user and system): other work on a machine disturbs it
less. Everything is compared to the import of what any such command needs. Install pandas, polars and scikit-learn to
see that nothing imports them because they are there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

from side_by_side import Job, Timing, machine, measure, show

NEEDED = "import numpy, scipy.special, pyarrow.csv, click, rich.table"
DECIBAN = (sys.executable, "-m", "deciban")
JOBS = {
    NEEDED: (sys.executable, "-c", NEEDED),
    "import deciban": (sys.executable, "-c", "import deciban"),
    "import deciban.metrics": (sys.executable, "-c", "from deciban.metrics import cllr"),
    "from deciban.evaluation import evaluate": (sys.executable, "-c", "from deciban.evaluation import evaluate"),
    "deciban --version": (*DECIBAN, "--version"),
    "deciban --help": (*DECIBAN, "--help"),
    "deciban eval --help": (*DECIBAN, "eval", "--help"),
    "deciban eval": (*DECIBAN, "eval", "a.txt", "--key", "key.txt"),
    "deciban eval --json, two systems": (*DECIBAN, "eval", "a.txt", "b.txt", "--key", "key.txt", "--json"),
    "deciban report": (*DECIBAN, "report", "a.txt", "--key", "key.txt", "-o", "a.html"),
    "deciban report, two systems": (*DECIBAN, "report", "a.txt", "b.txt", "--key", "key.txt", "-o", "b.html"),
}
ROUNDS = 9


def write_files(folder: Path) -> None:
    trials = [f"speaker{row % 7} segment{row}" for row in range(60)]
    for name, factor in {"a": 37, "b": 23}.items():
        scores = (f"{trial} {row * factor % 60 / 12 - 2.5 + (row % 3 == 0)}" for row, trial in enumerate(trials))
        (folder / f"{name}.txt").write_text("\n".join(scores))
    labels = (f"{trial} {'nontarget' if row % 3 else 'target'}" for row, trial in enumerate(trials))
    (folder / "key.txt").write_text("\n".join(labels))


def worked(jobs: Mapping[str, Job], rounds: int) -> dict[str, Timing]:
    """User and system time of the processes that jobs start, interleaved."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            before = os.times()
            job()
            after = os.times()
            user, system = after.children_user - before.children_user, after.children_system - before.children_system
            seconds[name].append(user + system)
    return {name: Timing(min(s), median(s), 0) for name, s in seconds.items()}


def main() -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        # Installed programs come compiled, whatever the settings of who develops them.
        compiled = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        compiled.pop("PYTHONDONTWRITEBYTECODE", None)
        run = partial(subprocess.run, check=True, capture_output=True, cwd=folder, env=compiled)
        jobs = {job: partial(run, words) for job, words in JOBS.items()}
        for job in jobs.values():
            job()
        show("processes: time that passes", measure(jobs, ROUNDS), NEEDED, 1)
        show("processes: time of processors", worked(jobs, ROUNDS), NEEDED, 1)


if __name__ == "__main__":
    main()
