"""The table of options, and the messages that name them."""

import importlib

import click
import pytest

from deciban.cli import options as module
from deciban.cli.main import COMMANDS
from deciban.cli.options import Option, in_options
from deciban.cli.parsing import METHODS, PARSERS

DECLARED = module._sections()
BUILT = {name: getattr(importlib.import_module(place), f"{name}_command") for name, (place, _) in COMMANDS.items()}


def own(command):
    return [one for one in command.params if isinstance(one, click.Option) and "--help" not in one.opts]


def test_every_option_of_a_command_is_declared_in_the_table():
    assert all(isinstance(one, Option) for command in BUILT.values() for one in own(command))


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
    assert f"Method: {', '.join(METHODS)}." in DECLARED["methods"]["--method"]["help"]


@pytest.mark.parametrize(
    ("command", "words", "text", "told"),
    [
        ("eval", "--group a=b", "groups: b is no class.", "--group: b is no class."),
        ("eval", "--dcf 2", "p_target: a prior must be inside (0, 1).", "p_target: a prior must be inside (0, 1)."),
        ("eval", "", 'Pass missing="drop" (--missing drop).', "Pass --missing drop."),
        ("eval", "", "Pass classes=, the names of the columns.", "Pass --classes, the names of the columns."),
        ("report", "", "Name them (train=, --train), or not.", "Name them (--train), or not."),
        ("calibrate", "", 'For log odds pass scores="log_odds"; else', "For log odds pass --scores-are log_odds; else"),
        ("calibrate", "", "Use shared_variance=True, or", "Use --shared-variance, or"),
        ("calibrate", "", "or ridge=1e-3.", "or --ridge 1e-3."),
        ("fuse", "", "otherwise pass symmetric=False (--asymmetric).", "otherwise pass --asymmetric."),
        ("eval", "", "Name the columns (--columns trial=utt).", "Name the columns (--columns trial=utt)."),
        ("eval", "", "Pass pairs=True to evaluate_classes.", "Pass --pairs."),
        (
            "fuse",
            "",
            "Or one for every set: SubsetFusion(missing='subset') (--missing subset).",
            "Or one for every set: --missing subset.",
        ),
        (
            "calibrate",
            "",
            "ridge=0.1.txt:1: no score in ridge=0.1.txt or ridge=2.txt",
            "ridge=0.1.txt:1: no score in ridge=0.1.txt or ridge=2.txt",
        ),
        ("eval", "--format a --key-format b", "format: 'b' is not known.", "format: 'b' is not known."),
        ("eval", "--columns a --key-columns=b", "columns: 'b' is unknown.", "columns: 'b' is unknown."),
        ("calibrate", "--p-target 0.1 --dcf 2", "p_target: got 2.", "p_target: got 2."),
        ("convert", "--format a --to b", "format: 'b' is not known.", "format: 'b' is not known."),
    ],
)
def test_messages_name_options_and_not_arguments(command, words, text, told):
    assert in_options(text, BUILT[command], words.split()) == told


def test_topics_and_common_options_are_options():
    known = {name for command in BUILT.values() for one in own(command) for name in one.opts}
    listed = " ".join(module._declared()["topics"].values()).split()
    assert sorted(set(listed)) == sorted(listed)
    assert set(listed) - known == {"--help", "--help-all", "--options"}
    for command, common in module._declared()["common"].items():
        context = click.Context(BUILT[command], info_name=command)
        assert set(common.split()) <= {name for one in BUILT[command].get_params(context) for name in one.opts}
