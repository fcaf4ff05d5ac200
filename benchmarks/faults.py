"""Kill workers, a scheduler and commands, and fill the scratch disk: print what each command does about it.

Nothing here is about speed. Each row is a fault, the exit code, and "ok" or what is wrong. The script ends with exit
code 1 if a row is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MOMENTS = (0.1, 0.5, 0.9)
PATIENCE = 120
DECIBAN = [sys.executable, "-m", "deciban"]
QUIET = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}

Row = tuple[str, str, object, str]


class Place:
    """Files of trials, and a folder for temporary files that nobody else uses."""

    def __init__(self, folder: Path, n: int) -> None:
        self.folder, self.scratch = folder, folder / "scratch"
        self.scratch.mkdir()
        rng = np.random.default_rng(3)
        (folder / "shards").mkdir()
        for at in range(8):
            truth = rng.random(n // 8) < 0.3
            score = rng.normal(np.where(truth, 1.0, -1.0), 1.0)
            pq.write_table(pa.table({"score": score, "label": truth}), folder / "shards" / f"{at}.parquet")
        self.write_text(rng, min(n // 8, 200_000))
        for words in (
            ["calibrate", "a.txt", "--key", "k.txt", "-o", "model.json"],
            ["summarize", *(f"shards/{at}.parquet" for at in range(4)), "-o", "first.summary"],
            ["summarize", *(f"shards/{at}.parquet" for at in range(4, 8)), "-o", "second.summary"],
        ):
            done = self.start(words)
            _, said = done.communicate(timeout=PATIENCE)
            if done.returncode != 0:
                sys.exit(f"deciban {' '.join(words)}: {said}")

    def write_text(self, rng: np.random.Generator, n: int) -> None:
        """Write two systems and their key as text."""
        truth = rng.random(n) < 0.3
        names = [f"m{i % 999} t{i}" for i in range(n)]
        for name in ("a", "b"):
            score = rng.normal(np.where(truth, 1.0, -1.0), 1.0)
            rows = (f"{one} {x:.5f}\n" for one, x in zip(names, score, strict=True))
            (self.folder / f"{name}.txt").write_text("".join(rows))
        labels = np.where(truth, "target", "nontarget")
        rows = (f"{one} {word}\n" for one, word in zip(names, labels, strict=True))
        (self.folder / "k.txt").write_text("".join(rows))

    def start(self, words: Sequence[str], scratch: Path | None = None) -> subprocess.Popen[str]:
        """Start a command in this folder."""
        environment = os.environ | {"TMPDIR": str(scratch or self.scratch), "NO_COLOR": "1", "COLUMNS": "500"}
        return subprocess.Popen([*DECIBAN, *words], cwd=self.folder, env=environment, **QUIET)

    def remains(self) -> list[str]:
        """Names of folders that deciban left in the scratch folder."""
        return sorted(one.name for one in self.scratch.glob("deciban-*"))


def ended(process: subprocess.Popen[str]) -> tuple[str, str, bool]:
    """Return the output, the messages, and whether the process had to be killed because it did not end."""
    try:
        return *process.communicate(timeout=PATIENCE), False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # its own session: nobody else's processes
        return *process.communicate(), True


def errors(said: str) -> list[str]:
    """Return the lines of an error; progress, and what was read, stand above it."""
    return [line for line in said.splitlines() if line.startswith("deciban: ") and "warning" not in line.lower()]


def numbers(out: str) -> object:
    return [{key: x for key, x in one.items() if key != "name"} for one in json.loads(out)["systems"]]


def refusal(process: subprocess.Popen[str], said: str, *, hangs: bool, words: Sequence[str] = ()) -> str:
    """Return "ok" if a command ended with one sentence, else what is wrong."""
    if hangs:
        return f"hangs for {PATIENCE} s"
    if "Traceback" in said:
        return "traceback: " + said.strip().splitlines()[-1]
    if process.returncode == 0:
        return "exit code 0"
    if len(errors(said)) != 1 or said.strip().splitlines()[-1] != errors(said)[0]:
        return f"not one sentence at the end: {said.strip()[-300:]!r}"
    lacking = [one for one in words if one not in said]
    return f"does not name {', '.join(lacking)}: {said.strip()}" if lacking else "ok"


def children(pid: int, word: str) -> list[int]:
    """Return processes below `pid` whose command line contains `word`."""
    try:
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        below = [int(one) for path in tasks for one in path.read_text().split()]
        own = [one for one in below if word in Path(f"/proc/{one}/cmdline").read_text()]
    except OSError:  # it has just ended
        return []
    return own + [one for child in below for one in children(child, word)]


def workers(place: Place) -> Iterator[Row]:
    """Kill one of two worker processes of ``--dask local:2``, which are copies of a third one."""
    words = ["eval", "shards", "--dask", "local:2", "--json", "--no-intervals"]
    begun, seen = time.monotonic(), []
    process = place.start(words)
    while process.poll() is None:  # the output is shorter than the buffer of a pipe
        if len(children(process.pid, "forkserver")) == 3:
            seen.append(time.monotonic() - begun)
        time.sleep(0.02)
    expected, said, _ = ended(process)
    if process.returncode != 0 or not seen:
        yield "worker", "none killed", process.returncode, said.strip()
        return
    lasts = seen[-1] - seen[0]
    for moment in MOMENTS:
        process = place.start(words)
        time.sleep(seen[0] + moment * lasts)
        at_work = children(process.pid, "forkserver")[1:] if process.poll() is None else []
        if at_work:
            os.kill(at_work[-1], signal.SIGKILL)
        out, said, hangs = ended(process)
        if hangs or process.returncode != 0:
            verdict = "hangs" if hangs else said.strip()
        else:
            verdict = "ok" if numbers(out) == numbers(expected) else "other numbers"
        if not at_work:
            verdict += " (no worker at this moment)"
        yield "worker killed", f"at {moment:.0%} of {lasts:.1f} s", process.returncode, verdict


def scheduler(place: Place) -> Iterator[Row]:
    """Kill the scheduler while a command works on its cluster."""
    for moment in (0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        file = place.folder / f"scheduler-{moment}.json"
        tools = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        dask = [*tools, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        environment = os.environ | {"TMPDIR": str(place.scratch)}
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
        chief = subprocess.Popen(dask, **silent)
        helper = None
        try:
            while not file.exists() or not file.read_text().strip():
                if chief.poll() is not None:
                    sys.exit("no scheduler started")
                time.sleep(0.1)
            address = json.loads(file.read_text())["address"]
            worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
            helper = subprocess.Popen([*worker, "--no-dashboard"], **silent)
            words = ["eval", "shards", "--dask", address, "--json", "--no-intervals"]
            ended(place.start(words))  # workers import what they need
            begun = time.monotonic()
            expected, _, _ = ended(place.start(words))
            lasts = time.monotonic() - begun
            process = place.start(words)
            time.sleep(moment * lasts)
            chief.kill()
            out, said, hangs = ended(process)
            done = not hangs and process.returncode == 0
            same = done and numbers(out) == numbers(expected)
            verdict = "ok (same numbers)" if same else refusal(process, said, hangs=hangs)
            yield "scheduler killed", f"at {moment:.0%} of {lasts:.1f} s", process.returncode, verdict
        finally:
            for one in (chief, helper):
                if one is not None:
                    one.kill()
                    one.wait()


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["/bin/umount", str(folder)], check=True)


COMMANDS = {
    "eval": (["eval", "shards", "--memory", "110MB", "--no-intervals", "--json"], None),
    "convert": (["convert", "a.txt", "out.csv", "--memory", "150MB"], "out.csv"),
    "apply": (["apply", "model.json", "a.txt", "-o", "out.txt"], "out.txt"),
    "summarize": (["summarize", "shards", "-o", "out.summary", "--memory", "150MB"], "out.summary"),
    "merge": (["merge", "first.summary", "second.summary", "-o", "out.summary"], "out.summary"),
    "report": (["report", "a.txt", "--key", "k.txt", "-o", "out.html"], "out.html"),
    "fuse": (["fuse", "a.txt", "b.txt", "--key", "k.txt", "-o", "out.json"], "out.json"),
}
"""Commands, and the file that each writes."""


def disk(place: Place) -> Iterator[Row]:
    """Fill the folder for temporary files."""
    if os.geteuid() != 0:
        yield "scratch disk full", "needs root to mount a small disk", "", "not run"
        return
    for name in ("eval", "summarize", "merge"):
        words, target = COMMANDS[name]
        with small_disk(place.folder / f"disk-{name}", 1_000_000) as small:
            process = place.start(words, small)
            _, said, hangs = ended(process)
            if not hangs and process.returncode == 0:
                verdict = "ok (it needs no temporary files)"
            else:
                verdict = refusal(process, said, hangs=hangs, words=(str(small), "TMPDIR", "MB"))
            if target is not None and (place.folder / target).exists():
                (place.folder / target).unlink()
                verdict += "; output written" if process.returncode != 0 else ""
            if any(small.iterdir()):
                verdict += "; files left behind"
        yield "scratch disk full", name, process.returncode, verdict


def signals(place: Place) -> Iterator[Row]:
    """End commands by signals; the old output stays, and the next run removes what a killed one left."""
    for name, (words, target) in COMMANDS.items():
        begun = time.monotonic()
        process = place.start(words)
        _, said, _ = ended(process)
        if process.returncode != 0:
            yield "signal", name, process.returncode, said.strip()
            continue
        lasts = time.monotonic() - begun
        whole = b"" if target is None else (place.folder / target).read_bytes()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            for moment in MOMENTS:
                yield stopped(place, name, whole, number, moment * lasts, f"at {moment:.0%} of {lasts:.1f} s")
        for one in place.folder.glob("out.*"):
            one.unlink()


def stopped(place: Place, name: str, whole: bytes, number: signal.Signals, after: float, moment: str) -> Row:
    words, target = COMMANDS[name]
    path = None if target is None else place.folder / target
    if path is not None:
        path.write_bytes(b"old\n")
    process = place.start(words)
    time.sleep(after)
    early = not listens(process.pid)  # Python itself is still starting
    process.send_signal(number)
    _, said, hangs = ended(process)
    verdict = "ok"
    if process.returncode == 0:
        verdict = "ok (it had ended)"
    elif path is not None and timeless(path.read_bytes()) == timeless(whole):
        verdict = "ok (the new file is whole)"
    elif path is not None and path.read_bytes() != b"old\n":
        verdict = "neither the old file nor the new one"
    elif number != signal.SIGKILL and not early:
        verdict = refusal(process, said, hangs=hangs)
    if number == signal.SIGKILL and place.remains():
        ended(place.start(COMMANDS["eval"][0]))
        verdict = f"the next run leaves {place.remains()}" if place.remains() else f"{verdict}, next run cleans"
    elif place.remains():
        verdict += f"; leaves {place.remains()}"
    return f"{number.name}", f"{name} {moment}", process.returncode, verdict


def timeless(content: bytes) -> bytes:
    """Return the content of a file without the moment at which it was written."""
    return re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", b"", content)


def listens(pid: int) -> bool:
    """Return True if a process catches SIGTERM: before, the answer is that of the system."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    caught = next((int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:")), 0)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


FAULTS: dict[str, Callable[[Place], Iterator[Row]]] = {
    "workers": workers,
    "scheduler": scheduler,
    "disk": disk,
    "signals": signals,
}


def main() -> None:
    """Print a row for each fault."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=FAULTS, nargs="+", default=list(FAULTS))
    options.add_argument("--trials", type=float, default=4e6)
    asked = options.parse_args()
    folder, wrong = Path(tempfile.mkdtemp(prefix="faults-")), 0
    try:
        place = Place(folder, int(asked.trials))
        for name in asked.only:
            for fault, where, code, verdict in FAULTS[name](place):
                wrong += not verdict.startswith(("ok", "not run"))
                print(f"{fault:18} {where:34} {code!s:>5}  {verdict}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
