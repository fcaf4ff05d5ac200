"""From score files and a key to results, with a trained model or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban.errors import InputError, naming_trials
from deciban.evaluation.primary import Primary
from deciban.evaluation.results import Results
from deciban.evaluation.worst_trials import WorstTrials
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike
from deciban.io.two_files import UnpairedError
from deciban.messages import Message, counted, names_apart
from deciban.models import Model
from deciban.models.score_model import ScoreModel
from deciban.trials import Trials
from deciban.types import AnyArray, Progress
from deciban.workflows.inputs import JoinedScores, Paths, ScoreFiles, paths_of, read_joined
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options
from deciban.workflows.plans import with_primary_numbers
from deciban.workflows.streaming import OpenedFiles, evaluate_in_pieces, in_memory, kind_of_opened, opened
from deciban.workflows.system_names import Renamed, renamed
from deciban.workflows.thresholds import Chosen, Systems, choose_thresholds, thresholds_for
from deciban.workflows.two_files import named_scores
from deciban.workflows.worst import number_of_worst, worst_of

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
        ``approximate``, ``dask``, ``speakers``), and which figures are wanted (those of
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
    files: OpenedFiles,
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
    if isinstance(files, ShardSource):
        systems = Systems(kind_called(kind_of_opened(files, options)), files.systems)
        places = choose_thresholds(systems, threshold_from, threshold_key, options, **how)
        found = evaluate_in_pieces(files, options, progress, each=thresholds_for(options.figures, places))
        found = replace(found, messages=found.messages + places.messages)
        return with_primary_numbers(found, options.plan, _IN_PIECES)
    joined = read_joined(in_memory(files, "threshold_from"), None, options, progress=progress)
    systems = Systems(joined.kind, joined.names, joined.renamed)
    places = choose_thresholds(systems, threshold_from, threshold_key, options, **how)
    return evaluate_joined(joined, options, progress, chosen=places)


def evaluate_joined(
    joined: JoinedScores, options: Options, progress: Progress | None = None, *, chosen: Chosen | None = None
) -> Results[Any]:
    """Evaluate every system of a join, at thresholds that were chosen elsewhere as well; see `evaluate_files`."""
    kind, say, evaluations = joined.kind, progress or (lambda _words: None), []
    truth, classes = joined.truth, joined.classes or ()
    kind.require_trials(truth, classes)
    figures = joined.on_axis(options.figures)
    each = [figures] * len(joined.names) if chosen is None else thresholds_for(figures, chosen)
    units, found = joined.units(options.how_sure)
    resampling = options.how_sure.resampling(units)
    split, by_condition = joined.split(options.split), []
    planned, primaries = joined.planned(options.plan, resampling), list[Primary]()
    most, worst = number_of_worst(options.worst, joined), list[WorstTrials]()
    for one, own in zip(joined.aligned, each, strict=True):
        say(f"evaluating {one.name}")
        trials = one.score, truth, joined.weight
        how: Any = {"classes": classes, "resampling": resampling}
        evaluations.append(kind.evaluate(trials, name=one.name, figures=own, **how))
        if split is not None:
            by_condition.append(split.evaluated(one.score, evaluations[-1], figures=own, resampling=resampling))
        if planned is not None:
            primaries.append(planned.primary(one.score, evaluations[-1]))
        if most:
            of_trials = one.score, truth, joined.weight, one.trials
            worst.append(worst_of(one.name, *of_trials, classes=classes, most=most))
    ties = {one.name: one.n_tied for one in evaluations} if kind.has_ties else None
    messages = joined.all_messages(ties) + found + (() if chosen is None else chosen.messages)
    messages += () if split is None else split.messages
    more: Any = {"conditions": tuple(by_condition), "primaries": tuple(primaries), "worst": tuple(worst)}
    return Results(tuple(evaluations), joined.report, messages, **more)


_UNPAIRED = "systems have different numbers of trials: each is evaluated on its own, and differences cannot be paired"
"""Message about systems that share no trials."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelEvaluation:
    """What a trained model makes of the systems on the trials of a key.

    Attributes
    ----------
    results : Results
        Of what the model makes; ``before`` holds those of the systems, in the order of training.
    trials : SystemTrials or None
        What it was made of; None without a model.
    renamed : Renamed, optional
        What systems were called before they were given names.
    """

    results: Results[Any]
    trials: Any = None
    renamed: Renamed | None = None


def evaluate_model(
    model: ScoreModel | None,
    scores: Paths | OpenedFiles,
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
    files = opened(scores, key, options)
    most = number_of_worst(options.worst, files)
    if model is None:
        return _as_they_are(files, options, progress)
    from deciban.workflows.model_files import require_kind, require_one_system, require_quality
    from deciban.workflows.quality import combination_messages, read_measures
    from deciban.workflows.system_trials import SystemTrials

    say = progress or (lambda _words: None)
    require_quality(model, is_given=quality is not None)
    if isinstance(files, ShardSource) and quality is None:
        from deciban.workflows.model_in_pieces import evaluate_model_in_pieces

        pieces = evaluate_model_in_pieces(model, files, options, of_training=of_training, progress=progress)
        return ModelEvaluation(with_primary_numbers(pieces, options.plan, _IN_PIECES))
    measured = None if quality is None else read_measures(quality)
    files = in_memory(files, "a model" if quality is None else "quality")
    chosen = require_kind(model, files.scores[0], files.key, options)
    read: Any = {"model": model, "quality": measured, "trained": True, "progress": progress}
    trials = SystemTrials.read(files, chosen, **read)
    trials.kind.require_trials(trials.data.is_target, trials.classes)
    require_one_system(model, trials.joined)
    before = []
    if model.is_fusion:
        known = () if model.training_ is None else model.training_.systems
        trials = trials.ordered_as(known, model.n_systems_)
    counting = trials.counting
    for k, name in enumerate(trials.systems):
        say(f"evaluating {name}")
        before.append(counting.evaluated(counting.system(k), name, options.figures))
    trials.kind.require_model(model, chosen.reading, trials.classes, trials.units_of_scores)
    messages = ways_in_words(model, counting.data.scores, counting.systems, counting.trials)
    messages += [*counting.as_trained(model)[1], *combination_messages(model, measured)]
    name = trials.kind.name_after(model, trials.systems)
    say(f"evaluating {name}")
    made = counting.transform(model)
    after = counting.evaluated(made, name, options.figures)
    each = [*map(counting.system, range(len(before))), made]
    parts, said = counting.by_condition(options.split, each, [*before, after], options.figures)
    what = f"{trials.kind.output} that the model ({model.kind}) makes of the scores"
    words = f"{name}: the {what}" + (" of all systems" if model.is_fusion else "")
    found = [*trials.all_messages(before), *messages, Message("note", "", words), *said]
    found += trials.seen_before(model, of_training=of_training)
    about = trials.joined.report, tuple(found)
    planned = counting.primaries(options.plan, each, [*before, after])
    worst = counting.worst(most, each, [*before, after])
    untouched = Results(tuple(before), *about, conditions=parts[:-1], primaries=planned[:-1], worst=worst[:-1])
    more: Any = {"conditions": parts[-1:], "primaries": planned[-1:], "worst": worst[-1:]}
    results = Results((after,), *about, before=untouched, **more)
    return ModelEvaluation(results, trials, trials.joined.renamed)


def _as_they_are(files: OpenedFiles, options: Options, progress: Progress | None) -> ModelEvaluation:
    """Evaluate systems without a model, wherever their trials are."""
    if isinstance(files, ShardSource):
        found = evaluate_in_pieces(files, options, progress)
        return ModelEvaluation(with_primary_numbers(found, options.plan, _IN_PIECES))
    try:
        joined = read_joined(files, None, options, progress=progress)
    except UnpairedError:
        if options.how_sure.keep:  # a comparison pairs trials
            raise
        return ModelEvaluation(_each_alone(files, options, progress))
    return ModelEvaluation(evaluate_joined(joined, options, progress), renamed=joined.renamed)


def _each_alone(files: ScoreFiles, options: Options, progress: Progress | None) -> Results[Any]:
    """Evaluate systems in two files each, of other trials each: nothing is paired."""
    without = replace(options.how_sure, keep=False)  # nobody takes rows of one system for those of another
    own = replace(options, reading=replace(options.reading, names=None), how_sure=without)
    found = [
        evaluate_joined(read_joined(ScoreFiles((one,), None), None, own, progress=progress), own, progress)
        for one in files.scores
    ]
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


def ways_in_words(model: Any, scores: AnyArray, systems: Sequence[str], trials: Trials) -> list[Message]:
    """Say by which of its fusions a fusion for subsets of systems fuses trials that lack a score.

    Parameters
    ----------
    model : ScoreModel
    scores : (n_trials, n_systems) array
    systems : sequence of str
    trials : Trials

    Raises
    ------
    InputError
        If there is none for some of them.
    """
    if not model.of_subsets:
        return []
    with naming_trials(trials.name_of):
        ways = model.subsets_of(scores)
    return [ways_message(n, subset, systems) for subset, n in ways]


def ways_message(n: int, subset: Sequence[int], systems: Sequence[str]) -> Message:
    """Say how many trials were fused by the fusion of some systems."""
    return Message("note", "", f"{counted(n, 'trial')} by the fusion of {' + '.join(systems[k] for k in subset)}")


evaluate_class_files = evaluate_files
"""Another name of `evaluate_files`, which finds out itself what scores are about."""
