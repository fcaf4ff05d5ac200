"""What the page on fusion shows in Python runs, and gives what it says."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/fusion.md"


def test_what_the_page_shows_in_python_is_what_happens():
    text = PAGE.read_text()
    shown = [block for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL) if ">>>" in block]
    assert shown
    test = doctest.DocTestParser().get_doctest("\n".join(shown), {}, PAGE.name, str(PAGE), 0)
    assert doctest.DocTestRunner().run(test).failed == 0
