"""Rows of tables about a model that was trained on trials in pieces: the rows of `training_rows`, with their roles."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban.analysis import FigureRow
from deciban.analysis.fused_systems import Role
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.shards.pieces import ShardSource
from deciban.messages import Message, names_apart
from deciban.models.mapped import mapped, ordered
from deciban.models.score_model import ScoreModel
from deciban.models.told_elsewhere import missing_measures_are_known
from deciban.types import Progress
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options
from deciban.workflows.streaming import evaluate_in_pieces
from deciban.workflows.training_rows import LEAST_FOR_LEAVING_OUT
from deciban.workflows.units_in_pieces import UnitsOfSource


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Trials in pieces on which systems and models are compared.

    Attributes
    ----------
    source : ShardSource
        Its systems, and its classes, in the order of training.
    options : Options
        By which they are evaluated.
    units : UnitsOfSource, optional
        If they are known already.
    classes : tuple of str
        The order of the classes in evaluations.
    messages : tuple of Message
        What is to be added about these trials.
    """

    source: ShardSource
    options: Options
    units: UnitsOfSource | None = None
    classes: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()

    def evaluated(
        self, systems: Sequence[int], progress: Progress, model: ScoreModel | None = None, name: str = ""
    ) -> Results[Any]:
        """Evaluate some systems as they are, or what a model makes of them under a name."""
        own = ordered(self.source, systems=systems)
        own = own if model is None else mapped(own, model, name)
        own = ordered(own, classes=self.classes or None)
        return evaluate_in_pieces(own, self.options, progress, units=self.units)


@dataclass(frozen=True, slots=True, eq=False)
class RowsInPieces:
    """What rows about a trained model have in common.

    Attributes
    ----------
    model : ScoreModel
        Trained on all systems of the source.
    untrained : ScoreModel
        The same before its training; copies are trained.
    source : ShardSource
        The trials of training.
    dev : Compared
        Those of them that all systems scored.
    other : Compared or None
        Other trials of the same systems.
    progress : function
    """

    model: ScoreModel
    untrained: ScoreModel
    source: ShardSource
    dev: Compared
    other: Compared | None
    progress: Progress

    @property
    def _sets(self) -> list[Compared]:
        return [self.dev] if self.other is None else [self.dev, self.other]

    def rows(self) -> tuple[list[FigureRow], list[Message]]:
        """Evaluate the systems, the fusion without each of them, and what the model makes of all.

        Returns
        -------
        list of FigureRow
            The systems come calibrated alone, or as they are, as in `deciban.workflows.training_rows`.
        list of Message
            About the trials of training, and then about others.
        """
        model, systems = self.model, self.source.systems
        every, kind = range(len(systems)), kind_called(model.scores_kind)
        wanted = [*(f"without {one}" for one in systems), "fusion without quality", model.row_name(systems)]
        *without, plainer, name = names_apart(wanted, systems)
        role: Role = "fusion" if model.is_fusion else "calibration"
        last = self._evaluated(every, name, model)
        if model.is_fusion and kind.compares_systems:
            first, rows = last, [self.anew("single", [k], systems[k]) for k in every]
        else:
            first = self._evaluated(every)
            rows = [_row("before", own, first, k) for k, own in enumerate(systems)]
        if model.is_fusion and len(systems) >= LEAST_FOR_LEAVING_OUT:
            rows += [self.anew("leave-one-out", [j for j in every if j != k], without[k]) for k in every]
        if (simple := getattr(model, "without_quality", None)) is not None:
            rows.append(_row("without quality", plainer, self._evaluated(every, plainer, simple)))
        return [*rows, _row(role, name, last)], self._messages(first, has_ties=first is not last)

    def anew(self, role: Role, systems: Sequence[int], name: str) -> FigureRow:
        """Train the model anew on some systems, and evaluate it; a row without figures if that is not possible."""
        model, own, scale = copy.deepcopy(self.untrained), ordered(self.source, systems=systems), self.dev.options.scale
        model.system_names = own.systems
        self.progress(f"training on {', '.join(own.systems)}")
        try:
            with scale.engine() as engine, missing_measures_are_known():
                memory = engine.bounded(scale.n_bytes)
                engine.make_room(own, memory, n_systems=len(own.systems))
                model.fit_pieces(own, engine, memory)
            return _row(role, name, self._evaluated(systems, name, model))
        except InputError as error:
            return FigureRow(name=name, role=role, dev=None, note=f"not trained: {error}")

    def _evaluated(self, systems: Sequence[int], name: str = "", model: ScoreModel | None = None) -> list[Results[Any]]:
        """Results of the trials of training, and of others."""
        return [one.evaluated(systems, self.progress, model, name) for one in self._sets]

    def _messages(self, results: Sequence[Results[Any]], *, has_ties: bool) -> list[Message]:
        """What is to be said about all trials; ties are those of systems as they are."""
        kind = kind_called(self.model.scores_kind)
        told = [[own for own in one.messages if isinstance(own, Message)] for one in results]
        if not has_ties:
            joins = [kind.join_message(one.join, "") for one in results if one.join is not None]
            both = zip(told, joins, strict=True)
            told = [[join if one.kind == join.kind else one for one in own] for own, join in both]
        if self.other is not None:
            told[1:] = [[Message("other", "", f"{kind.noun}s"), *told[1], *self.other.messages]]
        return [one for own in told for one in own]


def _row(role: Role, name: str, results: Sequence[Results[Any]], at: int = 0) -> FigureRow:
    """The row of one of the evaluated systems."""
    dev, *more = (one.systems[at] for one in results)
    other = replace(more[0], name=name) if more else None
    return FigureRow(name=name, role=role, dev=dev, eval=other)
