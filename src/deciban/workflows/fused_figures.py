"""What a fusion is worth beside its systems: what `deciban fuse` prints, as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban.analysis import FigureRow, FusionAnalysis, Selection
from deciban.analysis.data import LabelledData
from deciban.analysis.fusion import analysed, fusion_name, names_apart
from deciban.analysis.rows import FusionTask
from deciban.core.ranks.operating import PointLike, as_operating_point
from deciban.evaluation import Evaluation, Results
from deciban.evaluation.results import CONVENTIONS, SCHEMA
from deciban.fusion import QualityFusion, SubsetFusion
from deciban.io.source import PathLike
from deciban.models.content import content_of
from deciban.trials import Scores
from deciban.trials.joining.join import JoinReport
from deciban.types import FloatArray
from deciban.workflows.fusers import Fuser
from deciban.workflows.fusion_trials import FusionTrials
from deciban.workflows.systems import require_same_places

_NOTHING = 0.0005
"""Share of an objective that is shown as 0.0 %."""


@dataclass(frozen=True, slots=True, eq=False)
class FusionFigures:
    """Figures of a fusion and of its systems.

    Attributes
    ----------
    analysis : FusionAnalysis or None
        Systems alone, every leave-one-out, and their fusion, evaluated on the trials that all systems scored; None if
        these are not of both classes.
    rows : tuple of FigureRow
        What tables show: the rows of the analysis, the fusion on all trials if some lack a score, and cross-validated
        llrs.
    is_of_training : bool or None
        Whether a model from a file was trained on these trials; None if it does not know, or has no file.
    """

    analysis: FusionAnalysis | None
    rows: tuple[FigureRow, ...]
    is_of_training: bool | None = None

    @property
    def dev(self) -> tuple[Evaluation, ...]:
        """Evaluations on the trials of training."""
        return tuple(row.dev for row in self.rows if row.dev is not None)

    @property
    def eval(self) -> tuple[Evaluation, ...]:
        """Evaluations on other trials, where there are any."""
        return tuple(row.eval for row in self.rows if row.eval is not None)

    def with_left_out(
        self,
        model: Fuser,
        dev: FusionTrials,
        others: FusionTrials | None,
        chosen: Sequence[int],
        operating_points: Iterable[PointLike],
    ) -> FusionFigures:
        """The same with rows, below the single systems, for those that were read and not chosen.

        Parameters
        ----------
        model : fusion
            Whose settings they are calibrated with.
        dev, others : FusionTrials
            With all systems.
        chosen : sequence of int
        operating_points : iterable
        """
        left = [k for k in range(len(dev.systems)) if k not in chosen]
        if not left:
            return self
        wanted = [f"{dev.systems[k]}, left out" for k in left]
        names = names_apart(wanted, [row.name for row in self.rows])
        points = tuple(as_operating_point(point) for point in operating_points)
        work = FusionTask(model, dev.systems, dev.labelled, _comparable(others), points)
        more = [work.row("left out", (k,), name) for k, name in zip(left, names, strict=True)]
        n = sum(row.role == "single" for row in self.rows)
        return replace(self, rows=(*self.rows[:n], *more, *self.rows[n:]))


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
        """Systems alone, every leave-one-out, and their fusion."""
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
            lines += _gain(analysis, on_complete=isinstance(self.model, SubsetFusion))
        if not self.figures.eval and self.cross_validated_llr is None:
            lines.append(
                "The fusion has seen these trials, which flatters it: cross-validate, or evaluate it on others."
            )
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban fuse --json`` prints."""
        results, told = self.dev.to_dict(), self.model.training_
        return {
            "schema": SCHEMA,
            "model": content_of(self.model),
            "n_without_quality": None if told is None else told.results.get("n_without_quality"),
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
    of_trials = ""
    if isinstance(model, QualityFusion):
        n = sum(training.counts.values()) - int(told["n_without_quality"] or 0)
        of_trials = f" of the {n:,} trials that have all quality measures"
    yield f"training: {told['status']}"
    yield _objective(told, of_trials)
    if isinstance(model, QualityFusion) and (alone := model.backoff_.training_) is not None:
        n_trials = sum(alone.counts.values())
        yield f"without quality: a linear fusion, trained on all {n_trials:,} trials: {alone.results['status']}"
        yield f"without quality: {_objective(alone.results)}"


def _objective(told: Mapping[str, Any], of_trials: str = "") -> str:
    relative = f"{told['objective_relative_to_llr_0']:.4g}"
    return f"objective {told['objective']:.6g}{of_trials}, {relative} times that of scores that say nothing (llr 0)"


def _gain(analysis: FusionAnalysis, *, on_complete: bool) -> list[str]:
    """How the objective compares with that of the best single system, if one can be trained."""
    best, gain = analysis.best_single, analysis.objective_gain
    if best is None or best.penalized_objective is None or gain is None:
        return []
    share = gain / best.penalized_objective if best.penalized_objective > 0.0 else 0.0
    less = f"{share:.1%}".replace("%", " %")
    compared = "no better than" if share < _NOTHING else f"{less} below"
    where = ", on the trials that all systems scored" if on_complete else ""
    return [f"{analysis.fusion.name}: objective {compared} that of {best.name}, the best single system{where}"]


def figures_of(
    model: Fuser,
    dev: FusionTrials,
    others: FusionTrials | None,
    crossed: FloatArray | None,
    operating_points: Iterable[PointLike],
) -> FusionFigures:
    """Evaluate a fusion, which was trained a moment ago, beside its systems.

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
    """
    points = [as_operating_point(point) for point in operating_points]
    analysis = _analysis(model, dev, others, points, trained=model)
    rows: list[FigureRow] = [] if analysis is None else list(analysis.rows)
    taken = [row.name for row in rows]
    if analysis is None or _lack_scores(dev, others):
        rows.append(_whole(model, dev, others, points, taken))
    if crossed is not None:
        (name,) = names_apart([f"{fusion_name(model)}, cross-validated"], taken)
        rows.append(FigureRow(name=name, role="cross-validated", dev=dev.labelled.evaluated(crossed, name, points)))
    return FusionFigures(analysis, tuple(rows))


def figures_of_model(
    model: Fuser, dev: FusionTrials, others: FusionTrials | None, operating_points: Iterable[PointLike]
) -> FusionFigures:
    """Evaluate a fusion from a file beside its systems, which are trained anew.

    Parameters
    ----------
    model : fusion
    dev : FusionTrials
        What everything is trained on. If these are not the trials of training of the model, the fusion that is trained
        on them is another one: it has a row of its own then.
    others : FusionTrials, optional
        Other trials.
    operating_points : iterable

    Raises
    ------
    InputError
        If training and test give systems of the same names in different order, or the fusion cannot be trained.
    """
    require_same_places(dev.systems, () if others is None else others.systems)
    points = [as_operating_point(point) for point in operating_points]
    told = model.training_
    named = dev if told is None or not told.systems else replace(dev, systems=told.systems)
    analysis = _analysis(model, named, others, points, trained=None)
    if analysis is None:
        return FusionFigures(None, ())
    rows: list[FigureRow] = list(analysis.rows)
    sets = [None if one is None else one.labelled.complete for one in (dev, others)]
    sets = [one if one is not None and one.has_both_classes else None for one in sets]
    fused, *_ = names_apart([fusion_name(model)], analysis.names)
    found = [None if one is None else one.fused(model, fused, points) for one in sets]
    is_of_training = dev.is_of_training(model)
    note = ""
    if is_of_training is False:
        (name,) = names_apart([f"{fusion_name(model)}, trained on these trials"], [row.name for row in rows])
        rows[-1] = replace(rows[-1], name=name)
    else:
        note = rows.pop().note
    rows.append(FigureRow(name=fused, role="fusion", dev=found[0], eval=found[1], note=note))
    if _lack_scores(dev, others):
        rows.append(_whole(model, dev, others, points, [row.name for row in rows]))
    return FusionFigures(analysis, tuple(rows), is_of_training)


def _lack_scores(dev: FusionTrials, others: FusionTrials | None) -> bool:
    """Whether some systems did not score some of the trials."""
    return any(one is not None and not one.data.complete.all() for one in (dev, others))


def _whole(
    model: Fuser, dev: FusionTrials, others: FusionTrials | None, points: Sequence[PointLike], taken: Sequence[str]
) -> FigureRow:
    """A fusion on all trials, those included that some system did not score."""
    (name,) = names_apart(["fusion of what there is"], taken)
    found = [None if one is None else one.labelled.fused(model, name, points) for one in (dev, others)]
    return FigureRow(name=name, role="fusion", dev=found[0], eval=found[1])


def _analysis(
    model: Fuser,
    dev: FusionTrials,
    others: FusionTrials | None,
    points: Sequence[PointLike],
    *,
    trained: Fuser | None,
) -> FusionAnalysis | None:
    """Analyse a fusion; None if no trials of both classes were scored by all systems."""
    if not dev.labelled.complete.has_both_classes:
        return None
    return analysed(model, dev.systems, dev.labelled, _comparable(others), points, trained=trained)


def _comparable(others: FusionTrials | None) -> LabelledData | None:
    """Other trials, if all systems scored some of both classes."""
    return others.labelled if others is not None and others.labelled.complete.has_both_classes else None
