"""Score files and a key to a trained model, a calibration or a fusion, with what it is worth."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from deciban.analysis import Selection, select_systems
from deciban.errors import InputError, MissingScoresError
from deciban.fusion import LinearFusion, MulticlassFusion, QualityFusion
from deciban.fusion.quality_measures import QUALITY_SIDES
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike, TwoFiles, require_one_stream, single_files
from deciban.messages import Message
from deciban.models.score_model import ScoreModel
from deciban.types import Progress
from deciban.workflows.inputs import Paths, ScoreFiles, paths_of
from deciban.workflows.key_columns import DEFAULT_FOLDS, HoldOut, groups_of, pairs_of
from deciban.workflows.kinds import kind_of
from deciban.workflows.kinds.looks import messages_on_ratios
from deciban.workflows.model_files import refuse_twice, require_kind, require_one_system
from deciban.workflows.options import Options
from deciban.workflows.others_in_pieces import open_others
from deciban.workflows.quality import Combined, Measured, QualityFiles, Selected, combination_of, read_measures
from deciban.workflows.quality_in_pieces import with_quality
from deciban.workflows.streaming import OpenedFiles, in_memory, opened
from deciban.workflows.system_trials import SystemTrials
from deciban.workflows.train_in_pieces import require_selectable, train_in_pieces
from deciban.workflows.trained import Trained
from deciban.workflows.training_rows import TrainingSets, rows_of_training
from deciban.workflows.two_files import named_scores


def train_files(
    scores: Paths | OpenedFiles | None = None,
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
    is_opened = isinstance(given, ShardSource)
    named, options = (given, options) if is_opened else named_scores(given, key, options)
    chosen, say = Options.of("train_files", options), progress or (lambda _words: None)
    held = None if cross_validate is None else HoldOut(cross_validate, n_folds)
    _require_one_stream(named, key, test_scores, test_key)
    by = held or (HoldOut(n_folds, n_folds) if select else None)
    files = opened(named, key, _read_for(model, by, chosen))
    if isinstance(files, ShardSource):
        of_both = quality, quality if test_quality is None else test_quality, (measures, combine)
        how: Any = {"other": (test_scores, test_key), "hold": (held, by if select else None)}
        return _in_pieces(files, model, chosen, say, quality=of_both, **how)
    files = in_memory(files, "training")
    test_scores = _test_paths(files, test_scores, test_key)
    made = _copied(_default(files, chosen, quality) if model is None else model, with_quality=quality is not None)
    chosen = require_kind(made, files.scores[0], files.key, chosen)
    measured = None if quality is None else read_measures(quality)
    with _subsets_named(made):
        read = SystemTrials.read(files, chosen, model=made, quality=measured, trained=False, progress=progress)
    require_one_system(made, read.joined)
    made, combining = _combining(made, read, measured, measures, combine)
    selection = selection_of(made, read, by, say) if select and by is not None else None
    taken = tuple(sorted(selection.systems)) if selection else tuple(range(len(read.systems)))
    dev = read.choose(taken)
    say(f"training on {', '.join(dev.systems)}")
    _train(made, dev, chosen)
    values = crossed = None
    if held is not None:
        say("cross-validating")
        values = dev.cross_validated(made, held)
        crossed = dev.with_values(values, made.row_name(dev.systems) if made.is_fusion else dev.systems[0])
    every = None
    if test_scores is not None:
        other = measured if test_quality is None else read_measures(test_quality)
        how = {"model": made, "quality": other, "trained": True, "progress": progress}
        every = _others_read(
            ScoreFiles.of(test_scores, test_key, chosen.reading, read.classes or None), read, chosen, how
        )
    say("evaluating")
    sets = TrainingSets(read, every, taken, values)
    rows, analysis = rows_of_training(made, sets, chosen.figures, say)
    before = [row for row in rows if row.role == "before"]
    messages = [*dev.all_messages([row.dev for row in before]), *combining, *_on_ratios(made, dev)]
    if held is not None:
        messages.append(held.message(pairs_of(dev.trials), "fuses" if made.is_fusion else "calibrates"))
    if every is not None:
        messages += [Message("other", "", f"{dev.kind.noun}s"), *every.all_messages([row.eval for row in before])]
    return Trained(
        made, taken, rows, analysis, selection, crossed, dev.joined.report, tuple(messages), read.joined.renamed
    )


def _read_for(model: ScoreModel | None, by: HoldOut | None, options: Options) -> Options:
    """How trials in pieces are opened: what is held out together, and whether some may lack scores."""
    incomplete = isinstance(model, ScoreModel) and model.accepts_missing
    return replace(options, groups=None if by is None else by.groups, incomplete=incomplete)


def _others_read(files: ScoreFiles, read: SystemTrials, options: Options, how: dict[str, Any]) -> SystemTrials:
    """Other trials of the systems that were read, in their order."""
    asked = options.lenient().lenient_on_units().of_systems(read.joined.renamed)
    found = SystemTrials.read(files, asked, **how)
    return found.ordered_as(read.systems, len(read.systems)) if how["model"].is_fusion else found


def _in_pieces(
    source: ShardSource,
    model: ScoreModel | None,
    options: Options,
    say: Progress,
    *,
    quality: tuple[QualityFiles | None, QualityFiles | None, tuple[Selected | None, Combined | None]],
    other: tuple[Paths | None, PathLike | None],
    hold: tuple[HoldOut | None, HoldOut | None],
) -> Trained:
    """Train on trials in pieces; ``quality`` are the measures of these trials and of others, and which are meant.

    ``hold`` says what is held out to validate, and to select systems.
    """
    made = _default_in_pieces(source, quality[0]) if model is None else model
    made = _copied(made, with_quality=quality[0] is not None)
    _require_scores_of(*other)
    refuse_twice(single_files(source.paths))
    others = None
    if other[0] is not None:
        found, own = open_others(*other, options, source, is_fusion=made.is_fusion)
        refuse_twice(single_files(found.paths))
        others = _measured(found, made, options, quality[1], (None, None))[0], own
    source, made = _measured(source, made, options, quality[0], quality[2])
    return train_in_pieces(source, made, options, say, others=others, held=hold[0], select=hold[1])


def _require_one_stream(*named: Any) -> None:
    """Refuse to read standard input twice before any of these is opened.

    Raises
    ------
    InputError
    """
    require_one_stream(one for given in named for one in (given if isinstance(given, list | tuple) else [given]))


def _test_paths(
    files: ScoreFiles, test_scores: Paths | None, test_key: PathLike | None
) -> list[PathLike | TwoFiles] | None:
    """The score files of other trials, if there are any.

    Raises
    ------
    InputError
        If only their key is named, or standard input would be read twice.
    """
    _require_scores_of(test_scores, test_key)
    if test_scores is None:
        return None
    return paths_of(test_scores, also=(*files.paths, test_key), name="test_scores")


def _require_scores_of(test_scores: Any, test_key: Any) -> None:
    """Refuse a key of other trials without their scores.

    Raises
    ------
    InputError
    """
    if test_scores is None and test_key is not None:
        raise InputError(
            "test_scores: none given, but test_key is, their key. Name score files of the same systems "
            "(test_scores=, --apply-to), or leave the key out."
        )


def _on_ratios(model: ScoreModel, dev: SystemTrials) -> list[Message]:
    """Return notes on raw scores that the rows of a fusion do not have: these are of calibrated systems."""
    return messages_on_ratios(one.scores for one in dev.joined.aligned) if model.is_fusion else []


def _train(model: ScoreModel, dev: SystemTrials, options: Options) -> None:
    """Train a model, and add to its record what arrays do not know: names of systems, columns, units."""
    model.system_names = dev.systems
    dev.fit(model)
    training = model.training_
    assert training is not None  # noqa: S101  # it has just been trained
    weights = options.reading.weights
    more = {} if weights is None else {"weights_from": weights}
    more |= dev.kind.record(options.reading, dev.classes, dev.units_of_scores)
    model.training_ = replace(training, systems=dev.systems, results={**training.results, **more})


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


def selection_of(model: Any, read: SystemTrials, held: HoldOut, say: Progress) -> Selection:
    """Choose systems on the trials that all of them scored.

    Raises
    ------
    InputError
        If the model is no fusion of two classes, or no trials of both classes have all scores.
    """
    require_selectable(model, read.kind)
    whole = read.complete.counting
    if not whole.data.has_both_classes:
        raise InputError(
            "scores: no targets, or no non-targets, have scores of all systems, so that these cannot be compared. "
            "Leave the system out that lacks most."
        )
    with whole.naming():
        found = select_systems(
            whole.data.scores,
            whole.data.is_target,
            fusion=model,
            names=read.systems,
            groups=groups_of(whole.trials, held.by),
            n_folds=held.parts,
            sample_weight=whole.data.weight,
            quality=whole.data.quality or None,
            progress=say,
        )
    return replace(found, held_out=held.words(pairs_of(whole.trials)))


def _combining(
    model: ScoreModel,
    read: SystemTrials,
    measured: Measured | None,
    measures: Selected | None,
    combine: Combined | None,
) -> tuple[ScoreModel, list[Message]]:
    """The fusion with measures chosen and combined as files call them; and what is to be said about it."""
    if measures is None and combine is None:
        return model, []
    if measured is None or not model.takes_quality:
        raise InputError("measures, combine: are about quality measures. Name their file (--quality FILE).")
    return _combined_in(model, tuple(read.data.quality), measured, measures, combine)


def _measured(
    source: ShardSource,
    model: ScoreModel,
    options: Options,
    quality: QualityFiles | None,
    chosen: tuple[Selected | None, Combined | None],
) -> tuple[ShardSource, ScoreModel]:
    """Trials in pieces with quality measures, if there are some, and the fusion with those of them that are chosen."""
    if quality is None:
        return source, model
    measured = read_measures(quality)
    source = with_quality(source, measured, options.scale)
    return source, _combined_in(model, source.quality, measured, *chosen)[0]


def _combined_in(
    model: ScoreModel, quality: Sequence[str], measured: Measured, measures: Selected | None, combine: Combined | None
) -> tuple[ScoreModel, list[Message]]:
    """The fusion with measures of these arguments chosen and combined as files call them."""
    if measures is None and combine is None:
        return model, []
    used = {kind: measured[kind] for kind in QUALITY_SIDES if f"{kind}_quality" in quality}
    setting, messages = combination_of(used, measures, combine)
    return type(model)(**{**model.settings, "combine": setting}), messages


def _default(files: ScoreFiles, options: Options, quality: QualityFiles | None) -> ScoreModel:
    """The fusion that is trained if nothing is said."""
    if quality is not None:
        return QualityFusion()
    many = kind_of(files.scores[0], files.key, options).name == "classes"
    return MulticlassFusion() if many else LinearFusion()


def _default_in_pieces(source: ShardSource, quality: QualityFiles | None) -> ScoreModel:
    """The same of trials in pieces."""
    if quality is not None:
        return QualityFusion()
    return MulticlassFusion() if source.classes else LinearFusion()


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
