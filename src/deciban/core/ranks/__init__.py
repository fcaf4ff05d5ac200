"""Counts of ranks: the count table, PAV, convex hulls, operating points."""
