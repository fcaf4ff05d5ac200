"""Multiclass recognizers: costs, error rates, detection, pairs, groups, subsets, calibration analysis.

``loglik`` has one row per trial and one column per class, in nats; only differences within a row matter. ``label``
contains the true classes, as positions from 0 or as names with ``classes=``. Each class is averaged separately and
weighted by the specified prior. Information is in bits, `cross_entropy` in nats, and error rates are fractions.
"""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
