"""From files and a key to a source: joined trials with their weights, units, conditions and quality measures."""
