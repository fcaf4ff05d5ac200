"""Parts of summaries from arrays."""

import numpy as np

from deciban.core.ranks.counted import Counted
from deciban.evaluation.summary import TwoClassFigures
from deciban.io.summary_parts import SummaryPart
from deciban.io.summary_records import Question, ShardRecord


def part_of(tar, non, sha256, *, kind="float64", figures=None, weights=None, **about):
    """A part of one shard, which is known by ``sha256``."""
    cut, n = len(tar), len(tar) + len(non)
    own = (None, None) if weights is None else (np.asarray(weights, float)[cut:], np.asarray(weights, float)[:cut])
    tables = tuple(Counted.of(np.array(one, kind), by) for one, by in zip((non, tar), own, strict=True))
    question = Question(
        figures or TwoClassFigures(), about.pop("systems", ("system",)), kind, has_weights=weights is not None, **about
    )
    return SummaryPart(question, (ShardRecord(f"{sha256}.parquet", n, 8 * n, sha256),), (tables,))
