"""What other tools on PyPI say of the same scores, and at what cost: the table of docs/peers.md.

Needs ``pip install scikit-learn pyeer lir``. Rounds are interleaved and timed by CPU; the median counts.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import lir.metrics
import numpy as np
from lir.data.models import LLRData
from pyeer.eer_info import get_eer_stats
from sklearn.metrics import roc_auc_score

from deciban import metrics

Job = Callable[[], object]
PAGE = Path(__file__).parents[1] / "docs" / "peers.md"
TITLES = ["figure", "tool", "version", "with ties", "infinite llrs", "median CPU, deciban = 1"]
ROUNDS = 5
TIES = (np.array([3, 2, 2, 0.5, 1]), np.array([2, 1, 0, -1, -2, 1.0]))
INFINITE = (np.array([np.inf, 2, 1]), np.array([-np.inf, 0, -1.0]))


def of_labels(function: Callable[..., float]) -> Callable[..., float]:
    return lambda tar, non: function(np.r_[np.ones(len(tar)), np.zeros(len(non))], np.r_[tar, non])


def lir_of(function: Callable[..., float]) -> Callable[..., float]:
    return of_labels(lambda label, llr: function(LLRData(features=llr / np.log(10), labels=label.astype(int))))


FIGURES = {
    "EER": {"deciban": metrics.eer, "pyeer": lambda tar, non: get_eer_stats(tar, non).eer},
    "AUC": {"deciban": metrics.auc, "scikit-learn": of_labels(roc_auc_score)},
    "Cllr": {"deciban": metrics.cllr, "lir": lir_of(lir.metrics.cllr)},
    "min Cllr": {"deciban": metrics.min_cllr, "lir": lir_of(lir.metrics.cllr_min)},
}


def answer(function: Callable[..., float], scores: tuple[np.ndarray, np.ndarray]) -> str:
    try:
        return f"{float(function(*scores)):.4f}"
    except Exception as error:  # noqa: BLE001  # what a tool answers is what is asked
        return type(error).__name__


def cpu(jobs: dict[str, Job]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            seconds[name].append(time.process_time() - start)
    return {name: float(np.median(some)) for name, some in seconds.items()}


def rows() -> list[list[str]]:
    rng = np.random.default_rng(1)
    drawn = rng.normal(2, 2, 5_000), rng.normal(-2, 2, 50_000)
    found = []
    for figure, tools in FIGURES.items():
        spent = cpu({name: lambda f=f: f(*drawn) for name, f in tools.items()})
        for name, f in tools.items():
            ratio = f"{spent[name] / spent['deciban']:.2f}"
            found.append(
                [
                    figure,
                    name,
                    "this" if name == "deciban" else version(name),
                    answer(f, TIES),
                    answer(f, INFINITE),
                    ratio,
                ]
            )
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    lines = ["| " + " | ".join(row) + " |" for row in [TITLES, ["---"] * len(TITLES), *rows()]]
    PAGE.write_text(
        f"""# Peers

Written by `benchmarks/peers.py`, on 5,000 targets and 50,000 non-targets without ties, {ROUNDS} interleaved
rounds. CPU below 1 is faster than deciban. Small sets show ties and infinite llrs; an error is called by its name.
pyeer finds other figures on the way, which its time includes. The machine may have been busy: read ratios roughly.

"""
        + "\n".join(lines)
        + "\n"
    )


if __name__ == "__main__":
    main()
