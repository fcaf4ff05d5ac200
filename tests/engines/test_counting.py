"""Two classes in batches: the evaluation is that of the same trials in memory, to the bit."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.engines import Threads
from deciban.engines.sorting import Ascending, SortedFiles, summarize_source
from deciban.errors import InputError, KeyMismatchError
from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.two_class.evaluate import evaluation_of
from deciban.rules import ThresholdWeights
from deciban.trials.sources import batches
from support.array_sources import ArrayPartition, source_of
from support.strategies import fewer

SEEDS = st.integers(0, 2**32 - 1)
METRICS = TwoClassMetrics(
    [0.01, (0.05, 10, 1)],
    fnmr_at=[0.1],
    fmr_at=[0.1],
    posteriors_at=[0.3],
    at_thresholds={"a": 0.5},
    rule=ThresholdWeights([0.5]),
)
ROUNDED = {"cllr", "act_cross_entropy", "requested", "information_at"}
"""Sums, which agree to the last digits only."""


def trials(seed, share=0.2, most=3000):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, most))
    truth = rng.random(n) < rng.choice([share, 1 - share, 0.5])
    truth[:2] = [True, False]
    scores = np.where(truth, rng.normal(2.0, 2.0, n), rng.normal(-2.0, 2.0, n))
    scores = np.round(scores, rng.integers(0, 8)).astype(rng.choice([np.float32, np.float64]))
    scores[rng.random(n) < 0.002] = rng.choice([-np.inf, np.inf])
    return rng, scores, truth


def differing(one, other):
    """Names of fields in which two results are not the same to the bit."""
    found = set()
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "curves":
            found |= differing(a, b)
        elif isinstance(a, np.ndarray):
            found |= set() if np.array_equal(a, b) else {field.name}
        elif field.compare and a != b:
            found.add(field.name)
    return found


@fewer(0.6)
@given(SEEDS)
def test_figures_and_curves_are_those_of_memory(seed):
    rng, scores, truth = trials(seed)
    memory = int(rng.choice([300, 3000, 30_000, 10**8]))
    found = evaluation_of(summarize_source(source_of(scores, truth, rng), Threads(2), memory, metrics=METRICS))
    whole = evaluate(scores[truth], scores[~truth], operating_points=METRICS)
    assert differing(found, whole) <= ROUNDED
    assert found.cllr == pytest.approx(whole.cllr, rel=1e-14)
    np.testing.assert_allclose(found.curves.act_cross_entropy, whole.curves.act_cross_entropy, rtol=1e-6)
    for field in ("rates_at", "at_thresholds"):
        assert getattr(found.requested, field) == getattr(whole.requested, field)
    for one, other in zip(found.requested.posterior_scores, whole.requested.posterior_scores, strict=True):
        assert one.log_loss.total == pytest.approx(other.log_loss.total, rel=1e-14)
        assert one.brier.total == pytest.approx(other.brier.total, rel=1e-14)


@pytest.mark.parametrize("memory", [10, 10**8])
def test_of_infinite_scores_alone_nothing_else_is_asked(memory):
    rng = np.random.default_rng(7)
    truth = rng.random(100) < 0.3
    scores = np.where(rng.random(100) < 0.5, np.inf, -np.inf)
    found = evaluation_of(summarize_source(source_of(scores, truth, rng), Threads(2), memory, metrics=METRICS))
    whole = evaluate(scores[truth], scores[~truth], operating_points=METRICS)
    assert differing(found, whole) <= ROUNDED


@fewer(0.6)
@given(SEEDS)
def test_conventions_of_the_eer_are_those_of_memory(seed):
    rng, scores, truth = trials(seed, most=1500)
    asked = TwoClassMetrics(eer_conventions=True)
    found = evaluation_of(summarize_source(source_of(scores, truth, rng), Threads(2), 1000, metrics=asked))
    whole = evaluate(scores[truth], scores[~truth], operating_points=asked)
    assert found.requested.eer_conventions == whole.requested.eer_conventions


@pytest.mark.parametrize("kind", ["whole", "fractional"])
@given(seed=SEEDS)
def test_weights_are_sorted_with_their_scores(seed, kind):
    rng, scores, truth = trials(seed, most=500)
    weights = rng.integers(0, 4, len(truth)).astype(float) if kind == "whole" else rng.gamma(1.0, 1.0, len(truth))
    weights[:2] = 1.0
    source = source_of(scores, truth, rng, weights=weights)
    found = evaluation_of(summarize_source(source, Threads(2), int(rng.choice([300, 30_000, 10**8])), metrics=METRICS))
    by = {"tar_weights": weights[truth], "non_weights": weights[~truth]}
    whole = evaluate(scores[truth], scores[~truth], operating_points=METRICS, **by)
    if kind == "whole":
        assert differing(found, whole) <= ROUNDED | {"bins", "curves"}
    for name in ("eer", "auc", "n_tied", "prbep", "min_cllr", "cllr", "n_tar", "n_non"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-12)


def test_a_score_that_most_trials_have_is_one_range():
    rng = np.random.default_rng(3)
    scores, truth = rng.normal(size=5000).astype(np.float32), rng.random(5000) < 0.5
    scores[rng.random(5000) < 0.9] = 0.25
    found = evaluation_of(summarize_source(source_of(scores, truth, rng), Threads(2), 2000, metrics=METRICS))
    assert differing(found, evaluate(scores[truth], scores[~truth], operating_points=METRICS)) <= ROUNDED


def test_temporary_files_are_gone_at_the_end_and_after_errors(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rng, scores, truth = trials(2, most=500)
    source = source_of(scores, truth, rng)
    kept = summarize_source(source, Threads(2), 100)
    assert kept.errors(np.zeros(1)).p_miss >= 0.0, "what is mapped can still be asked"
    broken = replace(source, partitions=(*source.partitions[:-1], replace(source.partitions[-1], truth=None)))
    with pytest.raises(TypeError, match="truth: None"):
        summarize_source(broken, Threads(2), 100)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_ranges_are_made_of_many_batches_and_summed_up_in_many_steps(monkeypatch, weighted, seed):
    monkeypatch.setattr("deciban.engines.sorting._FEWEST_ROWS", 1000)
    monkeypatch.setattr("deciban.engines.sorting._FEWEST_STEP", 500)
    rng = np.random.default_rng(seed)
    truth = rng.random(30_000) < (0.5, 0.02, 0.9)[seed]
    scores = np.where(truth, 1.0, -1.0) + rng.normal(0.0, 1.5, len(truth))
    scores = scores.astype(np.float32) if seed else np.round(scores, 3)
    weights = rng.integers(0, 4, len(truth)).astype(float) if weighted else None
    source = source_of(scores, truth, rng, n_partitions=60, weights=weights)
    found = evaluation_of(summarize_source(source, Threads(2), 400_000, metrics=METRICS))
    by = {"tar_weights": weights[truth], "non_weights": weights[~truth]} if weighted else {}
    whole = evaluate(scores[truth], scores[~truth], operating_points=METRICS, **by)
    assert differing(found, whole) <= ROUNDED
    assert found.cllr == pytest.approx(whole.cllr, rel=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_range_that_the_sample_did_not_show_is_split_further(monkeypatch, weighted):
    """Pieces that are not looked at hold most trials, all of them within one of the ranges."""
    monkeypatch.setattr("deciban.engines.sorting._AT_ONCE", 700)
    rng = np.random.default_rng(12)
    partitions = []
    for at in range(48):
        n = 20 if at % 4 == 0 else 400
        truth = rng.random(n) < 0.4
        scores = np.where(truth, 1.0, -1.0) + rng.normal(0.0, 2.0, n)
        if at % 4:
            scores = np.round(scores / 1000, rng.integers(3, 7))  # with ties of both classes
        weight = rng.integers(0, 4, n).astype(float) if weighted else None
        partitions.append(ArrayPartition(f"piece {at}", n, (scores,), truth, weight=weight))
    source = replace(source_of(scores, truth, rng, weights=weight), partitions=tuple(partitions))
    found = evaluation_of(summarize_source(source, Threads(2), 100_000, metrics=METRICS))
    scores, truth = (
        np.concatenate([getattr(one, name) for one in partitions], axis=-1) for name in ("scores", "truth")
    )
    by = {}
    if weighted:
        weights = np.concatenate([one.weight for one in partitions])
        by = {"tar_weights": weights[truth], "non_weights": weights[~truth]}
    whole = evaluate(scores[0][truth], scores[0][~truth], operating_points=METRICS, **by)
    assert differing(found, whole) <= ROUNDED | ({"bins", "curves"} if weighted else set())
    assert found.cllr == pytest.approx(whole.cllr, rel=1e-14)


@pytest.mark.parametrize("memory", [10_000, 20_000, 40_000])
def test_a_last_batch_of_one_score_makes_no_range_of_one_score(monkeypatch, memory):
    """The sample does not show it, so that its score shares a range with others, which came before."""
    monkeypatch.setattr("deciban.engines.sorting._FEWEST_ROWS", 100)
    rng, partitions = np.random.default_rng(16), []
    for at in range(24):
        truth = rng.random(100) < 0.4
        scores = np.where(truth, 1.0, -1.0) + rng.normal(0.0, 2.0, 100) if at < 23 else np.full(100, 0.25)
        partitions.append(ArrayPartition(f"piece {at}", 100, (scores,), truth))
    source = replace(source_of(scores, truth, rng), partitions=tuple(partitions))
    found = evaluation_of(summarize_source(source, Threads(1), memory, metrics=METRICS))
    scores, truth = (
        np.concatenate([getattr(one, name) for one in partitions], axis=-1) for name in ("scores", "truth")
    )
    assert differing(found, evaluate(scores[0][truth], scores[0][~truth], operating_points=METRICS)) <= ROUNDED


def test_rates_at_requested_rates_are_exact_between_the_lines_of_plots():
    """Of so many trials only corners of the ROC near lines are kept, and the requested rates are lines, too."""
    rng = np.random.default_rng(13)
    truth = rng.random(200_000) < 0.5
    scores = np.where(truth, 1.0, -1.0) + rng.normal(0.0, 1.5, len(truth))
    asked = TwoClassMetrics(fnmr_at=[0.3007, 0.1234, 0.5551], fmr_at=[0.2004, 0.4321])
    summary = summarize_source(source_of(scores, truth, rng), Threads(2), 10**6, metrics=asked)
    whole = evaluate(scores[truth], scores[~truth], operating_points=asked)
    assert len(summary.ranks.table.n_tar) < len(truth) / 10
    assert evaluation_of(summary).requested.rates_at == whole.requested.rates_at


@pytest.mark.parametrize("fraction", [0, -1])
@pytest.mark.parametrize("memory", [100_000, 10**8])
def test_one_fraction_among_whole_weights_keeps_its_digits(monkeypatch, memory, fraction):
    """In the first batch or in the last one, and in one range of many."""
    monkeypatch.setattr("deciban.engines.sorting._FEWEST_ROWS", 100)
    rng = np.random.default_rng(14)
    truth, scores = rng.random(3000) < 0.5, rng.normal(size=3000)
    scores[truth] += 1.0
    weights = rng.integers(1, 4, 3000).astype(float)
    weights[np.flatnonzero(truth)[fraction]] = weights[np.flatnonzero(~truth)[fraction]] = 0.625
    rows = np.split(np.arange(3000), 10)
    partitions = tuple(
        ArrayPartition(f"{at}", 300, (scores[own],), truth[own], weight=weights[own]) for at, own in enumerate(rows)
    )
    source = replace(source_of(scores, truth, rng, weights=weights), partitions=partitions)
    found = evaluation_of(summarize_source(source, Threads(2), memory))
    whole = evaluate(scores[truth], scores[~truth], tar_weights=weights[truth], non_weights=weights[~truth])
    assert (found.n_tar, found.n_non) == (whole.n_tar, whole.n_non)
    assert found.n_tar != round(found.n_tar)
    for name in ("eer", "auc", "cllr", "min_cllr"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_target", [False, True])
@pytest.mark.parametrize("memory", [3000, 10**8])
def test_trials_of_one_class_have_no_figures(memory, is_target, weighted):
    """Also if those of the other class do not count."""
    rng = np.random.default_rng(15)
    truth = np.full(500, is_target)
    truth[:7] ^= weighted
    weights = np.where(truth == is_target, 1.0, 0.0) if weighted else None
    with pytest.raises(KeyMismatchError, match=("non-target" if is_target else " target")):
        summarize_source(source_of(rng.normal(size=500), truth, rng, weights=weights), Threads(2), memory)


def test_only_sorted_scores_are_left_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, own = [], SortedFiles.sort

    def sort(files, n_threads):
        found = own(files, n_threads)
        left.extend(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
        return found

    monkeypatch.setattr(SortedFiles, "sort", sort)
    rng, scores, truth = trials(2)
    summarize_source(source_of(scores, truth, rng), Threads(2), 3000)
    assert sum(left) == scores.nbytes


def test_a_full_disk_is_told_in_one_sentence(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("deciban.engines.sorting._File.put", full)
    rng, scores, truth = trials(2)
    with pytest.raises(OSError, match="no space for temporary files"):
        summarize_source(source_of(scores, truth, rng), Threads(2), 100)


def test_counts_by_value_are_those_of_sorting(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr("deciban.engines.sorting.FEWEST_ROWS", 0)
    rng = np.random.default_rng(4)
    truth = rng.random(300_000) < 0.1
    scores = np.where(truth, rng.normal(2, 1, len(truth)), rng.normal(-2, 1, len(truth))).astype(np.float32)
    for name in ("_by_files", "_held"):  # which would sort; also where all scores fit in memory
        monkeypatch.setattr(f"deciban.engines.sorting.{name}", None)
    found = evaluation_of(summarize_source(source_of(scores, truth, rng), Threads(2), 2 * 10**9, metrics=METRICS))
    whole = evaluate(scores[truth], scores[~truth], operating_points=METRICS)
    assert differing(found, whole) <= ROUNDED | {"bins", "curves", "min_cllr"}
    assert found.min_cllr == pytest.approx(whole.min_cllr, rel=1e-14)


def test_batches_hold_every_partition_once():
    rng, scores, truth = trials(1)
    source = source_of(scores, truth, rng, n_partitions=17)
    found = batches(source.partitions, 300)
    assert [one for batch in found for one in batch] == list(source.partitions)
    assert all(len(batch) == 1 or sum(one.n_rows for one in batch) <= 300 for batch in found)


def test_an_error_of_a_partition_ends_the_pass():
    rng, scores, truth = trials(2)
    source = source_of(scores, truth, rng)
    broken = replace(source.partitions[2], scores=[])
    partitions = (*source.partitions[:2], broken, *source.partitions[3:])
    with pytest.raises(IndexError):
        Threads(2).each(Ascending(0, np.float64), partitions, lambda _found: None)


def test_no_more_partitions_at_once_than_memory_holds():
    source = source_of(np.zeros(100_000), np.arange(100_000) < 5, np.random.default_rng(1), n_partitions=1)
    needed, engine = source.bytes_per_row() * source.partitions[0].n_rows, Threads(4)
    for n_at_once, memory in ((1, 2 * needed), (1, 5 * needed), (2, 2 * (2 * needed + 12 * 10**6)), (4, 10**9)):
        engine.make_room(source, memory)
        assert engine.n_at_once == n_at_once
    with pytest.raises(InputError, match=r"memory: .* has 100,000 rows in one row group.*, which takes 69 MB where"):
        engine.make_room(source, 2 * needed - 1)
    made = replace(source, classes=("a", "b", "c"))
    assert made.bytes_per_row() > 4 * source.bytes_per_row()
