"""Options that several commands share, and their translation into arguments of the library."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from deciban.evaluation import ClassResults, Preset, Results

_JOINING = [
    click.option(
        "--key",
        metavar="FILE",
        help="Which trials are targets, or of which class each segment is. Not needed if the score files say so.",
    ),
    click.option(
        "--dcf",
        multiple=True,
        metavar="P[:CMISS:CFA]",
        help="Operating point of two classes: prior of a target and the two costs, 1 if left out. Repeat for more. "
        "[default: 0.01]",
    ),
    click.option(
        "--preset",
        metavar="NAME",
        help="Operating points of an evaluation: sre10, sre12, voxsrc, ...; for many classes lre09, lre09-open, lre17, "
        "lre22.",
    ),
    click.option(
        "--format",
        "format_",
        metavar="NAME",
        help="Format of the score files; left out, their contents decide. See deciban formats.",
    ),
    click.option(
        "--columns",
        metavar="ROLES",
        help="Columns of the score files, in order (enroll,test,score; - to ignore) or by name (score=llr,trial=utt).",
    ),
    click.option("--key-format", metavar="NAME", help="Like --format, for the key."),
    click.option("--key-columns", metavar="ROLES", help="Like --columns, for the key: enroll,test,label."),
    click.option(
        "--labels", metavar="WORDS", help="Label words of two classes: target=tgt,nontarget=imp (| between several)."
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="NAME=VALUE",
        help="Only trials whose column NAME of the key is VALUE (| between several). Repeat for more.",
    ),
    click.option(
        "--weights",
        metavar="COLUMN",
        help="Column of the key that says how much each trial counts: 2 is like two copies, 0 like none.",
    ),
    click.option("--log10", is_flag=True, help="The scores are logarithms to base 10, of likelihoods or their ratios."),
]
_BY_ORDER = click.option(
    "--by-order", is_flag=True, help="Match the first score with the first trial and so on, not by name."
)
_DUPLICATES = click.option(
    "--duplicates", type=click.Choice(["error", "keep-one"]), default="error", help="Identical copies."
)
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Do not say what was read and assumed.")
_READING_NAMES = (
    *("columns", "key_format", "key_columns", "log10", "by_order", "duplicates"),
    *("labels", "where", "missing", "weights"),
)


def policy_options(about: str, *more: str) -> Callable[..., Any]:
    """Add options for how trials meet: by name or not, and what to do about those without a score or with two.

    Parameters
    ----------
    about : str
        Which trials ``--missing`` is about.
    *more : str
        What else this command takes for ``--missing``; see `parse_missing`.
    """
    metavar = "|".join(("error", "drop", "fill=VALUE", *more))

    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        missing = click.option("--missing", metavar=metavar, default="error", help=about)
        for option in (_DUPLICATES, missing, _BY_ORDER):
            command = option(command)
        return command

    return added


def joining_options(command: Callable[..., Any] | None = None, *, missing: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Add the options that say how to read score files and a key, how to join them, and where costs are wanted.

    The command gets them as ``key``, ``points``, ``preset`` (which `class_options` looks at), ``reading`` (arguments of
    `deciban.workflows.read_joined`) and ``quiet``; ``missing`` is what else this command takes for the option of that
    name.
    """
    if command is None:
        return functools.partial(joining_options, missing=missing)

    @functools.wraps(command)
    def wrapped(*args: Any, dcf: tuple[str, ...], preset: str | None, quiet: bool, **given: Any) -> Any:
        told = {name: given.pop(name) for name in _READING_NAMES}
        reading = {
            **told,
            "format": given.pop("format_"),
            "labels": parse_labels(told["labels"]),
            "where": _where(told["where"]),
            "missing": parse_missing(told["missing"], *missing),
        }
        named = _preset(preset) if preset else None
        points = parse_points(dcf, named)
        if named is not None:
            tell([f"preset  {named}"], quiet=quiet)
        return command(*args, reading=reading, points=points, preset=named, quiet=quiet, **given)

    for option in reversed([*_JOINING, policy_options("Key trials without a score.", *missing), _QUIET]):
        wrapped = option(wrapped)
    return wrapped


def evaluation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of an evaluation; the command gets the results instead of them, and ``quiet``.

    Results are `Results`, or `ClassResults` if the scores are of many classes.
    """
    from deciban.cli.shared.multiclass_options import AskedOfClasses, class_options

    @functools.wraps(command)
    def wrapped(
        *,
        scores: tuple[str, ...],
        key: str | None,
        points: list[Any],
        reading: Any,
        asked: AskedOfClasses,
        quiet: bool,
        **own: Any,
    ) -> Any:
        results: Results | ClassResults
        with working("") as say:
            if asked.is_about_classes(scores, key, reading):
                from deciban.workflows import evaluate_class_files

                results = evaluate_class_files(scores, key, progress=say, **asked.figures, **asked.reading(reading))
            else:
                from deciban.workflows import evaluate_files

                results = evaluate_files(scores, key, operating_points=points, progress=say, **reading)
        tell(results.facts, quiet=quiet)
        return command(results=results, quiet=quiet, **own)

    return click.argument("scores", nargs=-1, required=True, metavar="SCORES...")(
        joining_options(class_options(wrapped))
    )


def tell(facts: Iterable[str], *, quiet: bool = False) -> None:
    """Say on standard error what was read, assumed and written."""
    if not quiet:
        for fact in facts:
            click.echo(fact, err=True)


@contextmanager
def working(words: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something goes on; yields a function that changes the words."""
    if not sys.stderr.isatty():
        yield lambda _words: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(words), spinner="dots") as status:
        yield lambda changed: status.update(escape(changed))


def parse_points(dcf: tuple[str, ...], preset: Preset | None = None) -> list[Any]:
    """Turn ``P[:CMISS:CFA]`` and a preset into operating points; the default one if there are none."""
    points: list[Any] = list(preset.points) if preset is not None else []
    for text in dcf:
        parts = text.split(":")
        try:
            points.append(tuple(float(part) for part in parts))
        except ValueError:
            parts = []
        if len(parts) not in (1, 3):
            raise click.BadParameter(f"{text!r}: write P or P:CMISS:CFA, for example 0.01:10:1.", param_hint="--dcf")
    if not points:
        from deciban.evaluation.two_class import DEFAULT_POINTS

        points += DEFAULT_POINTS
    return points


def _preset(name: str) -> Preset:
    from deciban.evaluation import preset

    return preset(name)


def parse_missing(text: str, *more: str) -> Any:
    """Turn ``error``, ``drop``, ``fill=VALUE`` and what else a command takes into a policy; the latter stays a text."""
    known = ("error", "drop", *(one for one in more if "=" not in one))
    word, _, value = text.partition("=")
    try:
        if word == "fill":
            return float(value)
    except ValueError:
        word = ""
    if text in known or any(word == one.partition("=")[0] for one in more):
        return text
    raise click.BadParameter(f"{text!r}: write {', '.join(known)} or fill=VALUE.", param_hint="--missing")


def _where(pairs: tuple[str, ...]) -> dict[str, list[str]]:
    chosen = {}
    for pair in pairs:
        name, equals, values = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"{pair!r}: write NAME=VALUE, for example gender=f.", param_hint="--where")
        chosen[name.strip()] = values.split("|")
    return chosen


_READING = [
    click.option(
        "--format",
        "format",
        metavar="NAME",
        help="Format of the file; left out, its contents decide. See deciban formats.",
    ),
    click.option("--columns", metavar="ROLES", help="What the columns are; see deciban eval --help."),
    click.option("--labels", metavar="WORDS", help="Label words: target=tgt,nontarget=imp (| between several)."),
    click.option("--log10", is_flag=True, help="The scores are common logarithms of likelihood ratios."),
    _QUIET,
]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to read one file."""

    @functools.wraps(command)
    def wrapped(*args: Any, labels: str | None, **given: Any) -> Any:
        return command(*args, labels=parse_labels(labels), **given)

    for option in reversed(_READING):
        wrapped = option(wrapped)
    return wrapped


def parse_quality(given: tuple[str, ...], option: str = "--quality") -> Any:
    """Turn ``FILE`` or several ``SIDE=FILE`` into the files of quality measures; None if there are none."""
    from deciban.fusion.quality_measures import KINDS

    pairs = [text.partition("=") for text in given]
    for text, (side, equals, _) in zip(given, pairs, strict=True):
        if equals and side.isidentifier() and side not in KINDS and not Path(text).exists():
            raise click.BadParameter(f"{text!r}: {side!r} is none of {', '.join(KINDS)}.", param_hint=option)
    named = [side in KINDS and bool(path) for side, _, path in pairs]
    if len(given) < 2 and not any(named):
        return given[0] if given else None
    sides = {side: path for side, _, path in pairs}
    if not all(named) or len(sides) < len(given):
        raise click.BadParameter("write FILE, or enroll=FILE and test=FILE for two of them.", param_hint=option)
    return sides


def parse_measures(given: tuple[str, ...]) -> Any:
    """Turn ``NAME,NAME`` or several ``SIDE=NAME,NAME`` into names of quality measures; None if there are none."""
    from deciban.fusion.quality_measures import KINDS

    pairs = [text.rpartition("=") for text in given]
    chosen = {side: [name.strip() for name in names.split(",")] for side, _, names in pairs}
    if not given:
        return None
    if list(chosen) == [""] and len(given) == 1:
        return chosen[""]
    if set(chosen) - set(KINDS) or len(chosen) < len(given):
        raise click.BadParameter("write NAME,NAME, or SIDE=NAME,NAME once for each side.", param_hint="--measures")
    return chosen


def parse_labels(text: str | None) -> dict[str, str] | None:
    """Turn ``target=tgt,nontarget=imp`` into a mapping."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise click.BadParameter(f"{text!r}: write target=WORD,nontarget=WORD.", param_hint="--labels")
    return {side.strip(): words.strip() for side, _, words in pairs}
