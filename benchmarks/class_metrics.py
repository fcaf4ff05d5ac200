"""Metrics of many classes, against what one writes by hand with scipy and scikit-learn."""

from __future__ import annotations

import argparse

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import numpy as np
from scipy.special import log_softmax

from deciban import evaluate_classes, multiclass


def by_hand(loglik: np.ndarray, label: np.ndarray) -> float:
    """Cllr from the log-softmax of everything."""
    surprise = -log_softmax(loglik, axis=1)[np.arange(len(label)), label]
    means = np.bincount(label, surprise) / np.bincount(label)
    return float(means.mean() / np.log(2))


def with_scikit_learn(loglik: np.ndarray, label: np.ndarray) -> float:
    """The same by `log_loss` with weights that balance the classes."""
    from sklearn.metrics import log_loss
    from sklearn.utils.class_weight import compute_sample_weight

    weights = compute_sample_weight("balanced", label)
    return float(log_loss(label, np.exp(log_softmax(loglik, axis=1)), sample_weight=weights) / np.log(2))


def trials(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods and labels."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, n_classes, n)
    loglik = rng.normal(size=(n, n_classes))
    loglik[np.arange(n), label] += 2.0
    return loglik, label


def of_many_trials(n: int, n_classes: int, rounds: int) -> None:
    """Figures that look at every trial."""
    loglik, label = trials(n, n_classes)
    sweep = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(by_hand(loglik, label), multiclass.cllr(loglik, label), rtol=1e-12)
    jobs = {
        "np.exp of all": lambda: np.exp(loglik),
        "cllr": lambda: multiclass.cllr(loglik, label),
        "cllr by scipy's log_softmax": lambda: by_hand(loglik, label),
        "cllr by scikit-learn's log_loss": lambda: with_scikit_learn(loglik, label),
        "brier": lambda: multiclass.brier(loglik, label),
        "error_rate": lambda: multiclass.error_rate(loglik, label),
        "c_avg": lambda: multiclass.c_avg(loglik, label),
        "c_avg at 99 target priors": lambda: multiclass.c_avg(loglik, label, p_target=sweep),
        "c_avg of an open set": lambda: multiclass.c_avg(loglik, label, p_out_of_set=0.005),
        "the same at 99 target priors": lambda: multiclass.c_avg(loglik, label, p_target=sweep, p_out_of_set=0.005),
        "detection_analysis": lambda: multiclass.detection_analysis(loglik, label),
        "pairwise_analysis": lambda: multiclass.pairwise_analysis(loglik, label),
    }
    show(f"{n:,} trials x {n_classes} classes", measure(jobs, rounds), "np.exp of all", n)


def of_subsets(n: int, n_classes: int, rounds: int) -> None:
    """What takes many evaluations: subsets of the classes, and the search for the best calibration."""
    loglik, label = trials(n, n_classes)
    np.testing.assert_allclose(with_scikit_learn(loglik, label), multiclass.cllr(loglik, label), rtol=1e-9)
    jobs = {
        "c_avg of all": lambda: multiclass.c_avg(loglik, label),
        "subset_c_avg": lambda: multiclass.subset_c_avg(loglik, label),
        "calibration_analysis": lambda: multiclass.calibration_analysis(loglik, label),
    }
    show(f"{n:,} trials x {n_classes} classes", measure(jobs, max(rounds // 2, 1)), "c_avg of all", n)


def of_many_classes(n: int, n_classes: int) -> None:
    """What grows with the number of classes or its square."""
    loglik, label = trials(n, n_classes)
    jobs = {
        "c_avg": lambda: multiclass.c_avg(loglik, label),
        "detection_analysis": lambda: multiclass.detection_analysis(loglik, label),
        "pairwise_analysis": lambda: multiclass.pairwise_analysis(loglik, label),
        "calibration_analysis": lambda: multiclass.calibration_analysis(loglik, label),
        "evaluate_classes": lambda: evaluate_classes(loglik, label),
    }
    show(f"{n:,} trials x {n_classes} classes", measure(jobs, 1), "c_avg", n)


def of_most_classes(n_classes: int) -> None:
    """All pairs of a thousand classes."""
    loglik, label = trials(10 * n_classes, n_classes)
    label[:n_classes] = np.arange(n_classes)
    jobs = {
        "np.sort of all": lambda: np.sort(loglik, axis=None),
        "pairwise_analysis": lambda: multiclass.pairwise_analysis(loglik, label),
    }
    n_pairs = n_classes * (n_classes - 1) // 2
    title = f"{len(label):,} trials x {n_classes} classes, {n_pairs:,} pairs"
    show(title, measure(jobs, 1), "np.sort of all", len(label))


def by_hand_of_most(loglik: np.ndarray, label: np.ndarray) -> dict[str, np.ndarray | float]:
    """What one would run instead: log loss, the best temperature, accuracy, and curve and area of each class."""
    from scipy.optimize import minimize_scalar
    from sklearn.metrics import accuracy_score, auc, log_loss, roc_curve
    from sklearn.utils.class_weight import compute_sample_weight

    weights, rows = compute_sample_weight("balanced", label), np.arange(len(label))
    weights /= weights.sum()
    posterior = np.exp(log_softmax(loglik, axis=1))
    best = minimize_scalar(lambda scale: -(weights @ log_softmax(scale * loglik, axis=1)[rows, label]), (0.5, 1.0))
    areas = [auc(*roc_curve(label == k, posterior[:, k])[:2]) for k in range(loglik.shape[1])]
    return {
        "log loss": log_loss(label, posterior, sample_weight=weights),
        "after scale": best.fun,
        "accuracy": accuracy_score(label, loglik.argmax(axis=1), sample_weight=weights),
        "areas": np.array(areas),
    }


def of_most_segments(n: int, n_classes: int) -> None:
    """Everything that `deciban eval` says of many segments of a thousand classes, as float32."""
    loglik, label = trials(n, n_classes)
    label[:n_classes] = np.arange(n_classes)
    loglik = 2.0 * loglik.astype(np.float32)
    ours, theirs = evaluate_classes(loglik, label), by_hand_of_most(loglik, label)
    np.testing.assert_allclose(ours.cllr * np.log(2), theirs["log loss"], rtol=1e-5)  # theirs is float32
    np.testing.assert_allclose(ours.calibration.after_scale_only * np.log(2), theirs["after scale"], rtol=1e-5)
    np.testing.assert_allclose(1.0 - ours.error_rate, theirs["accuracy"], rtol=1e-12)
    jobs = {
        "evaluate_classes": lambda: evaluate_classes(loglik, label),
        "  of it calibration_analysis": lambda: multiclass.calibration_analysis(loglik, label),
        "scikit-learn and scipy": lambda: by_hand_of_most(loglik, label),
    }
    show(f"{n:,} trials x {n_classes} classes, float32", measure(jobs, 1), "evaluate_classes", n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**6)
    parser.add_argument("--subset-trials", type=int, default=10**5)
    parser.add_argument("--classes", type=int, default=14)
    parser.add_argument("--many-classes", type=int, default=100)
    parser.add_argument("--most-classes", type=int, default=1000)
    parser.add_argument("--most-segments", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(machine())
    of_many_trials(options.trials, options.classes, options.rounds)
    of_subsets(options.subset_trials, options.classes, options.rounds)
    of_many_classes(options.subset_trials, options.many_classes)
    of_most_classes(options.most_classes)
    of_most_segments(options.most_segments, options.most_classes)


if __name__ == "__main__":
    main()
