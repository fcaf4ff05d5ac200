"""Components of variance: closed forms of balanced designs, and exact expectations in unbalanced ones."""

import numpy as np
import pytest

from deciban.core.resampling.class_sums import Factor, components_of, sums_of_levels

ONE = np.zeros(2, np.int64)


def of_one_class(costs, *factors):
    """Components where only the first class varies: the other one has two trials that cost nothing."""
    made = [Factor(name, ((codes,), (ONE,)), int(codes.max()) + 1) for name, codes in factors]
    found = components_of((np.asarray(costs, float), np.zeros(2)), made)
    return {one.name: one.size for one in found if one.pair == (0, 0)}


def test_one_way_components_are_those_of_the_analysis_of_variance():
    x = np.random.default_rng(1).normal(size=(7, 4)) + np.arange(7)[:, None]
    between = 4 * x.mean(axis=1).var(ddof=1)
    within = x.var(axis=1, ddof=1).mean()
    found = of_one_class(x.ravel(), ("row", np.repeat(np.arange(7), 4)), ("trial", np.arange(28)))
    assert found == pytest.approx({"row": (between - within) / 4, "trial": within})


def test_crossed_components_are_those_of_the_analysis_of_variance():
    n, m = 6, 5
    x = np.random.default_rng(2).normal(size=(n, m)) + np.arange(n)[:, None] + 0.5 * np.arange(m)
    rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
    residual = np.square(rest).sum() / ((n - 1) * (m - 1))
    rows = (m * x.mean(axis=1).var(ddof=1) - residual) / m
    columns = (n * x.mean(axis=0).var(ddof=1) - residual) / n
    row, column = (one.ravel() for one in np.indices((n, m)))
    found = of_one_class(x.ravel(), ("row", row), ("column", column), ("trial", np.arange(n * m)))
    assert found == pytest.approx({"row": rows, "column": columns, "trial": residual})


@pytest.fixture(scope="module")
def design():
    """An unbalanced design of seven speakers on both sides, with segments of their own, one speaker without targets."""
    rng = np.random.default_rng(3)
    n_segments = np.array([1, 2, 3, 2, 4, 1, 2])
    owner = np.repeat(np.arange(7), n_segments)
    model, segment = (one.ravel() for one in np.indices((7, len(owner))))
    kept = (rng.random(len(model)) < 0.8) & ~((model == 6) & (owner[segment] == 6))
    model, segment = model[kept], segment[kept]
    test = owner[segment]
    same = model == test
    pair = np.minimum(model, test) * 7 + np.maximum(model, test)
    codes = [
        ("unit", (model, test), 7),
        ("unit of the second side", (test,), 7),
        ("segment", (segment,), len(owner)),
        ("pair of units", (pair,), 49),
        ("trial", (np.arange(len(model)),), len(model)),
    ]
    factors = []
    for name, members, size in codes:
        factors.append(Factor(name, (tuple(c[same] for c in members), tuple(c[~same] for c in members)), size))
    return factors, int(same.sum()), int((~same).sum())


def incidence(factor, k, n):
    found = np.zeros((n, factor.n_levels))
    for codes in factor.members[k]:
        found[np.arange(n), codes] = 1.0
    return found


def test_components_are_unbiased_in_unbalanced_designs(design):
    factors, *sizes = design
    levels = [[incidence(factor, k, sizes[k]) for k in (0, 1)] for factor in factors]
    # Targets have effects of units, segments and trials, non-targets all; the first two are correlated.
    true = {
        (0, 0): {"unit": 1.5, "segment": 0.7, "trial": 2.0},
        (0, 1): {"unit": -0.4, "segment": 0.2},
        (1, 1): {"unit": 0.6, "unit of the second side": 0.3, "segment": 0.4, "pair of units": 0.5, "trial": 1.0},
    }
    covariance = np.zeros((sum(sizes), sum(sizes)))
    place = [slice(0, sizes[0]), slice(sizes[0], sum(sizes))]
    for (c, d), parts in true.items():
        block = sum(parts.get(f.name, 0.0) * own[c] @ own[d].T for f, own in zip(factors, levels, strict=True))
        covariance[place[c], place[d]], covariance[place[d], place[c]] = block, block.T
    # The expectation of a quadratic form is the sum of its values at the columns of a root of the covariance matrix,
    # those of negative eigenvalues with a minus: no draws are needed.
    expected = {}
    values, vectors = np.linalg.eigh(covariance)
    for value, vector in zip(values, vectors.T, strict=True):
        x = np.sqrt(abs(value)) * vector
        for one in components_of((x[place[0]], x[place[1]]), factors):
            key = one.pair, one.name
            expected[key] = expected.get(key, 0.0) + np.sign(value) * one.size
    # Each segment has one target trial: what both add is one component.
    true[0, 0] = {"unit": 1.5, "segment": 0.7 + 2.0}
    for pair, parts in true.items():
        for name, size in parts.items():
            assert expected.pop((pair, name)) == pytest.approx(size, abs=1e-9), (pair, name)
    assert all(abs(rest) < 1e-9 for rest in expected.values())


def test_variances_are_those_of_the_mean(design):
    factors, *sizes = design
    x = [np.random.default_rng(4).normal(size=n) for n in sizes]
    for one in components_of((x[0], x[1]), factors):
        (factor,) = [f for f in factors if f.name == one.name]
        shares = [
            incidence(factor, k, n).mean(axis=0) for k, n in zip(one.pair, [sizes[k] for k in one.pair], strict=True)
        ]
        twice = 1 + (one.pair[0] != one.pair[1])
        assert one.variance == pytest.approx(twice * one.size * shares[0] @ shares[1])


def test_what_the_design_cannot_tell_apart_is_counted_with_what_came_first():
    x = np.random.default_rng(5).normal(size=12)
    each = np.arange(12)
    assert of_one_class(x, ("unit", each), ("segment", each), ("trial", each)) == pytest.approx({"unit": x.var(ddof=1)})


def test_the_order_of_trials_and_a_common_weight_change_nothing(design):
    factors, *sizes = design
    rng = np.random.default_rng(6)
    x = [rng.normal(size=n) for n in sizes]
    mixed = [rng.permutation(n) for n in sizes]
    others = [
        Factor(f.name, tuple(tuple(c[at] for c in own) for own, at in zip(f.members, mixed, strict=True)), f.n_levels)
        for f in factors
    ]
    found = components_of((x[0], x[1]), factors)
    again = components_of((x[0][mixed[0]], x[1][mixed[1]]), others, (np.full(sizes[0], 3), np.full(sizes[1], 0.5)))
    assert [(one.name, one.pair) for one in found] == [(one.name, one.pair) for one in again]
    np.testing.assert_allclose([one.size for one in again], [one.size for one in found], rtol=1e-9)


def test_sums_of_levels_add_up_trials_about_the_means(design):
    factors, *sizes = design
    x = [np.random.default_rng(7).normal(size=n) for n in sizes]
    for factor in factors:
        expected = sum((own - own.mean()) @ incidence(factor, k, len(own)) / len(own) for k, own in enumerate(x))
        np.testing.assert_allclose(sums_of_levels((x[0], x[1]), factor), expected, atol=1e-15)
