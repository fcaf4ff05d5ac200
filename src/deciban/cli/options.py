"""Options that several commands share, and their translation into arguments of the library."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from deciban.evaluation import Results, evaluate_files, preset
from deciban.evaluation.single import DEFAULT_POINTS

_SHARED = [
    click.argument("scores", nargs=-1, required=True, metavar="SCORES..."),
    click.option("--key", metavar="FILE", help="Which trials are targets. Not needed if the score files hold labels."),
    click.option(
        "--dcf",
        multiple=True,
        metavar="P[:CMISS:CFA]",
        help="Operating point: prior of a target and the two costs, 1 if left out. Repeat for more. [default: 0.01]",
    ),
    click.option("--preset", metavar="NAME", help="Operating points of an evaluation: sre10, sre12, voxsrc, ..."),
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
    click.option("--labels", metavar="WORDS", help="Label words: target=tgt,nontarget=imp (| between several)."),
    click.option(
        "--where",
        multiple=True,
        metavar="NAME=VALUE",
        help="Only trials whose column NAME of the key is VALUE (| between several). Repeat for more.",
    ),
    click.option("--log10", is_flag=True, help="The scores are common logarithms of likelihood ratios."),
    click.option("--by-order", is_flag=True, help="Match the first score with the first trial and so on, not by name."),
    click.option("--missing", metavar="error|drop|fill=VALUE", default="error", help="Key trials without a score."),
    click.option("--duplicates", type=click.Choice(["error", "keep-one"]), default="error", help="Identical copies."),
    click.option("-q", "--quiet", is_flag=True, help="Do not say what was read and assumed."),
]


def evaluation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options; the command gets the `Results` instead of them, and ``quiet``."""

    @functools.wraps(command)
    def wrapped(*, quiet: bool, **given: Any) -> Any:
        own = {name: given.pop(name) for name in list(given) if name not in _NAMES}
        return command(results=_results(quiet=quiet, **given), quiet=quiet, **own)

    for option in reversed(_SHARED):
        wrapped = option(wrapped)
    return wrapped


_NAMES = frozenset(
    (
        *("scores", "key", "dcf", "preset", "format_", "columns", "key_format", "key_columns", "labels", "where"),
        *("log10", "by_order", "missing", "duplicates"),
    )
)


@contextmanager
def working(words: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something goes on; yields a function that changes the words."""
    with Console(stderr=True).status(escape(words), spinner="dots") as status:
        yield lambda changed: status.update(escape(changed))


def _results(*, scores: tuple[str, ...], quiet: bool, **given: Any) -> Results:
    with working("") as say:
        results = evaluate_files(
            scores,
            given["key"],
            operating_points=_points(given["dcf"], given["preset"]),
            missing=_missing(given["missing"]),
            duplicates=given["duplicates"],
            format=given["format_"],
            columns=given["columns"],
            key_format=given["key_format"],
            key_columns=given["key_columns"],
            labels=parse_labels(given["labels"]),
            where=_where(given["where"]),
            log10=given["log10"],
            by_order=given["by_order"],
            progress=say,
        )
    if not quiet:
        for fact in results.facts:
            click.echo(fact, err=True)
        if given["preset"]:
            click.echo(f"preset  {preset(given['preset'])}", err=True)
    return results


def _points(dcf: tuple[str, ...], name: str | None) -> list[Any]:
    points: list[Any] = list(preset(name).points) if name else []
    for text in dcf:
        parts = text.split(":")
        try:
            points.append(tuple(float(part) for part in parts))
        except ValueError:
            parts = []
        if len(parts) not in (1, 3):
            raise click.BadParameter(f"{text!r}: write P or P:CMISS:CFA, for example 0.01:10:1.", param_hint="--dcf")
    return points or list(DEFAULT_POINTS)


def _missing(text: str) -> Any:
    if text in ("error", "drop"):
        return text
    word, _, value = text.partition("=")
    try:
        if word == "fill":
            return float(value)
    except ValueError:
        pass
    raise click.BadParameter(f"{text!r}: write error, drop or fill=VALUE.", param_hint="--missing")


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
    click.option("-q", "--quiet", is_flag=True, help="Do not say what was read and assumed."),
]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to read one file."""

    @functools.wraps(command)
    def wrapped(*args: Any, labels: str | None, **given: Any) -> Any:
        return command(*args, labels=parse_labels(labels), **given)

    for option in reversed(_READING):
        wrapped = option(wrapped)
    return wrapped


def parse_labels(text: str | None) -> dict[str, str] | None:
    """Turn ``target=tgt,nontarget=imp`` into a mapping."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise click.BadParameter(f"{text!r}: write target=WORD,nontarget=WORD.", param_hint="--labels")
    return {side.strip(): words.strip() for side, _, words in pairs}
