"""What the page on scoring rules shows runs, and prints what it says."""

import contextlib
import io
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/rules.md").read_text()


def test_what_python_prints():
    known, blocks = {}, re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == 3
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, known)
        assert printed.getvalue() == shown
