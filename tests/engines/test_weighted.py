"""Weighted trials in pieces: the evaluation is that of the same trials in memory, and weights of 2 are trials twice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.pruning import told_apart
from deciban.engines.counting import summarize_shards
from deciban.engines.evaluating import evaluate_system, unknown_thresholds
from deciban.engines.pruning import bounded_summary, refined, tally_of
from deciban.engines.threads import Threads
from deciban.engines.weighted import WeightedSurvey
from deciban.errors import KeyMismatchError
from deciban.evaluation import TwoClassFigures, evaluate
from deciban.evaluation.two_class import evaluation_of
from deciban.rules import ThresholdDensity
from support.shards import source_of

SEEDS = st.integers(0, 2**32 - 1)
FIGURES = TwoClassFigures(
    [0.01, (0.05, 10, 1)],
    fnmr_at=[0.1],
    fmr_at=[0.1],
    posteriors_at=[0.3],
    rule=ThresholdDensity([0.0, 1.0], [1.0, 2.0]),
    at_thresholds={"a": 0.5},
    eer_conventions=True,
)
EXACT = ("n_tar", "n_non", "n_tied", "n_infinite", "eer", "auc", "min_cllr", "prbep", "dr30", "operating_points")


def trials(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 2000))
    truth = rng.random(n) < rng.choice([0.2, 0.8, 0.5])
    scores = np.where(truth, rng.normal(2.0, 2.0, n), rng.normal(-2.0, 2.0, n))
    scores = np.round(scores, rng.integers(0, 8)).astype(rng.choice([np.float32, np.float64]))
    scores[rng.random(n) < 0.002] = rng.choice([-np.inf, np.inf])
    truth[:2] = [True, False]
    return rng, scores, truth


@pytest.fixture(autouse=True, scope="module")
def cells_cost_nothing():
    """So that few scores are too many, and few cells are not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deciban.engines.pruning._BYTES_PER_KNOWN_CELL", 0)
        yield


def in_memory(scores, truth, weights):
    how = {"tar_weights": weights[truth], "non_weights": weights[~truth]}
    return evaluate(scores[truth], scores[~truth], operating_points=FIGURES, **how)


@given(SEEDS)
def test_whole_weights_are_counted_to_the_bit(seed):
    rng, scores, truth = trials(seed)
    weights = rng.integers(0, 4, len(scores))
    weights[:2] = 1
    source = source_of(scores, truth, rng, weights=weights)
    summary = summarize_shards(source, Threads(2), 10**8, figures=FIGURES)
    found, whole = evaluation_of(summary), in_memory(scores, truth, weights)
    assert not len(unknown_thresholds(summary))
    for name in EXACT:
        assert getattr(found, name) == getattr(whole, name), name
    assert found.cllr == pytest.approx(whole.cllr, rel=1e-14)
    assert found.requested.eer_conventions == whole.requested.eer_conventions
    assert found.requested.rates_at == whole.requested.rates_at
    assert found.notes == whole.notes
    assert found.is_weighted
    for name in ("tar_density", "non_density", "act_error", "min_error"):
        np.testing.assert_array_equal(getattr(found.curves, name), getattr(whole.curves, name))


@given(SEEDS)
def test_weights_of_2_are_trials_twice(seed):
    rng, scores, truth = trials(seed)
    twice = source_of(np.tile(scores, 2), np.tile(truth, 2), rng)
    weighted = source_of(scores, truth, rng, weights=np.full(len(scores), 2))
    one, other = (evaluate_system(source, Threads(2), 10**8, figures=FIGURES) for source in (weighted, twice))
    for name in EXACT:
        assert getattr(one, name) == getattr(other, name), name
    assert one.cllr == pytest.approx(other.cllr, rel=1e-14)
    assert one.requested.eer_conventions == other.requested.eer_conventions


@given(SEEDS)
def test_fractional_weights_are_added_up(seed):
    rng, scores, truth = trials(seed)
    weights = rng.gamma(0.5, 2.0, len(scores)) + 1e-6
    weights[rng.random(len(scores)) < 0.1] = 0.0
    weights[:2] = 0.3
    if rng.random() < 0.3:  # those of one class are whole
        weights[truth] = np.ceil(weights[truth])
    source = source_of(scores, truth, rng, weights=weights)
    found, whole = evaluate_system(source, Threads(2), 10**8, figures=FIGURES), in_memory(scores, truth, weights)
    for name in ("n_tar", "n_non", "n_tied", "n_infinite", "eer", "auc", "cllr", "min_cllr", "prbep"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-12, abs=1e-12), name
    for one, other in zip(found.operating_points, whole.operating_points, strict=True):
        for name in ("act_dcf", "min_dcf", "p_miss", "p_fa"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12, abs=1e-12)
    for name, rate in whole.requested.eer_conventions.items():
        assert found.requested.eer_conventions[name] == pytest.approx(rate, rel=1e-12, abs=1e-12)


@given(SEEDS)
def test_passes_over_parts_add_up_to_the_pass_over_all(seed):
    rng, scores, truth = trials(seed)
    source = source_of(scores, truth, rng, weights=rng.integers(0, 3, len(scores)))
    kind = np.float64 if source.is_double else np.float32
    work = WeightedSurvey(0, True, FIGURES, kind, 10**6)
    apart = [work.empty() for _ in range(2)]
    for at, piece in enumerate(source.pieces):
        work.take([piece])
        apart[at % 2].take([piece])
    both = apart[1] + apart[0]
    assert both.n == work.n
    assert both.finite == work.finite
    np.testing.assert_array_equal(both.kept_class().scores, work.kept_class().scores)
    np.testing.assert_array_equal(both.kept_class().weights, work.kept_class().weights)
    assert [one.weight for one in both.costs] == [one.weight for one in work.costs]


def test_a_class_of_infinite_scores_alone():
    scores = np.array([np.inf, np.inf, -np.inf, -np.inf, -np.inf])
    truth = np.array([True, True, False, False, False])
    weights = np.array([1.5, 0.5, 1.0, 2.0, 0.5])
    for some in (weights, None):
        source = source_of(scores, truth, np.random.default_rng(0), weights=some)
        found = evaluate_system(source, Threads(1), 10**8, figures=FIGURES)
        whole = in_memory(scores, truth, np.ones(5) if some is None else some)
        assert (found.eer, found.n_infinite, found.auc) == (whole.eer, whole.n_infinite, whole.auc)


@given(SEEDS, st.sampled_from([30, 300]), st.sampled_from([192 * 400, 10**9]))
def test_where_neither_class_fits_whole_weights_are_counted_to_the_bit(seed, room, memory):
    rng, scores, truth = trials(seed)
    weights = rng.integers(0, 4, len(scores))
    weights[:2] = 1
    cells, survey, source = tallied(scores, truth, weights, rng, room)
    summary = refined(cells, survey, source, Threads(2), memory)
    found, whole = evaluation_of(summary), in_memory(scores, truth, weights)
    for name in EXACT:
        if name not in found.bounds:
            assert getattr(found, name) == getattr(whole, name), name
    assert found.requested.eer_conventions == whole.requested.eer_conventions
    assert found.requested.rates_at == whole.requested.rates_at
    assert found.cllr == pytest.approx(whole.cllr, rel=1e-14)
    assert np.array_equal(found.curves.hull_p_fa, whole.curves.hull_p_fa)
    assert set(found.bounds) <= {"auc", "n_tied"}
    for name, (low, high) in found.bounds.items():
        assert low <= getattr(whole, name) <= high
    assert found.is_weighted


@given(SEEDS, st.sampled_from([30, 300]), st.sampled_from([192 * 400, 10**9]))
def test_where_neither_class_fits_fractional_weights_are_added_up(seed, room, memory):
    rng, scores, truth = trials(seed)
    weights = rng.gamma(0.5, 2.0, len(scores)) + 1e-6
    weights[:2] = 0.3
    cells, survey, source = tallied(scores, truth, weights, rng, room)
    found = evaluation_of(refined(cells, survey, source, Threads(2), memory))
    bounded = evaluation_of(bounded_summary(cells, survey))
    whole = in_memory(scores, truth, weights)
    for name in ("n_tar", "n_non", "n_tied", "n_infinite", "eer", "auc", "cllr", "min_cllr", "prbep"):
        for one in (found, bounded):
            low, high = one.bounds.get(name, (None, None))
            if low is None:
                assert getattr(one, name) == pytest.approx(getattr(whole, name), rel=1e-12, abs=1e-12), name
            else:
                assert low - 1e-12 <= getattr(whole, name) <= high + 1e-12
    for one, other in zip(found.operating_points, whole.operating_points, strict=True):
        for name in ("act_dcf", "min_dcf", "p_miss", "p_fa"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12, abs=1e-12)


def tallied(scores, truth, weights, rng, room):
    source = source_of(scores, truth, rng, weights=weights)
    tally = Threads(2).run(tally_of(0, FIGURES, scores.dtype, room, has_weights=True), source.pieces)
    return told_apart(tally.merged()), tally.survey, source


@pytest.mark.parametrize(("most", "is_kept"), [(3, False), (4, True), (5, True)])
def test_scores_of_the_rarer_class_are_kept_as_long_as_there_is_room(most, is_kept):
    survey = WeightedSurvey(0, True, TwoClassFigures(), np.float64, most)
    scores, truth = np.arange(10.0), np.arange(10) < 4
    for rows in (slice(0, 2), slice(2, 10)):
        survey.add_weighted(scores[rows], truth[rows], np.full(len(scores[rows]), 2))
        assert (survey.kept is not None) == (is_kept or rows.start == 0)
    assert sum(map(len, survey.kept_weights)) == (4 if is_kept else 0)


def test_memory_decides_which_way_is_taken():
    rng, scores, truth = trials(3)
    source = source_of(scores, truth, rng, weights=np.ones(len(scores)))
    ways = [evaluation_of(summarize_shards(source, Threads(1), memory)) for memory in (1000, 10**8)]
    assert ways[0].eer == ways[1].eer == in_memory(scores, truth, np.ones(len(truth))).eer
    bounded = evaluation_of(summarize_shards(source, Threads(1), 10**8, approximate=True, figures=TwoClassFigures()))
    assert bounded.is_weighted


def test_weights_that_leave_one_class_alone_are_refused_as_such():
    rng, scores, truth = trials(5)
    weights = np.where(truth, 2.0, 0.0)
    with pytest.raises(KeyMismatchError, match="no non-target trial among"):
        evaluate_system(source_of(scores, truth, rng, weights=weights), Threads(1), 10**8)


@pytest.mark.parametrize("memory", [10, 10**8])
def test_a_class_of_weight_0_alone_is_refused(memory):
    rng, weights = np.random.default_rng(1), np.append(np.zeros(2), np.ones(50))
    source = source_of(rng.normal(size=52), np.arange(52) < 2, rng, weights=weights)
    with pytest.raises(KeyMismatchError, match="no target trial among 50 of weight above 0.*and the weights"):
        evaluate_system(source, Threads(1), memory)
