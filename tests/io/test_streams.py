"""Streams whose beginning was looked at are read from there all the same."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban._files import looked_ahead, stream_of
from deciban.errors import FormatError
from deciban.io.source import Source


@given(st.binary(max_size=60), st.lists(st.integers(0, 70), max_size=4), st.lists(st.integers(-1, 30), max_size=9))
def test_what_was_looked_at_is_read_again(data, looks, reads):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        for n in looks:
            assert looked_ahead("-", n)[:n] == data[:n]
        with stream_of("-") as stream:
            assert b"".join(stream.read(n) for n in [*reads, -1]) == data
            assert stream.read() == b""
        assert Source("-").data == b""


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends_is_refused(device):
    for read in (stream_of(device).__enter__, lambda: looked_ahead(device, 9), lambda: Source(device).head):
        with pytest.raises(FormatError, match=f"^{device}: this device delivers NUL bytes"):
            read()


def test_the_same_on_standard_input(monkeypatch):
    with Path("/dev/zero").open("rb") as device:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(device))
        with pytest.raises(FormatError, match="^standard input: this device delivers NUL bytes"):
            looked_ahead("-", 9)


def test_an_empty_device_is_an_empty_file():
    assert Source("/dev/null").data == b""
