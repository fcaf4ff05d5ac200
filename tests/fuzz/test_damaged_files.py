"""Whatever the bytes are, a reader answers with a table or with one of our own errors."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.io.formats import formats
from support.hostile import read_or_refuse, seeds

edits = st.lists(
    st.tuples(
        st.sampled_from(["replace", "insert", "delete", "repeat", "cut"]),
        st.floats(0, 1),
        st.one_of(
            st.binary(min_size=1, max_size=8), st.sampled_from([b"\xff" * 8, b"\x00" * 8, b"nan", b"\n", b",", b"\t"])
        ),
    ),
    min_size=1,
    max_size=6,
)


def damaged(data, changes):
    """Bytes with some of them replaced, inserted, deleted, repeated or cut off."""
    for change, place, payload in changes:
        at = int(place * len(data))
        end = at + len(payload)
        data = {
            "replace": data[:at] + payload + data[end:],
            "insert": data[:at] + payload + data[at:],
            "delete": data[:at] + data[end:],
            "repeat": data[:at] + data[max(0, at - 40) : at] * 3 + data[at:],
            "cut": data[:at],
        }[change]
    return data


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format_name", list(formats()))
def test_damaged_files_are_read_or_refused(format_name, tmp_path):
    start = [(kind, data) for name, kind, data in seeds() if name == format_name]
    assert start, "every format has a golden file, or is written"
    path = tmp_path / "input"

    @given(st.sampled_from(start), edits, st.booleans())
    def read(seed, changes, named):
        kind, data = seed
        path.write_bytes(damaged(data, changes))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_or_refuse(path, format_name if named else None, kind)

    read()
