"""Fusion of the scores of several systems to log-likelihood ratios, or to multiclass log-likelihoods."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
