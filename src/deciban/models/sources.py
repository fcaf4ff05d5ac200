"""Trials of two or more classes that are read in batches, as models are trained on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Names
from deciban.core.by_value import Additive
from deciban.core.classes.certainty import CountedTrials, which_count
from deciban.core.training.batches import PartsOfClassTrials, PartsOfTrials
from deciban.core.training.linear_objective import Trials
from deciban.core.training.sums import T
from deciban.errors import InputError
from deciban.models.mapped import mapped
from deciban.models.model import Plain, Training, digits_of, in_digits
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, Columns, HeldPiece, Piece, ShardSource, Wanted
from deciban.trials.speakers import UnitsOfPieces
from deciban.types import BoolArray, CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.core.resampling.units import TrialUnits
    from deciban.metrics.scores import SortedScores
    from deciban.models.score_model import Form

Makes: TypeAlias = Callable[[Chunk], tuple[T, BoolArray | slice]]
"""Makes trials to train on of a piece, and tells which rows of the piece they are of; can be pickled."""


@dataclass(frozen=True, slots=True)
class Record(Additive):
    """What is kept of trials in the record of training; of more trials it adds up.

    Attributes
    ----------
    counts : tuple of int
        Trials of each class; of two, non-targets and targets.
    digits : int
        Of the fingerprint.
    """

    counts: tuple[int, ...]
    digits: int

    @classmethod
    def of(cls, n_classes: int, chunk: Chunk) -> Record:
        """Of one batch."""
        labels = chunk.labels
        if not len(labels):
            return cls((0,) * n_classes, 0)
        measures = [column for table in (chunk.quality or {}).values() for column in table.T]
        seen: Any = [*chunk.scores, *measures]
        if not measures and (isinstance(chunk.scores, Columns) or chunk.scores[0].ndim > 1):
            seen = chunk.stacked.reshape(len(labels), -1)
        n_tar = int(np.count_nonzero(labels))
        of_two = labels.dtype == np.bool_
        counts = (len(labels) - n_tar, n_tar) if of_two else tuple(np.bincount(labels, minlength=n_classes).tolist())
        return cls(counts, digits_of(seen, labels, chunk.float_weight))


class LabelledSource(ABC):
    """Labelled trials of a source, of two classes or of many, to train on.

    Parameters
    ----------
    source : ShardSource
    engine : Engine, optional
        Where passes run. Without one all trials are in memory, in one batch, and looks are had at this batch.
    memory : int, optional
        Bytes that may be taken, which limit samples.
    units : UnitsOfPieces or TrialUnits, optional
        Clusters for the uncertainty of training; in memory, those of the batch are taken in their place.

    Attributes
    ----------
    n_classes : int
    classes : tuple of str or None
        Their names, if there are more than two and they have some.
    counts_of : mapping of str to int
        The classes that the record of training counts, by the names that it uses.
    """

    n_classes: int
    classes: Names = None
    counts_of: Mapping[str, int]

    quality: tuple[str, ...] = ()
    """Quality measures that are looked at, too."""

    def __init__(
        self,
        source: ShardSource,
        engine: Engine | None = None,
        memory: int | None = None,
        units: UnitsOfPieces | TrialUnits | None = None,
    ) -> None:
        self.source, self.engine, self.memory = source, engine, memory
        self.batch = source.batch if engine is None else None
        own = None if engine is not None or units is None else source.held_units
        self.units: Any = units if own is None else UnitsOfPieces(own)
        self._record: Record | None = None

    @abstractmethod
    def require_all(self, counts: Sequence[int]) -> None:
        """Refuse trials of which a class is missing, given how many there are of each.

        Raises
        ------
        InputError
            If one is.
        """

    @abstractmethod
    def on(self, source: ShardSource) -> Self:
        """The same training on other trials."""

    def require_one_system(self, model: str) -> None:
        """Refuse several.

        Raises
        ------
        InputError
            If there are.
        """
        if len(self.source.systems) != 1:
            names = ", ".join(self.source.systems)
            raise InputError(f"{model}: takes one system, and {self.source.name} holds {names}. Choose one, or fuse.")

    def look(self, look: Callable[[Chunk], Any]) -> Any:
        """What a look at all pieces finds: one pass; the first also notes what the record of training keeps."""
        if self.batch is not None or self._record is not None:
            return found_in(self.source, self.engine, self._wanted, look)
        found = found_in(self.source, self.engine, self._wanted, partial(_noted, look, self.n_classes))
        record = None if found is None else found.record
        self.require_all(() if record is None else record.counts)
        self._record = record
        return found.found

    @property
    def _wanted(self) -> Wanted:
        systems = tuple(range(len(self.source.systems)))
        return Wanted(systems, truth=True, weight=self.source.has_weights, quality=self.quality)

    @property
    def n_trials(self) -> int:
        """How many there are, once they have been looked at."""
        return self.source.n_rows if self._record is None else sum(self._record.counts)

    def look_by_unit(self, look: Callable[[Chunk, TrialUnits], Any]) -> Any:
        """What a look at the trials that count finds, with their units among all; one pass."""
        assert self.units is not None  # noqa: S101  # who asks knows them
        step = partial(_with_units, look, self.units)
        return found_in(self.source, self.engine, self.units.wanted(self._wanted), step)

    def passes(self, make: Makes[Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return the passes of `Parts` over the trials that a function makes of each piece."""
        return (
            lambda look: self.look(partial(_made, make, look)),
            lambda look, _units: self.look_by_unit(partial(_made_by_unit, make, look)),
        )

    def of_units(self) -> tuple[Self, TrialUnits | None]:
        """Return the trials that count in the uncertainty and their units; None if no units were given."""
        if self.units is None or self.batch is None:
            return self, None if self.units is None else self.units.units
        own = self.batch.counting
        assert own.units is not None  # noqa: S101  # they are those of the batch
        own = replace(own, units=own.units.only_used())
        return self.on(replace(self.source, pieces=(HeldPiece(own, self.source.name),))), own.units

    def training(self, results: Mapping[str, Plain]) -> Training:
        """Return the record of a training on these trials."""
        record = self._record or found_in(self.source, self.engine, self._wanted, partial(Record.of, self.n_classes))
        counts = {name: record.counts[k] for name, k in self.counts_of.items()}
        return Training(counts, in_digits(record.digits), results=results)


class SourceTrials(LabelledSource):
    """Trials of two classes of a source, to train on.

    Parameters
    ----------
    source, engine, memory, units
        As of `LabelledSource`.

    Raises
    ------
    InputError
        If the source is of many classes, or a class is missing in memory, or has no weight.
    """

    n_classes = 2
    counts_of: Mapping[str, int] = {"n_tar": 1, "n_non": 0}

    def __init__(
        self,
        source: ShardSource,
        engine: Engine | None = None,
        memory: int | None = None,
        units: UnitsOfPieces | TrialUnits | None = None,
    ) -> None:
        if source.classes:
            raise InputError(f"{source.name}: many classes, and the model is of two. Take one of many classes.")
        super().__init__(source, engine, memory, units)
        self._parts: dict[Any, Trials | PartsOfTrials] = {}
        if self.batch is not None:
            _validate.both_classes(self.batch.labels, self.batch.weight)

    def require_all(self, counts: Sequence[int]) -> None:
        """See `LabelledSource.require_all`."""
        for k, kind in ((1, "target"), (0, "non-target")):
            if not counts or not counts[k]:
                raise InputError(f"is_target: none of the {sum(counts)} trials is a {kind}. Both classes are needed.")

    def on(self, source: ShardSource) -> Self:
        """See `LabelledSource.on`."""
        return type(self)(source, self.engine, self.memory, self.units)

    def linear(self, form: Form) -> Trials | PartsOfTrials:
        """Trials to train weights of columns on."""
        return self.made_by(partial(_formed, form), key=form)

    def made_by(self, make: Makes[Trials], key: object) -> Trials | PartsOfTrials:
        """Trials to train on that a function makes of each piece; the last ones are kept by their key."""
        if key in self._parts:
            return self._parts[key]
        made: Trials | PartsOfTrials
        if self.batch is None:
            made = PartsOfTrials(*self.passes(make), memory=self.memory)
        else:
            made, rows = make(self.batch)
            made = made if isinstance(rows, slice) else replace(made, numbers=np.flatnonzero(rows))
        self._parts = {key: made}
        return made

    def through(self, model: Any) -> SourceTrials:
        """Train a calibrator on them; the same trials with what it makes of their scores."""
        model.training_ = self.training(model._fit(self))  # noqa: SLF001  # a part of the training of a chain
        (name,) = self.source.systems
        return self.on(mapped(self.source, model, name))

    def without(self, group: int, n_groups: int) -> SourceTrials:
        """The trials without those of a group of units."""
        assert self.units is not None  # noqa: S101  # who asks knows them
        return self.on(self.source.map(partial(_left_out, self.units, group, n_groups)))

    @property
    def ranks(self) -> SortedScores:
        """The scores of both classes, sorted."""
        if self.engine is None:
            from deciban.metrics.scores import SortedScores

            return SortedScores(**self.source.held.as_sets())
        self.look(_nothing)
        found: SortedScores = self.engine.ranks(self.source, self.memory or 0)
        return found


def _left_out(units: UnitsOfPieces, group: int, n_groups: int, piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece without a group of units."""
    chunk = piece.read(replace(units.wanted(wanted, with_keys=True), truth=True, weight=True)).counting
    if chunk.truth is None or not len(chunk.truth):
        return chunk
    is_out = [side == group for side in units.groups(chunk, n_groups)]
    return chunk.take(np.flatnonzero(~np.logical_or.reduce(is_out)))


def _formed(form: Form, chunk: Chunk) -> tuple[Trials, slice]:
    """Make trials whose columns are of some form."""
    columns, base = form(chunk.scores)
    together = columns.together if isinstance(columns, Columns) else columns
    return Trials.of(together, chunk.labels, weights=chunk.float_weight, base=base), slice(None)


def _made(make: Makes[Any], look: Callable[[Any], Any], chunk: Chunk) -> Any:
    """Look at the trials that are made of a piece."""
    if chunk.truth is None or not len(chunk.truth):
        return None
    trials, _ = make(chunk)
    return look(trials) if len(trials) else None


def _made_by_unit(make: Makes[Any], look: Callable[[Any, TrialUnits], Any], chunk: Chunk, units: TrialUnits) -> Any:
    """Look at the trials that are made of a piece, with their units."""
    trials, rows = make(chunk)
    return look(trials, units.take(rows)) if len(trials) else None


def _with_units(look: Callable[[Chunk, TrialUnits], Any], units: UnitsOfPieces, chunk: Chunk) -> Any:
    """Look at the trials of a piece that count, with their units."""
    own = chunk.counting
    if own.truth is None or not len(own.truth):
        return None
    found = look(own, units.of(own))
    return found.fold() if units.are_trials else found


def _noted(look: Callable[[Chunk], Any], n_classes: int, chunk: Chunk) -> _FoundAndNoted:
    """Look at a piece, and note what is kept of it."""
    return _FoundAndNoted(look(chunk), Record.of(n_classes, chunk))


@dataclass(frozen=True, slots=True)
class _FoundAndNoted(Additive):
    found: Any
    record: Record


def _nothing(chunk: Chunk) -> None:
    """A look that finds nothing."""


class SourceClasses(LabelledSource):
    """Labelled trials of many classes of a source.

    Parameters
    ----------
    source, engine, memory, units
        As of `LabelledSource`.
    prior : array_like, optional
        Of training; flat if left out.

    Attributes
    ----------
    prior : (n_classes,) array
    """

    def __init__(
        self,
        source: ShardSource,
        engine: Engine | None = None,
        memory: int | None = None,
        units: UnitsOfPieces | TrialUnits | None = None,
        *,
        prior: ArrayLike | None = None,
    ) -> None:
        if not source.classes:
            raise InputError(f"{source.name}: two classes, and the model is of many. Take one of two.")
        super().__init__(source, engine, memory, units)
        self.classes, self.n_classes = None if source.is_numbered else source.classes, len(source.classes)
        self.counts_of = {name: k for k, name in enumerate(source.classes)}
        self.prior = _validate_classes.prior(prior, self.n_classes)
        if self.batch is not None:
            self._require(self.batch.labels, self.batch.weight)

    def require_all(self, counts: Sequence[int]) -> None:
        """See `LabelledSource.require_all`."""
        self._require(np.flatnonzero(counts))

    def _require(self, label: IntArray, weight: CountArray | None = None) -> None:
        about: Any = {"weights": weight, "needed": self.prior > 0.0, "classes": self.classes}
        _validate_classes.all_classes(label, self.n_classes, **about)

    def on(self, source: ShardSource) -> Self:
        """See `LabelledSource.on`."""
        return type(self)(source, self.engine, self.memory, self.units, prior=self.prior)

    @cached_property
    def counted(self) -> Any:
        """Those that count in training: `CountedTrials`, or `PartsOfClassTrials` where passes read them."""
        if self.batch is not None:
            return _counted(self.prior, self.classes, self.batch)[0]
        about: Any = {"is_possible": self.prior > 0.0, "names": self.classes, "memory": self.memory}
        passes = self.passes(partial(_counted, self.prior, self.classes))
        return PartsOfClassTrials(*passes, prior=self.prior[self.prior > 0.0], **about)

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count."""
        found = np.zeros(self.n_classes)
        found[self.prior > 0.0] = self.counted.amounts
        return found


def _counted(prior: FloatArray, names: Names, chunk: Chunk) -> tuple[CountedTrials, BoolArray]:
    """Make trials of those of a piece that count."""
    truth, weight = chunk.labels, chunk.float_weight
    counted = CountedTrials.of(chunk.stacked, truth, prior, weight, names)
    return counted, which_count(truth, prior, weight)
