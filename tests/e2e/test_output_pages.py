"""What the pages on tables and on JSON show runs, prints what they say, and names every key and command."""

import json
import re

import pytest

import deciban
from deciban.cli.main import COMMANDS
from deciban.io import write_demo
from support.pages import page, run_python

OUTPUT, JSON = page("output.md"), page("json.md")


def test_code_of_the_pages_prints_what_the_pages_say():
    assert (run_python(OUTPUT), run_python(JSON)) == (3, 1)


COMMAND = re.compile(r"^deciban [^>|\n]*", flags=re.MULTILINE)


@pytest.mark.parametrize("line", COMMAND.findall(OUTPUT + JSON))
def test_commands_of_the_pages_run(line, tmp_path, deciban):
    write_demo(tmp_path)
    assert deciban(line.strip(), tmp_path)


def test_every_command_and_key_is_on_the_page():
    common = deciban.json_schemas()["eval"]["$defs"]["common"]["$defs"]
    words = set(re.findall(r"`([\w-]+)`", JSON))
    assert set(COMMANDS) <= words
    for name in ("envelope", "two_class_evaluation", "file", "message"):
        assert set(common[name]["properties"]) <= words, name
    schemas = deciban.json_schemas()
    for name in COMMANDS.keys() - {"calibrate", "fuse"}:
        assert set(schemas[name]["properties"]) - {"command"} <= words | {"plot"}


def test_the_version_of_the_layout_is_that_of_the_page():
    found = json.loads(deciban.Results((deciban.evaluate([1.0, 2.0], [0.0]),)).to_json())
    assert f"version of the layout, {found['schema']};" in JSON
