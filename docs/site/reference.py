"""Reference pages that are generated from the package."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import figures

import deciban
from deciban.cli.main import COMMANDS

PACKAGES = (
    *(
        "metrics",
        "multiclass",
        "decisions",
        "rules",
        "spoofing",
        "biometrics",
        "losses",
        "evaluation",
        "calibration",
        "fusion",
        "analysis",
    ),
    *("trials", "io", "models", "workflows", "plots", "report", "sklearn"),
)
"""Packages with a reference page, after `deciban` itself."""

_WIDTH = 110


def write(folder: Path, *, quick: bool = False) -> list[str]:
    """Write all generated pages into a folder and return the names of the main ones."""
    made: dict[str, Callable[[], str]] = {"commands.md": commands, "schemas.md": schemas}
    made |= {
        "presets-of-evaluations.md": presets,
        "readable-formats.md": formats,
        "figures.md": figures.write,
        "api.md": api,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in made.items():
        (folder / name).write_text(make())
    done = set[int]()
    for name in ("deciban", *(f"deciban.{one}" for one in PACKAGES)):
        (folder / f"{name}.md").write_text(package(importlib.import_module(name), done, quick=quick))
    return list(made)


def api() -> str:
    """Return the list of packages."""
    names = ["deciban", *(f"deciban.{one}" for one in PACKAGES)]
    rows = "\n".join(f"| [{name}]({name}.md) | {_summary(importlib.import_module(name))} |" for name in names)
    listed = "\n".join(names)
    return f"# Python\n\n| Package | Content |\n|---|---|\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def package(module: ModuleType, done: set[int], *, quick: bool = False) -> str:
    """Return the page of a package: tables of its public names by topic, then their docstrings.

    Names that another page documents are only listed.

    Parameters
    ----------
    module : module
    done : set of int
        Identities of documented objects; new ones are added.
    quick : bool
        Write names without docstrings.
    """
    parts, topics, elsewhere = [], dict[str, list[str]](), []
    for name in public_names(module):
        found = getattr(module, name)
        if not callable(found):
            continue
        if id(found) in done or _is_former_name(module, name):
            elsewhere.append(f"`{name}`")
            continue
        done.add(id(found))
        row = f"| {{py:obj}}`~{module.__name__}.{name}` | {_summary(found)} |"
        topics.setdefault(getattr(found, "__module__", module.__name__), []).append(row)
        kind, members = ("autoclass", "   :members:\n") if inspect.isclass(found) else ("autofunction", "")
        if quick:
            parts.append(f"## {name}\n")
            continue
        parts.append(f"## {name}\n\n```{{eval-rst}}\n.. {kind}:: {module.__name__}.{name}\n{members}```\n")
    table = "".join(
        f"**{_topic(home)}** (`{home}`)\n\n" + "\n".join(["| Name | Description |", "|---|---|", *rows]) + "\n\n"
        for home, rows in sorted(topics.items(), key=lambda one: (".core." in one[0], one[0]))
    )
    also = f"Other pages document: {', '.join(elsewhere)}.\n\n" if elsewhere else ""
    return f"# {module.__name__}\n\n{_summary(module)}\n\n{table}{also}" + "\n".join(parts)


def _topic(home: str) -> str:
    """Return the topic of a module: its docstring up to the first colon or full stop."""
    return re.split(r"[:.;](?:\s|$)", _summary(importlib.import_module(home)))[0]


def public_names(module: ModuleType) -> list[str]:
    """Return the public names of a package in alphabetical order."""
    return sorted(name for name in getattr(module, "__all__", dir(module)) if not name.startswith("_"))


def _is_former_name(module: ModuleType, name: str) -> bool:
    """Return True if the name is an alias of another public name of the package."""
    own = getattr(getattr(module, name), "__name__", name)
    return own != name and getattr(module, own, None) is getattr(module, name)


def _summary(found: Any) -> str:
    return (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")


def commands() -> str:
    """Return the help of every command."""
    parts = ["# Commands\n"]
    for name, (where, words) in COMMANDS.items():
        command = getattr(importlib.import_module(where), f"{name}_command")
        context = click.Context(command, info_name=f"deciban {name}", max_content_width=_WIDTH, terminal_width=_WIDTH)
        parts.append(f"## deciban {name}\n\n{words}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def schemas() -> str:
    """Return the JSON Schemas of all commands."""
    parts = ["# JSON Schemas\n\n`deciban.json_schemas()` returns complete schemas; the common part is listed once.\n"]
    known = deciban.json_schemas()
    shared = next(iter(known.values()))["$defs"]
    for name, one in {**known, "common": shared["common"]}.items():
        text = json.dumps({key: value for key, value in one.items() if key != "$defs" or name == "common"}, indent=1)
        parts.append(f"## {name}\n\n```json\n{text}\n```\n")
    return "\n".join(parts)


def presets() -> str:
    """Return the explanation of every preset."""
    names = [one["name"] for one in json.loads(_printed("presets", "--json"))["presets"]]
    parts = ["# Presets of evaluations\n\nThe output of `deciban presets NAME`.\n"]
    parts += [f"## {name}\n\n```text\n{_printed('presets', name)}```\n" for name in names]
    return "\n".join(parts)


def formats() -> str:
    """Return the list of formats."""
    return f"# List of file formats\n\nThe output of `deciban formats`.\n\n```text\n{_printed('formats')}```\n"


def _printed(*words: str) -> str:
    """Return the output of a command."""
    from click.testing import CliRunner

    command = getattr(importlib.import_module(COMMANDS[words[0]][0]), f"{words[0]}_command")
    result = CliRunner(env={"COLUMNS": str(_WIDTH)}).invoke(command, list(words[1:]), catch_exceptions=False)
    if result.exit_code:
        raise RuntimeError(f"deciban {' '.join(words)}: {result.output}")
    return result.output
