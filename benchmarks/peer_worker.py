"""Run one snippet on one set of inputs, again and again, as `peers.py` asks: a line of JSON for each round.

A process of its own for each tool, so that its peak of memory is its own. Before anything counts, the snippet runs on a
small set: imports and compilation are not timed.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np

Inputs = dict[str, Any]
TASKS = Path(__file__).with_name("peer_tasks.toml")
STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")
N_CLASSES = 10
SMALL = 1_000
SETS = {
    "ties": ([3, 2, 2, 0.5, 1], [2, 1, 0, -1, -2, 1]),
    "infinite": ([math.inf, 2, 1], [-math.inf, 0, -1]),
    "far": ([45, 50, 41, -60], [-750, 39, 41, 44]),
}
"""Small sets: equal scores, infinite llrs, llrs whose posteriors are 0 or 1 to the last bit."""


def of_two(tar: np.ndarray, non: np.ndarray) -> Inputs:
    """Both forms in which tools want trials: two sets, or scores in an order by chance with their labels."""
    order = np.random.default_rng(2).permutation(len(tar) + len(non))
    score, is_target = np.r_[tar, non][order], np.r_[np.ones(len(tar), bool), np.zeros(len(non), bool)][order]
    return {"tar": tar, "non": non, "score": score, "is_target": is_target, "label": is_target.astype(np.int64)}


def two(n: int, seed: int = 1) -> Inputs:
    """One target in ten, llrs that are normal, with a wrong scale and offset."""
    rng = np.random.default_rng(seed)
    tar, non = (1.3 * rng.normal(side * 4.5, 3.0, size) + 0.4 for side, size in ((1, n // 10), (-1, n - n // 10)))
    return of_two(tar, non)


def train_and_test(n: int) -> Inputs:
    return two(n) | {f"test_{name}": value for name, value in two(10_000, seed=3).items()}


def systems(n: int) -> Inputs:
    """Three systems that hear the same noise in part; n scores of each."""
    rng = np.random.default_rng(1)
    is_target = rng.permutation(n) < n // 10
    side = np.where(is_target, 1.0, -1.0)[:, None]
    scores = side * [1.0, 1.5, 0.7] + rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) * [1.0, 1.2, 0.8]
    return {"scores": scores, "is_target": is_target, "label": is_target.astype(np.int64)}


def classes(n: int) -> Inputs:
    """Ten classes with as many segments each; logliks are too large, by a factor of their own for each class."""
    rng = np.random.default_rng(1)
    label = rng.permutation(n) % N_CLASSES
    loglik = rng.normal(size=(n, N_CLASSES)) * 1.5
    loglik[np.arange(n), label] += 3.0
    loglik *= np.linspace(1.2, 2.4, N_CLASSES)
    posterior = np.exp(loglik - np.logaddexp.reduce(loglik, axis=1, keepdims=True))
    return {"loglik": loglik, "label": label, "posterior": posterior}


def inputs(kind: str, size: str) -> Inputs:
    if not size.isdigit():
        return of_two(*(np.array(side, dtype=np.float64) for side in SETS[size]))
    return {"two": two, "train and test": train_and_test, "systems": systems, "classes": classes}[kind](int(size))


def resident(word: str) -> int:
    """Bytes by a line of the status of this process."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(word))
    return 1024 * int(line.split()[1])


def answer_of(code: Any, given: Inputs, judge: str | None) -> tuple[dict[str, Any], float]:
    """What the snippet finds, or the name of its error; and how long it takes."""
    names = dict(given)
    start = time.perf_counter()
    try:
        exec(code, names)  # noqa: S102  # the snippets of this folder
        seconds = time.perf_counter() - start
        found: dict[str, Any] = {
            "answer": np.asarray(names["answer"], dtype=np.float64).ravel().tolist() if judge is None else []
        }
        if judge is not None:
            exec(judge, names)  # noqa: S102
            found |= {"answer": [float(names["reached"])], "shown": str(names.get("shown", ""))}
    except Exception as error:  # noqa: BLE001  # what a tool answers is what is asked
        return {"error": f"{type(error).__name__}: {error}"}, time.perf_counter() - start
    return found, seconds


def measured(code: Any, given: Inputs, judge: str | None) -> dict[str, Any]:
    REFERENCES.write_text("5")  # forgets the peak so far
    before = resident("VmRSS")
    found, seconds = answer_of(code, given, None if judge is None else "reached = 0")
    found |= {"seconds": seconds, "peak": resident("VmHWM") - before}
    if judge is not None and "error" not in found:
        found |= answer_of(code, given, judge)[0]
    return found


def main() -> None:
    task_name, tool, size = sys.argv[1:]
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever tools print is not for us
    warnings.simplefilter("ignore")
    task = tomllib.loads(TASKS.read_text())[task_name]
    code = compile(task["tools"][tool], tool, "exec")
    with contextlib.suppress(Exception):
        exec(code, inputs(task["inputs"], str(SMALL)))  # noqa: S102
    given, judge = inputs(task["inputs"], size), task.get("judge")
    for line in sys.stdin:
        found = measured(code, given, judge if line.strip() == "first" else None if judge is None else "reached = 0")
        print(json.dumps(found), file=lines, flush=True)


if __name__ == "__main__":
    main()
