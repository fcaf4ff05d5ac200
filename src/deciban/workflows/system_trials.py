"""The trials of several systems as a model takes them: scores in one array, quality measures, truth and weights."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.analysis.data import LabelledData
from deciban.calibration.folds import folds_of, held_out
from deciban.core.ranks.counts import n_tied
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, naming_trials
from deciban.evaluation.conditions import SystemConditions
from deciban.evaluation.preset_table import Preset
from deciban.evaluation.primary import Primary
from deciban.evaluation.worst_trials import WorstTrials
from deciban.io.source import single_files
from deciban.messages import WARNING, Message, counted
from deciban.models.score_model import ScoreModel
from deciban.models.told_elsewhere import reasons_are_shown
from deciban.trials import Trials
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, Progress
from deciban.workflows.inputs import JoinedScores, ScoreFiles, read_joined
from deciban.workflows.key_columns import HoldOut, groups_of
from deciban.workflows.kinds import AnyKind, AnyScores
from deciban.workflows.kinds.trained_units import units_of
from deciban.workflows.model_files import order_of_training, refuse_twice, seen_before
from deciban.workflows.options import Figures, Options
from deciban.workflows.quality import Measured, measures_of
from deciban.workflows.split import Split
from deciban.workflows.system_names import known_by
from deciban.workflows.worst import worst_of


@dataclass(frozen=True, slots=True, eq=False)
class SystemTrials:
    """What a model takes, with the truth.

    Attributes
    ----------
    joined : JoinedScores
        How the files were read and trials met.
    data : LabelledData
        Scores in nats, (n_trials, n_systems), of many classes (n_trials, n_systems, n_classes); quality and truth.
    systems : tuple of str
    template : Scores or ClassScores
        Of the first system, for its trials.
    messages : tuple of Message
        What is to be said besides.
    """

    joined: JoinedScores
    data: LabelledData
    systems: tuple[str, ...]
    template: AnyScores
    messages: tuple[Message, ...] = ()

    @classmethod
    def read(
        cls,
        files: ScoreFiles,
        options: Options,
        *,
        model: ScoreModel,
        quality: Measured | None,
        trained: bool,
        progress: Progress | None,
    ) -> SystemTrials:
        """Read and join them.

        Parameters
        ----------
        files, options, progress
            As in `read_joined`.
        model : ScoreModel
            What they are for: it may take trials that some system did not score.
        quality : mapping of side to SegmentQuality, optional
        trained : bool
            Whether the model was trained, and takes just the measures of training.

        Raises
        ------
        FormatError, KeyMismatchError, InputError
            As in `read_joined` and `measures_of`, or if a file is given twice.
        """
        refuse_twice(single_files(file.path for file in files.scores))
        incomplete = model.accepts_missing
        joined = read_joined(files, None, options, incomplete=incomplete, progress=progress)
        sides = model.quality_arguments or None if trained else None
        first = joined.aligned[0].scores
        tables, messages = ({}, []) if quality is None else measures_of(quality, first.trials, sides=sides)
        scores = joined.kind.stacked([one.scores for one in joined.aligned])
        units, assumed = joined.units(options.how_sure)
        resampling = options.how_sure.resampling(units)
        data = LabelledData(scores, tables, is_target=joined.truth, weight=joined.weight, resampling=resampling)
        found = cls(joined, data, joined.names, first, (*messages, *assumed))
        return found.with_counts_of_scores() if incomplete else found

    @property
    def kind(self) -> AnyKind:
        """What the scores are about."""
        return self.joined.kind

    @property
    def trials(self) -> Trials:
        """Their names."""
        return self.template.trials

    @property
    def units(self) -> TrialUnits | None:
        """What the trials share, where it is known and wanted."""
        return None if self.data.resampling is None else self.data.resampling.units

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, where there are many."""
        return self.kind.classes_of(self.template)

    @property
    def units_of_scores(self) -> list[str]:
        """The units that the scores of two-class systems had in their files."""
        by_name = {one.name: one.scores for one in self.joined.aligned}
        return units_of([by_name[name] for name in self.systems])

    def fit(self, model: ScoreModel) -> None:
        """Train a model on these trials; what is refused for the sake of a trial names it."""
        with self.naming():
            more: dict[str, Any] = {"classes": self.classes} if self.classes else {}
            with reasons_are_shown():
                self.data.fit(model, units=self.units, **more)

    def transform(self, model: ScoreModel) -> FloatArray:
        """What a trained model makes of these trials, of classes in their order here.

        Raises
        ------
        InputError
            If they are not the classes of training, or the model refuses a trial.
        """
        own, _ = self.as_trained(model)
        with self.naming():
            values = own.data.transform(model)
        if own.classes == self.classes:
            return values
        return values[:, [own.classes.index(name) for name in self.classes]]

    def cross_validated(self, model: ScoreModel, held: HoldOut) -> FloatArray:
        """What models make of these trials that had not seen the like of each.

        Raises
        ------
        InputError
            If trials cannot be held out like that, or a model cannot be trained without some of them.
        """
        groups, data = groups_of(self.trials, held.by), self.data
        with self.naming():
            if not self.classes:
                return data.held_out(groups=groups, n_folds=held.parts).llr(model)
            if isinstance(groups, tuple):
                raise InputError("cross_validate: two columns are for trials of two sides. Name one, such as speaker.")
            scores, truth, weight = model.inputs(data.scores), data.is_target, data.weight
            folds = folds_of(scores, truth, weight, groups, n_folds=held.parts, seed=0)
            return held_out(model, scores, truth, weight, folds, classes=self.classes)

    def evaluated(self, score: AnyArray, name: str, figures: Figures) -> Any:
        """Evaluate scores of these trials; those that have none (NaN) are left out."""
        figures = self.joined.on_axis(figures)
        resampling = self.data.known_resampling(score)
        known: Any = {"figures": figures, "classes": self.classes, "resampling": resampling}
        return self.kind.evaluate(self.data.known(score), name=name, **known)

    def primaries(self, plan: Preset | None, scores: Sequence[AnyArray], pooled: Sequence[Any]) -> tuple[Primary, ...]:
        """The primary numbers of a plan for several systems with their evaluations; none without a plan."""
        if plan is None:
            return ()
        from deciban.workflows.plans import PlannedTrials

        found, data = list[Primary](), self.data
        for score, one in zip(scores, pooled, strict=True):
            there = np.arange(len(score)) if score.ndim > 1 else np.flatnonzero(~np.isnan(score))
            values, truth, weight = data.known(score)
            names, drawn = self.trials.take(there), data.known_resampling(score)
            planned = PlannedTrials(plan, self.kind, names, truth, weight, self.classes, drawn)
            found.append(planned.primary(values, one))
        return tuple(found)

    def worst(self, most: int, scores: Sequence[AnyArray], pooled: Sequence[Any]) -> tuple[WorstTrials, ...]:
        """The most misleading trials of several systems with their evaluations; none where none are asked for."""
        about = self.data.is_target, self.data.weight, self.trials
        how: Any = {"classes": self.classes, "most": most}
        return tuple(
            worst_of(one.name, score, *about, **how) for score, one in zip(scores, pooled, strict=True) if most
        )

    def by_condition(
        self, split: Split, scores: Sequence[AnyArray], pooled: Sequence[Any], figures: Figures
    ) -> tuple[tuple[SystemConditions, ...], tuple[Message, ...]]:
        """The same by condition, of several systems with their evaluations; and what is to be said of it."""
        if not split.is_asked:
            return (), ()
        from deciban.workflows.conditions import Conditions

        data, figures, found = self.data, self.joined.on_axis(figures), list[SystemConditions]()
        every = Conditions.of(split, self.trials, self.kind, data.is_target, data.weight, classes=self.classes)
        for score, one in zip(scores, pooled, strict=True):
            there = np.arange(len(score)) if score.ndim > 1 else np.flatnonzero(~np.isnan(score))
            own = every if len(there) == len(score) else every.take(there)
            how: Any = {"figures": figures, "resampling": data.known_resampling(score)}
            found.append(own.evaluated(score[there], one, **how))
        return tuple(found), every.messages

    def system(self, k: int) -> AnyArray:
        """The scores of a system."""
        column: AnyArray = self.data.scores[:, k]
        return column

    def take(self, rows: BoolArray) -> SystemTrials:
        """Some of the trials."""
        if rows.all():
            return self
        numbers: IntArray = np.flatnonzero(rows)
        return replace(self, data=self.data.take(numbers), template=self.template.take(numbers))

    @property
    def counting(self) -> SystemTrials:
        """The trials that count: those of a weight above 0."""
        return self if self.data.weight is None else self.take(self.data.weight > 0)

    @property
    def complete(self) -> SystemTrials:
        """The trials that all systems scored."""
        return self.take(np.asarray(~np.isnan(self.data.scores).any(axis=1)))

    def choose(self, systems: Sequence[int]) -> SystemTrials:
        """Some of the systems, in this order, on the trials that one of them scored at least."""
        if list(systems) == list(range(len(self.systems))):
            return self
        names = tuple(self.systems[k] for k in systems)
        chosen = replace(self, data=self.data.choose(systems), systems=names)
        return chosen.scored_only(f"a score of {' or '.join(names)}")

    def ordered_as(self, trained: Sequence[str], n_systems: int) -> SystemTrials:
        """The same with the systems in the order of training.

        Raises
        ------
        InputError
            As in `order_of_training`.
        """
        order, messages = order_of_training(known_by(self.systems, self.joined.renamed, trained), trained, n_systems)
        chosen = self.choose(order)
        return replace(chosen, messages=(*chosen.messages, *messages))

    def as_trained(self, model: ScoreModel) -> tuple[SystemTrials, list[Message]]:
        """The same with the classes in the order of training, and what is to be said about it.

        Raises
        ------
        InputError
            If they are other classes.
        """
        template, messages = self.kind.matched(model, self.template)
        old, new = self.classes, self.kind.classes_of(template)
        if old == new:
            return self, messages
        order = [old.index(name) for name in new]
        truth = np.argsort(order)[self.data.is_target]
        data = replace(self.data, scores=self.data.scores[:, :, order], is_target=truth)
        return replace(self, data=data, template=template), messages

    def scored_only(self, of_what: str) -> SystemTrials:
        """Without the trials that none of the systems scored; says how many these were."""
        if self.data.scores.ndim > 2 or not np.isnan(self.data.scores[:, 0]).any():
            return self
        some: BoolArray = np.zeros(len(self.data.scores), np.bool_)
        for column in self.data.scores.T:
            some |= ~np.isnan(column)
        n_none = int(np.count_nonzero(~some))
        if not n_none:
            return self
        message = Message(WARNING, "", f"{counted(n_none, 'trial')} without {of_what} left out")
        return replace(self.take(some), messages=(*self.messages, message))

    def with_counts_of_scores(self) -> SystemTrials:
        """Without the trials that no system scored; says how many have which scores."""
        messages = list(self.messages)
        for system, column in zip(self.systems, self.data.scores.T, strict=True):
            n_missing = int(np.count_nonzero(np.isnan(column)))
            if n_missing:
                messages.append(Message("note", "", f"{counted(n_missing, 'trial')} without a score of {system}"))
        return replace(self, messages=tuple(messages)).scored_only("any score")

    def with_values(self, values: FloatArray, name: str) -> AnyScores:
        """Scores of these trials that are something else, in nats, without those that have none (NaN)."""
        known = np.ones(len(values), np.bool_) if values.ndim > 1 else ~np.isnan(values)
        scores: AnyScores = self.kind.with_values(self.take(known).template, values[known], name)
        return scores

    def seen_before(self, model: ScoreModel, *, of_training: bool) -> list[Message]:
        """Say whether a model was trained on these trials, where that is not what one should think."""
        own, _ = self.as_trained(model)
        return seen_before(model, own.data, of_training=of_training)

    def naming(self) -> AbstractContextManager[None]:
        """Name the trial, and the systems of its infinite scores, in what is refused for its sake."""
        return naming_scores(self.data.scores, self.systems, self.trials)

    def all_messages(self, evaluations: Sequence[Any] = ()) -> tuple[Message, ...]:
        """What was read and assumed; scores of two classes are tied, or not, as they came.

        Parameters
        ----------
        evaluations : sequence of Evaluation
            Of the scores of all systems, if there are some: they know which are tied, so that nothing is sorted again.
        """
        if not self.kind.has_ties:
            return (*self.joined.all_messages(), *self.messages)
        ties = {one.name: one.n_tied for one in evaluations}
        for k, name in enumerate(self.systems):
            if name not in ties:
                ties[name] = n_tied(*self.data.known(self.system(k)))
        return (*self.joined.all_messages({name: ties[name] for name in self.systems}), *self.messages)


def naming_scores(scores: AnyArray, systems: Sequence[str], trials: Trials) -> AbstractContextManager[None]:
    """Name the trial, and of several systems those that give it infinite scores, in what is refused for its sake."""

    def infinite(row: int) -> str:
        if len(systems) < 2 or scores.ndim > 2:
            return ""
        columns = np.flatnonzero(np.isinf(scores[row])).tolist()
        return ", ".join(f"{systems[k]}: {scores[row, k]:g}" for k in columns)

    return naming_trials(trials.name_of, infinite)
