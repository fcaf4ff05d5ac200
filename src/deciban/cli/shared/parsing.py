"""Values of options, parsed from text and refused with an example, and the plot that a command writes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

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
"""The class of each method; the options are called as the arguments of its constructor."""


def parse_points(dcf: Sequence[str]) -> list[tuple[float, ...]]:
    """Turn ``P[:CMISS:CFA]`` into operating points."""
    points = []
    for text in dcf:
        parts = text.split(":")
        try:
            points.append(tuple(float(part) for part in parts))
        except ValueError:
            parts = []
        if len(parts) not in (1, 3):
            raise click.BadParameter(f"{text!r}: write P or P:CMISS:CFA, for example 0.01:10:1.")
    return points


def parse_margins(given: Sequence[str]) -> list[tuple[str, float]]:
    """Turn ``FIGURE[:MARGIN]`` into names of figures, and how much worse they may be.

    >>> parse_margins(["eer:0.002", "min_dcf@2"])
    [('eer', 0.002), ('min_dcf@2', 0.0)]
    """
    found = []
    for text in given:
        figure, colon, margin = text.partition(":")
        try:
            found.append((figure, _finite(margin) if colon else 0.0))
        except ValueError:
            figure = ""
        if not figure or found[-1][1] < 0.0:
            raise click.BadParameter(f"{text!r}: write FIGURE or FIGURE:MARGIN, for example eer:0.002.")
    return found


def parse_rates(given: Sequence[str]) -> list[float]:
    """Turn ``P,P,...``, maybe several times, into numbers; percent signs are no part of them.

    >>> parse_rates(["0.1,0.01", "1e-3"])
    [0.1, 0.01, 0.001]
    """
    parts = [part.strip() for text in given for part in text.split(",")]
    try:
        return [_finite(part) for part in parts]
    except ValueError:
        raise click.BadParameter(f"{','.join(given)!r}: write fractions, for example 0.001,0.0001.") from None


def parse_segments(text: str) -> list[float]:
    """Turn ``N,N,...`` into whole numbers.

    >>> parse_segments("1,3,10")
    [1.0, 3.0, 10.0]
    """
    try:
        return [float(int(part)) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r}: write whole numbers, for example 1,3,10.") from None


def parse_trials_per_segment(text: str) -> Any:
    """Turn a number, or ``all``, into what plans take."""
    try:
        return text if text == "all" else int(text)
    except ValueError:
        raise click.BadParameter(f"{text!r}: write a whole number, or all.") from None


def parse_missing(text: str, more: Sequence[str] = ()) -> Any:
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
    raise click.BadParameter(f"{text!r}: write {', '.join(known)} or fill=VALUE.")


def parse_where(pairs: Sequence[str]) -> dict[str, list[str]]:
    """Turn ``NAME=VALUE|VALUE`` into conditions."""
    chosen: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, values = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"{pair!r}: write NAME=VALUE, for example gender=f.")
        chosen[name.strip()] = values.split("|")
    return chosen


def parse_labels(text: str) -> dict[str, str]:
    """Turn ``target=tgt,nontarget=imp`` into a mapping."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise click.BadParameter(f"{text!r}: write target=WORD,nontarget=WORD.")
    return {side.strip(): words.strip() for side, _, words in pairs}


def parse_quality(given: Sequence[str]) -> Any:
    """Turn ``FILE`` or several ``SIDE=FILE`` into the files of quality measures."""
    from deciban.fusion.quality_measures import QUALITY_SIDES

    pairs = [text.partition("=") for text in given]
    for text, (side, equals, _) in zip(given, pairs, strict=True):
        if equals and side.isidentifier() and side not in QUALITY_SIDES and not Path(text).exists():
            raise click.BadParameter(f"{text!r}: {side!r} is none of {', '.join(QUALITY_SIDES)}.")
    named = [side in QUALITY_SIDES and bool(path) for side, _, path in pairs]
    if len(given) < 2 and not any(named):
        return given[0]
    sides = {side: path for side, _, path in pairs}
    if not all(named) or len(sides) < len(given):
        raise click.BadParameter("write FILE, or enroll=FILE and test=FILE for two of them.")
    return sides


def parse_measures(given: Sequence[str]) -> Any:
    """Turn ``NAME,NAME`` or several ``SIDE=NAME,NAME`` into names of quality measures."""
    from deciban.fusion.quality_measures import QUALITY_SIDES

    pairs = [text.rpartition("=") for text in given]
    chosen = {side: [name.strip() for name in names.split(",")] for side, _, names in pairs}
    if list(chosen) == [""] and len(given) == 1:
        return chosen[""]
    if set(chosen) - set(QUALITY_SIDES) or len(chosen) < len(given):
        raise click.BadParameter("write NAME,NAME, or SIDE=NAME,NAME once for each side.")
    return chosen


def parse_names(given: Sequence[str]) -> list[str] | dict[str, str]:
    """Turn several ``NAME``, or several ``SYSTEM=NAME``, into names of systems.

    >>> parse_names(["A", "B"]), parse_names(["sysA=Baseline"])
    (['A', 'B'], {'sysA': 'Baseline'})
    """
    pairs = [text.partition("=") for text in given]
    if not any(equals for _, equals, _ in pairs):
        return list(given)
    named = {system: name for system, _, name in pairs}
    if not all(equals for _, equals, _ in pairs) or len(named) < len(pairs):
        raise click.BadParameter("write NAME for every system, in order, or SYSTEM=NAME, once for each.")
    return named


def parse_classes(text: str, *, wanted: str = "two distinct names or more") -> list[str]:
    """Turn ``NAME,NAME,...`` into names of classes."""
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise click.BadParameter(f"{text!r}: write {wanted}, eng,fra,deu.")
    return names


def parse_groups(given: Sequence[str]) -> dict[str, list[str]]:
    """Turn ``NAME=CLASS,CLASS`` into groups of classes."""
    groups: dict[str, list[str]] = {}
    for text in given:
        name, equals, classes = text.partition("=")
        members = [one.strip() for one in classes.split(",")]
        if not (equals and name.strip() and all(members)):
            raise click.BadParameter(f"{text!r}: write a name and its classes, slavic=pol,rus.")
        if name.strip() in groups:
            raise click.BadParameter(f"{text!r}: group {name.strip()!r} is given twice.")
        groups[name.strip()] = members
    return groups


def parse_prior(text: str) -> Any:
    """Turn ``flat``, ``P,P,...``, ``N:N:...`` or ``NAME=P,...`` into a prior.

    >>> parse_prior("2:1:1"), parse_prior("a=0.25,b=0.75")
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
        "numbers."
    )


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def parse_cross_validation(text: str) -> dict[str, Any]:
    """What to hold out, and in how many parts if that is said, as arguments."""
    named, colon, number = text.rpartition(":")
    if not colon and text.isdecimal():
        return {"cross_validate": int(text)}
    if not (colon and number.isdecimal()):
        named, number = text, ""
    columns = tuple(part.strip() for part in named.split(","))
    if len(columns) > 2 or not all(columns):
        raise click.BadParameter(
            f"{text!r}: write COLUMN, COLUMN,COLUMN, either with :N, or N, for example speaker:10."
        )
    by = columns[0] if len(columns) == 1 else columns
    return {"cross_validate": by, **({"n_folds": int(number)} if number else {})}


def require_writable(output: str | Path, *, endings: tuple[str, ...] = ()) -> None:
    """Refuse an output in a folder that is not there, or with another ending than those that are written.

    Raises
    ------
    click.BadParameter
    """
    path = Path(output)
    if str(output) == "-":
        return
    if not path.name or str(output).endswith(("/", os.sep)) or path.is_dir():
        raise click.BadParameter(f"{str(output)!r}: is the name of a folder. Name a file to write.", param_hint="-o")
    if not path.parent.is_dir():
        raise click.BadParameter(
            f"{str(output)!r}: there is no folder {str(path.parent)!r}. Make it first, or write elsewhere.",
            param_hint="-o",
        )
    if endings and path.suffix.casefold() not in endings:
        *others, last = endings
        listed = f"{', '.join(others)} or {last}" if others else last
        raise click.BadParameter(f"{path.name!r} should end in {listed}.", param_hint="-o")


def _read_rule(path: str) -> Any:
    from deciban.io.cost_files import read_rule

    return read_rule(path)


def parse_size(text: str) -> str:
    """Check the size of a picture: ``column``, ``page``, or lengths with their units."""
    from deciban.plots.files import paper_of

    paper_of(text)
    return text


_NAMED_RULES = {(1.0, 1.0): "logarithmic", (2.0, 2.0): "Brier", (0.5, 0.5): "boosting"}


def parse_drawn_rules(given: Sequence[str]) -> dict[str, Any]:
    """Turn ``ALPHA,BETA`` and names of files into rules with their names.

    >>> list(parse_drawn_rules(["2,2", "1,0.5"]))
    ['Brier (2, 2)', 'beta (1, 0.5)']
    """
    from deciban.rules import Beta

    found = dict[str, Any]()
    for text in given:
        try:
            alpha, beta = map(float, text.split(","))
        except ValueError:
            found[Path(text).stem] = _read_rule(text)
        else:
            found[f"{_NAMED_RULES.get((alpha, beta), 'beta')} ({alpha:g}, {beta:g})"] = Beta(alpha, beta)
    return found


PARSERS: dict[str, Callable[[Any], Any]] = {
    "points": parse_points,
    "size": parse_size,
    "rates": parse_rates,
    "rule": _read_rule,
    "drawn rules": parse_drawn_rules,
    "margins": parse_margins,
    "segments": parse_segments,
    "trials per segment": parse_trials_per_segment,
    "missing": parse_missing,
    "missing or subset": partial(parse_missing, more=("subset", "subset=N")),
    "where": parse_where,
    "labels": parse_labels,
    "quality": parse_quality,
    "measures": parse_measures,
    "names": parse_names,
    "classes": parse_classes,
    "corners": partial(parse_classes, wanted="three distinct names"),
    "groups": parse_groups,
    "prior": parse_prior,
    "held out": parse_cross_validation,
}
"""What options are turned into, by the names that these have in ``options.toml``."""


_ENDINGS: dict[str, Literal["svg", "png", "pdf"]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


@dataclass(frozen=True, slots=True)
class Picture:
    """What was said of a picture.

    Attributes
    ----------
    path : Path or None
        None where none is wanted.
    size : str or None
        For print; see `deciban.plots.print_style`.
    """

    path: Path | None
    size: str | None = None

    def require(self) -> None:
        """Refuse an ending that is none of a picture, a folder that is not there, and a size of no picture.

        Raises
        ------
        click.UsageError
        """
        if self.path is None:
            if self.size is not None:
                raise click.UsageError("--size is about the picture: name a file for it, as in -o picture.pdf.")
            return
        require_writable(self.path, endings=tuple(_ENDINGS))
        if str(self.path) == "-":
            raise click.BadParameter("'-' should end in .svg, .png or .pdf: its name says the format.", param_hint="-o")

    def save(self, draw: Callable[[], Any]) -> None:
        """Draw, in the size for print if there is one, and write the picture, whole or not at all."""
        from deciban import plots
        from deciban.io import atomic_write

        if self.path is None:
            return
        with plots.print_style(self.size) if self.size else nullcontext():
            drawing = draw()
            with atomic_write(self.path) as stream:
                plots.save(drawing, stream, _ENDINGS[self.path.suffix.casefold()])

    @property
    def paths(self) -> list[Path]:
        """What is written."""
        return [] if self.path is None else [self.path]

    @property
    def written(self) -> str:
        """What is said when it is there."""
        from deciban._files import display_name

        return f"wrote {display_name(self.path)}" if self.path is not None else ""
