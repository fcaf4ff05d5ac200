"""The rows of tables that say what a trained model is worth, on its trials of training and on others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban.analysis import FigureRow, FusionAnalysis, FusionFigures
from deciban.analysis.fused_systems import Role
from deciban.analysis.fusion import analysed
from deciban.analysis.rows import FusionTask, names_apart
from deciban.core.ranks.operating import OperatingPoint
from deciban.errors import InputError
from deciban.models.score_model import ScoreModel
from deciban.types import FloatArray, Progress
from deciban.workflows.evaluate import mapped
from deciban.workflows.kinds.two_class import points_of
from deciban.workflows.model_files import is_of_training
from deciban.workflows.options import Figures
from deciban.workflows.system_order import require_same_places
from deciban.workflows.system_trials import SystemTrials

_LEAST_FOR_LEAVING_OUT = 3
"""Systems from which on a fusion without one of them is not a system alone."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSets:
    """The trials that a model was trained on, and others.

    Attributes
    ----------
    every : SystemTrials
        Of training, with all systems that were read.
    others : SystemTrials or None
        Other trials of these systems.
    chosen : tuple of int
        The systems of the model.
    crossed : array or None
        Cross-validated scores of the trials of training.
    """

    every: SystemTrials
    others: SystemTrials | None
    chosen: tuple[int, ...]
    crossed: FloatArray | None = None

    @property
    def dev(self) -> SystemTrials:
        """Trials of training with the systems of the model."""
        return self.every.choose(self.chosen)

    @property
    def test(self) -> SystemTrials | None:
        """Other trials with these systems."""
        if self.others is None:
            return None
        return self.others.choose(self.chosen) if len(self.others.systems) == len(self.every.systems) else self.others


def rows_of_training(
    model: Any, sets: TrainingSets, figures: Figures, say: Progress
) -> tuple[tuple[FigureRow, ...], FusionAnalysis | None]:
    """Evaluate a model, which was trained a moment ago, beside its systems.

    Parameters
    ----------
    model : ScoreModel
    sets : TrainingSets
    figures : Figures
    say : function
        Called with a few words at every step.

    Returns
    -------
    rows : tuple of FigureRow
    analysis : FusionAnalysis or None
        Of a fusion of two classes; None if no trials of both classes were scored by all systems.
    """
    dev, test = sets.dev, sets.test
    if not model.is_fusion or dev.kind.name == "classes":
        return _plain_rows(model, dev, test, figures, sets.crossed, say), None
    points = points_of(figures)
    analysis = _analysis(model, dev, test, points, trained=model)
    rows: list[FigureRow] = [] if analysis is None else list(analysis.rows)
    taken = [row.name for row in rows]
    if analysis is None or _lack_scores(dev, test):
        rows.append(_on_all_trials(model, dev, test, points, taken))
    if sets.crossed is not None:
        rows.append(_crossed(model.table_name, dev, sets.crossed, figures, taken))
    return _with_left_out(model, tuple(rows), sets, points), analysis


def _plain_rows(
    model: ScoreModel,
    dev: SystemTrials,
    test: SystemTrials | None,
    figures: Figures,
    crossed: FloatArray | None,
    say: Progress,
) -> tuple[FigureRow, ...]:
    """Systems as they are, a fusion without each of them, what the model makes of all, and cross-validated scores."""
    sets = [None if one is None else one.counting for one in (dev, test)]
    role: Role = "fusion" if model.is_fusion else "calibration"
    dev.kind.require_trials(dev.truth, dev.classes)
    *without, name = names_apart([*(f"without {one}" for one in dev.systems), model.row_name(dev.systems)], dev.systems)

    def row(role: Role, name: str, values: Sequence[Any]) -> FigureRow:
        say(f"evaluating {name}")
        found = [
            None if one is None or value is None else one.evaluated(value, name, figures)
            for one, value in zip(sets, values, strict=True)
        ]
        return FigureRow(name=name, role=role, dev=found[0], eval=found[1])

    rows = [
        row("before", system, [None if one is None else one.system(k) for one in sets])
        for k, system in enumerate(dev.systems)
    ]
    if model.is_fusion and len(dev.systems) >= _LEAST_FOR_LEAVING_OUT:
        rows += [_without(model, k, without[k], sets, figures) for k in range(len(dev.systems))]
    rows.append(row(role, name, [None if one is None else mapped(model, one)[0] for one in sets]))
    if crossed is not None:
        held = "fusion" if model.is_fusion else dev.systems[0]
        rows.append(_crossed(held, dev, crossed, figures, [one.name for one in rows]))
    return tuple(rows)


def _without(
    model: ScoreModel, left_out: int, name: str, sets: Sequence[SystemTrials | None], figures: Figures
) -> FigureRow:
    """A fusion of the other systems; that it cannot be trained is an answer, too."""
    own = [None if one is None else one.choose([k for k in range(len(one.systems)) if k != left_out]) for one in sets]
    other, dev = copy.deepcopy(model), own[0]
    assert dev is not None  # noqa: S101  # a model is trained on something
    try:
        dev.fit(other)
        other.training_ = None  # which knows of other units
        found = [None if one is None else one.evaluated(one.transform(other), name, figures) for one in own]
    except InputError as error:
        return FigureRow(name=name, role="leave-one-out", dev=None, note=f"not trained: {error}")
    return FigureRow(name=name, role="leave-one-out", dev=found[0], eval=found[1])


def _crossed(of: str, dev: SystemTrials, values: FloatArray, figures: Figures, taken: Sequence[str]) -> FigureRow:
    (name,) = names_apart([f"{of}, cross-validated"], taken)
    return FigureRow(name=name, role="cross-validated", dev=dev.evaluated(values, name, figures))


def rows_of_model(model: Any, sets: TrainingSets, figures: Figures) -> FusionFigures:
    """Evaluate a fusion of two classes from a file beside its systems, which are trained anew.

    Parameters
    ----------
    model : Fusion
    sets : TrainingSets
        If ``every`` are not the trials of training of the model, the fusion that is trained on them is another one:
        it has a row of its own then.
    figures : Figures

    Returns
    -------
    FusionFigures

    Raises
    ------
    InputError
        If training and test give systems of the same names in different order, or the fusion cannot be trained.
    """
    dev, test, points = sets.dev, sets.test, points_of(figures)
    require_same_places(dev.systems, () if test is None else test.systems)
    known = () if model.training_ is None else model.training_.systems
    analysis = _analysis(model, replace(dev, systems=known) if known else dev, test, points, trained=None)
    if analysis is None:
        return FusionFigures((), None)
    rows: list[FigureRow] = list(analysis.rows)
    labelled = [None if one is None else one.labelled.complete for one in (dev, test)]
    labelled = [one if one is not None and one.has_both_classes else None for one in labelled]
    fused, *_ = names_apart([model.table_name], analysis.names)
    found = [None if one is None else one.fused(model, fused, points) for one in labelled]
    same, note = is_of_training(model, dev.data, dev.truth, dev.weight), ""
    if same is False:
        (name,) = names_apart([f"{model.table_name}, trained on these trials"], [row.name for row in rows])
        rows[-1] = replace(rows[-1], name=name)
    else:
        note = rows.pop().note
    rows.append(FigureRow(name=fused, role="fusion", dev=found[0], eval=found[1], note=note))
    if _lack_scores(dev, test):
        rows.append(_on_all_trials(model, dev, test, points, [row.name for row in rows]))
    return FusionFigures(tuple(rows), analysis, same)


def _lack_scores(dev: SystemTrials, test: SystemTrials | None) -> bool:
    """Whether some systems did not score some of the trials."""
    return any(one is not None and not one.data.complete.all() for one in (dev, test))


def _on_all_trials(
    model: Any, dev: SystemTrials, test: SystemTrials | None, points: list[OperatingPoint], taken: Sequence[str]
) -> FigureRow:
    """A fusion on all trials, those included that some system did not score."""
    (name,) = names_apart(["fusion of what there is"], taken)
    found = [None if one is None else one.labelled.fused(model, name, points) for one in (dev, test)]
    return FigureRow(name=name, role="fusion", dev=found[0], eval=found[1])


def _analysis(
    model: Any, dev: SystemTrials, test: SystemTrials | None, points: list[OperatingPoint], *, trained: Any
) -> FusionAnalysis | None:
    """Analyse a fusion; None if no trials of both classes were scored by all systems."""
    if not dev.labelled.complete.has_both_classes:
        return None
    return analysed(model, dev.systems, dev.labelled, _comparable(test), points, trained=trained)


def _comparable(test: SystemTrials | None) -> Any:
    """Other trials on which all systems can be compared, if there are some of both classes."""
    return test.labelled if test is not None and test.labelled.complete.has_both_classes else None


def _with_left_out(
    model: Any, rows: tuple[FigureRow, ...], sets: TrainingSets, points: list[OperatingPoint]
) -> tuple[FigureRow, ...]:
    """The same with rows, below the single systems, for those that were read and not chosen."""
    every = sets.every
    left = [k for k in range(len(every.systems)) if k not in sets.chosen]
    if not left:
        return rows
    names = names_apart([f"{every.systems[k]}, left out" for k in left], [row.name for row in rows])
    work = FusionTask(model, every.systems, every.labelled, _comparable(sets.others), tuple(points))
    more = [work.row("left out", (k,), name) for k, name in zip(left, names, strict=True)]
    n = sum(row.role == "single" for row in rows)
    return (*rows[:n], *more, *rows[n:])
