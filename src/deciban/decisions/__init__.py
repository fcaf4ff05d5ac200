"""Decisions at a price: Bayes decisions for any costs and prior, and what they cost on trials of known truth.

An application is a matrix of costs, (n_actions, n_classes), and a prior. From log-likelihoods it makes decisions, one
action per trial, which may be any: one class out of many, accept or reject, a set of classes, nothing at all. Classes
are averaged one by one and weighted by the prior: the class proportions of the data never enter. Log-likelihoods are
in nats, risks in the unit of the costs.
"""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
