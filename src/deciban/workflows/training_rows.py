"""The rows of tables that say what a trained model is worth, on its trials of training and on others."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from deciban.analysis import FigureRow, FusionAnalysis, FusionFigures
from deciban.analysis.data import LabelledData
from deciban.analysis.fused_systems import Role
from deciban.analysis.fusion import FusionTask, analysed
from deciban.errors import InputError
from deciban.evaluation.summary import TwoClassFigures
from deciban.messages import names_apart
from deciban.models.score_model import ScoreModel
from deciban.types import AnyArray, FloatArray, Progress
from deciban.workflows.kinds.two_class import checked_figures
from deciban.workflows.model_files import is_of_training, require_same_places
from deciban.workflows.options import Figures
from deciban.workflows.system_trials import SystemTrials

LEAST_FOR_LEAVING_OUT = 3
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

    Raises
    ------
    InputError
        If the model refuses a trial, by its name.
    """
    dev, test = sets.dev, sets.test
    if not model.is_fusion or not dev.kind.compares_systems:
        return _plain_rows(model, sets, figures, say), None
    checked = checked_figures(figures)
    analysis = None
    if dev.data.complete.has_both_classes:
        try:
            analysis = analysed(model, dev.systems, dev.data, _comparable(test), checked, trained=model)
        except InputError:
            if test is not None:
                test.counting.transform(model)  # which refuses the same trial, and names it
            raise
    rows: list[FigureRow] = [] if analysis is None else list(analysis.rows)
    taken = [row.name for row in rows]
    if analysis is None or _lack_scores(dev, test):
        rows.append(_on_all_trials(model, dev, test, figures, taken))
    if sets.crossed is not None:
        rows.append(_crossed(model.table_name, dev, sets.crossed, figures, taken))
    return _with_left_out(model, tuple(rows), sets, checked), analysis


def _row(
    role: Role,
    name: str,
    scores: Callable[[SystemTrials], AnyArray],
    sets: Sequence[SystemTrials | None],
    figures: Figures,
) -> FigureRow:
    """Evaluate scores of the trials of training and of others, if there are any."""
    found = [None if one is None else one.evaluated(scores(one), name, figures) for one in sets]
    return FigureRow(name=name, role=role, dev=found[0], eval=found[1])


def _counting(*sets: SystemTrials | None) -> list[SystemTrials | None]:
    """The trials that count: a model may have no answer for others."""
    return [None if one is None else one.counting for one in sets]


def _plain_rows(model: ScoreModel, sets: TrainingSets, figures: Figures, say: Progress) -> tuple[FigureRow, ...]:
    """Systems as they are, a fusion without each of them, what the model makes of all, and cross-validated scores."""
    dev, compared = sets.dev, _counting(sets.dev, sets.test)
    systems = dev.systems
    role: Role = "fusion" if model.is_fusion else "calibration"
    dev.kind.require_trials(dev.data.is_target, dev.classes)
    *without, name = names_apart([*(f"without {one}" for one in systems), model.row_name(systems)], systems)
    rows = list[FigureRow]()
    for k, system in enumerate(systems):
        say(f"evaluating {system}")
        rows.append(_row("before", system, partial(SystemTrials.system, k=k), compared, figures))
    if model.is_fusion and len(systems) >= LEAST_FOR_LEAVING_OUT:
        rows += [_without(model, k, without[k], compared, figures) for k in range(len(systems))]
    say(f"evaluating {name}")
    rows.append(_row(role, name, lambda one: one.transform(model), compared, figures))
    if sets.crossed is not None:
        held = "fusion" if model.is_fusion else systems[0]
        rows.append(_crossed(held, dev, sets.crossed, figures, [one.name for one in rows]))
    return tuple(rows)


def _without(
    model: ScoreModel, left_out: int, name: str, sets: Sequence[SystemTrials | None], figures: Figures
) -> FigureRow:
    """A fusion of the other systems."""
    assert sets[0] is not None  # noqa: S101  # a model is trained on something
    others = [k for k in range(len(sets[0].systems)) if k != left_out]
    return _anew("leave-one-out", name, model, others, sets, figures)


def _anew(
    role: Role,
    name: str,
    model: ScoreModel,
    systems: Sequence[int],
    sets: Sequence[SystemTrials | None],
    figures: Figures,
) -> FigureRow:
    """A fusion of some systems with the settings of a model; that it cannot be trained is an answer, too."""
    own = [None if one is None else one.choose(systems) for one in sets]
    other, dev = copy.deepcopy(model), own[0]
    assert dev is not None  # noqa: S101  # a model is trained on something
    try:
        dev.fit(other)
        other.training_ = None  # which knows of other units
        return _row(role, name, lambda one: one.transform(other), own, figures)
    except InputError as error:
        return FigureRow(name=name, role=role, dev=None, note=f"not trained: {error}")


def _crossed(of: str, dev: SystemTrials, values: FloatArray, figures: Figures, taken: Sequence[str]) -> FigureRow:
    (name,) = names_apart([f"{of}, cross-validated"], taken)
    return FigureRow(name=name, role="cross-validated", dev=dev.evaluated(values, name, figures))


def rows_of_model(model: Any, sets: TrainingSets, figures: Figures) -> FusionFigures:
    """Evaluate a fusion from a file beside its systems, which are trained anew.

    Parameters
    ----------
    model : Fusion or MulticlassFusion
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
    dev, test = sets.dev, sets.test
    require_same_places(dev.systems, () if test is None else test.systems)
    if not dev.kind.compares_systems:
        return _figures_of_classes(model, sets, figures)
    if not dev.data.complete.has_both_classes:
        return FusionFigures((), None)
    names = (() if model.training_ is None else model.training_.systems) or dev.systems
    analysis = analysed(model, names, dev.data, _comparable(test), checked_figures(figures))
    rows: list[FigureRow] = list(analysis.rows)
    compared = _counting(dev.complete, None if _comparable(test) is None or test is None else test.complete)
    fused, *_ = names_apart([model.table_name], analysis.names)
    own = _row("fusion", fused, lambda one: one.transform(model), compared, figures)
    same = is_of_training(model, dev.data)
    if same is False:
        (name,) = names_apart([f"{model.table_name}, trained on these trials"], [row.name for row in rows])
        rows[-1] = replace(rows[-1], name=name)
    else:
        own = replace(own, note=rows.pop().note)
    rows.append(own)
    if _lack_scores(dev, test):
        rows.append(_on_all_trials(model, dev, test, figures, [row.name for row in rows]))
    without = analysis.leave_one_out or (analysis.singles[::-1] if len(names) > 1 else ())
    return FusionFigures(tuple(rows), analysis, same, names, analysis.fusion, without)


def _figures_of_classes(model: ScoreModel, sets: TrainingSets, figures: Figures) -> FusionFigures:
    """A fusion of many classes beside its systems: each calibrated alone, and the fusion without each of them."""
    dev, test = (None if one is None else one.as_trained(model)[0] for one in (sets.dev, sets.test))
    assert dev is not None  # noqa: S101  # a model is trained on something
    compared, same, systems = _counting(dev, test), is_of_training(model, dev.data), dev.systems
    every = range(len(systems))
    wanted = [*(f"without {one}" for one in systems), f"{model.table_name}, trained on these trials", model.table_name]
    *names, anew, fused = names_apart(wanted, systems)
    rows = [_anew("single", systems[k], model, [k], compared, figures) for k in every]
    whole = own = _row("fusion", fused, lambda one: one.transform(model), compared, figures)
    if len(systems) >= LEAST_FOR_LEAVING_OUT:
        rows += [_without(model, k, names[k], compared, figures) for k in every]
    without = tuple(rows[-len(systems) :]) if len(systems) >= LEAST_FOR_LEAVING_OUT else tuple(rows[::-1])
    if same is False:
        whole = _anew("fusion", anew, model, every, compared, figures)
        rows.append(whole)
    return FusionFigures((*rows, own), None, same, systems, whole, without if len(systems) > 1 else ())


def _lack_scores(dev: SystemTrials, test: SystemTrials | None) -> bool:
    """Whether some systems did not score some of the trials."""
    return any(one is not None and one.data.complete is not one.data for one in (dev, test))


def _on_all_trials(
    model: Any, dev: SystemTrials, test: SystemTrials | None, figures: Figures, taken: Sequence[str]
) -> FigureRow:
    """A fusion on all trials, those included that some system did not score."""
    (name,) = names_apart(["fusion of what there is"], taken)
    return _row("fusion", name, lambda one: one.transform(model), _counting(dev, test), figures)


def _comparable(test: SystemTrials | None) -> LabelledData | None:
    """Other trials on which all systems can be compared, if there are some of both classes."""
    return test.data if test is not None and test.data.complete.has_both_classes else None


def _with_left_out(
    model: Any, rows: tuple[FigureRow, ...], sets: TrainingSets, figures: TwoClassFigures
) -> tuple[FigureRow, ...]:
    """The same with rows, below the single systems, for those that were read and not chosen."""
    every = sets.every
    left = [k for k in range(len(every.systems)) if k not in sets.chosen]
    if not left:
        return rows
    names = names_apart([f"{every.systems[k]}, left out" for k in left], [row.name for row in rows])
    work = FusionTask(model, every.systems, every.data, _comparable(sets.others), figures)
    more = [work.row("left out", (k,), name) for k, name in zip(left, names, strict=True)]
    n = sum(row.role == "single" for row in rows)
    return (*rows[:n], *more, *rows[n:])
