"""Rows of text for the tables of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deciban.evaluation import Evaluation, PointResult
from deciban.report.words import FEW, count, number, percent

MISSING = "\u2013"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: the system, the colour it has in plots, and what stands behind it."""

    name: str
    color: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """The errors of one system at one operating point; ``few`` says which kinds are fewer than 30."""

    name: str
    color: str
    point: str
    cells: tuple[str, ...]
    few: str


def points_of(systems: Sequence[Evaluation]) -> list[str]:
    """Return the names of all operating points, in order, once each."""
    return list(dict.fromkeys(str(point) for system in systems for point in system.operating_points))


def summary(systems: Sequence[Evaluation], colors: Sequence[str]) -> list[Row]:
    """Return the figures of each system; minDCF and actDCF stand at each of `points_of`, then their means."""
    points = points_of(systems)
    rows = []
    for system, color in zip(systems, colors, strict=True):
        costs = {str(point): (number(point.min_dcf), number(point.act_dcf)) for point in system.operating_points}
        pairs = [costs.get(point, (MISSING, MISSING)) for point in points]
        if len(points) > 1:
            pairs.append((number(system.mean_min_dcf), number(system.mean_act_dcf)))
        information = (system.cllr, system.min_cllr, system.calibration_loss)
        cells = (
            percent(system.eer),
            *(cost for pair in pairs for cost in pair),
            *(number(figure) for figure in information),
            number(system.auc, 4),
            number(system.prbep, 1),
            count(system.n_tar),
            count(system.n_non),
            count(system.n_tied),
        )
        rows.append(Row(system.name, color, cells))
    return rows


def errors(systems: Sequence[Evaluation], colors: Sequence[str]) -> list[ErrorRow]:
    """Return the errors behind the actual costs, one row per system and operating point."""
    return [
        ErrorRow(system.name, color, str(point), _error_cells(system, point), _few(point))
        for system, color in zip(systems, colors, strict=True)
        for point in system.operating_points
    ]


def _error_cells(system: Evaluation, point: PointResult) -> tuple[str, ...]:
    return (
        f"{point.effective_prior:.4g}",
        number(point.threshold),
        f"{count(point.n_miss)} of {count(system.n_tar)}",
        percent(point.p_miss),
        f"{count(point.n_fa)} of {count(system.n_non)}",
        percent(point.p_fa),
    )


def _few(point: PointResult) -> str:
    kinds = [kind for kind, n in (("misses", point.n_miss), ("false alarms", point.n_fa)) if n < FEW]
    return f"fewer than {FEW} {' and '.join(kinds)}" if kinds else ""
