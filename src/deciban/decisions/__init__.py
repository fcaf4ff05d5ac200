"""Bayes decisions for any costs and prior, and their costs on trials with known true classes.

An application is a matrix of costs, (n_actions, n_classes), and a prior. Its decisions from log-likelihoods are
actions, one per trial. Actions can be anything: one of several classes, accept or reject, a set of classes, or no
answer. Each class is averaged separately and weighted by the prior: the class proportions of the data do not matter.
Log-likelihoods are in nats, risks in the unit of the costs.
"""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
