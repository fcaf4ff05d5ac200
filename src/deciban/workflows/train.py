"""Training from score files and a key: a calibration or a fusion, with its worth."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from deciban._files import PathLike
from deciban.analysis import FigureRow, FusionAnalysis, Selection
from deciban.errors import InputError, MissingScoresError
from deciban.evaluation.one_system import SCHEMA, Jsonable, Tabular
from deciban.evaluation.results import Results
from deciban.fusion import LinearFusion, MulticlassFusion, QualityFusion
from deciban.fusion.quality_measures import QUALITY_SIDES
from deciban.io.source import TwoFiles, require_one_stream, single_files
from deciban.messages import Message, counted, names_apart, shortened
from deciban.models.model import content_of
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassScores, JoinReport, Scores
from deciban.trials.classes import messages_on_ratios
from deciban.trials.sources import ShardSource
from deciban.types import Progress
from deciban.workflows.evaluate import opened
from deciban.workflows.inputs import Opened, Paths, named_scores
from deciban.workflows.kinds import AnyScores, kind_called
from deciban.workflows.model_files import (
    Scored,
    crossed,
    fit_source,
    refuse_twice,
    require_groups,
    require_kind_of_source,
    require_one_system,
    selected,
    sides_of,
)
from deciban.workflows.options import Options, Renamed
from deciban.workflows.quality import (
    Combined,
    Measured,
    QualityFiles,
    Selected,
    combination_of,
    read_measures,
    with_quality,
)
from deciban.workflows.training_rows import Compared, TrainingRows, opened_others, require_scores_of
from deciban.workflows.units import DEFAULT_FOLDS, HoldOut, UnitsOfSource, units_of_source

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
        if gain := _gain(self.rows, on_complete=self.model.of_subsets):
            divergence = "Divergences of the systems' posteriors are computed only for trials that fit in memory."
            lines += gain if self.analysis is not None else [*gain, divergence]
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


def _gain(rows: Sequence[FigureRow], *, on_complete: bool) -> list[str]:
    """How the objective compares with that of the best single system, if one can be trained."""
    known = [(row.penalized_objective, row) for row in rows if row.penalized_objective is not None]
    singles = [one for one in known if one[1].role == "single"]
    fused = [one for one in known if one[1].role == "fusion"]
    if sum(row.role == "single" for row in rows) == 1 or not singles or not fused:
        return []
    (own, fusion), (least, best) = fused[0], min(singles, key=lambda one: one[0])
    share = (least - own) / least if least > 0.0 else 0.0
    less = f"{share:.1%}".replace("%", " %")
    compared = "no better than" if share < _NOTHING else f"{less} below"
    where = ", on the trials that all systems scored" if on_complete else ""
    return [f"{fusion.name}: objective {compared} that of {best.name}, the best single system{where}"]


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
    **options: Any,
) -> Trained:
    """Train a calibration, a fusion or a back-end on score files and a key; of two classes or of many.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files, of one system for a calibration, of one or more for a fusion; see `deciban.read_scores`. No file
        twice.
    key : path or None
        Which trials are targets, or of which class; None if the first score file says so.
    model : calibrator, fusion or model of classes, optional
        What to train; a copy is, it stays as it is. The default is a fusion: ``QualityFusion()`` if there is quality,
        else ``LinearFusion()``, and ``MulticlassFusion()`` of many classes. For ``SubsetFusion(missing="subset")`` the
        systems need not have scored the same trials: ``missing`` has no meaning then.
    quality : path, or mapping of side to path, optional
        Quality measures by name. HDF5 and MATLAB files hold those of both sides; text files those of segments, which
        belong to every side whose names they know. ``{"enroll": path, "test": path}`` are one file for each, and
        ``{"trial": path}`` is for trials that have one name. Trials of names without measures are counted, and fused by
        scores alone.
    measures : sequence of str, or mapping of side to such, optional
        Names of the quality measures to take, or their numbers from 1; all of them if left out.
    combine : matrix, path, or mapping of side to such, optional
        Makes few measures out of many: one row for each new one, with weights of those that are taken (BOSARIS paper,
        section 2.7). A file of text holds such rows of numbers. The model remembers it: `deciban.apply_files` takes
        the file of all measures.
    cross_validate : int, str, or pair of str, optional
        How to map every trial by a model that has not seen its like, as well. A column of the key says whose trials
        stay together, such as the speaker (one for each side, if there are two); so do the names ``enroll`` and
        ``test``, or the trial itself. A number stands for the names on all sides of the trial, and is the number of
        folds.
    n_folds : int
        Number of folds where ``cross_validate`` names columns.
    select : bool
        Whether to take only systems that help; see `deciban.analysis.select_systems`. Trials are held out as
        ``cross_validate`` says, by all their names if it says nothing.
    test_scores, test_key : optional
        Scores of the same systems on other trials, and their key: everything is evaluated on these, too. The systems
        have the same names, or are in the same order.
    test_quality : path, or mapping of side to path, optional
        Quality measures of these trials, if ``quality`` does not hold them.
    progress : function, optional
        Called with a few words at every step.
    **options
        As in `deciban.evaluate_files`, ``tar`` and ``non`` among them. With ``weights``, trials count that much in
        training, selection, cross-validation and all figures; those of a ``test_key`` without that column count alike.

    Returns
    -------
    Trained

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files` and the ``fit`` of the model, or if test files are no such systems.
    TypeError
        If an option is none.

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
    given: Any = scores
    is_opened = isinstance(given, Opened)
    named, options = (given, options) if is_opened else named_scores(given, key, options)
    chosen, say = Options.of("train_files", options), progress or (lambda _words: None)
    held = None if cross_validate is None else HoldOut(cross_validate, n_folds)
    by = held or (HoldOut(n_folds, n_folds) if select else None)
    several = (one if isinstance(one, list | tuple) else [one] for one in (named, key, test_scores, test_key))
    require_one_stream(chain.from_iterable(several))  # before any of these is opened
    require_scores_of(test_scores, test_key)
    incomplete = isinstance(model, ScoreModel) and model.accepts_missing
    chosen = replace(chosen, groups=None if by is None else by.groups, incomplete=incomplete)
    files = opened(named, key, chosen)
    made = _copied(_default(files, chosen, quality) if model is None else model, with_quality=quality is not None)
    refuse_twice(single_files(files.score_paths))
    chosen = files.options_for(made, chosen)
    measured = None if quality is None else read_measures(quality)
    other = measured if test_quality is None else read_measures(test_quality)
    with _subsets_named(made):
        source = files.as_source(chosen, progress)
    require_kind_of_source(made, source)
    require_one_system(made, source)
    require_groups(source, held, by if select else None)
    source, made, combining = _measured(source, made, chosen, measured, (measures, combine))
    others = None
    if test_scores is not None:
        about: Any = {"measured": other, "progress": progress}
        others = opened_others(test_scores, test_key, chosen, source, made, **about)
    hold = held, by if select else None
    return train_source(source, made, chosen, say, messages=combining, others=others, hold=hold)


def train_source(
    source: ShardSource,
    model: ScoreModel,
    options: Options,
    progress: Progress,
    *,
    messages: Sequence[Message] = (),
    others: Compared | None = None,
    hold: tuple[HoldOut | None, HoldOut | None] = (None, None),
) -> Trained:
    """Train a model on a source, and evaluate its systems and what the model makes of them.

    Parameters
    ----------
    source : ShardSource
    model : ScoreModel
        What to train, which is done in place.
    options : Options
    progress : function
        Called with a few words at every step.
    messages : sequence of Message
        What is to be said after what is said of the trials.
    others : Compared, optional
        Other trials of these systems, on which everything is evaluated as well.
    hold : pair of HoldOut or None
        What is held out to see what models make of trials that they have not seen, and what to find the systems that
        help; without the latter all are fused.

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        As ``fit`` of the model.
    """
    held, select = hold
    with options.scale.engine() as engine:
        engine.make_room(source, engine.bounded(options.scale.n_bytes), n_systems=len(source.systems))
        units = units_of_source(source, engine, options.how_sure, kind_called(model.scores_kind))
        units.require_room(engine.bounded(options.scale.n_bytes))
    every = Scored.of(units.source, options)
    selection = None if select is None else selected(every.complete, model, select, options, progress)
    taken = tuple(sorted(selection.systems)) if selection else tuple(range(len(source.systems)))
    dev = Compared(every.choose(taken, options), options, units)
    untrained = copy.deepcopy(model)
    progress(f"training on {', '.join(dev.source.systems)}")
    _train(model, dev.source, options, units)
    crossing = None
    if held is not None:
        progress("cross-validating")
        untrained.system_names = dev.source.systems
        systems = dev.source.systems
        crossing = crossed(
            dev.source, untrained, held, options, model.row_name(systems) if model.is_fusion else systems[0]
        )
    progress("evaluating")
    tested = None if others is None else others.choose(taken).for_model(model)
    work = TrainingRows(model, untrained, dev, tested, progress)
    rows, analysis = work.rows()
    if crossing is not None:
        rows.append(_crossed_row(model, crossing, dev, progress, [row.name for row in rows]))
    if selection is not None:
        rows = replace(work, dev=replace(dev, scored=every), others=others).with_left_out(rows, selection)
    told = work.messages()
    here, there = told if others is not None else (told[0], [])
    return Trained(
        model,
        taken,
        tuple(rows),
        analysis,
        selection,
        None if crossing is None else next(iter(_scores_in_memory(replace(crossing, units=()))), None),
        source.report or JoinReport(source.n_rows, 0, 0, 0),
        (*here, *messages, *_said(model, dev, held), *there),
        source.renamed,
    )


def _said(model: ScoreModel, dev: Compared, held: HoldOut | None) -> list[Message]:
    """What is to be said of training itself."""
    source, found = dev.source, list[Message]()
    if model.is_fusion:  # whose rows are of calibrated systems, without notes on the scores as they are
        found += messages_on_ratios(_scores_in_memory(source))
    if held is not None:
        found.append(held.message(sides_of(source), "fuses" if model.is_fusion else "calibrates"))
    assert model.training_ is not None  # noqa: S101  # it has just been trained
    n_lacking = model.training_.results.get("n_without_quality")
    if source.batch is None and n_lacking:
        n = sum(model.training_.counts.values())
        words = f"{n_lacking:,} of {counted(n, 'trial')} without quality measures are fused by scores alone"
        found.append(Message("note", "", words))
    return found


def _scores_in_memory(source: ShardSource) -> list[AnyScores]:
    """The scores of every system as tables, in the unit that they had; none where they are not in memory."""
    batch = source.batch
    if batch is None or batch.trials is None:
        return []
    if source.classes:
        pairs = zip(source.systems, batch.scores, strict=True)
        return [ClassScores(batch.trials, source.classes, score, name) for name, score in pairs]
    units = source.units or ("nats",) * len(source.systems)
    return [
        Scores(batch.trials, score, name)
        for name, score, unit in zip(source.systems, batch.scores, units, strict=True)
        if unit == "nats"
    ]


def _crossed_row(
    model: ScoreModel, crossing: ShardSource, dev: Compared, progress: Progress, taken: Sequence[str]
) -> FigureRow:
    """The row of cross-validated scores."""
    of = model.table_name if model.is_fusion else dev.source.systems[0]
    (name,) = names_apart([f"{of}, cross-validated"], taken)
    own = Compared(Scored(replace(crossing, systems=(name,))), dev.options, dev.units)
    return FigureRow(name=name, role="cross-validated", dev=own.evaluated([0], progress).systems[0])


def _train(model: ScoreModel, source: ShardSource, options: Options, units: UnitsOfSource) -> None:
    """Train a model, and add to its record what numbers do not know: names of systems, columns, units."""
    model.system_names = source.systems
    fit_source(model, source, options, units)
    training, reading = model.training_, options.reading
    assert training is not None  # noqa: S101  # it has just been trained
    more = {} if reading.weights is None else {"weights_from": reading.weights}
    more |= kind_called(model.scores_kind).record(reading, source.classes, source.units)
    model.training_ = replace(training, systems=source.systems, results={**training.results, **more})


@contextmanager
def _subsets_named(model: ScoreModel) -> Iterator[None]:
    """Name one more way out where systems lack scores of trials."""
    try:
        yield
    except MissingScoresError as error:
        if not model.is_fusion or model.takes_quality or model.scores_kind == "classes":
            raise
        way = "Or train a fusion for every set of systems: SubsetFusion(missing='subset') (--missing subset)."
        raise MissingScoresError(f"{error} {way}") from error


def _measured(
    source: ShardSource, model: ScoreModel, options: Options, measured: Measured | None, chosen: tuple[Any, Any]
) -> tuple[ShardSource, ScoreModel, list[Message]]:
    """Trials with quality measures, if there are some, and the fusion with those of them that are chosen."""
    if measured is None or not model.takes_quality:
        if chosen != (None, None):
            raise InputError("measures, combine: are about quality measures. Name their file (--quality FILE).")
        return source, model, []
    source = with_quality(source, measured, options.scale)
    if chosen == (None, None):
        return source, model, []
    used = {side: measured[side] for side in QUALITY_SIDES if f"{side}_quality" in source.quality}
    setting, messages = combination_of(used, *chosen)
    return source, type(model)(**{**model.settings, "combine": setting}), messages


def _default(files: Opened, options: Options, quality: QualityFiles | None) -> ScoreModel:
    """The fusion that is trained if nothing is said."""
    if quality is not None:
        return QualityFusion()
    return MulticlassFusion() if files.kind_name(options) == "classes" else LinearFusion()


def _copied(model: ScoreModel, *, with_quality: bool) -> ScoreModel:
    if not isinstance(model, ScoreModel):
        raise InputError(f"model: got {type(model).__name__}. Pass a calibrator, a fusion or a model of classes.")
    if model.takes_quality != with_quality:
        raise InputError(
            f"quality: given, but {type(model).__name__} takes none. Leave it out, or pass QualityFusion()."
            if with_quality
            else "quality: none given, but QualityFusion is there to take it. Name its file, or pass LinearFusion()."
        )
    return copy.deepcopy(model)
