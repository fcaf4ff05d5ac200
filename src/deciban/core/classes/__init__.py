"""Multiclass kernels: log-likelihoods, counts, subsets, Gaussians."""
