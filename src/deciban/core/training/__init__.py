"""Objectives, their optimizers, and what tells that there is no optimum."""
