"""Sources of trials, which list partitions, and passes over them (`SourcePass`); results can be added in any order.

To add another kind of source (a folder of files, a matrix, a table on a cluster), write a `SourcePartition` and a
function that lists the partitions. They are small and can be sent to other processes.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from deciban.core.resampling.units import Keys, TrialUnits
from deciban.errors import FormatError, Message, naming_trials, not_none
from deciban.memory import Cost, bytes_of_row, n_processors, require_room, rows_that_fit
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray, Json, KindName, ScoreArray, ScoreUnit

if TYPE_CHECKING:  # these modules need Arrow
    import pyarrow as pa

    from deciban.core.expected import WeightedScores
    from deciban.core.resampling.units import SpeakersByName
    from deciban.trials.joining.matching import JoinReport
    from deciban.trials.lists import Trials
    from deciban.types import PathLike


@dataclass(frozen=True, slots=True)
class TrialFields:
    """The fields of trials to read; others are not read.

    Attributes
    ----------
    systems : tuple of int
        Indices of the systems whose scores are read.
    truth, units, weight : bool
    quality : tuple of str
        Arguments of fusions, as in `Batch`.
    names : bool
        Numbers for the names of both sides.
    groups : bool
        Groups of trials that are held out together, if the source was opened with them.
    conditions : bool
        Values of the columns that trials are split by, if the source was opened with them.
    folds : bool
        The folds of the trials.
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
class Batch:
    """A batch of trials, in most cases all trials of one partition.

    Attributes
    ----------
    scores : tuple of arrays
        Scores of the wanted systems: (n,) for two classes, (n, n_classes) for multiclass; in nats, no NaN.
    truth : (n,) array or None
        True for targets (bool), or the index of the class (int64).
    units : TrialUnits or None
    weight : (n,) array or None
    quality : mapping of str to (n, n_measures) array, or None
        Quality measures by the arguments of fusions: ``enroll_quality``, ``test_quality``, ``trial_quality``; NaN if
        missing.
    names : pair of (n,) uint64 arrays or None
        A number for the name of each side of a trial, the same for the same name; see
        `deciban.core.resampling.units.keys_of`.
    stratum : (n,) int array or None
        The class of each trial, if groups of classes are distinguished.
    groups : tuple of (codes, names), or None
        Trials that are held out together, for one or two sides: codes of trials, and the names of the codes.
    conditions : tuple of (codes, values), or None
        For each column that trials are split by: codes of trials, and the values of the codes. The code after the
        last value means a missing value.
    trials : Trials or None
        The names, if all trials are in memory.
    folds : (n, n_sides) int array or None
        The fold in which a trial is held out, for each side.
    """

    scores: tuple[ScoreArray, ...]
    truth: AnyArray | None = None
    units: TrialUnits | None = None
    weight: CountArray | None = None
    quality: Mapping[str, FloatArray] | None = None
    names: tuple[Keys, Keys] | None = None
    stratum: IntArray | None = None
    groups: tuple[tuple[IntArray, pa.Array], ...] | None = None
    conditions: tuple[tuple[IntArray, pa.Array], ...] | None = None
    trials: Trials | None = None
    folds: IntArray | None = None

    @property
    def labels(self) -> AnyArray:
        """The truth, which must have been read."""
        return not_none(self.truth, "truth")

    def units_by(self, speakers: SpeakersByName | None) -> TrialUnits:
        """Return the units, which must have been read, or the speakers by the names of both sides."""
        return not_none(self.units, "units") if speakers is None else speakers.units_of(not_none(self.names, "names"))

    @property
    def float_weight(self) -> FloatArray | None:
        """Weights as floats, for sums."""
        return None if self.weight is None else self.weight.astype(np.float64, copy=False)

    @property
    def stacked(self) -> AnyArray:
        """The scores of all systems in one array; see `stacked`."""
        return stacked(self.scores)

    @property
    def is_counted(self) -> BoolArray | None:
        """True for trials of positive weight; None if all have one."""
        return None if self.weight is None or np.all(self.weight > 0) else np.asarray(self.weight > 0)

    @property
    def counting(self) -> Batch:
        """The trials of positive weight; others do not define or join units."""
        mask = self.is_counted
        return self if mask is None else self.take(mask)

    def by_class(self, score: ScoreArray | None = None) -> tuple[WeightedScores, WeightedScores]:
        """Return scores and weights of targets and of non-targets, for the first system or for the given scores."""
        result, rows = self.scores[0] if score is None else score, self.labels
        weights = (None, None) if self.weight is None else (self.weight[rows], self.weight[~rows])
        return (result[rows], weights[0]), (result[~rows], weights[1])

    def as_sets(self, score: ScoreArray | None = None) -> dict[str, Any]:
        """Return the same as arguments of a metric."""
        (tar, tar_weights), (non, non_weights) = self.by_class(score)
        return {"tar": tar, "non": non, "tar_weights": tar_weights, "non_weights": non_weights}

    def take(self, rows: AnyArray) -> Batch:
        """Select trials by row number or by a mask."""
        together = self.scores.together if isinstance(self.scores, Columns) else None
        return Batch(
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
    """Scores of systems as views of one array, (n_trials, n_systems, ...), which is kept.

    Attributes
    ----------
    together : array
    """

    together: ScoreArray

    @classmethod
    def of(cls, together: ScoreArray) -> Columns:
        """Return the columns of an array."""
        columns = cls(together[:, k] for k in range(together.shape[1]))
        columns.together = together
        return columns


def stacked(columns: Sequence[AnyArray]) -> AnyArray:
    """Return the scores of systems as one array (trials, systems, classes); a single system becomes a view."""
    if isinstance(columns, Columns):
        return columns.together
    if len(columns) == 1:
        return columns[0][:, None]
    return np.stack(columns, axis=1) if columns[0].ndim > 1 else np.stack(columns).T


class SourcePartition(ABC):
    """A partition of the trials of a source: a row group of a file, a block of a matrix. Can be pickled.

    Attributes
    ----------
    name : str
        The file and the place in it, for messages.
    n_rows : int
        Number of rows that are read; some may not be trials.
    number : int
        Index in the source, only if it was `numbered`.
    """

    name: str
    n_rows: int
    number: int

    @property
    def batch(self) -> Batch | None:
        """The trials of the partition, if they are in memory."""
        return None

    @abstractmethod
    def read(self, fields: TrialFields) -> Batch:
        """Read the trials.

        Raises
        ------
        FormatError, OSError
            If reading fails or the data have changed; the message contains the partition and the row.
        """


@dataclass(frozen=True, eq=False)
class LoadedPartition(SourcePartition):
    """A partition in memory.

    Attributes
    ----------
    loaded : Batch
    name : str
    """

    loaded: Batch
    name: str

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """See `SourcePartition`."""
        return 0 if self.loaded.truth is None else len(self.loaded.truth)

    @property
    def batch(self) -> Batch:
        """See `SourcePartition.batch`."""
        return self.loaded

    def read(self, fields: TrialFields) -> Batch:
        """See `SourcePartition.read`."""
        result = self.loaded
        is_all = fields.systems == tuple(range(len(result.scores)))
        return replace(
            result,
            scores=result.scores if is_all else tuple(result.scores[at] for at in fields.systems),
            units=result.units if fields.units else None,
            weight=result.weight if fields.weight else None,
            conditions=result.conditions if fields.conditions else None,
        )


Step: TypeAlias = Callable[[Any, TrialFields], Batch]
"""Function that reads a partition and changes or selects its trials: of a module, or a `functools.partial` of one."""


@dataclass(frozen=True, eq=False)
class MappedPartition(SourcePartition):
    """A partition whose trials are changed or selected when it is read.

    Attributes
    ----------
    partition : SourcePartition
    step : Step
        Can be pickled.
    name : str
    """

    partition: SourcePartition
    step: Step
    name: str

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """See `SourcePartition`."""
        return self.partition.n_rows

    def read(self, fields: TrialFields) -> Batch:
        """Read the trials; see `SourcePartition.read`."""
        return self.step(self.partition, fields)


def changed(name: str) -> FormatError:
    """Return the error for a file that has changed since it was opened; ``name`` is the partition that was read."""
    return FormatError(
        f"{name}: changed while it was read, so counts from before and after do not match. Run the command again when "
        "nobody writes to this file."
    )


@dataclass(frozen=True, eq=False)
class TrialSource:
    """A list of partitions of trials, with their description.

    Attributes
    ----------
    name : str
        Name for messages.
    partitions : tuple of SourcePartition
    systems : tuple of str
    classes : tuple of str
        Names of the classes for multiclass scores; empty for two classes.
    is_numbered : bool
        True if the classes are only numbered.
    is_double : bool
        True if scores are float64, False if all are float32.
    has_units, has_weights : bool
        True if partitions contain them.
    are_units : bool
        True if each trial is a unit.
    sides : tuple of str
        Sides with names of speakers: enrolment and test, perhaps with a channel.
    quality : tuple of str
        The available quality measures, as in `Batch`.
    messages : tuple of Message
        Messages about input and assumptions.
    paths : tuple
        The paths that the user gave.
    kept : object
        An object that must exist as long as the source, such as a folder of temporary files.
    units : tuple of unit
        The unit of the scores of each system in its input; partitions contain natural logarithms. Empty for
        multiclass.
    report : JoinReport, optional
        Counts of the join, if trials were joined by name.
    groups : tuple of str, optional
        Columns or sides by whose names trials are held out together. Empty if each trial is held out alone, None if
        not requested.
    conditions : tuple of str
        The requested columns and sides that can split trials, in the order of `Batch.conditions`.
    columns : tuple of str
        All columns and sides that can split trials.
    names : tuple of str
        Sides, and columns with names.
    incomplete : bool
        True if trials may lack scores of some systems, which are NaN.
    is_matrix : bool
        True if scores are matrices, whose trials are identified by their cells.
    is_summary : bool
        True if the source consists of summaries of partitions.
    weights_are_counts : bool
        True if weights are numbers of trials.
    renamed : Renamed, optional
        The original names of systems that were renamed.
    of_key : tuple of SourcePartition
        All trials of the key, without scores, if some were left out and speakers are found from target trials.
    """

    name: str
    partitions: tuple[SourcePartition, ...]
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
    paths: tuple[PathLike, ...] = ()
    kept: object = None
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
    of_key: tuple[SourcePartition, ...] = ()

    @property
    def batch(self) -> Batch | None:
        """The trials, if they are in memory; otherwise None."""
        return self.partitions[0].batch if len(self.partitions) == 1 else None

    def messages_with_ties(self, ties: Mapping[str, float], report: JoinReport | None = None) -> list[Message]:
        """Return the messages; the one about the join gets the number of ties of each system, if they are known."""
        report = report or not_none(self.report, "report")
        join, before = report.message(ties), report.message()
        return [join if one == before else one for one in self.messages] + ([] if before in self.messages else [join])

    @property
    def held_units(self) -> TrialUnits | None:
        """Units of the trials, if they are in memory."""
        return None if self.batch is None else self.batch.units

    @property
    def trials(self) -> Trials | None:
        """The names of the trials, if they are in memory."""
        return None if self.batch is None else self.batch.trials

    @property
    def held(self) -> Batch:
        """The trials of a source that must be in memory."""
        return not_none(self.batch, "trials in memory")

    @property
    def is_at_hand(self) -> bool:
        """True if all trials are in memory."""
        return self.batch is not None

    @property
    def score_paths(self) -> list[PathLike]:
        """The score files that the user gave."""
        return list(self.paths)

    def kind_name(self, _options: object = None) -> KindName:
        """Return the kind of the scores."""
        return "classes" if self.classes else "two-class"

    def as_source(self, _options: object, _progress: object = None) -> TrialSource:
        """Return the source itself; see `deciban.workflows.reading.inputs.Opened`."""
        return self

    def in_order_of(self, _classes: Sequence[str]) -> TrialSource:
        """Return the source itself; it keeps its own order of classes."""
        return self

    def options_for(self, _model: object, options: T) -> T:
        """Return the options unchanged, because the kind of a source is known."""
        return options

    def as_recognized(self, reading: T) -> T:
        """Return the options for reading the score files again."""
        return reading

    def alone(self) -> tuple[()]:
        """Return an empty tuple, because the systems of a source are paired."""
        return ()

    def made_of(self, partitions: Sequence[SourcePartition], **changes: Any) -> TrialSource:
        """Return the source with other partitions; if its trials are in memory, they are read at once."""
        if self.batch is None:
            return replace(self, partitions=tuple(partitions), **changes)
        result = replace(self, partitions=tuple(partitions), **changes)
        every = TrialFields(tuple(range(len(result.systems))), truth=True, units=True, weight=True, conditions=True)
        return replace(result, partitions=tuple(LoadedPartition(one.read(every), one.name) for one in partitions))

    def each(self, step: Step) -> tuple[MappedPartition, ...]:
        """Return the partitions with a step that is applied when they are read."""
        return tuple(MappedPartition(one, step, one.name) for one in self.partitions)

    def map(self, step: Step, **changes: Any) -> TrialSource:
        """Return the source with a step for each partition; trials in memory are changed at once.

        Parameters
        ----------
        step : callable
            Reads a partition and changes or selects its trials; can be pickled.
        **changes
            Other attributes of the source that change.
        """
        return self.made_of(self.each(step), **changes)

    @property
    def log10(self) -> bool:
        """True if the scores of all systems were common logarithms; partitions contain natural ones."""
        return bool(self.units) and set(self.units) == {"log10"}

    @cached_property
    def n_rows(self) -> int:
        """Number of rows of all partitions."""
        return sum(one.n_rows for one in self.partitions)

    def bytes_per_row(self, n_systems: int = 1) -> int:
        """Return the approximate bytes of a row while the scores of ``n_systems`` systems are read, sorted and summed.

        Examples
        --------
        >>> TrialSource("trials", (), ("A", "B"), is_double=False).bytes_per_row()
        24
        """
        n_numbers, size = n_systems * max(len(self.classes), 1), 8 if self.is_double else 4
        return bytes_of_row(n_numbers, size, weighted=self.has_weights)


def in_memory(batch: Batch, classes: tuple[str, ...] = (), **about: Any) -> TrialSource:
    """Return a source with one batch of arrays.

    Parameters
    ----------
    loaded : Batch
    classes : tuple of str
        Names of the classes, for multiclass scores.
    **about
        Other attributes of the source: ``incomplete`` and ``is_numbered``.
    """
    names = tuple(f"system {k}" for k in range(len(batch.scores)))
    about |= {"has_weights": batch.weight is not None, "quality": tuple(batch.quality or ())}
    return TrialSource("", (LoadedPartition(batch, ""),), names, classes, **about)


@dataclass(frozen=True, eq=False)
class NumberedPartition(SourcePartition):
    """A partition with its index in the source."""

    partition: SourcePartition
    number: int
    name: str
    n_rows: int

    def read(self, fields: TrialFields) -> Batch:
        """See `SourcePartition.read`."""
        return self.partition.read(fields)


def numbered(source: TrialSource) -> list[NumberedPartition]:
    """Return the partitions of a source with their indices."""
    return [NumberedPartition(one, at, one.name, one.n_rows) for at, one in enumerate(source.partitions)]


def batches(partitions: Sequence[SourcePartition], n_rows: int) -> list[tuple[SourcePartition, ...]]:
    """Group neighbouring partitions into batches of about ``n_rows`` rows, with at least one partition each.

    Parameters
    ----------
    partitions : sequence of SourcePartition
    n_rows : int

    Returns
    -------
    list of tuple of SourcePartition
    """
    result: list[tuple[SourcePartition, ...]] = []
    some: list[SourcePartition] = []
    rows = 0
    for partition in partitions:
        if some and rows + partition.n_rows > n_rows:
            result.append(tuple(some))
            some, rows = [], 0
        some.append(partition)
        rows += partition.n_rows
    return [*result, tuple(some)] if some else result


W = TypeVar("W", bound="SourcePass")

T = TypeVar("T")
V = TypeVar("V")


class SourcePass:
    """One pass that computes a sum over all partitions. Can be pickled.

    Attributes
    ----------
    words : str
        The activity, for progress messages.
    rows_per_batch : int
        Suitable number of rows at once.
    of_row : int
        Bytes that a row takes while it is read, sorted and summed.
    n_bytes : int
        Approximate bytes of a sum, if it is large: each task of a cluster has its own.
    lock : Lock
        Protects data that threads share.
    result : object
        The sum, or None if it is empty.
    """

    words: str
    rows_per_batch: int = 1_000_000
    of_row: int = 40
    n_bytes: int = 0
    lock: threading.Lock
    result: Any = None
    _arguments: tuple[tuple[object, ...], dict[str, object]]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Store the arguments, for `empty`."""
        self = super().__new__(cls)
        self._arguments = args, kwargs
        self.lock = threading.Lock()
        return self

    @property
    def has_sums(self) -> bool:
        """False if the sum is empty, so that workers do not need it."""
        return True

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the lock, which cannot be pickled."""
        sent = {name: value for name, value in self.__dict__.items() if name != "lock"}
        return sent if self.has_sums else {"_arguments": self._arguments}

    def __setstate__(self, state: dict[str, Json]) -> None:
        self.__dict__.update(state)
        if len(state) == 1:
            args, kwargs = self._arguments
            self.__init__(*args, **kwargs)  # type: ignore[misc]

    def empty(self) -> Self:
        """Return the same pass with an empty sum."""
        args, kwargs = self._arguments
        return type(self)(*args, **kwargs)

    def of(self, partitions: Sequence[SourcePartition]) -> object:
        """Return the sum over some partitions, or None if it is empty."""
        raise NotImplementedError

    def take(self, partitions: Sequence[SourcePartition]) -> None:
        """Read some partitions and add them to the sum; several threads may call this at once."""
        own = self.of(partitions)
        with self.lock:
            self.result = both(self.result, own)

    def __add__(self, other: Self) -> Self:
        """Return a pass with the sum of both."""
        whole = self.empty()
        whole.result = both(self.result, other.result)
        return whole


class Engine(ABC):
    """Runs passes; a context manager that closes it at the end.

    Parameters
    ----------
    n_threads : int, optional
        Number of processors by default.

    Attributes
    ----------
    n_at_once : int
        Number of batches that share the memory at the same time.
    shares_memory : bool
        True if all partitions are added to one sum, so that a large sum exists once.
    n_passes : int
        Number of passes so far.
    """

    n_at_once: int = 1
    shares_memory: bool = False
    n_passes: int = 0

    def __init__(self, n_threads: int | None = None) -> None:
        self._n_threads = self.n_at_once = n_threads or n_processors()

    def bounded(self, memory: int) -> int:
        """Return the bytes that work may take where it runs, given the bytes that it may take here."""
        return memory

    def make_room(self, source: TrialSource, memory: int, *, n_systems: int = 1) -> None:
        """Limit the number of partitions that are in memory at once; rows take at most half of the memory.

        Parameters
        ----------
        source : TrialSource
        memory : int
            Bytes for trials.
        n_systems : int
            Number of systems that are read together.

        Raises
        ------
        InputError
            If not even one partition fits in memory.
        """
        if not source.partitions or source.batch is not None:
            return
        largest = max(source.partitions, key=lambda one: one.n_rows)
        needed = largest.n_rows * source.bytes_per_row(n_systems)
        what = f"memory: {largest.name} has {largest.n_rows:,} rows in one row group, which is read at once"
        require_room(what, 2 * needed, memory, way="write smaller row groups")
        further = rows_that_fit(memory / 2 - needed, needed + Cost.THREAD, fewest=0)
        self.n_at_once = min(self._n_threads, 1 + further)

    def close(self) -> None:  # noqa: B027  # most engines have nothing to close
        """Stop processes and close connections that were started for the engine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def each(self, work: W, partitions: Sequence[SourcePartition], use: Callable[[W], None]) -> None:
        """Compute the result of each batch of partitions on the engine, and pass it to ``use``; nothing is summed.

        Parameters
        ----------
        work : SourcePass
            Empty.
        partitions : sequence of SourcePartition
        use : function
            Called with the result of each batch, in any order, possibly from several threads.
        """

    @abstractmethod
    def run(self, work: W, partitions: Sequence[SourcePartition]) -> W:
        """Compute the sum over all partitions; after an error nothing of it remains.

        Parameters
        ----------
        work : SourcePass
            Empty.
        partitions : sequence of SourcePartition

        Returns
        -------
        SourcePass
            The sum.
        """


class MapPass(SourcePass):
    """A pass that applies a function to each partition.

    Parameters
    ----------
    fields : TrialFields
        The fields to read.
    look : callable
        Returns a result for the trials of a partition; results are added, and None is ignored. Can be pickled.
    words : str
        The activity, for progress messages.
    """

    def __init__(self, fields: TrialFields, look: Callable[[Batch], Any], words: str) -> None:
        self.fields, self.look, self.words = fields, look, words

    def of(self, partitions: Sequence[SourcePartition]) -> object:
        """See `SourcePass.of`."""
        result = None
        for partition in partitions:
            batch = partition.read(self.fields)
            with naming_trials(f"{{}} of {partition.name}".format):
                result = both(result, self.look(batch))
        return result


def both(one: Any, other: Any) -> Any:
    """Return the sum of two results, where None means empty."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def found_in(
    source: TrialSource,
    engine: Engine | None,
    fields: TrialFields,
    look: Callable[[Batch], object],
    words: str = "training",
) -> Any:
    """Apply a function to all partitions of a source, in one pass.

    Parameters
    ----------
    source : TrialSource
    engine : Engine
    fields, look, words
        As in `MapPass`.

    Returns
    -------
    object
        The sum of the results, or None if all were None.

    Raises
    ------
    FormatError, OSError
        As in reading.
    InputError
        If ``look`` refuses a trial; the message contains the partition and the number of the trial.
    """
    if engine is None:
        return look(source.held)  # without an engine, all trials are in one batch
    return engine.run(MapPass(fields, look, words), source.partitions).result


def in_threads(function: Callable[[T], V], values: Sequence[T], n_threads: int) -> Iterator[V]:
    """Yield the results of a function in order; after an error, no further call is started.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(function, one) for one in values]
        try:
            finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for one in finished:
                one.result()
            yield from (one.result() for one in futures)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _ordered(
    systems: tuple[int, ...], classes: tuple[int, ...], partition: SourcePartition, fields: TrialFields
) -> Batch:
    """Read the trials of a partition with selected systems, or with classes in another order."""
    batch = partition.read(replace(fields, systems=tuple(systems[at] for at in fields.systems)))
    if not classes:
        return batch
    order = list(classes)
    truth = None if batch.truth is None else np.argsort(order)[batch.truth]
    return replace(batch, scores=tuple(one[:, order] for one in batch.scores), truth=truth)


def ordered(
    source: TrialSource, *, systems: Sequence[int] | None = None, classes: Sequence[str] | None = None
) -> TrialSource:
    """Return a source with selected systems, or with its classes in another order.

    Parameters
    ----------
    source : TrialSource
    systems : sequence of int, optional
        Positions of the systems, in the requested order.
    classes : sequence of str, optional
        All classes, in the requested order.
    """
    chosen = tuple(range(len(source.systems)) if systems is None else systems)
    names = source.classes if classes is None else tuple(classes)
    places = () if names == source.classes else tuple(source.classes.index(name) for name in names)
    if not places and chosen == tuple(range(len(source.systems))):
        return source
    units = tuple(source.units[at] for at in chosen) if source.units else ()
    chosen_names = tuple(source.systems[k] for k in chosen)
    return source.map(partial(_ordered, chosen, places), systems=chosen_names, classes=names, units=units)


def _having(
    partition: SourcePartition, fields: TrialFields, *, systems: tuple[int, ...], every: bool, counting: bool
) -> Batch:
    """Read the trials of a partition that have scores of all (or some) of the systems."""
    items = tuple(dict.fromkeys((*fields.systems, *systems)))
    batch = partition.read(replace(fields, systems=items, weight=fields.weight or counting))
    by_system = dict(zip(items, batch.scores, strict=True))
    there = [~np.isnan(by_system[at]) for at in systems]
    rules = [(np.logical_and if every else np.logical_or).reduce(there)] if there else []
    if counting and batch.weight is not None:
        rules.append(batch.weight > 0)
    mask: BoolArray = np.logical_and.reduce(rules)
    weight = batch.weight if fields.weight else None
    scores = batch.scores if items == fields.systems else tuple(by_system[at] for at in fields.systems)
    own = replace(batch, scores=scores, weight=weight)
    return own if mask.all() else own.take(mask)


def having(source: TrialSource, systems: Sequence[int], *, every: bool = True, counting: bool = False) -> TrialSource:
    """Return the trials of a source that have scores of some systems.

    Parameters
    ----------
    source : TrialSource
        A two-class source.
    systems : sequence of int
        Positions of the systems.
    every : bool
        Require scores of all these systems; otherwise of at least one.
    counting : bool
        Drop trials of weight 0.
    """
    n, is_weighed = len(source.systems), counting and source.has_weights
    step = partial(_having, systems=tuple(systems), every=every, counting=is_weighed)
    return source.map(step, incomplete=not (every and len(set(systems)) == n))


def scored_by_all(source: TrialSource) -> TrialSource:
    """Return the trials that all systems scored and that have a weight above 0."""
    return having(source, range(len(source.systems)), counting=True)


def counting(source: TrialSource) -> TrialSource:
    """Return the trials of a source with a weight above 0; a model may have no result for the others."""
    if not source.has_weights:
        return source
    return source.map(partial(_having, systems=(), every=True, counting=True))
