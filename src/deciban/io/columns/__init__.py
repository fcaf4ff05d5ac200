"""Tables with named columns: what the columns mean, and tables of trials made out of them."""
