"""Evaluation of score files and a key, with or without a trained model, and the most misleading trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban.errors import WARNING, InputError, Message, counted, display_name, names_apart, not_none, option, topic_of
from deciban.evaluation import Evaluation
from deciban.evaluation.breakdowns import WorstTrial, WorstTrials, merged_worst, worst_trials
from deciban.evaluation.results import Results
from deciban.io.reader import UnpairedError
from deciban.io.recognition import memory_of
from deciban.io.source import single_files
from deciban.memory import memory_error
from deciban.models import Model
from deciban.models.score_model import ScoreModel
from deciban.trials import JoinReport
from deciban.trials.sources import Batch, Engine, TrialFields, TrialSource, counting, found_in, having
from deciban.types import AnyArray, PathLike, Progress
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.options import MetricOptions, Options, RenamedSystems, UncertaintyOptions, renamed
from deciban.workflows.reading import inputs
from deciban.workflows.reading.inputs import opened

if TYPE_CHECKING:
    from deciban.evaluation.one_system import OneSystem
    from deciban.workflows.evaluate.conditions import Conditions
    from deciban.workflows.evaluate.plans import ProtocolTrials
    from deciban.workflows.reading.quality import QualityFiles
    from deciban.workflows.reading.units import UnitsOfSource


TWO_CLASSES = ("target", "non-target")


def evaluate_source(
    source: TrialSource,
    options: Options,
    progress: Progress | None = None,
    *,
    each: Sequence[MetricOptions] | None = None,
    units: UnitsOfSource | None = None,
    messages_before: Sequence[Message] = (),
    n_before: int = 0,
) -> Results[Any]:
    """Evaluate every system of a source.

    Parameters
    ----------
    source : TrialSource
    options : Options
    progress : function, optional
        Called with a short description of every step.
    each : sequence of MetricOptions, optional
        Metrics of every system; by default the metrics in the options.
    units : UnitsOfSource, optional
        Units of the trials, if known.
    messages_before : sequence of Message
        Messages about the trials, printed before the messages about conditions.
    n_before : int
        Number of passes that were made before.

    Returns
    -------
    Results
        The same as from `deciban.evaluate_files` for trials in memory.

    Raises
    ------
    FormatError, InputError, OSError
        If reading fails, or a request needs all trials in memory.
    """
    say, result = progress or (lambda _words: None), list[Any]()
    by_condition, primaries, notes = list[Any](), list[Any](), tuple[Message, ...]()
    worst = list[WorstTrials]()
    kind = kind_called(source.kind_name())
    if source.batch is not None and source.batch.truth is not None:
        kind.require_trials(source.batch.truth, source.classes)
    with options.scale.engine() as engine:
        engine.make_room(source, options.scale.n_bytes)
        units = replace(units, source=source, engine=engine) if units else _units_of(source, engine, options, kind)
        source = whole = units.source
        most = number_of_worst(options.worst, source)
        if most:
            sides_of_worst(source)  # raises an error before the passes
        split, planned = _split(kind, units, options)
        notes = () if split is None else split.messages
        for at, name in enumerate(source.systems):
            say(f"evaluating {name}")
            if whole.incomplete:
                source = having(whole, (at,))
                units = replace(units, source=source)
                split, planned = _split(kind, units, options)
            metrics = kind.on_axis_of([source], options.metrics if each is None else each[at])
            own = replace(options, metrics=metrics)
            result.append(kind.evaluate_source(units, own, system=at, name=name))
            if split is not None:
                by_condition.append(split.evaluated(result[-1], own, system=at))
            if planned is not None:
                primaries.append(planned.primary(result[-1], own, system=at))
            if most:
                worst.append(worst_of(source, engine, at, most))
    report, about = source.report, units.messages
    if source.batch is None:
        about = _messages_on_batches(source, options, result[0], units, engine.n_passes + n_before)
        report = report or _report_on_batches(source, options, kind, result)
    ties = {one.name: one.n_tied for one in result} if kind.has_ties else {}
    messages = (*source.messages_with_ties(ties, report), *about, *messages_before, *notes)
    make = partial(Results, conditions=tuple(by_condition), primaries=tuple(primaries), worst=tuple(worst))
    return make(tuple(result), report, messages)


def _units_of(source: TrialSource, engine: Engine, options: Options, kind: AnyKind) -> UnitsOfSource:
    """Return the units of a source, with the name that a protocol has for them."""
    from deciban.workflows.reading.units import units_of_source  # not needed if units are known

    return units_of_source(source, engine, options.how_sure, kind).called_for(options.plan)


def _report_on_batches(source: TrialSource, options: Options, kind: AnyKind, result: Sequence[Any]) -> JoinReport:
    """Return the number of evaluated trials, for sources without a join."""
    n_trials = source.n_rows if source.has_weights else kind.n_evaluated(result[0])  # weighted counts are no numbers
    chosen = options.reading.where and not options.reading.by_order
    extra = (source.n_rows - n_trials) * len(result) if chosen else 0  # scores of excluded trials
    return JoinReport(n_trials, 0, extra, 0, compared=False)


def _messages_on_batches(
    source: TrialSource, options: Options, first: OneSystem, units: UnitsOfSource, n_passes: int
) -> tuple[Message, ...]:
    """Return the messages about trials that were read in batches, given the evaluation of the first system."""
    often = "once" if n_passes <= 1 else "more than once"
    could_fit = source.paths and not (options.scale.is_asked or source.is_matrix or source.is_summary)
    if could_fit and not 0 < memory_of(source.paths) <= options.scale.n_bytes:  # 0 for streams
        often += ": they do not fit in memory"
    n = len(source.partitions)
    words = f"{counted(source.n_rows, 'row')} in {n:,} batch{'' if n == 1 else 'es'}, read {often}"
    column = options.reading.weights
    weights = [Message("weights", source.name, f"column {column!r}")] if source.has_weights and column else []
    n_units = None if first.uncertainty is None else int(first.uncertainty.n_units)
    return (*weights, *units.said(n_units), Message("note", source.name, words))


def _split(kind: AnyKind, units: UnitsOfSource, options: Options) -> tuple[Conditions | None, ProtocolTrials | None]:
    """Return the requested conditions and protocol; None if not requested."""
    split, planned = None, None
    if options.split.is_asked:
        from deciban.workflows.evaluate.conditions import Conditions

        split = Conditions.of(options.split, kind, units)
    if options.plan is not None:
        from deciban.workflows.evaluate.plans import ProtocolTrials

        planned = ProtocolTrials.of(options.plan, kind, units)
    return split, planned


def number_of_worst(request: object, files: Any) -> int:
    """Return the requested number of most misleading trials; 0 by default.

    Parameters
    ----------
    request : int or None
    files : Opened
        The trials.

    Raises
    ------
    InputError
        If the number is invalid, or the files contain no trial names.
    """
    if request is None or (request == 0 and not isinstance(request, bool)):
        return 0
    if isinstance(request, bool) or not isinstance(request, int | np.integer) or request < 0:
        raise InputError(f"worst: got {request!r}. It must be a number of trials: a whole number, at least 0.")
    if not files.is_at_hand and files.is_summary:
        raise InputError(
            "worst: a summary contains no trial names, which misleading trials need. Name the partitions themselves, "
            "or leave it out."
        )
    return int(request)


def sides_of_worst(source: TrialSource) -> tuple[str, ...]:
    """Return the sides of trials, or the columns of trial names of a source that does not fit in memory.

    Raises
    ------
    InputError
        If there are no trial names.
    """
    if source.trials is not None:
        return source.trials.sides
    sides = tuple(one for one in inputs.NAMING if one in source.conditions)
    if not sides:
        what = f"worst: {source.name} has no names of trials, and does not fit in memory"
        raise memory_error(what, way="add columns of names (enroll and test, or trial), or leave it out")
    return sides


def worst_of(source: TrialSource, engine: Engine, system: int, most: int) -> WorstTrials:
    """Return the trials of one system with the least evidence for their own class; trials of weight 0 are ignored.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
        Runs the pass if the trials are not in memory.
    system : int
        Index of the system.
    most : int

    Raises
    ------
    InputError
        If there are no trial names.
    """
    name, classes, sides = source.systems[system], source.classes or TWO_CLASSES, sides_of_worst(source)
    if source.trials is not None:
        return WorstTrials(name, sides, _worst(source.held, system, most, classes, source.trials.names_of))
    look = partial(_worst_in_partition, most, classes, tuple(source.conditions.index(one) for one in sides))
    fields = TrialFields((system,), truth=True, weight=source.has_weights, conditions=True)
    result: tuple[WorstTrial, ...] | None = found_in(source, engine, fields, look, "looking for misleading trials")
    return WorstTrials(name, sides, merged_worst(result or (), most, classes if not source.classes else ()))


def _worst_in_partition(most: int, classes: tuple[str, ...], at: Sequence[int], batch: Batch) -> tuple[WorstTrial, ...]:
    """Return the most misleading trials of a partition; ``at`` are the positions of the columns of trial names."""
    conditions = not_none(batch.conditions, "conditions")
    named = [conditions[one] for one in at]

    def names_of(row: int) -> tuple[str, ...]:
        places = ((int(codes[row]), values) for codes, values in named)
        return tuple(str(values[place]) if place < len(values) else "" for place, values in places)

    return _worst(batch, 0, most, classes, names_of)


def _worst(
    batch: Batch, system: int, most: int, classes: tuple[str, ...], names_of: Callable[[int], tuple[str, ...]]
) -> tuple[WorstTrial, ...]:
    """Return the most misleading trials of a batch."""
    scores, truth = batch.scores[system], batch.labels
    counting = np.ones(len(truth), bool) if batch.weight is None else batch.weight > 0
    loglik: AnyArray = scores
    if scores.ndim == 1:
        counting &= ~np.isnan(scores)
        loglik = np.column_stack([np.where(counting, scores, 0.0), np.zeros(len(scores))])
        truth = np.where(truth, 0, 1)
    return worst_trials(loglik, truth, most=most, classes=classes, names_of=names_of, counting=counting)


def _chosen_thresholds(
    source: TrialSource, scores: inputs.Paths, key: PathLike | None, options: Options, progress: Progress | None
) -> tuple[list[MetricOptions], tuple[Message, ...]]:
    """Choose the best thresholds of each system of a source on other trials.

    Parameters
    ----------
    source : TrialSource
        The systems to evaluate.
    scores : sequence of paths, or one path
        Score files of the same systems, in the same order.
    key : path or None
        By default the labels are in these files.
    options : Options
        Also for reading these files, except ``where``.
    progress : function, optional

    Returns
    -------
    list of MetricOptions
        Metrics of each system, including errors at its thresholds.
    tuple of Message

    Raises
    ------
    InputError
        If scores are multiclass, or the numbers or the order of the systems differ.
    FormatError, KeyMismatchError
        As in `deciban.workflows.reading.inputs.read_joined`.
    """
    kind, own = kind_called(source.kind_name()), options.metrics
    if not kind.has_thresholds:
        raise InputError(f"threshold_from: the scores are {kind.about}, and have no single threshold. Leave it out.")
    reading = replace(options.reading, where=None, weights_required=False)
    scale = replace(options.scale, speakers=options.scale.speakers if key is None else None)
    other = replace(options, reading=reading, scale=scale, kind=kind.name).of_systems(source.renamed)
    others = opened(inputs.paths_of(scores, name="threshold_from"), key, other).as_source(other, progress)
    _require_same(others.systems, source.systems)
    metrics = MetricOptions(operating_points=own.operating_points)
    quick = replace(other, plan=None, metrics=metrics, how_sure=UncertaintyOptions(intervals=False, optimism=False))
    results = evaluate_source(others, quick, progress)
    message = Message("note", "", "thresholds are chosen on the trials of the following files")
    entries = own.at_thresholds or {}
    each = [replace(own, at_thresholds={**entries, **_best(one)}) for one in results.systems]
    return each, (message, *(one for one in results.messages if isinstance(one, Message)))


def _require_same(names: Sequence[str], evaluated: Sequence[str]) -> None:
    """Refuse other systems than the evaluated ones, or another order."""
    if len(names) != len(evaluated):
        raise InputError(
            f"threshold_from: got {len(names)} systems ({', '.join(names)}), but {len(evaluated)} are evaluated "
            f"({', '.join(evaluated)}). Name one file for each system, in the same order."
        )
    for k, name in enumerate(names):
        if name in evaluated and evaluated[k] != name:
            raise InputError(
                f"threshold_from: {name} is system {k + 1} there, but system {evaluated.index(name) + 1} of the "
                "evaluated ones. Name one file for each system, in the same order."
            )


def _best(evaluation: Evaluation) -> dict[str, float]:
    """Return the thresholds of the EER and of the minimum cost at each operating point."""
    return {"EER": evaluation.eer_threshold} | {
        f"minDCF at {point}": point.min_threshold for point in evaluation.operating_points
    }


def evaluate_files(
    scores: inputs.Paths | None = None,
    key: PathLike | None = None,
    *,
    model: PathLike | Model | None = None,
    quality: QualityFiles | None = None,
    of_training: bool = False,
    threshold_from: inputs.Paths | None = None,
    threshold_key: PathLike | None = None,
    progress: Progress | None = None,
    **options: object,
) -> Results[Any]:
    """Evaluate score files, one per system, on the trials of one key, two-class or multiclass.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files; see `deciban.read_scores` and `deciban.io.read_class_scores` for their formats.
    key : path, optional
        Key with target labels, or the class of each segment. By default the first score file must contain labels.
    model : path or Model, optional
        Trained calibration or fusion: evaluate its output, too.
    quality : path, or mapping of side to path, optional
        Quality measures, for a fusion that was trained with some; see `deciban.train_files`.
    of_training : bool
        True if these are the training trials of the model. A message states a contradiction.
    threshold_from : sequence of paths, or one path, optional
        Two classes: scores of the same systems, in the same order, on other trials, such as a development set. Then
        ``requested.at_thresholds`` of each evaluation contains the errors and the half total error rate at the best
        thresholds of the other trials: of the EER, and of the minimum cost at each operating point.
    threshold_key : path, optional
        Key of these trials, if their files contain no labels.
    progress : function, optional
        Called with a short description of every step.
    **options
        ``tar`` and ``non`` (or ``same`` and ``different``): the scores of targets and of non-targets, instead of
        ``scores`` and a key. One path, or one for each system; or lists of numbers.

        ``kind``: ``"two-class"`` or ``"classes"``, by default detected from the files. Options for reading and joining
        files (attributes of `deciban.workflows.Reading`); for uncertainty (`deciban.workflows.UncertaintyOptions`:
        ``units``, ``level``, ``intervals``, ``bootstrap``, ``seed``, ``optimism``); for large data
        (`deciban.workflows.Scale`: ``memory``, ``dask``, ``speakers``); and for metrics
        (`deciban.workflows.MetricOptions`: ``classifier``; two-class ``operating_points``, ``eer_conventions``,
        ``fnmr_at``, ``fmr_at``, ``at_thresholds``, ``posteriors_at``, ``axis``; multiclass ``prior``, ``p_target``,
        ``p_out_of_set``, ``subsets``, ``pairs``, ``groups``).

    Returns
    -------
    Results
        The evaluations, counts of the join, and ``messages`` about inputs and assumptions. With a model, ``systems``
        are evaluations of its output, and ``before`` contains the results of the original scores.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.read_scores`, `deciban.align` and `deciban.load_model`; or if systems, classes or quality
        measures differ from training.
    TypeError
        If an option is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "sys.csv").write_text("trial,eng,fra\\ns1,2.25,-1.5\\ns2,-0.5,0.75\\ns3,1,0.5\\n")
    >>> _ = (folder / "key.csv").write_text("trial,class\\ns1,eng\\ns2,fra\\ns3,fra\\n")
    >>> results = evaluate_files(folder / "sys.csv", folder / "key.csv")
    >>> results.kind, results.classes, round(results.systems[0].cllr, 3)
    ('classes', ('eng', 'fra'), 0.459)
    >>> _ = (folder / "same.txt").write_text("2.5\\n1\\n"), (folder / "different.txt").write_text("-0.5\\n1.5\\n")
    >>> results = evaluate_files(same=folder / "same.txt", different=folder / "different.txt")
    >>> [(one.n_tar, one.auc) for one in results.systems]
    [(2, 0.75)]
    """
    named, options = inputs.named_scores(scores, key, options)
    chosen, loaded = Options.of("evaluate_files", options), None
    if model is not None:
        from deciban.workflows.model_files import path_of_model, require_quality, trained_model

        if threshold_from is not None:
            raise InputError(
                "threshold_from, model: thresholds are for scores without a model. Apply the model to both sets first "
                "(apply_files), or leave one of the two out."
            )
        named = inputs.paths_of(named, also=(key, path_of_model(model)))  # before the model is read
        loaded = trained_model(model, chosen.kind)
        require_quality(loaded, is_given=quality is not None)
        chosen = replace(chosen, incomplete=loaded.accepts_missing)
    elif quality is not None or of_training:
        raise InputError("quality, of_training: are for a model, and there is none. Name it, or leave them out.")
    others = None if threshold_from is None else inputs.paths_of(threshold_from, name="threshold_from")
    run = partial(evaluate_model, quality=quality, of_training=of_training, thresholds=(others, threshold_key))
    return run(loaded, opened(named, key, chosen), chosen, progress=progress).results


_UNPAIRED = "systems have different numbers of trials: each is evaluated on its own, and differences cannot be paired"
"""Message about systems without common trials."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelEvaluation:
    """Evaluation of systems with a trained model on the trials of a key.

    Attributes
    ----------
    results : Results
        Results of the output of the model; ``before`` contains the results of its systems, in the order of training.
    trials : tuple
        Arguments of `deciban.workflows.train.rows.Compared`; empty without a model.
    renamed : RenamedSystems, optional
        Original names of the systems.
    """

    results: Results[Any]
    trials: tuple[Any, ...] = ()
    renamed: RenamedSystems | None = None


def evaluate_model(
    model: ScoreModel | None,
    files: inputs.Opened,
    options: Options,
    *,
    quality: QualityFiles | None = None,
    of_training: bool = False,
    thresholds: tuple[inputs.Paths | None, PathLike | None] = (None, None),
    progress: Progress | None = None,
) -> ModelEvaluation:
    """Evaluate systems, and the output of a trained model, if given; see `evaluate_files`.

    Parameters
    ----------
    model : ScoreModel or None
        A trained model.
    files : Opened
        See `opened`.
    options, quality, of_training, progress
        As in `evaluate_files`.
    thresholds : pair
        ``threshold_from`` and ``threshold_key``: score files for choosing thresholds, and their key.
    """
    threshold_from, threshold_key = thresholds
    if threshold_key is not None and not threshold_from:
        raise InputError(
            "threshold_key: is for the scores of threshold_from, and there are none. Add them "
            f"({option(threshold_from=...)}), or leave it out."
        )
    number_of_worst(options.worst, files)
    if model is not None:
        options = replace(options, incomplete=model.accepts_missing)
        return _modelled(model, files, options, quality, of_training, progress)
    _refuse_classes_without_segments(files, options)
    try:
        source = files.as_source(options, progress)
    except UnpairedError:
        alone = files.alone()
        if options.how_sure.keep or not alone or threshold_from:  # a comparison pairs trials
            raise
        return ModelEvaluation(_each_alone(alone, options, progress))
    each, messages = None, tuple[Message, ...]()
    if threshold_from:
        each, messages = _chosen_thresholds(source, threshold_from, threshold_key, options, progress)
    evaluation = evaluate_source(source, options, progress, each=each)
    evaluation = replace(evaluation, messages=(*evaluation.messages, *messages))
    return ModelEvaluation(_with_plan(evaluation, options), renamed=source.renamed)


def _modelled(
    model: ScoreModel,
    files: inputs.Opened,
    options: Options,
    quality: QualityFiles | None,
    of_training: bool,  # noqa: FBT001
    progress: Progress | None,
) -> ModelEvaluation:
    """Evaluate the systems of files, and the output of a trained model."""
    from deciban.workflows.model_files import PartlyScoredTrials, made_of, refuse_twice, require_quality, seen_before
    from deciban.workflows.reading.quality import combination_messages, read_measures, with_quality
    from deciban.workflows.reading.units import units_of_source

    require_quality(model, is_given=quality is not None)
    measured = None if quality is None else read_measures(quality)
    refuse_twice(single_files(files.score_paths))
    options = files.options_for(model, options)
    source = files.as_source(options, progress)
    if measured is not None:
        source = with_quality(source, measured, options.scale, sides=model.quality_arguments or None)
    kind = kind_called(model.scores_kind)
    with options.scale.engine() as engine:
        engine.make_room(source, options.scale.n_bytes)
        units = units_of_source(source, engine, options.how_sure, kind)
    scored, trained, result, notes = made_of(model, PartlyScoredTrials.of(units.source, options), options)
    source, (name,) = scored.source, result.systems
    own = "the scores of all systems" if model.is_fusion else "its scores"
    words = f"{name}: {kind.output} computed by the model ({model.kind}) from {own}"
    items = [*scored.messages, *notes, *combination_messages(model, measured), Message("note", "", words)]
    before = evaluate_source(counting(source), options, progress, units=units, messages_before=items)
    after = evaluate_source(result, options, progress, units=units)
    first = before.systems[0]
    is_counted = scored.seen is None and not source.has_weights and hasattr(first, "n_tar")
    counts = {"n_tar": first.n_tar, "n_non": first.n_non} if is_counted else None
    with options.scale.engine() as engine:
        seen = seen_before(model, trained, engine, of_training=of_training, counts=counts)
    if not model.is_fusion:  # of a fusion, all systems are shown with their notes
        seen = [*seen, *(Message(WARNING, first.name, note) for note in first.notes if topic_of(note) == "ratios")]
    about = before.join, (*before.messages, *seen)
    untouched = Results(before.systems, *about, **_besides(before))
    results = Results(after.systems, *about, before=untouched, **_besides(after))
    compared = replace(scored, source=trained), options, units, source.classes
    return ModelEvaluation(_with_plan(results, options), compared, source.renamed)


def _with_plan(results: Results[Any], options: Options) -> Results[Any]:
    """Return results with the primary metric of the protocol, if given."""
    if options.plan is None:
        return results
    from deciban.workflows.evaluate.plans import with_primary_numbers

    return with_primary_numbers(results, options.plan)


def _besides(results: Results[Any]) -> dict[str, Any]:
    """Return the parts of results besides evaluations."""
    return {"conditions": results.conditions, "primaries": results.primaries, "worst": results.worst}


_MANY_CLASSES = 1000
"""Minimum number of classes for which rows are counted before reading."""


def _refuse_classes_without_segments(files: inputs.Opened, options: Options) -> None:
    """Refuse a table with fewer rows than columns of classes before reading it, which takes long.

    Raises
    ------
    InputError
    """
    alone = files.alone()
    if not alone or options.reading.classes is not None:
        return
    first = alone[0].scores[0]
    if len(first.files) != 1 or files.kind_name(options) != "classes":
        return
    shape = first.files[0].class_shape
    if shape is not None and shape[1] > _MANY_CLASSES and shape[0] < shape[1]:
        most, n_classes = shape
        raise InputError(
            f"{display_name(first.path)}: {n_classes:,} columns are scores of classes, but there are at most {most:,} "
            "rows, so some classes have no segments. Evaluations need segments of every class. Name the classes that "
            f"have some ({option(classes=...)}), or the roles of the columns ({option(columns=...)})."
        )


def _each_alone(files: Sequence[inputs.ScoreFiles], options: Options, progress: Progress | None) -> Results[Any]:
    """Evaluate systems with two files each and different trials, without pairing."""
    without = replace(options.how_sure, keep=False)  # rows of different systems must not be paired
    own = replace(options, reading=replace(options.reading, names=None), how_sure=without)
    items = [evaluate_source(one.as_source(own, progress), own, progress) for one in files]
    single = [one for part in items for one in part.systems]
    names = names_apart([one.name for one in single], ())
    apart = [replace(one, name=name) for one, name in zip(single, names, strict=True)]
    systems, _ = renamed(apart, options.reading.names)
    return Results(
        tuple(systems),
        None,
        (*dict.fromkeys(message for part in items for message in part.messages), Message("note", "", _UNPAIRED)),
        conditions=tuple(one for part in items for one in part.conditions),
        primaries=tuple(one for part in items for one in part.primaries),
        worst=tuple(one for part in items for one in part.worst),
    )


evaluate_class_files = evaluate_files
"""Another name of `evaluate_files`, which detects the kind of scores."""
