"""Pages of the documentation: the Python that they show, and what they say that it prints."""

import base64
import contextlib
import io
import json
import re
import zlib
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"```python\n(.*?)```(?:\n```text\n(.*?)```)?", flags=re.DOTALL)


def page(name):
    """The text of a page, by the name of its file, in whatever folder of the documentation."""
    (path,) = DOCS.rglob(name)
    return path.read_text()


def run_python(text):
    """Run the blocks of a page one after the other; what one prints is what the page says. Returns their number."""
    names = {}
    blocks = _BLOCK.findall(text)
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # noqa: S102
        assert lacks(printed.getvalue(), expected) == ""
    assert len(blocks) == text.count("```python")
    return len(blocks)


_STEP = re.compile(r"^```(bash|python)\n(.*?)^```$(?:\n+```(?:text)?\n(.*?)^```$)?", flags=re.MULTILINE | re.DOTALL)


def steps(text):
    """The blocks of a page that run, in order: language, code, and what the page says that it prints, or ""."""
    return _STEP.findall(text)


def lacks(printed, shown):
    """The first part of what a page shows that was not printed, "" if none lacks: a line `...` stands for any lines."""
    parts = [part.strip("\n") for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)]
    if len(parts) == 1:
        return "" if printed.strip("\n") == parts[0] else parts[0]
    for part in filter(None, parts):
        _, there, printed = printed.partition(part)
        if not there:
            return part
    return ""


def script_data(text):
    """What the scripts of a page of results know, from the text of its element, or of the page."""
    element = re.search(r'id="page-data">(.*?)</script>', text, re.DOTALL)
    return json.loads(zlib.decompress(base64.b64decode(element[1] if element else text)))
