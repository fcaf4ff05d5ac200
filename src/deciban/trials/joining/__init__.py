"""Where the trials of one table stand in another, and tables put together."""
