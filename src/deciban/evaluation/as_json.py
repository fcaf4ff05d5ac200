"""Results as JSON: plain types, and text that no terminal obeys."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deciban.core.resampling.intervals import Interval
from deciban.evaluation.uncertainty import Figure, Uncertainty

SCHEMA = 2
"""Version of the JSON layout; it changes when a name or a meaning does."""


class Jsonable(ABC):
    """Mixin of results that have a ``to_dict``."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""

    def to_json(self) -> str:
        """Return `to_dict` as JSON text; what a terminal would obey is escaped, as JSON can."""
        return json_text(self.to_dict())


def json_text(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """Write plain types as JSON; what a terminal would obey is escaped, as JSON can.

    Parameters
    ----------
    value : plain types
    default : function, optional
        Makes plain types of anything else.

    Examples
    --------
    >>> print(json_text({"name": "a\\x9b2J"}))
    {
      "name": "a\\u009b2J"
    }
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=default)
    return "\n".join(map(_escaped, text.split("\n")))


def _escaped(line: str) -> str:
    return line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def plain(value: Any) -> Any:
    """What JSON can hold: infinite numbers become words, and NaN, what is not known, becomes null."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return None if isinstance(value, float) and math.isnan(value) else value


POINTS, TARGETS = "operating_points", "detectors"
"""Lists of figures, as they are called."""


_PLACES = {
    "misleading_tar": ("misleading_evidence", "p_tar"),
    "misleading_non": ("misleading_evidence", "p_non"),
    "at_thresholds_p_miss": ("at_thresholds", "p_miss"),
    "at_thresholds_p_fa": ("at_thresholds", "p_fa"),
    "at_thresholds_hter": ("at_thresholds", "hter"),
    "information": ("information_at", "delivered"),
    "cost": ("costs", "cost"),
    "available": ("information_at", "available"),
    "rule_cost": ("rule_costs", "cost"),
    "rule_minimum": ("rule_costs", "minimum"),
    "rule_calibration_loss": ("rule_costs", "calibration_loss"),
    "rule_information": ("rule_costs", "information"),
    "log_loss": ("posterior_scores", "log_loss"),
    "log_loss_discrimination_loss": ("posterior_scores", "log_loss_discrimination_loss"),
    "log_loss_calibration_loss": ("posterior_scores", "log_loss_calibration_loss"),
    "brier": ("posterior_scores", "brier"),
    "brier_discrimination_loss": ("posterior_scores", "brier_discrimination_loss"),
    "brier_calibration_loss": ("posterior_scores", "brier_calibration_loss"),
}
"""Where figures with a number stand that are of no operating point: in which list, and by which name."""


def with_intervals(found: Mapping[str, Any], known: Uncertainty | None) -> dict[str, Any]:
    """The figures of a system with ``units`` and ``intervals``, and intervals in the entries of lists of figures.

    Parameters
    ----------
    found : mapping
        Figures by name, as `to_dict` of an evaluation has them.
    known : Uncertainty or None
        None: ``units`` are None, and there are no intervals.

    Examples
    --------
    >>> with_intervals({"eer": 0.05}, None)
    {'eer': 0.05, 'units': None, 'intervals': {}}
    """
    if known is None:
        return {**found, "units": None, "intervals": {}}
    units = {"n": known.n_units, "noun": known.noun, "source": known.source}
    made: dict[str, Any] = {**found, "units": units, "intervals": {}}
    if (drawn := known.bootstrap) is not None:
        made["bootstrap"] = {"seed": drawn.seed, "n_replicates": drawn.n_replicates, "left_out": drawn.left_out}
    copied = _Copies(made)
    for figure in known.estimates:
        place = _place(copied, figure)
        if place is not None:
            place[0][place[1]] = as_object(known.interval(figure))
    return made


def as_object(found: Interval) -> dict[str, Any]:
    """An interval as JSON has it."""
    names = ("low", "high", "standard_error", "corrected", "level", "method")
    return {name: getattr(found, name) for name in names}


class _Copies:
    """Figures of a system whose lists are copied before something is added to an entry.

    Parameters
    ----------
    made : dict
        Figures by name, with ``intervals``.
    """

    def __init__(self, made: dict[str, Any]) -> None:
        self.made = made
        self._entries = dict[str, list[dict[str, Any]]]()

    def entries(self, name: str) -> list[dict[str, Any]]:
        """The entries of a list of figures, which is empty if there is none."""
        if name not in self._entries:
            self._entries[name] = [dict(one) for one in self.made.get(name) or ()]
            if name in self.made:
                self.made[name] = self._entries[name]
        return self._entries[name]


def _place(copied: _Copies, figure: Figure) -> tuple[dict[str, Any], str] | None:
    """Into what the interval of a figure goes, and by which name; None for one of very many."""
    own: dict[str, Any] = copied.made["intervals"]
    if isinstance(figure, str):
        return own, figure
    kind, at = figure[0], figure[1]
    if len(figure) == 3:  # of each target against the rest; those of each pair of classes are N squared
        entry = next((one for one in copied.entries(kind) if one["target"] == at), None) if kind == TARGETS else None
        return None if entry is None else (entry.setdefault("intervals", {}), figure[2])
    if not isinstance(at, int):
        return own.setdefault(kind, {}), at
    where, name = _PLACES.get(kind, (POINTS, kind))
    if kind == "rates_at":  # first those with limited false matches
        n_first = len(copied.entries("fnmr_at_fmr"))
        where, name = ("fnmr_at_fmr", "fnmr") if at < n_first else ("fmr_at_fnmr", "fmr")
        at -= 0 if at < n_first else n_first
    return copied.entries(where)[at].setdefault("intervals", {}), name
