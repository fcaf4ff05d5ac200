"""What a summary of shards says beside its counts: what was asked, and which shards were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from deciban.evaluation.multiclass.figures import ClassFigures
from deciban.evaluation.own_rule import OwnRule
from deciban.evaluation.summary import TwoClassFigures
from deciban.messages import shortened


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked of the shards: only answers to the same question merge.

    Attributes
    ----------
    figures : TwoClassFigures
    systems : tuple of str
    scores : {"float32", "float64"}
    reading : mapping of str to str
        What was said about reading that changes what numbers or labels mean.
    has_weights : bool
        Whether trials have weights.
    classes : tuple of str
        Of many classes; empty of two.
    """

    figures: TwoClassFigures | ClassFigures
    systems: tuple[str, ...]
    scores: str
    reading: tuple[tuple[str, str], ...] = ()
    has_weights: bool = False
    classes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON; numbers are hexadecimal, so that nothing is rounded."""
        figures = self.figures
        if isinstance(figures, ClassFigures):
            asked = {name: _in_hex(getattr(figures, name)) for name in _OF_CLASSES}
            own = {name: getattr(self, name) for name in ("scores",)}
            return {
                **own,
                "systems": list(self.systems),
                "reading": dict(self.reading),
                "weights": self.has_weights,
                "classes": list(self.classes),
                "figures": asked,
            }
        return {
            "systems": list(self.systems),
            "scores": self.scores,
            "reading": dict(self.reading),
            "weights": self.has_weights,
            "figures": {
                "operating_points": [_hexes((p.p_target, p.c_miss, p.c_fa)) for p in figures.operating_points],
                "eer_conventions": figures.eer_conventions,
                **{name: _hexes(getattr(figures, name)) for name in _LISTS},
                "at_thresholds": [[name, _hex(value)] for name, value in figures.at_thresholds],
                "axis": figures.axis,
                **_rule_in_hex(figures.rule),
            },
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Question:
        """From JSON."""
        asked = given["figures"]
        reading = tuple(sorted(given["reading"].items()))
        if given.get("classes"):
            of_classes = ClassFigures(**{name: _from_hex(one) for name, one in asked.items()})
            about = tuple(given["systems"]), given["scores"], reading, given["weights"]
            return cls(of_classes, *about, tuple(given["classes"]))
        figures = TwoClassFigures(
            [tuple(_numbers(point)) for point in asked["operating_points"]],
            eer_conventions=asked["eer_conventions"],
            at_thresholds={name: float.fromhex(value) for name, value in asked["at_thresholds"]},
            axis=asked["axis"],
            rule=_rule_from_hex(asked.get("rule")),
            **{name: _numbers(asked[name]) for name in _LISTS},
        )
        return cls(figures, tuple(given["systems"]), given["scores"], reading, given["weights"])

    @property
    def of_two_classes(self) -> TwoClassFigures:
        """The figures, where scores are of two classes."""
        assert isinstance(self.figures, TwoClassFigures)  # noqa: S101  # who asks knows
        return self.figures

    def differences(self, other: Question) -> list[str]:
        """In words where another question is not this one."""
        if bool(self.classes) != bool(other.classes):
            kinds = ["classes" if one.classes else "two-class" for one in (self, other)]
            return [f"kind {kinds[0]} and {kinds[1]}"]
        found = []
        for name in ("systems", "classes", "scores", "has_weights"):
            one, two = getattr(self, name), getattr(other, name)
            if one != two:
                found.append(f"{_CALLED.get(name, name)} {_words(one)} and {_words(two)}")
        one, two = dict(self.reading), dict(other.reading)
        found += [
            f"{name} {one.get(name, _UNSAID)} and {two.get(name, _UNSAID)}"
            for name in sorted({*one, *two})
            if one.get(name) != two.get(name)
        ]
        for part in fields(self.figures):
            one, two = getattr(self.figures, part.name), getattr(other.figures, part.name)
            if one != two:
                found.append(f"{part.name} {_words(one)} and {_words(two)}")
        return found


_CALLED = {"has_weights": "weights"}
_UNSAID = "left out"


def _words(value: Any) -> str:
    return shortened(str(list(map(str, value))) if isinstance(value, tuple) else str(value))


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """A shard that was read.

    Attributes
    ----------
    name : str
        Of its file, without folders.
    n_rows, size : int
        Rows, and bytes of the file.
    sha256 : str
        Of its content: by this a shard is known.
    """

    name: str
    n_rows: int
    size: int
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {name: getattr(self, name) for name in ("name", "n_rows", "size", "sha256")}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ShardRecord:
        """From JSON."""
        return cls(given["name"], given["n_rows"], given["size"], given["sha256"])


_LISTS = ("fnmr_at", "fmr_at", "posteriors_at", "factors")


_OF_CLASSES = ("prior", "p_target", "p_out_of_set", "subsets", "pairs")


def _in_hex(value: Any) -> Any:
    """Figures as JSON: only floats are written otherwise."""
    if isinstance(value, float):
        return {"float": _hex(value)}
    if isinstance(value, Mapping):
        return {"mapping": {str(name): _in_hex(one) for name, one in value.items()}}
    return [_in_hex(one) for one in value] if isinstance(value, tuple | list) else value


def _from_hex(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_hex(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float.fromhex(value["float"])
    return {name: _from_hex(one) for name, one in value["mapping"].items()}


def _rule_in_hex(rule: OwnRule | None) -> dict[str, Any]:
    """A user's own rule, where there is one."""
    if rule is None:
        return {}
    return {"rule": {"what": rule.what, "eta": _hexes(rule.eta), "values": _hexes(rule.values)}}


def _rule_from_hex(given: Mapping[str, Any] | None) -> OwnRule | None:
    if given is None:
        return None
    return OwnRule(given["what"], tuple(_numbers(given["eta"])), tuple(_numbers(given["values"])))


def _hex(value: float) -> str:
    return float(value).hex()


def _hexes(values: Iterable[float]) -> list[str]:
    return list(map(_hex, values))


def _numbers(given: Iterable[str]) -> list[float]:
    return list(map(float.fromhex, given))
