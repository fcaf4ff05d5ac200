"""Whatever the bytes are, a reader answers with a table or with one of our own errors."""

import warnings
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.io.formats import formats
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
