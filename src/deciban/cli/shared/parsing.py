"""What the user typed as values for the library, once it is known whether there are two classes or many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from deciban.evaluation import Preset
    from deciban.workflows.inputs import ScoreFiles
    from deciban.workflows.options import Options


def parse_points(dcf: tuple[str, ...], preset: Preset | None = None) -> list[Any] | None:
    """Turn ``P[:CMISS:CFA]`` and a preset into operating points; None if there are none."""
    points: list[Any] = list(preset.points) if preset is not None and preset.kind == "two-class" else []
    for text in dcf:
        parts = text.split(":")
        try:
            points.append(tuple(float(part) for part in parts))
        except ValueError:
            parts = []
        if len(parts) not in (1, 3):
            raise click.BadParameter(f"{text!r}: write P or P:CMISS:CFA, for example 0.01:10:1.", param_hint="--dcf")
    return points or None


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


def parse_where(pairs: tuple[str, ...]) -> dict[str, list[str]] | None:
    """Turn ``NAME=VALUE|VALUE`` into conditions; None if there are none."""
    chosen: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, values = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"{pair!r}: write NAME=VALUE, for example gender=f.", param_hint="--where")
        chosen[name.strip()] = values.split("|")
    return chosen or None


def parse_labels(text: str | None) -> dict[str, str] | None:
    """Turn ``target=tgt,nontarget=imp`` into a mapping."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise click.BadParameter(f"{text!r}: write target=WORD,nontarget=WORD.", param_hint="--labels")
    return {side.strip(): words.strip() for side, _, words in pairs}


def parse_quality(given: tuple[str, ...], option: str = "--quality") -> Any:
    """Turn ``FILE`` or several ``SIDE=FILE`` into the files of quality measures; None if there are none."""
    from deciban.fusion.quality_measures import QUALITY_SIDES

    pairs = [text.partition("=") for text in given]
    for text, (side, equals, _) in zip(given, pairs, strict=True):
        if equals and side.isidentifier() and side not in QUALITY_SIDES and not Path(text).exists():
            raise click.BadParameter(f"{text!r}: {side!r} is none of {', '.join(QUALITY_SIDES)}.", param_hint=option)
    named = [side in QUALITY_SIDES and bool(path) for side, _, path in pairs]
    if len(given) < 2 and not any(named):
        return given[0] if given else None
    sides = {side: path for side, _, path in pairs}
    if not all(named) or len(sides) < len(given):
        raise click.BadParameter("write FILE, or enroll=FILE and test=FILE for two of them.", param_hint=option)
    return sides


def parse_measures(given: tuple[str, ...]) -> Any:
    """Turn ``NAME,NAME`` or several ``SIDE=NAME,NAME`` into names of quality measures; None if there are none."""
    from deciban.fusion.quality_measures import QUALITY_SIDES

    pairs = [text.rpartition("=") for text in given]
    chosen = {side: [name.strip() for name in names.split(",")] for side, _, names in pairs}
    if not given:
        return None
    if list(chosen) == [""] and len(given) == 1:
        return chosen[""]
    if set(chosen) - set(QUALITY_SIDES) or len(chosen) < len(given):
        raise click.BadParameter("write NAME,NAME, or SIDE=NAME,NAME once for each side.", param_hint="--measures")
    return chosen


def parse_classes(text: str | None) -> list[str] | None:
    """Turn ``NAME,NAME,...`` into names of classes."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise click.BadParameter(f"{text!r}: write two distinct names or more, eng,fra,deu.", param_hint="--classes")
    return names


def parse_groups(given: Sequence[str]) -> dict[str, list[str]]:
    """Turn ``NAME=CLASS,CLASS`` into groups of classes."""
    groups: dict[str, list[str]] = {}
    for text in given:
        name, equals, classes = text.partition("=")
        members = [one.strip() for one in classes.split(",")]
        if not (equals and name.strip() and all(members)):
            raise click.BadParameter(f"{text!r}: write a name and its classes, slavic=pol,rus.", param_hint="--group")
        if name.strip() in groups:
            raise click.BadParameter(f"{text!r}: group {name.strip()!r} is given twice.", param_hint="--group")
        groups[name.strip()] = members
    return groups


def parse_prior(text: str, option: str) -> Any:
    """Turn ``flat``, ``P,P,...``, ``N:N:...`` or ``NAME=P,...`` into a prior.

    >>> parse_prior("2:1:1", "--prior"), parse_prior("a=0.25,b=0.75", "--prior")
    ([0.5, 0.25, 0.25], {'a': 0.25, 'b': 0.75})
    """
    if text == "flat":
        return text
    try:
        if "=" in text:
            pairs = [part.rpartition("=") for part in text.split(",")]
            named = {name.strip(): _finite(value) for name, _, value in pairs}
            if len(named) == len(pairs) and all(named):
                return named
        elif ":" in text:
            shares = [_finite(part) for part in text.split(":")]
            if min(shares) >= 0 and 0 < sum(shares) < math.inf:
                return [share / sum(shares) for share in shares]
        else:
            return [_finite(part) for part in text.split(",")]
    except ValueError:
        pass
    raise click.BadParameter(
        f"{text!r}: write flat, 0.2,0.3,0.5 (in the order of the classes), 2:3:5, or eng=0.4,fra=0.6, in finite "
        "numbers.",
        param_hint=option,
    )


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def parse_cross_validation(text: str | None) -> dict[str, Any]:
    """What to hold out, and in how many parts if that is said, as arguments."""
    if text is None:
        return {}
    named, colon, number = text.rpartition(":")
    if not colon and text.isdecimal():
        return {"cross_validate": int(text)}
    if not (colon and number.isdecimal()):
        named, number = text, ""
    columns = tuple(part.strip() for part in named.split(","))
    if len(columns) > 2 or not all(columns):
        raise click.BadParameter(
            f"{text!r}: write COLUMN, COLUMN,COLUMN, either with :N, or N, for example speaker:10.",
            param_hint="--cross-validate",
        )
    by = columns[0] if len(columns) == 1 else columns
    return {"cross_validate": by, **({"n_folds": int(number)} if number else {})}


_OF_MANY = (
    "classes",
    "posterior_prior",
    "detection_llr",
    "prior",
    "p_targets",
    "out_of_set",
    "subsets",
    "pairs",
    "groups",
)
_OF_TWO = ("dcf", "labels")
"""Options of all commands that mean nothing for the other kind."""

_WORDS = {"p_targets": "--p-target", "groups": "--group", "write_as": "--as"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked about scores.

    Attributes
    ----------
    options : Options
        Reading and figures, of both kinds until it is known which of them it is about.
    preset : Preset or None
        Of two or of many classes; the figures of ``options`` are those of it.
    """

    options: Options
    preset: Preset | None = None

    def files(self, scores: Sequence[str], key: str | None) -> ScoreFiles:
        """Score files and a key, opened once."""
        from deciban.workflows.inputs import ScoreFiles

        return ScoreFiles.of(list(scores), key, self.options.reading)

    def about(self, files: ScoreFiles, *, of_two: Sequence[str] = ()) -> Options:
        """Decide what the scores are about, and refuse options that would be overlooked.

        Parameters
        ----------
        files : ScoreFiles
        of_two : sequence of str
            More options of this command that are for two classes.

        Raises
        ------
        click.UsageError
        InputError
            If nothing says which it is.
        """
        from deciban.workflows.kinds import kind_of

        kind = kind_of(files.scores[0], files.key, self.options).name
        many = kind == "classes"
        refuse_options((*_OF_TWO, *of_two) if many else _OF_MANY, of_many=many)
        if self.preset is not None and self.preset.kind != kind:
            _refuse_preset(self.preset, kind)
        figures = self.options.figures
        if many:
            figures = replace(figures, operating_points=None)
        return replace(self.options, kind=kind, figures=figures)


def _refuse_preset(given: Preset, kind: str) -> None:
    """Refuse a preset of the other kind of scores, and name those that fit."""
    from deciban.evaluation import presets

    fitting = ", ".join(name for name, one in presets().items() if one.kind == kind)
    held, other = ("many classes", "two classes") if kind == "classes" else ("two classes", "many classes")
    raise click.UsageError(
        f"--preset {given.name} is for {other}, and the scores are of {held} (if they are not, say --kind "
        f"{given.kind}). Presets for {held}: {fitting}."
    )


def refuse_options(names: Sequence[str], *, of_many: bool) -> None:
    """Refuse options that were given and mean nothing for these scores.

    Raises
    ------
    click.UsageError
    """
    context = click.get_current_context()
    given = [
        _WORDS.get(name, f"--{name.replace('_', '-')}")
        for name in names
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if given:
        has_kind = any(parameter.name == "kind" for parameter in context.command.params)
        held, other = ("many classes", "two classes") if of_many else ("two classes", "many classes")
        if has_kind and of_many:
            held += " (for two, say --kind two-class)"
        elif has_kind:
            other += " (say --kind classes if they are)"
        raise click.UsageError(f"the scores are of {held}, and {', '.join(given)} is for {other}.")
