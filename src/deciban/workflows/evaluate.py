"""From score files and a key to results, with a trained model or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban._files import PathLike, display_name
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.evaluation.results import Results
from deciban.io.reader import UnpairedError
from deciban.io.source import single_files
from deciban.messages import Message, names_apart
from deciban.models import Model
from deciban.models.score_model import ScoreModel
from deciban.trials.sources import ShardSource
from deciban.types import Progress
from deciban.workflows.evaluating import evaluate_source, number_of_worst, opened
from deciban.workflows.inputs import Opened, Paths, ScoreFiles, paths_of
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.options import Figures, HowSure, Options, Renamed, renamed
from deciban.workflows.plans import with_primary_numbers
from deciban.workflows.two_files import named_scores


@dataclass(frozen=True, slots=True)
class Chosen:
    """Thresholds of systems, chosen elsewhere.

    Attributes
    ----------
    thresholds : tuple of mappings from str to float
        For each system, by the name of what they are best for.
    messages : tuple of Message
        What was read, and assumed.
    """

    thresholds: tuple[Mapping[str, float], ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Systems:
    """The systems that are evaluated.

    Attributes
    ----------
    kind : Kind
    names : tuple of str
    renamed : Renamed, optional
        What they were called before they were given names.
    """

    kind: AnyKind
    names: tuple[str, ...]
    renamed: Renamed | None = None


def choose_thresholds(
    systems: Systems, scores: Paths, key: PathLike | None, options: Options, *, progress: Progress | None = None
) -> Chosen:
    """Read scores of the same systems on other trials, and find the thresholds that are best there.

    Parameters
    ----------
    systems : Systems
        Those that are evaluated.
    scores : sequence of paths, or one path
        One file for each system, in the same order.
    key : path or None
        Left out, the first of these files says which of its trials are targets.
    options : Options
        How these files are read, too, but for the choice of trials by conditions (``where``).
    progress : function, optional

    Raises
    ------
    InputError
        If scores are of many classes, there are not as many systems as are evaluated, or these are in another order.
    FormatError, KeyMismatchError
        As in `read_joined`.
    """
    if not systems.kind.has_thresholds:
        raise InputError(
            f"threshold_from: the scores are of {systems.kind.about}, which no single threshold decides. Leave it out."
        )
    reading = replace(options.reading, where=None, weights_required=False)
    scale = replace(options.scale, speakers=options.scale.speakers if key is None else None)
    figures = Figures(operating_points=options.figures.operating_points)
    other = replace(options, reading=reading, scale=scale, kind=systems.kind.name).of_systems(systems.renamed)
    files = opened(paths_of(scores, name="threshold_from"), key, other)
    source = files.as_source(other, progress)
    _require_same(source.systems, systems)
    quick = replace(other, figures=figures, how_sure=HowSure(intervals=False, optimism=False))
    results = evaluate_source(source, quick, progress)
    said = Message("note", "", "thresholds are chosen on the trials of the files that follow")
    messages = (one for one in results.messages if isinstance(one, Message))
    return Chosen(tuple(map(_best, results.systems)), (said, *messages))


def _require_same(names: Sequence[str], systems: Systems) -> None:
    """Refuse other systems than those that are evaluated, or the same in another order."""
    if len(names) != len(systems.names):
        raise InputError(
            f"threshold_from: scores of {len(names)} systems ({', '.join(names)}) for the {len(systems.names)} that "
            f"are evaluated ({', '.join(systems.names)}). Name one file for each system, in the same order."
        )
    for k, name in enumerate(names):
        if name in systems.names and systems.names[k] != name:
            raise InputError(
                f"threshold_from: {name} is system {k + 1} there, and system {systems.names.index(name) + 1} of those "
                "that are evaluated. Name one file for each system, in the same order."
            )


def _best(found: Evaluation) -> dict[str, float]:
    """The threshold of the EER, and of the least cost at each operating point."""
    return {"EER": found.eer_threshold} | {
        f"minDCF at {point}": point.min_threshold for point in found.operating_points
    }


def thresholds_for(figures: Figures, chosen: Chosen) -> list[Figures]:
    """Figures for each system, those at its own thresholds among them."""
    given = figures.at_thresholds or {}
    return [replace(figures, at_thresholds={**given, **own}) for own in chosen.thresholds]


_IN_PIECES = "trials are read in pieces"


def evaluate_files(
    scores: Paths | None = None,
    key: PathLike | None = None,
    *,
    model: PathLike | Model | None = None,
    quality: Any = None,
    of_training: bool = False,
    threshold_from: Paths | None = None,
    threshold_key: PathLike | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Results[Any]:
    """Evaluate score files, one per system, on the trials of one key; of two classes or of many.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files; see `deciban.read_scores` and `deciban.io.read_class_scores` for what they may look like.
    key : path, optional
        Which trials are targets, or of which class each segment is. Left out, the first score file must say so itself.
    model : path or Model, optional
        Evaluate what a trained calibration or fusion makes of the scores, as well.
    quality : path, or mapping of side to path, optional
        Quality measures, for a fusion that was trained with some; see `deciban.train_files`.
    of_training : bool
        Whether these should be the trials that the model was trained on: a message tells if they are and should not
        be, or the reverse.
    threshold_from : sequence of paths, or one path, optional
        Two classes: scores of the same systems, in the same order, on other trials, such as a development set.
        ``requested.at_thresholds`` of each evaluation then holds the errors and the half total error rate at the
        thresholds that are best there: that of the EER, and that of the least cost at each operating point.
    threshold_key : path, optional
        Key of these trials, if they do not say themselves which are targets.
    progress : function, optional
        Called with a few words at every step.
    **options
        ``tar`` and ``non``, by another name ``same`` and ``different``: in place of ``scores`` and a key, the scores
        of targets and those of non-targets, a path or as many as there are systems of each; plain lists of numbers
        will do.

        ``kind`` (``"two-class"`` or ``"classes"``; left out, the files decide), how files are read and joined (the
        attributes of `deciban.workflows.Reading`), what is wanted about uncertainty (those of
        `deciban.workflows.HowSure`: ``units``, ``level``, ``intervals``, ``bootstrap``, ``seed``, ``optimism``), what
        is done about trials that do not fit in memory (those of `deciban.workflows.Scale`: ``memory``,
        ``dask``, ``speakers``), and which figures are wanted (those of
        `deciban.workflows.Figures`: ``operating_points``, ``eer_conventions``, ``fnmr_at``, ``fmr_at``,
        ``at_thresholds``, ``posteriors_at``, ``axis`` of two classes; ``prior``, ``p_target``, ``p_out_of_set``,
        ``subsets``, ``pairs``, ``groups`` of many).

    Returns
    -------
    Results
        The evaluations, how the trials met, and in ``messages`` what was read and assumed. With a model, ``systems``
        is what it makes of the scores, and ``before`` holds the results of the scores as they are.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.read_scores`, `deciban.align` and `deciban.load_model`; or if systems, classes or quality
        measures are not those of training.
    TypeError
        If an option is none.

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
    named, options = named_scores(scores, key, options)
    chosen, loaded = Options.of("evaluate_files", options), None
    if model is not None:
        from deciban.workflows.model_files import path_of_model, trained_model

        if threshold_from is not None:
            raise InputError(
                "threshold_from, model: thresholds are of scores as they are. Apply the model to both sets first "
                "(apply_files), or leave one of the two out."
            )
        named = paths_of(named, also=(key, path_of_model(model)))  # before the model is read
        loaded = trained_model(model, chosen.kind)
    elif quality is not None or of_training:
        raise InputError(
            "quality, of_training: are about a model, and none is given. Name it (model=), or leave them out."
        )
    if threshold_key is not None and threshold_from is None:
        raise InputError("threshold_key: is the key of threshold_from, and there is none. Name it, or leave this out.")
    if threshold_from is not None:
        others = paths_of(threshold_from, name="threshold_from")
        places: Any = {"threshold_from": others, "threshold_key": threshold_key}
        return evaluate_opened(opened(named, key, chosen), chosen, progress, **places)
    how: Any = {"quality": quality, "of_training": of_training, "progress": progress}
    return evaluate_model(loaded, named, key, chosen, **how).results


def evaluate_opened(
    files: Opened,
    options: Options,
    progress: Progress | None = None,
    *,
    threshold_from: Paths | None = None,
    threshold_key: PathLike | None = None,
) -> Results[Any]:
    """Evaluate the systems of files that were opened, in pieces or as a whole; see `evaluate_files`."""
    if not threshold_from:
        return evaluate_model(None, files, None, options, progress=progress).results
    how: Any = {"progress": progress}
    source = files.as_source(options, progress)
    systems = Systems(kind_called(source.kind_name()), source.systems, source.renamed)
    places = choose_thresholds(systems, threshold_from, threshold_key, options, **how)
    found = evaluate_source(source, options, progress, each=thresholds_for(options.figures, places))
    found = replace(found, messages=found.messages + places.messages)
    return with_primary_numbers(found, options.plan, _IN_PIECES)


_UNPAIRED = "systems have different numbers of trials: each is evaluated on its own, and differences cannot be paired"
"""Message about systems that share no trials."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelEvaluation:
    """What a trained model makes of the systems on the trials of a key.

    Attributes
    ----------
    results : Results
        Of what the model makes; ``before`` holds those of the systems, in the order of training.
    trials : Compared or None
        What it was made of; None without a model.
    renamed : Renamed, optional
        What systems were called before they were given names.
    """

    results: Results[Any]
    trials: Any = None
    renamed: Renamed | None = None


def evaluate_model(
    model: ScoreModel | None,
    scores: Paths | Opened,
    key: PathLike | None,
    options: Options,
    *,
    quality: Any = None,
    of_training: bool = False,
    progress: Progress | None = None,
) -> ModelEvaluation:
    """Evaluate systems as they are, and what a trained model makes of them if there is one; see `evaluate_files`.

    Parameters
    ----------
    model : ScoreModel or None
        Trained.
    scores, key, options, quality, of_training, progress
        As in `evaluate_files`.
    """
    if model is None:
        files = opened(scores, key, options)
        number_of_worst(options.worst, files)
        return _as_they_are(files, options, progress)
    from deciban.workflows.model_files import refuse_twice, require_quality
    from deciban.workflows.quality import read_measures

    require_quality(model, is_given=quality is not None)
    options = replace(options, incomplete=model.accepts_missing)
    files = opened(scores, key, options)
    number_of_worst(options.worst, files)
    measured = None if quality is None else read_measures(quality)
    refuse_twice(single_files(files.score_paths))
    options = files.options_for(model, options)
    return _modelled(model, files.as_source(options, progress), options, measured, of_training, progress)


def _modelled(
    model: ScoreModel,
    source: ShardSource,
    options: Options,
    measured: Any,
    of_training: bool,  # noqa: FBT001
    progress: Progress | None,
) -> ModelEvaluation:
    """Evaluate the systems of a source as they are, and what a trained model makes of them."""
    from deciban.models.mapped import counting
    from deciban.workflows.model_files import Scored, made_of, seen_before
    from deciban.workflows.quality import combination_messages, with_quality
    from deciban.workflows.training_rows import Compared
    from deciban.workflows.units import units_of_source

    if measured is not None:
        source = with_quality(source, measured, options.scale, sides=model.quality_arguments or None)
    kind = kind_called(model.scores_kind)
    with options.scale.engine() as engine:
        engine.make_room(source, options.scale.n_bytes)
        units = units_of_source(source, engine, options.how_sure, kind)
    known = made_of(model, Scored.of(units.source, options), options)
    source, (name,) = known.scored.source, known.result.systems
    words = f"{name}: the {kind.output} that the model ({model.kind}) makes of the scores"
    told = [*known.scored.messages, *known.messages, *combination_messages(model, measured)]
    told.append(Message("note", "", words + (" of all systems" if model.is_fusion else "")))
    before = evaluate_source(counting(source), options, progress, units=units, told=told)
    after = evaluate_source(known.result, options, progress, units=units)
    first = before.systems[0]
    is_counted = known.scored.seen is None and not source.has_weights and hasattr(first, "n_tar")
    counts = {"n_tar": first.n_tar, "n_non": first.n_non} if is_counted else None
    with options.scale.engine() as engine:
        seen = seen_before(model, known.trained, engine, of_training=of_training, counts=counts)
    about = before.join, (*before.messages, *seen)
    untouched = Results(before.systems, *about, **_besides(before))
    results = Results(after.systems, *about, before=untouched, **_besides(after))
    compared = Compared(replace(known.scored, source=known.trained), options, units, source.classes)
    return ModelEvaluation(with_primary_numbers(results, options.plan, _IN_PIECES), compared, source.renamed)


def _besides(found: Results[Any]) -> dict[str, Any]:
    """What there is of systems beside their evaluations."""
    return {"conditions": found.conditions, "primaries": found.primaries, "worst": found.worst}


def _as_they_are(files: Opened, options: Options, progress: Progress | None) -> ModelEvaluation:
    """Evaluate systems without a model, wherever their trials are."""
    _refuse_classes_without_segments(files, options)
    try:
        source = files.as_source(options, progress)
    except UnpairedError:
        alone = files.alone()
        if options.how_sure.keep or not alone:  # a comparison pairs trials
            raise
        return ModelEvaluation(_each_alone(alone, options, progress))
    found = evaluate_source(source, options, progress)
    return ModelEvaluation(with_primary_numbers(found, options.plan, _IN_PIECES), renamed=source.renamed)


_MANY_CLASSES = 1000
"""From this number of classes on, rows are counted before they are read."""


def _refuse_classes_without_segments(files: Opened, options: Options) -> None:
    """Refuse a table with more columns of classes than rows before it is read, which takes long.

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
            f"{display_name(first.path)}: {n_classes:,} columns are scores of classes, and there are at most {most:,} "
            "rows, so that some classes have no segment. Every class is averaged by itself. Name those that have some "
            "(classes=, --classes), or say which columns are which (columns=, --columns)."
        )


def _each_alone(files: Sequence[ScoreFiles], options: Options, progress: Progress | None) -> Results[Any]:
    """Evaluate systems in two files each, of other trials each: nothing is paired."""
    without = replace(options.how_sure, keep=False)  # nobody takes rows of one system for those of another
    own = replace(options, reading=replace(options.reading, names=None), how_sure=without)
    found = [evaluate_source(one.as_source(own, progress), own, progress) for one in files]
    single = [one for part in found for one in part.systems]
    names = names_apart([one.name for one in single], ())
    systems, _ = renamed(
        [replace(one, name=name) for one, name in zip(single, names, strict=True)], options.reading.names
    )
    return Results(
        tuple(systems),
        None,
        (*dict.fromkeys(message for part in found for message in part.messages), Message("note", "", _UNPAIRED)),
        conditions=tuple(one for part in found for one in part.conditions),
        primaries=tuple(one for part in found for one in part.primaries),
        worst=tuple(one for part in found for one in part.worst),
    )


evaluate_class_files = evaluate_files
"""Another name of `evaluate_files`, which finds out itself what scores are about."""
