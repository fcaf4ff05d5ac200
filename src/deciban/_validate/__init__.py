"""Conversion and checks of arguments: arrays, priors, weights, classes."""
