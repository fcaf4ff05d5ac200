"""Shell completion for names of formats, presets, methods, files and their columns.

The shell calls it at every press of a key. So it looks only at files that were typed, and imports nothing heavy for
text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete, add_completion_class

from deciban._files import atomic_write
from deciban.cli.shared.parsing import METHODS, files

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_PACKAGE = Path(__file__).parents[2]

_HEADER = 1 << 16
"""Maximum number of bytes for the header of a text file."""

_ROLES = ("enroll", "test", "side", "trial", "score", "label", "class")


def _offering(words: Callable[[click.Context, str], Iterable[str]], *, or_files: bool = False) -> Completer:
    """Return a completer for the part after the last comma; it offers files if no word matches and `or_files`."""

    def complete(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        found = [CompletionItem(before + comma + one) for one in words(context, last) if one.startswith(last)]
        return found if found or not or_files else files(context, param, incomplete)

    return complete


def _formats() -> list[str]:
    return list(tomllib.loads((_PACKAGE / "io/formats/formats.toml").read_text("utf-8")))


def _presets() -> list[str]:
    files = sorted((_PACKAGE / "evaluation/preset_files").glob("*.toml"))
    return [word for one in files for word in (one.stem, *tomllib.loads(one.read_text("utf-8")).get("aliases", ()))]


def _methods() -> list[str]:
    return list(METHODS)


def _figures() -> list[str]:
    from deciban.evaluation.metrics import METRICS

    return [one.name for one in METRICS if one.tables != "none"]


def columns_of(path: str) -> list[str]:
    """Return the column names of a file, if its first bytes contain them.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text('modelid,segmentid,"LLR"\\na,b,1.5\\n')
    >>> columns_of(str(path)), columns_of("nowhere.txt")
    (['modelid', 'segmentid', 'LLR'], [])
    """
    try:
        if path.endswith((".parquet", ".arrow", ".feather")):
            return _schema_of(path)
        with Path(path).open("rb") as file:
            start, *others = file.read(_HEADER).split(b"\n")
            first = start.decode("utf-8-sig")
    except (OSError, ValueError):
        return []
    delimiter = next((one for one in ("\t", ",") if one in first), None)
    words = _cells(first, delimiter)
    is_header = all(words) and not any(re.fullmatch(r"[-+.\d]+(?:e[-+]?\d+)?", word, re.IGNORECASE) for word in words)
    below = (_cells(line.decode("utf-8", "replace"), delimiter) for line in others)
    is_header = is_header and not any(one == word for row in below for one, word in zip(row, words, strict=False))
    return words if is_header else []  # a word that occurs again in its column is a value


def _cells(line: str, delimiter: str | None) -> list[str]:
    return [word.strip().strip('"') for word in line.split(delimiter)]


def _schema_of(path: str) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet

    if path.endswith(".parquet"):
        return list(pyarrow.parquet.read_schema(path).names)
    with pa.OSFile(path) as file:
        return list(pa.ipc.open_file(file).schema.names)


Columns: TypeAlias = Callable[[click.Context], list[str]]


def _columns(*places: str) -> Columns:
    """Return a function that finds columns of the typed files, in the first of these places with files."""

    def found(context: click.Context) -> list[str]:
        for place in places:
            # While the value of an option is being typed, arguments are still unsorted.
            is_option = any(one.name == place and isinstance(one, click.Option) for one in context.command.params)
            typed: Any = context.params.get(place) or ([] if is_option else context.args)
            paths = [typed] if isinstance(typed, str) else typed
            if paths:
                return next(filter(None, (columns_of(str(path)) for path in paths)), [])
        return []

    return found


def _roles(columns: Columns) -> Completer:
    """Return a completer of roles and, after their equals sign, of columns."""

    def words(context: click.Context, last: str) -> list[str]:
        role, equals, _ = last.partition("=")
        return [f"{role}={one}" for one in columns(context)] if equals else [f"{one}=" for one in _ROLES]

    return _offering(words)


_OF_KEY = _columns("key", "scores", "source")
_OF_SCORES = _columns("scores", "source", "files", "submission")
_COLUMNS_OF_KEY = _offering(lambda context, _: _OF_KEY(context))
_FORMATS = _offering(lambda *_: _formats())

_BY_OPTION: dict[str, Completer] = {
    **dict.fromkeys(("--format", "--key-format", "--trials-format", "--to"), _FORMATS),
    "--preset": _offering(lambda *_: _presets()),
    "--method": _offering(lambda *_: _methods()),
    "--columns": _roles(_OF_SCORES),
    "--key-columns": _roles(_columns("key")),
    "--trials-columns": _roles(_columns("trials")),
    "--where": _offering(lambda context, _: [f"{one}=" for one in _OF_KEY(context)]),
    **dict.fromkeys(("--weights", "--cross-validate"), _COLUMNS_OF_KEY),
    "--against": _offering(lambda *_: ("all", "first")),
    **dict.fromkeys(("--figure", "--fail-if-worse"), _offering(lambda *_: _figures())),
    "--units": _offering(lambda context, _: ["trials", "product", "product:", *_OF_KEY(context)], or_files=True),
}


class _Bash(BashComplete):
    """Completion for bash, which splits words at ``=`` and replaces only the last part."""

    _cuts = False

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words as they were typed, and the last one."""
        args, incomplete = super().get_completion_args()
        words = list[str]()
        joining = False
        for word in [*args, incomplete]:
            if words and (joining or word == "="):
                words[-1] += word
            else:
                words.append(word)
            joining = word == "="
        self._cuts = len(words) <= len(args)
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """Return the completion, or only its part after the last ``=`` if bash has split the word."""
        value = item.value.rpartition("=")[2] if self._cuts and not item.value.endswith("=") else item.value
        return f"{item.type},{value}"


def register() -> None:
    """Use this completion for bash."""
    add_completion_class(_Bash)


def completer_of(option: str, metavar: str | None) -> Completer | None:
    """Return the completer for the values of an option, by its name or its metavar; None if there is none.

    Parameters
    ----------
    option : str
        Long name of the option.
    metavar : str or None
    """
    if option in _BY_OPTION:
        return _BY_OPTION[option]
    return files if re.search(r"FILE|OUT|PATH|SCORES|MODEL|\.json", metavar or "") else None


_SHELLS = {
    "bash": (_Bash, ".local/share/bash-completion/completions/deciban"),
    "zsh": (ZshComplete, ".zfunc/_deciban"),
    "fish": (FishComplete, ".config/fish/completions/deciban.fish"),
}
"""Scripts in the home folder; bash (with the package bash-completion) and fish find them."""


def install(command: click.Command, shell: str) -> str:
    """Write the completion script of a shell into the home folder, and return what was done.

    Parameters
    ----------
    command : click.Command
    shell : str
        Path of the shell.

    Raises
    ------
    click.UsageError
        If there is no completion for the shell.
    """
    name = Path(shell).name
    if name not in _SHELLS:
        raise click.UsageError(f"$SHELL is {shell!r}. Completion is for {', '.join(_SHELLS)}: set SHELL=/bin/bash.")
    kind, place = _SHELLS[name]
    path = Path.home() / place
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream:
        stream.write(kind(command, {}, "deciban", "_DECIBAN_COMPLETE").source().encode())
    more = f" Add this line to ~/.zshrc before compinit: fpath+=({path.parent})" if name == "zsh" else ""
    return f"wrote {path}: completion works in new shells.{more}"
