"""Text tables: how lines are laid out, read and written."""
