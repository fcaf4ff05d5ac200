"""Clusters of Dask: found at an address or begun here, shared by those who use them, and ended by the last one."""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import deciban
from deciban.errors import ClusterError, InputError
from deciban.io.atomic import ScratchFolder
from deciban.messages import counted

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
        cluster = distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **how)
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
    wrong = {name: version for name, version in versions.items() if version != deciban.__version__}
    if wrong:
        raise ClusterError(other_version(wrong, deciban.__version__))


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
