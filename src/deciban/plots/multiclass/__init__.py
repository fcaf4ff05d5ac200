"""Pictures of many classes."""
