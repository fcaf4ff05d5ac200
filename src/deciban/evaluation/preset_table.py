"""Operating points of published evaluations, by name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from deciban.core.ranks.operating import OperatingPoint
from deciban.errors import InputError


@dataclass(frozen=True, slots=True)
class Preset:
    """The operating points of one evaluation, where they come from, and whether that was checked.

    Attributes
    ----------
    name : str
    points : tuple of OperatingPoint
        Of many classes: priors of a target in C_avg, with costs of 1.
    source : str
    status : {"verified", "unverified"}
        Whether the numbers were checked against a paper or a scorer.
    kind : {"two-class", "classes"}
        What scores it is for.
    p_out_of_set : float or None
        Prior of the last class in C_avg, if it is out of set.
    aliases : tuple of str
        Other names: those of single years.
    """

    name: str
    points: tuple[OperatingPoint, ...]
    source: str
    status: str
    kind: str = "two-class"
    p_out_of_set: float | None = None
    aliases: tuple[str, ...] = ()

    @property
    def class_figures(self) -> dict[str, Any]:
        """Arguments of `deciban.evaluate_classes`, for a preset of many classes."""
        figures: dict[str, Any] = {"p_target": [point.p_target for point in self.points]}
        return figures if self.p_out_of_set is None else {**figures, "p_out_of_set": self.p_out_of_set}

    def __str__(self) -> str:
        parts = [*map(str, self.points)]
        if self.kind == "classes":
            parts[0] = f"C_avg at {parts[0]}"
        parts += [] if self.p_out_of_set is None else [f"the last class out of set with prior {self.p_out_of_set:g}"]
        return f"{self.name} ({'; '.join(parts)}), {self.status}: {self.source}"


def presets() -> dict[str, Preset]:
    """Return all presets by name.

    Returns
    -------
    dict of str to Preset

    Examples
    --------
    >>> presets()["sre96-08"].points
    (OperatingPoint(p_target=0.01, c_miss=10, c_fa=1),)
    >>> [name for name, one in presets().items() if one.kind == "classes"]
    ['lre05-09', 'lre05-09-open', 'lre17', 'lre22']
    """
    text = resources.files("deciban.evaluation").joinpath("presets.toml").read_text("utf-8")
    found = {}
    for name, row in tomllib.loads(text).items():
        points = tuple(OperatingPoint(*point) for point in row.pop("points"))
        found[name] = Preset(name, points, aliases=tuple(row.pop("aliases", ())), **row)
    return found


def preset(name: str) -> Preset:
    """Return one preset.

    Parameters
    ----------
    name : str
        Its name, or that of one of its years: ``lre09`` is ``lre05-09``.

    Returns
    -------
    Preset

    Raises
    ------
    InputError
        If there is none of this name.

    Examples
    --------
    >>> preset("lre09").name, preset("lre17").class_figures
    ('lre05-09', {'p_target': [0.5, 0.1]})
    """
    known = presets()
    for one in known.values():
        if name == one.name or name in one.aliases:
            return one
    raise InputError(f"preset: {name!r} is not known. There are {', '.join(known)}.")
