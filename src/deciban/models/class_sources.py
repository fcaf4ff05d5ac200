"""Trials of many classes in pieces, as models take them: what `LabelledClasses` is where all trials are in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban.core.classes.certainty import CountedTrials, which_count
from deciban.core.training.class_parts import PartsOfClassTrials
from deciban.core.training.multiclass_training import ClassFit, train_parts
from deciban.errors import InputError
from deciban.models.model import Plain, Training, digits_of
from deciban.models.sources import InPieces, PartsOfPieces, Record, float_weight
from deciban.trials.passes import Engine
from deciban.trials.sources import Chunk, ShardSource
from deciban.trials.speakers import UnitsOfPieces
from deciban.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from deciban.core.classes.transforms import TransformFit

_MEMORY = 1 << 30
"""Bytes that may be taken where nothing is said."""


class SourceClasses(InPieces):
    """Labelled trials of many classes of a source.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
        Where passes run.
    prior : array_like or None
        Of training; flat if it is None.
    memory : int, optional
        Bytes that may be taken, which limit the sample.
    units : UnitsOfPieces, optional
        Whose draw makes what is trained uncertain.

    Attributes
    ----------
    prior : (n_classes,) array
    classes : tuple of str
    n_classes : int
    """

    def __init__(
        self,
        source: ShardSource,
        engine: Engine,
        prior: ArrayLike | None,
        memory: int | None = None,
        units: UnitsOfPieces | None = None,
    ) -> None:
        if not source.classes:
            raise InputError(f"{source.name}: two classes, and the model is of many. Take one of two.")
        super().__init__(source, engine, units)
        self.classes, self.n_classes = source.classes, len(source.classes)
        self.prior = _validate_classes.prior(prior, self.n_classes)
        self.memory = _MEMORY if memory is None else memory
        self.counted: PartsOfClassTrials = _ClassParts(self, memory)

    @property
    def noting(self) -> Callable[[Chunk], Record]:
        """See `InPieces.noting`."""
        return _Recorded(self.n_classes)

    def require_all(self, record: Record | None) -> None:
        """See `InPieces.require_all`."""
        there = np.flatnonzero(() if record is None else record.counts)
        known: Any = {"weights": None, "needed": self.prior > 0.0, "classes": self.classes}
        _validate_classes.all_classes(there, self.n_classes, **known)

    @property
    def amounts(self) -> FloatArray:
        """How much the trials of each class count."""
        found = np.zeros(self.n_classes)
        found[self.prior > 0.0] = self.counted.first.amounts.total
        return found

    def tell_nothing(self) -> int:
        """See `deciban.models.multiclass.LabelledClasses.tell_nothing`."""
        first = self.counted.first
        return first.n_left if first.alike[0] and not first.has_infinite else 0

    def train(self, **form: Any) -> ClassFit:
        """See `deciban.core.training.multiclass_training.train_classes`."""
        return train_parts(self.counted, **form)

    def train_transform(self, **form: Any) -> TransformFit:
        """See `deciban.core.classes.transforms.train_transform`."""
        from deciban.core.classes.transforms import train_transform_parts

        return train_transform_parts(self.counted, **form)

    is_held = False
    """Whether all trials are in memory."""

    @property
    def may_be_infinite(self) -> bool:
        """Whether some score is infinite."""
        return bool(self.counted.first.infinite.any())

    def training(self, results: Mapping[str, Plain]) -> Training:
        """The record of a training on these trials."""
        return self._training(self.classes, results)


class _ClassParts(PartsOfPieces[CountedTrials], PartsOfClassTrials):
    """Trials of a source."""

    def __init__(self, data: SourceClasses, memory: int | None) -> None:
        super().__init__(data, _Counted(data.prior))
        self.prior, self.names, self.memory = data.prior, data.classes, memory


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """Makes of a piece the trials that count."""

    prior: FloatArray

    def rows(self, chunk: Chunk) -> BoolArray:
        """Which rows of the piece they are of."""
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        return which_count(chunk.truth, self.prior, float_weight(chunk))

    def __call__(self, chunk: Chunk) -> CountedTrials:
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        return CountedTrials.of(np.stack(chunk.scores, axis=1), chunk.truth, self.prior, float_weight(chunk))


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What is kept of a piece."""

    n_classes: int

    def __call__(self, chunk: Chunk) -> Record:
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        columns = np.stack(chunk.scores, axis=1).reshape(len(chunk.truth), len(chunk.scores) * self.n_classes)
        digits = digits_of(columns, chunk.truth, float_weight(chunk)) if len(chunk.truth) else 0
        return Record(tuple(np.bincount(chunk.truth, minlength=self.n_classes).tolist()), digits)
