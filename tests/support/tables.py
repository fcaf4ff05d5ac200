"""Random tables of trials, and whether two of them are the same bit for bit."""

import io
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deciban.errors import DecibanError
from deciban.io.formats import Contents, InputOptions, by_name
from deciban.io.source import Source
from deciban.trials import ClassKey, ClassScores, Key, Scores, Trials

characters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
names = st.one_of(
    st.sampled_from(["a", "b", " ", "", "x y", "\t", "nan", "1", "日本", "😀", "e\u0301", "n" * 300]),
    st.text(characters, max_size=5),
)
scores = st.sampled_from([np.float32, np.float64]).map(np.dtype)


def floats(dtype, shape):
    return hnp.arrays(dtype, shape, elements={"allow_nan": False})


def conditions(n):
    text = st.lists(st.one_of(names, st.sampled_from(["f", None])), min_size=n, max_size=n).map(
        lambda v: pa.array(v, pa.string())
    )
    whole = hnp.arrays(np.int64, n).map(pa.array)
    truth = hnp.arrays(np.bool_, n).map(pa.array)
    real = floats(np.dtype(np.float64), n).map(pa.array)
    kinds = {"gender": text, "language": text, "age": whole, "far": truth, "score of quality": real}
    return st.lists(st.sampled_from(sorted(kinds)), unique=True, max_size=3).flatmap(
        lambda chosen: st.fixed_dictionaries({name: kinds[name] for name in chosen})
    )


@st.composite
def trials(draw, *, shape=None, with_conditions=True):
    shape = shape or draw(st.sampled_from(["pair", "side", "single", "row", "grid", "masked"]))
    if shape in ("grid", "masked"):
        rows, columns = (draw(st.lists(names, min_size=1, max_size=4, unique=True)) for _ in range(2))
        mask = draw(hnp.arrays(np.bool_, (len(rows), len(columns)))) if shape == "masked" else None
        if mask is not None:
            mask[0, -1] = True
        found = Trials.of_grid(rows, columns, mask)
    else:
        n = draw(st.integers(1, 6))
        sides = {"pair": ("enroll", "test"), "side": ("enroll", "test", "side"), "single": ("trial",)}.get(shape)
        columns = st.lists(names, min_size=n, max_size=n)
        found = Trials.of({side: draw(columns) for side in sides}) if sides else Trials.of_rows(n)
    return replace(found, conditions=draw(conditions(len(found)))) if with_conditions else found


@st.composite
def binary_contents(draw, *, max_systems=3, **kwargs):
    """Scores of systems, a key, or both."""
    about = draw(trials(**kwargs))
    n, log10 = len(about), draw(st.booleans())
    called = draw(st.lists(st.sampled_from(["sysA", "llr", "B b", "日"]), max_size=max_systems, unique=True))
    systems = [Scores(about, draw(floats(draw(scores), n)), name, log10) for name in called]
    if draw(st.booleans()) or not systems:
        return Contents.of(*systems, Key(about, draw(hnp.arrays(np.bool_, n))))
    return Contents.of(*systems)


@st.composite
def class_contents(draw, *, shape=None):
    """Scores of classes, their key, or both."""
    about = draw(trials(shape=shape))
    classes = tuple(draw(st.lists(names, min_size=2, max_size=4, unique=True)))
    key = ClassKey(about, classes, draw(hnp.arrays(np.int64, len(about), elements=st.integers(0, len(classes) - 1))))
    table = ClassScores(about, classes, draw(floats(draw(scores), (len(about), len(classes)))))
    return Contents.of(*draw(st.sampled_from([(table,), (key,), (table, key)])))


def written(contents, file_format):
    stream = io.BytesIO()
    by_name(file_format).write(contents, stream)
    assert not stream.closed
    return stream.getvalue()


def read_bytes(data, file_format, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        source = Source(path)
        assert by_name(file_format).recognizes(source)
        return by_name(file_format).read(source, InputOptions(**options))


def again(contents, file_format, **options):
    """What comes back of contents that were written."""
    return read_bytes(written(contents, file_format), file_format, **options)


def assert_one_file_of_others(contents):
    """What the tests of columns let other programs write, under whatever names of columns."""
    assert contents.kinds == ("scores", "key", "index")
    assert [contents.index.trials.name_of(row) for row in range(3)] == ["(ann, x)", "(bob d, y)", "(änn, 日本)"]
    assert contents.key.is_target.tolist() == [True, False, False]
    assert contents.scores.score.tolist() == [1.5, -np.inf, 0.0]
    assert np.signbit(contents.scores.score[2])
    assert contents.index.trials.condition("gender").to_pylist() == ["f", None, "m"]


def changed(sound, first, *, most=4):
    """The bytes of a file with a few of them changed, from ``first`` on."""
    places = st.tuples(st.integers(first, len(sound) - 1), st.integers(0, 255))

    def with_changes(changes):
        data = bytearray(sound)
        for at, value in changes:
            data[at] = value
        return bytes(data)

    return st.lists(places, min_size=1, max_size=most).map(with_changes)


def assert_sound(contents):
    """Every trial has its score or label, and no score is NaN."""
    for scores in contents.systems:
        assert len(scores.score) == len(scores.trials)
        assert not np.isnan(scores.score).any()
    if contents.key is not None:
        assert len(contents.key.is_target) == len(contents.key.trials)


def sound_or_refused(data, file_format):
    """Assert that damaged bytes give sound tables, or one of our errors that names the file."""
    try:
        contents = read_bytes(data, file_format)
    except DecibanError as error:
        assert "file" in str(error)
    else:
        assert_sound(contents)


def names_of(about):
    return list(zip(*(about.column(side).to_pylist() for side in about.sides), strict=True))


def assert_same(one, other):
    """Two tables hold the same, whatever they are called."""
    assert type(one) is type(other)
    assert one.trials.sides == other.trials.sides
    assert names_of(one.trials) == names_of(other.trials)
    assert {k: v.to_pylist() for k, v in one.trials.conditions.items()} == {
        k: v.to_pylist() for k, v in other.trials.conditions.items()
    }
    if isinstance(one, ClassKey):
        assert one.label.tolist() == other.label.tolist()
    for attribute in ("score", "is_target"):
        if hasattr(one, attribute):
            a, b = getattr(one, attribute), getattr(other, attribute)
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            assert a.tobytes() == b.tobytes()  # in this order, signs of zero too
    for attribute in ("log10", "classes"):
        assert getattr(one, attribute, None) == getattr(other, attribute, None)


def assert_same_contents(one, other):
    assert set(one.kinds) - {"index"} == set(other.kinds) - {"index"}
    assert len(one.systems) == len(other.systems)
    for a, b in zip(one.systems, other.systems, strict=True):
        assert_same(a, b)
        assert len(one.systems) == 1 or a.name == b.name
    for kind in ("key", "class_scores", "class_key"):
        if getattr(one, kind) is not None:
            assert_same(getattr(one, kind), getattr(other, kind))
