"""Metrics of two sets of scores: error rates, costs, proper scoring rules, curves.

Every function takes the scores of target trials and of non-target trials, in any order: ``metric(tar, non)``. Larger
scores favour targets, and a trial is accepted if its score is at or above the threshold. Equal scores are never split.
Log-likelihood ratios and log odds are in nats, Cllr is in bits, and error rates are fractions in [0, 1]. Each class is
averaged separately and weighted by the specified prior: the class proportions of the data do not matter.
"""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
