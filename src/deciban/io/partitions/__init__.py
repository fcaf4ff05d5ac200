"""Trials that do not fit in memory: sources of partitions that are read separately."""
