"""Processors and memory that the system tells, or does not."""

import os

from deciban.memory import free_memory, n_processors


def test_systems_that_do_not_tell_processors_or_memory(monkeypatch):
    """As macOS, which has no affinity, and Windows, which has no sysconf either."""
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    assert n_processors() == os.cpu_count()
    monkeypatch.delattr("os.sysconf")
    assert 0 < free_memory() <= 4 * 10**9
