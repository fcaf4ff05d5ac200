"""Operating points of published evaluations, by name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

from deciban.core.operating import OperatingPoint
from deciban.errors import InputError


@dataclass(frozen=True, slots=True)
class Preset:
    """The operating points of one evaluation, where they come from, and whether that was checked."""

    name: str
    points: tuple[OperatingPoint, ...]
    source: str
    status: str

    def __str__(self) -> str:
        return f"{self.name} ({'; '.join(map(str, self.points))}), {self.status}: {self.source}"


def presets() -> dict[str, Preset]:
    """Return all presets by name.

    Returns
    -------
    dict of str to Preset

    Examples
    --------
    >>> presets()["sre96-08"].points
    (OperatingPoint(p_target=0.01, c_miss=10, c_fa=1),)
    """
    text = resources.files("deciban.evaluation").joinpath("presets.toml").read_text("utf-8")
    return {
        name: Preset(name, tuple(OperatingPoint(*p) for p in row["points"]), row["source"], row["status"])
        for name, row in tomllib.loads(text).items()
    }


def preset(name: str) -> Preset:
    """Return one preset.

    Parameters
    ----------
    name : str

    Returns
    -------
    Preset

    Raises
    ------
    InputError
        If there is none of this name.
    """
    known = presets()
    if name not in known:
        raise InputError(f"preset: {name!r} is not known. There are {', '.join(known)}.")
    return known[name]
