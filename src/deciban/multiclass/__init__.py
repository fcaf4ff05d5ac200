"""Recognizers of many classes: costs, error rates, detection, pairs, groups, subsets, calibration analysis.

``loglik`` has one row per trial and one column per class, in nats; only differences within a row mean anything.
``label`` holds the true classes, as positions from 0 or as names with ``classes=``. Every class is averaged by itself
and weighted by the prior that is asked for. Information is in bits, `cross_entropy` in nats, error rates are fractions.
"""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
