"""Training of a calibration or a fusion from score files and a key, with evaluations."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from deciban.analysis import FusionAnalysis, FusionRow, Selection
from deciban.analysis.fusion import analysed
from deciban.errors import (
    InputError,
    Message,
    MissingScoresError,
    counted,
    either,
    names_apart,
    not_none,
    option,
    shortened,
)
from deciban.evaluation.one_system import SCHEMA, Jsonable, OneSystem, Tabular
from deciban.evaluation.results import Results
from deciban.fusion import LinearFusion, MulticlassFusion, QualityFusion
from deciban.fusion.quality_measures import QUALITY_SIDES
from deciban.io.source import TwoFiles, require_one_stream, single_files
from deciban.models.model import content_of
from deciban.models.score_model import ScoreModel
from deciban.models.sources import mapped
from deciban.trials import ClassScores, JoinReport, Scores
from deciban.trials.classes import messages_on_ratios
from deciban.trials.sources import TrialSource, counting
from deciban.types import PathLike, Progress
from deciban.workflows import model_files
from deciban.workflows.kinds import AnyScores, kind_called
from deciban.workflows.options import Options, RenamedSystems
from deciban.workflows.reading.inputs import Opened, Paths, named_scores, opened
from deciban.workflows.reading.quality import (
    Combined,
    Measured,
    QualityFiles,
    Selected,
    combination_of,
    read_measures,
    with_quality,
)
from deciban.workflows.reading.units import DEFAULT_FOLDS, HoldOut, units_of_source
from deciban.workflows.train.rows import Compared, TrainingRows, opened_others, require_scores_of

_NOTHING = 0.0005
"""Share of an objective that is displayed as 0.0 %."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained(Tabular, Jsonable):
    """A trained model, and metrics of its training scores and possibly of others.

    Attributes
    ----------
    model : ScoreModel
        The model; its ``training_`` record contains the names of the systems.
    chosen : tuple of int
        Positions of its systems among all systems that were read.
    rows : tuple of FusionRow
        Rows of tables, with their roles: single systems (original or calibrated), the fusion without each of them,
        the calibration or fusion, and cross-validated scores.
    analysis : FusionAnalysis or None
        Two-class fusion: contributions of its systems, on the trials that all systems scored.
    selection : Selection or None
        Selection of the systems.
    cross_validated_scores : Scores or ClassScores or None
        Cross-validated scores in nats, in the order of the key; None for data larger than memory.
    report : JoinReport
        Counts of the join of the training trials.
    messages : tuple of Message
        Messages about inputs and assumptions.
    renamed : RenamedSystems, optional
        Original and new names of the systems.
    """

    model: ScoreModel
    chosen: tuple[int, ...]
    rows: tuple[FusionRow, ...]
    analysis: FusionAnalysis | None
    selection: Selection | None
    cross_validated_scores: AnyScores | None
    report: JoinReport
    messages: tuple[Message, ...]
    renamed: RenamedSystems | None = None

    def __repr__(self) -> str:
        names = shortened(", ".join(row.name for row in self.rows))
        return f"Trained({self.model.kind!r} on {counted(self.report.matched, 'trial')}; rows: {names})"

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Return every evaluation, with its role and the set of trials (``"dev"`` or ``"eval"``)."""
        parts = [("dev", row, row.dev) for row in self.rows] + [("eval", row, row.eval) for row in self.rows]
        return [({"role": row.role, "trials": part}, one) for part, row, one in parts if one is not None]

    @property
    def kind(self) -> str:
        """Kind of scores: ``"two-class"`` or ``"classes"``."""
        return self.model.scores_kind

    @property
    def message_lines(self) -> tuple[str, ...]:
        """Messages about inputs and assumptions, one per line."""
        return tuple(map(str, self.messages))

    @property
    def dev(self) -> Results[Any]:
        """Evaluations of the rows on the training trials, which are optimistic for trained scores."""
        return Results(tuple(row.dev for row in self.rows if row.dev is not None), self.report, self.messages)

    @property
    def test(self) -> Results[Any] | None:
        """Evaluations of the rows on other trials, if any."""
        items = tuple(row.eval for row in self.rows if row.eval is not None)
        return Results(items, None, self.messages) if items else None

    def of(self, *roles: str) -> list[Any]:
        """Return the evaluations on the training trials of the rows with one of these roles."""
        return [row.dev for row in self.rows if row.role in roles and row.dev is not None]

    @property
    def before(self) -> OneSystem | None:
        """Evaluation of the original scores of the first system; None if no row has it."""
        return next(iter(self.of("before")), None)

    @property
    def after(self) -> OneSystem | None:
        """Evaluation of the output of the model for the training trials."""
        return next(iter(self.of("calibration", "fusion")), None)

    @property
    def cross_validated(self) -> OneSystem | None:
        """Evaluation of cross-validated scores of the training trials; None if there are none."""
        return next(iter(self.of("cross-validated")), None)

    def files(self, paths: Sequence[PathLike | TwoFiles]) -> list[PathLike | TwoFiles]:
        """Return the files of the systems that the model uses; all files if they do not contain one system each."""
        if self.selection is None or len(paths) != len(self.selection.steps) + len(self.selection.left_out):
            return list(paths)
        return [paths[k] for k in self.chosen]

    @property
    def summary(self) -> tuple[str, ...]:
        """Results and remarks on training, as sentences."""
        lines = [] if self.model.parameter_rows() else self.model.parameter_lines()
        lines += self.model.training_lines()
        if gain := _gain(self.rows, on_complete=self.model.of_subsets):
            divergence = "Divergences of the systems' posteriors are computed only for trials that fit in memory."
            lines += gain if self.analysis is not None else [*gain, divergence]
        if self.test is None:
            lines.append(self._what_flatters())
        return tuple(lines)

    def _what_flatters(self) -> str:
        """Return a remark on metrics of the training trials."""
        what = f"'{self.after.name}'" if self.after else "the fusion" if self.model.is_fusion else "the model"
        crossed = self.cross_validated
        advice = f"expect those of '{crossed.name}'" if crossed else "cross-validate, or evaluate on other trials"
        were = "it was"
        if any(row.role == "single" and row.penalized_objective is not None for row in self.rows):
            what, were = f"{what} and of single systems", "they were"
        return f"Metrics of {what} are optimistic, because {were} trained on these trials: {advice}."

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
        """Return the same evaluations with the keys of earlier versions."""
        if self.kind == "classes":
            return {"systems": dev, "test": test}
        if self.model.is_fusion:
            return {}
        entries = {"before": self.before, "after": self.after, "cross_validated": self.cross_validated}
        return {name: None if one is None else one.to_dict() for name, one in entries.items()}

    def __eq__(self, other: object) -> bool:
        """Compare the content, which is equal for equal runs."""
        return isinstance(other, Trained) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.chosen, self.messages))


def _place(one: object, results: Results[Any] | None) -> int | None:
    """Return the index of an evaluation in results."""
    if one is None or results is None:
        return None
    return next(k for k, system in enumerate(results.systems) if system is one)


def _gain(rows: Sequence[FusionRow], *, on_complete: bool) -> list[str]:
    """Return sentences on the objective beside that of the best single system, and on single systems, if any."""
    known = [(row.penalized_objective, row) for row in rows if row.penalized_objective is not None]
    singles = [one for one in known if one[1].role == "single"]
    fused = [one for one in known if one[1].role == "fusion"]
    if sum(row.role == "single" for row in rows) == 1 or not singles or not fused:
        return []
    (own, fusion), (least, best) = fused[0], min(singles, key=lambda one: one[0])
    share = (least - own) / least if least > 0.0 else 0.0
    compared = "no better than" if share < _NOTHING else f"{share:.1%} below".replace("%", " %")
    where = ", on the trials that all systems scored" if on_complete else ""
    words = f"{fusion.name}: objective {compared} that of {best.name}, the best single system{where}"
    return [words, "Single systems: each is calibrated alone, on the training trials."]


def train_files(
    scores: Paths | Opened | None = None,
    key: PathLike | None = None,
    model: ScoreModel | None = None,
    *,
    quality: QualityFiles | None = None,
    measures: Selected | None = None,
    combine: Combined | None = None,
    cross_validate: int | str | tuple[str, str] | None = None,
    n_folds: int = DEFAULT_FOLDS,
    select: bool = False,
    test_scores: Paths | None = None,
    test_key: PathLike | None = None,
    test_quality: QualityFiles | None = None,
    progress: Progress | None = None,
    **options: object,
) -> Trained:
    """Train a calibration, a fusion or a back-end on score files and a key, two-class or multiclass.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files: of one system for a calibration, of one or more for a fusion; see `deciban.read_scores`. Every file
        can occur only once.
    key : path or None
        Key with target labels or classes; None if the first score file contains labels.
    model : calibrator, fusion or model of classes, optional
        Model to copy and train. By default a fusion: ``QualityFusion()`` with ``quality``, otherwise
        ``LinearFusion()``, multiclass ``MulticlassFusion()``. With ``SubsetFusion(missing="subset")``, the systems can
        have scored different trials, and ``missing`` is ignored.
    quality : path, or mapping of side to path, optional
        Quality measures by name. HDF5 and MATLAB files contain measures of both sides; text files contain measures of
        segments, for every side with matching names. ``{"enroll": path, "test": path}`` sets one file for each side,
        ``{"trial": path}`` is for trials with one name. Trials without measures are counted, and fused by scores alone.
    measures : sequence of str, or mapping of side to sequence, optional
        Names of the quality measures to use, or their numbers from 1; by default all.
    combine : matrix, path, or mapping of side to matrix or path, optional
        Combination of many measures into few: one row for each new measure, with weights of the used measures (BOSARIS
        paper, section 2.7), as a matrix or a text file. It is part of the model: `deciban.apply_files` needs the file
        of all measures.
    cross_validate : int, str, or pair of str, optional
        Also map every trial by a model that was trained without its group. A column of the key defines the groups, for
        example the speaker (a pair of columns for the two sides). Or the names on a side, ``enroll`` or ``test``, or
        ``trial``. A number is the number of folds, with groups by all names of the trial.
    n_folds : int
        Number of folds, if ``cross_validate`` contains columns.
    select : bool
        Whether to use only systems that help; see `deciban.analysis.select_systems`. Trials are held out as in
        ``cross_validate``; without it, by all their names.
    test_scores, test_key : optional
        Scores of the same systems on other trials, and their key, to evaluate everything on these trials, too. The
        systems must have the same names, or the same order.
    test_quality : path, or mapping of side to path, optional
        Quality measures of these trials, if they are not in ``quality``.
    progress : function, optional
        Called with a short description of every step.
    **options
        As in `deciban.evaluate_files`, including ``tar`` and ``non``. ``weights`` apply to training, selection,
        cross-validation and all metrics; without this column in ``test_key``, its trials have equal weight.

    Returns
    -------
    Trained

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files` and the ``fit`` of the model, or if the systems of the test files do not match.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = "a,3,1", "b,1,1", "c,2,1", "d,-1,0", "e,1.5,0", "f,0,0"
    >>> _ = (folder / "A.csv").write_text("\\n".join(("trial,score,label", *rows)))
    >>> _ = (folder / "B.txt").write_text("f -1\\na 1\\nb 2\\nc -0.5\\nd 0.5\\ne 0\\n")
    >>> done = train_files([folder / "A.csv", folder / "B.txt"], None, LinearFusion(ridge=0.1))
    >>> done.model.training_.systems, done.model.weights_.round(2)
    (('A', 'B'), array([0.85, 0.72]))
    >>> [(row.name, round(row.dev.cllr, 2)) for row in done.rows]
    [('A', 0.64), ('B', 0.82), ('fusion', 0.5)]
    """
    is_opened = isinstance(scores, Opened)
    named, options = (scores, options) if is_opened else named_scores(scores, key, options)
    chosen, say = Options.of("train_files", options), progress or (lambda _words: None)
    held = None if cross_validate is None else HoldOut(cross_validate, n_folds)
    by = held or (HoldOut(n_folds, n_folds) if select else None)
    several = (one if isinstance(one, list | tuple) else [one] for one in (named, key, test_scores, test_key))
    require_one_stream(chain.from_iterable(several))  # before anything is opened
    require_scores_of(test_scores, test_key)
    incomplete = isinstance(model, ScoreModel) and model.accepts_missing
    chosen = replace(chosen, groups=None if by is None else by.groups, incomplete=incomplete)
    files = opened(named, key, chosen)
    result = _copied(_default(files, chosen, quality) if model is None else model, with_quality=quality is not None)
    model_files.refuse_twice(single_files(files.score_paths))
    chosen = files.options_for(result, chosen)
    measured = None if quality is None else read_measures(quality)
    other = measured if test_quality is None else read_measures(test_quality)
    with _subsets_named(result):
        source = files.as_source(chosen, progress)
    model_files.require_kind_of_source(result, source)
    model_files.require_one_system(result, source)
    model_files.require_groups(source, held, by if select else None)
    source, result, combining = _measured(source, result, chosen, measured, (measures, combine))
    others = None
    if test_scores is not None:
        read = partial(opened_others, measured=other, progress=progress)
        others = read(test_scores, test_key, chosen, source, result)
    hold = held, by if select else None
    return train_source(source, result, chosen, say, messages=combining, others=others, hold=hold)


def train_source(
    source: TrialSource,
    model: ScoreModel,
    options: Options,
    progress: Progress,
    *,
    messages: Sequence[Message] = (),
    others: Compared | None = None,
    hold: tuple[HoldOut | None, HoldOut | None] = (None, None),
) -> Trained:
    """Train a model on a source, and evaluate its systems and its output.

    Parameters
    ----------
    source : TrialSource
    model : ScoreModel
        Model to train in place.
    options : Options
    progress : function
        Called with a short description of every step.
    messages : sequence of Message
        Messages to print after the messages about the trials.
    others : Compared, optional
        Other trials of these systems, for evaluation.
    hold : pair of HoldOut or None
        Groups for cross-validation, and groups for the selection of systems; without the latter, all systems are
        fused.

    Raises
    ------
    FormatError, OSError
        If reading fails.
    InputError
        As in the ``fit`` of the model.
    """
    held, select = hold
    with options.scale.engine() as engine:
        engine.make_room(source, engine.bounded(options.scale.n_bytes), n_systems=len(source.systems))
        units = units_of_source(source, engine, options.how_sure, kind_called(model.scores_kind))
        units.require_room(engine.bounded(options.scale.n_bytes))
    every = model_files.PartlyScoredTrials.of(units.source, options)
    selection = None if select is None else model_files.selected(every.complete, model, select, options, progress)
    taken = tuple(sorted(selection.systems)) if selection else tuple(range(len(source.systems)))
    dev = Compared(every.choose(taken, options), options, units)
    untrained = copy.deepcopy(model)
    progress(f"training on {', '.join(dev.source.systems)}")
    model.system_names = dev.source.systems
    model_files.fit_source(model, dev.source, options, units)
    _record(model, dev.source, options)
    crossing = None
    if held is not None:
        progress("cross-validating")
        untrained.system_names = dev.source.systems
        systems = dev.source.systems
        crossing = model_files.crossed(
            dev.source, untrained, held, options, model.row_name(systems) if model.is_fusion else systems[0]
        )
    progress("evaluating")
    tested = None if others is None else others.choose(taken).for_model(model)
    work = TrainingRows(model, untrained, dev, tested, progress)
    task = work.analysis_task
    try:
        analysis = None if task is None else analysed(task, trained=work.model)
    except InputError:
        if tested is not None:
            mapped(counting(tested.source), model, "fusion")  # raises an error with a name
        raise
    rows = work.rows(analysis)
    if crossing is not None:
        rows.append(_crossed_row(model, crossing, dev, progress, [row.name for row in rows]))
    if selection is not None:
        rows = replace(work, dev=replace(dev, scored=every), others=others).with_left_out(rows, selection)
    notes = work.messages()
    here, there = notes if others is not None else (notes[0], [])
    return Trained(
        model,
        taken,
        tuple(rows),
        analysis,
        selection,
        None if crossing is None else next(iter(_scores_in_memory(replace(crossing, units=()))), None),
        source.report or JoinReport(source.n_rows, 0, 0, 0, compared=False),
        (*here, *messages, *_said(model, dev, held), *there),
        source.renamed,
    )


def _said(model: ScoreModel, dev: Compared, out: HoldOut | None) -> list[Message]:
    """Return the messages about training."""
    source, messages = dev.source, list[Message]()
    if model.is_fusion:  # its rows are of calibrated systems, and have no notes on the original scores
        messages += messages_on_ratios(_scores_in_memory(source))
    if out is not None:
        messages.append(out.message(model_files.sides_of(source), "fused" if model.is_fusion else "calibrated"))
    training = not_none(model.training_, "training_")
    n_lacking = training.results.get("n_without_quality")
    if source.batch is None and n_lacking:
        n = sum(training.counts.values())
        words = f"{n_lacking:,} of {counted(n, 'trial')} without quality measures are fused by scores alone"
        messages.append(Message("note", "", words))
    return messages


def _scores_in_memory(source: TrialSource) -> list[AnyScores]:
    """Return the scores of every system in nats as tables; empty if they are not in memory."""
    trials = source.trials
    if trials is None:
        return []
    if source.classes:
        pairs = zip(source.systems, source.held.scores, strict=True)
        return [ClassScores(trials, source.classes, score, name) for name, score in pairs]
    units = source.units or ("nats",) * len(source.systems)
    return [
        Scores(trials, score, name)
        for name, score, unit in zip(source.systems, source.held.scores, units, strict=True)
        if unit == "nats"
    ]


def _crossed_row(
    model: ScoreModel, crossing: TrialSource, dev: Compared, progress: Progress, taken: Sequence[str]
) -> FusionRow:
    """Return the row of cross-validated scores."""
    of = model.table_name if model.is_fusion else dev.source.systems[0]
    (name,) = names_apart([f"{of} (cross-validated)"], taken)
    own = Compared(model_files.PartlyScoredTrials(replace(crossing, systems=(name,))), dev.options, dev.units)
    return FusionRow(name=name, role="cross-validated", dev=own.evaluated([0], progress).systems[0])


def _record(model: ScoreModel, source: TrialSource, options: Options) -> None:
    """Add names of systems, columns and units to the record of training."""
    training, reading = not_none(model.training_, "training_"), options.reading
    more = {} if reading.weights is None else {"weights_from": reading.weights}
    more |= kind_called(model.scores_kind).record(reading, source.classes, source.units)
    model.training_ = replace(training, systems=source.systems, results={**training.results, **more})


@contextmanager
def _subsets_named(model: ScoreModel) -> Iterator[None]:
    """Add a hint to the error for trials with missing scores."""
    try:
        yield
    except MissingScoresError as error:
        if not model.is_fusion or model.takes_quality or model.scores_kind == "classes":
            raise
        way = either("SubsetFusion(missing='subset')", "--missing subset")
        raise MissingScoresError(f"{error} Or train a fusion for every set of systems: {way}.") from error


def _measured(
    source: TrialSource, model: ScoreModel, options: Options, measured: Measured | None, chosen: tuple[Any, Any]
) -> tuple[TrialSource, ScoreModel, list[Message]]:
    """Return the source with quality measures, if any, and the fusion with the selected measures."""
    if measured is None or not model.takes_quality:
        if chosen != (None, None):
            raise InputError(f"measures, combine: need quality measures. Name their file ({option(quality='FILE')}).")
        return source, model, []
    source = with_quality(source, measured, options.scale)
    if chosen == (None, None):
        return source, model, []
    used = {side: measured[side] for side in QUALITY_SIDES if f"{side}_quality" in source.quality}
    setting, messages = combination_of(used, *chosen)
    return source, type(model)(**{**model.settings, "combine": setting}), messages


def _default(files: Opened, options: Options, quality: QualityFiles | None) -> ScoreModel:
    """Return the default fusion."""
    if quality is not None:
        return QualityFusion()
    return MulticlassFusion() if files.kind_name(options) == "classes" else LinearFusion()


def _copied(model: ScoreModel, *, with_quality: bool) -> ScoreModel:
    if not isinstance(model, ScoreModel):
        raise InputError(f"model: got {type(model).__name__}. Pass a calibrator, a fusion or a multiclass model.")
    if model.takes_quality != with_quality:
        raise InputError(
            f"quality: given, but {type(model).__name__} does not use it. Leave it out, or pass QualityFusion()."
            if with_quality
            else "quality: none given, but QualityFusion needs it. Name its file, or pass LinearFusion()."
        )
    return copy.deepcopy(model)
