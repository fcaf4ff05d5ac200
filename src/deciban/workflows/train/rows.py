"""Evaluations of a trained model and its systems, on the training trials and on others."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deciban.analysis import FusionAnalysis, FusionMetrics, FusionRow, Selection
from deciban.analysis.fusion import FusionTask, Role, analysed
from deciban.core.ranks.counts import n_tied
from deciban.errors import WARNING, InputError, Message, names_apart, option
from deciban.evaluation.results import Results
from deciban.io.source import single_files
from deciban.models.score_model import ScoreModel
from deciban.models.sources import mapped
from deciban.trials.sources import TrialSource, counting, having, ordered
from deciban.types import PathLike, Progress
from deciban.workflows import model_files
from deciban.workflows.evaluate import evaluate_source
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.kinds.two_class import checked_metrics
from deciban.workflows.options import Options, Split
from deciban.workflows.reading.inputs import is_object, opened, paths_of
from deciban.workflows.reading.quality import Measured, with_quality
from deciban.workflows.reading.units import UnitsOfSource, units_of_source

LEAST_FOR_LEAVING_OUT = 3
"""Minimum number of systems for fusions without one of them; with fewer, only one system would remain."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Trials for the comparison of systems and models.

    Attributes
    ----------
    scored : PartlyScoredTrials
        Trials with systems and classes in the order of training.
    options : Options
        Options of the evaluation.
    units : UnitsOfSource, optional
        Units of the trials, if known.
    classes : tuple of str
        Order of the classes in evaluations.
    messages : tuple of Message
        Further messages about these trials.
    """

    scored: model_files.PartlyScoredTrials
    options: Options
    units: UnitsOfSource | None = None
    classes: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def source(self) -> TrialSource:
        """The trials."""
        return self.scored.source

    @property
    def kind(self) -> AnyKind:
        """Kind of the scores."""
        return kind_called("classes" if self.source.classes else "two-class")

    @property
    def complete(self) -> Compared | None:
        """Trials that all systems scored; None if a class has no such trials."""
        source = self.scored.complete
        return None if source is None else replace(self, scored=model_files.PartlyScoredTrials(source))

    def choose(self, systems: Sequence[int]) -> Compared:
        """Return the trials with some of the systems."""
        if list(systems) == list(range(len(self.source.systems))):
            return self
        return replace(self, scored=self.scored.choose(systems, self.options))

    def for_model(self, model: ScoreModel) -> Compared:
        """Return the trials with their classes in the order of a trained model.

        Raises
        ------
        InputError
            If units or classes of the scores differ from training.
        """
        source = self.source
        self.kind.require_model(model, self.options.reading, source.classes, source.units)
        own, messages = model_files.in_class_order(model, source)
        return replace(self, scored=replace(self.scored, source=own), messages=(*self.messages, *messages))

    def evaluated(
        self, systems: Sequence[int], progress: Progress, model: ScoreModel | None = None, name: str = ""
    ) -> Results[Any]:
        """Evaluate some systems, or the output of a model with a name, on trials of positive weight."""
        own = ordered(counting(self.source), systems=systems)
        own = own if model is None else mapped(own, model, name)
        own = ordered(own, classes=self.classes or None)
        plain = replace(self.options, split=Split(), plan=None, worst=None)
        return evaluate_source(own, plain, progress, units=self.units, n_before=1)  # training or applying is one pass

    def messages_about(self, results: Results[Any] | None, *, before: bool) -> list[Any]:
        """Return the messages about these trials, with ties of the original systems.

        Parameters
        ----------
        results : Results or None
            Results of some rows, which contain the messages about data larger than memory.
        before : bool
            Whether the rows are of the original systems.
        """
        source, kind = self.source, self.kind
        if source.batch is not None:
            ties = {one.name: one.n_tied for one in results.systems} if results and before and kind.has_ties else None
            ties = _ties(source) if ties is None and kind.has_ties else ties or {}
            units = () if self.units is None else self.units.messages
            return [*source.messages_with_ties(ties), *units, *self.scored.messages, *self.messages]
        items = [] if results is None else list(results.messages)
        if results is not None and results.join is not None and not before:
            join = results.join.message()
            items = [join if isinstance(one, Message) and one.kind == join.kind else one for one in items]
        return [*items, *self.scored.messages, *self.messages]


def _ties(source: TrialSource) -> dict[str, int | float]:
    """Return the number of tied scores of each system."""
    entries = dict[str, int | float]()
    for k, name in enumerate(source.systems):
        batch = having(ordered(source, systems=[k]), (0,)).held
        entries[name] = n_tied(batch.scores[0], batch.labels, batch.weight)
    return entries


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Common data of the rows for a trained model.

    Attributes
    ----------
    model : ScoreModel
        Model trained on all systems of the training trials.
    untrained : ScoreModel
        The same model without training, to be copied and trained.
    dev : Compared
        The training trials.
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
    """Results of the original systems or the model, for all sets of trials."""
    training: TrialSource | None = None
    """Trials for training, if they are more than the compared trials."""

    @property
    def _sets(self) -> list[Compared]:
        return [self.dev] if self.others is None else [self.dev, self.others]

    @property
    def _alone(self) -> bool:
        """True if rows are of separately calibrated systems."""
        return bool(self.model.is_fusion and self.dev.kind.compares_systems)

    @property
    def analysis_task(self) -> FusionTask | None:
        """Analysis of a two-class fusion in memory; None if all systems have scored trials of only one class."""
        return self.task(self.model) if self._alone and self.dev.complete is not None else None

    def rows(self, analysis: FusionAnalysis | None) -> list[FusionRow]:
        """Return the rows of an analysis, or evaluate the systems, the fusion without each of them, and the model."""
        complete, rows = self.dev.complete, [] if analysis is None else list[FusionRow](analysis.rows)
        if analysis is None and complete is not None:
            tested = None if self.others is None else self.others.complete
            rows = replace(self, dev=complete, others=tested, training=self.dev.source).plain_rows(alone=self._alone)
        return list(self.with_incomplete(rows))

    def with_incomplete(self, rows: Sequence[FusionRow]) -> tuple[FusionRow, ...]:
        """Add the fusion on all trials, if some scores are missing."""
        if all(one.scored.seen is None for one in self._sets):
            return tuple(rows)
        (name,) = names_apart(["fusion of available scores"], [row.name for row in rows])
        return *rows, self.row_of("fusion", name, self.model)

    def task(self, model: Any, names: tuple[str, ...] = ()) -> FusionTask | None:
        """Return the comparison of fusions on arrays; None if the trials are not in memory."""
        dev, others = self.dev, self.others
        if dev.source.batch is None or (others is not None and others.source.batch is None):
            return None
        tested = None if others is None or others.complete is None else others.source
        metrics, sure = checked_metrics(dev.options.metrics), dev.options.how_sure
        return FusionTask(model, names or dev.source.systems, dev.source, tested, metrics, sure.resampling)

    def plain_rows(self, *, alone: bool) -> list[FusionRow]:
        """Train and evaluate the rows one by one.

        Parameters
        ----------
        alone : bool
            Whether to calibrate each system separately, instead of evaluating its original scores.
        """
        model, systems = self.model, self.dev.source.systems
        every = range(len(systems))
        items = [*(f"without {one}" for one in systems), "fusion without quality", model.row_name(systems)]
        *without, plainer, name = names_apart(items, systems)
        role: Role = "fusion" if model.is_fusion else "calibration"
        if alone:
            rows = [self.anew("single", [k], systems[k]) for k in every]
        else:
            self.results.append(self._evaluated(every))
            rows = [_row("before", own, self.results[-1], k) for k, own in enumerate(systems)]
        if model.is_fusion and len(systems) >= LEAST_FOR_LEAVING_OUT:
            rows += [self.anew("leave-one-out", [j for j in every if j != k], without[k]) for k in every]
        if (simple := getattr(model, "without_quality", None)) is not None:
            rows.append(self.row_of("without quality", plainer, simple))
        return [*rows, self.row_of(role, name, model)]

    def row_of(self, role: Role, name: str, model: ScoreModel) -> FusionRow:
        """Evaluate the output of a trained model for all systems."""
        result = self._evaluated(range(len(self.dev.source.systems)), name, model)
        if self._alone or not self.results:
            self.results.append(result)
        return self._with_objective(model, _row(role, name, result))

    def _with_objective(self, model: object, row: FusionRow) -> FusionRow:
        """Return the row of a two-class model with its objective, if it was trained on the trials of the row."""
        is_same = self.training is None or self.training is self.dev.source
        objective = getattr(model, "penalized_objective_", None)  # missing in models from files
        return replace(row, penalized_objective=objective) if self._alone and is_same else row

    def anew(self, role: Role, systems: Sequence[int], name: str) -> FusionRow:
        """Train the model again on some systems, and evaluate it; return a row without metrics if training fails."""
        model, own = copy.deepcopy(self.untrained), ordered(self.training or self.dev.source, systems=systems)
        model.system_names = own.systems
        self.progress(f"training on {', '.join(own.systems)}")
        try:
            model_files.fit_source(model, own, self.dev.options)
            return self._with_objective(model, _row(role, name, self._evaluated(systems, name, model)))
        except InputError as error:
            return FusionRow(name=name, role=role, dev=None, note=f"not trained: {error}")

    def with_left_out(self, rows: Sequence[FusionRow], selection: Selection) -> list[FusionRow]:
        """Add a row for each system that was not selected, after the single systems."""
        systems = self.dev.source.systems
        left = [k for k in range(len(systems)) if k not in selection.systems]
        names = names_apart([f"{systems[k]}, left out" for k in left], [row.name for row in rows])
        task = self.task(self.untrained)
        pairs = list(zip(left, names, strict=True))
        more: list[FusionRow] = [
            self.anew("left out", [k], name) if task is None else task.row("left out", (k,), name) for k, name in pairs
        ]
        n = sum(row.role == "single" for row in rows)
        return [*rows[:n], *more, *rows[n:]]

    def messages(self) -> list[list[Any]]:
        """Return the messages about the training trials, and about others."""
        results: list[Any] = self.results[0] if self.results else [None] * len(self._sets)
        items = [one.messages_about(own, before=not self._alone) for one, own in zip(self._sets, results, strict=True)]
        if self.others is not None:
            items[1] = [Message("other", "", f"{self.dev.kind.noun}s of {option('test_scores')}:"), *items[1]]
        return items

    def _evaluated(self, systems: Sequence[int], name: str = "", model: ScoreModel | None = None) -> list[Results[Any]]:
        """Return the results of the training trials, and of others."""
        return [one.evaluated(systems, self.progress, model, name) for one in self._sets]


def _row(role: Role, name: str, results: Sequence[Results[Any]], at: int = 0) -> FusionRow:
    """Return the row of one of the evaluated systems."""
    dev, *more = (one.systems[at] for one in results)
    return FusionRow(name=name, role=role, dev=dev, eval=replace(more[0], name=name) if more else None)


def rows_of_model(model: ScoreModel, dev: Compared, test: Compared, progress: Progress) -> FusionMetrics:
    """Evaluate a fusion from a file, and its systems after training them again.

    Parameters
    ----------
    model : Fusion or MulticlassFusion
    dev : Compared
        If the model was trained on other trials, the fusion is also trained on them, and has another row.
    test : Compared
        Other trials of these systems.
    progress : function

    Returns
    -------
    FusionMetrics

    Raises
    ------
    InputError
        If systems of the same names have different orders in training and test, or the fusion cannot be trained.
    """
    model_files.require_same_places(dev.source.systems, test.source.systems)
    with dev.options.scale.engine() as engine:
        same = model_files.is_of_training(model, dev.source, engine)
    work = TrainingRows(model, model, dev, test, progress)
    if not dev.kind.compares_systems:
        return _trained_anew(work, same)
    complete, other = dev.complete, test.complete
    if complete is None:
        return FusionMetrics((), None)
    names = (() if model.training_ is None else model.training_.systems) or dev.source.systems
    if (task := work.task(model, names)) is None:
        result = _trained_anew(replace(work, dev=complete, others=other, training=dev.source), same)
        return replace(result, rows=work.with_incomplete(result.rows))
    analysis = analysed(task)
    rows: list[FusionRow] = list(analysis.rows)
    fused, *_ = names_apart([model.table_name], analysis.names)
    own = replace(work, dev=complete, others=other).row_of("fusion", fused, model)
    if same is False:
        (name,) = names_apart([f"{model.table_name}, trained on these trials"], [row.name for row in rows])
        rows[-1] = replace(rows[-1], name=name)
    else:
        own = replace(own, note=rows.pop().note)
    rows.append(own)
    without = analysis.leave_one_out or (analysis.singles[::-1] if len(names) > 1 else ())
    return FusionMetrics(work.with_incomplete(rows), analysis, same, names, analysis.fusion, without)


def _trained_anew(work: TrainingRows, same: bool | None) -> FusionMetrics:  # noqa: FBT001
    """Evaluate a fusion and its systems: each calibrated separately, and the fusion without each of them."""
    *rows, own = work.plain_rows(alone=True)
    whole, systems = own, work.dev.source.systems
    singles = [row for row in rows if row.role == "single"]
    without = tuple(row for row in rows if row.role == "leave-one-out") or tuple(singles[::-1])
    if same is False:
        (name,) = names_apart([f"{work.model.table_name}, trained on these trials"], [row.name for row in rows])
        whole = work.anew("fusion", range(len(systems)), name)
        rows.append(whole)
    return FusionMetrics((*rows, own), None, same, systems, whole, without if len(systems) > 1 else ())


def require_scores_of(test_scores: object, test_key: object) -> None:
    """Refuse a key of other trials without scores.

    Raises
    ------
    InputError
    """
    if test_scores is None and test_key is not None:
        raise InputError(
            "test_scores: none given, but test_key is. Name score files of the same systems "
            f"({option(test_scores=...)}), or leave the key out."
        )


def opened_others(
    scores: Any,
    key: PathLike | None,
    options: Options,
    source: TrialSource,
    model: ScoreModel,
    *,
    measured: Measured | None,
    progress: Progress | None,
) -> Compared:
    """Open other trials of the systems of a source, in its order; they can lack columns of weights and units.

    Parameters
    ----------
    scores : paths or objects
    key : path, object or None
    options : Options
        Options of training.
    source : TrialSource
        The training trials.
    model : ScoreModel
        If it has several systems, their names can define another order.
    measured : mapping of side to SegmentQuality, optional
        Quality measures of these trials.
    progress : function, optional

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.workflows.reading.inputs.open_source`; or if systems or classes do not match, or quality
        measures are missing.
    """
    values = list(scores) if isinstance(scores, list | tuple) else [scores]
    paths: Sequence[PathLike] = [one for one in source.paths if not is_object(one)]
    named = values if any(map(is_object, (*values, key))) else paths_of(values, also=(*paths, key), name="test_scores")
    request = options.lenient().lenient_on_units().of_systems(source.renamed)
    files = opened(named, key, request).in_order_of(source.classes)
    model_files.refuse_twice(single_files(files.score_paths))
    result, own = _with_what_it_has(files.as_source(request, progress), options)
    if bool(result.classes) != bool(source.classes) or set(result.classes) != set(source.classes):
        raise InputError(
            f"test_scores: {result.name} has {_classes(result)}, but the training trials have {_classes(source)}. "
            "Name scores of the same classes."
        )
    model_files.require_one_system(model, result)
    order, messages = list(range(len(result.systems))), list[Message]()
    if model.is_fusion:
        order, messages = model_files.order_of_training(result.systems, source.systems, len(source.systems))
    if measured is not None:
        result = with_quality(result, measured, own.scale, sides=source.quality or None)
    if lacking := [name for name in source.quality if name not in result.quality]:
        names = " or ".join(name.removesuffix("_quality") for name in lacking)
        raise InputError(
            f"test_quality: no quality measures of {names} for any trial of {result.name}, but the fusion was trained "
            f"with them. Name their file ({option(test_quality=...)})."
        )
    with own.scale.engine() as engine:
        engine.make_room(result, own.scale.n_bytes)
        units = units_of_source(result, engine, own.how_sure, kind_called(result.kind_name()))
    scored = model_files.PartlyScoredTrials.of(units.source, own).choose(order, own)
    return Compared(scored, own, units, result.classes, tuple(messages))


def _classes(source: TrialSource) -> str:
    return f"classes {', '.join(source.classes)}" if source.classes else "two classes"


def _with_what_it_has(source: TrialSource, options: Options) -> tuple[TrialSource, Options]:
    """Return options without the weights or units that other trials lack, and the trials with messages about that.

    Trials in memory already have these messages.
    """
    own = options
    if source.batch is not None:
        return source, options.lenient_on_units()
    notes, words = list[Message](), f"{source.name}: no {{}}, unlike the training trials; these trials {{}}"
    if options.reading.weights is not None and not source.has_weights:
        own = replace(own, reading=replace(own.reading, weights=None))
        notes.append(Message(WARNING, "", words.format("weights", "have equal weight")))
    if options.how_sure.units is not None and not source.has_units:
        own = replace(own, how_sure=replace(own.how_sure, units=None, intervals=False, bootstrap=0, optimism=None))
        notes.append(Message(WARNING, "", words.format("units", "have no intervals")))
    return replace(source, messages=(*source.messages, *notes)), own
