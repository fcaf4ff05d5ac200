"""Sentences of a page on many classes that do not depend on the results."""

from __future__ import annotations

PLOTS = {
    "confusion": (
        "Confusion",
        (
            "A row for each true class, a column for each decision; shares of the true class in percent. Decisions are "
            "those of greatest posterior probability at the prior."
        ),
    ),
    "class_losses": (
        "Each class against the rest",
        (
            "Cllr of detecting each class: full colour is lost by discrimination (it remains after PAV), pale by "
            "calibration."
        ),
    ),
    "pairwise_loss": (
        "Pairs of classes",
        (
            "What is lost where only two classes are possible, in bits: below the diagonal by discrimination (after "
            "PAV), above it by calibration. Nothing depends on the other classes."
        ),
    ),
    "simplex": (
        "Posteriors of three classes",
        (
            "A dot is the posterior of a segment at the prior, its colour the true class; corners are certainty. "
            "Regions are those of decisions, the cross is the prior. Up to 1,000 segments of each class."
        ),
    ),
    "class_ape": (
        "Detection of each class over its prior",
        (
            "Solid: errors at the Bayes threshold of each prior; dashed: the least errors at any threshold; dotted: "
            "errors of decisions by the prior alone."
        ),
    ),
    "c_avg_curve": (
        "Average detection cost over the prior of a target",
        "Mean over the targets. Dotted: accepting or rejecting everything; above it decisions are worse than none.",
    ),
    "subset_c_avg": (
        "Subsets of the classes",
        "C_avg of every subset of two or more classes as a problem of its own: only its segments, only its columns.",
    ),
}
"""Title and caption of each plot."""

BEFORE = "Pale: before calibration."

CONVENTION_NAMES = {
    "scores": "Scores",
    "averages": "Averages",
    "cllr": "Cllr",
    "min_cllr": "min Cllr",
    "decisions": "Decisions",
    "c_avg": "C_avg",
    "normalized_c_avg": "Normalized C_avg",
    "minima of detectors and pairs": "Minima of detectors and pairs",
    "error_rates": "Error rates in files and in Python",
    "confusion": "Confusion",
}

DEFINITIONS = (
    (
        "Cllr",
        (
            "Mean over the classes of the logarithmic cost of the scores at the flat prior, in bits. Scores that say "
            "nothing get the logarithm of the number of classes; infinite if a true class was excluded."
        ),
    ),
    ("min Cllr", "Cllr after the best common scale and the best offset for each class: discrimination loss."),
    ("Calibration loss", "Cllr minus min Cllr: what such a calibration could win. Offsets or a scale alone win less."),
    ("Information", "What the scores tell of the class, in bits: the entropy of the flat prior minus Cllr."),
    (
        "C_avg",
        (
            "Each class in turn is the target, with its prior, and the others share the rest: prior times miss rate "
            "plus the rest times false-alarm rate at the Bayes threshold, averaged over the targets."
        ),
    ),
    ("min C_avg", "The same with the best threshold for each target by itself."),
    ("Error rate", "Share of wrong decisions at the prior; each class by itself, weighted by its prior."),
    ("Brier", "Mean of the squared distance between posterior and truth; 0 is perfect."),
    (
        "Detection of a class",
        (
            "Its likelihood against the mean likelihood of all others, a two-class problem: cost, Cllr, and minima "
            "after the best increasing map of that detector alone."
        ),
    ),
)
