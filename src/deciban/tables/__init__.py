"""Results as tables: in a terminal, as CSV, Markdown, LaTeX and HTML, and as data frames."""

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)
