"""Uncertainty of metrics: units of trials, sums over units, and confidence intervals."""
