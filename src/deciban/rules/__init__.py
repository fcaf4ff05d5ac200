"""Proper scoring rules and the information that they measure: what a posterior costs once the truth is known.

A rule says what it costs to have stated a distribution over the classes when one of them is true. It is proper if
nobody gains by stating another distribution than their own. Each rule is the cost of Bayes decisions in some
application, or a mixture of them (thesis chapters 3 and 7.4), and its expectation is a generalized entropy (thesis
2.1.6): what is left to find out, in bits of the logarithmic rule, or in units of cost.
"""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
