"""Trials whose quality tells how far to trust their scores, and plain formulas of their fusion."""

from types import SimpleNamespace

import numpy as np

from deciban.fusion import QualityFusion

W = np.array([[0.8, -0.4, 0.3], [-0.4, -0.6, -0.9], [0.3, -0.9, 0.0]])
B, OFFSET = np.array([1.2, -0.5]), -0.7


def brute(fusion, scores, q, r):
    """The formula, trial by trial, with a constant 1 appended to both vectors."""
    llr = []
    for s, x, y in zip(scores, q, r, strict=True):
        total = fusion.offset_ + float(np.dot(fusion.weights_, s))
        for i, left in enumerate([*x, 1.0]):
            for j, right in enumerate([*y, 1.0]):
                total += left * fusion.quality_weights_[i, j] * right
        llr.append(total)
    return np.array(llr)


def planted(n=600, seed=1, n_systems=2):
    """Trials whose truth is drawn with the log odds that the formula gives them, at prior 0.5."""
    rng = np.random.default_rng(seed)
    q, r = rng.normal(1.0, 1.0, (2, n, 2))
    scores = rng.normal(0.0, 1.5, (n, n_systems))
    one = np.ones((n, 1))
    llr = OFFSET + scores @ B[:n_systems] + np.einsum("ti,ij,tj->t", np.hstack((q, one)), W, np.hstack((r, one)))
    is_target = rng.random(n) < 1.0 / (1.0 + np.exp(-llr))
    return SimpleNamespace(scores=scores, is_target=is_target, q=q, r=r, llr=llr)


def fitted(t, **more):
    return QualityFusion(**more).fit(t.scores, t.is_target, enroll_quality=t.q, test_quality=t.r)


def fused(fusion, t):
    return fusion.transform(t.scores, enroll_quality=t.q, test_quality=t.r)


def slopes(t, llr, p_target=0.5, weight=None):
    """Derivatives of the prior-weighted cross-entropy by all independent parameters, from their explicit features."""
    weight = np.ones(len(llr)) if weight is None else weight
    one = np.ones((len(llr), 1))
    q, r = np.hstack((t.q, one)), np.hstack((t.r, one))
    n = q.shape[1]
    features = [one[:, 0], *t.scores.T]
    for i in range(n):
        features += [q[:, i] * r[:, j] + (q[:, j] * r[:, i] if i != j else 0.0) for j in range(i, n) if i < n - 1]
    assert len(features) == 1 + t.scores.shape[1] + n * (n + 1) // 2 - 1
    own = np.where(t.is_target, p_target / weight[t.is_target].sum(), (1 - p_target) / weight[~t.is_target].sum())
    posterior = 1.0 / (1.0 + np.exp(-llr - np.log(p_target / (1 - p_target))))
    return np.array(features) @ (own * weight * (posterior - t.is_target))


def lacking(t, *, every=4):
    """Every fourth trial has no measure of the test side, every eighth lacks one of two of the enrolment."""
    q, r = t.q.copy(), t.r.copy()
    r[::every] = np.nan
    q[:: 2 * every, 1] = np.nan
    return SimpleNamespace(scores=t.scores, is_target=t.is_target, q=q, r=r), np.arange(len(q)) % every == 0
