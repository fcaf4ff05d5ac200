"""Proper scoring rules and information: the costs of posteriors when the true class is known.

A rule is the cost of reporting a distribution over the classes, given the true class. It is proper if the expected cost
is lowest for the distribution that you believe. Each rule is the cost of Bayes decisions in some application, or a
mixture of such costs (thesis chapters 3 and 7.4). Its expectation is a generalized entropy (thesis 2.1.6): the
remaining uncertainty, in bits for the logarithmic rule, or in units of cost.
"""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
