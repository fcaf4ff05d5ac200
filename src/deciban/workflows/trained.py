"""What training from files gives: the model, what it is worth, and how that is told; one layout for all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deciban._files import PathLike
from deciban.analysis import FigureRow, FusionAnalysis, Selection
from deciban.evaluation.as_json import SCHEMA, Jsonable
from deciban.evaluation.results import Results
from deciban.evaluation.views import Tabular
from deciban.io.source import TwoFiles
from deciban.messages import Message, counted, shortened
from deciban.models.model import content_of
from deciban.models.score_model import ScoreModel
from deciban.trials.joining.matching import JoinReport
from deciban.workflows.kinds import AnyScores, kind_called
from deciban.workflows.system_names import Renamed

_NOTHING = 0.0005
"""Share of an objective that is shown as 0.0 %."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained(Tabular, Jsonable):
    """A trained model, and figures of the scores that it was trained on, and maybe of others.

    Attributes
    ----------
    model : ScoreModel
        Its ``training_`` record names the systems.
    chosen : tuple of int
        Positions of its systems among those that were read: all of them, unless some were selected.
    rows : tuple of FigureRow
        What tables show, each with a role: systems as they are or calibrated alone, the fusion without each of them,
        the calibration or fusion, and cross-validated scores.
    analysis : FusionAnalysis or None
        Of a fusion of two classes: what it is worth beside its systems, on the trials that all systems scored.
    selection : Selection or None
        How systems were selected.
    cross_validated_scores : Scores or ClassScores or None
        In nats, of models that had not seen the like of the trial, in the order of the key; None of trials in pieces.
    report : JoinReport
        How the trials of training met.
    messages : tuple of Message
        What was read and assumed.
    renamed : Renamed, optional
        What systems were called before they were given names.
    """

    model: ScoreModel
    chosen: tuple[int, ...]
    rows: tuple[FigureRow, ...]
    analysis: FusionAnalysis | None
    selection: Selection | None
    cross_validated_scores: AnyScores | None
    report: JoinReport
    messages: tuple[Message, ...]
    renamed: Renamed | None = None

    def __repr__(self) -> str:
        names = shortened(", ".join(row.name for row in self.rows))
        return f"Trained({self.model.kind!r} on {counted(self.report.matched, 'trial')}; rows: {names})"

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Every evaluation, with its role, and whether it is of trials of training or of others."""
        parts = [("dev", row, row.dev) for row in self.rows] + [("eval", row, row.eval) for row in self.rows]
        return [({"role": row.role, "trials": part}, one) for part, row, one in parts if one is not None]

    @property
    def kind(self) -> str:
        """``"two-class"`` or ``"classes"``."""
        return self.model.scores_kind

    @property
    def message_lines(self) -> tuple[str, ...]:
        """What was read and assumed, a line each."""
        return tuple(map(str, self.messages))

    @property
    def dev(self) -> Results[Any]:
        """Evaluations of the rows on the trials of training, which flatters what was trained on them."""
        return Results(tuple(row.dev for row in self.rows if row.dev is not None), self.report, self.messages)

    @property
    def test(self) -> Results[Any] | None:
        """Evaluations of the rows on other trials, if there are any."""
        found = tuple(row.eval for row in self.rows if row.eval is not None)
        return Results(found, None, self.messages) if found else None

    def of(self, *roles: str) -> list[Any]:
        """Evaluations on the trials of training of the rows with one of these roles."""
        return [row.dev for row in self.rows if row.role in roles and row.dev is not None]

    @property
    def before(self) -> Any:
        """Evaluation of the scores of the first system as they were; None if no row has it."""
        return next(iter(self.of("before")), None)

    @property
    def after(self) -> Any:
        """Evaluation of what the model makes of the trials of training."""
        return next(iter(self.of("calibration", "fusion")), None)

    @property
    def cross_validated(self) -> Any:
        """Evaluation of cross-validated scores of the trials of training; None if there are none."""
        return next(iter(self.of("cross-validated")), None)

    def files(self, paths: Sequence[PathLike | TwoFiles]) -> list[PathLike | TwoFiles]:
        """Those of the files of all systems that the model takes; all of them if they do not hold one system each."""
        if self.selection is None or len(paths) != len(self.selection.steps) + len(self.selection.left_out):
            return list(paths)
        return [paths[k] for k in self.chosen]

    @property
    def summary(self) -> tuple[str, ...]:
        """What training found, and what to think of the figures, in sentences."""
        lines = [] if self.model.parameter_rows() else self.model.parameter_lines()
        lines += self.model.training_lines()
        if self.analysis is not None and len(self.analysis.names) > 1:
            lines += _gain(self.analysis, on_complete=self.model.of_subsets)
        if self.test is None:
            lines.append(self._what_flatters())
        return tuple(lines)

    def _what_flatters(self) -> str:
        """What is to be thought of figures of the trials of training."""
        what = "fusion" if self.model.is_fusion else "model"
        words = f"The {what} has seen the {kind_called(self.model.scores_kind).noun}s"
        words += f" of '{self.after.name}', which flatters it: " if self.after else ", which flatters it: "
        crossed = self.cross_validated
        if crossed is None:
            return f"{words}cross-validate, or evaluate it on others."
        return f"{words}'{crossed.name}' is what to expect."

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban calibrate --json`` and ``deciban fuse --json`` print.

        Its layout is ``deciban.json_schemas()["training"]``, for all models of both kinds.
        """
        dev, test, training = self.dev, self.test, self.model.training_
        of_dev, others = dev.to_dict(), None if test is None else test.to_dict()["systems"]
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "model": content_of(self.model),
            "rows": [
                {"name": row.name, "role": row.role, "note": row.note}
                | {"dev": _place(row.dev, dev), "eval": _place(row.eval, test)}
                for row in self.rows
            ],
            "dev": of_dev["systems"],
            "eval": others,
            "n_without_quality": None if training is None else training.results.get("n_without_quality"),
            "analysis": None if self.analysis is None else self.analysis.to_dict(),
            "selection": None if self.selection is None else self.selection.to_dict(),
            "join": of_dev["join"],
            "messages": of_dev["messages"],
            "inputs": of_dev["inputs"],
            "conventions": of_dev["conventions"],
            **self._former_names(of_dev["systems"], others),
        }

    def _former_names(self, dev: list[dict[str, Any]], test: list[dict[str, Any]] | None) -> dict[str, Any]:
        """The same evaluations by the names that they had when each workflow had a layout of its own."""
        if self.kind == "classes":
            return {"systems": dev, "test": test}
        if self.model.is_fusion:
            return {}
        found = {"before": self.before, "after": self.after, "cross_validated": self.cross_validated}
        return {name: None if one is None else one.to_dict() for name, one in found.items()}

    def __eq__(self, other: object) -> bool:
        """Two of equal runs are equal: everything that is told of them is."""
        return isinstance(other, Trained) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.chosen, self.messages))


def _place(one: Any, results: Results[Any] | None) -> int | None:
    """The position of an evaluation among those of results."""
    if one is None or results is None:
        return None
    return next(k for k, system in enumerate(results.systems) if system is one)


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
