"""Training by what is trained, with the names and keywords that it had when every kind of model had a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from deciban._files import PathLike
from deciban.calibration import AffineCalibrator, MulticlassCalibrator
from deciban.errors import InputError
from deciban.models.score_model import ScoreModel
from deciban.workflows import Options, Reading, Trained, apply_files, train_files
from deciban.workflows.inputs import Paths, ScoreFiles
from deciban.workflows.kinds import kind_of
from deciban.workflows.two_files import named_scores

Calibrated = Fused = TrainedClasses = Trained
apply_class_files = apply_files


def calibrate_files(
    scores: Paths | None = None,
    key: PathLike | None = None,
    model: ScoreModel | None = None,
    *,
    calibrator: ScoreModel | None = None,
    **options: Any,
) -> Trained:
    """Train a calibrator on a score file and a key; `deciban.train_files` by its former name.

    Parameters
    ----------
    scores, key
        As in `deciban.train_files`.
    model : calibrator, optional
        What to train; a copy is, it stays as it is. The default is ``AffineCalibrator()``, and
        ``MulticlassCalibrator()`` of many classes.
    calibrator : calibrator, optional
        Former name of ``model``.
    **options
        As in `deciban.train_files`.

    Returns
    -------
    Trained

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.train_files`; or if there are both a model and a calibrator.
    TypeError
        If an option is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.csv"
    >>> rows = "a,3,1", "b,1,1", "c,2,1", "d,-1,0", "e,1.5,0", "f,0,0"
    >>> _ = path.write_text("\\n".join(("trial,score,label", *rows)))
    >>> done = calibrate_files(path, None, calibrator=AffineCalibrator())
    >>> round(done.model.scale_, 2), [round(one.cllr, 2) for one in done.dev.systems]
    (1.98, [0.77, 0.54])
    """
    chosen = _one_of(model, calibrator, "calibrator")
    if chosen is not None:
        return train_files(scores, key, chosen, **options)
    named, options = named_scores(scores, key, options)
    about = Options.of("calibrate_files", {name: options[name] for name in _OF_READING if name in options})
    files = ScoreFiles.of(named, key, about.reading)
    many = kind_of(files.scores[0], files.key, about).name == "classes"
    return train_files(files, None, MulticlassCalibrator() if many else AffineCalibrator(), **options)


def fuse_files(
    scores: Paths | None = None,
    key: PathLike | None = None,
    model: ScoreModel | None = None,
    *,
    fusion: ScoreModel | None = None,
    **options: Any,
) -> Trained:
    """Train a fusion on the score files of several systems and a key; `deciban.train_files` by its former name.

    Parameters
    ----------
    scores, key
        As in `deciban.train_files`.
    model : fusion, optional
        What to train, and the default, as in `deciban.train_files`.
    fusion : fusion, optional
        Former name of ``model``.
    **options
        As in `deciban.train_files`.

    Returns
    -------
    Trained

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.train_files`; or if there are both a model and a fusion.
    TypeError
        If an option is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.fusion import LinearFusion
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.csv"
    >>> rows = "a,3,1,1", "b,1,2,1", "c,2,-0.5,1", "d,-1,0.5,0", "e,1.5,0,0", "f,0,-1,0"
    >>> _ = path.write_text("\\n".join(("trial,A score,B score,label", *rows)))
    >>> fuse_files(path, None, fusion=LinearFusion(ridge=0.1)).model.weights_.round(2)
    array([0.85, 0.72])
    """
    return train_files(scores, key, _one_of(model, fusion, "fusion"), **options)


def train_class_files(
    scores: Paths,
    key: PathLike | None,
    model: ScoreModel | None = None,
    *,
    figures: Mapping[str, Any] | None = None,
    **options: Any,
) -> Trained:
    """Train a model of many classes on class-score files and a key; `deciban.train_files` by its former name.

    Parameters
    ----------
    scores, key, model
        As in `deciban.train_files`.
    figures : mapping, optional
        Which figures are wanted (``prior``, ``p_target``, ``p_out_of_set``, ``subsets``), which are options now.
    **options
        As in `deciban.train_files`.

    Returns
    -------
    Trained

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.train_files`.
    TypeError
        If an option is none, or is given twice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.csv"
    >>> rows = "a,2,0,eng", "b,1,0,eng", "c,0,1,eng", "d,-1,1,fra", "e,0.5,0,fra", "f,0,2,fra"
    >>> _ = path.write_text("\\n".join(("trial,eng,fra,class", *rows)))
    >>> done = train_class_files(path, None, MulticlassCalibrator(), figures={"p_target": 0.1})
    >>> round(done.model.scale_, 3), [round(one.cllr, 3) for one in done.dev.systems]
    (0.996, [0.717, 0.708])
    """
    return train_files(scores, key, model, **dict(figures or {}), **options)


_OF_READING = (*(one.name for one in fields(Reading)), "kind")


def _one_of(model: ScoreModel | None, former: ScoreModel | None, name: str) -> ScoreModel | None:
    """The model by the one name or by the other."""
    if model is not None and former is not None:
        raise InputError(f"model, {name}: two names of what is to be trained, and both are given. Leave one out.")
    return former if model is None else model
