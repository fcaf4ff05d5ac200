"""The Gaussian back-end, against the discriminant analyses of scikit-learn, which are the same models.

What they do is not quite the same: ours gives densities, of which `LinearDiscriminantAnalysis` leaves out the part that
all classes share; and its training ends with the cross-entropy of the training trials, for which it transforms them.
"""

from __future__ import annotations

import argparse

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import numpy as np

from deciban.calibration import GaussianBackend


def problem(n_trials: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    label = rng.permutation(np.arange(n_trials) % n_classes)
    mean = 0.5 * rng.normal(size=(n_classes, n_features))
    return (mean[label] + rng.normal(size=(n_trials, n_features))) @ rng.normal(size=(n_features, n_features)), label


def compare(n_trials: int, n_features: int, n_classes: int, rounds: int) -> None:
    """Print a table for both kinds of covariances, after a look whether both programs mean the same."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

    x, label = problem(n_trials, n_features, n_classes)
    flat = np.full(n_classes, 1.0 / n_classes)
    rivals = {
        "shared": LinearDiscriminantAnalysis(solver="lsqr", priors=flat),
        "separate": QuadraticDiscriminantAnalysis(priors=flat),
    }
    for covariance, rival in rivals.items():
        backend = GaussianBackend(covariance=covariance).fit(x, label)
        rival.fit(x, label)
        decided = (np.argmax(backend.transform(x), axis=1), rival.predict(x))
        print(f"{covariance}: {np.mean(decided[0] != decided[1]):.1e} of decisions differ")
        jobs = {
            "transform": lambda backend=backend: backend.transform(x),
            "scikit-learn, log posteriors": lambda rival=rival: rival.predict_log_proba(x),
            "scikit-learn, decide": lambda rival=rival: rival.decision_function(x),
            "fit, which evaluates": lambda backend=backend: backend.fit(x, label),
            "scikit-learn, fit": lambda rival=rival: rival.fit(x, label),
            "scikit-learn, fit and log posteriors": lambda rival=rival: rival.fit(x, label).predict_log_proba(x),
        }
        title = f"{covariance}: {n_trials:,} trials x {n_features} features x {n_classes} classes"
        show(title, measure(jobs, rounds), "transform", n_trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**5)
    parser.add_argument("--features", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--classes", type=int, nargs="+", default=[20, 10])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine())
    for n_features, n_classes in zip(options.features, options.classes, strict=True):
        compare(options.trials, n_features, n_classes, options.rounds)


if __name__ == "__main__":
    main()
