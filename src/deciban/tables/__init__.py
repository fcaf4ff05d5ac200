"""Results as tables: in a terminal, as CSV, Markdown, LaTeX and HTML, and as data frames."""
