"""The definitions, as literally as possible: exact fractions, every threshold, no cleverness. For tests only."""

from fractions import Fraction
from itertools import product

import numpy as np


def operating_points(tar, non):
    """(p_fa, p_miss) at every threshold that decides differently, accept-all and reject-all among them."""
    thresholds = [-np.inf, *sorted({*tar, *non})]
    points = [
        (Fraction(sum(s >= t for s in non), len(non)), Fraction(sum(s < t for s in tar), len(tar))) for t in thresholds
    ]
    return [(Fraction(1), Fraction(0)), *points, (Fraction(0), Fraction(1))]


def min_error(tar, non, prior):
    """Minimum of p P_miss + (1 - p) P_fa over all thresholds."""
    return min(prior * p_miss + (1 - prior) * p_fa for p_fa, p_miss in operating_points(tar, non))


def unequal_error_rate(tar, non, ratio):
    """Smallest P_fa on any segment between two operating points where P_fa = ratio * P_miss."""
    points = set(operating_points(tar, non))
    best = None
    for (fa1, miss1), (fa2, miss2) in product(points, points):
        gap1, gap2 = fa1 - ratio * miss1, fa2 - ratio * miss2
        if gap1 >= 0 >= gap2 and gap1 != gap2:
            share = gap1 / (gap1 - gap2)
            value = fa1 + share * (fa2 - fa1)
            best = value if best is None else min(best, value)
    return best


def auc(tar, non):
    """P(tar > non) + P(tie) / 2 by looking at every pair."""
    twice = sum((t > n) * 2 + (t == n) for t, n in product(tar, non))
    return Fraction(twice, 2 * len(tar) * len(non))


def pav_blocks(tar, non):
    """(targets, non-targets, low, high) per block: pool one pair of neighbours at a time, compare fractions."""
    blocks = [[list(tar).count(s), list(non).count(s), s, s] for s in sorted({*tar, *non})]
    i = 0
    while i + 1 < len(blocks):
        (t1, n1, low, _), (t2, n2, _, high) = blocks[i], blocks[i + 1]
        if Fraction(t1, t1 + n1) >= Fraction(t2, t2 + n2):
            blocks[i : i + 2] = [[t1 + t2, n1 + n2, low, high]]
            i = max(i - 1, 0)
        else:
            i += 1
    return blocks


def cllr(tar, non):
    """Cost of llrs in bits, summed in the order given."""
    costs = (np.mean(np.logaddexp(0, -np.asarray(tar))), np.mean(np.logaddexp(0, np.asarray(non))))
    return sum(costs) / 2 / np.log(2)
