"""Parts of summaries from arrays."""

import numpy as np

from deciban.engines.pruning import tally_of
from deciban.evaluation.summary import TwoClassFigures
from deciban.io.summary_parts import SummaryPart
from deciban.io.summary_records import Question, ShardRecord, Sums
from support.shards import source_of


def part_of(tar, non, sha256, *, kind="float64", figures=None, room=50, systems=("system",), reading=()):
    """A part of one shard, which is known by ``sha256``."""
    asked = figures or TwoClassFigures()
    scores, truth = np.array([*tar, *non], kind), np.arange(len(tar) + len(non)) < len(tar)
    tally = tally_of(0, asked, np.dtype(kind), room)
    tally.take(source_of(scores, truth, np.random.default_rng(0), n_pieces=2).pieces)
    survey = tally.survey
    sums = Sums(tuple(survey.n), tuple(survey.costs), tuple(survey.posteriors), survey.finite)
    shard = ShardRecord(f"{sha256}.parquet", len(scores), 8 * len(scores), sha256, (sums,))
    return SummaryPart(Question(asked, systems, kind, room, reading), (shard,), (tally.merged(),))
