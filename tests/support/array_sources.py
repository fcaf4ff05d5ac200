"""Trials in memory as a source of batches."""

import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import encode
from deciban.core.resampling.units import TrialUnits
from deciban.engines import Threads
from deciban.trials.sources import Batch, SourcePartition, TrialSource


class Apart(Threads):
    """Two processes, as far as a work can tell: everything is sent there and back, and added up here."""

    shares_memory, n_sums = False, 2

    def run(self, work, partitions):
        """See `Threads`."""
        found = []
        for some in (partitions[::2], partitions[1::2]):
            own, there = pickle.loads(pickle.dumps((work.empty(), some)))  # noqa: S301  # written a moment ago
            found.append(pickle.loads(pickle.dumps(super().run(own, there))))  # noqa: S301
        return found[0] + found[1]

    def each(self, work, partitions, use):
        """See `Threads`."""
        for partition in partitions:
            own, there = pickle.loads(pickle.dumps((work.empty(), [partition])))  # noqa: S301  # written a moment ago
            own.take(there)
            use(pickle.loads(pickle.dumps(own)))  # noqa: S301


@dataclass(frozen=True)
class ArrayPartition(SourcePartition):
    """Some rows of arrays."""

    name: str
    n_rows: int
    scores: Any
    truth: Any
    units: Any = None
    weight: Any = None
    groups: Any = None

    def read(self, wanted):
        """Give what is wanted."""
        return Batch(
            tuple(self.scores[k] for k in wanted.systems),
            self.truth if wanted.truth else None,
            self.units if wanted.units else None,
            self.weight if wanted.weight else None,
            groups=self.groups if wanted.groups else None,
        )


def source_of(
    scores, truth, rng, *, n_partitions=5, units=None, weights=None, systems=("system",), classes=(), groups=None
):
    """The trials in random pieces in random order, some of them empty.

    ``scores`` is an array, or one of each system; ``units`` names or numbers, (n,) or (n, 2);
    ``weights`` (n,); ``groups`` names of what is held out together, an array for each side.
    """
    scores = [np.asarray(scores)] if len(systems) == 1 else [np.asarray(one) for one in scores]
    truth = np.asarray(truth)
    order, cuts = rng.permutation(len(truth)), np.sort(rng.integers(0, len(truth) + 1, n_partitions - 1))
    known = None if units is None else TrialUnits.of(np.asarray(units))
    partitions = []
    for at, rows in enumerate(np.split(order, cuts)):
        own = None if known is None else replace(known.take(rows)).only_used()
        weight = None if weights is None else np.asarray(weights)[rows]
        held = tuple(encode(pa.array([str(one) for one in side[rows]], pa.string())) for side in groups or ())
        given = [one[rows] for one in scores], truth[rows], own, weight, held or None
        partitions.append(ArrayPartition(f"piece {at}", len(rows), *given))
    is_double = any(one.dtype != np.float32 for one in scores)
    about = {"classes": classes, "is_double": is_double, "has_units": units is not None}
    about |= {"has_weights": weights is not None}
    if groups is not None:
        about["groups"] = ("left", "right")[: len(groups)]
    return TrialSource("arrays", tuple(partitions), tuple(systems), **about)
