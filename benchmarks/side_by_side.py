"""Time several ways to do one job, interleaved, and report the fastest round of each and its peak memory."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gc
import platform
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

Job = Callable[[], object]

_POOLS: list[Any] = []
"""Pools of Arrow live on: what they gave out may still be in use."""


@dataclass(frozen=True)
class Timing:
    """Fastest and median round in seconds, peak of new memory in bytes."""

    best: float
    median: float
    peak: int


def measure(jobs: Mapping[str, Job], rounds: int) -> dict[str, Timing]:
    """Run all jobs in turn, ``rounds`` times, then each once more to trace its memory."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            gc.collect()
            start = time.perf_counter()
            job()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(min(s), float(np.median(s)), _peak(jobs[name])) for name, s in seconds.items()}


def _peak(job: Job) -> int:
    """What Python and numpy, and Arrow if somebody uses it, hold at most; both peaks, should they come one by one."""
    gc.collect()
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:  # the largest a pool has been cannot be set back, so every job gets its own
        usual = arrow.default_memory_pool()
        _POOLS.append(pool := arrow.proxy_memory_pool(usual))
        arrow.set_memory_pool(pool)
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if arrow is not None:
        arrow.set_memory_pool(usual)
        peak += pool.max_memory()
    return peak


def show(title: str, timings: Mapping[str, Timing], reference: str, n_trials: int) -> None:
    """Print a table with ratios to ``reference``."""
    table = Table(title=title, title_justify="left")
    for heading in ("job", "best [ms]", "median [ms]", f"ratio to {reference}", "peak [bytes/trial]"):
        table.add_column(heading, justify="left" if heading == "job" else "right")
    for name, timing in timings.items():
        ratio = timing.best / timings[reference].best
        cells = (
            f"{timing.best * 1e3:.1f}",
            f"{timing.median * 1e3:.1f}",
            f"{ratio:.2f}",
            f"{timing.peak / n_trials:.1f}",
        )
        table.add_row(name, *cells)
    Console(width=120).print(table)


def machine() -> str:
    """Name processor, Python and NumPy, the kind of its sort, and how busy the machine is.

    Z: `numpy.sort` is slow, as with AVX-512 on Zen 4; A: it is fast. Ratios to a sort are comparable within a kind.
    """
    from deciban.core.ranks.loops import sorts_slowly

    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]  # type: ignore[index, call-overload]
    versions = f"Python {platform.python_version()}, numpy {np.__version__} {found}"
    kind = "Z" if sorts_slowly() else "A"
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{platform.machine()}, {os.cpu_count()} cores, kind {kind}, {versions}{load}"
