"""How often 95 % intervals of many classes hold the value of the population, where units are simulated.

    python benchmarks/class_coverage.py --write            # the table of docs/coverage.md: 15 minutes of one core

Log-likelihoods are normal: a speaker makes each class more or less likely in all of its segments. The population is
an evaluation of many more speakers, whose own error is small beside those of the draws.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from deciban import compare
from deciban.errors import InputError
from deciban.evaluation import ClassEvaluation, evaluate_classes
from deciban.evaluation.uncertainty import MetricKey
from interval_coverage import PAGE, outside, write

N_CLASSES, POPULATION, NOISE = 5, 20_000, 1.0
DESIGNS = (
    "all classes, balanced",
    "one class each, balanced",
    "one class each, unbalanced",
    "one class each, out of set",
    "segments as units",
)
ROWS = {
    "cllr": "Cllr",
    "min_cllr": "min Cllr",
    "calibration_loss": "calibration loss",
    "information": "information",
    "brier": "Brier",
    "error_rate": "error rate",
    "c_avg": "C_avg",
    "min_c_avg": "min C_avg",
    "class_error_rates": "error rates of classes",
    "confusion": "rates of confusions",
    "detectors eer": "EER of detectors",
    "detectors cost": "cost of detectors",
    "detectors min_cost": "min cost of detectors",
    "detectors cllr": "Cllr of detectors",
    "detectors min_cllr": "min Cllr of detectors",
    "pairwise_cllr": "Cllr of pairs",
    "pairwise_min_cllr": "min Cllr of pairs",
}


def draw(design: str, n_speakers: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-likelihoods, classes and speakers."""
    if design == "segments as units":
        label = np.arange(5 * n_speakers) % N_CLASSES
        speaker = np.arange(len(label))
    elif design == "all classes, balanced":
        label, speaker = np.tile(np.arange(N_CLASSES), 2 * n_speakers), np.repeat(np.arange(n_speakers), 2 * N_CLASSES)
    else:
        segments = np.full(n_speakers, 3)
        if "unbalanced" in design:
            segments = np.clip(np.round(rng.lognormal(1.0, 0.9, n_speakers)), 1, 25).astype(int)
        speaker = np.repeat(np.arange(n_speakers), segments)
        label = speaker % N_CLASSES
    effects = 0.8 * rng.normal(size=(n_speakers if design != "segments as units" else len(label), N_CLASSES))
    loglik = 1.8 * np.eye(N_CLASSES)[label] + effects[speaker] + rng.normal(size=(len(label), N_CLASSES))
    return 1.3 * loglik, label, speaker


def evaluated(design: str, n_speakers: int, rng: np.random.Generator, **how: Any) -> list[ClassEvaluation]:
    """Evaluations of a system and of one with more noise, on the same trials."""
    loglik, label, speaker = draw(design, n_speakers, rng)
    asked: Any = {"p_out_of_set": 0.2} if "out of set" in design else {}
    both = loglik, loglik + NOISE * rng.normal(size=loglik.shape)
    return [
        evaluate_classes(one, label, subsets=False, units=speaker, name=name, **asked, **how)
        for one, name in zip(both, "ab", strict=True)
    ]


def row_of(name: MetricKey) -> str | None:
    """Row of a metric; of pairs each once."""
    parts = (name,) if isinstance(name, str) else name
    row = f"detectors {parts[2]}" if parts[0] == "detectors" else str(parts[0])
    is_twin = row.startswith("pairwise") and str(parts[1]) > str(parts[2])
    return row if row in ROWS and not is_twin and not (row == "confusion" and parts[1] == parts[2]) else None


def coverage(work: tuple[str, int, int]) -> dict[str, np.ndarray]:
    """Whether intervals of each row are below or above the value of the population, and have a note: in each draw."""
    design, n_speakers, draws = work
    rng, rows = np.random.default_rng([1, n_speakers, DESIGNS.index(design)]), defaultdict[str, list[Any]](list)
    known = [one.estimates for one in evaluated(design, POPULATION, rng, optimism=False)]
    for _ in range(draws):
        both = evaluated(design, n_speakers, rng, optimism=True)
        for name in both[0].estimates:
            if row := row_of(name):
                one, true = both[0].interval(name), known[0][name].value
                rows[ROWS[row]].append((one.high < true, one.low > true, False, False))
        try:
            found = compare(*both)
        except InputError:  # no metric has an interval in both
            continue
        for one in found.pairs[0].metrics:
            true = known[0][one.metric].value - known[1][one.metric].value
            row = f"difference of {ROWS.get(str(row_of(one.metric)), one.words)}"
            noted = any(f"differences of {one.words.split(' at ')[0]} " in note for note in found.notes)
            rows[row].append((one.interval.high < true, one.interval.low > true, noted, False))
    return {row: np.array(some) for row, some in rows.items() if len(some) >= 0.05 * draws}


def main() -> None:
    """Print the table, or write it into the page on coverage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speakers", type=int, nargs="+", default=[30, 100])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--designs", nargs="+", default=DESIGNS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="into docs/coverage.md")
    asked = parser.parse_args()
    cells = [(design, n, asked.draws) for design in asked.designs for n in asked.speakers]
    with ProcessPoolExecutor(asked.processes) as pool:
        found = dict(zip(cells, pool.map(coverage, cells), strict=True))
    lines = [
        f"| metric | {' | '.join(asked.designs)} | outside without a note |",
        "|---" * (len(asked.designs) + 2) + "|",
    ]
    for row in dict.fromkeys(row for one in found.values() for row in one):
        held = [
            ", ".join(
                f"{100 * (1 - found[cell][row][:, :2].sum(axis=1).mean()):.0f}" if row in found[cell] else "none"
                for cell in cells
                if cell[0] == design
            )
            for design in asked.designs
        ]
        faults = [
            f"{design}, {n}: {fault}"
            for (design, n, _), one in found.items()
            if row in one and len(one[row]) <= asked.draws and (fault := outside(one[row], 0.99))
        ]
        lines.append(f"| {row} | {' | '.join(held)} | {'; '.join(faults)} |")
    words = "\n".join(lines)
    print(words)
    if asked.write:
        write(PAGE, "classes", words)


if __name__ == "__main__":
    main()
