"""Parts of summaries from arrays."""

from dataclasses import replace

import numpy as np

from deciban.core.ranks.kept_scores import KeptScores
from deciban.engines.pruning import tally_of
from deciban.evaluation.summary import TwoClassFigures
from deciban.io.summary_parts import Further, SummaryPart
from deciban.io.summary_records import Question, ShardRecord, Sums
from support.shards import source_of


def part_of(tar, non, sha256, *, kind="float64", figures=None, room=50, weights=None, **about):
    """A part of one shard, which is known by ``sha256``."""
    asked = figures or TwoClassFigures()
    scores, truth = np.array([*tar, *non], kind), np.arange(len(tar) + len(non)) < len(tar)
    tally = tally_of(0, asked, np.dtype(kind), room, has_weights=weights is not None)
    tally.take(source_of(scores, truth, np.random.default_rng(0), n_pieces=2, weights=weights).pieces)
    survey = tally.survey
    sums = Sums(tuple(survey.n), tuple(survey.costs), tuple(survey.posteriors), survey.finite)
    shard = ShardRecord(f"{sha256}.parquet", len(scores), 8 * len(scores), sha256, (sums,))
    question = Question(asked, about.pop("systems", ("system",)), kind, room, has_weights=weights is not None, **about)
    return SummaryPart(question, (shard,), (tally.merged(),))


def further_of(part, sha256, non, tar, kind="float64"):
    """The part after a further pass over one shard that kept these scores."""
    again = (np.ones(part.cells[0].n_cells, np.bool_),)
    kept = (KeptScores((np.array(non, kind), np.array(tar, kind))),)
    return replace(part, further=Further(100, again, (sha256,), kept))
