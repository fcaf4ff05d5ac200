"""Values of options: parsers with an example in every error, shell completion, and the plot that a command writes."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete, add_completion_class

from deciban._files import atomic_write

if TYPE_CHECKING:
    from deciban.rules.families import ThresholdRule
    from deciban.types import Raw

METHODS = {
    "affine": "AffineCalibrator",
    "pav": "PavCalibrator",
    "gaussian": "GaussianCalibrator",
    "beta": "BetaCalibrator",
    "shift": "ShiftCalibrator",
    "scale": "ScaleCalibrator",
    "bound": "BoundCalibrator",
    "elub": "ElubCalibrator",
}
"""Class of each method; options are named after the arguments of its constructor."""


def files(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete file names."""
    return [CompletionItem(incomplete, type="file")]


def _require(is_known: object) -> None:
    if not is_known:
        raise ValueError


def _finite(text: str) -> float:
    number = float(text)
    _require(math.isfinite(number))
    return number


def _one(parse: Callable[[str], Any], example: str) -> Callable[[str], Any]:
    """Return a function that parses text; if `parse` raises ValueError, its error contains an example."""

    def read(text: str) -> Raw:
        try:
            return parse(text)
        except ValueError:
            raise click.BadParameter(f"{text!r}: write {example}") from None

    return read


def _each(
    parse: Callable[[str], Any], example: str, gather: Callable[[Iterable[Any]], Any] = list
) -> Callable[[Sequence[str]], Any]:
    """Return the same for an option that can be repeated; `gather` combines the values."""
    return lambda texts: gather(map(_one(parse, example), texts))


def _point(text: str) -> tuple[float, ...]:
    parts = tuple(map(float, text.split(":")))
    _require(len(parts) in (1, 3))
    return parts


def _failures(text: str) -> dict[str, tuple[int, int]]:
    """Return failures and attempts to enrol and to acquire."""
    entries = dict(part.split("=") for part in text.casefold().split(","))
    _require(text.count("=") == len(entries))
    words = (("enrol", "fte"), ("acquire", "fta"))
    counts = {name: tuple(map(int, entries.pop(word, "").split("/"))) for name, word in words}
    if entries or not all(len(pair) == 2 and 0 <= pair[0] <= pair[1] > 0 for pair in counts.values()):
        raise ValueError(text)
    return {name: (pair[0], pair[1]) for name, pair in counts.items()}


def _three_rates(text: str) -> list[float]:
    rates = [_finite(part) for part in text.split(",")]
    _require(len(rates) == 3 and all(0.0 <= rate <= 1.0 for rate in rates))
    return rates


def _margin(text: str) -> tuple[str, float]:
    """Return the name of a metric, and the margin by which it can be worse."""
    metric, colon, margin = text.partition(":")
    value = _finite(margin) if colon else 0.0
    _require(metric and value >= 0.0)
    return metric, value


def _missing(*more: str) -> Callable[[str], Any]:
    """Return a parser of policies on missing scores; policies in `more` stay text."""
    known = ("error", "drop", *(one for one in more if "=" not in one))

    def parse(text: str) -> Raw:
        word, _, value = text.partition("=")
        if word == "fill":
            return float(value)
        _require(text in known or word in [one.partition("=")[0] for one in more])
        return text

    return _one(parse, f"{', '.join(known)} or fill=VALUE.")


def _condition(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    _require(equals)
    return name.strip(), values.split("|")


def _labels(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    _require(all(equals for _, equals, _ in pairs))
    return {side.strip(): words.strip() for side, _, words in pairs}


def _classes(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    _require(len(names) > 1 and len(set(names)) == len(names) and all(names))
    return names


def _group(text: str) -> tuple[str, list[str]]:
    name, equals, classes = text.partition("=")
    members = [one.strip() for one in classes.split(",")]
    _require(equals and name.strip() and all(members))
    return name.strip(), members


def _groups(pairs: Iterable[tuple[str, list[str]]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, members in pairs:
        if name in groups:
            raise click.BadParameter(f"group {name!r} is given twice.")
        groups[name] = members
    return groups


def _prior(text: str) -> Raw:
    """Return a prior: ``flat``, probabilities in the order of the classes or by their names, or shares.

    >>> _prior("2:1:1"), _prior("a=0.25,b=0.75")
    ([0.5, 0.25, 0.25], {'a': 0.25, 'b': 0.75})
    """
    if text == "flat":
        return text
    if "=" in text:
        pairs = [part.rpartition("=") for part in text.split(",")]
        raw = {name.strip(): _finite(value) for name, _, value in pairs}
        _require(len(raw) == len(pairs) and all(raw))
        return raw
    if ":" not in text:
        return [_finite(part) for part in text.split(",")]
    shares = [_finite(part) for part in text.split(":")]
    _require(min(shares) >= 0 and 0 < sum(shares) < math.inf)
    return [share / sum(shares) for share in shares]


def _held_out(text: str) -> dict[str, Any]:
    """Return the arguments for cross-validation: what to hold out, and possibly the number of folds."""
    named, colon, number = text.rpartition(":")
    if not colon and text.isdecimal():
        return {"cross_validate": int(text)}
    if not (colon and number.isdecimal()):
        named, number = text, ""
    columns = tuple(part.strip() for part in named.split(","))
    _require(len(columns) <= 2 and all(columns))
    by = columns[0] if len(columns) == 1 else columns
    return {"cross_validate": by, **({"n_folds": int(number)} if number else {})}


def parse_quality(names: Sequence[str]) -> str | dict[str, str]:
    """Parse ``FILE`` or several ``SIDE=FILE`` into files of quality measures."""
    from deciban.fusion.quality_measures import QUALITY_SIDES

    pairs = [text.partition("=") for text in names]
    for text, (side, equals, _) in zip(names, pairs, strict=True):
        if equals and side.isidentifier() and side not in QUALITY_SIDES and not Path(text).exists():
            raise click.BadParameter(f"{text!r}: {side!r} is none of {', '.join(QUALITY_SIDES)}.")
    named = [side in QUALITY_SIDES and bool(path) for side, _, path in pairs]
    if len(names) < 2 and not any(named):
        return names[0]
    sides = {side: path for side, _, path in pairs}
    if not all(named) or len(sides) < len(names):
        raise click.BadParameter("write FILE, or enroll=FILE and test=FILE for two of them.")
    return sides


def parse_measures(values: Sequence[str]) -> list[str] | dict[str, list[str]]:
    """Parse ``NAME,NAME`` or several ``SIDE=NAME,NAME`` into names of quality measures."""
    from deciban.fusion.quality_measures import QUALITY_SIDES

    pairs = [text.rpartition("=") for text in values]
    chosen = {side: [name.strip() for name in names.split(",")] for side, _, names in pairs}
    if list(chosen) == [""] and len(values) == 1:
        return chosen[""]
    if set(chosen) - set(QUALITY_SIDES) or len(chosen) < len(values):
        raise click.BadParameter("write NAME,NAME, or SIDE=NAME,NAME once for each side.")
    return chosen


def parse_names(names: Sequence[str]) -> list[str] | dict[str, str]:
    """Parse several ``NAME``, or several ``SYSTEM=NAME``, into names of systems.

    >>> parse_names(["A", "B"]), parse_names(["sysA=Baseline"])
    (['A', 'B'], {'sysA': 'Baseline'})
    """
    pairs = [text.partition("=") for text in names]
    if not any(equals for _, equals, _ in pairs):
        return list(names)
    named = {system: name for system, _, name in pairs}
    if not all(equals for _, equals, _ in pairs) or len(named) < len(pairs):
        raise click.BadParameter("write NAME for every system, in order, or SYSTEM=NAME, once for each.")
    return named


def _read_rule(path: str) -> ThresholdRule:
    from deciban.io.decision_files import read_rule

    return read_rule(path)


def parse_size(text: str) -> str:
    """Check the size of a picture: ``column``, ``page``, or lengths with their units."""
    from deciban.plots.files import paper_of

    paper_of(text)
    return text


_NAMED_RULES = {(1.0, 1.0): "logarithmic", (2.0, 2.0): "Brier", (0.5, 0.5): "boosting"}


def parse_drawn_rules(names: Sequence[str]) -> dict[str, Any]:
    """Parse ``ALPHA,BETA`` and file names into named rules.

    >>> list(parse_drawn_rules(["2,2", "1,0.5"]))
    ['Brier (2, 2)', 'beta (1, 0.5)']
    """
    from deciban.rules import Beta

    entries = dict[str, Any]()
    for text in names:
        try:
            alpha, beta = map(float, text.split(","))
        except ValueError:
            entries[Path(text).stem] = _read_rule(text)
        else:
            entries[f"{_NAMED_RULES.get((alpha, beta), 'beta')} ({alpha:g}, {beta:g})"] = Beta(alpha, beta)
    return entries


PARSERS: dict[str, Callable[[Any], Any]] = {
    "points": _each(_point, "P or P:CMISS:CFA, for example 0.01:10:1."),
    "size": parse_size,
    "rates": _each(
        lambda text: list(map(_finite, text.split(","))),
        "fractions, for example 0.001,0.0001.",
        lambda found: list(chain.from_iterable(found)),
    ),
    "rates of one": _one(lambda text: tuple(map(_finite, text.split(","))), "fractions, for example 0.01,0.001."),
    "whole numbers": _one(lambda text: tuple(map(int, text.split(","))), "whole numbers, for example 1,5,10."),
    "failures": _one(_failures, "failures and attempts of both kinds, for example FTE=3/150,FTA=0/900."),
    "three rates": _one(_three_rates, "three fractions, for example 0.05,0.05,0.3."),
    "rule": _read_rule,
    "drawn rules": parse_drawn_rules,
    "margins": _each(_margin, "METRIC or METRIC:MARGIN, for example eer:0.002."),
    "segments": _one(lambda text: [float(int(part)) for part in text.split(",")], "whole numbers, for example 1,3,10."),
    "trials per segment": _one(lambda text: text if text == "all" else int(text), "a whole number, or all."),
    "missing": _missing(),
    "missing or subset": _missing("subset", "subset=N"),
    "where": _each(_condition, "NAME=VALUE, for example gender=f.", dict),
    "labels": _one(_labels, "target=WORD,nontarget=WORD."),
    "quality": parse_quality,
    "measures": parse_measures,
    "names": parse_names,
    "classes": _one(_classes, "two distinct names or more, eng,fra,deu."),
    "corners": _one(_classes, "three distinct names, eng,fra,deu."),
    "groups": _each(_group, "a name and its classes, slavic=pol,rus.", _groups),
    "prior": _one(
        _prior, "flat, 0.2,0.3,0.5 (in the order of the classes), 2:3:5, or eng=0.4,fra=0.6, in finite numbers."
    ),
    "held out": _one(_held_out, "COLUMN, COLUMN,COLUMN, either with :N, or N, for example speaker:10."),
}
"""Parsers of options, by their names in ``options.toml``."""


_ENDINGS: dict[str, Literal["svg", "png", "pdf"]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """Options of a plot file.

    Attributes
    ----------
    path : Path or None
        None for no plot.
    size : str or None
        Size for print; see `deciban.plots.print_style`.
    """

    path: Path | None
    size: str | None = None

    def require(self) -> None:
        """Refuse an unknown file name ending, a missing folder, and a size without a plot.

        Raises
        ------
        click.UsageError, InputError
        """
        from deciban.io.writing import refuse_overwriting

        if self.path is None:
            if self.size is not None:
                raise click.UsageError("--size is for the plot: name a file for it, for example -o picture.pdf.")
            return
        if self.path.suffix.casefold() not in _ENDINGS:
            words = f"{str(self.path)!r} must end in .svg, .png or .pdf, which sets the format."
            raise click.BadParameter(words, param_hint="-o")
        refuse_overwriting([self.path], [])

    def save(self, draw: Callable[[], Any]) -> None:
        """Draw the plot, in its size for print if there is one, and write it completely or not at all."""
        from deciban import plots

        if self.path is None:
            return
        with plots.print_style(self.size) if self.size else nullcontext():
            drawing = draw()
            with atomic_write(self.path) as stream:
                plots.save(drawing, stream, _ENDINGS[self.path.suffix.casefold()])

    @property
    def paths(self) -> list[Path]:
        """The file that is written, as a list."""
        return [] if self.path is None else [self.path]

    @property
    def written(self) -> str:
        """Message after the file was written."""
        from deciban.errors import display_name

        return f"wrote {display_name(self.path)}" if self.path is not None else ""


Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_PACKAGE = Path(__file__).parents[1]

_HEADER = 1 << 16
"""Maximum number of bytes for the header of a text file."""

_ROLES = ("enroll", "test", "side", "trial", "score", "label", "class")


def _offering(words: Callable[[click.Context, str], Iterable[str]], *, or_files: bool = False) -> Completer:
    """Return a completer for the part after the last comma; it offers files if no word matches and `or_files`."""

    def complete(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        items = [CompletionItem(before + comma + one) for one in words(context, last) if one.startswith(last)]
        return items if items or not or_files else files(context, param, incomplete)

    return complete


def _presets() -> list[str]:
    files = sorted((_PACKAGE / "evaluation/preset_files").glob("*.toml"))
    return [word for one in files for word in (one.stem, *tomllib.loads(one.read_text("utf-8")).get("aliases", ()))]


def _metrics() -> list[str]:
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

    def columns(context: click.Context) -> list[str]:
        for place in places:
            # While the value of an option is being typed, arguments are still unsorted.
            is_option = any(one.name == place and isinstance(one, click.Option) for one in context.command.params)
            typed = context.params.get(place) or ([] if is_option else context.args)
            paths = [typed] if isinstance(typed, str) else typed
            if paths:
                return next(filter(None, (columns_of(str(path)) for path in paths)), [])
        return []

    return columns


def _roles(columns: Columns) -> Completer:
    """Return a completer of roles and, after their equals sign, of columns."""

    def words(context: click.Context, last: str) -> list[str]:
        role, equals, _ = last.partition("=")
        return [f"{role}={one}" for one in columns(context)] if equals else [f"{one}=" for one in _ROLES]

    return _offering(words)


_OF_KEY = _columns("key", "scores", "source")
_OF_SCORES = _columns("scores", "source", "files", "submission")
_COLUMNS_OF_KEY = _offering(lambda context, _: _OF_KEY(context))
_FORMATS = _offering(lambda *_: list(tomllib.loads((_PACKAGE / "io/formats/formats.toml").read_text("utf-8"))))

_BY_OPTION: dict[str, Completer] = {
    **dict.fromkeys(("--format", "--key-format", "--trials-format", "--to"), _FORMATS),
    "--preset": _offering(lambda *_: _presets()),
    "--method": _offering(lambda *_: list(METHODS)),
    "--columns": _roles(_OF_SCORES),
    "--key-columns": _roles(_columns("key")),
    "--trials-columns": _roles(_columns("trials")),
    "--where": _offering(lambda context, _: [f"{one}=" for one in _OF_KEY(context)]),
    **dict.fromkeys(("--weights", "--cross-validate"), _COLUMNS_OF_KEY),
    "--against": _offering(lambda *_: ("all", "first")),
    **dict.fromkeys(("--metric", "--figure", "--fail-if-worse"), _offering(lambda *_: _metrics())),
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
