"""What a page says of a fusion: its weights, what each system is worth to it, and how much systems differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deciban.analysis import FigureRow, FusionAnalysis, FusionFigures, Selection
from deciban.evaluation import Evaluation
from deciban.fusion.quality_measures import sums_of_measures
from deciban.report.tables import MISSING, figures_of, points_of
from deciban.report.text import WEIGHTED, count, number, typeset

_SHOWN = ("EER", "minDCF", "actDCF", "Cllr", "min Cllr")

_SUM = (
    "The log-likelihood ratio is the offset and the sum of all weights, each times the score of its system; the offset "
    "is in nats."
)
_CAPTIONS = {
    "linear": _SUM,
    "quality": (
        "The log-likelihood ratio is the offset, the scores of all systems times their weights, and the quality "
        "measures q1, q2, ... of both sides times theirs, all added (numbers of measures are those of their file); the "
        "offset is in nats. The rows “without quality” are another fusion, of trials that lack a measure: its offset "
        "and its scores times their weights."
    ),
    "subset": (
        "There is one fusion for each set of systems that trials have scores of; the names before the colon say for "
        "which. For a trial, only the fusion of its systems counts: its offset and its scores times their weights. "
        "Offsets are in nats."
    ),
}
_STANDARDIZED = "Weights on scores divided by their standard deviation say how much each system moves the result."
_STANDARDIZED_QUALITY = (
    "Those of quality measures are for measures relative to their mean, and their products, divided by their standard "
    "deviation; a penalty is on weights in these units."
)


_TRAINING = (
    "Everything but the fusion of the model itself is trained anew on the trials of training, with its settings. "
    "Systems alone are calibrated, by the same objective as the fusion."
)
_ABOUT = {
    "linear": _TRAINING,
    "quality": f"{_TRAINING} Systems alone and without one of them have the quality measures, too.",
    "subset": (
        f"{_TRAINING} Each row is trained on the trials that it can take, and evaluated on those that all systems "
        "scored; the fusion of what there is, on all trials."
    ),
}
_OTHER_TRIALS = (
    "The trials of training on this page are not those that the model was trained on (their fingerprint is another "
    "one): the fusion that was trained on these trials has a row of its own."
)


@dataclass(frozen=True, slots=True)
class Worth:
    """Texts of the table of systems alone, leave-one-outs and fusions.

    Attributes
    ----------
    sets : tuple of str
        Which trials the figures are of.
    figures : tuple of str
        Their names, the same for each set.
    rows : tuple of (name, cells)
    notes : tuple of str
        What is the matter with rows that are not what they should be.
    about : str
        What the figures are of, and how the training objective compares with the best single system.
    systems : tuple of str
    divergence : tuple of tuple of str
        Of each system and each other; empty if it is not known.
    """

    sets: tuple[str, ...]
    figures: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...]
    about: str
    systems: tuple[str, ...]
    divergence: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Texts of the table of a selection.

    Attributes
    ----------
    rows : tuple of (name, cells)
        Systems in the order in which they help, then those that do not.
    costs : str
        What their costs are.
    notes : tuple of str
        Systems that could not be taken, and why.
    """

    rows: tuple[tuple[str, tuple[str, ...]], ...]
    costs: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FusionSection:
    """Texts of the section.

    Attributes
    ----------
    weights : tuple of (name, weight, weight on standardized scores)
    caption : str
        What the weights are multiplied by.
    worth : Worth or None
    choice : Choice or None
    """

    weights: tuple[tuple[str, ...], ...]
    caption: str
    worth: Worth | None = None
    choice: Choice | None = None

    @classmethod
    def of(cls, model: Any, figures: FusionFigures | None, selection: Selection | None) -> FusionSection:
        """Write it for a trained fusion, and what was found about it on its trials of training, if that is known."""
        weights = tuple((row.name, *map(typeset, row.texts)) for row in model.parameter_rows())
        analysis = None if figures is None else figures.analysis
        worth = None if figures is None or analysis is None else _worth(model, figures, analysis)
        kind = _kind(model)
        of_measures = [_STANDARDIZED_QUALITY] if kind == "quality" else []
        caption = " ".join([_CAPTIONS[kind], *_combined(model), _STANDARDIZED, *of_measures])
        return cls(weights, caption, worth, None if selection is None else _choice(selection))


def _kind(model: Any) -> str:
    if model.takes_quality:
        return "quality"
    return "subset" if model.of_subsets else "linear"


def _combined(model: Any) -> list[str]:
    """Say which weighted sums of measures the names of rows stand for."""
    if not model.takes_quality:
        return []
    by_side = sums_of_measures(model)
    sums = dict.fromkeys(f"{name} = {text}" for side in by_side.values() for name, text in side if name != text)
    if len({tuple(side) for side in by_side.values()}) > 1:
        sums = {f"{name} of {side} = {text}": None for side in by_side for name, text in by_side[side] if name != text}
    return [f"Measures are combined: {'; '.join(sums)}."] if sums else []


def _worth(model: Any, found: FusionFigures, analysis: FusionAnalysis) -> Worth:
    sets = ("training", "test") if found.eval else ("training",)
    names = [name for name, _ in _figures(found.dev[0])]
    divergence = [] if analysis.divergence is None else analysis.divergence.tolist()
    other = [_OTHER_TRIALS] if found.is_of_training is False else []
    weighted = [WEIGHTED] if any(one.is_weighted for one in (*found.dev, *found.eval)) else []
    return Worth(
        sets=sets,
        figures=("trials", *names),
        rows=tuple((row.name, _cells(row, len(sets), len(names) + 1)) for row in found.rows),
        notes=tuple(f"{row.name}: {row.note}" for row in found.rows if row.note),
        about=" ".join([_ABOUT[_kind(model)], *other, *_gain(analysis), *weighted]),
        systems=analysis.names,
        divergence=tuple(tuple(map(number, row)) for row in divergence),
    )


def _gain(analysis: FusionAnalysis) -> list[str]:
    best, own = analysis.best_single, analysis.fusion.penalized_objective
    if best is None or best.penalized_objective is None or own is None:
        return []
    least = number(best.penalized_objective, 5)
    return [f"The objective of training is {number(own, 5)}, and {least} for {best.name}, the best single system."]


def _cells(row: FigureRow, n_sets: int, n_cells: int) -> tuple[str, ...]:
    cells: list[str] = []
    for one in (row.dev, row.eval)[:n_sets]:
        if one is None:
            cells += [MISSING] * n_cells
        else:
            cells += [count(one.n_tar + one.n_non), *(text for _, text in _figures(one))]
    return tuple(cells)


def _figures(system: Evaluation) -> list[tuple[str, str]]:
    return [(one.name, one.text) for one in figures_of(system, points_of([system])) if one.name.startswith(_SHOWN)]


def _choice(selection: Selection) -> Choice:
    held_out = f"; held out: {selection.held_out}" if selection.held_out else ""
    steps = [("taken", step) for step in selection.steps] + [("left out", step) for step in selection.left_out]
    return Choice(
        tuple(
            (step.name, (word, number(step.cost, 4), number(step.gain, 4), number(step.same_data_cost, 4)))
            for word, step in steps
        ),
        f"{selection.criterion}, on {count(selection.n_trials)} trials{held_out}",
        tuple(f"{one.name}: left out, {one.reason}" for one in selection.untrained),
    )
