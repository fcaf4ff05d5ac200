"""Tables of trials to and from Arrow tables and data frames."""
