"""How the page writes numbers, and the sentences that do not depend on the results."""

from __future__ import annotations

import math

from deciban.core.ranks.hull import FEW_ERRORS
from deciban.evaluation import Evaluation
from deciban.evaluation.two_class import prior_name

MINUS = "\u2212"

PLOTS = {
    "det": (
        "DET curve",
        (
            "Miss rate over false-alarm rate for every threshold; lower left is better. Stars mark the equal "
            "error rate on the dashed convex hull, the other markers the errors made at the Bayes thresholds; "
            "beyond the dotted lines fewer than 30 errors of a kind remain."
        ),
    ),
    "bayes_error": (
        "Normalized Bayes error rate",
        (
            "Solid: errors of Bayes decisions at each prior, relative to deciding without scores (1, dotted). "
            "Dashed: the same at the best threshold; the gap between the two is the calibration loss. A triangle "
            "points to where fewer than 30 false alarms (left) or misses (right) remain."
        ),
    ),
    "ape": (
        "Bayes error rate (APE)",
        (
            "The same errors, not normalized. The area under the solid curve is proportional to Cllr, that under the "
            "dashed curve to min Cllr, and the top of the dashed curve is the equal error rate."
        ),
    ),
    "ece": (
        "Empirical cross-entropy (ECE)",
        (
            "Information still lacking after the scores were seen, in bits, at each prior. Solid: scores as they are; "
            "dashed: recalibrated by PAV; dotted: without scores. A solid curve above the dotted one misleads."
        ),
    ),
    "histogram": (
        "Score densities",
        (
            "How scores of targets (solid) and non-targets (dashed) are distributed; each class has area 1. "
            "The less they overlap, the better the system discriminates."
        ),
    ),
    "pav": (
        "Scores and optimal log-likelihood ratios (PAV)",
        (
            "What each score is worth on these trials. Calibrated scores follow the dotted line; a line with another "
            "slope or offset can be mended by calibration."
        ),
    ),
    "tippett": (
        "Tippett plot",
        (
            "Share of trials at or above each score: targets solid, non-targets dashed. At the dotted line, "
            "non-targets above it and targets below it are misleading evidence."
        ),
    ),
    "roc": (
        "ROC",
        (
            "The DET curve on linear axes, near the equal error rate. The dashed convex hull is what recalibration and "
            "the best thresholds can reach."
        ),
    ),
}
"""Title and caption of each plot."""

BEFORE = "Thin and pale: before calibration."

CALIBRATION_MAP = (
    "What the model makes of scores",
    (
        "Log-likelihood ratio over score. Grey steps: what each score is worth on these trials (PAV). The model is "
        "right where its line goes through them, and it matters most near the Bayes thresholds."
    ),
)
OMEGA = (
    "What the training objective cares for",
    (
        "Weight of each decision threshold in the objective that the model was trained with. Operating points in the "
        "tails had little influence on it."
    ),
)

CONVENTION_NAMES = {
    "accept": "Decision",
    "thresholds": "Thresholds",
    "error_rates": "Error rates in files and in Python",
    "dcf": "DCF",
    "eer": "EER",
    "auc": "AUC",
    "prbep": "PRBEP",
    "cllr": "Cllr",
    "ties": "Equal scores",
}

DEFINITIONS = (
    ("Miss rate, false-alarm rate", "Share of targets below the threshold; share of non-targets at or above it."),
    (
        "EER (ROCCH)",
        "The error rate at the point of the convex hull of the ROC where miss rate and false-alarm rate are equal.",
    ),
    (
        "actDCF",
        (
            "Prior times cost of a miss times miss rate, plus the same for non-targets and false alarms, at the Bayes "
            "threshold; divided by the cost of the better of accepting all and rejecting all. 1 is as good as no "
            "scores, above 1 is worse."
        ),
    ),
    ("minDCF", "The same at the threshold that is best on these trials."),
    (
        "Effective prior",
        (
            "The prior that with equal costs poses the same problem: prior times cost of a miss, divided by that plus "
            "the same for non-targets and false alarms. The Bayes threshold is minus its log odds."
        ),
    ),
    (
        "Cllr",
        (
            "Mean over both classes of the logarithmic cost of the scores at prior 0.5, in bits. 1 is as good as no "
            "scores; infinite if infinite evidence was wrong."
        ),
    ),
    ("min Cllr", "Cllr after the best monotone recalibration on these trials (PAV)."),
    ("Calibration loss", "Cllr minus min Cllr: what calibration could win."),
    ("AUC", "Probability that a target scores above a non-target, ties counting half."),
    ("PRBEP", "The number of misses where it equals the number of false alarms, on the convex hull."),
    (
        "Rule of 30",
        (
            "An error rate resting on fewer than 30 errors is rough: with 30, it is within about 30 percent of the "
            "true one with 90 percent confidence, if errors are independent."
        ),
    ),
)


def number(value: float, digits: int = 3) -> str:
    """Write a figure with fixed digits, a true minus sign, and ∞.

    >>> number(0.41234), number(-4.5951), number(float("inf")), number(-1e-17), number(12345678.0)
    ('0.412', '−4.595', '∞', '0.000', '1.23e+07')
    """
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    text = f"{value:,.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
    if text.startswith("-"):
        text = text[1:] if float(text.replace(",", "")) == 0 else MINUS + text[1:]
    return text


def typeset(text: str) -> str:
    """Write a number that is text already with a true minus sign.

    >>> typeset("-1.5e-07")
    '−1.5e−07'
    """
    return text.replace("-", MINUS)


def percent(fraction: float) -> str:
    """Write a fraction in percent, with two decimals or, where that would hide it, two digits.

    >>> percent(0.0412), percent(0.0), percent(0.000012)
    ('4.12 %', '0.00 %', '0.0012 %')
    """
    value = 100 * fraction
    return f"{value:.2f} %" if value >= 0.1 or value == 0 else f"{value:.2g} %"


WEIGHTED = "Trials are weighted: numbers of trials, of ties and of errors are sums of weights."


def count(value: float) -> str:
    """Write a number of trials; sums of fractional weights get a decimal.

    >>> count(58000), count(12.25)
    ('58,000', '12.2')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def scarce_errors(system: Evaluation) -> str:
    """Say where fewer than 30 errors remain.

    >>> from deciban.evaluation import evaluate
    >>> scarce_errors(evaluate([1.0, 2.0], [0.0, 1.5]))
    'fewer than 30 false alarms at every prior; fewer than 30 misses at every prior'
    """
    parts = []
    for what, log_odds, side in zip(("false alarms", "misses"), system.dr30, ("below", "above"), strict=True):
        where = f"{side} prior {prior_name(log_odds)}" if math.isfinite(log_odds) else "at every prior"
        parts.append(f"fewer than {FEW_ERRORS} {what} {where}")
    return "; ".join(parts)
