"""The optimum of a linear combination of scores by plain Newton steps, from the derivatives of the rules alone.

For tests only: a design matrix, the definition of the slopes (thesis 7.38) and a halved step where one is too long.
"""

import numpy as np
from scipy.special import beta as beta_function
from scipy.special import expit


def masses(is_target, log_odds=0.0, weights=None):
    """What each trial contributes: the prior of its class, shared among its trials by their weights."""
    weights = np.ones(len(is_target)) if weights is None else np.asarray(weights, np.float64)
    totals = np.where(is_target, weights[is_target].sum(), weights[~is_target].sum())
    return weights * expit(np.where(is_target, log_odds, -log_odds)) / totals


def pulls(log_odds, is_target, rule):
    """First and second derivative by the log odds of the cost of each trial."""
    alpha, beta = rule
    p, q = expit(log_odds), expit(-log_odds)
    unit = beta_function(alpha, beta)
    non = p**alpha * q ** (beta - 1) / unit
    tar = q**beta * p ** (alpha - 1) / unit
    slope = np.where(is_target, -tar, non)
    curvature = np.where(is_target, tar * (beta * p - (alpha - 1) * q), non * (alpha * q - (beta - 1) * p))
    return slope, curvature


def gradients(scores, is_target, point, *, rule=(1, 1), log_odds=0.0):
    """Of each trial, without its mass, by the weights and then the offset."""
    design = np.column_stack((scores, np.ones(len(scores))))
    return design * pulls(design @ point + log_odds, is_target, rule)[0][:, None]


def optimum(scores, is_target, *, mass=None, rule=(1, 1), log_odds=0.0, start=None):
    """Weights and offset at which the gradient vanishes; rules that are not convex want a start close to it.

    ``log_odds`` is what is added, of each trial if need be: masses must be given then.
    """
    scores = np.asarray(scores, np.float64).reshape(len(is_target), -1)
    mass = masses(is_target, log_odds) if mass is None else mass
    center, width = scores.mean(axis=0), scores.std(axis=0)
    design = np.column_stack(((scores - center) / width, np.ones(len(scores))))
    x = np.zeros(design.shape[1])
    if start is not None:
        x = np.append(start[:-1] * width, start[-1] + start[:-1] @ center)

    def gradient(x):
        return (mass * pulls(design @ x + log_odds, is_target, rule)[0]) @ design

    for _ in range(100):
        curvature = mass * pulls(design @ x + log_odds, is_target, rule)[1]
        here = gradient(x)
        step = -np.linalg.solve((design * curvature[:, None]).T @ design, here)
        if np.linalg.norm(step) < 1e-10 * (1 + np.linalg.norm(x)):
            x = x + step
            return np.append(x[:-1] / width, x[-1] - x[:-1] @ (center / width))
        for _ in range(50):
            if np.linalg.norm(gradient(x + step)) < np.linalg.norm(here):
                break
            step = 0.5 * step
        x = x + step
    raise AssertionError("Newton's method did not arrive: the test asks for a problem that is too hard for it")


def gaussian(n, n_systems=1, *, apart=1.0, seed=1, p_target=0.2):
    """Scores of systems of different quality, a matrix, and labels in random order."""
    rng = np.random.default_rng(seed)
    is_target = rng.random(n) < p_target
    shift = apart * np.linspace(0.6, 1.0, n_systems)
    return rng.normal(size=(n, n_systems)) + np.where(is_target[:, None], shift, -shift), is_target
