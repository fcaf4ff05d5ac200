"""Gaussian models of classes: densities in exact fractions, and moments of features that are constant somewhere."""

from fractions import Fraction

import numpy as np
import pytest

from deciban.calibration import gaussian_backend as class_gaussian
from deciban.calibration.gaussian_backend import ClassMoments, is_singular, log_densities

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


@pytest.mark.parametrize("block", [3, 40, 1 << 17], ids=["a trial at a time", "a few", "all at once"])
@pytest.mark.parametrize("layout", ["rows", "columns", "float32"])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_exact_sums(monkeypatch, block, layout, weighted):
    monkeypatch.setattr(class_gaussian, "_BLOCK", block)
    rng = np.random.default_rng(4)
    features = 1e4 + rng.normal(size=(53, 3)) @ MIXING
    features = {"rows": features, "columns": np.asfortranarray(features), "float32": features.astype(np.float32)}[
        layout
    ]
    label = np.append([0, 1, 2], rng.integers(0, 3, 50))
    weights = rng.integers(0, 3, 53).astype(float) if weighted else None
    if weighted:
        weights[:3] = 1.0
        features[-1], weights[-1] = 1e7, 0.0  # out of all ranges, and does not count
    found = ClassMoments.of(features, label, 3, weights)
    counting = features if weights is None else features[weights > 0]
    np.testing.assert_allclose(found.middle, (counting.max(axis=0) + counting.min(axis=0)) / 2.0)
    np.testing.assert_allclose(found.size, (counting.max(axis=0) - counting.min(axis=0)) / 2.0, rtol=1e-6)
    for k in range(3):
        own = [[Fraction(float(v)) for v in row] for row in features[label == k]]
        shares = [Fraction(1)] * len(own) if weights is None else [Fraction(float(w)) for w in weights[label == k]]
        total = sum(shares)
        mean = [sum(w * row[j] for w, row in zip(shares, own, strict=True)) / total for j in range(3)]
        np.testing.assert_allclose(found.middle + found.size * found.mean[k], np.array(mean, float), rtol=1e-14)
        exact = [
            [sum(w * (r[i] - mean[i]) * (r[j] - mean[j]) for w, r in zip(shares, own, strict=True)) / total
             for j in range(3)] for i in range(3)
        ]  # fmt: skip
        covariance = found.covariance[k] * np.outer(found.size, found.size)
        sd = np.sqrt(np.diag(np.array(exact, float)))
        np.testing.assert_array_less(np.abs(covariance - np.array(exact, float)) / np.outer(sd, sd), 1e-11)
        np.testing.assert_array_equal(covariance, covariance.T)


@pytest.mark.parametrize("apart", [0.1, 5.0, 1e3])
def test_any_reference_gives_the_same_densities(monkeypatch, apart):
    rng = np.random.default_rng(5)
    mean = apart * rng.normal(size=(5, 3))
    features = mean[rng.integers(0, 5, 300)] + rng.normal(size=(300, 3)) @ MIXING
    covariance = (MIXING @ MIXING.T)[None]
    found = []
    for near in (-1.0, np.inf):  # around the closest mean, around the middle
        monkeypatch.setattr(class_gaussian, "_NEAR", near)
        found.append(log_densities(features, mean, covariance))
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12 * max(apart, 1.0) ** 2)
    each = log_densities(features, mean, np.repeat(covariance, 5, axis=0))
    np.testing.assert_allclose(found[0], each, rtol=1e-12)
