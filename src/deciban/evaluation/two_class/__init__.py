"""Evaluation of two-class scores: summaries, metrics and intervals, of all scores at once or of batches."""
