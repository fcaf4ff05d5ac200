"""Evaluation of many classes."""
