"""No number of trials in pieces is a guess: what was not counted is counted again, or refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.engines import counting, evaluating, pruning
from deciban.engines.evaluating import evaluate_system, unknown_thresholds
from deciban.engines.threads import Threads
from deciban.engines.units import UnitsInPieces
from deciban.errors import InputError
from deciban.evaluation import TwoClassFigures, evaluate
from deciban.evaluation.unit_trials import Resampling
from support.shards import source_of


def trials(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(100, 1000))
    units = rng.integers(0, 12, (n, 2))
    truth = units[:, 0] == units[:, 1]
    truth[:2] = [True, False]
    scores = np.where(truth, 2.0, -2.0) + rng.normal(0.0, 2.0, n)
    return rng, scores, truth, units


@pytest.fixture
def forgetful(monkeypatch):
    """Thresholds that evaluations ask for are not rehearsed; returns how often everything was counted."""
    n = []

    def nothing(_survey, also=None):
        n.append(1)
        return np.zeros(0) if also is None else also

    monkeypatch.setattr(counting, "rehearsed", nothing)
    return n


@pytest.mark.parametrize("seed", range(5))
def test_thresholds_that_were_not_counted_are_counted_again(forgetful, seed):
    rng, scores, truth, _ = trials(seed)
    found = evaluate_system(source_of(scores, truth, rng), Threads(1), 10**8)
    whole = evaluate(scores[truth], scores[~truth])
    assert len(forgetful) == 2
    assert found.operating_points == whole.operating_points
    np.testing.assert_array_equal(found.curves.tar_density, whole.curves.tar_density)
    np.testing.assert_array_equal(found.curves.act_error, whole.curves.act_error)


def test_what_is_never_answered_is_refused(forgetful, monkeypatch):
    rng, scores, truth, _ = trials(1)
    monkeypatch.setattr(counting, "rehearsed", lambda *_: np.zeros(0))
    with pytest.raises(InputError, match="still ask at .* thresholds that were not counted"):
        evaluate_system(source_of(scores, truth, rng), Threads(1), 10**8)
    assert not forgetful


@given(st.integers(0, 2**32 - 1))
def test_nothing_is_asked_that_was_not_counted(seed):
    """With intervals, too: one round is enough."""
    rng, scores, truth, units = trials(seed)
    source, engine = source_of(scores, truth, rng, units=units), Threads(1)
    figures = TwoClassFigures([0.01, 0.3], fnmr_at=[0.2], at_thresholds={"a": 1.25}, eer_conventions=True)
    summaries, original = [], evaluating.summarize_shards

    def noted(*args, **kw):
        summaries.append(original(*args, **kw))
        return summaries[-1]

    evaluating.summarize_shards = noted
    try:
        units = UnitsInPieces.of(source, engine, 0)
        evaluate_system(source, engine, 10**8, figures=figures, by_unit=(units, Resampling()))
    finally:
        evaluating.summarize_shards = original
    assert len(summaries) == 1
    assert not len(unknown_thresholds(summaries[0]))


@pytest.mark.parametrize("seed", range(5))
def test_cells_that_a_threshold_splits_are_cut_there(monkeypatch, seed):
    """Where neither class fits, cells of which all trials count as tied tell what they do not know, too."""
    rng, scores, truth, _ = trials(seed)
    monkeypatch.setattr(counting, "bytes_per_cut", lambda _itemsize: 10**9)
    monkeypatch.setattr(pruning, "rehearsed", lambda _survey: np.zeros(0))
    monkeypatch.setattr(pruning, "fixed_thresholds", lambda _figures: np.zeros(0))
    monkeypatch.setattr(pruning, "FEWEST_CELLS", 100)
    monkeypatch.setattr(pruning, "_BYTES_PER_KNOWN_CELL", 0)
    summaries, original = [], evaluating.summarize_shards

    def noted(*args, **kw):
        summaries.append(original(*args, **kw))
        return summaries[-1]

    monkeypatch.setattr(evaluating, "summarize_shards", noted)
    found = evaluate_system(source_of(scores, truth, rng), Threads(1), 10**4)
    whole = evaluate(scores[truth], scores[~truth])
    assert len(unknown_thresholds(summaries[0]))
    assert len(summaries) > 1
    assert found.operating_points == whole.operating_points
    np.testing.assert_array_equal(found.curves.act_error, whole.curves.act_error)
