"""What the scripts of a page of many classes know is what evaluations counted, and ten systems have room."""

import dataclasses

import numpy as np
import pytest

from deciban.evaluation import ClassResults, evaluate_classes
from deciban.multiclass import brier, c_avg
from deciban.plots.triangle import triangle_of
from deciban.report.live import as_script_data
from deciban.report.multiclass import live_class_data


def evaluated(n_classes, n=400):
    rng = np.random.default_rng(2)
    label = np.arange(n) % n_classes
    return evaluate_classes(rng.normal(0, 1, (n, n_classes)) + np.eye(n_classes)[label], label)


def known_of(systems):
    named = tuple(dataclasses.replace(one, name=f"{k}") for k, one in enumerate(systems))
    return live_class_data(ClassResults(named), (), ["#000000"] * len(named))


def test_decisions_at_places_are_those_of_the_evaluation():
    one = evaluated(4)
    data = known_of([one] * 100)
    k, priors = 2, data["priors"]
    assert 3 <= len(priors) <= 250_000 // (100 * 4 * 4 * 3) + 1
    numbers = np.reshape(data["sets"][0]["systems"][0]["decided"][k], (len(priors) + 1, 4, 3))
    for at, p in enumerate(priors):
        wanted = one.decided.confusion(k, p)
        assert np.array_equal(numbers[: at + 1].sum(axis=(0, 2)) + 0, wanted[:, k])
        assert np.array_equal(numbers[at + 1 :].sum(axis=0), np.delete(wanted, k, axis=1))


def test_brier_and_c_avg_at_places_are_those_of_the_library():
    rng = np.random.default_rng(2)
    label = np.arange(400) % 4
    loglik = rng.normal(0, 1, (400, 4)) + np.eye(4)[label]
    one = evaluate_classes(loglik, label, prior=[0.1, 0.2, 0.3, 0.4])
    data = known_of([one])
    (known,) = data["sets"][0]["systems"]
    assert known["c_avg"][2] == pytest.approx(c_avg(loglik, label, p_target=data["priors"]), rel=1e-6)
    for k in range(4):
        wanted = [brier(loglik, label, prior=one.decided.prior_at(k, p)) for p in data["priors"]]
        assert known["brier"][1][k] == pytest.approx(wanted, rel=1e-6)


def test_what_was_not_counted_is_not_there():
    rng = np.random.default_rng(2)
    label = np.arange(400) % 4
    one = evaluate_classes(rng.normal(0, 1, (400, 4)), label, p_out_of_set=0.2)
    assert known_of([one])["sets"][0]["systems"][0]["c_avg"] == [0.5, one.c_avg, None]


def test_ten_systems_of_ten_classes_have_room():
    one = evaluated(10)
    assert len(as_script_data(known_of([one] * 10))) < 900_000


def test_segments_to_draw_are_some_of_all_classes():
    one = evaluated(6, n=6000)
    data = known_of([one] * 10)
    (loglik, label), drawn = one.curves.sample, data["sets"][0]["systems"][3]["sample"]
    assert np.bincount(drawn["label"]).tolist() == pytest.approx([len(drawn["label"]) / 6] * 6, rel=0.1)
    assert 400 < len(drawn["label"]) <= 30_000 // (10 * 6)
    shown = np.reshape(drawn["loglik"], (-1, 6))
    assert np.all(shown.max(axis=1) == 0.0)
    known = loglik - loglik.max(axis=1, keepdims=True)
    for row, k in zip(shown[::50], drawn["label"][::50], strict=True):
        assert np.abs(known[label == k] - row).max(axis=1).min() < 0.0051
    assert data["corners"] == list(triangle_of(one).at)
    assert known_of([evaluated(13)])["corners"] is None


@pytest.mark.parametrize(("n_classes", "n_systems", "n_priors"), [(14, 1, 47), (30, 1, 16), (30, 3, 8)])
def test_priors_can_be_chosen_for_thirty_classes(n_classes, n_systems, n_priors):
    data = known_of([evaluated(n_classes, n=9000)] * n_systems)
    assert len(data["priors"]) >= n_priors
    assert all(system["decided"] for system in data["sets"][0]["systems"])
    assert len(as_script_data(data)) < 1_700_000


def test_too_many_classes_have_no_matrix():
    for some in ([evaluated(31)], [evaluated(31)] * 2):
        data = known_of(some)
        assert data["classes"] == []
        assert len(data["charts"]["classes"]) == 31
        assert "decided" not in data["sets"][0]["systems"][0]
        assert data["sets"][0]["systems"][0]["confusion"] == some[0].confusion.tolist()


def test_charts_of_many_classes_and_systems_have_room():
    one = evaluated(100)
    data = known_of([one] * 10)
    assert len(as_script_data(data)) < 1_500_000
    assert "confusion" not in data["sets"][0]["systems"][0]
    (found, *_) = data["sets"][0]["systems"]
    assert len(found["charts"]["detectors"]) == 100
    assert len(found["charts"]["detectors"][0]["rates"][0]) == len(data["charts"]["log_odds"]) == 15


def test_infinite_evidence_is_the_best_of_a_segment():
    """Infinity minus infinity is no number, which a page could not contain."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 300)
    loglik = rng.normal(size=(300, 3)) + 2.0 * np.eye(3)[label]
    loglik[3, label[3]] = np.inf
    data = known_of([evaluate_classes(loglik, label)])
    assert as_script_data(data)
    assert max(data["sets"][0]["systems"][0]["sample"]["loglik"]) == 0.0
