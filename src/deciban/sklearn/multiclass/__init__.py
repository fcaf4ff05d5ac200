"""Estimators of many classes."""
