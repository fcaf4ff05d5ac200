"""How often conditions that are alike are said to differ: false claims of ``--by``, at 5 % after Holm's correction.

    python benchmarks/condition_differences.py             # the table of docs/coverage.md
    python benchmarks/condition_differences.py --draws 50

Scores are calibrated normal llrs, the same in all conditions. A draw has a false claim of a metric if any condition
differs from the mean of the others, or any pair of conditions differs, with a corrected p-value below 0.05.
"""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from deciban.analysis.differences import differences_between
from deciban.evaluation import Evaluation, evaluate

FAR = 10**6
"""Units of a condition are numbered from a multiple of this on."""


@dataclass(frozen=True)
class Design:
    """Conditions that are alike.

    Attributes
    ----------
    name : str
    n_conditions, n_tar, n_non : int
        Trials of each condition; by speakers, how many of these there are and the trials of one of them.
    mean : float
        Llr of targets in nats; that of non-targets is its negative, the variance twice as much.
    share_targets : bool
        Whether all conditions have the same targets.
    per_speaker : int
        Targets of a speaker, whose effect is half of the variance; 0 if trials are independent.
    """

    name: str
    n_conditions: int
    n_tar: int
    n_non: int
    mean: float
    share_targets: bool = False
    per_speaker: int = 0

    def draw(self, rng: np.random.Generator) -> list[Evaluation]:
        """Evaluate every condition on trials of its own."""
        spread, found, shared = np.sqrt(2 * self.mean), [], None
        for k in range(self.n_conditions):
            if self.per_speaker:
                speakers = np.arange(self.n_tar) + k * FAR
                tar_units, non_units = speakers.repeat(self.per_speaker), speakers.repeat(self.n_non)
                effect, own = spread * np.sqrt([0.5, 0.5])
                shift = effect * rng.normal(size=self.n_tar)
                tar = self.mean + shift.repeat(self.per_speaker) + own * rng.normal(size=len(tar_units))
                non = shift.repeat(self.n_non) - self.mean + own * rng.normal(size=len(non_units))
            else:
                tar_units = np.arange(self.n_tar) + (0 if self.share_targets else (2 * k + 1) * FAR)
                non_units = np.arange(self.n_non) + (2 * k + 2) * FAR
                shared = rng.normal(self.mean, spread, self.n_tar) if shared is None else shared
                tar = shared if self.share_targets else rng.normal(self.mean, spread, self.n_tar)
                non = rng.normal(-self.mean, spread, self.n_non)
            found.append(evaluate(tar, non, tar_units=tar_units, non_units=non_units, name=f"{k}"))
        return found


DESIGNS = (
    Design("13 conditions, 200 shared targets, 30 non-targets, EER 16 %", 13, 200, 30, 2.0, share_targets=True),
    Design("13 conditions, 200 shared targets, 30 non-targets, EER 8 %", 13, 200, 30, 4.0, share_targets=True),
    Design("8 conditions, 200 shared targets, 2000 non-targets, EER 11 %", 8, 200, 2000, 3.0, share_targets=True),
    Design("4 conditions, 200 targets, 2000 non-targets, EER 16 %", 4, 200, 2000, 2.0),
    Design("3 conditions, 30 targets, 300 non-targets, EER 16 %", 3, 30, 300, 2.0),
    Design("6 conditions, 20 speakers x 4 targets and 12 non-targets", 6, 20, 12, 2.0, per_speaker=4),
    Design("3 conditions, 15 speakers x 4 targets and 8 non-targets", 3, 15, 8, 2.0, per_speaker=4),
)
METRICS = {"EER": "eer", "Cllr": "cllr", "actDCF(0.01)": ("act_dcf", 0), "minDCF(0.01)": ("min_dcf", 0)}


def claims(design: Design, seed: int) -> tuple[Counter[object], Counter[object]]:
    """Return the metrics that one draw compares, and those of which it claims a difference."""
    rows, _ = differences_between(design.draw(np.random.default_rng(seed)), 0.95)
    return Counter({row.metric: 1 for row in rows}), Counter({row.metric: 1 for row in rows if row.holm < 0.05})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    draws = parser.parse_args().draws
    print(f"| design | {' | '.join(METRICS)} |", "|---|" + "---|" * len(METRICS), sep="\n")
    with ProcessPoolExecutor() as pool:
        for design in DESIGNS:
            compared, claimed = Counter[object](), Counter[object]()
            for one, other in pool.map(claims, [design] * draws, range(draws), chunksize=5):
                compared += one
                claimed += other
            cells = [
                f"{100 * claimed[at] / compared[at]:.1f}" + (f" of {compared[at]}" if compared[at] < draws else "")
                if compared[at] >= draws / 5
                else "none"
                for at in METRICS.values()
            ]
            print(f"| {design.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
