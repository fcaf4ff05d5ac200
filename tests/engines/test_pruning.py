"""Both classes too large: what cells and few kept scores give is what all scores give, or bounds around it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.ranks.pruning import are_open, told_apart
from deciban.engines import pruning
from deciban.engines.counting import summarize_shards
from deciban.engines.pruning import bounded_summary, refined, rows_to_keep, summarize_by_cells, tally_of
from deciban.engines.threads import Threads
from deciban.errors import InputError
from deciban.evaluation.summary import TwoClassFigures, summarize
from deciban.evaluation.two_class import evaluation_of
from deciban.io.memory import LIBRARIES
from support.shards import source_of

_ASKED = TwoClassFigures(
    [0.01, (0.5, 1, 2)],
    eer_conventions=True,
    fnmr_at=[0.0, 0.02, 0.3, 1.0],
    fmr_at=[0.1, 0.001],
    at_thresholds={"there": 0.25},
    posteriors_at=[0.1],
)
_PLAIN = TwoClassFigures([0.01, (0.5, 1, 2)], at_thresholds={"there": 0.25})


@st.composite
def trials(draw):
    """Scores with ties, infinite ones, of one or two widths; classes that are mixed, apart or reversed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([2, 7, 60, 400, 3000, 9000]))
    truth = rng.random(n) < draw(st.sampled_from([0.5, 0.2, 0.9]))
    truth[:2] = [True, False]
    scores = rng.normal(size=n) * 1.5 + np.where(truth, 1.0, -1.0) * draw(st.sampled_from([1.0, 0.0, 5.0, -0.5]))
    if (digits := draw(st.sampled_from([None, 3, 1, 0]))) is not None:
        scores = scores.round(digits)
    for value in draw(st.sampled_from([(), (np.inf,), (-np.inf,), (np.inf, -np.inf, 0.0, -0.0)])):
        scores[rng.random(n) < 0.03] = value
    return scores.astype(draw(st.sampled_from([np.float64, np.float32]))), truth, rng


def tallied(scores, truth, rng, room, figures):
    source = source_of(scores, truth, rng)
    tally = Threads(2).run(tally_of(0, figures, scores.dtype, room), source.pieces)
    return told_apart(tally.merged()), tally.survey, source


def assert_same(found, expected, but=()):
    for field in dataclasses.fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name in but or not field.compare:
            continue
        if field.name == "information_at":  # of the same cells as the curve of cross-entropy
            told = ([(at.entropy, at.delivered, at.available) for at in both] for both in (one, other))
            np.testing.assert_allclose(*told, rtol=1e-12, atol=1e-2)
        elif field.name == "cllr":
            assert one == pytest.approx(other, rel=1e-14)
        elif field.name == "curves":
            assert_same_curves(one, other)
        else:
            assert_equal(one, other, field.name)


def assert_equal(one, other, name):
    if name == "requested":
        for about, that in zip(one.posterior_scores, other.posterior_scores, strict=True):
            for rule in ("log_loss", "brier"):
                a, b = (dataclasses.astuple(getattr(each, rule)) for each in (about, that))
                assert a == pytest.approx(b, rel=1e-12, abs=1e-15)
        one, other = (dataclasses.replace(each, posterior_scores=()) for each in (one, other))
    assert one == other, name


def assert_same_curves(one, other):
    for field in dataclasses.fields(other):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name != "act_cross_entropy":
            assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, field.name


@given(trials(), st.sampled_from([(1, 10**9), (30, 10**9), (100, 96 * 2000), (300, 96 * 200), (3000, 96)]))
def test_refined_figures_and_curves_are_those_of_all_scores(given_trials, room_and_memory):
    (scores, truth, rng), (room, memory) = given_trials, room_and_memory
    cells, survey, source = tallied(scores, truth, rng, room, _ASKED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "_BYTES_PER_KNOWN_CELL", 0)  # however few scores may be kept
        found = evaluation_of(refined(cells, survey, source, Threads(2), memory))
    expected = evaluation_of(summarize(scores[truth], scores[~truth], figures=_ASKED))
    assert_same(found, expected, but=("auc", "n_tied", "notes", "bounds"))
    # Of few trials this curve is one of all scores, of many one of the means in narrow cells: those are exact.
    few = len(truth) <= 8192
    curves = (one.curves.act_cross_entropy for one in (found, expected))
    np.testing.assert_allclose(*curves, rtol=1e-2 if few else 1e-11, atol=1e-2 if few else 0.0)
    if not found.bounds:
        assert (found.auc, found.n_tied) == (expected.auc, expected.n_tied)
        return
    assert set(found.bounds) == {"auc", "n_tied"}
    assert np.isnan(found.auc)
    assert np.isnan(found.n_tied)
    assert "AUC is known within" in found.notes[-1]
    assert found.notes[:-1] == expected.notes
    for figure, (low, high) in found.bounds.items():
        assert low <= getattr(expected, figure) <= high


@given(trials(), st.sampled_from([1, 30, 300]))
def test_bounds_of_one_pass_hold_the_figures_of_all_scores(given_trials, room):
    scores, truth, rng = given_trials
    cells, survey, _ = tallied(scores, truth, rng, room, _PLAIN)
    found = evaluation_of(bounded_summary(cells, survey))
    expected = evaluation_of(summarize(scores[truth], scores[~truth], figures=_PLAIN))
    for figure, (low, high) in found.bounds.items():
        if isinstance(figure, tuple):
            one, other = (getattr(each.operating_points[figure[1]], figure[0]) for each in (found, expected))
        else:
            one, other = getattr(found, figure), getattr(expected, figure)
        assert low <= other <= high, figure
        assert low < high
        assert np.isnan(one), figure
    for figure in ("eer", "auc", "min_cllr", "prbep", "n_tied", "calibration_loss", "mean_min_dcf"):
        if figure not in found.bounds:
            assert getattr(found, figure) == pytest.approx(getattr(expected, figure), rel=1e-14), figure
    exact = ("n_tar", "n_non", "n_infinite", "misleading", "requested")
    assert [getattr(found, name) for name in exact] == [getattr(expected, name) for name in exact]
    actual = ("threshold", "act_dcf", "n_miss", "n_fa", "p_miss", "p_fa")
    for one, other in zip(found.operating_points, expected.operating_points, strict=True):
        assert [getattr(one, name) for name in actual] == [getattr(other, name) for name in actual]
    for name in ("act_error", "prior_log_odds"):
        assert np.array_equal(getattr(found.curves, name), getattr(expected.curves, name))


def test_bounds_are_narrow_and_few_scores_are_kept():
    rng = np.random.default_rng(3)
    truth = rng.random(300_000) < 0.5
    scores = (rng.normal(size=len(truth)) * 1.6 + np.where(truth, 2.0, -2.0)).astype(np.float32)
    cells, survey, _ = tallied(scores, truth, rng, 20_000, _PLAIN)
    found = evaluation_of(bounded_summary(cells, survey))
    low, high = found.bounds["min_cllr"]
    assert (high - low) / high < 2e-3
    assert are_open(cells).sum() > 4000
    assert int(cells.counts[:, rows_to_keep(cells, survey)].sum()) < 0.6 * len(truth)


def test_parts_of_a_pass_add_up_in_any_order():
    rng = np.random.default_rng(4)
    scores, truth = rng.normal(size=5000), rng.random(5000) < 0.4
    source = source_of(scores, truth, rng, n_pieces=6)
    whole = tally_of(0, _PLAIN, np.float64, 200)
    whole.take(source.pieces)
    parts = []
    for piece in source.pieces:
        one = tally_of(0, _PLAIN, np.float64, 200)
        one.take([piece])
        parts.append(one)
    together = parts[3] + (parts[5] + (parts[0] + parts[1])) + parts[2].empty() + (parts[4] + parts[2])
    for name in ("starts", "counts", "low", "high", "mantissas"):
        assert np.array_equal(getattr(together.merged(), name), getattr(whole.merged(), name))
    assert together.survey.n == whole.survey.n


def test_what_has_no_bounds_is_refused():
    rng = np.random.default_rng(5)
    source = source_of(rng.normal(size=50), rng.random(50) < 0.5, rng)
    with pytest.raises(InputError, match="one pass knows no bounds of what fnmr_at and posteriors_at"):
        asked = TwoClassFigures(fnmr_at=[0.1], posteriors_at=[0.5])
        summarize_by_cells(source, Threads(1), 10**8, system=0, figures=asked, approximate=True)


def test_memory_decides_which_way_is_taken():
    rng = np.random.default_rng(6)
    truth = rng.random(40_000) < 0.5
    scores = rng.normal(size=len(truth)) + truth
    source, expected = source_of(scores, truth, rng), evaluation_of(summarize(scores[truth], scores[~truth]))
    for memory in (5 * 10**6, 10**9):
        found = evaluation_of(summarize_shards(source, Threads(2), memory))
        assert (found.eer, found.min_cllr, found.dr30) == (expected.eer, expected.min_cllr, expected.dr30)


def test_cells_that_are_too_many_are_refused_with_what_is_enough():
    rng = np.random.default_rng(7)
    truth = rng.random(40_000) < 0.5
    source = source_of(rng.normal(size=len(truth)) + truth, truth, rng)
    with pytest.raises(InputError, match=r"neither class of .* have to be known.* (\d+) MB are enough") as refused:
        summarize_shards(source, Threads(2), 10**6)
    enough = int(str(refused.value).split(" MB are enough")[0].split()[-1].replace(",", ""))
    summarize_shards(source, Threads(2), enough * 10**6 - LIBRARIES)


def test_rows_that_are_sorted_at_once_fit():
    source = source_of(np.zeros(10), np.arange(10) < 5, np.random.default_rng(8))
    for memory in (10**8, 10**9):
        for n_threads in (1, 2, 8):
            engine = Threads(n_threads)
            assert (
                engine.n_at_once * pruning.rows_at_once(source, engine, memory) * source.bytes_per_row() <= memory / 4
            )
