"""Matrices in batches: blocks of rows, whose truth is a mask or follows from who is who."""

import h5py
import numpy as np
import pyarrow as pa
import pytest

from deciban.core.resampling.units import mixed_bits
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io.partitions import matrices as cells
from deciban.io.partitions.opening import open_trials
from deciban.trials import Trials
from deciban.trials.sources import TrialFields
from deciban.trials.units import units_of_trials
from support.sources import gathered, in_memory, write

zarr = pytest.importorskip("zarr", reason="zarr reads such folders, and is not installed")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(cells, "CELLS", 50)


def made(rng, shape=(23, 17), dtype=np.float32):
    scores = rng.normal(size=shape).astype(dtype)
    scores[rng.random(shape) < 0.1] = rng.choice([-np.inf, 0.0, np.inf])
    return scores, rng.choice([1, -1, 0], shape, p=[0.2, 0.6, 0.2]).astype(np.int8)


def stored(path, kind, scores, mask):
    """Write scores and mask in one of the ways in which matrices come, and say what to open."""
    if kind in ("npy", "fortran"):
        for name, values in (("scores", scores), ("mask", mask)):
            np.save(path / f"{name}.npy", np.asfortranarray(values) if kind == "fortran" else values)
        return path / "scores.npy", path / "mask.npy"
    if kind == "zarr":
        for name, values in (("scores", scores), ("trial_mask", mask)):
            zarr.create_array(store=str(path / name), data=values, chunks=(5, 4), zarr_format=3)
        return path / "scores", path / "trial_mask"
    how = {"chunks": (4, 5), "compression": "gzip"} if kind == "chunked" else {}
    for name, values in (("scores", scores), ("trial_mask", mask)):
        with h5py.File(path / f"{name}.h5", "w") as file:
            file["ID/row_ids"] = [f"m{k}" for k in range(len(scores))]
            file["ID/column_ids"] = [f"t{k}" for k in range(scores.shape[1])]
            file.create_dataset(name, data=values, **how)
            if name == "scores":
                file.create_dataset("score_mask", data=(mask != 0).astype(np.uint8), **how)
    return path / "scores.h5", path / "trial_mask.h5"


@pytest.mark.parametrize("kind", ["npy", "fortran", "hdf5", "chunked", "zarr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masks_say_what_is_a_trial(tmp_path, kind, dtype):
    scores, mask = made(np.random.default_rng(1), dtype=dtype)
    source = open_trials(*stored(tmp_path, kind, scores, mask))
    assert len(source.partitions) > 3
    expected = np.column_stack([scores[mask != 0], mask[mask != 0] == 1]).astype(np.float64)
    np.testing.assert_array_equal(gathered(source), expected[np.lexsort(expected.T)])
    assert source.is_double == (dtype == np.float64)


def test_hdf5_is_what_it_is_in_memory(tmp_path):
    scores, mask = made(np.random.default_rng(2))
    paths = stored(tmp_path, "chunked", scores, mask)
    with h5py.File(paths[1], "a") as file:
        file["file_format"] = np.bytes_(b"2.0")
    np.testing.assert_array_equal(gathered(open_trials(*paths)), in_memory([paths[0]], paths[1])[0])


@pytest.mark.parametrize("kind", ["chunked", "npy"])
def test_every_trial_is_a_unit_by_its_names_or_its_place(tmp_path, kind):
    scores, mask = made(np.random.default_rng(2))
    source = open_trials(*stored(tmp_path, kind, scores, mask), units="trials")
    assert source.are_units
    units = [one.read(TrialFields((), units=True)).units for one in source.partitions]
    rows, columns = np.nonzero(mask)
    expected = mixed_bits(rows * scores.shape[1] + columns)
    if kind == "chunked":
        names = {"enroll": [f"m{k}" for k in rows], "test": [f"t{k}" for k in columns]}
        expected = units_of_trials(Trials.of(names), noun="trial").keys
    found = np.concatenate([one.keys[one.codes[0]] for one in units])
    np.testing.assert_array_equal(np.sort(found), np.sort(expected))
    assert source.partitions[1].read(TrialFields((), units=True)).units.noun == "trial"


@pytest.mark.parametrize(
    ("rows", "columns", "name"),
    [
        ("modelset", "segset", "scores"),
        ("enroll_ids", "test_ids", "scores"),
        ("model_names", "test_names", "score_mat"),
    ],
)
def test_other_tools_keep_names_elsewhere(tmp_path, rows, columns, name):
    scores, mask = made(np.random.default_rng(8))
    with h5py.File(tmp_path / "scores.h5", "w") as file:
        file[rows] = np.array([f"m{k}" for k in range(23)], "S")
        file[columns] = np.array([f"t{k}" for k in range(17)], "S")
        file[name], file["score_mask"] = scores, (mask != 0).astype(np.int8)
    (tmp_path / "key").mkdir()
    _, key = stored(tmp_path / "key", "hdf5", scores, mask)
    with h5py.File(key, "a") as file:
        file["file_format"] = np.bytes_(b"2.0")
    expected = in_memory([tmp_path / "scores.h5"], key)[0]
    np.testing.assert_array_equal(gathered(open_trials(tmp_path / "scores.h5", key)), expected)


def test_other_hdf5_is_read_as_a_whole(tmp_path):
    scores, mask = made(np.random.default_rng(9))
    path, _ = stored(tmp_path, "hdf5", scores, mask)
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = [f"m{k}" for k in range(23)], [f"t{k}" for k in range(17)]
        file["target_mask"], file["nontarget_mask"] = (mask == 1).astype(np.uint8), (mask == -1).astype(np.uint8)
    found = gathered(open_trials(path, tmp_path / "old.h5", memory=9000))
    np.testing.assert_array_equal(found, in_memory([path], tmp_path / "old.h5")[0])


def test_who_is_who(tmp_path):
    scores, _ = made(np.random.default_rng(3))
    path, _ = stored(tmp_path, "hdf5", scores, np.ones(scores.shape, np.int8))
    enroll, test = tmp_path / "enroll2spk", tmp_path / "test2spk"
    enroll.write_text("".join(f"m{k} p{k % 4}\n" for k in reversed(range(23))))
    test.write_text("".join(f"t{k} p{k % 6}\n" for k in range(17)))
    same = (np.arange(23) % 4)[:, None] == np.arange(17) % 6
    expected = np.column_stack([scores.ravel(), same.ravel()]).astype(np.float64)
    source = open_trials(path, speakers=(enroll, test))
    np.testing.assert_array_equal(gathered(source), expected[np.lexsort(expected.T)])
    found = gathered(source, units=True)
    assert ((found[:, 2] == found[:, 3]) == found[:, 1]).all()
    assert len(np.unique(found[:, 2:])) == 6
    nameless = tmp_path / "bare.npy"
    np.save(nameless, scores)
    with pytest.raises(InputError, match="add by_order=True"):
        open_trials(nameless, speakers=(enroll, test))
    with pytest.raises(InputError, match=r"test2spk has 17 lines, but there are 23 rows"):
        open_trials(nameless, speakers=(test, test), by_order=True)
    enroll.write_text("".join(f"m{k} p{k % 4}\n" for k in range(23)))
    by_line = open_trials(nameless, speakers=(enroll, test), by_order=True)
    np.testing.assert_array_equal(gathered(by_line, units=True), found)
    enroll.write_text("m0 p0\n")
    with pytest.raises(KeyMismatchError, match=r"row 1: .*enroll2spk does not contain the speaker of 'm1'"):
        open_trials(path, speakers=(enroll, test))


def test_vectors_and_columns_of_classes(tmp_path):
    rng = np.random.default_rng(4)
    truth, label = rng.random(200) < 0.3, rng.integers(0, 3, 200)
    scores, classes = rng.normal(size=200), rng.normal(size=(200, 3))
    for name, values in (("s", scores), ("k", truth), ("c", classes), ("l", label)):
        np.save(tmp_path / f"{name}.npy", values)
    s, k, c, l = (tmp_path / f"{name}.npy" for name in "skcl")  # noqa: E741
    np.testing.assert_array_equal(gathered(open_trials(s, k)), in_memory([s], k)[0])
    source = open_trials(c, l, classes=["a", "b", "c"])
    assert source.classes == ("a", "b", "c")
    np.testing.assert_array_equal(gathered(source), in_memory([c], l, classes=["a", "b", "c"])[0])


def test_what_does_not_fit_is_refused(tmp_path):
    scores, mask = made(np.random.default_rng(5))
    path, key = stored(tmp_path, "npy", scores, mask)
    other = tmp_path / "other.npy"
    np.save(other, mask[:-1])
    with pytest.raises(KeyMismatchError, match=r"other\.npy is 22 x 17, .*scores\.npy 23 x 17"):
        open_trials(path, other)
    np.save(other, np.abs(mask).view(np.uint8))
    with pytest.raises(InputError, match=r"a mask of uint8\. Save it as booleans"):
        open_trials(path, other)
    np.save(other, 2 * mask)
    with pytest.raises(FormatError, match=r"other\.npy: the mask contains -?2 in row \d, column"):
        gathered(open_trials(path, other))
    with pytest.raises(InputError, match="name the speakers"):
        open_trials(path)
    with pytest.raises(InputError, match=r"two columns, one for each class.*Allow more memory"):
        open_trials(scores[:, :2], mask[:, 0], kind="two-class")
    with pytest.raises(InputError, match="where: needs columns"):
        open_trials(path, key, where={"gender": "f"})
    scores[7, 3] = np.nan
    np.save(path, scores)
    with pytest.raises(FormatError, match=r"scores\.npy: 1 of 22 scores are NaN, .* row 7, column 3\."):
        gathered(open_trials(path, key))


@pytest.mark.parametrize("kind", ["npy", "chunked", "zarr"])
def test_changes_and_damage_are_seen(tmp_path, kind):
    scores, mask = made(np.random.default_rng(6))
    path, key = stored(tmp_path, kind, scores, mask)
    source = open_trials(path, key)
    gathered(source)
    file = path / "zarr.json" if kind == "zarr" else path
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(FormatError, match="changed while it was read"):
        gathered(source)
    if kind != "zarr":
        file.write_bytes(file.read_bytes()[:-200])
        with pytest.raises(FormatError, match=r"scores\.(npy|h5)"):
            gathered(open_trials(path, key))


@pytest.mark.parametrize("turned", [False, True])
def test_matrices_meet_tables_by_name(tmp_path, turned):
    rng = np.random.default_rng(7)
    scores, mask = made(rng)
    matrix, matrix_key = stored(tmp_path, "chunked", scores, mask)
    with h5py.File(matrix_key, "a") as file:
        file["file_format"] = np.bytes_(b"2.0")
    rows = rng.permutation(np.argwhere(mask != 0))
    names = {"enroll": [f"m{row}" for row, _ in rows], "test": [f"t{column}" for _, column in rows]}
    if turned:
        table = write(pa.table({**names, "score": rng.normal(size=len(rows))}), tmp_path / "table", rng)
        paths = table, matrix_key
    else:
        label = ["target" if mask[row, column] == 1 else "nontarget" for row, column in rows]
        table = write(pa.table({**names, "label": label}), tmp_path / "table", rng)
        paths = matrix, table
    expected, report = in_memory([paths[0]], paths[1])
    source = open_trials(*paths, memory=9000)
    np.testing.assert_array_equal(gathered(source), expected)
    assert source.report == report
    np.save(tmp_path / "bare.npy", scores)
    with pytest.raises(InputError, match="have no names, so its trials cannot be matched with a table"):
        open_trials(tmp_path / "bare.npy", table)


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ([0, 1, 2] * 20 + [-1], r"truth\.npy, row 60: the label is -1, .* an integer from 0 below 3"),
        ([0.0, 1.0, 1.5] * 20 + [0.0], r"truth\.npy, row 2: the label is 1\.5"),
        (
            [0, 1, 2] * 20,
            r"truth\.npy is 60, .*scores\.npy 61 x 3\. A multiclass key must have the number of a class for",
        ),
    ],
)
def test_classes_that_are_none_are_refused_with_the_row_of_the_key(tmp_path, truth, words):
    np.save(tmp_path / "scores.npy", np.random.default_rng(1).normal(size=(61, 3)))
    np.save(tmp_path / "truth.npy", np.array(truth))
    with pytest.raises((FormatError, KeyMismatchError), match=words):
        for partition in open_trials(tmp_path / "scores.npy", tmp_path / "truth.npy", kind="classes").partitions:
            partition.read(TrialFields((0,), truth=True))


def test_trials_are_held_out_by_the_names_of_row_and_column(tmp_path):
    scores, mask = made(np.random.default_rng(3))
    (tmp_path / "named").mkdir()
    named = open_trials(*stored(tmp_path / "named", "h5", scores, mask), groups=())
    assert named.groups == ("enroll", "test")
    found = []
    for partition in named.partitions:
        (rows, of_rows), (columns, of_columns) = partition.read(TrialFields((), groups=True)).groups
        found += zip(of_rows.take(rows).to_pylist(), of_columns.take(columns).to_pylist(), strict=True)
    assert found == [(f"m{i}", f"t{j}") for i, j in np.argwhere(mask != 0)]
    bare = open_trials(*stored(tmp_path, "npy", scores, mask), groups=())
    assert bare.groups == ()
    with pytest.raises(InputError, match="cross_validate: a matrix has no columns to name"):
        open_trials(*stored(tmp_path, "npy", scores, mask), groups=["speaker"])
