"""Models given as objects or files, fitted to a source or applied to it: systems, classes and trials that fit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from deciban._files import PathLike, display_name
from deciban.analysis.systems import LEAST_GAIN, Criterion, LabelledData, Search, Selection, Tried, chosen_by
from deciban.calibration.cross import SourceParts
from deciban.errors import InputError
from deciban.io.recognition import Recognized, readable_as
from deciban.io.source import several_systems
from deciban.messages import WARNING, Message, counted
from deciban.models import Model, load_model
from deciban.models.mapped import ScoredBy, counting, having, mapped, naming_rows, ordered, scored_by
from deciban.models.model import digits_of, in_digits
from deciban.models.score_model import ARGUMENTS, ScoreModel, missing_measures_are_known, reasons_are_shown
from deciban.trials import Trials
from deciban.trials.lists import PAIR
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, ShardSource, Wanted
from deciban.types import AnyArray, Progress
from deciban.workflows.kinds import AnyKind, kind_called, kind_of
from deciban.workflows.options import HowSure, KindName, Options, Renamed, known_by
from deciban.workflows.units import HoldOut, UnitsOfSource, groups_of, pairs_of


def _digits(model: ScoreModel, chunk: Chunk) -> AnyArray | None:
    """Find the fingerprint of the trials of a piece, with their weights and without; sums wrap around."""
    if chunk.truth is None or not len(chunk.truth):
        return None
    measures = chunk.quality or {}
    seen = model.seen(chunk.stacked, [measures[name] for name in ARGUMENTS if name in measures])
    weights = [None] if chunk.weight is None else [chunk.float_weight, None]
    return np.array([digits_of(seen, chunk.truth, one) for one in weights], np.uint64)


def is_of_training(
    model: ScoreModel, source: ShardSource, engine: Engine, counts: Mapping[str, int] | None = None
) -> bool | None:
    """Whether a model was trained on these trials, by their fingerprint; None if it does not know: one pass.

    With or without the weights: a column of them may be named that training did not have. Where ``counts``, how many
    trials there are of each class, are known and others, no pass is needed.
    """
    training = model.training_
    if training is None:
        return None
    if counts is not None and dict(counts) != training.counts:
        return False
    systems = tuple(range(len(source.systems)))
    wanted = Wanted(systems, truth=True, weight=source.has_weights, quality=model.quality_arguments)
    found = found_in(source, engine, wanted, partial(_digits, model), "comparing with the trials of training")
    return found is not None and any(in_digits(one) == training.fingerprint for one in found.tolist())


def seen_before(
    model: ScoreModel, source: ShardSource, engine: Engine, *, of_training: bool, counts: Mapping[str, int] | None
) -> list[Message]:
    """Say whether trials are those of training, where that is not what one should think.

    Parameters
    ----------
    model : ScoreModel
    source : ShardSource
        Of the systems and with the classes of training, in its order.
    engine : Engine
    of_training : bool
        Whether these should be the trials of training.
    counts : mapping of str to int, optional
        How many there are of each class, if that is known.
    """
    training, same = model.training_, is_of_training(model, source, engine, counts)
    if training is None or same == of_training:
        return []
    column = training.results.get("weights_from")
    if column is not None and not source.has_weights:
        words = (
            f"the model was trained with the weights of a column {column!r}: name it (--weights) to compare the trials"
        )
    elif same:
        words = "the model was trained on these very trials, which flatters it"
    else:
        words = "these are not the trials that the model was trained on (their fingerprint is another one)"
    return [Message("note", "", words)]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model and the file that it came from, loaded once: to find out what it is for, and then to use it.

    Attributes
    ----------
    model : Model
    path : path or None
        None if it was given as an object.
    """

    model: Model
    path: PathLike | None

    @classmethod
    def of(cls, model: AnyModel) -> LoadedModel:
        """Load a model, unless it is there.

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
        """What messages call it."""
        return type(self.model).__name__ if self.path is None else display_name(self.path)


AnyModel: TypeAlias = PathLike | Model | LoadedModel


def path_of_model(model: AnyModel | None) -> PathLike | None:
    """The file that a model comes from, if there is one; it is not opened."""
    if isinstance(model, LoadedModel):
        return model.path
    return None if isinstance(model, Model) else model


def trained_model(model: AnyModel, kind: KindName | None = None) -> ScoreModel:
    """A trained model, given or from its file.

    Parameters
    ----------
    model : path, Model or LoadedModel
    kind : {"two-class", "classes"}, optional
        What the scores are about that it is for.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.load_model`; or if the model does not map scores, is for scores of the other kind, or not
        trained.
    """
    given = LoadedModel.of(model)
    shown, loaded = given.shown, given.model
    if not isinstance(loaded, ScoreModel):
        raise InputError(f"{shown}: a model of kind {loaded.kind!r} does not map scores to log-likelihood ratios.")
    if kind is not None and loaded.scores_kind != kind:
        raise InputError(
            f"{shown}: a model of kind {loaded.kind!r} is for {kind_called(loaded.scores_kind).about}, but the scores "
            f"are of {kind_called(kind).about}."
        )
    loaded.require_fitted()
    return loaded


def require_kind(model: ScoreModel, scores: Recognized, key: Recognized | None, options: Options) -> Options:
    """Options with the kind of the model, whose scores files have to hold.

    Raises
    ------
    InputError
        If the user said otherwise, or the files can hold the other kind only.
    """
    wanted = kind_called(model.scores_kind)
    try:
        found = kind_of(scores, key, options)
    except InputError:  # they could be of either kind, or of none: reading says what is the matter
        found = wanted
    if found is not wanted and not _is_key(scores):
        raise InputError(
            f"{display_name(scores.path)}: scores of {found.about}, but a model of kind {model.kind!r} "
            f"({type(model).__name__}) is for {wanted.about}.{wanted.way_out}"
        )
    return replace(options, kind=model.scores_kind)


def require_kind_of_source(model: ScoreModel, source: ShardSource) -> AnyKind:
    """Return the kind of the scores of a source, which must be that of a model.

    Raises
    ------
    InputError
    """
    kind, wanted = kind_called(source.kind_name()), kind_called(model.scores_kind)
    if kind is not wanted:
        raise InputError(
            f"{source.name}: scores of {kind.about}, but a model of kind {model.kind!r} ({type(model).__name__}) is "
            f"for {wanted.about}.{wanted.way_out}"
        )
    return kind


def _is_key(scores: Recognized) -> bool:
    """Whether a file that should hold scores is a key; reading it says so."""
    held = readable_as(scores, ("scores", "class-scores", "key", "class-key"))
    return "scores" not in held and ("key" in held or held == ("class-key",))


def model_message(path: PathLike | None, loaded: ScoreModel) -> list[Message]:
    """Say which model came from a file, and what it was trained on."""
    if path is None:
        return []
    words = loaded.kind
    if loaded.training_ is not None:
        words += f"   trained on {kind_called(loaded.scores_kind).counts_in_words(loaded.training_.counts)}"
    return [Message("model", display_name(path), words)]


def require_quality(model: ScoreModel, *, is_given: bool) -> None:
    """Refuse to go on without the quality measures that a model needs, or with some that it would overlook.

    Raises
    ------
    InputError
    """
    needed = model.quality_arguments
    if needed and not is_given:
        sides = " and ".join(name.removesuffix("_quality") for name in needed)
        raise InputError(
            f"quality: none given, but the fusion was trained with {sides} measures. Name their file (--quality FILE)."
        )
    if is_given and not needed:
        raise InputError("quality: given, but the fusion was trained without. Leave it out, or train with it.")


def require_one_system(model: ScoreModel, source: ShardSource) -> None:
    """Refuse several systems for a model of one.

    Raises
    ------
    FormatError
        If one file holds them: it says how to choose one.
    InputError
    """
    names = source.systems
    if model.is_fusion or len(names) == 1:
        return
    if source.batch is not None and len(source.paths) == 1:
        raise several_systems(display_name(source.paths[0]), names)
    raise InputError(
        f"scores: {len(names)} systems ({', '.join(names)}), but a model of kind {model.kind!r} is for one. Give one, "
        "or fuse them (deciban fuse)."
    )


def refuse_twice(paths: Iterable[Any]) -> None:
    """Refuse to take one file for two systems; objects and open files are not compared.

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
                f"{display_name(path)}: given twice. A system that is there twice says nothing that it does not say "
                "alone; name every file once."
            )
        seen.add(os.path.realpath(path))


def require_same_places(trained: Sequence[str], tested: Sequence[str]) -> None:
    """Refuse systems of training and of test, both in the order of a model, that have one name in two places.

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
                f"scores: by the order given, {name} is system {k + 1} of the fusion for the test, and system "
                f"{trained.index(name) + 1} for training. Give both in the order of training of the model, or under "
                "the names that the systems had there."
            )


def order_of_training(given: Sequence[str], trained: Sequence[str], n_systems: int) -> tuple[list[int], list[Message]]:
    """Find out which of the systems that were given is which of those of training.

    Parameters
    ----------
    given : sequence of str
        Names of the systems, in the order given.
    trained : sequence of str
        Names in training; empty if they are not known.
    n_systems : int
        How many there were.

    Returns
    -------
    list of int
        For each system of training its position among those given.
    list of Message
        What is to be said about it.

    Raises
    ------
    InputError
        If they are not as many, or some names say another order than the one given while others say nothing.

    Examples
    --------
    >>> order_of_training(["b", "a"], ["a", "b"], 2)[0]
    [1, 0]
    >>> print(*order_of_training(["x", "y"], ["a", "b"], 2)[1])
    warn  systems in the order given: x for a, y for b
    """
    names = list(given)
    if len(given) > n_systems and trained and set(trained) <= set(given) and len(set(given)) == len(given):
        unused = ", ".join(name for name in given if name not in trained)
        return [names.index(name) for name in trained], [Message("note", "", f"not part of the fusion: {unused}")]
    if len(given) != n_systems:
        known = f" ({', '.join(trained)})" if trained else ""
        raise InputError(
            f"scores: {counted(len(given), 'system')} ({', '.join(given)}), but the fusion was trained on "
            f"{n_systems:,}{known}. Give the scores of each of them."
        )
    if set(given) == set(trained) and len(set(given)) == len(given):
        order = [names.index(name) for name in trained]
        if order == sorted(order):
            return order, []
        return order, [Message("note", "", f"systems in the order of training, by their names: {', '.join(trained)}")]
    wrong = next((k for k, name in enumerate(given) if trained and name in trained and trained[k] != name), None)
    if wrong is not None:
        raise InputError(
            f"scores: {given[wrong]} is system {list(trained).index(given[wrong]) + 1} of the fusion and was given as "
            f"number {wrong + 1}, and other names are not those of training ({', '.join(trained)}). Give the systems "
            "in the order of training, or all under their names."
        )
    pairs = ", ".join(f"{name} for {old}" for name, old in zip(given, trained, strict=False) if name != old)
    words = pairs if trained else "the model does not know their names"
    return list(range(n_systems)), [Message(WARNING, "", f"systems in the order given: {words}")]


def order_for(model: ScoreModel, names: Sequence[str], renaming: Renamed | None) -> tuple[list[int], list[Message]]:
    """Find which system is which of those that a fusion was trained on; see `order_of_training`."""
    trained = () if model.training_ is None else model.training_.systems
    return order_of_training(known_by(names, renaming, trained), trained, model.n_systems_)


def ways_message(n: int, subset: Sequence[int], systems: Sequence[str]) -> Message:
    """Say how many trials were fused by the fusion of some systems."""
    return Message("note", "", f"{counted(n, 'trial')} by the fusion of {' + '.join(systems[k] for k in subset)}")


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Trials that at least one system scored.

    Attributes
    ----------
    source : ShardSource
    seen : ScoredBy or None
        Which scores they have; None if they have all.
    messages : tuple of Message
        How many lack which.
    """

    source: ShardSource
    seen: ScoredBy | None = None
    messages: tuple[Message, ...] = ()

    @classmethod
    def of(cls, source: ShardSource, options: Options) -> Scored:
        """Look which systems scored which trials: one pass, where they may lack some."""
        found = cls._without_empty(source, options, "any score")
        if found.seen is None:
            return found
        notes = [
            Message("note", "", f"{counted(n, 'trial')} without a score of {system}")
            for system, n in zip(source.systems, found.seen.n_without, strict=True)
            if n
        ]
        return replace(found, messages=(*notes, *found.messages))

    @classmethod
    def _without_empty(cls, source: ShardSource, options: Options, what: str) -> Scored:
        """Leave out the trials that no system scored, and say how many these are."""
        if not source.incomplete:
            return cls(source)
        with options.scale.engine() as engine:
            seen = scored_by(source, engine)
        if not any(seen.n_without):
            return cls(replace(source, incomplete=False))
        words = f"{counted(seen.n_none, 'trial')} without {what} left out"
        messages = (Message(WARNING, "", words),) if seen.n_none else ()
        return cls(having(source, range(len(source.systems)), every=False), seen, messages)

    def choose(self, systems: Sequence[int], options: Options) -> Scored:
        """The trials that one of some systems scored at least, with these in this order."""
        own = ordered(self.source, systems=systems)
        if self.seen is None or own is self.source:
            return replace(self, source=own)
        found = self._without_empty(own, options, f"a score of {' or '.join(own.systems)}")
        return replace(found, messages=(*self.messages, *found.messages))

    @property
    def complete(self) -> ShardSource | None:
        """The trials that all systems scored, on which they can be compared; None if a class has none."""
        every = tuple(range(len(self.source.systems)))
        if self.seen is None:
            return self.source
        return having(self.source, every) if all(self.seen.counts.get(every, (0, 0))) else None


def made_of(
    model: ScoreModel, scored: Scored, options: Options
) -> tuple[Scored, ShardSource, ShardSource, list[Message]]:
    """Find the systems of a trained model in a source, and have it map them.

    Returns
    -------
    Scored
        The systems in the order of training.
    ShardSource
        The same with the classes in that order, too.
    ShardSource
        What the model makes of the trials that count.
    list of Message

    Raises
    ------
    FormatError, InputError
        If systems or classes are not those of training, or the model refuses a trial in memory.
    """
    source, messages = scored.source, list[Message]()
    kind = require_kind_of_source(model, source)
    require_one_system(model, source)
    if model.is_fusion:
        order, told = order_for(model, source.systems, source.renamed)
        before = scored.messages
        scored = scored.choose(order, options)
        messages += [*scored.messages[len(before) :], *told]
        scored, source = replace(scored, messages=before), scored.source
    kind.require_model(model, options.reading, source.classes, source.units)
    messages += _ways(model, source, options)
    own, told = in_class_order(model, source)
    result = mapped(counting(own), model, kind.name_after(model, source.systems))
    result = ordered(result, classes=source.classes or None)
    return scored, own, result, [*messages, *told]


def in_class_order(model: ScoreModel, source: ShardSource) -> tuple[ShardSource, list[Message]]:
    """A source with its classes in the order of training, and what is to be said about it.

    Raises
    ------
    InputError
        If they are other classes.
    """
    classes, told = kind_called(model.scores_kind).class_order(model, source.classes, source.name)
    return ordered(source, classes=classes or None), told


def _ways(model: Any, source: ShardSource, options: Options) -> list[Message]:
    """Say by which of its fusions a fusion for subsets of systems fuses trials that lack a score."""
    if not model.of_subsets or not source.incomplete:
        return []
    with options.scale.engine() as engine:
        counts = scored_by(source, engine).counts
    ways = [(subset, sum(each)) for subset, each in counts.items() if len(subset) < len(source.systems)]
    return [
        ways_message(n, subset, source.systems) for subset, n in sorted(ways, key=lambda one: (-len(one[0]), one[0]))
    ]


def data_of(source: ShardSource, how_sure: HowSure | None) -> LabelledData | None:
    """The trials of a source as arrays; None where they are not in memory.

    Parameters
    ----------
    source : ShardSource
    how_sure : HowSure, optional
        Says what intervals evaluations make of the units of the trials.
    """
    batch = source.batch
    if batch is None:
        return None
    return LabelledData(source, None if how_sure is None else how_sure.resampling(batch.units))


def _trials_in_memory(source: ShardSource) -> Trials:
    """The names of the trials of a source in memory."""
    assert source.batch is not None and source.batch.trials is not None  # noqa: S101, PT018  # who asks knows
    return source.batch.trials


def sides_of(source: ShardSource) -> tuple[str, ...]:
    """The sides by whose names trials are held out together; none where each stands for itself."""
    if source.batch is not None:
        return pairs_of(_trials_in_memory(source))
    return PAIR if source.groups else ()


def require_groups(source: ShardSource, *asked: HoldOut | None) -> None:
    """Refuse a source that was opened with other groups than those that are to be held out together.

    Raises
    ------
    InputError
    """
    for held in asked:
        fits = held is None or source.groups in ((held.groups,) if held.groups else ((), PAIR))
        if not fits and source.groups is not None:  # if it was opened with none, that is said later on
            raise InputError(
                f"cross_validate: {source.name} was opened to hold out by {' and '.join(source.groups) or 'trial'}, "
                "which is not what is asked for here. Name the files instead, or open others (open_shards, groups=)."
            )


def fit_source(model: ScoreModel, source: ShardSource, options: Options, units: UnitsOfSource | None = None) -> None:
    """Train a model in place; what is refused for the sake of a trial names it.

    Parameters
    ----------
    model : ScoreModel
    source : ShardSource
    options : Options
        Where passes run, and how much memory they may take.
    units : UnitsOfSource, optional
        With them training finds out how sure it is.
    """
    with _running(source, options) as (engine, memory), missing_measures_are_known(), reasons_are_shown():
        own: Any = None
        if units is not None and engine is None:
            own = source.held_units
        elif units is not None and engine is not None:
            own = replace(units, source=source, engine=engine).for_training()
        model.fit_pieces(source, engine, memory, units=own)


@contextmanager
def _running(source: ShardSource, options: Options) -> Iterator[tuple[Engine | None, int]]:
    """Yield an engine and its memory; None for a batch in memory, whose trials are named in errors."""
    if source.batch is not None:
        with naming_rows(source.batch, source.systems, source.name):
            yield None, 0
        return
    with options.scale.engine() as engine:
        memory = engine.bounded(options.scale.n_bytes)
        engine.make_room(source, memory, n_systems=len(source.systems))
        yield engine, memory


def crossed(source: ShardSource, model: ScoreModel, held: HoldOut, options: Options, name: str) -> ShardSource:
    """What models make of the trials of training that had not seen the like of each.

    Raises
    ------
    InputError
        If trials cannot be held out like that, or a model cannot be trained without some of them.
    """
    with _parts(source, held, options) as parts:
        found = parts.crossed(model, name)
        batch = found.batch
    if batch is None:
        return found
    is_partial = batch.scores[0].ndim == 1 and bool(np.isnan(batch.scores[0]).any())  # of trials of weight 0
    return having(found, (0,)) if is_partial else found


@contextmanager
def _parts(source: ShardSource, held: HoldOut, options: Options) -> Iterator[SourceParts]:
    """Trials with the folds in which they are held out."""
    groups: Any = source.groups if source.batch is None else groups_of(_trials_in_memory(source), held.by)
    if source.classes and isinstance(groups, tuple) and len(groups) > 1:
        raise InputError(_TWO_SIDES)
    with _running(source, options) as (engine, memory):
        if engine is None:
            yield SourceParts.in_memory(source, held.parts, groups=groups)
        else:
            yield SourceParts.of(source, engine, held.parts, memory=memory)


_TWO_SIDES = "cross_validate: two columns are for trials of two sides. Name one, such as speaker."


def selected(source: ShardSource | None, model: Any, held: HoldOut, options: Options, progress: Progress) -> Selection:
    """Choose systems on the trials that all of them scored; None if these are not of both classes.

    Raises
    ------
    InputError
        If the model is no fusion of two classes, or no trials of both classes have all scores.
    """
    if not model.is_fusion or not kind_called(model.scores_kind).compares_systems:
        raise InputError("select: chooses among the systems of a fusion of two classes. Leave it out (--select).")
    if source is None:
        raise InputError(
            "scores: no targets, or no non-targets, have scores of all systems, so that these cannot be compared. "
            "Leave the system out that lacks most."
        )
    whole, criterion = counting(source), Criterion(model, None)
    with _parts(whole, held, options) as parts:
        found = chosen_by(Search(Tried(parts, criterion), source.systems, progress), criterion.words, LEAST_GAIN)
    return replace(found, held_out=held.words(sides_of(whole)))
