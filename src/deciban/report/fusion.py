"""What a page says of a fusion: its weights, what each system is worth to it, and how much systems differ."""

from __future__ import annotations

from dataclasses import dataclass

from deciban.evaluation import Evaluation, FusedSystems, FusionAnalysis
from deciban.recipes.fusers import Fuser
from deciban.recipes.weights import weights_of
from deciban.report.tables import Figure, figures_of, points_of
from deciban.report.words import number

_SHOWN = ("EER", "minDCF", "actDCF", "Cllr", "min Cllr")


@dataclass(frozen=True, slots=True)
class FusionSection:
    """Texts of the section.

    Attributes
    ----------
    weights : tuple of (name, weight, weight on standardized scores)
    sets : tuple of str
        Which trials the figures of ``worth`` are of.
    figures : tuple of str
        Their names, the same for each set.
    worth : tuple of (name, cells)
        Systems alone, every leave-one-out, and the fusion.
    gain : str
        How the training objective compares with the best single system.
    systems : tuple of str
    divergence : tuple of tuple of str
    """

    weights: tuple[tuple[str, str, str], ...]
    sets: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    worth: tuple[tuple[str, tuple[str, ...]], ...] = ()
    gain: str = ""
    systems: tuple[str, ...] = ()
    divergence: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, model: Fuser, analysis: FusionAnalysis | None) -> FusionSection:
        """Write it for a trained fusion, and what was found about it on its trials of training, if that is known."""
        weights = tuple(
            (row.name, number(row.value, 5), "" if row.standardized is None else number(row.standardized))
            for row in weights_of(model)
        )
        if analysis is None:
            return cls(weights)
        best = analysis.best_single
        gain = (
            f"The objective of training is {number(analysis.fusion.penalized_objective, 5)}, and "
            f"{number(best.penalized_objective, 5)} for {best.name}, the best single system."
        )
        return cls(
            weights,
            ("training", "test") if analysis.eval is not None else ("training",),
            tuple(figure.name for figure in _figures(analysis.fusion.dev)),
            tuple((row.name, _cells(row)) for row in analysis.rows),
            gain,
            analysis.names,
            tuple(tuple(map(number, row)) for row in analysis.divergence.tolist()),
        )


def _cells(row: FusedSystems) -> tuple[str, ...]:
    both = (row.dev,) if row.eval is None else (row.dev, row.eval)
    return tuple(figure.text for one in both for figure in _figures(one))


def _figures(system: Evaluation) -> list[Figure]:
    return [figure for figure in figures_of(system, points_of([system])) if figure.name.startswith(_SHOWN)]
