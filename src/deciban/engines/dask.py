"""Passes on a cluster of Dask: pieces are mapped to sums in few large tasks, and the sums added up as a tree.

Scheduling, moving data, and what is done about workers that are lost is the business of Dask. A task begins with a sum
over nothing and gives a new one, so it may run twice, or on two workers, and the answer is the same.
"""

from __future__ import annotations

import logging
import operator
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Self

from deciban._files import ScratchFolder
from deciban._version import __version__
from deciban.engines.threads import CountingEngine
from deciban.errors import ClusterError, InputError
from deciban.memory import rows_that_fit
from deciban.messages import counted
from deciban.steps import teller
from deciban.trials.passes import W
from deciban.trials.sources import Piece, ShardSource, batches

_PATIENCE = 30
"""Seconds to wait for a scheduler, and for its first worker."""


_ANY_PORT = "127.0.0.1:0"
"""Of the page that shows what goes on, so that several commands may run at once."""


_KEPT_BLOCKS = {"MALLOC_TRIM_THRESHOLD_": 1 << 26, "MALLOC_MMAP_THRESHOLD_": 1 << 23}


_LOCAL = re.compile(r"local:\s*(\d+)")


@dataclass(slots=True)
class Connection:
    """A cluster that was connected, or begun.

    Attributes
    ----------
    client : distributed.Client
    close : function
        Ends what was begun for it.
    n_users : int
        By how many engines it is used.
    """

    client: Any
    close: Callable[[], None]
    n_users: int = 0


_CONNECTIONS: dict[str, Connection] = {}
"""Clusters that are connected: what they hold is there only for those who share the connection."""


def connected(address: str) -> Connection:
    """The cluster at the address of a scheduler, or of ``"local:N"`` processes: the same as long as somebody uses it.

    Raises
    ------
    ClusterError
        If there is no scheduler at this address.
    InputError
        If it is no address, or Dask is not installed.
    """
    match = _LOCAL.fullmatch(address)
    if match is None and "://" not in address:
        raise InputError(f"dask: got {address!r}. Write tcp://HOST:PORT of a scheduler, or local:N for N processes.")
    known = _CONNECTIONS.get(address)
    if known is None or known.client.status != "running":
        known = _at(address) if match is None else _on_this_machine(int(match[1]))
        _CONNECTIONS[address] = known
    known.n_users += 1
    return known


def left(name: str, known: Connection) -> None:
    """One user less: the last one closes it."""
    known.n_users -= 1
    if known.n_users:
        return
    _CONNECTIONS.pop(name, None)
    if threading.current_thread() is threading.main_thread():
        known.close()
    else:  # perhaps that of the connection itself, which cannot wait for its own end
        threading.Thread(target=known.close).start()


def _at(address: str) -> Connection:
    """Connect with a scheduler that runs."""
    distributed = distributed_library()
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"dask: no scheduler answers at {address} ({error}). Start one with: dask scheduler; and workers with: "
            f"dask worker {address}"
        ) from error
    return Connection(client, client.close)


def _on_this_machine(n_workers: int) -> Connection:
    """Begin processes of this machine."""
    if n_workers < 1:
        raise InputError(f"dask: got {n_workers} processes. Write local:2 for two.")
    distributed = distributed_library()
    with _deaf_to_interrupts(), _own_memory():
        how = {"dashboard_address": _ANY_PORT, "silence_logs": logging.CRITICAL}  # errors arrive here, and are told
        for is_last in (False, True):
            try:
                cluster = distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **how)
                break
            except RuntimeError as error:  # a process was killed while it started
                if is_last:
                    raise ClusterError(f"dask: {n_workers} processes did not start ({error}) Use fewer") from error
    # Through the scheduler, which is here as well, large sums would take three times as long.
    client = distributed.Client(cluster, set_as_default=False, direct_to_workers=True)

    def close() -> None:
        client.close()
        with suppress(KeyError):  # of a worker that was lost before the cluster had heard of it; all are ended
            cluster.close()

    return Connection(client, close)


def distributed_library() -> Any:
    """What talks with schedulers.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError("dask: is not installed. Install it with: pip install 'deciban[dask]'") from error
    return distributed


def require_workers(client: Any) -> None:
    """Wait for the first worker; refuse workers with another version.

    Raises
    ------
    ClusterError
    """
    scheduler = client.scheduler_info()["address"]
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        raise ClusterError(
            f"dask: no worker came to {scheduler} in {_PATIENCE} seconds. Start some with: dask worker {scheduler}; or "
            "wait for those that queue with client.wait_for_workers()"
        ) from error
    told = client.get_versions(packages=["deciban"])["workers"]
    versions = {name: one["packages"].get("deciban") for name, one in told.items() if one is not None}
    wrong = {name: version for name, version in versions.items() if version != __version__}
    if wrong:
        raise ClusterError(other_version(wrong, __version__))


def require_folders(client: Any, kept: object, name: str) -> None:
    """Refuse temporary folders that workers do not see, before anything is read there.

    Parameters
    ----------
    client : distributed.Client
    kept : object
        What a source keeps: folders among whatever else, perhaps in sequences.
    name : str
        What messages call the source.

    Raises
    ------
    ClusterError
    """
    paths = [str(one.path) for one in _folders(kept)]
    for worker, missing in (client.run(_missing, paths, on_error="ignore") if paths else {}).items():
        if missing:
            raise ClusterError(
                f"dask: {name} was written into {missing[0]}, a temporary folder that {worker} does not see. Name a "
                "folder that all workers see under the same path (TMPDIR=/shared/folder, in the environment of the "
                "command), or write a folder of Parquet there first (deciban convert)."
            )


def _folders(kept: object) -> Iterator[ScratchFolder]:
    if isinstance(kept, ScratchFolder):
        yield kept
    elif isinstance(kept, list | tuple):
        for one in kept:
            yield from _folders(one)


def _missing(paths: list[str]) -> list[str]:
    """Folders that are not there: what a worker runs."""
    return [one for one in paths if not os.path.isdir(one)]  # noqa: PTH112  # paths of another machine


def other_version(wrong: dict[str, str | None], own: str) -> str:
    """What is said of workers with other versions than that which is here."""
    name, version = next(iter(wrong.items()))
    there = f"deciban {version}" if version else "no deciban"
    return (
        f"dask: {counted(len(wrong), 'worker')} of another version: {name} has {there}, here it is {own}. "
        "Sums of different versions do not add up: install the same one everywhere, and start the workers again."
    )


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Begin processes that end with this one and say nothing: Ctrl-C in a terminal reaches all of them at once."""
    if os.name != "posix":
        yield
        return
    from multiprocessing import resource_tracker

    own, before = "PYTHONWARNINGS", os.environ.get("PYTHONWARNINGS")
    os.environ[own] = "ignore:resource_tracker" + (f",{before}" if before else "")
    resource_tracker.ensure_running()  # its complaint, should all this end at once, is no user's business
    if before is None:
        del os.environ[own]
    else:
        os.environ[own] = before
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # threads and processes begun now inherit it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _own_memory() -> Iterator[None]:
    """Begin processes that keep small blocks of memory: Dask makes them give all back, and ask for it anew."""
    import dask

    name = "distributed.nanny.pre-spawn-environ"
    with dask.config.set({name: {**dask.config.get(name, {}), **_KEPT_BLOCKS}}):
        yield


_ROWS_PER_TASK = 20_000_000
"""Rows from which on a task takes seconds, beside which what it costs Dask is nothing."""


_TASKS_PER_THREAD = 4
"""More tasks than threads even out what is slow; each holds a sum of its own, and moves it."""


_BYTES_SENT = 80_000_000
"""Of rows of which what is made comes here at once."""

_SHARE_FOR_ROWS = 0.3
"""Part of the memory of a thread that rows may take: the rest is for sums, and for libraries."""


_TRIES = 3
"""How often a pass begins again when all copies of what it shares are lost."""


_WAY = (
    "Give workers more memory (--memory-limit of dask worker, memory of the job), or fewer threads each (--nthreads): "
    "every thread holds rows and sums of its own."
)


class DaskEngine(CountingEngine):
    """Runs passes on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        Of a scheduler that runs, with workers on which deciban has the same version as here, and which see files under
        the same paths.
    close : function, optional
        Called when the engine is closed: of what was begun for it.

    Raises
    ------
    ClusterError
        If there is no worker, or one has another version of deciban.
    InputError
        If the client is asynchronous.
    """

    def __init__(self, client: Any, close: Callable[[], None] | None = None) -> None:
        self.client, self._close = client, close
        self._left = "all"
        if client.asynchronous:
            raise InputError("dask: got an asynchronous client. Make it with Client(...), outside of coroutines.")
        require_workers(client)

    @classmethod
    def of(cls, dask: Any) -> DaskEngine:
        """From the address of a scheduler, ``"local:N"`` for N processes of this machine, or a client.

        Raises
        ------
        ClusterError
            If there is no scheduler at this address, or as of `DaskEngine`.
        InputError
            If it is none of these, or Dask is not installed.
        """
        if isinstance(dask, distributed_library().Client):
            return cls(dask)
        if not isinstance(dask, str):
            words = "Pass the address of a scheduler, 'local:N', or a distributed.Client"
            raise InputError(f"dask: got {type(dask).__name__}. {words}.")
        known = connected(dask.strip())
        return cls._owned(known.client, partial(left, dask.strip(), known))

    @classmethod
    def _owned(cls, client: Any, close: Callable[[], None]) -> DaskEngine:
        try:
            return cls(client, close)
        except BaseException:
            close()
            raise

    def bounded(self, memory: int) -> int:
        """See `Engine.bounded`: half of what a thread of the smallest worker has, as sums are added up there."""
        return int(min(memory, self._memory_per_thread() / 2))

    def make_room(self, source: ShardSource, memory: int, *, n_systems: int = 1, beside: int = 0) -> None:  # noqa: ARG002
        """See `Engine.make_room`: batches are made as small as workers need; that they see all files is made sure of.

        Raises
        ------
        ClusterError
            If a worker does not see a temporary folder.
        """
        require_folders(self.client, source.kept, source.name)

    def close(self) -> None:
        """See `Engine.close`."""
        close, self._close = self._close, None
        if close is not None:
            close()

    def run(self, work: W, pieces: Sequence[Piece]) -> W:
        """See `Engine.run`.

        Raises
        ------
        ClusterError
            If workers end again and again, or have too little memory for what each of them must hold.
        """
        self.n_passes += 1
        for _ in range(_TRIES):
            try:
                return self._run(work, pieces)
            except CancelledError as error:  # of futures, all copies of whose data went with the workers that had them
                lost = error
        raise ClusterError(
            f"dask: all workers were lost {_TRIES} times during one pass, the last time with {self._left} still to be "
            f"read. Mostly they ran out of memory, which what they wrote on their end says. {_WAY}"
        ) from lost

    def each(self, work: W, pieces: Sequence[Piece], use: Callable[[W], None]) -> None:
        """See `Engine.each`: what workers make comes here as soon as it is made, a few parts at a time.

        Raises
        ------
        ClusterError
            As of `run`.
        """
        self.n_passes += 1
        per_thread = self._memory_per_thread(work.words) * _SHARE_FOR_ROWS
        rows, sent = (rows_that_fit(room, work.bytes_per_row) for room in (per_thread, min(per_thread, _BYTES_SENT)))
        waiting = [Share(part, rows) for part in batches(pieces, sent)]
        with _Progress(self.client, pieces) as progress:
            keys: dict[str, Share] = {}
            futures: dict[Any, Share] = {}
            given, at = (progress.topic, __version__), 0
            with self._cancelled_on_error(futures, keys):  # type: ignore[arg-type]
                while waiting or futures:
                    while waiting and len(futures) < 2 * self.n_threads:
                        future = self._submitted(_summed, work.empty(), waiting[0], at, *given)
                        futures[future] = keys[future.key] = waiting.pop(0)
                        at += 1
                    for future in _first_done(self.client, list(futures)):
                        use(future.result())
                        del futures[future]

    def _run(self, work: W, pieces: Sequence[Piece]) -> W:
        if not pieces:
            return work
        per_thread = self._memory_per_thread(work.words, work.n_bytes)
        rows = rows_that_fit(per_thread * _SHARE_FOR_ROWS, work.bytes_per_row, most=work.rows_per_batch)
        n_tasks = _n_tasks(pieces, self.n_threads, work.n_bytes)
        own = [Share(part, rows) for part in shares(pieces, n_tasks)]
        with _Progress(self.client, pieces) as progress:
            shared = self._sent(work.empty())
            given = progress.topic, __version__
            sums = [self._submitted(_summed, shared, share, at, *given) for at, share in enumerate(own)]
            futures = [shared, *sums]
            with self._cancelled_on_error(futures, dict(zip((one.key for one in sums), own, strict=True))):
                # The last two are moved once, and at the same time, where both come straight from their workers.
                while len(sums) > (2 if self.client.direct_to_workers else 1):
                    sums = [self._pair(*sums[at : at + 2]) for at in range(0, len(sums), 2)]
                    futures += sums
                try:
                    found: list[W] = self.client.gather(sums)
                except CancelledError:
                    self._left = progress.left(own)
                    raise
        return reduce(operator.add, found)

    def _sent(self, work: W) -> Any:
        """What all tasks share, on every worker."""
        try:
            return self.client.scatter(work, broadcast=True, hash=False)
        except OSError as error:  # to a worker that is lost, of which the scheduler has not heard yet
            raise CancelledError(str(error)) from error

    @contextmanager
    def _cancelled_on_error(self, futures: Sequence[Any], shares: Mapping[str, Share]) -> Iterator[None]:
        """Cancel what was submitted if the block fails, and raise an error that says what is to be done.

        Parameters
        ----------
        futures : sequence of Future
            Those that may be added in the block included.
        shares : mapping of str to Share
            What tasks read, by their keys.
        """
        try:
            yield
        except BaseException as error:
            self.client.cancel(list(futures), force=True)
            raise _told(error, shares) from error

    @property
    def n_sums(self) -> int:
        """See `Engine`: one for each thread of the cluster."""
        return self.n_threads

    @property
    def n_threads(self) -> int:
        """Of all workers together; 1 if all are lost and not begun again yet."""
        known: dict[str, int] = self.client.nthreads()
        return max(sum(known.values()), 1)

    def _submitted(self, function: Callable[..., Any], *given: Any, priority: int = 0) -> Any:
        """A task of its own, which may run more than once."""
        return self.client.submit(function, *given, pure=False, priority=priority)

    def _pair(self, one: Any, other: Any = None) -> Any:
        """Both together, before further pieces are summed up: what waits to be added takes memory."""
        return one if other is None else self._submitted(_added, one, other, priority=1)

    def _memory_per_thread(self, words: str = "", n_bytes: int = 0) -> float:
        """Bytes that a thread of the smallest worker has."""
        require_workers(self.client)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = ((one["memory_limit"] or float("inf")) / one["nthreads"] for one in workers)
        found: float = min(limits, default=float("inf"))
        needed = 4 * n_bytes
        if found * (1 - _SHARE_FOR_ROWS) < needed:
            raise ClusterError(
                f"dask: {words} takes {needed / 1e9:.1f} GB in every thread, and the smallest worker has "
                f"{found / 1e9:.1f} GB for each. Give workers more memory (--memory-limit of dask worker), or fewer "
                "threads (--nthreads)."
            )
        return found


class Share:
    """The pieces of one task.

    Parameters
    ----------
    pieces : sequence of Piece
    rows_per_batch : int
        So many are read at once.
    """

    def __init__(self, pieces: Sequence[Piece], rows_per_batch: int) -> None:
        self.pieces, self.rows_per_batch = tuple(pieces), rows_per_batch

    def __str__(self) -> str:
        first, last = self.pieces[0].name, self.pieces[-1].name
        return first if len(self.pieces) == 1 else f"{first} to {last}"


def shares(pieces: Sequence[Piece], n: int) -> list[tuple[Piece, ...]]:
    """Neighbouring pieces together, in at most ``n`` parts of about as many rows.

    Parameters
    ----------
    pieces : sequence of Piece
    n : int

    Returns
    -------
    list of tuple of Piece
    """
    total, upto = sum(one.n_rows for one in pieces), 0
    found: list[list[Piece]] = [[] for _ in range(n)]
    for piece in pieces:
        found[min((2 * upto + piece.n_rows) * n // (2 * max(total, 1)), n - 1)].append(piece)
        upto += piece.n_rows
    return [tuple(part) for part in found if part]


def _n_tasks(pieces: Sequence[Piece], n_threads: int, n_bytes: int) -> int:
    """A few for each thread, if each is long beside what it costs to make, move and add up its sum."""
    rows = sum(one.n_rows for one in pieces)
    least = max(_ROWS_PER_TASK, n_bytes)  # a byte of a sum costs about as much as a row
    return n_threads * max(1, min(_TASKS_PER_THREAD, rows // (n_threads * least)))


def _summed(work: W, share: Share, at: int, topic: str, version: str) -> W:
    """Sum up over the pieces of a task: what a worker runs."""
    from distributed import get_worker

    if __version__ != version:  # a worker that came while others were at work already
        raise ClusterError(other_version({get_worker().address: __version__}, version))
    found, done = work.empty(), 0
    for batch in batches(share.pieces, share.rows_per_batch):
        _stop_if_cancelled()
        found.take(batch)
        done += sum(one.n_rows for one in batch)
        get_worker().log_event(topic, (at, done))
    return found


def _first_done(client: Any, futures: list[Any]) -> list[Any]:
    """Those that are done, of which there is one at least."""
    from distributed import wait

    with client.as_current():
        found: Any = wait(futures, return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
    return list(found.done)


def _stop_if_cancelled() -> None:
    """End a task that nobody waits for any more: Dask itself ends none that runs."""
    from distributed import get_worker

    worker = get_worker()
    own = worker.state.tasks.get(worker.get_current_task())
    if own is not None and own.state == "cancelled":
        raise CancelledError


def _added(one: W, other: W) -> W:
    return one + other


class _Progress:
    """How far all tasks are together, told to whoever listens here."""

    def __init__(self, client: Any, pieces: Sequence[Piece]) -> None:
        import uuid

        self.topic = f"deciban-{uuid.uuid4().hex}"
        self._client, self._tell = client, teller(sum(one.n_rows for one in pieces), "rows")
        self._done: dict[int, int] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._client.subscribe_topic(self.topic, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.unsubscribe_topic(self.topic)

    def left(self, shares: Sequence[Share]) -> str:
        """Which shares are not read yet, those of the first tasks."""
        with self._lock:
            done = [self._done.get(at, 0) for at in range(len(shares))]
        names = [str(one) for one, n in zip(shares, done, strict=True) if n < sum(piece.n_rows for piece in one.pieces)]
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        return ", ".join(names[:3]) + more or "nothing"

    def _hear(self, event: tuple[float, tuple[int, int]]) -> None:
        at, done = event[1]
        with self._lock:
            self._done[at] = max(done, self._done.get(at, 0))  # a task that runs once more begins anew
            self._tell(sum(self._done.values()))


def _told(error: BaseException, own: Mapping[str, Share]) -> BaseException:
    """The error that says what is to be done, in place of what Dask says of its keys."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        share = own.get(str(error.task))
        place = "" if share is None else f" ({share})"
        return ClusterError(
            f"dask: workers were lost again and again at the same task{place}, the last one "
            f"{error.last_worker.address}. "
            f"Mostly they ran out of memory. {_WAY}"
        )
    if isinstance(error, MemoryError):
        return ClusterError(f"dask: a worker ran out of memory ({error}). {_WAY}")
    if isinstance(error, FileNotFoundError):
        return ClusterError(
            f"dask: a worker does not see {error.filename or error}. Files must lie where all workers see them under "
            f"the same path; the first of them is {next(iter(own.values())).pieces[0].name}."
        )
    return error
