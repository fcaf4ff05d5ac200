"""Whatever the bytes are, a reader answers with a table or with one of our own errors."""

import json
import warnings
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import FormatError
from deciban.io import read_contents
from deciban.io.formats import formats, only_format_errors
from deciban.io.matrices import numpy_files
from deciban.io.recognition import readable_as
from support.hostile import read_or_refuse, seeds

READ = [name for name, one in formats().items() if one.reads]
"""Formats that hold trials: files of others have tests of their own."""

FRAGMENTS = (b"\xff" * 8, b"\x00" * 8, b"nan", b"\n", b",", b"\t", b"1e999", b"\x80\x04", b"target", b'"', b"#", b" ")


def damaged(data, recipe):
    """Bytes with some of them replaced, inserted, deleted, repeated or cut off.

    The recipe is bytes itself: hypothesis draws and shrinks one short string of bytes much faster than a list of edits.
    """
    recipe = iter(recipe)
    for change, high, low, size in zip(recipe, recipe, recipe, recipe, strict=False):
        at = (256 * high + low) * len(data) >> 16
        payload = bytes(islice(recipe, size & 7)) or FRAGMENTS[size % len(FRAGMENTS)]
        end = at + len(payload)
        data = (
            data[:at] + payload + data[end:],
            data[:at] + payload + data[at:],
            data[:at] + data[end:],
            data[:at] + data[max(0, at - 40) : at] * 3 + data[at:],
            data[:at] if size > 200 else data[:at] + payload + data[end:],
        )[change % 5]
    return data


@pytest.mark.usefixtures("warm_matlab")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format_name", READ)
def test_damaged_files_are_read_or_refused(format_name, tmp_path):
    start = [(kind, data) for name, kind, data in seeds() if name == format_name]
    assert start, "every format has a golden file, or is written"
    path = tmp_path / "input"

    @given(st.integers(0, len(start) - 1), st.binary(min_size=4, max_size=48), st.booleans())
    def read(at, recipe, named):
        kind, data = start[at]
        path.write_bytes(damaged(data, recipe))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_or_refuse(path, format_name if named else None, kind)

    read()


@pytest.mark.parametrize("format_name", READ)
def test_damaged_files_are_sniffed(format_name, tmp_path):
    start = [data for name, _, data in seeds() if name == format_name]
    path, kinds = tmp_path / "input", ("scores", "key", "class-scores", "class-key")

    @given(st.sampled_from(start), st.binary(min_size=4, max_size=48))
    def sniff(data, recipe):
        path.write_bytes(damaged(data, recipe))
        assert set(readable_as(path, kinds)) <= set(kinds)

    sniff()


@pytest.mark.parametrize("fault", [NameError, AttributeError, TypeError])
def test_faults_of_readers_are_not_called_damaged_files(fault):
    """A wrong name or type in our code, as opposed to an error of a library that reads a damaged file."""
    own = {"__name__": "deciban.io.some"}
    exec(f"def read():\n    raise {fault.__name__}('of ours')", own)  # noqa: S102  # as a module of ours
    with pytest.raises(fault, match="of ours"), only_format_errors("a.npy", "npy"):
        own["read"]()


def test_a_fault_of_a_reader_is_not_called_a_damaged_file(tmp_path, monkeypatch):
    np.save(tmp_path / "scores.npy", np.zeros(2))
    monkeypatch.setattr(numpy_files, "npy_format", None)
    with pytest.raises(AttributeError, match="read_array_header"):
        read_contents(tmp_path / "scores.npy")


def test_errors_of_libraries_are_damaged_files():
    with (
        pytest.raises(FormatError, match=r"a\.json: damaged, or not JSON \(TypeError"),
        only_format_errors("a.json", "JSON"),
    ):
        json.loads(None)
