"""Pages of the documentation: the Python that they show, and what they say that it prints."""

import contextlib
import io
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"```python\n(.*?)```(?:\n```text\n(.*?)```)?", flags=re.DOTALL)


def page(name):
    return (DOCS / name).read_text()


def run_python(text):
    """Run the blocks of a page one after the other; what one prints is what the page says. Returns their number."""
    names = {}
    blocks = _BLOCK.findall(text)
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # noqa: S102
        assert printed.getvalue() == expected
    assert len(blocks) == text.count("```python")
    return len(blocks)
