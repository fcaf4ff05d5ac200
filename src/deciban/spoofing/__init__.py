"""Metrics of spoofing detection and of spoofing-robust verification: t-DCF, a-DCF, SASV error rates, APCER.

A verifier (ASV) scores trials of targets, non-targets and spoofs. A countermeasure (CM) scores bona fide trials and
spoofs. Larger scores favour targets, or bona fide trials. A trial is accepted if its score is at or above the
threshold, and equal scores are never split. All rates are fractions; all costs are normalized by default.
"""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
