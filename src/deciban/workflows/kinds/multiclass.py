"""Multiclass scores: a row of log-likelihoods for each segment, and the names of the classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from deciban._arrow import of_numpy
from deciban._validate.classes import ROUNDING, Prior, prior_of
from deciban.errors import (
    WARNING,
    FormatError,
    InputError,
    KeyMismatchError,
    Message,
    counted,
    either,
    not_none,
    option,
)
from deciban.evaluation import ClassEvaluation, ClassMetrics
from deciban.evaluation.metrics import METRICS, keys_of
from deciban.evaluation.multiclass.evaluate import evaluate_trials
from deciban.evaluation.uncertainty import MetricKey, Resampling
from deciban.io import units as unit_conversion
from deciban.io.columns.headers import USUAL_WORDS, plain_word, words_of_columns
from deciban.io.formats import Contents
from deciban.io.reader import Input
from deciban.io.units import logliks_of_likelihoods, logs_of_probabilities
from deciban.models.score_model import ScoreModel
from deciban.multiclass.tables import ScoredClasses
from deciban.trials import AlignedClasses, ClassKey, ClassScores
from deciban.trials.classes import align_class_systems
from deciban.types import AnyArray, BoolArray, IntArray, PathLike
from deciban.workflows import kinds
from deciban.workflows.kinds import in_nats
from deciban.workflows.options import MetricOptions, Options, Reading

_NUMBER = re.compile("0|[1-9][0-9]{0,8}")


def named_as(old: ClassScores, scores: ClassScores) -> tuple[ClassScores, list[Message]]:
    """Return scores with the class names of the file in which they replace other scores, and messages."""
    if len(old.classes) == len(scores.classes) and set(old.classes) != set(scores.classes):
        return replace(scores, classes=old.classes), []  # the file has numbers, and the user gave names
    left = [name for name in old.classes if name not in scores.classes]
    if len(old.classes) <= len(scores.classes):
        return scores, []
    return scores, [Message("note", "", f"left out, not among the classes of the model:  {', '.join(left[:10])}")]


def are_numbers(classes: Sequence[str]) -> bool:
    """Return True if classes are numbered from 0 instead of named."""
    return tuple(classes) == tuple(map(str, range(len(classes))))


def are_counted(classes: Sequence[str]) -> bool:
    """Return True if classes are numbers, including 0, in any order and possibly incomplete."""
    return "0" in classes and all(_NUMBER.fullmatch(name) for name in classes)


def with_names(scores: ClassScores, classes: Sequence[str] | None) -> ClassScores:
    """Return scores with the given names, and order, of classes.

    Raises
    ------
    InputError
        If the file does not have these classes, or has another number of numbered classes.
    """
    value: object = classes
    if value is not None and (isinstance(value, str) or not isinstance(value, Iterable)):
        raise InputError(f"classes: got {value!r}. Expected names in order: ['eng', 'fra'].")
    if classes is None or tuple(classes) == scores.classes:
        return scores
    if not are_numbers(scores.classes) or set(classes) <= set(scores.classes):
        return scores.of_classes(classes)
    if len(classes) != len(scores.classes):
        raise InputError(
            f"classes: {len(classes)} names, but {scores.trials.origin.name} has {len(scores.classes)} columns. Give "
            "one name per column, in order."
        )
    return ClassScores.of(scores.trials, classes, scores.score, name=scores.name)


def with_other_columns(key: ClassKey, scores: ClassScores, classes: Sequence[str]) -> ClassKey:
    """Return a key with columns of numbers that are not classes as conditions, if the user named all classes.

    Parameters
    ----------
    key : ClassKey
    scores : ClassScores
        Of the same rows of a table; otherwise nothing is added.
    classes : sequence of str
    """
    if key.trials is not scores.trials or not set(classes) < set(scores.classes):
        return key
    known = key.trials.conditions
    more = {
        name: of_numpy(np.ascontiguousarray(scores.score[:, at]))
        for at, name in enumerate(scores.classes)
        if name not in classes and name not in known
    }
    return replace(key, trials=replace(key.trials, conditions={**known, **more}))


def as_columns(key: ClassKey, columns: Sequence[str], *, in_order: bool = False) -> ClassKey:
    """Return a key with the classes named after the columns of scores, if all its classes match such columns.

    Parameters
    ----------
    key : ClassKey
    columns : sequence of str
    in_order : bool
        Whether numbers from 0 are positions of columns (`deciban.io.columns.headers.words_of_columns`).
    """
    if set(key.classes) <= set(columns):
        return key
    places = words_of_columns(columns, in_order=in_order)
    words = [plain_word(name) for name in key.classes]
    if not set(words) <= places.keys():
        return key
    at = np.array([places[word] for word in words], key.label.dtype)
    return ClassKey(key.trials, tuple(columns), at[key.label])


def with_labels_of_columns(contents: Contents, classes: Sequence[str] | None) -> Contents:
    """Return contents with labels named after the columns of scores, with a note if the labels were numbers.

    If the user names the classes, numbers are positions in these names and do not change.
    """
    scores, key = contents.class_scores, contents.class_key
    if scores is None or key is None:
        return contents
    in_order = classes is None and set(map(plain_word, key.classes)) <= set(map(str, range(len(scores.classes))))
    changed = as_columns(key, scores.classes, in_order=in_order)
    if changed is key:
        return contents
    note = ""
    if are_counted(key.classes) and not set(key.classes) <= words_of_columns(scores.classes, in_order=False).keys():
        note = f"label 0 is the column {scores.classes[0]}, label 1 {scores.classes[1]}, and so on"
    return replace(contents, class_key=changed, notes=(*contents.notes, *([note] if note else [])))


def refuse_some_detectors(scores: ClassScores, named: ClassScores) -> None:
    """Refuse detection llrs of a subset of classes, because they are against all others.

    Raises
    ------
    InputError
    """
    if len(named.classes) == len(scores.classes):
        return
    left_out = ", ".join([name for name in scores.classes if name not in named.classes][:10])
    raise InputError(
        f"classes, detection_llr: in {scores.trials.origin.name}, detection llrs are for each class against all "
        f"others, but {left_out} would be left out. Convert all of them to log-likelihoods first (deciban convert), "
        "and choose classes afterwards. If a column is not a class, name the columns of "
        f"classes: {option(columns='trial=SEGMENT,score=' + '|'.join(named.classes[:10]))}."
    )


class Multiclass(kinds.Kind[ClassScores, ClassKey, AlignedClasses]):
    """Scores of segments of several classes; a system has a log-likelihood of each class for each segment."""

    name = "classes"
    noun = "segment"
    need = "class-scores"
    need_of_key = "class-key"
    filled = " for every class"
    output = "log-likelihoods"
    about, other = "multiclass", "two-class"
    other_reading = ("labels", "negate")
    metrics = ClassMetrics

    def labelled(self, contents: Contents, reading: Reading) -> Contents:
        """Return contents with labels that are named after the columns of scores."""
        return with_labels_of_columns(contents, reading.classes)

    def systems_of(self, contents: Contents, reading: Reading) -> list[ClassScores]:
        """Return the scores of the system in an input, with the classes and their order from the options."""
        scores = contents.class_scores
        if scores is None:  # possible with columns named by the user
            raise FormatError(
                f"{contents.origin.name}: contains no scores of classes. It was read as {contents.origin.reading}. "
                f"Columns of classes are detected if columns are not named: leave {option('columns')} out."
            )
        named = with_names(scores, reading.classes)
        if reading.detection_llr:
            refuse_some_detectors(scores, named)
        return [named]

    def as_logarithms(self, systems: Sequence[ClassScores], reading: Reading) -> list[ClassScores]:
        """Return the systems in nats, with the classes in the order of the first one if they are the same.

        Raises
        ------
        FormatError, InputError
            If scores are not probabilities as declared, the prior in posteriors is 0 for a class, or detection llrs
            exclude every class.
        """
        ordered = self.in_class_order(list(systems), systems[0].classes)
        if reading.probabilities is not None:
            return [logs_of_probabilities(one, kinds.prior_of_classes(reading)) for one in ordered]
        if reading.lr:
            return [logliks_of_likelihoods(one) for one in ordered]
        return [replace(one, score=in_nats(one.score, one.classes, reading)) for one in ordered]

    def prior_of_probabilities(self, reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str:
        """Return the prior of the classes by name."""
        return named_prior(kinds.prior_of_classes(reading), classes, order) or "flat"

    def in_class_order(self, systems: list[ClassScores], order: Sequence[str]) -> list[ClassScores]:
        """Return scores with the classes in another order; scores with other classes do not change."""
        return [one.of_classes(order) if sorted(one.classes) == sorted(order) else one for one in systems]

    def key_of(self, contents: Contents, reading: Reading, first: ClassScores) -> ClassKey:
        """Return the class of each segment, with the class names of the scores.

        Raises
        ------
        InputError
            If there is no truth.
        KeyMismatchError
            If the key has numbers and the scores have names for the classes, and the user gave no names for the
            numbers, or too few.
        """
        key, classes = contents.class_key, reading.classes
        if key is not None and classes is not None and contents.class_scores is not None:
            key = with_other_columns(key, contents.class_scores, classes)
        if key is None:
            raise InputError(
                f"key: none given, and {contents.origin.name} does not contain the classes of its segments. Name a "
                f"file that does ({option(key='FILE')})."
            )
        key = as_columns(key, first.classes) if classes is None else key
        if not are_counted(key.classes) or are_numbers(first.classes) or set(key.classes) <= set(first.classes):
            return key
        if classes is None:
            raise KeyMismatchError(
                f"{contents.origin.name} numbers its classes, {first.trials.origin.name} names them: "
                f"{', '.join(first.classes)}. Name the classes in the order of the numbers "
                f"({option(classes=['NAME', 'NAME', '...'])})."
            )
        label = np.array(list(map(int, key.classes)), key.label.dtype)[key.label]
        if int(label.max()) >= len(classes):
            row = int(np.argmax(label >= len(classes)))
            raise KeyMismatchError(
                f"{key.trials.origin.where(row)}: {key.trials.name_of(row)} has class {label[row]}, counted from "
                f"0, but {len(classes)} classes are named: {', '.join(classes)}."
            )
        return ClassKey(key.trials, tuple(classes), label)

    def align(
        self, systems: Sequence[ClassScores], key: ClassKey, reading: Reading, *, incomplete: bool = False
    ) -> Sequence[AlignedClasses]:
        """Return the scores of every segment of a key, in nats."""
        align = partial(align_class_systems, by_order=reading.by_order, ids=reading.renaming)
        result = align(systems, key, reading.missing, duplicates=reading.duplicates)
        return [replace(one, scores=self.in_nats(one.scores, reading)) for one in result]

    def truth_of(self, aligned: AlignedClasses) -> IntArray:
        """Return the index of the true class of each segment."""
        return aligned.label

    def in_nats(self, scores: ClassScores, reading: Reading) -> ClassScores:
        """Return the scores, which are already natural log-likelihoods.

        Raises
        ------
        InputError
            If a segment excludes every class.
        """
        impossible = np.flatnonzero(scores.score.max(axis=1) == -np.inf)
        if len(impossible):
            name = scores.trials.name_of(int(impossible[0]))
            raise InputError(
                f"{scores.name}: segment {name} has the score -inf for every class "
                f"({counted(len(impossible), 'such segment')}). At least one class must be possible: correct the "
                "scores, or leave these segments out of the key."
            )
        return scores

    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:
        """Return the names of the classes with their indices."""
        return [(f"{self.noun}s of {name}", at) for at, name in enumerate(classes)]

    def evaluate(
        self,
        trials: kinds.PartlyScoredTrials,
        metrics: MetricOptions,
        classes: Sequence[str],
        name: str,
        resampling: Resampling | None = None,
    ) -> ClassEvaluation:
        """Evaluate log-likelihoods of labelled segments, possibly for groups of classes."""
        checked = self.checked(metrics)
        return evaluate_trials(ScoredClasses.of(*trials, tuple(classes)), checked, name=name, resampling=resampling)

    def n_evaluated(self, evaluation: ClassEvaluation) -> int:
        """Return the number of segments."""
        return int(evaluation.counts.sum())

    def evaluate_batches(
        self, units: kinds.CountedUnits, options: Options, *, system: int, name: str
    ) -> ClassEvaluation:
        """Evaluate one system of data larger than memory.

        Raises
        ------
        InputError
            If a request needs all segments in memory, or a class has no segments.
        """
        from deciban.workflows.evaluate.class_sources import evaluate_class_batches

        self.refuse_metrics(options.metrics)
        require = partial(self.require_trials, has_weights=units.source.has_weights)
        compute = partial(evaluate_class_batches, system=system, name=name, require=require)
        return compute(units.source, units.engine, options, units.of_classes)

    def compared_metrics(self, metrics: MetricOptions) -> tuple[MetricKey, ...]:
        """Return the keys of metrics of all classes, including metrics at each target prior."""
        entries: dict[str, Any] = {} if metrics.p_target is None else {"p_target": metrics.p_target}
        n_points, n_priors = len(ClassMetrics(**entries).p_target), 1 if metrics.prior is None else 2
        compared = [one for one in METRICS if one.has_interval]
        return tuple(keys_of(compared, self.name, {"point": n_points, "prior": n_priors}))

    def size(self, scores: ClassScores) -> str:
        """Return the number of segments and classes with scores, as text."""
        return f"{counted(len(scores.trials), self.noun)} x {len(scores.classes)} classes"

    def key_messages(self, key: ClassKey, reading: Reading) -> list[Message]:
        """Return messages about selected segments, and a note on two classes, which have no EER here."""
        messages = super().key_messages(key, reading)
        if len(key.classes) != 2:
            return messages
        meanings = list(map(USUAL_WORDS.within(key.classes).meaning, key.classes))
        target, other = key.classes if meanings[1] is not True else key.classes[::-1]
        is_known = {*meanings} == {True, False}
        way = option(kind="two-class", **({} if is_known else {"labels": {"target": target, "nontarget": other}}))
        add = f"replace {option('classes')} by" if reading.classes else "add"
        words = f"2 classes, evaluated as multiclass; for EER and DCF of the target class {target!r} {add} {way}"
        return [*messages, Message("note", "", words)]

    def counts(self, contents: Contents, key: ClassKey) -> str:
        """Return the number of segments of each class, as text."""
        counts = np.bincount(key.label, minlength=len(key.classes)).tolist()
        named = (f"of class {name}" if name[:1].isdigit() else name for name in key.classes)
        return " · ".join(f"{n:,} {name}" for name, n in zip(named, counts, strict=True) if n)

    def counts_in_words(self, counts: Mapping[str, int]) -> str:
        """Return the number of training segments and classes, as text."""
        return f"{counted(sum(counts.values()), self.noun)}, {len(counts)} classes"

    def truth_in_words(self, truth: BoolArray | IntArray, classes: Sequence[str]) -> str:
        """Return the number of segments and classes, as text."""
        return self.counts_in_words(dict(zip(classes, np.bincount(truth, minlength=len(classes)), strict=True)))

    def unit_messages(self, systems: Sequence[ClassScores], reading: Reading) -> list[Message]:
        """Return messages about conversions and assumptions about the units of scores."""
        return [*super().unit_messages(systems, reading), *unit_messages(systems, reading)]

    def require_trials(self, truth: AnyArray, classes: Sequence[str], *, has_weights: bool = False) -> None:
        """Refuse classes without segments, or without segments of positive weight."""
        empty = np.flatnonzero(np.bincount(truth, minlength=len(classes)) == 0)
        if len(empty):
            more = f" (and {len(empty) - 1} more classes)" if len(empty) > 1 else ""
            of_weight = " of weight above 0" if has_weights else ""
            raise InputError(
                f"class {classes[int(empty[0])]!r}{more}: no segment{of_weight} has this class. Evaluations need "
                f"segments of every class. Leave the class out by naming the others ({option(classes=...)}), or use a "
                "key with segments of this class."
            )

    def require_model(
        self, model: ScoreModel, reading: Reading, classes: Sequence[str], units: kinds.Units = ()
    ) -> None:
        """Refuse a model for scores with another prior in them than in training."""
        require_same_posteriors(model, reading, classes)
        super().require_model(model, reading, classes, units)

    def record(self, reading: Reading, classes: Sequence[str], units: kinds.Units = ()) -> dict[str, Any]:
        """Return the record of training, including the prior that was removed from the scores."""
        text = prior_text(reading, classes)
        return super().record(reading, classes, units) | ({} if text is None else {POSTERIOR_PRIOR: text})

    def class_order(
        self, model: ScoreModel, classes: tuple[str, ...], name: str
    ) -> tuple[tuple[str, ...], list[Message]]:
        """Return the classes in the order of training; numbers are matched with names by position."""
        trained: tuple[str, ...] | None = getattr(model, "classes_", None)
        n_classes = len(trained) if trained else int(getattr(model, "n_classes_", len(classes)))
        if trained is not None and set(trained) == set(classes):
            return trained, []
        numbered = tuple(map(str, range(n_classes)))
        if len(classes) == n_classes and (trained is None or numbered in (trained, classes)):
            if trained is None or trained == numbered:
                return classes, []
            return classes, [Message("note", "", f"classes in the order of training: {', '.join(trained)}")]
        known = f" ({', '.join(trained)})" if trained else ""
        raise InputError(
            f"{name}: has scores of {', '.join(classes[:20])}, but the model was trained on {n_classes} "
            f"classes{known}. Name the columns to use ({option(classes=...)})."
        )

    def written(
        self, file: Input, scores: ClassScores, target: PathLike, to: str | None, form: kinds.Form
    ) -> list[Message]:
        """Write an input again with log-likelihoods or detection llrs, keeping its class names."""
        old = not_none(file.contents.class_scores, "class_scores")
        scores, messages = named_as(old, scores)
        if len(scores.trials) < len(old.trials):
            file = replace(file, contents=kinds.of_trials(file.contents, old.trials, scores.trials))
        from deciban.io.rewrite import write_rescored_classes  # not needed for evaluations

        return [*messages, *write_rescored_classes(file, scores, target, to=to, write_as=form.write_as)]

    def rescored(self, contents: Contents, scores: ClassScores, form: kinds.Form) -> tuple[Contents, list[Message]]:
        """Return contents with log-likelihoods or detection llrs, keeping their class names."""
        from deciban.io.rewrite import rescored_classes

        scores, messages = named_as(not_none(contents.class_scores, "class_scores"), scores)
        result, more = rescored_classes(contents, scores, write_as=form.write_as)
        return result, [*messages, *more]


MULTICLASS = Multiclass()


POSTERIOR_PRIOR = "posterior_prior"
"""Key in the record of training for the prior that was removed from log posteriors."""


def unit_messages(systems: Sequence[ClassScores], reading: Reading) -> list[Message]:
    """Return messages about conversions of scores, and a warning about scores from submissions of detection llrs."""
    messages = list[Message]()
    if reading.lr:
        messages.append(Message("note", "", unit_conversion.LIKELIHOODS))
    if reading.log10:
        messages.append(Message("note", "", "scores are common logarithms, and were multiplied by ln 10"))
    if reading.posterior_prior is not None:
        prior = prior_of(reading.posterior_prior, systems[0].classes, "posterior_prior")
        shown = ", ".join(f"{p:.4g}" for p in prior[:20])
        words = f"scores are log posteriors: the logarithms of the prior {shown} were subtracted"
        messages.append(Message("note", "", words))
    if reading.detection_llr:
        messages.append(Message("note", "", unit_conversion.PROJECTED))
        messages += [note for one in systems for note in _of_many_recognizers(one)]
    elif reading.probabilities is None:
        origins = [one.trials.origin for one in systems]
        submitted = [one.name for one in origins if one.is_read_as(unit_conversion.SUBMISSION)]
        messages += [Message(WARNING, ", ".join(submitted), unit_conversion.submission_note())] if submitted else []
    return messages


def _of_many_recognizers(scores: ClassScores) -> list[Message]:
    """Return a message if detection llrs contradict each other, so that no log-likelihoods have exactly these llrs."""
    sums = np.exp(scores.score).mean(axis=1)  # of posterior / flat prior
    if not len(sums) or np.abs(sums - 1.0).max() < ROUNDING:
        return []
    words = (
        f"detectors of different classes contradict each other: their posteriors sum to {sums.min():.3g} to "
        f"{sums.max():.3g}, not to 1. An evaluation of each detector separately gives another value of C_avg"
    )
    return [Message(WARNING, scores.trials.origin.name, words)]


def prior_text(reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str | None:
    """Return the prior in posteriors for the record of training, in the syntax of the command line.

    Parameters
    ----------
    reading : Reading
    classes : sequence of str
        Classes of the posteriors.
    order : sequence of str, optional
        Order of the classes in the text. Other names are names of the classes in their order.

    Returns
    -------
    str or None
        None for a flat prior, or without a prior.

    Examples
    --------
    >>> from deciban.workflows import Reading
    >>> prior_text(Reading(posterior_prior=[0.75, 0.25]), ["eng", "fra"])
    'eng=0.75,fra=0.25'
    """
    return None if reading.posterior_prior is None else named_prior(reading.posterior_prior, classes, order)


def named_prior(value: Prior, classes: Sequence[str], order: Sequence[str] = ()) -> str | None:
    """Return a prior by class name, None if it is flat; see `prior_text`."""
    prior = prior_of(value, classes)
    if np.ptp(prior) == 0.0:
        return None
    names = order or classes
    shown = dict(zip(classes if set(names) == set(classes) else names, prior.tolist(), strict=False))
    return ",".join(f"{name}={shown[name]!r}" for name in names if name in shown)


def require_same_posteriors(model: ScoreModel, reading: Reading, classes: Sequence[str]) -> None:
    """Refuse to apply a model to scores with another prior in them than in training.

    Parameters
    ----------
    model : ScoreModel
    reading : Reading
        Options with the prior that is removed from the scores.
    classes : sequence of str
        Classes of the scores, possibly in another order than in training.

    Raises
    ------
    InputError
    """
    trained = None if model.training_ is None else model.training_.results.get(POSTERIOR_PRIOR)
    names: Sequence[str] = getattr(model, "classes_", None) or classes
    value = prior_text(reading, classes, names)
    if trained is None and value is not None:
        raise InputError(
            "posterior_prior: given, but the model was trained on scores without it. Leave it out, or train with it."
        )
    if trained is not None and value != (trained if "=" in str(trained) else _named(str(trained), names)):
        named = "not given" if reading.posterior_prior is None else value or "flat"
        raise InputError(
            f"posterior_prior: {named}, but the model was trained on log posteriors. Use scores with the same prior "
            f"({either(f'{trained}, posterior_prior=...', f'--posterior-prior {trained}')}), or train another model."
        )


def _named(recorded: str, classes: Sequence[str]) -> str:
    """Return a recorded prior of an earlier version, one number for each class in the order of training, with names."""
    return ",".join(f"{name}={p}" for name, p in zip(classes, recorded.split(","), strict=False))
