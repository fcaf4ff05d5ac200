"""Passes on a Dask cluster: partitions are mapped to sums in few large tasks, and the sums are added as a tree.

Dask schedules tasks, moves data and replaces lost workers. A task starts with an empty sum and returns a new one, so
the result is the same if it runs twice, or on two workers.
"""

from __future__ import annotations

import logging
import multiprocessing
import operator
import os
import re
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import Any, Self

from deciban._files import ScratchFolder
from deciban._version import __version__
from deciban.engines import RemoteSums
from deciban.errors import ClusterError, InputError, command_spelling, counted, is_command_spelling, some_of, teller
from deciban.memory import rows_that_fit
from deciban.trials.sources import Engine, SourcePartition, SourcePass, TrialSource, W, batches
from deciban.types import Foreign

_PATIENCE = 30
"""Seconds to wait for a scheduler, and for its first worker."""


_ANY_PORT = "127.0.0.1:0"
"""Address of the Dask dashboard: any free port, so that several commands can run at once."""


_KEPT_BLOCKS = {"MALLOC_TRIM_THRESHOLD_": 1 << 26, "MALLOC_MMAP_THRESHOLD_": 1 << 23}
"""Environment of processes that keep freed memory; by default, Dask makes them return it and request it again."""

_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.scheduler.work-stealing-interval": "1s",
    "distributed.worker.memory.monitor-interval": "500ms",
}
"""Clocks of a local cluster; the default ones took 0.1 processor seconds in each second."""

_IMPORTS = [
    "deciban.engines.dask",
    "deciban.io.partitions.layout",
    "distributed",
    "numba.np.arraymath",
    "pyarrow.parquet",
]
"""Slow imports of workers; those that are not installed are ignored."""


_LOCAL = re.compile(r"local:\s*(\d+)")


@dataclass(slots=True)
class Connection:
    """A cluster that is connected or was started.

    Attributes
    ----------
    client : distributed.Client
    close : function
        Ends the processes that were started for it.
    n_users : int
        Number of engines that use it.
    """

    client: Foreign
    close: Callable[[], None]
    n_users: int = 0


_CONNECTIONS: dict[str, Connection] = {}
"""Connected clusters; their data exist only within the same connection."""


def connected(address: str) -> Connection:
    """Return the cluster at an address or of ``"local:N"`` processes; it is shared while it is in use.

    Raises
    ------
    ClusterError
        If there is no scheduler at this address.
    InputError
        If the address is invalid, or Dask is not installed.
    """
    match = _LOCAL.fullmatch(address)
    if match is None and "://" not in address:
        raise InputError(f"dask: got {address!r}. Write tcp://HOST:PORT of a scheduler, or local:N for N processes.")
    connection = _CONNECTIONS.get(address)
    if connection is None or connection.client.status != "running":
        connection = _at(address) if match is None else _on_this_machine(int(match[1]))
        _CONNECTIONS[address] = connection
    connection.n_users += 1
    return connection


def left(name: str, known: Connection) -> None:
    """Remove a user of a cluster; the last one closes it."""
    known.n_users -= 1
    if known.n_users:
        return
    _CONNECTIONS.pop(name, None)
    if threading.current_thread() is threading.main_thread():
        known.close()
    else:  # possibly the thread of the connection itself, which cannot wait for its own end
        threading.Thread(target=known.close).start()


def _at(address: str) -> Connection:
    """Connect to a running scheduler."""
    distributed = distributed_library()
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"dask: no scheduler answers at {address} ({error}). Start one with: dask scheduler; and workers with: "
            f"dask worker {address}"
        ) from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are raised here
    return Connection(client, client.close)


def _on_this_machine(n_workers: int) -> Connection:
    """Start worker processes on this machine."""
    if n_workers < 1:
        raise InputError(f"dask: got {n_workers} processes. Write local:2 for two.")
    distributed = distributed_library()
    with _deaf_to_interrupts(), _settings():
        how = {"dashboard_address": _ANY_PORT, "silence_logs": logging.CRITICAL}  # errors are raised here
        for is_last in (False, True):
            try:
                cluster = distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **how)
                break
            except RuntimeError as error:  # a process was killed during its start
                if is_last:
                    raise ClusterError(f"dask: {n_workers} processes did not start ({error}). Use fewer.") from error
    # Large sums would take three times as long through the scheduler, which is in this process.
    client = distributed.Client(cluster, set_as_default=False, direct_to_workers=True)

    def close() -> None:
        client.close()
        with suppress(KeyError):  # raised for a worker that was lost unnoticed; all processes are ended
            cluster.close()

    return Connection(client, close)


def distributed_library() -> Foreign:
    """Import and return the library `distributed`.

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


def require_workers(client: Foreign) -> None:
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
            f"dask: no worker connected to {scheduler} in {_PATIENCE} seconds. Start workers with: dask worker "
            f"{scheduler}; or wait for queued workers with client.wait_for_workers()"
        ) from error
    messages = client.get_versions(packages=["deciban"])["workers"]
    versions = {name: one["packages"].get("deciban") for name, one in messages.items() if one is not None}
    wrong = {name: version for name, version in versions.items() if version != __version__}
    if wrong:
        raise ClusterError(other_version(wrong, __version__))


def require_folders(client: Foreign, kept: object, name: str) -> None:
    """Refuse temporary folders that workers cannot access, before anything is read there.

    Parameters
    ----------
    client : distributed.Client
    kept : object
        Resources of a source: folders and other objects, possibly in sequences.
    name : str
        Name of the source, for messages.

    Raises
    ------
    ClusterError
    """
    paths = [str(one.path) for one in _folders(kept)]
    for worker, missing in (client.run(_missing, paths, on_error="ignore") if paths else {}).items():
        if missing:
            raise ClusterError(
                f"dask: {name} was written to {missing[0]}, a temporary folder that {worker} cannot access. Name a "
                "folder that all workers can access under the same path (TMPDIR=/shared/folder, in the environment of "
                "the command), or write a folder of Parquet files there first (deciban convert)."
            )


def _folders(kept: object) -> Iterator[ScratchFolder]:
    if isinstance(kept, ScratchFolder):
        yield kept
    elif isinstance(kept, list | tuple):
        for one in kept:
            yield from _folders(one)


def _missing(paths: list[str]) -> list[str]:
    """Return the folders that do not exist; runs on a worker."""
    return [one for one in paths if not os.path.isdir(one)]  # noqa: PTH112  # paths of another machine


def other_version(wrong: dict[str, str | None], own: str) -> str:
    """Return the error message for workers with another version of deciban."""
    name, version = next(iter(wrong.items()))
    there = f"deciban {version}" if version else "no deciban"
    return (
        f"dask: {counted(len(wrong), 'worker')} with another version: {name} has {there}, this process has {own}. "
        "Sums of different versions cannot be added: install the same version everywhere, and restart the workers."
    )


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which a terminal sends to all, and end silently with this process."""
    if os.name != "posix":
        yield
        return
    from multiprocessing import resource_tracker

    own, before = "PYTHONWARNINGS", os.environ.get("PYTHONWARNINGS")
    os.environ[own] = "ignore:resource_tracker" + (f",{before}" if before else "")
    resource_tracker.ensure_running()  # started here, without its warnings if all processes end at once
    if before is None:
        del os.environ[own]
    else:
        os.environ[own] = before
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited by new threads and processes
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _settings() -> Iterator[None]:
    """Change settings of Dask for processes of this machine."""
    import dask
    import distributed

    name = "distributed.nanny.pre-spawn-environ"
    settings = _SETTINGS | {name: dask.config.get(name) | _KEPT_BLOCKS}
    if sys.platform == "linux":  # workers are copies of one process, which imports once
        settings["distributed.worker.multiprocessing-method"] = "forkserver"
        multiprocessing.get_context("forkserver").set_forkserver_preload(_IMPORTS)
        distributed.utils._forkserver_preload_set = True  # noqa: SLF001  # its own list has pandas
    with dask.config.set(settings):
        yield


_ROWS_PER_TASK = 20_000_000
"""Number of rows of a task that takes seconds, so that the overhead of Dask is negligible."""


_TASKS_PER_THREAD = 4
"""Number of tasks for each thread: more tasks balance the load, but each holds and moves its own sum."""


_BYTES_SENT = 80_000_000
"""Size of rows whose results are sent to this process at once."""

_SHARE_FOR_ROWS = 0.3
"""Share of the memory of a thread for rows; the rest is for sums and libraries."""


_STOPPED = "dask: the scheduler stopped during a pass. Start it again, and repeat the command."

_TRIES = 3
"""Number of attempts of a pass if all copies of its shared data are lost."""


_WAY = (
    "Give workers more memory (--memory-limit of dask worker, memory of the job), or fewer threads each (--nthreads), "
    "because every thread holds its own rows and sums."
)


class DaskEngine(Engine):
    """Engine that runs passes on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        Client of a running scheduler. Its workers must have the same version of deciban and access files under the same
        paths.
    close : function, optional
        Called when the engine is closed.

    Raises
    ------
    ClusterError
        If there is no worker, or a worker has another version of deciban.
    InputError
        If the client is asynchronous.
    """

    def __init__(self, client: Foreign, close: Callable[[], None] | None = None) -> None:
        self.client, self._close = client, close
        self._left = "all"
        self._tasks, self._shares = weakref.WeakSet[Foreign](), dict[str, Share]()
        if client.asynchronous:
            raise InputError("dask: got an asynchronous client. Create it with Client(...), outside of coroutines.")
        require_workers(client)

    @classmethod
    def of(cls, dask: Foreign) -> DaskEngine:
        """Return an engine for the address of a scheduler, ``"local:N"`` for N processes of this machine, or a client.

        Raises
        ------
        ClusterError
            If there is no scheduler at this address, or as in `DaskEngine`.
        InputError
            If the argument is something else, or Dask is not installed.
        """
        if isinstance(dask, distributed_library().Client):
            return cls(dask)
        if not isinstance(dask, str):
            words = "Pass the address of a scheduler, 'local:N', or a distributed.Client"
            raise InputError(f"dask: got {type(dask).__name__}. {words}.")
        known = connected(dask.strip())
        return cls._owned(known.client, partial(left, dask.strip(), known))

    @classmethod
    def _owned(cls, client: Foreign, close: Callable[[], None]) -> DaskEngine:
        try:
            return cls(client, close)
        except BaseException:
            close()
            raise

    def bounded(self, memory: int) -> int:
        """See `Engine.bounded`; half of the memory per thread of the smallest worker, where sums are added."""
        return int(min(memory, self._memory_per_thread() / 2))

    def make_room(self, source: TrialSource, memory: int, *, n_systems: int = 1) -> None:  # noqa: ARG002
        """See `Engine.make_room`; batches get small enough for workers later, and workers must access all files.

        Raises
        ------
        ClusterError
            If a worker cannot access a temporary folder.
        """
        require_folders(self.client, source.kept, source.name)

    def close(self) -> None:
        """See `Engine.close`."""
        close, self._close = self._close, None
        if close is not None:
            close()

    def run(self, work: W, partitions: Sequence[SourcePartition]) -> W:
        """See `Engine.run`.

        Raises
        ------
        ClusterError
            If workers are lost repeatedly, or have too little memory.
        """
        self.n_passes += 1
        for _ in range(_TRIES):
            try:
                return self._run(work, partitions)
            except CancelledError as error:  # all copies of some data were lost with their workers
                lost = error
            except distributed_library().comm.CommClosedError as error:
                raise ClusterError(_STOPPED) from error
        raise ClusterError(
            f"dask: all workers were lost {_TRIES} times during one pass, the last time before they had read "
            f"{self._left}. Most likely they ran out of memory: see their logs. {_WAY}"
        ) from lost

    def each(self, work: W, partitions: Sequence[SourcePartition], use: Callable[[W], None]) -> None:
        """See `Engine.each`; results of workers are used as soon as they arrive, a few at a time.

        Raises
        ------
        ClusterError
            As in `run`.
        """
        per_thread = self._memory_per_thread(work.words) * _SHARE_FOR_ROWS
        rows, sent = (rows_that_fit(room, work.of_row) for room in (per_thread, min(per_thread, _BYTES_SENT)))
        with self._pass(partitions) as progress:
            for _, result in self.as_done(progress.calls(work.empty(), batches(partitions, sent), rows)):
                use(result)

    @contextmanager
    def spread(self, work: SourcePass, partitions: Sequence[SourcePartition]) -> Iterator[RemoteSums]:
        """Return the sums over parts of the data, which stay on the workers until the block ends.

        Raises
        ------
        ClusterError
            As in `run`.
        """
        per_thread = self._memory_per_thread(work.words) * _SHARE_FOR_ROWS
        most, n_rows = rows_that_fit(per_thread, work.of_row), sum(one.n_rows for one in partitions)
        n_tasks = max(_n_tasks(partitions, self.n_threads, 0), -(-n_rows // most))
        with self._pass(partitions) as progress:
            calls = progress.calls(work.empty(), shares(partitions, n_tasks), min(most, work.rows_per_batch))
            yield RemoteSums(self, [self.submitted(*one) for one in calls], min(per_thread, 4 * _BYTES_SENT))

    @contextmanager
    def _pass(self, partitions: Sequence[SourcePartition]) -> Iterator[_Progress]:
        """Return the progress of a pass, which is not begun again; see `_cancelled_on_error`."""
        self.n_passes += 1
        with _Progress(self.client, partitions) as progress, self._cancelled_on_error():
            try:
                yield progress
            except (CancelledError, distributed_library().comm.CommClosedError) as error:
                raise ClusterError(_STOPPED) from error

    def as_done(self, calls: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Foreign]]:
        """Submit tasks, a few at a time, and yield their positions and results as soon as they arrive."""
        from distributed import wait

        waiting, futures = enumerate(calls), dict[Foreign, int]()
        while True:
            room = max(2 * self.n_threads - len(futures), 0)
            futures |= {self.submitted(*call): at for at, call in islice(waiting, room)}
            if not futures:
                return
            with self.client.as_current():
                done: Foreign = wait(list(futures), return_when="FIRST_COMPLETED")  # type: ignore[no-untyped-call]
            for future in done.done:
                yield futures.pop(future), future.result()

    def _run(self, work: W, partitions: Sequence[SourcePartition]) -> W:
        if not partitions:
            return work
        per_thread = self._memory_per_thread(work.words, work.n_bytes)
        rows = rows_that_fit(per_thread * _SHARE_FOR_ROWS, work.of_row, most=work.rows_per_batch)
        n_tasks = _n_tasks(partitions, self.n_threads, work.n_bytes)
        with _Progress(self.client, partitions) as progress:
            shared = self._sent(work.empty())
            with self._cancelled_on_error():
                calls = progress.calls(shared, shares(partitions, n_tasks), rows)
                # All are kept: the scheduler may hear that sums are not needed before it knows tasks that need them.
                levels = [[self.submitted(*one) for one in calls]]
                # The last two sums are moved once, and at the same time, if both come directly from their workers.
                while len(levels[-1]) > (2 if self.client.direct_to_workers else 1):
                    pairs = [levels[-1][at : at + 2] for at in range(0, len(levels[-1]), 2)]
                    # Sums that wait take memory.
                    levels.append(
                        [self.submitted(operator.add, *own, priority=1) if own[1:] else own[0] for own in pairs]
                    )
                try:
                    ws: list[W] = self.client.gather(levels[-1])
                except CancelledError:
                    self._left = progress.left(list(self._shares.values()))
                    raise
        return reduce(operator.add, ws)

    def _sent(self, work: W) -> Foreign:
        """Return the data that all tasks share, sent to every worker."""
        try:
            result = self.client.scatter(work, broadcast=True, hash=False)
        except OSError as error:  # a worker was lost, and the scheduler has not noticed yet
            raise CancelledError(str(error)) from error
        self._tasks.add(result)
        return result

    @contextmanager
    def _cancelled_on_error(self) -> Iterator[None]:
        """Cancel all tasks if the block fails, and raise an error with a hint."""
        self._shares.clear()
        try:
            yield
        except BaseException as error:
            self.client.cancel(list(self._tasks), force=True)
            raise _told(error, self._shares) from error

    @property
    def n_threads(self) -> int:
        """Number of threads of all workers; 1 if all workers are lost and not yet restarted."""
        known: dict[str, int] = self.client.nthreads()
        return max(sum(known.values()), 1)

    def submitted(self, function: Callable[..., object], *arguments: object, priority: int = 0) -> Foreign:
        """Submit a task, which can run more than once."""
        future = self.client.submit(function, *arguments, pure=False, priority=priority)
        self._tasks.add(future)
        self._shares.update((future.key, one) for one in arguments if isinstance(one, Share))
        return future

    def _memory_per_thread(self, words: str = "", n_bytes: int = 0) -> float:
        """Return the memory for each thread of the smallest worker, in bytes."""
        require_workers(self.client)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = ((one["memory_limit"] or float("inf")) / one["nthreads"] for one in workers)
        value: float = min(limits, default=float("inf"))
        needed = 4 * n_bytes
        if value * (1 - _SHARE_FOR_ROWS) < needed:
            raise ClusterError(
                f"dask: {words} needs {needed / 1e9:.1f} GB in every thread, and the smallest worker has "
                f"{value / 1e9:.1f} GB for each. Give workers more memory (--memory-limit of dask worker), or fewer "
                "threads (--nthreads)."
            )
        return value


class Share:
    """Partitions for one task.

    Parameters
    ----------
    partitions : sequence of SourcePartition
    rows_per_batch : int
        Number of rows that are read at once.
    """

    def __init__(self, partitions: Sequence[SourcePartition], rows_per_batch: int) -> None:
        self.partitions, self.rows_per_batch = tuple(partitions), rows_per_batch

    def __str__(self) -> str:
        first, last = self.partitions[0].name, self.partitions[-1].name
        return first if len(self.partitions) == 1 else f"{first} to {last}"


def shares(partitions: Sequence[SourcePartition], n: int) -> list[tuple[SourcePartition, ...]]:
    """Divide partitions, in order, into at most ``n`` groups with about the same number of rows.

    Parameters
    ----------
    partitions : sequence of SourcePartition
    n : int

    Returns
    -------
    list of tuple of SourcePartition
    """
    total, upto = sum(one.n_rows for one in partitions), 0
    result: list[list[SourcePartition]] = [[] for _ in range(n)]
    for partition in partitions:
        result[min((2 * upto + partition.n_rows) * n // (2 * max(total, 1)), n - 1)].append(partition)
        upto += partition.n_rows
    return [tuple(part) for part in result if part]


def _n_tasks(partitions: Sequence[SourcePartition], n_threads: int, n_bytes: int) -> int:
    """Return the number of tasks: a few for each thread, if the work of each exceeds the overhead of its sum."""
    n_rows = sum(one.n_rows for one in partitions)
    least = max(_ROWS_PER_TASK, n_bytes)  # a byte of a sum takes about as long as a row
    return n_threads * max(1, min(_TASKS_PER_THREAD, n_rows // (n_threads * least)))


def _summed(work: W, share: Share, at: int, topic: str, version: str, is_command: object) -> W:
    """Return the sum over the partitions of a task; runs on a worker."""
    from distributed import get_worker

    if __version__ != version:  # for workers that joined later
        raise ClusterError(other_version({get_worker().address: __version__}, version))
    w, done = work.empty(), 0
    with command_spelling(used=bool(is_command)):
        for batch in batches(share.partitions, share.rows_per_batch):
            _stop_if_cancelled()
            w.take(batch)
            done += sum(one.n_rows for one in batch)
            get_worker().log_event(topic, (at, done))
    return w


def _stop_if_cancelled() -> None:
    """End a task that was cancelled, because Dask does not end running tasks."""
    from distributed import get_worker

    worker = get_worker()
    own = worker.state.tasks.get(worker.get_current_task())
    if own is not None and own.state == "cancelled":
        raise CancelledError


class _Progress:
    """Progress of all tasks, sent to the listener in this process."""

    def __init__(self, client: Foreign, partitions: Sequence[SourcePartition]) -> None:
        import uuid

        self.topic = f"deciban-{uuid.uuid4().hex}"
        self._client, self._tell = client, teller(sum(one.n_rows for one in partitions), "rows")
        self._done: dict[int, int] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._client.subscribe_topic(self.topic, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.unsubscribe_topic(self.topic)

    def calls(self, work: Foreign, parts: Iterable[Sequence[SourcePartition]], rows: int) -> Iterator[tuple[Any, ...]]:
        """Return the calls of tasks, one for each part of the data."""
        about = self.topic, __version__, is_command_spelling()
        return ((_summed, work, Share(part, rows), at, *about) for at, part in enumerate(parts))

    def left(self, shares: Sequence[Share]) -> str:
        """Return the names of the first shares that are not read yet."""
        with self._lock:
            done = [self._done.get(at, 0) for at in range(len(shares))]
        names = [
            str(one)
            for one, n in zip(shares, done, strict=True)
            if n < sum(partition.n_rows for partition in one.partitions)
        ]
        return some_of(names) or "nothing"

    def _hear(self, event: tuple[float, tuple[int, int]]) -> None:
        at, done = event[1]
        with self._lock:
            self._done[at] = max(done, self._done.get(at, 0))  # a repeated task starts from zero
            self._tell(sum(self._done.values()))


def _told(error: BaseException, own: Mapping[str, Share]) -> BaseException:
    """Return an error with a hint instead of an error of Dask."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        share = own.get(str(error.task))
        place = "" if share is None else f" ({share})"
        return ClusterError(
            f"dask: workers were lost repeatedly at the same task{place}, the last one {error.last_worker.address}. "
            f"Most likely they ran out of memory. {_WAY}"
        )
    if isinstance(error, MemoryError):
        return ClusterError(f"dask: a worker ran out of memory ({error}). {_WAY}")
    if isinstance(error, FileNotFoundError) and own:
        return ClusterError(
            f"dask: a worker cannot access {error.filename or error}. All workers must access files under the same "
            f"path; the first file is {next(iter(own.values())).partitions[0].name}."
        )
    return error
