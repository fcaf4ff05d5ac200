"""Top-k accuracy against scikit-learn, where no scores are equal, and its order of equal scores."""

import numpy as np
import pytest
from sklearn.metrics import top_k_accuracy_score

from deciban import multiclass
from deciban.errors import InputError

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_values_are_those_of_scikit_learn(k):
    loglik, label, weight = RNG.normal(size=(500, 6)), RNG.integers(0, 6, 500), RNG.integers(0, 4, 500)
    found = multiclass.top_k_accuracy(loglik, label, k=k, sample_weight=weight)
    assert found == pytest.approx(top_k_accuracy_score(label, loglik, k=k, sample_weight=weight))
    names = [f"c{j}" for j in range(6)]
    named = multiclass.top_k_accuracy(loglik, [names[one] for one in label], k=k, sample_weight=weight, classes=names)
    assert named == found


def test_the_first_of_equal_classes_is_ahead_as_in_the_error_rate():
    loglik, label = RNG.integers(0, 3, (300, 4)).astype(float), np.repeat(np.arange(4), 75)
    error = multiclass.error_rate(loglik, label)
    assert multiclass.top_k_accuracy(loglik, label, k=1) == pytest.approx(1 - error)
    assert multiclass.top_k_accuracy([[0.0, 0.0, 0.0]], [1], k=1) == 0.0
    assert multiclass.top_k_accuracy([[0.0, 0.0, 0.0]], [1], k=2) == 1.0


@pytest.mark.parametrize("k", [0, 3, 7])
def test_k_is_less_than_the_number_of_classes(k):
    with pytest.raises(InputError, match=f"k: got {k}"):
        multiclass.top_k_accuracy(np.zeros((2, 3)), [0, 1], k=k)
