"""What ``deciban inspect`` says of a model: its parameters and how sure they are, and what it was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deciban.io.source import PathLike, display_name
from deciban.models import load_model
from deciban.models.score_model import ScoreModel
from deciban.workflows.kinds import kind_called
from deciban.workflows.kinds.trained_units import UNDECLARED, UNIT

_BEGINNING = 200
"""Bytes in which a model file says that it is one."""

Properties = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Inspection:
    """One file: ``properties`` as (what, value) pairs, and ``remarks`` on what looks wrong."""

    name: str
    properties: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        properties = [{"name": name, "value": value} for name, value in self.properties]
        return {"path": self.name, "properties": properties, "remarks": list(self.remarks)}


def is_model_file(path: PathLike) -> bool:
    """Whether a file begins as a model does."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as stream:
        start = stream.read(_BEGINNING).lstrip()
    return start.startswith(b"{") and b'"deciban_model"' in start


def inspected_model(path: PathLike) -> Inspection:
    """Describe a model file.

    Raises
    ------
    FormatError
        If it is damaged.
    """
    model = load_model(path)
    properties: Properties = [("model", model.kind)]
    given = {name: value for name, value in model.settings.items() if value is not None}
    if given:
        properties.append(("settings", ", ".join(f"{name} {value}" for name, value in given.items())))
    if isinstance(model, ScoreModel):
        for row in model.parameter_rows():
            properties.append((row.name, f"{row.texts[0]} {row.error_text}".rstrip()))
        if not model.parameter_rows():
            properties += [("parameters", line) for line in model.parameter_lines()]
        properties += [_split(line) for line in model.training_lines()]
        if model.training_ is not None:
            counts = kind_called(model.scores_kind).counts_in_words(model.training_.counts)
            properties.append(("trained on", counts))
            properties += [("systems", ", ".join(model.training_.systems))] if model.training_.systems else []
            unit = model.training_.results.get(UNIT, UNDECLARED)
            properties += [] if unit == UNDECLARED else [("unit of scores", str(unit))]
    return Inspection(display_name(path), tuple(properties), ())


def _split(line: str) -> tuple[str, str]:
    """What a line about training is about, and what it says."""
    what, colon, rest = line.partition(": ")
    return (what, rest) if colon else ("training", line)
