"""The glossary is about names that there are; a page for developers forbids names of modules."""

import importlib
import re
from pathlib import Path

import pytest

from deciban import evaluate, evaluate_classes, json_schemas
from deciban.cli.main import COMMANDS
from deciban.evaluation import Results
from deciban.trials import JoinReport

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/glossary.md").read_text()
SOURCES = sorted((ROOT / "src/deciban").rglob("*.py"))
FORBIDDEN = (ROOT / "docs/contributing/writing.md").read_text().partition("## Words that name no module")[2]


def rows():
    """Term, and names in code, of every row of every table."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "term":
            yield cells[0], re.findall(r"`([^`]+)`", cells[2])


ROWS = dict(rows())
NAMES = sorted({name for names in ROWS.values() for name in names})


def options():
    """Options of all commands."""
    for command, (module, _) in COMMANDS.items():
        for parameter in getattr(importlib.import_module(module), f"{command}_command").params:
            yield from (*parameter.opts, *parameter.secondary_opts)


def json_keys(value):
    """All keys of an object, and of the objects in it."""
    if isinstance(value, dict):
        yield from value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from json_keys(one)


def printed_keys():
    """What commands print as JSON: evaluations of both kinds, and the layout of training results."""
    evaluations = evaluate([1.0, 2.0], [0.0, 1.0]), evaluate_classes([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    for one in evaluations:
        yield from json_keys(Results((one,), JoinReport(4, 0, 0, 0)).to_dict())
    layout = json_schemas()["training"]["$defs"]["common"]["$defs"]["training"]
    yield from layout["properties"]
    yield from layout["properties"]["rows"]["items"]["properties"]


@pytest.fixture(scope="module")
def known():
    text = "\n".join(path.read_text() for path in SOURCES)
    return {"option": set(options()), "key": set(printed_keys()), "name": set(re.findall(r"[A-Za-z_]\w*", text))}


def test_names_in_the_glossary_are_there(known):
    assert [name for name in NAMES if not is_there(name, known)] == []


def is_there(name, known):
    if name.startswith("--"):
        return name in known["option"]
    if name.startswith('"'):
        return name.strip('"') in known["key"]
    return set(name.split(".")) <= known["name"]


def test_every_term_has_a_name_in_code_and_no_other_row():
    words = [word for word, _ in rows()]
    assert len(words) == len(set(words)) > 50
    assert all(ROWS.values())


def test_no_module_has_a_forbidden_name():
    forbidden = set(re.findall(r"`(\w+)`", FORBIDDEN)) - {"get_", "compute_"}
    assert len(forbidden) > 20
    names = {path.stem for path in SOURCES} | {path.parent.name for path in SOURCES}
    assert not names & forbidden


def test_no_function_gets_or_computes():
    defined = {name for path in SOURCES for name in re.findall(r"def ((?:get|compute)_\w+)", path.read_text())}
    assert defined == {
        "get_command",
        "get_completion_args",
        "get_feature_names_out",
        "get_params",
    }  # names of click and scikit-learn
