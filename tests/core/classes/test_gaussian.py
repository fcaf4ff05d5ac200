"""Gaussian models of classes: densities in exact fractions, and moments of features that are constant somewhere."""

from fractions import Fraction

import numpy as np
import pytest

from deciban.core.classes import gaussian as class_gaussian
from deciban.core.classes.gaussian import ClassMoments, is_singular, log_densities

MIXING = np.array([[1.0, 0.5, 0.0], [0.25, 2.0, -1.0], [0.0, 1.0, 0.125]])


def solved(matrix, vector):
    """The solution of a linear system of fractions (Cramer's rule for three unknowns)."""

    def determinant(m):
        (a, b, c), (d, e, f), (g, h, i) = m
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)

    whole = determinant(matrix)
    return [
        determinant([[*row[:k], value, *row[k + 1 :]] for row, value in zip(matrix, vector, strict=True)]) / whole
        for k in range(3)
    ]


def exact_squares(features, mean, covariance):
    """Squared distances -2 ln of the densities, but for constants, as fractions."""
    matrix = [[Fraction(c) for c in row] for row in covariance.tolist()]
    squares = []
    for x in features.tolist():
        gaps = [[Fraction(a) - Fraction(b) for a, b in zip(x, one, strict=True)] for one in mean.tolist()]
        squares.append([sum(a * b for a, b in zip(gap, solved(matrix, gap), strict=True)) for gap in gaps])
    return squares


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize(
    ("offset", "apart"), [(0.0, 1.0), (2.0**30, 1.0), (0.0, 1e4)], ids=["plain", "common offset", "far apart"]
)
def test_differences_of_log_densities_are_exact(is_shared, offset, apart):
    rng = np.random.default_rng(1)
    covariance = MIXING @ MIXING.T
    mean = offset + rng.normal(size=(4, 3))
    mean[2:] += apart
    features = mean[rng.integers(0, 4, 20)] + rng.normal(size=(20, 3))
    found = log_densities(features, mean, np.stack([covariance] * (1 if is_shared else 4)))
    scale = 1e-13 * (1.0 + 0.5 * np.array(exact_squares(features, mean, covariance), np.float64))
    exact = exact_squares(features, mean, covariance)
    for i, row in enumerate(exact):
        for a in range(4):
            for b in range(a):
                difference = Fraction(row[b] - row[a]) / 2
                error = abs(Fraction(found[i, a]) - Fraction(found[i, b]) - difference)
                assert error <= max(scale[i, a], scale[i, b])


def test_blocks_and_one_class_that_leads_everywhere(monkeypatch):
    rng = np.random.default_rng(2)
    features, mean = rng.normal(size=(500, 3)), 5.0 * rng.normal(size=(6, 3))
    covariance = (MIXING @ MIXING.T)[None]
    whole = log_densities(features, mean, covariance)
    monkeypatch.setattr(class_gaussian, "_BLOCK", 20)
    np.testing.assert_allclose(log_densities(features, mean, covariance), whole, rtol=1e-12)
    same = log_densities(features, np.broadcast_to(mean[:1], (6, 3)), covariance)
    np.testing.assert_array_equal(same, np.broadcast_to(same[:, :1], (500, 6)))
    np.testing.assert_allclose(same[:, 0], whole[:, 0], rtol=1e-12)


@pytest.mark.parametrize("value", [0.1, 0.3, 1e6 + 0.1, 1 / 3])
@pytest.mark.parametrize("n", [3, 7, 1000])
def test_a_feature_that_is_constant_in_a_class_has_exactly_no_variance(value, n):
    rng = np.random.default_rng(3)
    features = np.append(np.full(n, value), value + rng.normal(size=50))[:, None]
    features = np.hstack([features, rng.normal(size=(n + 50, 1))])
    weights = rng.uniform(0.1, 3.0, n + 50)
    moments = ClassMoments.of(features, np.repeat([0, 1], [n, 50]), 2, weights)
    assert not moments.covariance[0, 0].any()
    assert not moments.covariance[0, :, 0].any()
    assert moments.covariance[0, 1, 1] > 0.0
    assert is_singular(moments.covariance[0])
    assert not is_singular(moments.covariance[1])


def test_small_variances_that_are_no_rounding_are_kept():
    rng = np.random.default_rng(4)
    noise = rng.normal(size=200)
    features = np.append(1e-10 * noise, 1.0)[:, None]
    moments = ClassMoments.of(features, np.append(np.zeros(200, np.int64), 1), 2, None)
    variance = moments.covariance[0, 0, 0] * moments.size[0] ** 2
    assert variance == pytest.approx(1e-20 * noise.var(), rel=1e-5)
