"""The table of options, and the messages that name them."""

import ast
import importlib
import re
import tomllib
from pathlib import Path

import click
import pytest

import deciban
from deciban import errors
from deciban.cli import options as module
from deciban.cli.main import COMMANDS
from deciban.cli.options import Option, in_options
from deciban.cli.parsing import METHODS, PARSERS
from deciban.errors import command_spelling, option

DECLARED = {name: module._declared(name) for name in module._texts() if name not in ("topics", "common", "file")}
BUILT = {name: getattr(importlib.import_module(place), f"{name}_command") for name, (place, _) in COMMANDS.items()}


def own(command):
    return [one for one in command.params if isinstance(one, click.Option) and "--help" not in one.opts]


def test_every_option_of_a_command_is_declared_in_the_table():
    assert all(isinstance(one, Option) for command in BUILT.values() for one in own(command))


def test_sections_are_those_of_the_whole_table():
    whole = tomllib.loads(Path(module.__file__).with_name("options.toml").read_text("utf-8"))
    assert whole == {name: module._declared(name) for name in module._texts()}


def test_every_section_is_an_option_of_a_command():
    used = {(one.name, one.help) for command in BUILT.values() for one in own(command)}
    for section, rows in DECLARED.items():
        for names, how in rows.items():
            name = names.split()[-1].partition("/")[0].lstrip("-").replace("-", "_")
            assert any(name == known and text == how.get("help") for known, text in used), (section, names)


def test_what_options_are_about_and_turned_into_is_known():
    rows = [how for section in DECLARED.values() for how in section.values()]
    assert {how.get("about", "classes") for how in rows} == {"two-class", "classes"}
    assert {how["parse"] for how in rows if "parse" in how} == set(PARSERS)


def test_the_help_of_methods_names_all_of_two_classes():
    assert re.findall(r"(\w+) \(", DECLARED["methods"]["--method"]["help"]) == list(METHODS)


@pytest.mark.parametrize(
    ("words", "text", "told"),
    [
        ("--group a=b", "groups: b is no class.", "--group: b is no class."),
        ("--apply-to a.txt", "test_scores: 2 systems.", "--apply-to: 2 systems."),
        ("--width 1 --difference 2", "width, difference: got both.", "--width, --difference: got both."),
        ("--width 1", "width, difference: got both.", "width, difference: got both."),
        ("--dcf 2", "p_target: a prior must be inside (0, 1).", "p_target: a prior must be inside (0, 1)."),
        ("--ridge 2", "ridge=0.1.txt:1: no score in a.txt", "ridge=0.1.txt:1: no score in a.txt"),
        ("--format a --key-format b", "format: 'b' is not known.", "format: 'b' is not known."),
        ("--columns a --key-columns=b", "columns: 'b' is unknown.", "columns: 'b' is unknown."),
        ("--p-target 0.1 --dcf 2", "p_target: got 2.", "p_target: got 2."),
        ("--format a --to b", "format: 'b' is not known.", "format: 'b' is not known."),
    ],
)
def test_a_message_starts_with_the_option_that_was_typed(words, text, told):
    with command_spelling():
        assert in_options(text, words.split()) == told


def _spelled_arguments():
    """Arguments that texts in the source spell as options, with the modules that do."""
    for path in sorted(Path(deciban.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "option":
                literal = [one.value for one in node.args if isinstance(one, ast.Constant)]
                yield from ((name, path.name) for name in [*literal, *(one.arg for one in node.keywords if one.arg)])


def test_every_argument_in_a_text_is_an_option_of_a_command():
    known = {name for command in BUILT.values() for one in own(command) for name in (*one.opts, *one.secondary_opts)}
    with command_spelling():
        spelled = {(option(name), name, module) for name, module in _spelled_arguments()}
    assert len(spelled) > 100
    assert {one for one in spelled if one[0] not in known} == set()


def test_irregular_names_of_options_are_needed():
    known = {name.lstrip("-") for command in BUILT.values() for one in own(command) for name in one.opts}
    for argument, name in errors._OPTIONS.items():
        assert name.replace("_", "-") in known
        assert argument.replace("_", "-") not in known


def test_topics_and_common_options_are_options():
    known = {name for command in BUILT.values() for one in own(command) for name in one.opts}
    listed = " ".join(module._declared("topics").values()).split()
    assert sorted(set(listed)) == sorted(listed)
    assert set(listed) - known == {"--help", "--help-all", "--options"}
    for command, common in module._declared("common").items():
        context = click.Context(BUILT[command], info_name=command)
        assert set(common.split()) <= {name for one in BUILT[command].get_params(context) for name in one.opts}
