"""The kind of scores of many classes: a row of log-likelihoods for each segment, and the names of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban._validate.classes import prior_of
from deciban.errors import InputError
from deciban.evaluation.multiclass.evaluate import evaluate_classes, evaluate_groups
from deciban.evaluation.multiclass.result import ClassEvaluation
from deciban.io import Contents
from deciban.io.reader import Input
from deciban.io.source import PathLike
from deciban.messages import Message
from deciban.models.score_model import ScoreModel
from deciban.trials import AlignedClasses, ClassKey, ClassScores
from deciban.trials.classes import align_class_systems
from deciban.trials.joining.lookup import Wanted
from deciban.types import AnyArray, CountArray, IntArray
from deciban.workflows.kinds import class_names
from deciban.workflows.kinds.base import Kind, refuse_figures
from deciban.workflows.options import Figures, Reading

_MOST_NAMED = 20
"""Classes that are counted one by one."""


class Multiclass(Kind):
    """Segments are of one of many classes; a system gives each a log-likelihood for each class."""

    name = "classes"
    noun = "segment"
    need = "class-scores"
    need_of_key = "class-key"
    filled = " for every class"
    output = "log-likelihoods"
    other_reading = ("labels",)

    def systems_of(self, contents: Contents, reading: Reading) -> list[ClassScores]:
        """The scores of the system that an input holds, its classes called and ordered as the user says."""
        scores = contents.class_scores
        assert scores is not None  # noqa: S101  # they were asked for
        return [class_names.called(scores, reading.classes)]

    def in_class_order(self, systems: list[ClassScores], order: Sequence[str]) -> list[ClassScores]:
        """Scores of the same classes with these in another order; those of other classes are left as they are."""
        return [one.of_classes(order) if sorted(one.classes) == sorted(order) else one for one in systems]

    def key_of(self, contents: Contents, reading: Reading, first: ClassScores) -> ClassKey:
        """The class of each segment, its classes called as those of the scores."""
        if contents.class_key is None:
            raise InputError(
                f"key: none given, and {contents.origin.name} does not say of which class its segments are. Pass the "
                "file that does (--key FILE)."
            )
        return class_names.key_as_scores(contents.class_key, contents.origin.name, reading.classes, first)

    def align(
        self,
        systems: Sequence[ClassScores],
        key: ClassKey,
        reading: Reading,
        *,
        incomplete: bool = False,  # noqa: ARG002  # no model of many classes knows what to do about it
    ) -> Sequence[AlignedClasses]:
        """Find the scores of every segment of a key."""
        how: Any = {"duplicates": reading.duplicates, "by_order": reading.by_order}
        return align_class_systems(systems, key, reading.missing, **how)

    def truth_of(self, aligned: AlignedClasses) -> IntArray:
        """The true class of each segment, by its position."""
        return aligned.label

    def in_nats(self, scores: ClassScores, reading: Reading) -> ClassScores:
        """Scores as natural log-likelihoods; a segment that excludes every class is refused."""
        found = class_names.in_nats(scores, reading)
        class_names.refuse_impossible(found)
        return found

    def evaluate(
        self,
        score: AnyArray,
        truth: AnyArray,
        weight: CountArray | None,
        *,
        name: str,
        figures: Figures,
        classes: Sequence[str] | None,
    ) -> ClassEvaluation:
        """Evaluate log-likelihoods of labelled segments: which class, or which group of classes."""
        refuse_figures(figures, ("operating_points",), "many classes", "two classes")
        assert classes is not None  # noqa: S101  # files name or number them
        how: dict[str, Any] = figures.given() | {"classes": classes, "name": name, "sample_weight": weight}
        groups = how.pop("groups", None)
        if groups is not None:
            return evaluate_groups(score, truth, groups, **how)
        return evaluate_classes(score, truth, **how)

    def size(self, scores: ClassScores) -> str:
        """How many segments and classes there are scores of."""
        return f"{len(scores.trials):,} segments x {len(scores.classes)} classes"

    def counts(self, contents: Contents, key: ClassKey) -> str:  # noqa: ARG002
        """How many segments there are of each class."""
        counts = np.bincount(key.label, minlength=len(key.classes)).tolist()
        shown = [f"{n:,} {name}" for name, n in zip(key.classes, counts, strict=True) if n]
        more = f" · {len(shown) - _MOST_NAMED} more classes" if len(shown) > _MOST_NAMED else ""
        return " · ".join(shown[:_MOST_NAMED]) + more

    def unit_messages(self, systems: Sequence[ClassScores], reading: Reading) -> list[Message]:
        """What was done to the units of scores, or what they were taken for."""
        return class_names.messages(systems, reading)

    def require_trials(self, truth: AnyArray, classes: Sequence[str] | None) -> None:
        """Refuse to evaluate classes that no segment is of, in words of files."""
        names = tuple(classes or ())
        empty = np.flatnonzero(np.bincount(truth, minlength=len(names)) == 0)
        if len(empty):
            more = f" (and {len(empty) - 1} more classes)" if len(empty) > 1 else ""
            raise InputError(
                f"class {names[int(empty[0])]!r}{more}: no segment is of it, so that nothing can be said of it. Every "
                "class is averaged by itself. Leave it out by naming the others (classes=, --classes), or use a key "
                "that has some."
            )

    def require_model(self, model: ScoreModel, reading: Reading, classes: Sequence[str] | None) -> None:
        """Refuse a model for scores with another prior in them than those of training."""
        prior = reading.posterior_prior
        given = None if prior is None else prior_of(prior, tuple(classes or ()))
        class_names.require_same_posteriors(model, given, tuple(classes or ()))

    def record(self, model: ScoreModel, reading: Reading, classes: Sequence[str] | None) -> dict[str, Any]:  # noqa: ARG002
        """The prior that was taken out of the scores, so that it is taken out of others as well."""
        prior = reading.posterior_prior
        names = tuple(classes or ())
        text = None if prior is None else class_names.prior_text(prior_of(prior, names), names)
        return {} if text is None else {class_names.POSTERIOR_PRIOR: text}

    def matched(self, model: ScoreModel, scores: ClassScores) -> tuple[ClassScores, list[Message]]:
        """Scores with the classes in the order of training."""
        return class_names.in_order_of(model, scores)

    def written(self, found: Input, scores: ClassScores, target: PathLike, to: str | None) -> list[Message]:
        """Write an input again with log-likelihoods, under the names that the classes have there."""
        old = found.contents.class_scores
        assert old is not None  # noqa: S101  # it was asked for
        messages = list[Message]()
        if len(old.classes) == len(scores.classes) and set(old.classes) != set(scores.classes):
            scores = replace(scores, classes=old.classes)  # they were numbered, and named by the user
        elif len(old.classes) > len(scores.classes):
            left = [name for name in old.classes if name not in scores.classes]
            messages.append(Message("note", "", f"not among the classes, and left out: {', '.join(left[:10])}"))
        if len(scores.trials) < len(old.trials):
            rows = Wanted(scores.trials).find(old.trials).rows
            fields = {name: getattr(found.contents, name) for name in ("index", "class_key")}
            taken = {name: one.take(rows) for name, one in fields.items() if one is not None}
            found = replace(found, contents=replace(found.contents, **taken))
        from deciban.io.rewrite import write_rescored_classes  # evaluations need none of what writes

        return [*messages, *write_rescored_classes(found, scores, target, to=to)]


MULTICLASS = Multiclass()
