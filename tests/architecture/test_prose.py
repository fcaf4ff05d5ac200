"""Prose stays plain: no more places that readers stumble over than there are (docs/contributing/writing.md).

The ceilings are only ever lowered. A hit can be right; then another place has to go.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
SOURCES = sorted((ROOT / "src/deciban").rglob("*.py"))
CLAUSE = re.compile(r"(What|Which|Whether|Whose|Those|Who|That|Of|How|Where)\b")
PHRASES = {
    "a noun would do": r"\b(of which|of whom)\b",
    "those without a noun": r"\bthose (of|that|which|who|are|is|in|with|from)\b",
    "things do not speak": r"\b(files?|scores?|figures?|trials?|systems?|models?|options?|units?|sums?|pages?|nothing)"
    r" (says?|tells?|knows?|cares?|speaks?)\b",
    "nobody says": r"\b(is|are|was|were|be|been) (said|told|asked for|spoken of)\b",
    "not a word of the field": r"\b(figures? of ranks|many classes|in batches|how sure|one's own)\b"
    r"|\bwhat \w+ (is|are) worth\b",
}
MOST_IN_PAGES = 39
"""Places on all pages."""
MOST_CLAUSES = 0
"""Docstrings that open with a clause instead of a verb or a noun."""


def prose(path):
    """Return the text of a page without code."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`|\"[^\"\n]*\"", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)


def docstrings(path):
    """Yield the docstrings of a module, of its classes and of its functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield text


def test_pages_have_no_more_places_that_readers_stumble_over():
    texts = {path: prose(path) for path in PAGES if path.name != "writing.md"}
    found = [
        f"{path.relative_to(ROOT)}: {' '.join(text[max(at.start() - 30, 0) : at.end() + 30].split())} ({why})"
        for why, pattern in PHRASES.items()
        for path, text in texts.items()
        for at in re.finditer(pattern, text, flags=re.IGNORECASE)
    ]
    assert len(found) <= MOST_IN_PAGES, "\n".join(found)


def test_docstrings_open_with_a_verb_or_a_noun():
    found = [
        f"{path.relative_to(ROOT)}: {text[:60]}" for path in SOURCES for text in docstrings(path) if CLAUSE.match(text)
    ]
    assert len(found) <= MOST_CLAUSES, "\n".join(found)


def odd_entries(text):
    """Entries of the sections Parameters and Attributes that are no names, or are there twice."""
    section, names = "", set()
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"-{3,}", following.strip()) and line.strip():
            section, names = line.strip(), set()
        elif section in ("Attributes", "Parameters") and re.match(r"[^\s-]", line):
            name = line.partition(" : ")[0]
            if name in names or not re.fullmatch(r"[*\w]+(, [*\w]+)*(, \.\.\.)?", name):
                yield line
            names.add(name)


def test_entries_of_docstrings_are_names_and_are_there_once():
    assert list(odd_entries("Parameters\n----------\na : int\n    One.\nb : str\nTwo words.\na : int")) == [
        "Two words.",
        "a : int",
    ]
    odd = [
        f"{path.relative_to(ROOT)}: {one[:60]}"
        for path in SOURCES
        for text in docstrings(path)
        for one in odd_entries(text)
    ]
    assert odd == []
