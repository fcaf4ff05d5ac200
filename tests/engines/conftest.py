"""A real cluster of two processes, the same for all that runs on one."""

import contextlib
import logging

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two processes that are started again when they end."""
    distributed = pytest.importorskip("distributed", reason="needs dask and distributed")
    dask = pytest.importorskip("dask")
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}
    made = distributed.LocalCluster(n_workers=2, memory_limit="1GB", **quiet)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"}):  # a busy machine starts some slowly
        yield made
    with contextlib.suppress(KeyError):  # of a worker that was lost before the cluster had heard of it
        made.close()


@pytest.fixture(scope="session")
def connected(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture
def client(cluster, connected):
    """Of two workers, also after a test that ended some."""
    cluster.scale(2)
    connected.wait_for_workers(2, timeout=60)
    return connected
