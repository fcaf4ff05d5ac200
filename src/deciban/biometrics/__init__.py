"""Metrics of biometric testing: identification (1:N) and differences between groups of subjects.

Larger scores favour a mated comparison. A comparison is accepted if its score is at or above the threshold. All rates
are fractions, and intervals are by subject.
"""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
