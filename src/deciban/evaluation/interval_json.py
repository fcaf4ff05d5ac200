"""Intervals in JSON: each beside its figure, with the units that all of them rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deciban.core.resampling.intervals import Interval
from deciban.evaluation.uncertainty import Figure, Uncertainty

POINTS = "operating_points"

_PLACES = {
    "misleading_tar": ("misleading_evidence", "p_tar"),
    "misleading_non": ("misleading_evidence", "p_non"),
    "at_thresholds_p_miss": ("at_thresholds", "p_miss"),
    "at_thresholds_p_fa": ("at_thresholds", "p_fa"),
    "at_thresholds_hter": ("at_thresholds", "hter"),
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
    copied = dict[str, list[dict[str, Any]]]()
    for figure in known.estimates:
        entry, name = _place(made, figure, copied)
        if entry is None:
            entry, name = made, figure if isinstance(figure, str) else figure[0]
            if not isinstance(figure, str):
                own = made["intervals"].setdefault(name, {})
                own[".".join(map(str, figure[1:]))] = as_object(known.interval(figure))
                continue
        entry.setdefault("intervals", {})[name] = as_object(known.interval(figure))
    return made


def as_object(found: Interval) -> dict[str, Any]:
    """An interval as JSON has it."""
    names = ("low", "high", "standard_error", "corrected", "level", "method")
    return {name: getattr(found, name) for name in names}


def _place(
    made: dict[str, Any], figure: Figure, copied: dict[str, list[dict[str, Any]]]
) -> tuple[dict[str, Any] | None, str]:
    """The entry of a list in which a figure stands, and by which name; None if it stands in no list."""
    if isinstance(figure, str):
        return None, figure
    kind, at = figure[0], figure[1]
    if len(figure) == 3:  # a figure of a class, such as ("detectors", "eng", "eer")
        entries = _copied(made, kind, copied)
        return next((one for one in entries if one.get("target") == at), None), figure[2]
    if not isinstance(at, int):
        return None, kind
    if kind == "rates_at":  # first those with limited false matches
        of_fmr = _copied(made, "fnmr_at_fmr", copied)
        if at < len(of_fmr):
            return of_fmr[at], "fnmr"
        return _copied(made, "fmr_at_fnmr", copied)[at - len(of_fmr)], "fmr"
    where, name = _PLACES.get(kind, (POINTS, kind))
    return _copied(made, where, copied)[at], name


def _copied(made: dict[str, Any], name: str, copied: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The entries of a list of figures, as copies that may be changed."""
    if name not in copied:
        copied[name] = [dict(one) for one in made.get(name) or ()]
        if name in made:
            made[name] = copied[name]
    return copied[name]
