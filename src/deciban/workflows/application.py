"""Trained models applied to score files: llrs in place of scores, everything else as it was."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deciban.calibration import Calibrator
from deciban.errors import InputError
from deciban.io.columns.headers import Columns
from deciban.io.formats import by_name
from deciban.io.outputs import refuse_overwriting
from deciban.io.reader import Input, read_input
from deciban.io.rewrite import write_rescored
from deciban.io.source import PathLike, display_name
from deciban.io.writing import target_name
from deciban.models import Model, load_model
from deciban.trials import Scores
from deciban.trials.joining.join import Duplicates, Missing
from deciban.trials.joining.lookup import Wanted
from deciban.types import AnyArray, Progress
from deciban.workflows.fused import Joining, fused_input
from deciban.workflows.fusers import Fuser
from deciban.workflows.joined import fact, read_fact
from deciban.workflows.measures import QualityFiles, quality_paths, read_measures
from deciban.workflows.systems import refuse_twice


def apply_files(
    model: PathLike | Model,
    scores: Sequence[PathLike] | PathLike,
    out: PathLike,
    *,
    quality: QualityFiles | None = None,
    missing: Missing = "error",
    duplicates: Duplicates = "error",
    to: str | None = None,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    log10: bool = False,
    known: Scores | None = None,
    by_order: bool = False,
    progress: Progress | None = None,
) -> tuple[str, ...]:
    """Write score files again with log-likelihood ratios in place of the scores.

    Parameters
    ----------
    model : path or Model
        What ``deciban calibrate``, ``deciban fuse`` or ``save`` wrote, or a trained calibrator or fusion.
    scores : sequence of paths, or one path
        Score files of one system each; see `deciban.read_scores`. For a fusion, those of all its systems: under the
        names that they had in training or, if these are other names, in the order of training. A calibrator is applied
        to one after the other.
    out : path
        The file to write; ``-`` is standard output. For several inputs of a calibrator: a folder that gets a file of
        the same name for each; a name that ends in ``/`` is a folder that may be made. What a fusion makes of several
        inputs has the form, the trials and the order of the first, unless ``missing`` says more.
    quality : path, or mapping of side to path, optional
        Quality measures for a fusion that was trained with some; see `deciban.fuse_files`.
    missing : {"error", "drop"} or float
        For a fusion, what to do about trials of the first file that another one does not have: refuse, leave them out,
        or take this score. Instead of refusing, a fusion that was trained with ``missing="subset"`` fuses what there
        is: every trial that at least one of its systems scored, those of the first file in its order, then those that
        only the second has, and so on. The order of the files does not change which trials get llrs, nor the llrs.
        Condition columns are those of the first file, and labels stay if all have them.
    duplicates : {"error", "keep-one"}
        For a fusion, as in `deciban.align`.
    to : str, optional
        Format to write. Left out it is that of the input, unless the ending of ``out`` is that of another format. The
        lines of text come out as they came in, but for the score; of other formats everything is written that was read.
    format, columns, labels, log10
        As in `deciban.read_scores`.
    known : Scores, optional
        Log-likelihood ratios in nats of trials for which the model is not asked: cross-validated ones, for example.
    by_order : bool
        Whether ``known``, and the files of a fusion, are in the order of the first file, whatever trials are called.
    progress : function, optional
        Called with a few words at every step.

    Returns
    -------
    tuple of str
        What was read, assumed and written.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.load_model`, `deciban.read_scores` and `deciban.write`; or if an output would replace an input.
        Everything is read and computed before anything is written.

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
    >>> facts = apply_files(model, folder / "eval.csv", folder / "llr.csv")
    >>> print((folder / "llr.csv").read_text().splitlines()[0])
    trial,score,gender
    """
    say = progress or (lambda _words: None)
    paths = [scores] if isinstance(scores, str | os.PathLike) else list(scores)
    if [*map(str, paths), str(model)].count("-") > 1:
        raise InputError("model, scores: standard input (-) can be read only once.")
    loaded, facts = _loaded(model)
    joining: Joining = {"missing": missing, "duplicates": duplicates, "by_order": by_order}
    if isinstance(loaded, Calibrator):
        _refuse_what_fusions_take(quality, joining)
    else:
        refuse_twice(paths)
    targets = output_targets(paths, out, one_by_one=isinstance(loaded, Calibrator))
    if to is not None:
        by_name(to)  # before anything is read
    refuse_overwriting(targets, [*paths, *quality_paths(quality), None if isinstance(model, Model) else model])
    inputs = []
    for path in paths:
        say(f"reading {display_name(path)}")
        inputs.append(read_input(path, need="scores", format=format, columns=columns, labels=labels, log10=log10))
    say("applying the model")
    if isinstance(loaded, Calibrator):
        ready = [_calibrated(loaded, found) for found in inputs]
    else:
        measured = None if quality is None else read_measures(quality)
        ready = [fused_input(loaded, inputs, measured=measured, **joining)]
    facts += [told for _, _, said in ready for told in said]
    if len(targets) > 1 or _is_folder(out):
        Path(out).mkdir(exist_ok=True)
    for (found, llr, _), target in zip(ready, targets, strict=True):
        say(f"writing {target_name(target)}")
        changed, said = (llr, []) if known is None else _replaced(llr, known, by_order=by_order)
        facts += [*said, *map(str, write_rescored(found, changed, target, to=to))]
    return tuple(facts)


def output_targets(paths: list[PathLike], out: PathLike, *, one_by_one: bool) -> list[PathLike]:
    """The file to write for each input, or the one for all of them.

    Raises
    ------
    InputError
        If there is no input, or several that cannot go where they should.
    """
    if not paths:
        raise InputError("scores: no file given. At least one is needed.")
    if not one_by_one:
        paths = paths[:1]
    if not _is_folder(out):
        if len(paths) > 1:
            raise InputError(
                f"{target_name(out)}: {len(paths)} score files for a model of one system become as many files. Name a "
                "folder to write them to (-o FOLDER/), or read them as one input with a pattern ('part-*.txt')."
            )
        return [out]
    nameless = next((path for path in paths if str(path) == "-" or set(str(path)) & set("*?[")), None)
    if nameless is not None and not Path(nameless).exists():
        raise InputError(f"{display_name(nameless)}: has no file name to be written under in a folder. Name a file.")
    return [Path(out) / Path(path).name for path in paths]


def _is_folder(out: PathLike) -> bool:
    return str(out).endswith(("/", os.sep)) or Path(out).is_dir()


def _loaded(model: PathLike | Model) -> tuple[Calibrator | Fuser, list[str]]:
    loaded = model if isinstance(model, Model) else load_model(model)
    shown = type(model).__name__ if isinstance(model, Model) else display_name(model)
    if not isinstance(loaded, Calibrator | Fuser):
        raise InputError(f"{shown}: a model of kind {loaded.kind!r} does not map scores to log-likelihood ratios.")
    loaded.require_fitted()
    if isinstance(model, Model):
        return loaded, []
    told = loaded.training_
    trained = [] if told is None else [f"trained on {_counts(told.counts)}"]
    return loaded, [fact("model", shown, loaded.kind, *trained)]


def _counts(counts: Mapping[str, Any]) -> str:
    words = {"n_tar": "target", "n_non": "non-target"}
    return " · ".join(f"{n:,} {words.get(name, name)}" for name, n in counts.items())


def _refuse_what_fusions_take(quality: QualityFiles | None, joining: Joining) -> None:
    """Refuse arguments that a calibrator would overlook; ``by_order`` may be about known ratios."""
    given = {"quality": quality is not None, "missing": joining["missing"] != "error"}
    given["duplicates"] = joining["duplicates"] != "error"
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{name}: is for fusions, but the model is for one system, whose trials stay as they are.")


def _calibrated(calibrator: Calibrator, found: Input) -> tuple[Input, Scores, list[str]]:
    """Log-likelihood ratios on the trials of an input, and what is to be said about them."""
    contents = found.contents
    system = contents.scores
    facts = [read_fact(system), *(fact("note", contents.origin.name, note) for note in contents.notes)]
    return found, system.in_nats().transform(calibrator.transform), facts


def _replaced(llr: Scores, known: Scores, *, by_order: bool) -> tuple[Scores, list[str]]:
    """The known ones where there are any, and for how many there are none."""
    rows = None if by_order else Wanted(llr.trials).find(known.trials).rows
    if rows is None:
        return replace(llr, score=known.score), []
    there: AnyArray = rows >= 0
    n_others = int(np.count_nonzero(~there))
    words = f"{n_others:,} trials that training did not use get llrs of the model of all others"
    changed = replace(llr, score=np.where(there, known.score[rows], llr.score))
    return changed, [fact("note", words)] if n_others else []
