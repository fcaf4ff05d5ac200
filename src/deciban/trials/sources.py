"""What reads trials piece by piece: a source knows its pieces, a piece reads its trials, alone and more than once.

Nothing else is asked of a source, so whoever adds one (a folder of files, a matrix, a table of somebody's cluster)
writes a `Piece` and a function that lists them. Pieces are small and can be sent to other processes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from deciban.core.resampling.units import Keys, TrialUnits
from deciban.errors import FormatError
from deciban.memory import bytes_of_row
from deciban.messages import Message
from deciban.types import AnyArray, CountArray, FloatArray, IntArray, ScoreArray, ScoreUnit

if TYPE_CHECKING:  # which need Arrow, and are made above
    from deciban.core.rules.expected import WeightedScores
    from deciban.trials.joining.matching import JoinReport
    from deciban.trials.lists import Trials


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read of every trial; what is not wanted is not read.

    Attributes
    ----------
    systems : tuple of int
        Positions of the systems whose scores are wanted.
    truth, units, weight : bool
    quality : tuple of str
        Arguments of fusions, as in `Chunk`.
    names : bool
        Numbers of the names of both sides.
    groups : bool
        What is held out together, where the source was asked for it.
    conditions : bool
        What the columns say by which trials are split, where the source was asked for it.
    folds : bool
        Where the trials are dealt out to folds.
    """

    systems: tuple[int, ...] = (0,)
    truth: bool = False
    units: bool = False
    weight: bool = False
    quality: tuple[str, ...] = ()
    names: bool = False
    groups: bool = False
    conditions: bool = False
    folds: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """The trials of a piece.

    Attributes
    ----------
    scores : tuple of arrays
        Of the systems that are wanted: (n,) of two classes, (n, n_classes) of many; in nats, no NaN.
    truth : (n,) array or None
        Whether targets (bool), or which class (int64).
    units : TrialUnits or None
    weight : (n,) array or None
    quality : mapping of str to (n, n_measures) array, or None
        Quality measures by the arguments of fusions: ``enroll_quality``, ``test_quality``, ``trial_quality``; NaN where
        there is none.
    names : pair of (n,) uint64 arrays or None
        A number for the name of each side of a trial, the same for the same name; see
        `deciban.core.resampling.units.keys_of`.
    stratum : (n,) int array or None
        Where groups of classes are told apart, which of the classes trials are of.
    groups : tuple of (codes, names), or None
        By whose names trials are held out together: of one side or of two, codes of trials and what they stand for.
    conditions : tuple of (codes, values), or None
        What each column says by which trials are split: codes of trials and the values that they stand for; the code
        after the last one stands for nothing.
    trials : Trials or None
        Their names, where all trials are in memory.
    folds : (n, n_sides) int array or None
        In which folds they are held out, of each side.
    """

    scores: tuple[ScoreArray, ...]
    truth: AnyArray | None = None
    units: TrialUnits | None = None
    weight: CountArray | None = None
    quality: Mapping[str, FloatArray] | None = None
    names: tuple[Keys, Keys] | None = None
    stratum: IntArray | None = None
    groups: tuple[tuple[IntArray, Any], ...] | None = None
    conditions: tuple[tuple[IntArray, Any], ...] | None = None
    trials: Trials | None = None
    folds: IntArray | None = None

    @property
    def labels(self) -> AnyArray:
        """The truth, which was asked for."""
        assert self.truth is not None  # noqa: S101
        return self.truth

    @property
    def float_weight(self) -> FloatArray | None:
        """Weights as floats, for sums."""
        return None if self.weight is None else self.weight.astype(np.float64, copy=False)

    @property
    def stacked(self) -> AnyArray:
        """The scores of all systems in one array; see `stacked`."""
        return stacked(self.scores)

    @property
    def counting(self) -> Chunk:
        """The trials that count: those of weight 0 make no units, and join none."""
        if self.weight is None or np.all(self.weight > 0):
            return self
        return self.take(self.weight > 0)

    def by_class(self, score: ScoreArray | None = None) -> tuple[WeightedScores, WeightedScores]:
        """Scores of targets and of non-targets with their weights: of the first system, or those that are passed."""
        found, rows = self.scores[0] if score is None else score, self.labels
        weights = (None, None) if self.weight is None else (self.weight[rows], self.weight[~rows])
        return (found[rows], weights[0]), (found[~rows], weights[1])

    def as_sets(self, score: ScoreArray | None = None) -> dict[str, Any]:
        """The same as the arguments of a metric of two sets."""
        (tar, tar_weights), (non, non_weights) = self.by_class(score)
        return {"tar": tar, "non": non, "tar_weights": tar_weights, "non_weights": non_weights}

    def take(self, rows: AnyArray) -> Chunk:
        """Some of the trials, by their numbers or by a mask."""
        together = self.scores.together if isinstance(self.scores, Columns) else None
        return Chunk(
            tuple(one[rows] for one in self.scores) if together is None else Columns.of(together[rows]),
            None if self.truth is None else self.truth[rows],
            None if self.units is None else self.units.take(rows),
            None if self.weight is None else self.weight[rows],
            None if self.quality is None else {name: values[rows] for name, values in self.quality.items()},
            None if self.names is None else (self.names[0][rows], self.names[1][rows]),
            None if self.stratum is None else self.stratum[rows],
            None if self.groups is None else tuple((codes[rows], of) for codes, of in self.groups),
            None if self.conditions is None else tuple((codes[rows], of) for codes, of in self.conditions),
            None if self.trials is None else self.trials.take(rows),
            None if self.folds is None else self.folds[rows],
        )


class Columns(tuple[ScoreArray, ...]):  # noqa: SLOT001  # tuples with slots cannot be pickled
    """Scores of systems that lie together in an array, (n_trials, n_systems, ...), which is kept.

    Attributes
    ----------
    together : array
    """

    together: ScoreArray

    @classmethod
    def of(cls, together: ScoreArray) -> Columns:
        """Return the columns of an array."""
        found = cls(together[:, k] for k in range(together.shape[1]))
        found.together = together
        return found


def stacked(columns: Sequence[AnyArray]) -> AnyArray:
    """Put scores of systems into one array: trials, systems (one is a view, of several each lies together), classes."""
    if isinstance(columns, Columns):
        return columns.together
    if len(columns) == 1:
        return columns[0][:, None]
    if columns[0].ndim > 1:
        return np.stack(columns, axis=1)
    return np.stack(columns).T


@dataclass(frozen=True, slots=True)
class Stamp:
    """By what a file is known again: that it changed between two passes must not go unseen."""

    size: int
    changed: int


class Piece(ABC):
    """Some trials of a source: a row group of a file, a block of a matrix. Can be pickled.

    Attributes
    ----------
    name : str
        What messages call it: file and place in it.
    n_rows : int
        So many rows are read, of which some may be no trials.
    """

    name: str
    n_rows: int

    @property
    def batch(self) -> Chunk | None:
        """All of its trials, where they are in memory."""
        return None

    @abstractmethod
    def read(self, wanted: Wanted) -> Chunk:
        """Read its trials.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or is not what it was; the message names the piece and the row.
        """


@dataclass(frozen=True, eq=False)
class HeldPiece(Piece):
    """Trials in memory.

    Attributes
    ----------
    chunk : Chunk
    name : str
    """

    chunk: Chunk
    name: str

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """See `Piece`."""
        return 0 if self.chunk.truth is None else len(self.chunk.truth)

    @property
    def batch(self) -> Chunk:
        """See `Piece.batch`."""
        return self.chunk

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        found = self.chunk
        is_all = wanted.systems == tuple(range(len(found.scores)))
        return replace(
            found,
            scores=found.scores if is_all else tuple(found.scores[at] for at in wanted.systems),
            units=found.units if wanted.units else None,
            weight=found.weight if wanted.weight else None,
            conditions=found.conditions if wanted.conditions else None,
        )


Step: TypeAlias = Callable[[Any, Wanted], Chunk]
"""Reads a piece and changes or selects its trials: a function of a module, or a `functools.partial` of one."""


@dataclass(frozen=True, eq=False)
class MappedPiece(Piece):
    """A piece whose trials are changed or selected when it is read.

    Attributes
    ----------
    piece : Piece
    step : Step
        Can be pickled.
    name : str
    """

    piece: Piece
    step: Step
    name: str

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """See `Piece`."""
        return self.piece.n_rows

    def read(self, wanted: Wanted) -> Chunk:
        """Read its trials; see `Piece.read`."""
        return self.step(self.piece, wanted)


def changed(name: str) -> FormatError:
    """The error of a file that is not what it was when it was opened; ``name`` is the piece that is read."""
    return FormatError(
        f"{name}: changed while it was read. What was counted before and after does not belong together: run it again "
        "when nobody writes there."
    )


@dataclass(frozen=True, eq=False)
class ShardSource:
    """Trials in pieces.

    Attributes
    ----------
    name : str
        What messages call it.
    pieces : tuple of Piece
    systems : tuple of str
    classes : tuple of str
        Of many classes; empty of two.
    is_numbered : bool
        Whether the classes have no names but these numbers.
    is_double : bool
        Whether scores are float64; else all of them are float32.
    has_units, has_weights : bool
        Whether pieces can say them.
    are_units : bool
        Whether every trial is a unit by itself.
    sides : tuple of str
        Sides by whose names pieces can say who is in a trial: enrolment and test, perhaps with a channel.
    quality : tuple of str
        Which quality measures there are, as in `Chunk`.
    messages : tuple of Message
        What was read and assumed.
    paths : tuple
        What the user named.
    kept : object
        What has to live as long as the source: a folder of temporary files, which goes with it.
    units : tuple of unit
        The unit of the scores of each system in its input; pieces give natural logarithms. Empty for many classes.
    report : JoinReport, optional
        How trials met, where they had to be joined by name.
    groups : tuple of str, optional
        By whose names trials can be held out together, as was asked: columns, or one or both sides; none where each
        stands for itself, None where nobody asked.
    conditions : tuple of str
        Columns and sides by which trials can be split, of those that were asked for, as pieces give them.
    columns : tuple of str
        All columns and sides by which they could be split.
    names : tuple of str
        Sides, and the columns with their names: what a file may say something of.
    incomplete : bool
        Whether trials may lack scores of some systems: NaN stands for these.
    is_matrix : bool
        Whether scores are matrices, whose trials are known by their places.
    is_summary : bool
        Whether these are summaries of shards.
    weights_are_counts : bool
        Whether weights are numbers of trials.
    renamed : Renamed, optional
        What systems were called before they were given names.
    """

    name: str
    pieces: tuple[Piece, ...]
    systems: tuple[str, ...]
    classes: tuple[str, ...] = ()
    is_numbered: bool = False
    is_double: bool = True
    has_units: bool = False
    are_units: bool = False
    has_weights: bool = False
    sides: tuple[str, ...] = ()
    quality: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    paths: tuple[Any, ...] = ()
    kept: Any = None
    units: tuple[ScoreUnit, ...] = ()
    report: JoinReport | None = None
    groups: tuple[str, ...] | None = None
    conditions: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    incomplete: bool = False
    is_matrix: bool = False
    is_summary: bool = False
    weights_are_counts: bool = False
    renamed: Any = None

    @property
    def batch(self) -> Chunk | None:
        """All trials, where they are in memory; else None."""
        return self.pieces[0].batch if len(self.pieces) == 1 else None

    @property
    def held_units(self) -> TrialUnits | None:
        """Units of the trials, where these are in memory."""
        return None if self.batch is None else self.batch.units

    @property
    def held(self) -> Chunk:
        """All trials, of a source that is known to be in memory."""
        assert self.batch is not None  # noqa: S101
        return self.batch

    @property
    def is_at_hand(self) -> bool:
        """Whether all trials are in memory."""
        return self.batch is not None

    @property
    def score_paths(self) -> list[Any]:
        """The score files that a user named."""
        return list(self.paths)

    def kind_name(self, _options: object = None) -> Literal["two-class", "classes"]:
        """Return what the scores are about."""
        return "classes" if self.classes else "two-class"

    def as_source(self, _options: object, _progress: object = None) -> ShardSource:
        """Return the source itself; see `deciban.workflows.inputs.Opened`."""
        return self

    def in_order_of(self, _classes: Sequence[str]) -> ShardSource:
        """Return the source itself, with its own order of the classes."""
        return self

    def options_for(self, _model: object, options: Any) -> Any:
        """Return the options: the kind of a source is known."""
        return options

    def as_recognized(self, reading: Any) -> Any:
        """Return how the score files are read once more."""
        return reading

    def alone(self) -> tuple[Any, ...]:
        """Return nothing: systems of a source are paired."""
        return ()

    def made_of(self, pieces: Sequence[Piece], **changes: Any) -> ShardSource:
        """Return the same source with other pieces; those of trials in memory are read at once."""
        if self.batch is None:
            return replace(self, pieces=tuple(pieces), **changes)
        made = replace(self, pieces=tuple(pieces), **changes)
        every = Wanted(tuple(range(len(made.systems))), truth=True, units=True, weight=True, conditions=True)
        return replace(made, pieces=tuple(HeldPiece(one.read(every), one.name) for one in pieces))

    def each(self, step: Step) -> tuple[MappedPiece, ...]:
        """Return the pieces with a step that is taken whenever one of them is read."""
        return tuple(MappedPiece(one, step, one.name) for one in self.pieces)

    def map(self, step: Step, **changes: Any) -> ShardSource:
        """Return the same source with a step for every piece; trials in memory take it at once.

        Parameters
        ----------
        step : callable
            Reads a piece and changes or selects its trials; can be pickled.
        **changes
            Attributes of the source that change, too.
        """
        return self.made_of(self.each(step), **changes)

    @property
    def log10(self) -> bool:
        """Whether the scores of all systems were common logarithms; pieces have natural ones."""
        return bool(self.units) and set(self.units) == {"log10"}

    @cached_property
    def n_rows(self) -> int:
        """Rows of all pieces."""
        return sum(one.n_rows for one in self.pieces)

    def bytes_per_row(self, n_systems: int = 1) -> int:
        """What a row takes while the scores of so many systems are read, decoded, put in order and added up, about.

        Examples
        --------
        >>> ShardSource("trials", (), ("A", "B"), is_double=False).bytes_per_row()
        24
        """
        n_numbers, size = n_systems * max(len(self.classes), 1), 8 if self.is_double else 4
        return bytes_of_row(n_numbers, size, weighted=self.has_weights)


def in_memory(chunk: Chunk, classes: tuple[str, ...] = (), **about: Any) -> ShardSource:
    """A source of one batch that is made of arrays.

    Parameters
    ----------
    chunk : Chunk
    classes : tuple of str
        Of a source of many classes.
    **about
        Other attributes of the source: ``incomplete`` and ``is_numbered``.
    """
    names = tuple(f"system {k}" for k in range(len(chunk.scores)))
    about |= {"has_weights": chunk.weight is not None, "quality": tuple(chunk.quality or ())}
    return ShardSource("", (HeldPiece(chunk, ""),), names, classes, **about)


@dataclass(frozen=True, eq=False)
class NumberedPiece(Piece):
    """A piece that knows its number among those of its source."""

    piece: Piece
    number: int
    name: str
    n_rows: int

    def read(self, wanted: Wanted) -> Chunk:
        """See `Piece.read`."""
        return self.piece.read(wanted)


def numbered(source: ShardSource) -> list[NumberedPiece]:
    """The pieces of a source, each of which knows its number."""
    return [NumberedPiece(one, at, one.name, one.n_rows) for at, one in enumerate(source.pieces)]


def batches(pieces: Sequence[Piece], n_rows: int) -> list[tuple[Piece, ...]]:
    """Neighbouring pieces together, of about so many rows, and at least one each.

    Parameters
    ----------
    pieces : sequence of Piece
    n_rows : int

    Returns
    -------
    list of tuple of Piece
    """
    found: list[tuple[Piece, ...]] = []
    some: list[Piece] = []
    rows = 0
    for piece in pieces:
        if some and rows + piece.n_rows > n_rows:
            found.append(tuple(some))
            some, rows = [], 0
        some.append(piece)
        rows += piece.n_rows
    return [*found, tuple(some)] if some else found
