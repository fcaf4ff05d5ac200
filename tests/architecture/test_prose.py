"""Prose stays plain: no more places that readers stumble over than there are (docs/contributing/writing.md).

The ceilings are only ever lowered. A hit can be right; then another place has to go.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from support.parsed import tree

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


@cache
def docstrings(path):
    """Return the docstrings of a module, of its classes and of its functions."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    return [text for node in ast.walk(tree(path)) if isinstance(node, kinds) and (text := ast.get_docstring(node))]


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


OPTION = re.compile(r"(?<![\w-])--[a-z]|\{(option|either)\(")
"""An option, or a call of the function that spells it in a text that lacks the `f` for it."""
WHOLE_COMMAND = re.compile(r"deciban( [\w.]+| \{\})+|dask worker|h5repack")


def texts_of(tree):
    """Yield the texts of a module with their lines: no docstrings, and no arguments of `either`."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "either":
            skipped |= {id(part) for one in node.args for part in ast.walk(one)}
        elif isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        if id(node) not in skipped and all(isinstance(one, ast.Constant | ast.FormattedValue) for one in parts):
            text = "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in parts)
            yield node.lineno, text


def strings_in(value):
    """Yield the strings in a value of a TOML file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings_in(one)


def test_texts_outside_of_the_command_line_leave_options_to_one_function():
    below = [path for path in SOURCES if path.parent.name != "cli"]
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in below
        for line, text in texts_of(ast.parse(path.read_text()))
        if OPTION.search(text) and not WHOLE_COMMAND.search(text)
    ]
    tables = [path for path in (ROOT / "src/deciban").rglob("*.toml") if path.parent.name != "cli"]
    found += [
        f"{path.relative_to(ROOT)}: {text}"
        for path in tables
        for text in strings_in(tomllib.loads(path.read_text()))
        if OPTION.search(text)
    ]
    assert found == []


def test_arguments_are_spelled_when_a_text_is_needed():
    """A text that is composed on import has the spelling of Python for ever."""
    late, calls = set(), {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                late |= {
                    (path, part.lineno, part.col_offset)
                    for one in node.body
                    for part in ast.walk(one)
                    if isinstance(part, ast.Call)
                }
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("option", "either"):
                calls[path, node.lineno, node.col_offset] = ast.unparse(node)
    assert len(calls) > 150
    assert {place: call for place, call in calls.items() if place not in late} == {}
