"""What a fusion is worth beside its systems: what `deciban fuse` prints, as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from deciban.core.operating import OperatingPoint, PointLike, as_operating_point
from deciban.evaluation import Evaluation, FusionAnalysis, Results, Selection, analyse_fusion, evaluate
from deciban.evaluation.result import CONVENTIONS, SCHEMA
from deciban.fusion import QualityFusion, SubsetFusion
from deciban.io.source import PathLike
from deciban.models.files import content_of
from deciban.recipes.fusers import Fuser, linear_like
from deciban.recipes.fusion_trials import FusionTrials
from deciban.trials import Scores
from deciban.trials.join import JoinReport
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FusionFigures:
    """Figures of a fusion and of its systems.

    Attributes
    ----------
    analysis : FusionAnalysis or None
        Systems alone, every leave-one-out, and their linear fusion, trained and evaluated on the trials that all
        systems scored; None if these are not of both classes.
    dev, eval : tuple of Evaluation
        The rows of the analysis, the fusion itself if it is not linear, and cross-validated llrs, as tables show them:
        on the trials of training and on others, where there are any.
    """

    analysis: FusionAnalysis | None
    dev: tuple[Evaluation, ...]
    eval: tuple[Evaluation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """A trained fusion, and figures of it and of its systems.

    Attributes
    ----------
    model : LinearFusion, QualityFusion or SubsetFusion
        Its ``training_`` record names the systems.
    chosen : tuple of int
        Positions of its systems among those that were read: all of them, unless some were selected.
    figures : FusionFigures
    selection : Selection or None
        How systems were selected.
    cross_validated_llr : Scores or None
        In nats, of fusions that had not seen the speakers of the trial.
    report : JoinReport
        How the trials of training met.
    facts : tuple of str
        What was read and assumed.
    """

    model: Fuser
    chosen: tuple[int, ...]
    figures: FusionFigures
    selection: Selection | None
    cross_validated_llr: Scores | None
    report: JoinReport
    facts: tuple[str, ...]

    @property
    def analysis(self) -> FusionAnalysis | None:
        """Systems alone, every leave-one-out, and their linear fusion."""
        return self.figures.analysis

    @property
    def dev(self) -> Results:
        """Evaluations on the trials of training."""
        return Results(self.figures.dev, self.report, self.facts)

    @property
    def eval(self) -> Results | None:
        """Evaluations on other trials, if there are any."""
        return Results(self.figures.eval, None, self.facts) if self.figures.eval else None

    def files(self, paths: Sequence[PathLike]) -> list[PathLike]:
        """Those of the files of all systems that the fusion takes; all of them if they do not hold one system each."""
        if self.selection is None or len(paths) != len(self.selection.steps) + len(self.selection.left_out):
            return list(paths)
        return [paths[k] for k in self.chosen]

    @property
    def summary(self) -> tuple[str, ...]:
        """What training found, and what to think of the figures, in sentences."""
        lines = list(_trained(self.model))
        analysis = self.analysis
        if analysis is not None and len(analysis.names) > 1:
            best = analysis.best_single
            share = analysis.objective_gain / best.penalized_objective if best.penalized_objective > 0.0 else 0.0
            less = f"{share:.1%}".replace("%", " %")
            lines.append(f"linear fusion: objective {less} below that of {best.name}, the best single system")
        if not self.figures.eval and self.cross_validated_llr is None:
            lines.append(
                "The fusion has seen these trials, which flatters it: cross-validate, or evaluate it on others."
            )
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban fuse --json`` prints."""
        results = self.dev.to_dict()
        return {
            "schema": SCHEMA,
            "model": content_of(self.model),
            "analysis": None if self.analysis is None else self.analysis.to_dict(),
            "dev": results["systems"],
            "eval": [one.to_dict() for one in self.figures.eval] or None,
            "selection": None if self.selection is None else self.selection.to_dict(),
            "join": results["join"],
            "inputs": results["inputs"],
            "conventions": CONVENTIONS,
        }


def _trained(model: Fuser) -> Iterator[str]:
    """How training went; of subsets of systems, one by one."""
    training = model.training_
    assert training is not None  # noqa: S101  # it was trained
    told = dict(training.results)
    if isinstance(model, SubsetFusion):
        for subset, one in model.fusions_.items():
            name = "+".join(map(str, subset))
            systems = " + ".join(training.systems[k] for k in subset)
            status = "" if one.training_ is None else one.training_.results["status"]
            yield (
                f"{systems}: {told[f'n_exactly_{name}']:,} trials have just these scores, trained on "
                f"{told[f'n_trained_{name}']:,} that have them; {status}"
            )
        return
    relative = f"{told['objective_relative_to_llr_0']:.4g}"
    yield f"training: {told['status']}"
    yield f"objective {told['objective']:.6g}, {relative} times that of scores that say nothing (llr 0)"


def figures_of(
    model: Fuser,
    dev: FusionTrials,
    others: FusionTrials | None,
    crossed: FloatArray | None,
    operating_points: Iterable[PointLike],
) -> FusionFigures:
    """Evaluate a trained fusion beside its systems.

    Parameters
    ----------
    model : fusion
    dev : FusionTrials
        What it was trained on.
    others : FusionTrials, optional
        Other trials.
    crossed : (n_trials,) array, optional
        Cross-validated llrs of the trials of training.
    operating_points : iterable

    Raises
    ------
    InputError
        If a single system or a leave-one-out cannot be trained.
    """
    points = [as_operating_point(point) for point in operating_points]
    analysis = analysis_of(model, dev, others, points)
    rows = () if analysis is None else analysis.dev.systems
    other_rows = () if analysis is None or analysis.eval is None else analysis.eval.systems
    name = _name(model)
    if analysis is None or name != "fusion":
        rows += (_evaluated(dev.data.transform(model), dev, name, points),)
        if others is not None:
            other_rows += (_evaluated(others.data.transform(model), others, name, points),)
    if crossed is not None:
        rows += (_evaluated(crossed, dev, f"{name}, cross-validated", points),)
    return FusionFigures(analysis, rows, other_rows)


def analysis_of(
    model: Fuser, dev: FusionTrials, others: FusionTrials | None, points: Iterable[PointLike]
) -> FusionAnalysis | None:
    """Analyse the linear fusion of systems.

    Parameters
    ----------
    model : fusion
        Its rule, prior and penalty are taken.
    dev, others : FusionTrials
        Of which those are used that all systems scored.
    points : iterable
        Operating points.

    Returns
    -------
    FusionAnalysis or None
        None if there are not trials of both classes.

    Raises
    ------
    InputError
        If a single system or a leave-one-out cannot be trained.
    """
    dev = dev.take(dev.complete)
    if not dev.has_both_classes:
        return None
    if others is not None:
        others = others.take(others.complete)
        others = others if others.has_both_classes else None
    return analyse_fusion(
        dev.data.scores,
        dev.is_target,
        fusion=linear_like(model),
        names=dev.systems,
        eval_scores=None if others is None else others.data.scores,
        eval_is_target=None if others is None else others.is_target,
        operating_points=points,
    )


def _name(model: Fuser) -> str:
    if isinstance(model, QualityFusion):
        return "fusion with quality"
    return "fusion of what there is" if isinstance(model, SubsetFusion) else "fusion"


def _evaluated(llr: FloatArray, trials: FusionTrials, name: str, points: Sequence[OperatingPoint]) -> Evaluation:
    truth = trials.is_target
    return evaluate(llr[truth], llr[~truth], name=name, operating_points=points)
