"""A calibrator trained on score files and a key, and what it did to the scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from deciban.calibration import Calibrator, Chain, cross_validated
from deciban.core.ranks.operating import PointLike
from deciban.errors import FormatError
from deciban.evaluation.results import Evaluation, Results
from deciban.evaluation.two_class import DEFAULT_POINTS, evaluate_labelled
from deciban.io.source import PathLike
from deciban.models import Model
from deciban.models.content import content_of
from deciban.trials import Scores
from deciban.types import Progress
from deciban.workflows.held_out import DEFAULT_FOLDS, HoldOut
from deciban.workflows.joined import Joined, Reading, read_joined
from deciban.workflows.named import named_trials


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A trained calibrator, and figures of the scores that it was trained on.

    Attributes
    ----------
    model : Calibrator
        Its ``training_`` record names the system.
    before, after : Evaluation
        Of the training scores as they were, and of their log-likelihood ratios: by the trials that the model has seen,
        which flatters it.
    cross_validated : Evaluation or None
        Of log-likelihood ratios by models that had not seen the speakers of the trial.
    cross_validated_llr : Scores or None
        These, in nats, in the order of the key.
    joined : Joined
        How the files were read and trials met.
    facts : tuple of str
        What was read and assumed.
    """

    model: Calibrator
    before: Evaluation
    after: Evaluation
    cross_validated: Evaluation | None
    cross_validated_llr: Scores | None
    joined: Joined
    facts: tuple[str, ...]

    @property
    def results(self) -> Results:
        """The evaluations in one table."""
        evaluations = (self.before, self.after, self.cross_validated)
        return Results(tuple(one for one in evaluations if one is not None), self.joined.report, self.facts)

    @property
    def summary(self) -> tuple[str, ...]:
        """What training found, and what to think of the figures, in sentences."""
        training = self.model.training_
        told = dict(training.results) if training is not None else {}
        lines = _parameters(self.model)
        lines += [f"training: {told['status']}"] if "status" in told else []
        if "objective" in told:
            relative = f"{told['objective_relative_to_llr_0']:.4g}"
            lines.append(f"objective {told['objective']:.6g}, {relative} times that of scores that say nothing (llr 0)")
        flatters = f"The model has seen the trials of {self.after.name!r}, which flatters it: "
        if self.cross_validated is None:
            lines.append(f"{flatters}cross-validate, or evaluate it on others.")
        else:
            lines.append(f"{flatters}{self.cross_validated.name!r} is what to expect.")
        return tuple(filter(None, lines))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban calibrate --json`` prints."""
        results = self.results.to_dict()
        del results["systems"]
        return {
            "schema": results.pop("schema"),
            "model": content_of(self.model),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "cross_validated": None if self.cross_validated is None else self.cross_validated.to_dict(),
            **results,
        }


def _parameters(model: Calibrator) -> list[str]:
    """The numbers of a map, a line for each step of a chain."""
    if isinstance(model, Chain):
        return [f"{step.kind}: {line}" for step in model.steps for line in _parameters(step)]
    numbers = [f"{name} {value:.6g}" for name, value in model.parameters().items() if isinstance(value, float)]
    return [", ".join(numbers)] if numbers else []


def tell_training(model: Model, systems: tuple[str, ...], weights: str | None) -> None:
    """Add to the record of a model the names of its systems, and of the column that its weights are from."""
    training = model.training_
    assert training is not None  # noqa: S101  # it has just been trained
    told = {} if weights is None else {"weights_from": weights}
    model.training_ = replace(training, systems=systems, results={**training.results, **told})


def calibrate_files(
    scores: PathLike,
    key: PathLike | None,
    calibrator: Calibrator,
    *,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
    cross_validate: int | str | tuple[str, str] | None = None,
    n_folds: int = DEFAULT_FOLDS,
    progress: Progress | None = None,
    **reading: Unpack[Reading],
) -> Calibrated:
    """Train a calibrator on a score file and a key.

    Parameters
    ----------
    scores : path
        Scores of one system; see `deciban.read_scores`.
    key : path or None
        Which trials are targets; None if the score file holds labels.
    calibrator : Calibrator
        Trained in place.
    operating_points : iterable
        As in `deciban.evaluate`: where detection costs are compared.
    cross_validate : int, str, or pair of str, optional
        How to calibrate every trial by a model that has not seen its like, as well. Names of columns of the key say
        whose trials stay together: one (``"speaker"``), or one for each side of the trial; ``enroll``, ``test`` and
        ``trial`` are the names of the trial itself. A number stands for the names on all sides of the trial, and is the
        number of folds.
    n_folds : int
        Number of folds where ``cross_validate`` names columns.
    progress : function, optional
        Called with a few words at every step.
    **reading
        How files are read and joined; see `deciban.workflows.read_joined`. With ``weights``, trials count that much in
        training, in cross-validation and in all figures.

    Returns
    -------
    Calibrated

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.workflows.read_joined` and the ``fit`` of the calibrator.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.calibration import AffineCalibrator
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.csv"
    >>> rows = "a,3,1", "b,1,1", "c,2,1", "d,-1,0", "e,1.5,0", "f,0,0"
    >>> _ = path.write_text("\\n".join(("trial,score,label", *rows)))
    >>> done = calibrate_files(path, None, AffineCalibrator())
    >>> round(done.model.scale_, 3), round(done.before.cllr, 3), round(done.after.cllr, 3)
    (1.977, 0.769, 0.543)
    """
    say = progress or (lambda _words: None)
    joined = read_joined(scores, key, progress=progress, **reading)
    if len(joined.aligned) > 1:
        names = [system.name for system in joined.aligned]
        raise FormatError(
            f"{joined.contents[0].origin.name}: holds the scores of {len(names)} systems: {', '.join(names)}. Choose "
            f"one: columns='score={names[0]},...' (--columns)."
        )
    system, points = joined.aligned[0], list(operating_points)
    truth, weight = joined.is_target, joined.weight
    say(f"training on {system.name}")
    with named_trials(system.trials.name_of):
        calibrator.fit(system.score, truth, sample_weight=weight)
    tell_training(calibrator, (system.name,), reading.get("weights"))

    def evaluated(llr: Scores, name: str) -> Evaluation:
        say(f"evaluating {name}")
        return evaluate_labelled(llr.score, truth, weight, name=name, operating_points=points)

    natural = system.scores.in_nats()
    before = evaluated(natural, system.name)
    after = evaluated(natural.transform(calibrator.transform), f"{system.name}, calibrated")
    crossed, llr, facts = None, None, joined.all_facts([before])
    if cross_validate is not None:
        say("cross-validating")
        held_out = HoldOut(cross_validate, n_folds)
        folds: dict[str, Any] = {"groups": held_out.groups(system.trials), "n_folds": held_out.parts}
        with named_trials(system.trials.name_of):
            values = cross_validated(calibrator, natural.score, truth, sample_weight=weight, **folds)
        llr = replace(natural, score=values)
        crossed = evaluated(llr, f"{system.name}, cross-validated")
        facts += (held_out.fact(system.trials, "calibrates"),)
    return Calibrated(calibrator, before, after, crossed, llr, joined, facts)
