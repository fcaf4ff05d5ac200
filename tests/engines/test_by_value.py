"""One pass by counts of scores: the evaluation is that of the same trials in memory, to the bit."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.ranks import value_counts
from deciban.engines import by_value
from deciban.engines.by_value import SurveyByValue, summarize_by_value
from deciban.engines.counting import Survey, summarize_shards
from deciban.engines.threads import Threads
from deciban.errors import KeyMismatchError
from deciban.evaluation import TwoClassFigures, evaluate
from deciban.evaluation.two_class import evaluation_of
from engines.test_counting import FIGURES, ROUNDED, differing, trials
from support.loops import loops_of, with_and_without
from support.shards import Apart, source_of

SEEDS = st.integers(0, 2**32 - 1)
SMALL = {"_LEAST": 4, "_MOST_REST": 50, "_WAITING": 40}


def floats(seed):
    rng, scores, truth = trials(seed)
    return rng, scores.astype(np.float32), truth


def asked(keep_tar=True, figures=FIGURES, most=10**6):
    return Survey(0, keep_tar, figures, np.float32, most)


def summarized(source, engine, survey, memory=10**9, how="numpy", rows=1):
    loops = loops_of(how)
    with (
        patch.object(by_value, "compiled", lambda: loops),
        patch.object(by_value, "FEWEST_ROWS", rows),
        patch.multiple(value_counts, **SMALL),
    ):
        return summarize_by_value(source, engine, memory, survey, n_rarer=10, also=None)


@with_and_without
@pytest.mark.parametrize("engine", [Threads(2), Apart(2)])
@settings(max_examples=20)
@given(SEEDS, st.booleans())
def test_figures_and_curves_are_those_of_memory(how, engine, seed, keep_tar):
    rng, scores, truth = floats(seed)
    found = evaluation_of(summarized(source_of(scores, truth, rng), engine, asked(keep_tar), how=how))
    whole = evaluate(scores[truth], scores[~truth], operating_points=FIGURES)
    assert differing(found, whole) <= ROUNDED
    assert found.cllr == pytest.approx(whole.cllr, rel=1e-14)
    np.testing.assert_allclose(found.curves.act_cross_entropy, whole.curves.act_cross_entropy, rtol=1e-6)
    for one, other in zip(found.requested.posterior_scores, whole.requested.posterior_scores, strict=True):
        assert one.log_loss.total == pytest.approx(other.log_loss.total, rel=1e-14)


@with_and_without
@pytest.mark.parametrize("seed", [1, 2])
def test_passes_over_parts_add_up_to_the_pass_over_all(seed, how):
    rng, scores, truth = floats(seed)
    source = source_of(scores, truth, rng)
    whole = SurveyByValue(0, True, FIGURES, np.float32, 10**6, room=10**9, loops=loops_of(how))
    parts = [whole.empty(), whole.empty()]
    for at, piece in enumerate(source.pieces):
        whole.take([piece])
        parts[at % 2].take([piece])
    both = parts[1] + parts[0]
    for one, other in zip(both.settled(Threads(1), None), whole.settled(Threads(2), None), strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
        assert one.total == other.total
    assert [one.value for one in both.costs] == [one.value for one in whole.costs]


def test_conventions_of_the_eer_are_those_of_memory():
    rng, scores, truth = floats(3)
    figures = TwoClassFigures(eer_conventions=True)
    with patch.object(by_value, "FEWEST_ROWS", 1):
        found = evaluation_of(summarize_shards(source_of(scores, truth, rng), Threads(2), 10**9, figures=figures))
    whole = evaluate(scores[truth], scores[~truth], operating_points=figures)
    assert found.requested.eer_conventions == whole.requested.eer_conventions


def test_two_passes_are_made_where_one_does_not_suit():
    rng, scores, truth = floats(4)
    source = source_of(scores, truth, rng)
    assert summarized(source, Threads(2), asked()) is not None
    assert summarized(source, Apart(), asked()) is not None
    assert summarized(source, Threads(2), asked(), rows=len(scores)) is not None
    assert summarized(source, Apart(), asked(), rows=len(scores)) is None  # too few for each of two sums
    with patch.object(by_value, "_SUMS_AT_ONCE", 10**9):  # no worker has room to add them
        assert summarized(source, Apart(), asked()) is None
    assert summarized(replace(source, is_double=True), Threads(2), asked()) is None
    assert summarized(source, Threads(2), asked(), memory=10**6) is None
    assert summarized(source, Threads(2), asked(most=1)) is None  # more targets than expected
    assert summarize_by_value(source, Threads(2), 10**9, asked(), n_rarer=10, also=None) is None  # few trials


def test_scores_unlike_the_first_are_counted_in_two_passes():
    rng = np.random.default_rng(5)
    truth = np.arange(60_000) % 50 == 0
    scores = rng.normal(size=len(truth)).astype(np.float32)
    source = source_of(scores, truth, rng, n_pieces=1)
    piece = source.pieces[0]
    first = replace(piece, n_rows=2, scores=[scores[:2]], truth=truth[:2])
    unlike = replace(
        source, pieces=(first, replace(piece, n_rows=len(scores) - 2, scores=[scores[2:]], truth=truth[2:]))
    )
    memory = 2 * by_value._BYTES_PER_ROW * by_value._ROWS_PER_BATCH + 600_000
    assert summarized(unlike, Threads(2), asked(), memory=memory) is None
    assert summarized(unlike, Threads(2), asked(), memory=memory + 10**8) is not None


def test_one_class_alone_is_refused():
    rng, scores, truth = floats(6)
    with pytest.raises(KeyMismatchError, match="target"):
        summarized(source_of(scores, truth | True, rng), Threads(2), asked())
