"""Log-likelihoods of many classes, and the optimum of their cross-entropy by the textbook."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from deciban.core.training.multiclass_objective import CountedTrials
from deciban.core.training.multiclass_training import train_counted


def problem(n=300, n_systems=1, n_classes=4, *, seed=1, apart=1.5):
    """Log-likelihoods (n, n_systems, n_classes) of systems with common errors, and labels of unequal classes."""
    rng = np.random.default_rng(seed)
    share = np.linspace(1.0, 3.0, n_classes)
    label = rng.choice(n_classes, n, p=share / share.sum())
    label[:n_classes] = np.arange(n_classes)
    common = rng.normal(size=(n, 1, n_classes))
    systems = np.linspace(1.0, 2.0, n_systems)[:, None] * (common + rng.normal(size=(n, n_systems, n_classes)))
    systems[np.arange(n), :, label] += apart
    return systems + rng.normal(size=n_classes), label


def masses(label, prior, weights=None):
    """What each trial contributes: the prior of its class, shared among its trials by their weights."""
    weights = np.ones(len(label)) if weights is None else np.asarray(weights, np.float64)
    totals = np.bincount(label, weights, minlength=len(prior))
    return weights * np.asarray(prior)[label] / totals[label]


def cross_entropy(loglik, label, prior=None, weights=None):
    """In nats, by its definition (thesis 8.14)."""
    n_classes = loglik.shape[1]
    prior = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior)
    with np.errstate(divide="ignore"):
        log_posterior = log_softmax(loglik + np.log(prior), axis=1)
    return -float(masses(label, prior, weights) @ log_posterior[np.arange(len(label)), label])


def features(systems, *, scale=True, offset=True):
    """How log-likelihoods change with parameters, (n, n_classes, n_parameters): weights, offsets but the first."""
    n, _, n_classes = systems.shape
    parts = [np.swapaxes(systems, 1, 2)] if scale else []
    if offset:
        parts.append(np.broadcast_to(np.eye(n_classes)[:, 1:], (n, n_classes, n_classes - 1)))
    return np.concatenate(parts, axis=2)


def best_parameters(design, label, prior, mass, *, penalty=0.0, base=0.0, start=None):
    """Parameters of least cross-entropy of ``base + design @ parameters`` plus half the penalty times their squares."""
    n = len(label)
    penalty = np.broadcast_to(penalty, design.shape[2])
    truth = np.eye(design.shape[1])[label]
    rows = design.reshape(-1, design.shape[2])

    def posterior(x):
        return log_softmax(base + design @ x + np.log(prior), axis=1)

    def value(x):
        return -float(mass @ posterior(x)[np.arange(n), label]) + 0.5 * penalty @ x**2

    def gradient(x):
        return (mass[:, None] * (np.exp(posterior(x)) - truth)).ravel() @ rows + penalty * x

    def hessian(x):
        p = np.exp(posterior(x))
        own = (rows * (mass[:, None] * p).reshape(-1, 1)).T @ rows
        mean = (p[:, None] @ design)[:, 0]
        return own - (mean * mass[:, None]).T @ mean + np.diag(penalty)

    start = np.zeros(design.shape[2]) if start is None else start
    found = minimize(value, start, jac=gradient, hess=hessian, method="trust-exact")
    x = found.x
    for _ in range(5):
        step = np.linalg.solve(hessian(x), gradient(x))
        x = x - step
        if np.linalg.norm(step) < 1e-13 * np.linalg.norm(x):
            break
    return x


def optimum(systems, label, *, prior=None, weights=None, mass=None, penalty=0.0, scale=True, offset=True, start=None):
    """Weights and offsets (mean 0) of least cross-entropy; ``penalty`` is that of each weight as it is.

    ``mass`` is what each trial contributes, if that is not what its class and its weight say. ``start`` holds weights
    and offsets to begin with: there is one optimum, wherever one begins.
    """
    _, n_systems, n_classes = systems.shape
    prior = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior)
    design = features(systems, scale=scale, offset=offset)
    all_of_them = np.zeros(design.shape[2])
    all_of_them[: n_systems * scale] = penalty
    base = 0.0 if scale else systems.sum(axis=1)
    mass = masses(label, prior, weights) if mass is None else mass
    if start is not None:
        start = np.append(start[0], start[1][1:] - start[1][0])
    x = best_parameters(design, label, prior, mass, penalty=all_of_them, base=base, start=start)
    offsets = np.append(0.0, x[n_systems * scale :]) if offset else np.zeros(n_classes)
    return x[:n_systems] if scale else np.ones(n_systems), offsets - offsets.mean()


def train_classes(systems, label, *, prior, weights=None, **form):
    """Train on arrays of one system or several."""
    systems = systems[:, None, :] if systems.ndim == 2 else systems
    names = form.pop("classes", None)
    return train_counted(CountedTrials.of(systems, label, prior, weights, names), **form)
