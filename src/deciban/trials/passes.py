"""What engines do: one pass over pieces by a `Work`, whose results add up in any order."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, Self, TypeVar

from deciban.errors import naming_trials
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted

W = TypeVar("W", bound="Work")

T = TypeVar("T")
V = TypeVar("V")


class Work:
    """One pass: what is summed up over all pieces. Can be pickled.

    Attributes
    ----------
    words : str
        What goes on, for progress.
    rows_per_batch : int
        So many rows at once suit it.
    bytes_per_row : int
        What a row takes while it is read, sorted and summed up.
    n_bytes : int
        What a sum takes, about, where that is much: every task of a cluster has its own.
    lock : Lock
        For what threads share.
    found : object
        The sum; None of nothing.
    """

    words: str
    rows_per_batch: int = 1_000_000
    bytes_per_row: int = 40
    n_bytes: int = 0
    lock: threading.Lock
    found: Any = None
    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Keep the arguments, of which `empty` makes the same pass."""
        self = super().__new__(cls)
        self._arguments = args, kwargs
        self.lock = threading.Lock()
        return self

    @property
    def has_sums(self) -> bool:
        """False if the sums are of nothing, and need not be sent to workers."""
        return True

    def __getstate__(self) -> dict[str, Any]:
        """Locks stay in their process."""
        sent = {name: value for name, value in self.__dict__.items() if name != "lock"}
        return sent if self.has_sums else {"_arguments": self._arguments}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if len(state) == 1:
            args, kwargs = self._arguments
            self.__init__(*args, **kwargs)  # type: ignore[misc]

    def empty(self) -> Self:
        """The same pass over nothing yet."""
        args, kwargs = self._arguments
        return type(self)(*args, **kwargs)

    def of(self, pieces: Sequence[Piece]) -> Any:
        """Return what is found in some pieces, which adds up; None for nothing."""
        raise NotImplementedError

    def take(self, pieces: Sequence[Piece]) -> None:
        """Read some pieces and sum them up; from any thread, several at once."""
        own = self.of(pieces)
        with self.lock:
            self.found = both(self.found, own)

    def __add__(self, other: Self) -> Self:
        """Both together."""
        whole = self.empty()
        whole.found = both(self.found, other.found)
        return whole


class Engine(ABC):
    """Runs passes; as a context it is closed at the end.

    Attributes
    ----------
    n_at_once : int
        So many batches are in memory at once, where they share it.
    shares_memory : bool
        Whether all pieces are summed up in one place, so that a large sum is there once.
    n_sums : int
        So many sums of a pass are made at once, each in a place of its own.
    n_passes : int
        How many were run.
    """

    n_at_once: int = 1
    shares_memory: bool = False
    n_passes: int = 0

    @property
    def n_sums(self) -> int:
        """See `Engine`."""
        return 1

    def bounded(self, memory: int) -> int:
        """Bytes that work may take where it runs, of those that it may take here."""
        return memory

    def make_room(self, source: ShardSource, memory: int, *, n_systems: int = 1, beside: int = 0) -> None:  # noqa: B027
        """Work on no more pieces of a source at once than the memory holds.

        Parameters
        ----------
        source : ShardSource
        memory : int
            Bytes that may be taken for trials.
        n_systems : int
            So many are read together.
        beside : int
            Bytes of these that are for something else.

        Raises
        ------
        InputError
            If it does not hold a single one.
        """

    @abstractmethod
    def ranks(self, source: ShardSource, memory: int) -> Any:
        """Sort the scores of the first system of a source of two classes; see `deciban.metrics.SortedScores`.

        Parameters
        ----------
        source : ShardSource
        memory : int
            Bytes that may be taken.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to end
        """End what was begun for it: processes, connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def each(self, work: W, pieces: Sequence[Piece], use: Callable[[W], None]) -> None:
        """Work on parts of the pieces where the engine works, and use here what is made of each: it is never added up.

        Parameters
        ----------
        work : Work
            Empty.
        pieces : sequence of Piece
        use : function
            Takes what was made of some pieces; called once for each part, in any order, perhaps by several threads.
        """

    @abstractmethod
    def run(self, work: W, pieces: Sequence[Piece]) -> W:
        """Sum up over all pieces; nothing of it remains if that fails.

        Parameters
        ----------
        work : Work
            Empty.
        pieces : sequence of Piece

        Returns
        -------
        Work
            The sum.
        """


class Looks(Work):
    """A pass that looks at every piece.

    Parameters
    ----------
    wanted : Wanted
        What is read.
    look : callable
        Finds something in what was read, that adds up; None where there is nothing. Can be pickled.
    words : str
        What goes on, for progress.
    """

    def __init__(self, wanted: Wanted, look: Callable[[Chunk], Any], words: str) -> None:
        self.wanted, self.look, self.words = wanted, look, words

    def of(self, pieces: Sequence[Piece]) -> Any:
        """See `Work.of`."""
        found = None
        for piece in pieces:
            chunk = piece.read(self.wanted)
            with naming_trials(f"{{}} of {piece.name}".format):
                found = both(found, self.look(chunk))
        return found


def both(one: Any, other: Any) -> Any:
    """What was found here and there; None is nothing."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def found_in(
    source: ShardSource, engine: Engine | None, wanted: Wanted, look: Callable[[Chunk], Any], words: str = "training"
) -> Any:
    """Have a look at all pieces of a source: one pass.

    Parameters
    ----------
    source : ShardSource
    engine : Engine
    wanted, look, words
        As of `Looks`.

    Returns
    -------
    object
        What was found, None if that was nothing.

    Raises
    ------
    FormatError, OSError
        As reading does.
    InputError
        What a look refuses, with the piece and the number of the trial.
    """
    if engine is None:
        assert source.batch is not None  # noqa: S101  # without an engine, all trials are in one batch
        return look(source.batch)
    return engine.run(Looks(wanted, look, words), source.pieces).found


def in_threads(function: Callable[[T], V], given: Sequence[T], n_threads: int) -> Iterator[V]:
    """What a function makes of each, in their order; if that fails, nothing more is begun.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(function, one) for one in given]
        try:
            finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for one in finished:
                one.result()
            yield from (one.result() for one in futures)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
