"""How often 95 % intervals of many classes hold the value of the population, where units are simulated.

    python benchmarks/class_coverage.py --speakers 30 100 400 --draws 400

Log-likelihoods are normal: a speaker makes each class more or less likely in all of its segments. The population is
an evaluation of many more speakers, whose own error is small beside those of the draws.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from deciban.evaluation import ClassEvaluation, evaluate_classes
from deciban.evaluation.uncertainty import Figure

N_CLASSES, POPULATION = 5, 40_000
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


def evaluated(design: str, n_speakers: int, rng: np.random.Generator, **how: Any) -> ClassEvaluation:
    """Figures of a draw."""
    loglik, label, speaker = draw(design, n_speakers, rng)
    asked: Any = {"p_out_of_set": 0.2} if "out of set" in design else {}
    return evaluate_classes(loglik, label, subsets=False, units=speaker, **asked, **how)


def figures(found: ClassEvaluation) -> Iterator[tuple[Figure, str, float]]:
    """Figures with their rows and values; of pairs each once."""
    assert found.uncertainty is not None  # noqa: S101  # units are known
    for name, one in found.uncertainty.estimates.items():
        parts = (name,) if isinstance(name, str) else name
        row = f"detectors {parts[2]}" if parts[0] == "detectors" else str(parts[0])
        is_twin = row.startswith("pairwise") and str(parts[1]) > str(parts[2])
        if row in ROWS and not is_twin and not (row == "confusion" and parts[1] == parts[2]):
            yield name, row, one.value


def coverage(design: str, n_speakers: int, draws: int) -> dict[str, tuple[float, float]]:
    """Of each row, how often intervals hold the value of the population, and standard errors over the spread."""
    rng = np.random.default_rng([1, n_speakers, DESIGNS.index(design)])
    truth = {name: value for name, _, value in figures(evaluated(design, POPULATION, rng, optimism=False))}
    held, errors, values = (defaultdict[Figure, list[float]](list) for _ in range(3))
    rows = dict[Figure, str]()
    for _ in range(draws):
        found = evaluated(design, n_speakers, rng, optimism=True)
        for name, row, value in figures(found):
            one = found.interval(name)
            held[name].append(one.low <= truth[name] <= one.high)
            errors[name].append(one.standard_error)
            values[name].append(value)
            rows[name] = row
    result = {}
    for row in ROWS:
        names = [name for name, own in rows.items() if own == row]
        if not names:  # no interval
            continue
        ratio = np.mean([np.mean(errors[name]) / np.std(values[name]) for name in names])
        result[row] = float(np.mean([np.mean(held[name]) for name in names])), float(ratio)
    return result


def main() -> None:
    """Print a table for each number of speakers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speakers", type=int, nargs="+", default=[30, 100, 400])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--designs", nargs="+", default=DESIGNS)
    asked = parser.parse_args()
    for n_speakers in asked.speakers:
        columns = {design: coverage(design, n_speakers, asked.draws) for design in asked.designs}
        print(f"\n{n_speakers} speakers, {asked.draws} draws\n\n| | {' | '.join(columns)} |")
        print("|---|" + "---|" * len(columns))
        for row, title in ROWS.items():
            cells = (
                f"{one[row][0]:.2f} ({one[row][1]:.2f})" if row in one else "no interval" for one in columns.values()
            )
            print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
