"""What a shell offers for the word that is being typed: names of formats, presets, methods, files and their columns.

It is asked at every press of a key: only files that were typed are looked at, and nothing heavy is imported for text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from deciban.cli.shared.parsing import METHODS, files

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_PACKAGE = Path(__file__).parents[2]

_HEADER = 1 << 16
"""Bytes of a text file in which its header ends."""

_ROLES = ("enroll", "test", "side", "trial", "score", "label", "class")


def _offering(words: Callable[[click.Context, str], Iterable[str]], *, or_files: bool = False) -> Completer:
    """Offer the words that begin as what is typed after the last comma; files where there are none, if asked."""

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
    """The names of the columns of a file, if it has some that can be seen at a glance.

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
    return words if is_header else []  # a name that is in its column again is a value of it


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
    """Columns of the files that were typed in the first of these places that has some."""

    def found(context: click.Context) -> list[str]:
        for place in places:
            # While the value of an option is typed, arguments are not sorted yet.
            is_option = any(one.name == place and isinstance(one, click.Option) for one in context.command.params)
            typed: Any = context.params.get(place) or ([] if is_option else context.args)
            paths = [typed] if isinstance(typed, str) else typed
            if paths:
                return next(filter(None, (columns_of(str(path)) for path in paths)), [])
        return []

    return found


def _roles(columns: Columns) -> Completer:
    """Offer roles, and columns after their equals sign."""

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
    """Bash takes ``=`` for a word of its own, and shows and replaces what stands behind it."""

    _cuts = False

    def get_completion_args(self) -> tuple[list[str], str]:
        """Words as they were typed, and the last one."""
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
        """What stands behind the last ``=``, if there was one."""
        value = item.value.rpartition("=")[2] if self._cuts and not item.value.endswith("=") else item.value
        return f"{item.type},{value}"


def register() -> None:
    """Let the command line answer bash in this way."""
    add_completion_class(_Bash)


def completer_of(option: str, metavar: str | None) -> Completer | None:
    """What offers values of an option, by its name or by what help calls its value; None where nothing can be offered.

    Parameters
    ----------
    option : str
        Its long name.
    metavar : str or None
    """
    if option in _BY_OPTION:
        return _BY_OPTION[option]
    return files if re.search(r"FILE|OUT|PATH|SCORES|MODEL|\.json", metavar or "") else None
