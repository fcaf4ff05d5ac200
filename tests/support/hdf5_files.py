"""HDF5 and MATLAB files made by h5py and scipy, not by us; and what all their readers must do."""

import io
import tracemalloc
import zlib
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import strategies as st

from deciban.errors import DecibanError, FormatError
from deciban.io.formats import Contents, InputOptions, binary_formats, by_name
from deciban.io.source import Source
from deciban.trials import Key, Quality, Scores, SegmentQuality, Trials
from support.tables import assert_sound

MODELS, SEGMENTS = ["ann", "bob"], ["x", "y", "z"]
SCORES = np.array([[1.5, -2.25, np.inf], [0.0, -0.0, 1e-300]])
MASK = np.array([[1, 0, 1], [1, 1, 0]], np.uint8)
KEY = np.array([[1, 0, -1], [-1, 1, 0]], np.int8)
IDS = {"ID/row_ids": MODELS, "ID/column_ids": SEGMENTS}
FULL = {"scores": SCORES, "score_mask": np.ones((2, 3), np.uint8)}
MASKED = {"scores": SCORES, "score_mask": MASK}
"""The sample as files of BOSARIS' layout keep it."""


def h5(path, datasets, **storage):
    """Write datasets (arrays, lists of bytes or text) with h5py."""
    with h5py.File(path, "w") as file:
        for place, data in datasets.items():
            if isinstance(data, list) and data and isinstance(data[0], bytes):
                file.create_dataset(place, data=np.array(data))
            elif isinstance(data, list):
                file.create_dataset(place, data=data, dtype=h5py.string_dtype())
            else:
                file.create_dataset(place, data=data, **storage)
    return Path(path)


def read(path, format_name=None, **options):
    """Read with the format of this name, or the only one that recognizes the file."""
    source = Source(path)
    if format_name is None:
        fitting = [one for one in binary_formats().values() if one.recognizes(source)]
        assert len(fitting) == 1, [one.name for one in fitting]
        return fitting[0].read(source, InputOptions(**options))
    return by_name(format_name).read(source, InputOptions(**options))


def written(item, format_name):
    """Bytes of a table in a format."""
    stream = io.BytesIO()
    by_name(format_name).write(Contents.of(item), stream)
    return stream.getvalue()


def again(folder, item, format_name):
    """A table written and read back; the file must be recognized as what it is."""
    path = folder / "again.bin"
    path.write_bytes(written(item, format_name))
    return read(path)


def refused(path, match, format_name=None, **options):
    """Assert that a file is refused by name, with this message."""
    with pytest.raises(FormatError, match=match) as caught:
        read(path, format_name, **options)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def sound_or_refused(path, format_name):
    """Assert that a damaged file gives a table without NaN, or one of our errors."""
    try:
        contents = read(path, format_name)
    except DecibanError:
        return
    assert_sound(contents)


@contextmanager
def at_most(n_bytes):
    """Assert that a block never has more new memory of Python and numpy than so much."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()


def pairs(trials):
    """The trials by name, in order."""
    return list(zip(*(trials.column(side).to_pylist() for side in trials.sides), strict=True))


ALL_PAIRS = [(model, segment) for model in MODELS for segment in SEGMENTS]
MASKED_PAIRS = [("ann", "x"), ("ann", "z"), ("bob", "x"), ("bob", "y")]
MASKED_SCORES = SCORES[MASK == 1]
KEY_TRUTH = [True, False, False, True]


def assert_same_bits(one, other):
    """Assert that two arrays hold the same bits in the same type."""
    assert one.dtype == other.dtype
    assert one.tobytes() == other.tobytes()


def assert_masked_scores(scores):
    """Assert that these are the sample scores of the sample mask, and no others."""
    assert pairs(scores.trials) == MASKED_PAIRS
    assert_same_bits(scores.score, MASKED_SCORES)


def assert_key(key):
    """Assert that this is the sample key."""
    assert pairs(key.trials) == MASKED_PAIRS
    assert key.is_target.tolist() == KEY_TRUTH


def assert_same_trials(one, other):
    """Assert that two lists hold the same trials in the same order, and know the same names."""
    assert pairs(one) == pairs(other)
    assert [names.to_pylist() for names in one.names] == [names.to_pylist() for names in other.names]


def assert_same_quality(one, other):
    """Assert that two tables of quality measures are the same."""
    assert (one is None) == (other is None)
    if one is not None:
        assert one.names.to_pylist() == other.names.to_pylist()
        assert one.measures == other.measures
        assert_same_bits(one.values, other.values)


_PACKER = zlib.compressobj(9, zlib.DEFLATED, -15)
PACKED_MEBIBYTE = _PACKER.compress(bytes(1 << 20)) + _PACKER.flush(zlib.Z_FULL_FLUSH)
"""Zeros as a block of deflate, which may stand any number of times in a row: what bombs are made of."""


name = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12) | st.just("é " * 150)
_floats = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 5e-324, np.inf, -np.inf])


@st.composite
def grids(draw, *, n_most=4):
    """Trials as a grid, full or with a mask."""
    sides = [draw(st.lists(name, min_size=1, max_size=n_most, unique=True)) for _ in range(2)]
    shape = tuple(map(len, sides))
    cells = draw(st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    mask = np.array(cells, bool).reshape(shape)
    return Trials.of_grid(*sides, mask if mask.any() and draw(st.booleans()) else None)


@st.composite
def scores(draw):
    """Scores of a grid, wide or narrow."""
    trials = draw(grids())
    narrow = draw(st.booleans())
    values = st.floats(width=32, allow_nan=False) if narrow else _floats
    score = draw(st.lists(values, min_size=len(trials), max_size=len(trials)))
    return Scores(trials, np.array(score, np.float32 if narrow else np.float64))


@st.composite
def keys(draw):
    """Keys of a grid."""
    trials = draw(grids())
    return Key(trials, np.array(draw(st.lists(st.booleans(), min_size=len(trials), max_size=len(trials))), bool))


@st.composite
def segment_qualities(draw, names=None, n_measures=None):
    """Quality measures of segments."""
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True)) if names is None else names
    n_measures = draw(st.integers(1, 3)) if n_measures is None else n_measures
    number = st.floats(allow_nan=False, allow_infinity=False)
    row = st.lists(number, min_size=n_measures, max_size=n_measures)
    values = draw(st.lists(row, min_size=len(names), max_size=len(names)))
    measures = [f"snr {i}" for i in range(n_measures)] if draw(st.booleans()) else None
    return SegmentQuality.of(names, np.array(values), measures=measures)


@st.composite
def qualities(draw):
    """Quality measures of both sides; some names have none, a side may have none at all."""
    trials = draw(grids())
    n_measures = draw(st.integers(1, 3))
    sides = []
    for names in trials.names:
        known = [one for one in names.to_pylist() if draw(st.booleans())]
        sides.append(draw(segment_qualities(known, n_measures)) if known else None)
    if sides == [None, None]:
        sides[0] = draw(segment_qualities(trials.names[0].to_pylist(), n_measures))
    return Quality(*sides, trials if draw(st.booleans()) else None)


@st.composite
def damage(draw, data):
    """The bytes of a file with a few of them changed, or its end cut off."""
    broken = bytearray(data)
    for _ in range(draw(st.integers(0, 4))):
        broken[draw(st.integers(0, len(broken) - 1))] = draw(st.integers(0, 255))
    return bytes(broken[: draw(st.integers(0, len(broken)))]) if draw(st.booleans()) else bytes(broken)
