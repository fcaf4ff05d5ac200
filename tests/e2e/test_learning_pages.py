"""Pages to learn from, and pages of tasks: every line runs, and prints what the page says."""

import pytest

from support.pages import DOCS, steps

NAMES = (
    "ten-minutes",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_is_printed(name, tmp_path, walk):
    (path,) = DOCS.rglob(f"{name}.md")
    text = path.read_text()
    assert steps(text)
    walk(text, tmp_path)
