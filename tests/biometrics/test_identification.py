"""Identification against searches written out, and the laws that it obeys."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.biometrics import cmc, dir_fpir, identification
from deciban.errors import InputError


@st.composite
def searches(draw):
    """A matrix of scores with many ties, and subjects of probes and of the gallery, of which some have two entries."""
    n_probes, n_gallery = draw(st.integers(1, 8)), draw(st.integers(1, 7))
    scores = draw(
        st.lists(
            st.lists(st.integers(0, 5), min_size=n_gallery, max_size=n_gallery), min_size=n_probes, max_size=n_probes
        )
    )
    gallery = draw(st.lists(st.sampled_from("abcd"), min_size=n_gallery, max_size=n_gallery))
    probes = draw(st.lists(st.sampled_from("abcdxy"), min_size=n_probes, max_size=n_probes))
    return np.array(scores, float), probes, gallery


def ranks(scores, probes, gallery):
    """Candidates at least as good as the mate, by subject; 0 without a mate."""
    for row, probe in zip(scores.tolist(), probes, strict=True):
        best = {}
        for subject, score in zip(gallery, row, strict=True):
            best[subject] = max(score, best.get(subject, -math.inf))
        yield sum(score >= best[probe] for score in best.values()) if probe in best else 0


@given(searches())
def test_ranks_are_counts_of_candidates(found):
    scores, probes, gallery = found
    expected = list(ranks(scores, probes, gallery))
    mated = [rank for rank in expected if rank]
    if not mated:
        with pytest.raises(InputError, match="no probe has a mate"):
            cmc(scores, probes, gallery)
        return
    made = cmc(scores, probes, gallery)
    assert made.ranks.tolist() == expected
    assert made.n_subjects == len(made) == len({*gallery})
    rates = [sum(rank <= k for rank in mated) / len(mated) for k in range(1, len(made) + 1)]
    assert np.asarray(made) == pytest.approx(rates)
    assert made.rates.n_events.tolist() == [sum(rank <= k for rank in mated) for k in range(1, len(made) + 1)]
    assert made[-1] == 1.0


@given(searches(), st.integers(1, 4), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_open_sets_are_counts_at_a_threshold(found, rank, limit):
    scores, probes, gallery = found
    is_mated = [probe in gallery for probe in probes]
    if all(is_mated) or not any(is_mated):
        with pytest.raises(InputError, match=r"mate"):
            dir_fpir(scores, probes, gallery, fpir=limit)
        return
    (made,) = dir_fpir(scores, probes, gallery, fpir=limit, rank=rank)
    best = [max(row) for row in scores.tolist()]
    false = [value for value, mated in zip(best, is_mated, strict=True) if not mated]
    assert made.n_false == sum(value >= made.threshold for value in false)
    assert made.fpir <= limit
    position = list(ranks(scores, probes, gallery))
    mates = [
        (max(s for s, g in zip(row, gallery, strict=True) if g == probe), k)
        for row, probe, k in zip(scores.tolist(), probes, position, strict=True)
        if k
    ]
    allowed = [
        t for t in [*sorted({m for m, _ in mates}), math.inf] if sum(v >= t for v in false) <= limit * len(false) + 1e-9
    ]
    hits = max(sum(m >= t and k <= rank for m, k in mates) for t in allowed)
    assert made.n_identified == hits
    assert made.rate == pytest.approx(hits / len(mates))


@given(searches(), st.integers(1, 20))
def test_batches_and_the_order_of_the_gallery_change_nothing(found, n_cells):
    scores, probes, gallery = found
    if not {*probes} & {*gallery}:
        return
    one = cmc(scores, probes, gallery)
    usual = identification._CELLS
    try:
        identification._CELLS = n_cells
        other = cmc(scores, probes, gallery)
    finally:
        identification._CELLS = usual
    order = np.random.default_rng(0).permutation(len(gallery))
    mixed = cmc(scores[:, order], probes, [gallery[k] for k in order])
    assert one.ranks.tolist() == other.ranks.tolist() == mixed.ranks.tolist()


def test_a_matrix_is_read_in_batches_of_rows(monkeypatch, tmp_path):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(300, 50)).astype(np.float32)
    scores[np.arange(300), np.arange(300) % 50] += 3
    np.save(tmp_path / "scores.npy", scores)
    monkeypatch.setattr(identification, "_CELLS", 1000)
    ids = np.arange(300) % 50, np.arange(50)
    found = cmc(np.load(tmp_path / "scores.npy", mmap_mode="r"), *ids)
    assert found.ranks.tolist() == cmc(scores, *ids).ranks.tolist()
    assert (found.rates.low <= found.rates.value).all()
    assert (found.rates.value <= found.rates.high).all()


def test_intervals_are_by_subject():
    """Probes that are copies of each other add no information."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(40, 40)) + 2 * np.eye(40)
    one = cmc(scores, np.arange(40), np.arange(40)).rates
    many = cmc(np.repeat(scores, 25, axis=0), np.repeat(np.arange(40), 25), np.arange(40)).rates
    assert many.value == pytest.approx(one.value)
    assert many.low[0] == pytest.approx(one.low[0], abs=0.02)
    few = cmc(scores[:3], np.arange(3), np.arange(40)).rates
    assert np.isnan(few.low).all()


NAMES = ["a", "b"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cmc([1.0, 2.0], NAMES, NAMES), "must be a matrix"),
        (lambda: cmc(np.zeros((0, 2)), [], NAMES), "must be a matrix"),
        (lambda: cmc([[1.0, math.nan], [0.0, 1.0]], NAMES, NAMES), "NaN at probe 0, gallery entry 1"),
        (lambda: cmc([[1.0, 2.0], [3.0]], NAMES, NAMES), "rows have 1 or 2 scores. They must be a matrix"),
        (lambda: cmc([["x", "y"]], ["a"], NAMES), "must be real numbers"),
        (lambda: cmc([[1.0, 2.0]], ["a", "b"], NAMES), "probe_id: shape"),
        (lambda: cmc([[1.0, 2.0]], [1], NAMES), "names in one and numbers in the other"),
        (lambda: cmc([[1.0, 2.0]], [1.5], [1, 2]), "probe_id: shape"),
        (lambda: cmc([[1.0, 2.0]], ["a"], [[1], [1, 2]]), "gallery_id: shape"),
        (lambda: cmc([[1.0, 2.0]], ["c"], NAMES), "no probe has a mate"),
        (lambda: cmc([[1.0, 2.0]], ["a"], NAMES, level=1.5), "level"),
        (lambda: dir_fpir([[1.0, 2.0]], ["a"], NAMES), "every probe has a mate"),
        (lambda: dir_fpir([[1.0, 2.0], [0.0, 1.0]], ["a", "x"], NAMES, fpir=2.0), "fpir"),
        (lambda: dir_fpir([[1.0, 2.0], [0.0, 1.0]], ["a", "x"], NAMES, rank=0), "rank: got 0"),
    ],
)
def test_what_is_not_valid_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_infinite_scores_do_not_pass_an_infinite_threshold():
    scores = [[1.0, 0.0], [math.inf, 0.0], [0.2, 0.1], [0.1, 0.0]]
    (found,) = dir_fpir(scores, ["a", "x", "y", "z"], ["a", "b"], fpir=0.1)
    assert (found.threshold, found.n_false, found.fpir, found.rate) == (math.inf, 0, 0.0, 0.0)


def test_a_limit_that_all_probes_meet_accepts_all():
    scores = [[5.0, 0.0], [1.0, 0.0], [0.2, 0.1], [0.1, 0.0]]
    (found,) = dir_fpir(scores, ["a", "x", "y", "z"], ["a", "b"], fpir=1.0)
    assert (found.threshold, found.n_false, found.fpir, found.rate) == (0.1, 3, 1.0, 1.0)


def test_infinite_mates_are_identified_above_all_finite_scores():
    scores = [[np.inf, 0.0], [0.0, 1.0], [3.0, 0.0], [2.0, 2.0]]
    (found,) = dir_fpir(scores, ["a", "b", "x", "y"], ["a", "b"], fpir=0.0)
    assert (found.rate, found.n_false, found.threshold) == (0.5, 0, np.inf)
    (none,) = dir_fpir([*scores, [np.inf, 0.0]], ["a", "b", "x", "y", "z"], ["a", "b"], fpir=0.0)
    assert (none.rate, none.n_false) == (0.0, 0)
