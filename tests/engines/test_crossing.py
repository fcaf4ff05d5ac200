"""Equal error rates by every convention need the trials of one gap: they are those of memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.gaps import GapClass
from deciban.engines import crossing as module
from deciban.engines.counting import summarize_shards
from deciban.engines.crossing import KeepGap
from deciban.engines.threads import Threads
from deciban.errors import FormatError, InputError
from deciban.evaluation import TwoClassFigures, evaluate
from deciban.evaluation.two_class import evaluation_of
from support.shards import source_of

FIGURES = TwoClassFigures([0.5], eer_conventions=True)


def few_targets(seed, n=400):
    """Few targets among many others, so that gaps are wide; or the reverse."""
    rng = np.random.default_rng(seed)
    n_few = int(rng.integers(1, 8))
    few = rng.normal(1.0, 2.0, n_few)
    many = rng.normal(-1.0, 2.0, n)
    scores = np.round(np.concatenate((few, many)), rng.integers(0, 5))
    truth = np.arange(len(scores)) < n_few
    if rng.random() < 0.5:
        scores, truth = -scores, ~truth
    return rng, scores.astype(rng.choice([np.float32, np.float64])), truth


@given(st.integers(0, 2**32 - 1))
def test_all_conventions_are_those_of_memory(seed):
    rng, scores, truth = few_targets(seed)
    summary = summarize_shards(source_of(scores, truth, rng), Threads(2), 10**8, figures=FIGURES)
    whole = evaluate(scores[truth], scores[~truth], operating_points=FIGURES)
    assert evaluation_of(summary).requested.eer_conventions == whole.requested.eer_conventions


@given(st.integers(0, 2**32 - 1))
def test_only_the_gap_is_kept(seed):
    rng, scores, truth = few_targets(seed)
    summary = summarize_shards(source_of(scores, truth, rng), Threads(2), 10**8, figures=FIGURES)
    gapped = summary.ranks.tar if isinstance(summary.ranks.tar, GapClass) else summary.ranks.non
    plain = summarize_shards(source_of(scores, truth, rng), Threads(2), 10**8, figures=TwoClassFigures([0.5]))
    other = plain.ranks.tar if isinstance(plain.ranks.tar, GapClass) else plain.ranks.non
    assert gapped.total == other.total
    assert np.count_nonzero(other.unsure) - np.count_nonzero(gapped.unsure) in (0, 2)


def test_parts_of_the_gap_add_up():
    rng, scores, truth = few_targets(2)
    source, work = source_of(scores, truth, rng), KeepGap(0, False, -1.0, 1.0, scores.dtype)
    left, right = Threads(1).run(work.empty(), source.pieces[:2]), Threads(1).run(work.empty(), source.pieces[2:])
    expected = np.sort(scores[~truth & (scores >= -1.0) & (scores < 1.0)])
    np.testing.assert_array_equal((left + right).trials().scores, expected)


def test_too_many_trials_in_the_gap_are_refused(monkeypatch):
    rng = np.random.default_rng(1)
    scores, truth = np.append(rng.normal(size=400), [-9.0, 9.0]), np.arange(402) >= 400
    monkeypatch.setattr(module, "_BYTES_PER_SCORE", 10**9)
    with pytest.raises(InputError, match=r"eer_conventions: \d+ trials lie between"):
        summarize_shards(source_of(scores, truth, rng), Threads(1), 10**8, figures=FIGURES)


def test_trials_that_changed_are_noticed(monkeypatch):
    rng = np.random.default_rng(1)
    scores, truth = np.append(rng.normal(size=400), [-9.0, 9.0]), np.arange(402) >= 400
    monkeypatch.setattr(KeepGap, "take", lambda *_: None)
    with pytest.raises(FormatError, match="changed while it was read"):
        summarize_shards(source_of(scores, truth, rng), Threads(1), 10**8, figures=FIGURES)


def test_a_crossing_above_all_scores_of_float32_is_found_without_a_warning():
    rng, scores = np.random.default_rng(1), np.full(60, np.finfo(np.float32).max)
    scores, truth = np.append(scores, np.float32([1.0, 2.0])), np.arange(62) < 4
    scores[truth] = np.finfo(np.float32).max
    summary = summarize_shards(source_of(scores, truth, rng), Threads(1), 10**8, figures=FIGURES)
    whole = evaluate(scores[truth], scores[~truth], operating_points=FIGURES)
    assert evaluation_of(summary).requested.eer_conventions == whole.requested.eer_conventions
