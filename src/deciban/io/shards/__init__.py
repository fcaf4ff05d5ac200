"""Trials that do not fit in memory: sources in pieces, each of which is read by itself."""
