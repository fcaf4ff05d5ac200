"""Golden numbers again, from the definitions alone: exact fractions for counts, scipy's optimizers for what is trained.

    .venv/bin/python tests/golden/recompute.py    # versions, and how far every number of the files is from it

Nothing of deciban is used. What is not here is said in `NOT_RECOMPUTED`.
"""

import json
import math
import platform
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, logsumexp

FOLDER = Path(__file__).parent
NOT_RECOMPUTED = {
    "fusion_with_elementwise_square": "what one program made of a sum of squares: no optimum of any objective"
}


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


# Two classes: every metric is a fraction of counts until the last division.


def blocks(tar, non):
    """PAV one violation after the other: [targets, non-targets, lowest, highest score] in ascending order."""
    found = []
    for score in sorted({*tar, *non}):
        found.append([tar.count(score), non.count(score), score, score])
        while len(found) > 1 and found[-2][0] * found[-1][1] >= found[-1][0] * found[-2][1]:
            last = found.pop()
            found[-1] = [found[-1][0] + last[0], found[-1][1] + last[1], found[-1][2], last[3]]
    return found


def hull(bins):
    """Vertices (false alarms, misses), from accept-all to reject-all."""
    n_fa, n_miss = sum(b[1] for b in bins), 0
    vertices = [(n_fa, n_miss)]
    for n_tar, n_non, *_ in bins:
        n_fa, n_miss = n_fa - n_non, n_miss + n_tar
        vertices.append((n_fa, n_miss))
    return vertices


def crossing(vertices, ratio, n_tar, n_non):
    """False alarms over ``n_non`` where they are ``ratio`` times the misses over ``n_tar``, on the straight hull."""
    for (fa_0, miss_0), (fa_1, miss_1) in pairwise(vertices):
        gap_0 = Fraction(fa_0) / n_non - ratio * Fraction(miss_0) / n_tar
        gap_1 = Fraction(fa_1) / n_non - ratio * Fraction(miss_1) / n_tar
        if gap_0 >= 0 >= gap_1:
            part = gap_0 / (gap_0 - gap_1)
            return (fa_0 + part * (fa_1 - fa_0)) / n_non
    raise AssertionError("the hull goes from the one axis to the other")


def surprise(x):
    return 0.0 if x == -math.inf else max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def cllr(tar, non):
    """In bits, of (score, count) pairs (thesis 7.40 at even odds)."""
    costs = [
        math.fsum(n * surprise(sign * x) for x, n in some) / sum(n for _, n in some)
        for some, sign in ((tar, -1), (non, 1))
    ]
    return sum(costs) / (2 * math.log(2))


def two_classes(tar, non, priors, ratios):
    """All metrics of `binary.json` at unit costs and these priors."""
    tar, non = ([float(x) for x in scores] for scores in (tar, non))
    n_tar, n_non = len(tar), len(non)
    bins = blocks(tar, non)
    vertices = hull(bins)
    llr = [
        -math.inf if not t else math.inf if not n else math.log(t) - math.log(n_tar) - math.log(n) + math.log(n_non)
        for t, n, *_ in bins
    ]
    found = {
        "n_tar": n_tar,
        "n_non": n_non,
        "rocch_vertices": len(vertices),
        "eer": crossing(vertices, 1, n_tar, n_non),
        "prbep": crossing(vertices, 1, 1, 1),
        "uer": [crossing(vertices, Fraction(ratio), n_tar, n_non) for ratio in ratios],
        "rocch_area": sum(
            Fraction((fa_0 - fa_1) * (miss_0 + miss_1), 2 * n_tar * n_non)
            for (fa_0, miss_0), (fa_1, miss_1) in pairwise(vertices)
        ),
        "auc_mw": Fraction(sum((t > n) * 2 + (t == n) for t in tar for n in non), 2 * n_tar * n_non),
        "cllr": cllr([(x, 1) for x in tar], [(x, 1) for x in non]),
        "min_cllr": cllr(
            [(x, b[0]) for x, b in zip(llr, bins, strict=True) if b[0]],
            [(x, b[1]) for x, b in zip(llr, bins, strict=True) if b[1]],
        ),
        "pav_bins": [[*b, x] for b, x in zip(bins, llr, strict=True)],
    }
    for log_odds in [logit(p) for p in priors]:
        prior = expit(log_odds)
        default = min(prior, 1 - prior)
        p_miss = sum(x < -log_odds for x in tar) / n_tar
        p_fa = sum(x >= -log_odds for x in non) / n_non
        costs = [prior * miss / n_tar + (1 - prior) * fa / n_non for fa, miss in vertices]
        fa, miss = vertices[int(np.argmin(costs))]
        act, least = prior * p_miss + (1 - prior) * p_fa, min(costs)
        row = {
            "act_dcf": act,
            "min_dcf": least,
            "act_dcf_norm": act / default,
            "min_dcf_norm": least / default,
            "act_pmiss": p_miss,
            "act_pfa": p_fa,
            "min_pmiss": miss / n_tar,
            "min_pfa": fa / n_non,
        }
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


def binary():
    golden = load("binary")
    for name, case in golden["binary"].items():
        expect = dict(case["expect"])
        at = expect.pop("prior_log_odds", None)
        priors = golden["p_eff"] if at is None else expit(at)
        found = two_classes(case["tar"], case["non"], priors, golden["uer_r"])
        if at is not None:
            found = {key.replace("_norm", "_norm_at_log_odds"): value for key, value in found.items()}
        yield from ((f"binary {name} {key}", value, found[key], 2e-12) for key, value in expect.items())


# Training: the textbook objective, and a general optimizer.

COSTS = {  # of a target at posterior log odds x; of a non-target that of -x
    "log(1,1)": lambda x: np.logaddexp(0.0, -x),
    "brier(2,2)": lambda x: expit(-x) ** 2,
    "boosting(0.5,0.5)": lambda x: np.exp(-x / 2),
}


def trained(tar, non, prior, cost):
    """Weights, offset and objective of scores (systems, trials)."""
    log_odds = logit(prior)

    def objective(x):
        llr = [x[:-1] @ np.asarray(scores) + x[-1] + log_odds for scores in (tar, non)]
        return prior * cost(llr[0]).mean() + (1 - prior) * cost(-llr[1]).mean()

    x = np.zeros(len(tar) + 1)
    for method, options in (("BFGS", {"gtol": 1e-9}), ("Nelder-Mead", {"xatol": 1e-10, "fatol": 1e-15})):
        x = minimize(objective, x, method=method, options={"maxiter": 20_000, **options}).x
    return x, objective(x), objective(np.zeros(len(x)))


def calibration():
    for name, case in load("calibration")["calibration"].items():
        for rule, optima in case["scale_offset"].items():
            relative = case["objective_over_value_at_llr_0"].get(rule)
            for i, (prior, expected) in enumerate(zip(case["priors"], optima, strict=True)):
                x, value, at_zero = trained([case["tar"]], [case["non"]], prior, COSTS[rule])
                yield f"calibration {name} {rule} {prior}", expected, x, case["tolerance"]
                if relative is not None:
                    yield f"calibration {name} {rule} {prior} objective", relative[i], value / at_zero, 1e-7


def fusion():
    for name, case in load("fusion")["fusion"].items():
        tar, non = (case[f"train_{kind}_systems_by_trials"] for kind in ("tar", "non"))
        for one in case["trained"]:
            x, value, at_zero = trained(tar, non, one["prior"], COSTS["log(1,1)"])
            yield f"fusion {name} {one['prior']} weights", one["w"], x, 1e-4
            yield f"fusion {name} {one['prior']} nats", one["objective_nats"], value, 1e-7
            yield f"fusion {name} {one['prior']} norm", one["objective_norm"], value / at_zero, 1e-7


# Many classes.


def mean_of_classes(values, label, prior):
    return sum(p * values[label == k].mean() for k, p in enumerate(prior))


def cross_entropy(loglik, label, prior):
    own = log_softmax(loglik + np.log(prior), axis=1)[np.arange(len(label)), label]
    return -mean_of_classes(own, label, prior)


def affine(loglik, label, prior, *, offset=True):
    """Scale, offsets of mean 0, and log-likelihoods where the cross-entropy is least."""
    n = loglik.shape[1]

    def mapped(x):
        return x[0] * loglik + (np.append(0.0, x[1:]) if offset else 0.0)

    x = np.append(1.0, np.zeros(n - 1 if offset else 0))
    for method, options in (("BFGS", {"gtol": 1e-9}), ("Nelder-Mead", {"xatol": 1e-10, "fatol": 1e-15})):
        x = minimize(lambda x: cross_entropy(mapped(x), label, prior), x, method=method, options=options).x
    offsets = np.append(0.0, x[1:]) if offset else np.zeros(n)
    return x[0], offsets - offsets.mean(), mapped(x)


def detection_llr(loglik):
    """Each class against the mean likelihood of the others."""
    n = loglik.shape[1]
    others = [logsumexp(np.delete(loglik, k, axis=1), axis=1) - math.log(n - 1) for k in range(n)]
    return loglik - np.array(others).T


def detectors(loglik, label):
    """C_avg at target prior 0.5, and the mean Cllr in bits; all classes and all other classes count alike."""
    llr, n = detection_llr(loglik), loglik.shape[1]
    costs, surprises = [], []
    for k in range(n):
        others = np.array([0.5 / (n - 1)] * n)
        others[k] = 0.5
        wrong = np.where(label == k, llr[:, k] < 0, llr[:, k] >= 0)
        costs.append(mean_of_classes(wrong, label, others))
        sign = np.where(label == k, -1, 1)
        surprises.append(mean_of_classes(np.logaddexp(0.0, sign * llr[:, k]), label, others) / math.log(2))
    return np.mean(costs), np.mean(surprises)


def decided(loglik, label, prior, costs):
    """Counts of Bayes decisions, and their mean cost; ``costs`` are (class, action)."""
    action = np.argmin(np.exp(log_softmax(loglik + np.log(prior), axis=1)) @ costs, axis=1)
    return np.bincount(action, minlength=costs.shape[1]), mean_of_classes(costs[label, action], label, prior)


def many_classes(loglik, label):
    """All metrics of `multiclass.json` and `decisions.json`, by the names they have there."""
    n = loglik.shape[1]
    flat, rising = np.full(n, 1 / n), np.arange(1, n + 1) / (n * (n + 1) / 2)
    scale, offsets, best = affine(loglik, label, flat)
    least = cross_entropy(best, label, flat)
    skewed = affine(loglik, label, rising)
    alone = affine(loglik, label, flat, offset=False)
    value = cross_entropy(loglik, label, flat)
    own, after = detectors(loglik, label), detectors(best, label)
    errors = 1.0 - np.eye(n)
    flat_counts, flat_error = decided(loglik, label, flat, errors)
    rising_counts, rising_error = decided(loglik, label, rising, errors)
    reject = decided(loglik, label, flat, np.column_stack((errors, np.full(n, 0.3))))
    i, j = np.indices((n, n))
    ordinal = decided(loglik, label, rising, np.abs(i - j) * np.where(i > j, 2.0, 1.0))
    return {
        "classes": n,
        "trials": len(label),
        "counts": np.bincount(label),
        "cllr_bits": value / math.log(2),
        "cllr_norm": value / math.log(n),
        "min_cllr_affine": {"bits": least / math.log(2), "scale": scale, "offsets_zero_mean": offsets},
        "affine_prior_1toN": {
            "prior": rising,
            "scale": skewed[0],
            "offsets_zero_mean": skewed[1],
            "objective_nats": cross_entropy(skewed[2], label, rising),
            "objective_over_lnN": cross_entropy(skewed[2], label, rising) / math.log(n),
        },
        "scale_only": {"scale": alone[0], "bits": cross_entropy(alone[2], label, flat) / math.log(2)},
        "c_avg_after_affine": after[0],
        "avg_det_cllr_after_affine": after[1],
        "c_avg": own[0],
        "avg_det_cllr": own[1],
        "c_avg_if_tie_accepts": own[0],
        "error_rate_balanced_flat_prior": flat_error,
        "decision_counts_flat_prior": flat_counts,
        "prior_1toN": {"expected_error": rising_error, "decision_counts": rising_counts},
        "posterior_prior_1toN_first_trial": np.exp(log_softmax(loglik[0] + np.log(rising))),
        "detection_llr_first_trial": detection_llr(loglik[:1])[0],
        "reject_option_cost_0.3_flat_prior": {"average_cost": reject[1], "decision_counts_last_is_reject": reject[0]},
        "ordinal_cost_prior_1toN": {"average_cost": ordinal[1], "decision_counts": ordinal[0]},
    }


def leaves(expect, found, path):
    for key, value in expect.items():
        if key in NOT_RECOMPUTED or key == "cost_rule":
            continue
        if isinstance(value, dict):
            yield from leaves(value, found[key], f"{path} {key}")
        else:
            is_trained = key in ("scale", "offsets_zero_mean")
            yield f"{path} {key}", value, found[key], 1e-4 if is_trained else 1e-9


def multiclass():
    for file in ("multiclass", "decisions"):
        for name, case in load(file)[file].items():
            found = many_classes(np.array(case["loglik_classes_by_trials"], float).T, np.array(case["label_0_based"]))
            yield from leaves(case["expect"], found, f"{file} {name}")


CHECKS = (binary, calibration, fusion, multiclass)


def distance(golden, found):
    """The largest difference of two numbers or lists of numbers; infinite ones are equal or not."""
    golden, found = (np.asarray(value, np.float64) for value in (golden, found))
    assert golden.shape == found.shape
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(golden == found, 0.0, np.abs(golden - found)), initial=0.0))


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}")  # noqa: T201
    for check in CHECKS:
        for name, golden, found, tolerance in check():
            apart = distance(golden, found)
            print(f"{'ok ' if apart <= tolerance else 'OFF'} {apart:8.1e} of {tolerance:.0e}  {name}")  # noqa: T201
