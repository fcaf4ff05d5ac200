"""Trained models of many classes applied to class-score files: log-likelihoods in place of scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deciban._validate.classes import Prior, prior_of
from deciban.errors import InputError
from deciban.io.columns.headers import Columns
from deciban.io.formats import by_name
from deciban.io.outputs import refuse_overwriting
from deciban.io.reader import Input, read_input
from deciban.io.rewrite import write_rescored_classes
from deciban.io.source import PathLike, display_name
from deciban.io.writing import target_name
from deciban.models import Model, load_model
from deciban.models.multiclass import ClassModel
from deciban.trials import ClassScores, Index
from deciban.trials.joining.join import Duplicates, Missing
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import match, match_by_order, picked
from deciban.trials.joining.union import new_rows
from deciban.types import AnyArray, Progress
from deciban.workflows.application import output_targets
from deciban.workflows.classes_joined import called, in_nats, named_class_systems
from deciban.workflows.classes_models import (
    in_order_of_model,
    is_fusion,
    model_data,
    require_class_model,
    require_same_posteriors,
)
from deciban.workflows.joined import fact
from deciban.workflows.systems import counted, order_of_training, refuse_twice


def apply_class_files(
    model: PathLike | Model,
    scores: Sequence[PathLike] | PathLike,
    out: PathLike,
    *,
    classes: Sequence[str] | None = None,
    posterior_prior: Prior | None = None,
    missing: Missing = "error",
    duplicates: Duplicates = "error",
    to: str | None = None,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    log10: bool = False,
    known: ClassScores | None = None,
    by_order: bool = False,
    progress: Progress | None = None,
) -> tuple[str, ...]:
    """Write class-score files again with the log-likelihoods of a trained model in place of the scores.

    Parameters
    ----------
    model : path or model of classes
        What ``deciban calibrate``, ``deciban fuse`` or ``save`` wrote, or a trained model.
    scores : sequence of paths, or one path
        Class-score files of one system each. For a fusion, those of all its systems: under the names that they had in
        training or, if these are other names, in the order of training.
    out : path
        As in `deciban.apply_files`: a file, or a folder for several inputs of a model of one system. What comes out has
        the form, the segments, the order, and the other columns of the (first) input.
    classes : sequence of str, optional
        As in `deciban.workflows.read_joined_classes`. Classes are matched with those of training by name.
    posterior_prior : sequence of float, or mapping of class to float, optional
        The prior that is in the scores, if the model was trained on log posteriors with one taken out.
    missing, duplicates, by_order
        For a fusion: how segments of the files meet; see `deciban.apply_files`. A score to fill in is that of all
        classes.
    to, format, columns, progress
        As in `deciban.apply_files`.
    log10 : bool
        Whether the scores are common logarithms; natural ones are written.
    known : ClassScores, optional
        Log-likelihoods in nats of segments for which the model is not asked: cross-validated ones, for example.

    Returns
    -------
    tuple of str
        What was read, assumed and written.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.apply_files`; or if classes are not those of training. Everything is read and computed before
        anything is written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.calibration import MulticlassShiftCalibrator
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "eval.csv").write_text("trial,eng,fra\\na,2,1\\nb,-1,0.5\\n")
    >>> model = MulticlassShiftCalibrator().fit([[1, 0], [0, 1], [1, 0], [0, 1]], [0, 0, 1, 1], classes=["eng", "fra"])
    >>> facts = apply_class_files(model, folder / "eval.csv", folder / "llr.csv")
    >>> print((folder / "llr.csv").read_text().splitlines()[1])
    a,2,1
    """
    say = progress or (lambda _words: None)
    paths = [scores] if isinstance(scores, str | os.PathLike) else list(scores)
    if [*map(str, paths), str(model)].count("-") > 1:
        raise InputError("model, scores: standard input (-) can be read only once.")
    loaded, facts = _loaded(model)
    one_by_one = not is_fusion(loaded)
    if not one_by_one:
        refuse_twice(paths)
    targets = output_targets(paths, out, one_by_one=one_by_one)
    if to is not None:
        by_name(to)  # before anything is read
    refuse_overwriting(targets, [*paths, None if isinstance(model, Model) else model])
    inputs = []
    for path in paths:
        say(f"reading {display_name(path)}")
        inputs.append(read_input(path, need="class-scores", format=format, columns=columns))
    say("applying the model")
    ready = []
    for group in [[one] for one in inputs] if one_by_one else [inputs]:
        systems = named_class_systems([_named(one, classes) for one in group])
        joined, met = _joined(systems, missing, duplicates, by_order=by_order)
        facts += met
        loglik, said = _mapped(loaded, joined, posterior_prior, log10=log10)
        facts += [
            *said,
            *(fact("note", one.contents.origin.name, note) for one in group for note in one.contents.notes),
        ]
        ready.append((group[0], loglik))
    written = list[str]()
    for (found, loglik), target in zip(ready, targets, strict=True):
        say(f"writing {target_name(target)}")
        changed, said = (loglik, []) if known is None else _replaced(loglik, known, by_order=by_order)
        written += [*said, *_written(found, changed, target, to)]
    return (*facts, *written)


def _loaded(model: PathLike | Model) -> tuple[ClassModel, list[str]]:
    loaded = model if isinstance(model, Model) else load_model(model)
    shown = type(model).__name__ if isinstance(model, Model) else display_name(model)
    found = require_class_model(loaded, shown)
    if isinstance(model, Model):
        return found, []
    told = found.training_
    trained = [] if told is None else [f"trained on {sum(told.counts.values()):,} segments, {len(told.counts)} classes"]
    return found, [fact("model", shown, found.kind, *trained)]


def _named(found: Input, classes: Sequence[str] | None) -> ClassScores:
    scores = found.contents.class_scores
    assert scores is not None  # noqa: S101  # they were asked for
    return called(scores, classes)


def _joined(
    systems: Sequence[ClassScores], missing: Missing, duplicates: Duplicates, *, by_order: bool
) -> tuple[list[ClassScores], list[str]]:
    """All systems on the segments of the first, and how they met."""
    if len(systems) == 1:
        return list(systems), []
    index = Index(systems[0].trials)
    found = (match_by_order if by_order else match)(systems, index, missing, duplicates)
    facts = [fact("join", "by order: the names of the segments were not compared")] if by_order else []
    report, name = found.report, systems[0].trials.origin.name
    facts.append(fact("join", f"{report.matched:,} segments of {name} have all scores · {report.missing:,} have not"))
    if report.missing and not isinstance(missing, str):
        facts.append(fact("fill", f"segments without scores were given {missing:g} for every class"))
    n_left_out = len(systems[0].trials) - len(found.key.trials)
    if n_left_out:
        facts.append(fact("note", f"{n_left_out:,} segments of {name} left out, without all scores or surplus copies"))
    if report.extra:  # scores of several systems: a segment may have more than one
        n_others = sum(map(len, new_rows([one.trials for one in systems])[1:]))
        facts.append(fact("note", f"{counted(n_others, 'segment')} that {name} does not have left out"))
    aligned = [
        replace(one, trials=found.key.trials, score=picked(one.score, rows, missing))
        for one, rows in zip(systems, found.rows, strict=True)
    ]
    return aligned, facts


def _mapped(
    model: ClassModel, systems: Sequence[ClassScores], posterior_prior: Prior | None, *, log10: bool
) -> tuple[ClassScores, list[str]]:
    """Log-likelihoods in the order of the classes of the first system."""
    facts, order = list[str](), list(range(len(systems)))
    if is_fusion(model):
        trained = () if model.training_ is None else model.training_.systems
        order, facts = order_of_training([one.name for one in systems], trained, model.n_systems_)  # type: ignore[attr-defined]
    matrices: list[AnyArray] = []
    first = systems[0]
    for k in order:
        scores, said = in_order_of_model(model, systems[k])
        facts += [line for line in said if line not in facts]
        prior = None if posterior_prior is None else prior_of(posterior_prior, scores.classes)
        require_same_posteriors(model, prior)
        matrices.append(in_nats(scores, log10=log10, posterior_prior=prior).score)
    loglik: AnyArray = model.transform(model_data(model, matrices))  # type: ignore[attr-defined]
    trained_classes = model.classes_
    if trained_classes is not None and set(trained_classes) == set(first.classes):
        loglik = loglik[:, [trained_classes.index(name) for name in first.classes]]
    return replace(first, score=loglik), facts


def _replaced(loglik: ClassScores, known: ClassScores, *, by_order: bool) -> tuple[ClassScores, list[str]]:
    """The known ones where there are any, and for how many there are none."""
    values = known.of_classes(loglik.classes) if set(known.classes) == set(loglik.classes) else known
    rows = None if by_order else Wanted(loglik.trials).find(values.trials).rows
    if rows is None:
        return replace(loglik, score=values.score), []
    there: AnyArray = rows >= 0
    n_others = int(np.count_nonzero(~there))
    words = f"{n_others:,} segments that training did not use get log-likelihoods of the model of all others"
    changed = replace(loglik, score=np.where(there[:, None], values.score[rows], loglik.score))
    return changed, [fact("note", words)] if n_others else []


def _written(found: Input, loglik: ClassScores, target: PathLike, to: str | None) -> list[str]:
    """Write under the names that the classes have in the input, if they are as many."""
    old = found.contents.class_scores
    assert old is not None  # noqa: S101  # it was asked for
    facts = list[str]()
    if len(old.classes) == len(loglik.classes) and set(old.classes) != set(loglik.classes):
        loglik = replace(loglik, classes=old.classes)  # they were numbered, and named by the user
    elif len(old.classes) > len(loglik.classes):
        left = [name for name in old.classes if name not in loglik.classes]
        facts.append(fact("note", f"not among the classes, and left out: {', '.join(left[:10])}"))
    if len(loglik.trials) < len(old.trials):
        rows = Wanted(loglik.trials).find(old.trials).rows
        fields = {name: getattr(found.contents, name) for name in ("index", "class_key")}
        taken = {name: one.take(rows) for name, one in fields.items() if one is not None}
        found = replace(found, contents=replace(found.contents, **taken))
    return facts + [str(one) for one in write_rescored_classes(found, loglik, target, to=to)]
