"""The rows of tables that say what a trained model is worth, on its trials of training and on others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deciban.analysis import FigureRow, FusionAnalysis, FusionFigures, Selection
from deciban.analysis.data import LabelledData
from deciban.analysis.fusion import FusionTask, Role, analysed
from deciban.core.ranks.counts import n_tied
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.memory import memory_error
from deciban.messages import Message, names_apart
from deciban.models.mapped import counting, mapped, ordered
from deciban.models.score_model import ScoreModel
from deciban.trials.sources import ShardSource
from deciban.types import Progress
from deciban.workflows.evaluating import evaluate_source, messages_of_batch
from deciban.workflows.fitting import data_of, fit_source
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.kinds.two_class import checked_figures
from deciban.workflows.model_files import is_of_training, require_same_places
from deciban.workflows.modelled import Scored
from deciban.workflows.options import Options
from deciban.workflows.split import Split
from deciban.workflows.units_of_sources import UnitsOfSource

LEAST_FOR_LEAVING_OUT = 3
"""Systems from which on a fusion without one of them is not a system alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Trials on which systems and models are compared.

    Attributes
    ----------
    scored : Scored
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

    scored: Scored
    options: Options
    units: UnitsOfSource | None = None
    classes: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def source(self) -> ShardSource:
        """All of them."""
        return self.scored.source

    @property
    def kind(self) -> AnyKind:
        """What the scores are about."""
        return kind_called("classes" if self.source.classes else "two-class")

    @property
    def data(self) -> LabelledData | None:
        """The same as arrays, where they are in memory."""
        return data_of(self.source, self.options.how_sure)

    @property
    def complete(self) -> Compared | None:
        """Those that all systems scored; None if a class has none."""
        source = self.scored.complete
        return None if source is None else replace(self, scored=Scored(source))

    def choose(self, systems: Sequence[int]) -> Compared:
        """The same with some of the systems."""
        if list(systems) == list(range(len(self.source.systems))):
            return self
        return replace(self, scored=self.scored.choose(systems, self.options))

    def evaluated(
        self, systems: Sequence[int], progress: Progress, model: ScoreModel | None = None, name: str = ""
    ) -> Results[Any]:
        """Evaluate some systems as they are, or what a model makes of them under a name, where trials count."""
        own = ordered(counting(self.source), systems=systems)
        own = own if model is None else mapped(own, model, name)
        own = ordered(own, classes=self.classes or None)
        plain = replace(self.options, split=Split(), plan=None, worst=None)
        return evaluate_source(own, plain, progress, units=self.units, n_before=1)  # models are trained or applied

    def told(self, results: Results[Any] | None, *, before: bool) -> list[Any]:
        """What is to be said of these trials; ties are those of systems as they are.

        Parameters
        ----------
        results : Results or None
            Of some rows; trials in pieces are told by them.
        before : bool
            Whether these are rows of systems as they are.
        """
        source, kind = self.source, self.kind
        if source.batch is not None:
            ties = {one.name: one.n_tied for one in results.systems} if results and before and kind.has_ties else None
            ties = _ties(source) if ties is None and kind.has_ties else ties or {}
            units = () if self.units is None else self.units.messages
            return [*messages_of_batch(source, kind, ties), *units, *self.scored.messages, *self.messages]
        found = [] if results is None else list(results.messages)
        if results is not None and results.join is not None and not before:
            join = kind.join_message(results.join, "")
            found = [join if isinstance(one, Message) and one.kind == join.kind else one for one in found]
        return [*found, *self.scored.messages, *self.messages]


def _ties(source: ShardSource) -> dict[str, int | float]:
    """How many scores of each system are tied."""
    data = data_of(source, None)
    assert data is not None  # noqa: S101  # they are in memory
    return {name: n_tied(*data.known(data.scores[:, k])) for k, name in enumerate(source.systems)}


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """What rows about a trained model have in common.

    Attributes
    ----------
    model : ScoreModel
        Trained on all systems of the first trials.
    untrained : ScoreModel
        The same before its training; copies are trained.
    dev : Compared
        The trials of training.
    others : Compared or None
        Other trials of the same systems.
    progress : function
    """

    model: Any
    untrained: ScoreModel
    dev: Compared
    others: Compared | None
    progress: Progress
    results: list[list[Results[Any]]] = field(default_factory=list)
    """Of systems as they are, or of the model, on all sets of trials."""
    training: ShardSource | None = None
    """What models are trained on, if these are more trials than those on which they are compared."""

    @property
    def _sets(self) -> list[Compared]:
        return [self.dev] if self.others is None else [self.dev, self.others]

    @property
    def _alone(self) -> bool:
        """Whether rows are of systems that are calibrated alone."""
        return bool(self.model.is_fusion and self.dev.kind.compares_systems)

    def rows(self) -> tuple[list[FigureRow], FusionAnalysis | None]:
        """Evaluate the systems, the fusion without each of them, and what the model makes of all.

        Returns
        -------
        list of FigureRow
            Systems come as they are, those of a fusion of two classes calibrated alone.
        FusionAnalysis or None
            Of a fusion of two classes in memory; None if no trials of both classes were scored by all systems.

        Raises
        ------
        InputError
            If the model refuses a trial, by its name.
        """
        lack = any(one.scored.seen is not None for one in self._sets)
        complete = self.dev.complete
        analysis = self._analysed() if self._alone and complete is not None else None
        rows: list[FigureRow] = [] if analysis is None else list(analysis.rows)
        if analysis is None and complete is not None:
            tested = None if self.others is None else self.others.complete
            rows = replace(self, dev=complete, others=tested, training=self.dev.source).plain_rows()
        if lack:
            (name,) = names_apart(["fusion of what there is"], [row.name for row in rows])
            rows.append(self.row_of("fusion", name, self.model))
        return rows, analysis

    def _analysed(self) -> FusionAnalysis | None:
        """The analysis of a fusion on arrays; None where trials are not in memory."""
        data, other = self.dev.data, None if self.others is None else self.others.complete
        if data is None or (self.others is not None and self.others.data is None):
            return None
        others = None if other is None or self.others is None else self.others.data
        figures = checked_figures(self.dev.options.figures)
        try:
            return analysed(self.model, self.dev.source.systems, data, others, figures, trained=self.model)
        except InputError:
            if self.others is not None:
                mapped(counting(self.others.source), self.model, "fusion")  # which refuses the same trial, by its name
            raise

    def plain_rows(self) -> list[FigureRow]:
        """Train and evaluate row by row."""
        model, systems = self.model, self.dev.source.systems
        every = range(len(systems))
        wanted = [*(f"without {one}" for one in systems), "fusion without quality", model.row_name(systems)]
        *without, plainer, name = names_apart(wanted, systems)
        role: Role = "fusion" if model.is_fusion else "calibration"
        if self._alone:
            rows = [self.anew("single", [k], systems[k]) for k in every]
        else:
            self.results.append(self._evaluated(every))
            rows = [_row("before", own, self.results[-1], k) for k, own in enumerate(systems)]
        if model.is_fusion and len(systems) >= LEAST_FOR_LEAVING_OUT:
            rows += [self.anew("leave-one-out", [j for j in every if j != k], without[k]) for k in every]
        if (simple := getattr(model, "without_quality", None)) is not None:
            rows.append(self.row_of("without quality", plainer, simple))
        return [*rows, self.row_of(role, name, model)]

    def row_of(self, role: Role, name: str, model: ScoreModel) -> FigureRow:
        """Evaluate what a trained model makes of all systems."""
        found = self._evaluated(range(len(self.dev.source.systems)), name, model)
        if self._alone or not self.results:
            self.results.append(found)
        return _row(role, name, found)

    def anew(self, role: Role, systems: Sequence[int], name: str) -> FigureRow:
        """Train the model anew on some systems, and evaluate it; a row without figures if that is not possible."""
        model, own = copy.deepcopy(self.untrained), ordered(self.training or self.dev.source, systems=systems)
        model.system_names = own.systems
        self.progress(f"training on {', '.join(own.systems)}")
        try:
            fit_source(model, own, self.dev.options)
            return _row(role, name, self._evaluated(systems, name, model))
        except InputError as error:
            return FigureRow(name=name, role=role, dev=None, note=f"not trained: {error}")

    def with_left_out(self, rows: Sequence[FigureRow], selection: Selection) -> list[FigureRow]:
        """The same with a row, below the single systems, for each system that was read and not chosen."""
        systems = self.dev.source.systems
        left = [k for k in range(len(systems)) if k not in selection.systems]
        names = names_apart([f"{systems[k]}, left out" for k in left], [row.name for row in rows])
        data, other = self.dev.data, None if self.others is None else self.others.complete
        if data is not None and (other is None or other.data is not None):
            others = None if other is None or self.others is None else self.others.data
            work = FusionTask(self.untrained, systems, data, others, checked_figures(self.dev.options.figures))  # type: ignore[arg-type]  # it fuses
            more: list[FigureRow] = [work.row("left out", (k,), name) for k, name in zip(left, names, strict=True)]
        else:
            more = [self.anew("left out", [k], name) for k, name in zip(left, names, strict=True)]
        n = sum(row.role == "single" for row in rows)
        return [*rows[:n], *more, *rows[n:]]

    def messages(self) -> list[list[Any]]:
        """What is to be said of the trials of training, and of others."""
        results: list[Any] = self.results[0] if self.results else [None] * len(self._sets)
        told = [one.told(own, before=not self._alone) for one, own in zip(self._sets, results, strict=True)]
        if self.others is not None:
            told[1] = [Message("other", "", f"{self.dev.kind.noun}s"), *told[1]]
        return told

    def _evaluated(self, systems: Sequence[int], name: str = "", model: ScoreModel | None = None) -> list[Results[Any]]:
        """Results of the trials of training, and of others."""
        return [one.evaluated(systems, self.progress, model, name) for one in self._sets]


def _row(role: Role, name: str, results: Sequence[Results[Any]], at: int = 0) -> FigureRow:
    """The row of one of the evaluated systems."""
    dev, *more = (one.systems[at] for one in results)
    other = replace(more[0], name=name) if more else None
    return FigureRow(name=name, role=role, dev=dev, eval=other)


def rows_of_model(model: Any, dev: Compared, test: Compared, progress: Progress) -> FusionFigures:
    """Evaluate a fusion from a file beside its systems, which are trained anew.

    Parameters
    ----------
    model : Fusion or MulticlassFusion
    dev : Compared
        If these are not the trials of training of the model, the fusion that is trained on them is another one: it has
        a row of its own then.
    test : Compared
        Other trials of these systems.
    progress : function

    Returns
    -------
    FusionFigures

    Raises
    ------
    InputError
        If training and test give systems of the same names in different order, the fusion cannot be trained, or one of
        two classes is for trials that are read in pieces.
    """
    require_same_places(dev.source.systems, test.source.systems)
    with dev.options.scale.engine() as engine:
        same = is_of_training(model, dev.source, engine)
    work = TrainingRows(model, model, dev, test, progress)
    if not dev.kind.compares_systems:
        return _figures_of_classes(work, same)
    if dev.data is None or test.data is None:
        what = "train: what each system is worth to a fusion needs all trials in memory, and some are read in pieces"
        raise memory_error(what, way="leave it out")
    complete, other = dev.complete, test.complete
    if complete is None:
        return FusionFigures((), None)
    names = (() if model.training_ is None else model.training_.systems) or dev.source.systems
    others = None if other is None else test.data
    analysis = analysed(model, names, dev.data, others, checked_figures(dev.options.figures))
    rows: list[FigureRow] = list(analysis.rows)
    fused, *_ = names_apart([model.table_name], analysis.names)
    own = replace(work, dev=complete, others=other).row_of("fusion", fused, model)
    if same is False:
        (name,) = names_apart([f"{model.table_name}, trained on these trials"], [row.name for row in rows])
        rows[-1] = replace(rows[-1], name=name)
    else:
        own = replace(own, note=rows.pop().note)
    rows.append(own)
    if dev.scored.seen is not None or test.scored.seen is not None:
        (name,) = names_apart(["fusion of what there is"], [row.name for row in rows])
        rows.append(work.row_of("fusion", name, model))
    without = analysis.leave_one_out or (analysis.singles[::-1] if len(names) > 1 else ())
    return FusionFigures(tuple(rows), analysis, same, names, analysis.fusion, without)


def _figures_of_classes(work: TrainingRows, same: bool | None) -> FusionFigures:  # noqa: FBT001
    """A fusion of many classes beside its systems: each calibrated alone, and the fusion without each of them."""
    model, systems = work.model, work.dev.source.systems
    every = range(len(systems))
    wanted = [*(f"without {one}" for one in systems), f"{model.table_name}, trained on these trials", model.table_name]
    *names, anew, fused = names_apart(wanted, systems)
    rows = [work.anew("single", [k], systems[k]) for k in every]
    whole = own = work.row_of("fusion", fused, model)
    if len(systems) >= LEAST_FOR_LEAVING_OUT:
        rows += [work.anew("leave-one-out", [j for j in every if j != k], names[k]) for k in every]
    without = tuple(rows[-len(systems) :]) if len(systems) >= LEAST_FOR_LEAVING_OUT else tuple(rows[::-1])
    if same is False:
        whole = work.anew("fusion", every, anew)
        rows.append(whole)
    return FusionFigures((*rows, own), None, same, systems, whole, without if len(systems) > 1 else ())
