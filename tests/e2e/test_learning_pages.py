"""Pages to learn from, and pages of tasks: every line runs, and prints what the page says."""

import pytest

from support.pages import DOCS, steps

NAMES = (
    "install",
    "ten-minutes",
    "what-numbers-mean",
    "night-before-the-deadline",
    "forensic-case",
    "fourteen-languages",
    "spoofing",
    "image-classifier",
    "billion-trials",
    "choosing-a-rule",
    "no-speaker-column",
    "scores-are-log10",
    "gate-a-pipeline",
    "two-files-of-numbers",
    "a-csv-with-labels",
    "most-misleading-trials",
    "threshold-from-dev",
    "fuse-with-missing-trials",
    "validate-a-submission",
    "print-for-a-paper",
    "five-conditions",
    "plug-in-a-format",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_is_printed(name, tmp_path, walk):
    (path,) = DOCS.rglob(f"{name}.md")
    text = path.read_text()
    assert steps(text)
    walk(text, tmp_path)
