"""Models from objects or files, trained on a source or applied to it, with matching systems, classes and trials."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from deciban.analysis.systems import LEAST_GAIN, Search, Selection
from deciban.calibration.cross import SourceParts
from deciban.core.resampling.units import TrialUnits
from deciban.errors import WARNING, InputError, Message, counted, display_name, option
from deciban.io.recognition import Recognized, readable_as
from deciban.io.source import several_systems
from deciban.models import Model, load_model
from deciban.models.model import digits_of, in_digits, without_error_warnings, without_measure_warnings
from deciban.models.score_model import ARGUMENTS, ScoreModel
from deciban.models.sources import AvailableSystems, mapped, naming_rows, scored_by
from deciban.trials.lists import PAIR
from deciban.trials.sources import Batch, Engine, TrialFields, TrialSource, counting, found_in, having, ordered
from deciban.trials.speakers import BatchUnits
from deciban.types import AnyArray, KindName, PathLike, Progress
from deciban.workflows.kinds import AnyKind, kind_called, kind_of
from deciban.workflows.options import Options, RenamedSystems, known_by
from deciban.workflows.reading.units import HoldOut, UnitsOfSource, groups_of, pairs_of


def _digits(model: ScoreModel, batch: Batch) -> AnyArray | None:
    """Return fingerprints of the trials of a partition, with and without weights; sums wrap around."""
    if batch.truth is None or not len(batch.truth):
        return None
    measures = batch.quality or {}
    seen = model.seen(batch.stacked, [measures[name] for name in ARGUMENTS if name in measures])
    weights = [None] if batch.weight is None else [batch.float_weight, None]
    return np.array([digits_of(seen, batch.truth, one) for one in weights], np.uint64)


def is_of_training(
    model: ScoreModel, source: TrialSource, engine: Engine, counts: Mapping[str, int] | None = None
) -> bool | None:
    """Return True if a model was trained on these trials, by their fingerprint, and None if unknown; one pass.

    Fingerprints with and without weights are compared, because weights can be unused in training. If ``counts``, the
    numbers of trials of each class, differ from training, no pass is needed.
    """
    training = model.training_
    if training is None:
        return None
    if counts is not None and dict(counts) != training.counts:
        return False
    systems = tuple(range(len(source.systems)))
    fields = TrialFields(systems, truth=True, weight=source.has_weights, quality=model.quality_arguments)
    result = found_in(source, engine, fields, partial(_digits, model), "comparing with the training trials")
    return result is not None and any(in_digits(one) == training.fingerprint for one in result.tolist())


def seen_before(
    model: ScoreModel, source: TrialSource, engine: Engine, *, of_training: bool, counts: Mapping[str, int] | None
) -> list[Message]:
    """Return a note if trials are unexpectedly the training trials, or unexpectedly others.

    Parameters
    ----------
    model : ScoreModel
    source : TrialSource
        Systems and classes in the order of training.
    engine : Engine
    of_training : bool
        Whether the training trials are expected.
    counts : mapping of str to int, optional
        Number of trials of each class, if known.
    """
    training, same = model.training_, is_of_training(model, source, engine, counts)
    if training is None or same == of_training:
        return []
    column = training.results.get("weights_from")
    if column is not None and not source.has_weights:
        way = f"name it ({option(weights=...)}) to compare the trials"
        words = f"the model was trained with the weights of a column {column!r}: {way}"
    elif same:
        words = "the model was trained on these same trials, so its metrics are optimistic"
    else:
        words = "these are not the training trials of the model (their fingerprint differs)"
    return [Message("note", "", words)]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model and its file, loaded once.

    Attributes
    ----------
    model : Model
    path : path or None
        None for a model without a file.
    """

    model: Model
    path: PathLike | None

    @classmethod
    def of(cls, model: AnyModel) -> LoadedModel:
        """Load a model, unless it is loaded.

        Raises
        ------
        FormatError, OSError
            As in `deciban.load_model`.
        """
        if isinstance(model, LoadedModel):
            return model
        return cls(model, None) if isinstance(model, Model) else cls(load_model(model), model)

    @property
    def shown(self) -> str:
        """Name of the model in messages."""
        return type(self.model).__name__ if self.path is None else display_name(self.path)


AnyModel: TypeAlias = PathLike | Model | LoadedModel


def path_of_model(model: AnyModel | None) -> PathLike | None:
    """Return the file of a model without opening it; None without a file."""
    if isinstance(model, LoadedModel):
        return model.path
    return None if isinstance(model, Model) else model


def trained_model(model: AnyModel, kind: KindName | None = None) -> ScoreModel:
    """Return a trained model, possibly after loading it.

    Parameters
    ----------
    model : path, Model or LoadedModel
    kind : {"two-class", "classes"}, optional
        Required kind of scores.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.load_model`; or if the model does not map scores, is for scores of the other kind, or is not
        trained.
    """
    value = LoadedModel.of(model)
    shown, loaded = value.shown, value.model
    if not isinstance(loaded, ScoreModel):
        raise InputError(f"{shown}: a model of kind {loaded.kind!r} does not map scores to log-likelihood ratios.")
    if kind is not None and loaded.scores_kind != kind:
        raise InputError(
            f"{shown}: a model of kind {loaded.kind!r} is for {kind_called(loaded.scores_kind).about} scores, but the "
            f"scores are {kind_called(kind).about}."
        )
    loaded.require_fitted()
    return loaded


def require_kind(model: ScoreModel, scores: Recognized, key: Recognized | None, options: Options) -> Options:
    """Return options with the kind of a model; refuse files with scores of the other kind.

    Raises
    ------
    InputError
        If an option sets the other kind, or the files contain only the other kind.
    """
    expected = kind_called(model.scores_kind)
    try:
        result = kind_of(scores, key, options)
    except InputError:  # ambiguous files are accepted; reading other files raises an error with a hint
        result = expected
    if result is not expected and not _is_key(scores):
        raise InputError(
            f"{display_name(scores.path)}: {result.about} scores, but a model of kind {model.kind!r} "
            f"({type(model).__name__}) is for {expected.about} scores.{expected.way_out}"
        )
    return replace(options, kind=model.scores_kind)


def require_kind_of_source(model: ScoreModel, source: TrialSource) -> AnyKind:
    """Return the kind of the scores of a source; refuse another kind than that of the model.

    Raises
    ------
    InputError
    """
    kind, expected = kind_called(source.kind_name()), kind_called(model.scores_kind)
    if kind is not expected:
        raise InputError(
            f"{source.name}: {kind.about} scores, but a model of kind {model.kind!r} ({type(model).__name__}) is for "
            f"{expected.about} scores.{expected.way_out}"
        )
    return kind


def _is_key(scores: Recognized) -> bool:
    """Return True if a file for scores is a key, which reading refuses with a hint."""
    held = readable_as(scores, ("scores", "class-scores", "key", "class-key"))
    return "scores" not in held and ("key" in held or held == ("class-key",))


def model_message(path: PathLike | None, loaded: ScoreModel) -> list[Message]:
    """Return a message about the model in a file and its training trials."""
    if path is None:
        return []
    words = loaded.kind
    if loaded.training_ is not None:
        words += f"   trained on {kind_called(loaded.scores_kind).counts_in_words(loaded.training_.counts)}"
    return [Message("model", display_name(path), words)]


def require_quality(model: ScoreModel, *, is_given: bool) -> None:
    """Refuse missing quality measures, or measures that the model does not use.

    Raises
    ------
    InputError
    """
    needed = model.quality_arguments
    if needed and not is_given:
        sides = " and ".join(name.removesuffix("_quality") for name in needed)
        raise InputError(
            f"quality: none given, but the fusion was trained with {sides} measures. Name their file "
            f"({option(quality='FILE')})."
        )
    if is_given and not needed:
        raise InputError("quality: given, but the fusion was trained without. Leave it out, or train with quality.")


def require_one_system(model: ScoreModel, source: TrialSource) -> None:
    """Refuse several systems for a model of one system.

    Raises
    ------
    FormatError
        If one file contains several; the message shows how to select one.
    InputError
    """
    names = source.systems
    if model.is_fusion or len(names) == 1:
        return
    if source.batch is not None and len(source.paths) == 1:
        raise several_systems(display_name(source.paths[0]), names)
    raise InputError(
        f"scores: {len(names)} systems ({', '.join(names)}), but a model of kind {model.kind!r} is for one. Name one, "
        "or fuse them (deciban fuse)."
    )


def refuse_twice(paths: Iterable[Any]) -> None:
    """Refuse the same file for two systems; objects and open files are not compared.

    Raises
    ------
    InputError
    """
    seen: set[str] = set()
    for path in paths:
        if not isinstance(path, str | os.PathLike) or str(path) == "-":
            continue
        if os.path.realpath(path) in seen:
            raise InputError(
                f"{display_name(path)}: given twice, but a second copy of a system adds no information. Name every "
                "file once."
            )
        seen.add(os.path.realpath(path))


def require_same_places(trained: Sequence[str], tested: Sequence[str]) -> None:
    """Refuse systems of training and test that have the same name at different positions, in the order of the model.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_same_places(["a", "b"], ["x", "b"])
    """
    for k, name in enumerate(tested):
        if name in trained and trained.index(name) != k:
            raise InputError(
                f"scores: in the given order, {name} is system {k + 1} of the fusion for the test, but system "
                f"{trained.index(name) + 1} for training. Give both in the order of training of the model, or with "
                "the names in training."
            )


def order_of_training(values: Sequence[str], trained: Sequence[str], n_systems: int) -> tuple[list[int], list[Message]]:
    """Match the given systems with the systems of training.

    Parameters
    ----------
    values : sequence of str
        Names of the systems in the given order.
    trained : sequence of str
        Names in training; empty if unknown.
    n_systems : int
        Number of systems in training.

    Returns
    -------
    list of int
        For each system of training, the position of the given system.
    list of Message
        Messages about the order.

    Raises
    ------
    InputError
        If the number differs, or if some names imply another order and other names are unknown.

    Examples
    --------
    >>> order_of_training(["b", "a"], ["a", "b"], 2)[0]
    [1, 0]
    >>> print(*order_of_training(["x", "y"], ["a", "b"], 2)[1])
    warn  systems are taken in the order given: x as a, y as b
    """
    names = list(values)
    if len(values) > n_systems and trained and set(trained) <= set(values) and len(set(values)) == len(values):
        unused = ", ".join(name for name in values if name not in trained)
        return [names.index(name) for name in trained], [Message("note", "", f"not part of the fusion: {unused}")]
    if len(values) != n_systems:
        known = f" ({', '.join(trained)})" if trained else ""
        raise InputError(
            f"scores: {counted(len(values), 'system')} ({', '.join(values)}), but the fusion was trained on "
            f"{n_systems:,}{known}. Give the score file of each of them."
        )
    if set(values) == set(trained) and len(set(values)) == len(values):
        order = [names.index(name) for name in trained]
        if order == sorted(order):
            return order, []
        return order, [Message("note", "", f"systems in the order of training, by their names: {', '.join(trained)}")]
    wrong = next((k for k, name in enumerate(values) if trained and name in trained and trained[k] != name), None)
    if wrong is not None:
        raise InputError(
            f"scores: {values[wrong]} is system {list(trained).index(values[wrong]) + 1} of the fusion, but was given "
            f"as number {wrong + 1}, and other names do not occur in training ({', '.join(trained)}). Give the systems "
            "in the order of training, or all with their names."
        )
    pairs = ", ".join(f"{name} as {old}" for name, old in zip(values, trained, strict=False) if name != old)
    words = pairs if trained else "their names in training are unknown"
    return list(range(n_systems)), [Message(WARNING, "", f"systems are taken in the order given: {words}")]


def order_for(
    model: ScoreModel, names: Sequence[str], renaming: RenamedSystems | None
) -> tuple[list[int], list[Message]]:
    """Return the positions of the systems of a fusion, and messages; see `order_of_training`."""
    trained = () if model.training_ is None else model.training_.systems
    return order_of_training(known_by(names, renaming, trained), trained, model.n_systems_)


def ways_message(n: int, subset: Sequence[int], systems: Sequence[str]) -> Message:
    """Return a message about the number of trials that a fusion of some systems has fused."""
    return Message("note", "", f"{counted(n, 'trial')} by the fusion of {' + '.join(systems[k] for k in subset)}")


@dataclass(frozen=True, slots=True, eq=False)
class PartlyScoredTrials:
    """Trials that at least one system has scored.

    Attributes
    ----------
    source : TrialSource
    seen : AvailableSystems or None
        Available scores; None if no score is missing.
    messages : tuple of Message
        Messages about missing scores.
    """

    source: TrialSource
    seen: AvailableSystems | None = None
    messages: tuple[Message, ...] = ()

    @classmethod
    def of(cls, source: TrialSource, options: Options) -> PartlyScoredTrials:
        """Find out which systems scored which trials, in one pass if scores can be missing."""
        trials = cls._without_empty(source, options, "any score")
        if trials.seen is None:
            return trials
        notes = [
            Message("note", "", f"{counted(n, 'trial')} without a score of {system}")
            for system, n in zip(source.systems, trials.seen.n_without, strict=True)
            if n
        ]
        return replace(trials, messages=(*notes, *trials.messages))

    @classmethod
    def _without_empty(cls, source: TrialSource, options: Options, what: str) -> PartlyScoredTrials:
        """Leave out the trials that no system scored, with a message about their number."""
        if not source.incomplete:
            return cls(source)
        with options.scale.engine() as engine:
            seen = scored_by(source, engine)
        if not any(seen.n_without):
            return cls(replace(source, incomplete=False))
        words = f"{counted(seen.n_none, 'trial')} without {what} left out"
        messages = (Message(WARNING, "", words),) if seen.n_none else ()
        return cls(having(source, range(len(source.systems)), every=False), seen, messages)

    def choose(self, systems: Sequence[int], options: Options) -> PartlyScoredTrials:
        """Return the trials that at least one of some systems scored, with these systems in this order."""
        own = ordered(self.source, systems=systems)
        if self.seen is None or own is self.source:
            return replace(self, source=own)
        result = self._without_empty(own, options, f"a score of {' or '.join(own.systems)}")
        return replace(result, messages=(*self.messages, *result.messages))

    @property
    def complete(self) -> TrialSource | None:
        """Trials that all systems scored, for comparisons; None if a class has no such trials."""
        every = tuple(range(len(self.source.systems)))
        if self.seen is None:
            return self.source
        return having(self.source, every) if all(self.seen.counts.get(every, (0, 0))) else None


def made_of(
    model: ScoreModel, scored: PartlyScoredTrials, options: Options
) -> tuple[PartlyScoredTrials, TrialSource, TrialSource, list[Message]]:
    """Match a trained model with the systems of a source, and apply it.

    Returns
    -------
    Scored
        The systems in the order of training.
    TrialSource
        The same, with the classes in the order of training, too.
    TrialSource
        Output of the model for trials of positive weight.
    list of Message

    Raises
    ------
    FormatError, InputError
        If systems or classes differ from training, or the model refuses a trial in memory.
    """
    source, messages = scored.source, list[Message]()
    kind = require_kind_of_source(model, source)
    require_one_system(model, source)
    if model.is_fusion:
        order, notes = order_for(model, source.systems, source.renamed)
        before = scored.messages
        scored = scored.choose(order, options)
        messages += [*scored.messages[len(before) :], *notes]
        scored, source = replace(scored, messages=before), scored.source
    kind.require_model(model, options.reading, source.classes, source.units)
    messages += _ways(model, source, options)
    own, notes = in_class_order(model, source)
    result = mapped(counting(own), model, kind.name_after(model, source.systems))
    result = ordered(result, classes=source.classes or None)
    return scored, own, result, [*messages, *notes]


def in_class_order(model: ScoreModel, source: TrialSource) -> tuple[TrialSource, list[Message]]:
    """Return a source with its classes in the order of training, and messages.

    Raises
    ------
    InputError
        If the classes differ.
    """
    classes, messages = kind_called(model.scores_kind).class_order(model, source.classes, source.name)
    return ordered(source, classes=classes or None), messages


def _ways(model: Any, source: TrialSource, options: Options) -> list[Message]:
    """Return messages about the fusions that are used for trials with missing scores."""
    if not model.of_subsets or not source.incomplete:
        return []
    with options.scale.engine() as engine:
        counts = scored_by(source, engine).counts
    ways = [(subset, sum(each)) for subset, each in counts.items() if len(subset) < len(source.systems)]
    in_order = sorted(ways, key=lambda one: (-len(one[0]), one[0]))
    return [ways_message(n, subset, source.systems) for subset, n in in_order]


def sides_of(source: TrialSource) -> tuple[str, ...]:
    """Return the sides whose names are held out together; empty if every trial is a group."""
    if source.trials is not None:
        return pairs_of(source.trials)
    return PAIR if source.groups else ()


def require_groups(source: TrialSource, *request: HoldOut | None) -> None:
    """Refuse a source that was opened with other groups for cross-validation.

    Raises
    ------
    InputError
    """
    for held in request:
        fits = held is None or source.groups in ((held.groups,) if held.groups else ((), PAIR))
        if not fits and source.groups is not None:  # without groups, a later check raises an error
            raise InputError(
                f"cross_validate: {source.name} was opened to hold out by {' and '.join(source.groups) or 'trial'}, "
                "but other groups are requested. Name the files instead, or open the source again (open_trials, "
                "groups=)."
            )


def fit_source(model: ScoreModel, source: TrialSource, options: Options, units: UnitsOfSource | None = None) -> None:
    """Train a model in place; errors contain the name of the trial.

    Parameters
    ----------
    model : ScoreModel
    source : TrialSource
    options : Options
        Options for engine and memory.
    units : UnitsOfSource, optional
        Units for the uncertainty of training.
    """
    with _running(source, options) as (engine, memory), without_measure_warnings(), without_error_warnings():
        own: TrialUnits | BatchUnits | None = None
        if units is not None and engine is None:
            own = source.held_units
        elif units is not None and engine is not None:
            own = replace(units, source=source, engine=engine).for_training()
        model.fit_source(source, engine, memory, units=own)


@contextmanager
def _running(source: TrialSource, options: Options) -> Iterator[tuple[Engine | None, int]]:
    """Yield an engine and its memory; for a batch in memory, yield None and add names of trials to errors."""
    if source.batch is not None:
        with naming_rows(source.batch, source.systems, source.name):
            yield None, 0
        return
    with options.scale.engine() as engine:
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        yield engine, memory


def crossed(source: TrialSource, model: ScoreModel, out: HoldOut, options: Options, name: str) -> TrialSource:
    """Return the cross-validated output of a model for the training trials.

    Raises
    ------
    InputError
        If the trials cannot be divided like this, or the model cannot be trained without some of them.
    """
    with _parts(source, out, options) as parts:
        result = parts.crossed(model, name)
        batch = result.batch
    if batch is None:
        return result
    is_partial = batch.scores[0].ndim == 1 and bool(np.isnan(batch.scores[0]).any())  # trials of weight 0
    return having(result, (0,)) if is_partial else result


@contextmanager
def _parts(source: TrialSource, out: HoldOut, options: Options) -> Iterator[SourceParts]:
    """Yield trials with their folds."""
    groups = source.groups if source.trials is None else groups_of(source.trials, out.by)
    if source.classes and isinstance(groups, tuple) and len(groups) > 1:
        raise InputError(_TWO_SIDES)
    with _running(source, options) as (engine, memory):
        if engine is None:
            yield SourceParts.in_memory(replace(source, groups=out.groups), out.parts, groups=groups)
        else:
            yield SourceParts.of(source, engine, out.parts, memory=memory)


_TWO_SIDES = "cross_validate: two columns are for trials with two sides. Name one, such as speaker."


def selected(source: TrialSource | None, model: Any, held: HoldOut, options: Options, progress: Progress) -> Selection:
    """Select systems on the trials that all of them scored.

    Raises
    ------
    InputError
        If the model is not a two-class fusion, or all systems have scored trials of only one class.
    """
    if not model.is_fusion or not kind_called(model.scores_kind).compares_systems:
        raise InputError("select: is for two-class fusions. Leave it out.")
    if source is None:
        raise InputError(
            "scores: no targets, or no non-targets, have scores of all systems, so the systems cannot be compared. "
            "Leave out the system with the most missing scores."
        )
    whole = counting(source)
    with _parts(whole, held, options) as parts:
        result = Search(parts, model, source.systems, progress=progress).selection(LEAST_GAIN)
    return replace(result, held_out=held.words(sides_of(whole)))
