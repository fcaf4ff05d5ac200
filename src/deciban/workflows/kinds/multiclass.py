"""The kind of scores of many classes: a row of log-likelihoods for each segment, and the names of the classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from deciban._arrow import of_numpy
from deciban._files import PathLike
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.evaluation import ClassEvaluation, ClassFigures
from deciban.evaluation.metrics import METRICS, keys_of
from deciban.evaluation.multiclass.evaluate import evaluate_trials
from deciban.evaluation.summary import Resampling
from deciban.evaluation.uncertainty import Figure
from deciban.io.columns.headers import plain_word, words_of_columns
from deciban.io.contents import ContentKind, Contents
from deciban.io.reader import Input
from deciban.io.recognition import Recognized
from deciban.io.units import logliks_of_likelihoods, logs_of_probabilities
from deciban.messages import Message, counted
from deciban.models.score_model import ScoreModel
from deciban.multiclass.tables import ScoredClasses
from deciban.trials import AlignedClasses, ClassKey, ClassScores
from deciban.trials.classes import align_class_systems
from deciban.types import AnyArray, BoolArray, IntArray, Progress
from deciban.workflows.kinds.base import CountedUnits, Form, Kind, Scored, Units, of_trials
from deciban.workflows.kinds.score_units import (
    POSTERIOR_PRIOR,
    in_nats,
    named_prior,
    prior_of_classes,
    prior_text,
    require_same_posteriors,
    unit_messages,
)
from deciban.workflows.options import Figures, Options, Reading

_NUMBER = re.compile("0|[1-9][0-9]{0,8}")


def named_as(old: ClassScores, scores: ClassScores) -> tuple[ClassScores, list[Message]]:
    """Scores whose classes are called as in the file that they are written to in place of others."""
    if len(old.classes) == len(scores.classes) and set(old.classes) != set(scores.classes):
        return replace(scores, classes=old.classes), []  # they were numbered, and named by the user
    left = [name for name in old.classes if name not in scores.classes]
    if len(old.classes) <= len(scores.classes):
        return scores, []
    return scores, [Message("note", "", f"not among the classes, and left out: {', '.join(left[:10])}")]


def are_numbers(classes: Sequence[str]) -> bool:
    """Whether classes are not named, but counted from 0."""
    return tuple(classes) == tuple(map(str, range(len(classes))))


def are_counted(classes: Sequence[str]) -> bool:
    """Whether classes are not named, but counted from 0, in whatever order, and perhaps not all there."""
    return "0" in classes and all(_NUMBER.fullmatch(name) for name in classes)


def with_names(scores: ClassScores, classes: Sequence[str] | None) -> ClassScores:
    """Scores whose classes have the names, and the order, that the user gave.

    Raises
    ------
    InputError
        If the file has no such classes, or numbers more or fewer of them.
    """
    given: object = classes
    if given is not None and (isinstance(given, str) or not isinstance(given, Iterable)):
        raise InputError(f"classes: got {given!r}. Write their names in order: ['eng', 'fra'].")
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
    """A key that knows the columns of numbers beside it that are no class, as a user has named all classes.

    Parameters
    ----------
    key : ClassKey
    scores : ClassScores
        Of the same rows of one table; else nothing is added.
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
    """Return a key whose classes are called as the columns of their scores, if all of them name such a column.

    Parameters
    ----------
    key : ClassKey
    columns : sequence of str
    in_order : bool
        Whether numbers from 0 stand for the columns in order (`deciban.io.columns.headers.words_of_columns`).
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
    """Return contents whose labels are called as the columns of scores beside them, with a note if numbers were.

    Where a user names the classes, numbers are positions among these, and stay.
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
    """Refuse detection llrs of some classes, which are against all others.

    Raises
    ------
    InputError
    """
    if len(named.classes) == len(scores.classes):
        return
    left_out = ", ".join([name for name in scores.classes if name not in named.classes][:10])
    raise InputError(
        f"classes, detection_llr: in {scores.trials.origin.name}, detection llrs are of each class against all others, "
        f"and {left_out} would be left out. Turn all of them into log-likelihoods first (deciban convert IN OUT "
        "--detection-llr), and choose classes of these. If a column is no class, name those that are: --columns "
        f"trial=SEGMENT,score={'|'.join(named.classes[:10])}."
    )


class Multiclass(Kind[ClassScores, ClassKey, AlignedClasses]):
    """Segments are of one of many classes; a system gives each a log-likelihood for each class."""

    name = "classes"
    noun = "segment"
    need = "class-scores"
    need_of_key = "class-key"
    filled = " for every class"
    output = "log-likelihoods"
    about, other = "many classes", "two classes"
    other_reading = ("labels", "negate")
    figures = ClassFigures

    def read(self, file: Recognized, reading: Reading, say: Progress, need: ContentKind | None = None) -> Input:
        """Read a score file or a key; labels beside scores are called as the columns of these."""
        found = super().read(file, reading, say, need)
        return replace(found, contents=with_labels_of_columns(found.contents, reading.classes))

    def systems_of(self, contents: Contents, reading: Reading) -> list[ClassScores]:
        """The scores of the system that an input holds, its classes called and ordered as the user says."""
        scores = contents.class_scores
        if scores is None:  # of columns that a user named, none is a class
            raise FormatError(
                f"{contents.origin.name}: holds no scores of classes. It was read as {contents.origin.reading}. "
                "Columns of classes are found where columns are not named: leave --columns out."
            )
        named = with_names(scores, reading.classes)
        if reading.detection_llr:
            refuse_some_detectors(scores, named)
        return [named]

    def as_logarithms(self, systems: Sequence[ClassScores], reading: Reading) -> list[ClassScores]:
        """The systems in nats, with the classes in the order of the first one, where they are the same.

        Raises
        ------
        FormatError, InputError
            If they are no probabilities, the prior that is to be taken out of posteriors is 0 for a class, or detection
            llrs exclude every class.
        """
        ordered = self.in_class_order(list(systems), systems[0].classes)
        if reading.probabilities is not None:
            return [logs_of_probabilities(one, prior_of_classes(reading)) for one in ordered]
        if reading.lr:
            return [logliks_of_likelihoods(one) for one in ordered]
        return [replace(one, score=in_nats(one.score, one.classes, reading)) for one in ordered]

    def prior_of_probabilities(self, reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str:
        """The prior of the classes, by their names."""
        return named_prior(prior_of_classes(reading), classes, order) or "flat"

    def in_class_order(self, systems: list[ClassScores], order: Sequence[str]) -> list[ClassScores]:
        """Scores of the same classes with these in another order; those of other classes are left as they are."""
        return [one.of_classes(order) if sorted(one.classes) == sorted(order) else one for one in systems]

    def key_of(self, contents: Contents, reading: Reading, first: ClassScores) -> ClassKey:
        """The class of each segment, its classes called as those of the scores.

        Raises
        ------
        InputError
            If there is no truth.
        KeyMismatchError
            If the key numbers classes that the scores name, and the user did not say which number is which, or named
            fewer.
        """
        key, classes = contents.class_key, reading.classes
        if key is not None and classes is not None and contents.class_scores is not None:
            key = with_other_columns(key, contents.class_scores, classes)
        if key is None:
            raise InputError(
                f"key: none given, and {contents.origin.name} does not say of which class its segments are. Pass the "
                "file that does (--key FILE)."
            )
        key = as_columns(key, first.classes) if classes is None else key
        if not are_counted(key.classes) or are_numbers(first.classes) or set(key.classes) <= set(first.classes):
            return key
        if classes is None:
            raise KeyMismatchError(
                f"{contents.origin.name} numbers its classes, {first.trials.origin.name} names them: "
                f"{', '.join(first.classes)}. Say which number is which class by naming them in the order of "
                "the numbers (--classes NAME,NAME,...)."
            )
        label = np.array(list(map(int, key.classes)), key.label.dtype)[key.label]
        if int(label.max()) >= len(classes):
            row = int(np.argmax(label >= len(classes)))
            raise KeyMismatchError(
                f"{key.trials.origin.where(row)}: {key.trials.name_of(row)} is of class {label[row]}, counted from "
                f"0, but {len(classes)} classes are named: {', '.join(classes)}."
            )
        return ClassKey(key.trials, tuple(classes), label)

    def align(
        self, systems: Sequence[ClassScores], key: ClassKey, reading: Reading, *, incomplete: bool = False
    ) -> Sequence[AlignedClasses]:
        """Find the scores of every segment of a key, in nats."""
        how: Any = {"duplicates": reading.duplicates, "by_order": reading.by_order, "ids": reading.renaming}
        found = align_class_systems(systems, key, reading.missing, **how)
        return [replace(one, scores=self.in_nats(one.scores, reading)) for one in found]

    def truth_of(self, aligned: AlignedClasses) -> IntArray:
        """The true class of each segment, by its position."""
        return aligned.label

    def in_nats(self, scores: ClassScores, reading: Reading) -> ClassScores:
        """The scores, which are natural log-likelihoods already.

        Raises
        ------
        InputError
            If a segment excludes every class.
        """
        impossible = np.flatnonzero(scores.score.max(axis=1) == -np.inf)
        if len(impossible):
            name = scores.trials.name_of(int(impossible[0]))
            raise InputError(
                f"{scores.name}: segment {name} excludes every class, with -inf throughout "
                f"({counted(len(impossible), 'such segment')}). At least one class must be possible: repair the "
                "scores, or leave these segments out of the key."
            )
        return scores

    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:
        """Classes are numbered in their order."""
        return [(f"{self.noun}s of {name}", at) for at, name in enumerate(classes)]

    def evaluate(
        self, trials: Scored, figures: Figures, classes: Sequence[str], name: str, resampling: Resampling | None = None
    ) -> ClassEvaluation:
        """Evaluate log-likelihoods of labelled segments: which class, or which group of classes."""
        wanted = self.checked(figures)
        return evaluate_trials(ScoredClasses.of(*trials, tuple(classes)), wanted, name=name, resampling=resampling)

    def n_evaluated(self, found: ClassEvaluation) -> int:
        """Segments of all classes."""
        return int(found.counts.sum())

    def evaluate_pieces(self, units: CountedUnits, options: Options, *, system: int, name: str) -> ClassEvaluation:
        """Evaluate log-likelihoods of one system of segments in pieces.

        Raises
        ------
        InputError
            If something is asked for that needs all segments in memory, or a class has none.
        """
        from deciban.workflows.class_sources import evaluate_class_pieces

        self.refuse_figures(options.figures)
        require = partial(self.require_trials, has_weights=units.source.has_weights)
        about: Any = {"system": system, "name": name, "require": require}
        return evaluate_class_pieces(units.source, units.engine, options, units.of_classes, **about)

    def compared_figures(self, figures: Figures) -> tuple[Figure, ...]:
        """Single figures, and those at each target prior; none of single classes."""
        given: dict[str, Any] = {} if figures.p_target is None else {"p_target": figures.p_target}
        n_points, n_priors = len(ClassFigures(**given).p_target), 1 if figures.prior is None else 2
        return tuple(keys_of(METRICS, self.name, {"point": n_points, "prior": n_priors}))

    def size(self, scores: ClassScores) -> str:
        """How many segments and classes there are scores of."""
        return f"{counted(len(scores.trials), self.noun)} x {len(scores.classes)} classes"

    def counts(self, contents: Contents, key: ClassKey) -> str:
        """How many segments there are of each class."""
        counts = np.bincount(key.label, minlength=len(key.classes)).tolist()
        return " · ".join(f"{n:,} {name}" for name, n in zip(key.classes, counts, strict=True) if n)

    def counts_in_words(self, counts: Mapping[str, int]) -> str:
        """How many segments and classes a model was trained on."""
        return f"{counted(sum(counts.values()), self.noun)}, {len(counts)} classes"

    def truth_in_words(self, truth: BoolArray | IntArray, classes: Sequence[str]) -> str:
        """How many segments and classes there are."""
        return self.counts_in_words(dict(zip(classes, np.bincount(truth, minlength=len(classes)), strict=True)))

    def unit_messages(self, systems: Sequence[ClassScores], reading: Reading) -> list[Message]:
        """What was done to the units of scores, or what they were taken for."""
        return [*super().unit_messages(systems, reading), *unit_messages(systems, reading)]

    def require_trials(self, truth: AnyArray, classes: Sequence[str], *, has_weights: bool = False) -> None:
        """Refuse to evaluate classes that no segment is of, or none that counts where there are weights."""
        empty = np.flatnonzero(np.bincount(truth, minlength=len(classes)) == 0)
        if len(empty):
            more = f" (and {len(empty) - 1} more classes)" if len(empty) > 1 else ""
            of_weight = " of weight above 0" if has_weights else ""
            raise InputError(
                f"class {classes[int(empty[0])]!r}{more}: no segment{of_weight} is of it, so that nothing can be said "
                "of it. Every class is averaged by itself. Leave it out by naming the others (classes=, --classes), or "
                "use a key that has some."
            )

    def require_model(self, model: ScoreModel, reading: Reading, classes: Sequence[str], units: Units = ()) -> None:
        """Refuse a model for scores with another prior in them than those of training."""
        require_same_posteriors(model, reading, classes)
        super().require_model(model, reading, classes, units)

    def record(self, reading: Reading, classes: Sequence[str], units: Units = ()) -> dict[str, Any]:
        """The prior that was taken out of the scores, so that it is taken out of others as well."""
        text = prior_text(reading, classes)
        return super().record(reading, classes, units) | ({} if text is None else {POSTERIOR_PRIOR: text})

    def class_order(
        self, model: ScoreModel, classes: tuple[str, ...], name: str
    ) -> tuple[tuple[str, ...], list[Message]]:
        """Return the classes in the order of training; numbers stand for the classes in their order."""
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
            f"{name}: has scores for {', '.join(classes[:20])}, but the model was trained on {n_classes} "
            f"classes{known}. Name the columns to take (--classes)."
        )

    def written(self, found: Input, scores: ClassScores, target: PathLike, to: str | None, form: Form) -> list[Message]:
        """Write an input again with log-likelihoods or detection llrs, under the names that the classes have there."""
        old = found.contents.class_scores
        assert old is not None  # noqa: S101  # it was asked for
        scores, messages = named_as(old, scores)
        if len(scores.trials) < len(old.trials):
            found = replace(found, contents=of_trials(found.contents, old.trials, scores.trials))
        from deciban.io.rewrite import write_rescored_classes  # evaluations need none of what writes

        return [*messages, *write_rescored_classes(found, scores, target, to=to, write_as=form.write_as)]

    def rescored(self, contents: Contents, scores: ClassScores, form: Form) -> tuple[Contents, list[Message]]:
        """Contents with log-likelihoods or detection llrs, under the names that the classes have there."""
        from deciban.io.rewrite import rescored_classes

        assert contents.class_scores is not None  # noqa: S101  # they were asked for
        scores, messages = named_as(contents.class_scores, scores)
        made, more = rescored_classes(contents, scores, write_as=form.write_as)
        return made, [*messages, *more]


MULTICLASS = Multiclass()
