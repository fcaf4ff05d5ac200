"""Many classes: log-likelihoods, counts, subsets, Gaussians."""
