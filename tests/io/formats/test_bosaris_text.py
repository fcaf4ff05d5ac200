"""Text files of BOSARIS: quality measures and id maps (the lists of trials are Kaldi's lines)."""

import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError
from deciban.io.formats import Contents, by_name
from deciban.trials import IdMap, SegmentQuality
from support.text_formats import any_double, bits, golden, names, read_bytes


def written(item, name):
    stream = io.BytesIO()
    by_name(name).write(Contents.of(item), stream)
    return stream.getvalue()


def test_quality():
    quality = golden("bosaris-quality.quality", need="segment-quality").segment_quality
    assert (quality.names.to_pylist(), quality.measures) == (["seg1", "seg2"], ("q1", "q2"))
    assert quality.values.tolist() == [[0.75, 20.5], [0.5, 13.25]]
    assert written(quality, "bosaris-quality") == b"2\nseg1 0.75 20.5\nseg2 0.5 13.25\n"


def test_id_map():
    id_map = golden("bosaris-idmap.map", need="id-map").id_map
    assert id_map.left.to_pylist() == ["model1", "model2", "model3"]
    assert id_map.right.to_pylist() == ["seg1", "seg7", "seg7"]
    assert written(id_map, "bosaris-idmap") == b"model1 seg1\nmodel2 seg7\nmodel3 seg7\n"


_rows = st.tuples(any_double, any_double).filter(lambda row: np.isfinite(row).all())


@given(st.dictionaries(names(), _rows, min_size=1, max_size=6))
def test_quality_comes_back(rows):
    data = written(SegmentQuality.of(list(rows), list(rows.values())), "bosaris-quality")
    back = read_bytes(data, need="segment-quality").segment_quality
    assert back.names.to_pylist() == list(rows)
    assert bits(back.values) == bits(list(rows.values()))


@given(st.dictionaries(names(), names(), min_size=1, max_size=6))
def test_id_maps_come_back(pairs):
    back = read_bytes(written(IdMap.of(pairs), "bosaris-idmap"), need="id-map").id_map
    assert dict(zip(back.left.to_pylist(), back.right.to_pylist(), strict=True)) == pairs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the file is empty"),
        (b"2\n", "contains no segment"),
        (b"seg1 1\n", ":1: expected the number of quality measures alone"),
        (b"0\nseg1\n", ":1: expected the number of quality measures alone"),
        ("٢\nseg1 1 2\n".encode(), ":1: expected the number of quality measures alone"),
        (b"9" * 5000 + b"\nseg1 1 2\n", ":1: expected the number of quality measures alone"),
        (b"1000000000000\nseg1 1\n", ":2: expected a name and 1000000000000 quality measures, got 2 columns"),
        (b"1\n# c\nseg1 1\nseg2 1 2\n", ":4: expected a name and 1 quality measures, got 3"),
        (b"1\nseg1 x\n", ":2: the quality measure 'x' is not a finite number"),
        (b"1\nseg1 1e999\n", ":2: the quality measure '1e999' is not a finite number"),
        (b"1\nseg1 nan\n", ":2: the quality measure 'nan' is not a finite number"),
        (b"1\nseg1 1\nseg1 1\n", "'seg1' has more than one line"),
    ],
)
def test_hostile_quality(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, need="segment-quality")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"#\n", "the file is empty"),
        (b"a b\nc\n", r":2: expected 2 columns \(left right\), got 1: 'c'"),
        (b"a b\nc d\n# c\na c\n", ":4: 'a' is mapped to 'b' and to 'c'"),
        (b"a,b\nc,\n", ":2: one of two names is empty: 'c,'"),
        (b"a b\tc d\ne\n", r":1: expected 2 columns \(left right\), got 4"),
        (b"a \xff\n", ":1: not UTF-8"),
    ],
)
def test_hostile_id_maps(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, need="id-map")


def test_tabs_leave_room_for_blanks():
    id_map = read_bytes("a 1\tann b\nJürgen\tbob\n".encode(), need="id-map").id_map
    assert (id_map.left.to_pylist(), id_map.right.to_pylist()) == (["a 1", "Jürgen"], ["ann b", "bob"])


def test_blanks_do_not_fit():
    with pytest.raises(FormatError, match="bosaris-idmap cannot contain the right name 'b c': it contains white space"):
        written(IdMap.from_columns(pa.array(["a"]), pa.array(["b c"])), "bosaris-idmap")
    with pytest.raises(FormatError, match="bosaris-quality cannot contain the segment '#1': it begins like a comment"):
        written(SegmentQuality.of(["#1"], [1.0]), "bosaris-quality")
