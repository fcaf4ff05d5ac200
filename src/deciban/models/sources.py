"""Trials of two or more classes that are read in batches, as models are trained on them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban.core.by_value import Additive
from deciban.core.classes.certainty import CountedTrials, which_count
from deciban.core.training.batches import FirstClassLook, PartsOfClassTrials, PartsOfTrials
from deciban.core.training.linear_objective import Trials
from deciban.core.training.multiclass_training import ClassFit, train_counted
from deciban.core.training.sums import T
from deciban.errors import InputError
from deciban.models.mapped import mapped
from deciban.models.model import Plain, Training, digits_of, in_digits
from deciban.models.score_model import Labelled
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, Columns, HeldPiece, Piece, ShardSource, Wanted
from deciban.trials.speakers import UnitsOfPieces, counting
from deciban.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from deciban.core.classes.transforms import TransformFit
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
        Of non-targets and targets, or of each class.
    digits : int
        Of the fingerprint.
    """

    counts: tuple[int, ...]
    digits: int

    @classmethod
    def of(cls, chunk: Chunk) -> Record:
        """Of one piece."""
        measures = [column for table in (chunk.quality or {}).values() for column in table.T]
        is_matrix = isinstance(chunk.scores, Columns) and not measures
        seen: Any = chunk.stacked if is_matrix else [*chunk.scores, *measures]
        return cls(_counts(chunk), digits_of(seen, chunk.labels, chunk.float_weight) if len(chunk.labels) else 0)


class LabelledSource(ABC):
    """Labelled trials of a source, of two classes or of many, to train on.

    Parameters
    ----------
    source : ShardSource
    engine : Engine, optional
        Where passes run. Without one all trials are in memory, in one batch, and looks are had at this batch.
    units : UnitsOfPieces, optional
        Whose draw makes what is trained uncertain; in memory those of the batch, if it has some.
    """

    def __init__(self, source: ShardSource, engine: Engine | None = None, units: UnitsOfPieces | None = None) -> None:
        self.source, self.engine = source, engine
        self.batch = source.batch if engine is None else None
        own = None if self.batch is None else self.batch.units
        self.units = units if own is None else UnitsOfPieces(own)
        self._record: Record | None = None

    @property
    @abstractmethod
    def noting(self) -> Callable[[Chunk], Record]:
        """What notes of a piece what is kept in the record of training."""

    @abstractmethod
    def require_all(self, counts: Sequence[int]) -> None:
        """Refuse trials of which a class is missing, given how many there are of each.

        Raises
        ------
        InputError
            If one is.
        """

    @abstractmethod
    def with_units(self, source: ShardSource) -> Self:
        """The same training on other trials, with the units of their batch."""

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

    quality: tuple[str, ...] = ()
    """Which quality measures are looked at, too."""

    def look(self, look: Callable[[Chunk], Any]) -> Any:
        """What a look at all pieces finds: one pass; the first also notes what the record of training keeps."""
        if self.batch is not None or self._record is not None:
            return self._look(look)
        found = self._look(partial(_noted, look, self.noting))
        record = None if found is None else found.record
        self.require_all(() if record is None else record.counts)
        self._record = record
        return found.found

    def _look(self, look: Callable[[Chunk], Any]) -> Any:
        return found_in(self.source, self.engine, self._wanted, look)

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
        own = counting(self.batch)
        assert own.units is not None  # noqa: S101  # they are those of the batch
        own = replace(own, units=own.units.only_used())
        return self.with_units(replace(self.source, pieces=(HeldPiece(own, self.source.name),))), own.units

    def _training(self, counted: Sequence[str], results: Mapping[str, Plain]) -> Training:
        """Return the record of a training; ``counted`` names the classes."""
        record = self._look(self.noting) if self._record is None else self._record
        return Training(dict(zip(counted, record.counts, strict=True)), in_digits(record.digits), results=results)


class SourceTrials(LabelledSource):
    """Trials of two classes of a source, to train on.

    Parameters
    ----------
    source : ShardSource
    engine, units
        As of `LabelledSource`.
    memory : int
        Bytes that may be taken.

    Raises
    ------
    InputError
        If the source is of many classes, or trials in memory lack a class.
    """

    def __init__(
        self, source: ShardSource, engine: Engine | None = None, memory: int = 0, units: UnitsOfPieces | None = None
    ) -> None:
        if source.classes:
            raise InputError(f"{source.name}: many classes, and the model is of two. Take one of many classes.")
        super().__init__(source, engine, units)
        self.memory = memory
        self._parts: dict[Any, Trials | PartsOfTrials] = {}
        if self.batch is not None:
            self.require_all(_counts(self.batch))

    @property
    def noting(self) -> Callable[[Chunk], Record]:
        """See `LabelledSource.noting`."""
        return Record.of

    def require_all(self, counts: Sequence[int]) -> None:
        """See `LabelledSource.require_all`."""
        for k, kind in ((1, "target"), (0, "non-target")):
            if not counts or not counts[k]:
                raise InputError(f"is_target: none of the {sum(counts)} trials is a {kind}. Both classes are needed.")

    def with_units(self, source: ShardSource) -> Self:
        """See `LabelledSource.with_units`."""
        return type(self)(source, self.engine, self.memory)

    def linear(self, form: Form) -> Trials | PartsOfTrials:
        """Trials to train weights of columns on."""
        if form not in self._parts:  # of others, the sample is not kept
            self._parts = {form: self.made_by(partial(_formed, form))}
        return self._parts[form]

    def made_by(self, make: Makes[Trials]) -> Trials | PartsOfTrials:
        """Trials to train on that a function makes of each piece."""
        if self.batch is None:
            return PartsOfTrials(*self.passes(make), memory=self.memory)
        trials, rows = make(self.batch)
        return trials if isinstance(rows, slice) else replace(trials, numbers=np.flatnonzero(rows))

    def through(self, model: Any) -> SourceTrials:
        """Train a calibrator on them; the same trials with what it makes of their scores."""
        model.learn(self)
        (name,) = self.source.systems
        return SourceTrials(mapped(self.source, model, name), self.engine, self.memory)

    def without(self, group: int, n_groups: int) -> SourceTrials:
        """The trials without those of a group of units."""
        assert self.units is not None  # noqa: S101  # who asks knows them
        return self.with_units(self.source.map(partial(_left_out, self.units, group, n_groups)))

    @property
    def ranks(self) -> SortedScores:
        """The scores of both classes, sorted."""
        if self.engine is None:
            from deciban.metrics.scores import SortedScores

            return SortedScores(**self.look(Labelled.of).as_sets())
        self.look(_nothing)
        found: SortedScores = self.engine.ranks(self.source, self.memory)
        return found

    def training(self, results: Mapping[str, Plain]) -> Training:
        """The record of a training on these trials."""
        found = self._training(("n_non", "n_tar"), results)
        return replace(found, counts={name: found.counts[name] for name in ("n_tar", "n_non")})


def _counts(chunk: Chunk) -> tuple[int, int]:
    """Count non-targets and targets."""
    n_tar = int(np.count_nonzero(chunk.labels))
    return len(chunk.labels) - n_tar, n_tar


def _left_out(units: UnitsOfPieces, group: int, n_groups: int, piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece without a group of units."""
    chunk = counting(piece.read(replace(units.wanted(wanted, with_keys=True), truth=True, weight=True)))
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
    own = counting(chunk)
    if own.truth is None or not len(own.truth):
        return None
    found = look(own, units.of(own))
    return found.fold() if units.are_trials else found


def _noted(look: Callable[[Chunk], Any], noting: Callable[[Chunk], Record], chunk: Chunk) -> _FoundAndNoted:
    """Look at a piece, and note what is kept of it."""
    return _FoundAndNoted(look(chunk), noting(chunk))


@dataclass(frozen=True, slots=True)
class _FoundAndNoted(Additive):
    found: Any
    record: Record


def _nothing(chunk: Chunk) -> None:
    """A look that finds nothing."""


_CLASSES_MEMORY = 1 << 30
"""Bytes that may be taken where nothing is said."""


class SourceClasses(LabelledSource):
    """Labelled trials of many classes of a source.

    Parameters
    ----------
    source : ShardSource
    engine, units
        As of `LabelledSource`.
    prior : array_like or None
        Of training; flat if it is None.
    memory : int, optional
        Bytes that may be taken, which limit the sample.
    named : bool
        Whether the classes have names, and not only numbers.

    Attributes
    ----------
    prior : (n_classes,) array
    classes : tuple of str or None
    n_classes : int
    """

    def __init__(
        self,
        source: ShardSource,
        engine: Engine | None,
        prior: ArrayLike | None,
        memory: int | None = None,
        units: UnitsOfPieces | None = None,
        *,
        named: bool = True,
    ) -> None:
        if not source.classes:
            raise InputError(f"{source.name}: two classes, and the model is of many. Take one of two.")
        super().__init__(source, engine, units)
        self.classes, self.n_classes = source.classes if named else None, len(source.classes)
        self.prior = _validate_classes.prior(prior, self.n_classes)
        self.memory = _CLASSES_MEMORY if memory is None else memory
        self._sample_memory = memory

    @cached_property
    def counted(self) -> Any:
        """Those that count in training: `CountedTrials`, or `PartsOfClassTrials` where passes read them."""
        if self.batch is not None:
            return _counted(self.prior, self.batch)[0]
        about: Any = {"prior": self.prior, "names": self.classes, "memory": self._sample_memory}
        return PartsOfClassTrials(*self.passes(partial(_counted, self.prior)), **about)

    @property
    def first(self) -> FirstClassLook:
        """Results of the first look at trials that are read in batches."""
        found: FirstClassLook = self.counted.first
        return found

    @property
    def noting(self) -> Callable[[Chunk], Record]:
        """See `LabelledSource.noting`."""
        return partial(_recorded, self.n_classes)

    def require_all(self, counts: Sequence[int]) -> None:
        """See `LabelledSource.require_all`."""
        known: Any = {"weights": None, "needed": self.prior > 0.0, "classes": self.classes}
        _validate_classes.all_classes(np.flatnonzero(counts), self.n_classes, **known)

    def with_units(self, source: ShardSource) -> Self:
        """See `LabelledSource.with_units`."""
        return type(self)(source, self.engine, self.prior, self._sample_memory, named=self.classes is not None)

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count."""
        found, possible = np.zeros(self.n_classes), self.prior > 0.0
        found[possible] = self.first.amounts.total if self.batch is None else self.counted.trials.amounts
        return found

    def tell_nothing(self) -> int:
        """Return the number of trials if the only system scores all of them alike; else 0."""
        if self.batch is not None:
            trials = self.counted.trials
            return len(trials) if trials.alike[0] else 0
        return self.first.n_left if self.first.alike[0] and not self.first.has_infinite else 0

    def train(self, **form: Any) -> ClassFit:
        """See `deciban.core.training.multiclass_training.train_counted`."""
        return train_counted(self.counted, classes=self.classes, **form)

    def train_transform(self, **form: Any) -> TransformFit:
        """See `deciban.core.classes.transforms.train_transform`."""
        from deciban.core.classes.transforms import train_transform

        return train_transform(self.counted, classes=self.classes, **form)

    @property
    def may_be_infinite(self) -> bool:
        """Return True if some scores may be infinite."""
        return self.batch is not None or bool(self.first.infinite.any())

    def training(self, results: Mapping[str, Plain]) -> Training:
        """The record of a training on these trials."""
        return self._training(self.source.classes, results)


def _counted(prior: FloatArray, chunk: Chunk) -> tuple[CountedTrials, BoolArray]:
    """Make trials of those of a piece that count."""
    truth, weight = chunk.labels, chunk.float_weight
    counted = CountedTrials.of(chunk.stacked, truth, prior, weight)
    return counted, which_count(truth, prior, weight)


def _recorded(n_classes: int, chunk: Chunk) -> Record:
    """Note what is kept of a piece."""
    truth = chunk.labels
    columns = chunk.stacked.reshape(len(truth), math.prod(chunk.stacked.shape[1:]))
    digits = digits_of(columns, truth, chunk.float_weight) if len(truth) else 0
    return Record(tuple(np.bincount(truth, minlength=n_classes).tolist()), digits)
