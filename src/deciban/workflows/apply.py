"""Trained models applied to score files: llrs or log-likelihoods in place of scores, everything else as it was."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deciban._files import PathLike, display_name
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.errors import InputError
from deciban.io.formats import by_name
from deciban.io.reader import Input
from deciban.io.recognition import memory_of
from deciban.io.source import TwoFiles, single_files
from deciban.io.units import require_class_units
from deciban.io.writing import refuse_overwriting, target_name
from deciban.messages import Message, counted
from deciban.models.score_model import ScoreModel
from deciban.trials.joining.lookup import Wanted
from deciban.types import AnyArray, Progress
from deciban.workflows.applied import ToApply, applied, said
from deciban.workflows.apply_to_folders import apply_to_folder, is_for_folder
from deciban.workflows.how_sure import HowSure
from deciban.workflows.inputs import Paths, ScoreFiles, paths_of
from deciban.workflows.kinds import AnyKind, AnyScores, kind_called
from deciban.workflows.meeting import on_shared_trials
from deciban.workflows.model_files import (
    AnyModel,
    model_message,
    path_of_model,
    refuse_twice,
    require_kind,
    require_quality,
    trained_model,
)
from deciban.workflows.options import Options, Reading
from deciban.workflows.quality import QualityFiles, quality_paths, read_measures


def apply_files(
    model: AnyModel,
    scores: Paths,
    out: PathLike,
    *,
    quality: QualityFiles | None = None,
    to: str | None = None,
    write_as: str = "loglik",
    known: AnyScores | None = None,
    interval: bool = False,
    level: float = LEVEL,
    progress: Progress | None = None,
    **options: Any,
) -> tuple[Message, ...]:
    """Write score files again with what a trained model makes of the scores in their place.

    Parameters
    ----------
    model : path or Model
        What ``deciban calibrate``, ``deciban fuse`` or ``save`` wrote, or a trained calibrator, fusion or model of
        classes.
    scores : sequence of paths, or one path
        Score files of one system each; see `deciban.read_scores`. For a fusion, those of all its systems: under the
        names that they had in training or, if these are other names, in the order of training. A calibrator is applied
        to one after the other.
    out : path
        The file to write; ``-`` is standard output. For several inputs of a calibrator: a folder that gets a file of
        the same name for each; a name that ends in ``/`` is a folder that may be made. What a fusion makes of several
        inputs has the form, the trials and the order of the first, unless ``missing`` says more. A folder of Parquet
        whose output is no file becomes a folder of Parquet, and so does what does not fit in memory: files of the same
        names, a row group at a time. It must not be there yet; if a run is interrupted, its finished files stay beside
        it, and the same call goes on from there.
    quality : path, or mapping of side to path, optional
        Quality measures for a fusion that was trained with some; see `deciban.train_files`.
    to : str, optional
        Format to write. Left out it is that of the input, unless the ending of ``out`` is that of another format. The
        lines of text come out as they came in, but for the score; of other formats everything is written that was read.
    write_as : {"loglik", "detection-llr"}
        Of many classes: log-likelihoods, or log-likelihood ratios of each class against the others by a flat prior, as
        language recognition evaluations take them.
    known : Scores or ClassScores, optional
        In nats, of trials for which the model is not asked: cross-validated ones, for example.
    interval : bool
        Whether to write the bounds of each llr beside it, in columns ``llr_low`` and ``llr_high`` (``lir``:
        ``llr_interval_low`` and ``llr_interval_high``), in the unit of the llrs. The format must have room for columns
        that a header names, and the model must know the units that it was trained on; see `ScoreModel.interval`.
    level : float
        Of these intervals.
    progress : function, optional
        Called with a few words at every step.
    **options
        How files are read: ``format``, ``columns``, ``labels``, ``log10``, ``lr``, ``negate``, ``probabilities``,
        ``classes``, ``posterior_prior``, ``detection_llr``; and for a fusion how their trials meet, those of the
        first file being asked for: ``missing`` (``"error"``, ``"drop"`` or a score), ``duplicates``, ``by_order`` and
        ``ids``; see `deciban.workflows.Reading`; and ``memory``, as in `deciban.workflows.Scale`. In pieces, inputs
        of a fusion have the same trials in the same order. A fusion that was trained with ``missing="subset"`` fuses
        what there is: every trial that at least one of its systems scored, those of the first file in its order, then
        those that only the second has, and so on. The order of the files does not change which trials get llrs, nor
        the llrs. Condition columns are those of the first file, and labels stay if all have them.

    Returns
    -------
    tuple of Message
        What was read, assumed and written.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.load_model`, `deciban.read_scores` and `deciban.write`; if systems or classes are not those of
        training; or if an output would replace an input. Everything is read and computed before anything is written.
    TypeError
        If an option is none.

    Notes
    -----
    Log-likelihood ratios are natural logarithms in every file but those of the format ``lir``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.calibration import AffineCalibrator
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "eval.csv").write_text("trial,score,gender\\na,2.0,f\\nb,-1.0,m\\n")
    >>> model = AffineCalibrator().fit([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False])
    >>> messages = apply_files(model, folder / "eval.csv", folder / "llr.csv")
    >>> print((folder / "llr.csv").read_text().splitlines()[0])
    trial,score,gender
    """
    chosen, say = Options.of("apply_files", options), progress or (lambda _words: None)
    if interval and known is not None:
        raise InputError("interval: known scores are not what the model makes of them, and have none. Leave one out.")
    model_path, id_map = path_of_model(model), chosen.reading.files
    paths = paths_of(scores, also=(model_path, *id_map))
    loaded = trained_model(model, chosen.kind)
    kind = kind_called(loaded.scores_kind)
    _refuse_other_options(loaded, chosen, quality=quality, write_as=write_as)
    if loaded.is_fusion:
        refuse_twice(single_files(paths))
    targets = _output_targets(paths, out, one_by_one=not loaded.is_fusion)
    if to is not None:
        by_name(to)  # before anything is read
    read = [*single_files(paths), *quality_paths(quality), model_path, *id_map]
    refuse_overwriting(targets, read, made=out if _is_folder(out) else None)
    asked = checked_level(level) if interval else None
    measured = None if quality is None else read_measures(quality)
    reading = chosen.reading.with_ids_read()
    chosen = replace(chosen, reading=reading)
    what = ToApply(loaded, reading, measured, [*quality_paths(quality), *id_map], asked, write_as)
    kind.refuse_reading(reading)
    if known is None and is_for_folder(paths, out, chosen.scale, memory_of(paths)):
        told = apply_to_folder(what, single_files(paths), out, chosen, to=to, say=say)
        return (*model_message(model_path, loaded), *told)
    inputs = list[Input]()
    for one in ScoreFiles.of(paths, None, reading).scores:
        require_kind(loaded, one, None, chosen)
        inputs.append(kind.read(one, reading, say))
    say("applying the model")
    groups = [inputs] if loaded.is_fusion else [[one] for one in inputs]
    ready = [applied(what, group, [one.contents.origin.name for one in group], on_shared_trials) for group in groups]
    messages = model_message(model_path, loaded)
    for done in ready:
        how = [kind.read_message(system) for system in done.systems]
        messages += said(what, done.tally, how, done.shared.messages)
    messages += what.interval_messages
    if len(targets) > 1 or _is_folder(out):
        Path(out).mkdir(exist_ok=True)
    for done, target in zip(ready, targets, strict=True):
        say(f"writing {target_name(target)}")
        final, notes = (done.scores, []) if known is None else _replaced(done.scores, known, kind, reading)
        messages += [*notes, *kind.written(done.written, final, target, to, write_as=write_as, interval=done.bounds)]
    return tuple(messages)


def _output_targets(paths: list[PathLike | TwoFiles], out: PathLike, *, one_by_one: bool) -> list[PathLike]:
    """The file to write for each input, or the one for all of them.

    Raises
    ------
    InputError
        If there are several inputs that cannot go where they should.
    """
    if not one_by_one:
        paths = paths[:1]
    if not _is_folder(out):
        if len(paths) > 1:
            raise InputError(
                f"{target_name(out)}: {len(paths)} score files for a model of one system become as many files. Name a "
                "folder to write them to (-o FOLDER/), or read them as one input with a pattern ('part-*.txt')."
            )
        return [out]
    nameless = next((path for path in paths if not _has_file_name(path)), None)
    if nameless is not None:
        raise InputError(f"{display_name(nameless)}: has no file name to be written under in a folder. Name a file.")
    return [Path(out) / Path(path).name for path in paths if not isinstance(path, TwoFiles)]


def _has_file_name(path: PathLike | TwoFiles) -> bool:
    """Whether an input is one file: no stream, pattern or two files."""
    if isinstance(path, TwoFiles):
        return False
    return Path(path).exists() or not (str(path) == "-" or set(str(path)) & set("*?["))


def _is_folder(out: PathLike) -> bool:
    """Whether an output is a folder, or is to become one."""
    return str(out).endswith(("/", os.sep)) or Path(out).is_dir()


def _refuse_other_options(model: ScoreModel, options: Options, *, quality: QualityFiles | None, write_as: str) -> None:
    """Refuse arguments that a model would overlook; ``by_order`` may be about known scores."""
    require_class_units(write_as)
    if write_as == "detection-llr" and model.scores_kind != "classes":
        raise InputError("write_as: detection llrs are of many classes, and the model is for two. Leave it out.")
    reading = options.reading
    for name in ("where", "weights", "key_format", "key_columns"):
        if getattr(reading, name):
            raise InputError(f"{name}: is about a key, and there is none here. Leave it out.")
    if options.figures.given():
        raise InputError(f"{', '.join(options.figures.given())}: nothing is evaluated here. Leave it out.")
    if options.how_sure != HowSure():
        raise InputError(
            "units, intervals, bootstrap, seed, optimism: are about training and figures. Leave them out; "
            "interval=True (--interval) writes the intervals that the model knows."
        )
    if model.is_fusion:
        require_quality(model, is_given=quality is not None)
        return
    given = {"quality": quality is not None, "missing": reading.missing != "error"}
    given["duplicates"] = reading.duplicates != "error"
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{name}: is for fusions, but the model is for one system, whose trials stay as they are.")


def _replaced(values: Any, known: Any, kind: AnyKind, reading: Reading) -> tuple[Any, list[Message]]:
    """The known ones where there are any, and for how many there are none."""
    classes, other = kind.classes_of(values), kind.classes_of(known)
    if classes != other and set(classes) == set(other):
        known = known.of_classes(classes)
    own, theirs = values.trials, known.trials
    if reading.renaming is not None:
        own, theirs = reading.renaming.both(own, theirs)
    rows = None if reading.by_order else Wanted(own).find(theirs).rows
    if rows is None:
        return replace(values, score=known.score), []
    there: AnyArray = rows >= 0
    n_others = int(np.count_nonzero(~there))
    get = "gets" if n_others == 1 else "get"
    words = f"{counted(n_others, kind.noun)} that training did not use {get} {kind.output} of the model of all others"
    chosen = there if values.score.ndim == 1 else there[:, None]
    changed = replace(values, score=np.where(chosen, known.score[rows], values.score))
    return changed, [Message("note", "", words)] if n_others else []
