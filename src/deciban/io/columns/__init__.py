"""Tables with named columns: meaning of the columns, and conversion to tables of trials."""
