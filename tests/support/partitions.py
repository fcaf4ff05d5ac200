"""Pieces of trials in memory, some of which do harm to who reads them; workers of clusters import them from here."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deciban.errors import FormatError, option
from deciban.trials.sources import Batch, SourcePartition, TrialSource


@dataclass(frozen=True, eq=False)
class HeldTrials(SourcePartition):
    """Trials that lie in memory.

    ``harm`` says what reading them does: nothing, ``"kill"`` (ends the process the first time, if a file is not there
    yet, and always if there is none), ``"memory"``, ``"damaged"``, ``"gone"`` or ``"slow"``.
    """

    name: str
    n_rows: int
    scores: np.ndarray
    truth: np.ndarray
    harm: str = ""
    once: str = ""
    weight: np.ndarray | None = None

    def read(self, wanted):
        if self.harm == "kill" and self._first_time():
            os.kill(os.getpid(), signal.SIGKILL)
        if self.harm == "memory":
            raise MemoryError("Unable to allocate 8.00 GiB")
        if self.harm == "damaged":
            raise FormatError(f"{self.name}: is damaged. Select others ({option(where=...)}).")
        if self.harm == "gone":
            raise FileNotFoundError(2, "No such file or directory", f"/nowhere/{self.name}")
        if self.harm == "slow":
            time.sleep(0.05)
            Path(self.once).touch()
        truth, weight = self.truth if wanted.truth else None, self.weight if wanted.weight else None
        return Batch((self.scores,) * len(wanted.systems), truth, weight=weight)

    def _first_time(self):
        try:
            return not self.once or bool(Path(self.once).touch(exist_ok=False) is None)
        except FileExistsError:
            return False


def held(scores, truth, cuts, harms=None, weights=None):
    """A source of these trials, cut into pieces at these places; ``harms`` maps pieces to what they do."""
    partitions = []
    for at, own in enumerate(np.split(np.arange(len(scores)), cuts)):
        harm = (harms or {}).get(at, ())
        weight = None if weights is None else weights[own]
        partitions.append(HeldTrials(f"shard {at}", len(own), scores[own], truth[own], *harm, weight=weight))
    about = {"is_double": scores.dtype == np.float64, "has_weights": weights is not None}
    return TrialSource("held", tuple(partitions), ("first",), **about)


def some_trials(n, seed, *, dtype=np.float32, share=0.03):
    """Scores with ties and infinities, and whether they are of targets."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    truth[:2] = True, False
    scores = np.round(np.where(truth, rng.normal(3, 2.2, n), rng.normal(-3, 1.6, n)), int(rng.integers(1, 6)))
    scores[rng.integers(0, n, 3)] = [np.inf, -np.inf, -0.0]
    return scores.astype(dtype), truth


class Read:
    """Processes that read pieces, and how many trials they read."""

    def __init__(self, pids, n):
        self.pids, self.n = pids, n

    def __add__(self, other):
        return Read(self.pids | other.pids, self.n + other.n)


def where_read(chunk):
    return Read({os.getpid()}, len(chunk.scores[0]))
