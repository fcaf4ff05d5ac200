"""Proper scoring rules: their kernels, tables, exact sums and expectations."""
