"""What the scripts of a page of many classes know is what evaluations counted, and ten systems have room."""

import numpy as np

from deciban.evaluation import evaluate_classes
from deciban.report.live import as_script_data
from deciban.report.live_classes import live_class_data


def evaluated(n_classes, n=400):
    rng = np.random.default_rng(2)
    label = np.arange(n) % n_classes
    return evaluate_classes(rng.normal(0, 1, (n, n_classes)) + np.eye(n_classes)[label], label)


def test_decisions_at_places_are_those_of_the_evaluation():
    one = evaluated(4)
    data = live_class_data([one] * 100, ["#000000"] * 100)
    k, priors = 2, data["priors"]
    assert 3 <= len(priors) <= 250_000 // (100 * 4 * 4 * 3) + 1
    numbers = np.reshape(data["systems"][0]["decided"][k], (len(priors) + 1, 4, 3))
    for at, p in enumerate(priors):
        wanted = one.decided.confusion(k, p)
        assert np.array_equal(numbers[: at + 1].sum(axis=(0, 2)) + 0, wanted[:, k])
        assert np.array_equal(numbers[at + 1 :].sum(axis=0), np.delete(wanted, k, axis=1))


def test_ten_systems_of_ten_classes_have_room():
    one = evaluated(10)
    assert len(as_script_data(live_class_data([one] * 10, ["#000000"] * 10))) < 900_000


def test_too_many_classes_have_no_matrix():
    assert live_class_data([evaluated(21)], ["#000000"]) is None
