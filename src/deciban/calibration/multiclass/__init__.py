"""Calibrations, transformations and Gaussian back-ends of many classes."""
