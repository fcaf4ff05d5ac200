"""How sure figures are: units of trials, their sums, and intervals from them."""
