"""Limits of rates and of sums of them, by definition: roots of the score test, and distances that add in squares."""

import numpy as np
from scipy import stats


def wilson(rate, n_effective, clusters, level=0.95):
    """The two rates that a score test with the t quantile of so many clusters just does not reject.

    They are at least as far as the one-sided exact limits, which are roots of binomial probabilities.
    """
    square = stats.t.ppf((1 + level) / 2, clusters - 1) ** 2 / n_effective
    low, high = sorted(np.roots([1 + square, -(2 * rate + square), rate**2]).real)
    errors = rate * n_effective
    exact = [
        stats.beta.ppf(1 - level, k, n_effective - k + 1) if 0 < k < n_effective else 0.0
        for k in (errors, n_effective - errors)
    ]
    low = low if errors == n_effective else min(low, exact[0])
    high = high if errors == 0 else max(high, 1 - exact[1])
    return max(low, 0.0), min(high, 1.0)


def mover(parts, correlation=0.0):
    """Limits of a sum: parts are weights, rates and their limits; all pairs of parts are as correlated as this."""
    total = sum(weight * rate for weight, rate, _ in parts)
    below = np.array([weight * (rate - low) for weight, rate, (low, _) in parts])
    above = np.array([weight * (high - rate) for weight, rate, (_, high) in parts])
    reach = [np.sqrt((1 - correlation) * way @ way + correlation * way.sum() ** 2) for way in (below, above)]
    return total - reach[0], total + reach[1]
