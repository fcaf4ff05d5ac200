"""From pieces of data to one result: pieces are mapped to sums, and sums added up, here or elsewhere."""
