"""Multiclass evaluation."""
