"""HDF5 files that are damaged, or made to harm whoever reads them."""

import gzip
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import FormatError
from deciban.io.formats import by_name
from deciban.io.source import Source
from deciban.trials import IdMap, Key, Scores, Trials
from support.hdf5_files import (
    FULL,
    IDS,
    KEY_TRUTH,
    MASK,
    MASKED,
    MASKED_SCORES,
    MODELS,
    PACKED_MEBIBYTE,
    SCORES,
    SEGMENTS,
    assert_same_bits,
    at_most,
    damage,
    h5,
    read,
    refused,
    sound_or_refused,
    written,
)


def edited(tmp_path, change, removed="scores"):
    """A sound file with one dataset made anew."""
    path = h5(tmp_path / "evil.h5", IDS | MASKED)
    with h5py.File(path, "a") as file:
        del file[removed]
        change(file)
    return path


def test_links_are_not_followed(tmp_path):
    h5(tmp_path / "secret.h5", {"scores": SCORES})

    def soft(file):
        file["elsewhere"] = SCORES
        file["scores"] = h5py.SoftLink("/elsewhere")

    refused(edited(tmp_path, soft), "scores is a soft or external link", "bosaris-hdf5")

    def external(file):
        file["scores"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/scores")

    refused(edited(tmp_path, external), "scores is a soft or external link")

    def group(file):
        file["ID"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/")

    refused(edited(tmp_path, group, "ID"), "ID is a soft or external link")


def test_cells_in_other_files_are_not_read(tmp_path):
    raw = tmp_path / "secret.raw"
    raw.write_bytes(bytes(48))
    refused(
        edited(tmp_path, lambda file: file.create_dataset("scores", (2, 3), "f8", external=[(str(raw), 0, 48)])),
        "are in other files",
    )
    h5(tmp_path / "secret.h5", {"scores": SCORES})

    def virtual(file):
        layout = h5py.VirtualLayout((2, 3), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "scores", (2, 3))
        file.create_virtual_dataset("scores", layout)

    refused(edited(tmp_path, virtual), "are in other files")


def test_groups_that_hold_themselves_do_no_harm(tmp_path):
    path = h5(tmp_path / "cycle.h5", IDS | MASKED)
    with h5py.File(path, "a") as file:
        file["ID/ID"] = file["ID"]
        file["ID/root"] = file["/"]
    assert len(read(path).scores) == 4
    with h5py.File(path, "a") as file:
        del file["scores"]
        file["scores"] = file["/"]
    refused(path, "/scores: expected a dataset, but this is a group")


def sparse_file(tmp_path, **places):
    def change(file):
        for place, (shape, kind, storage) in places.items():
            if place in file:
                del file[place]
            file.create_dataset(place, shape, kind, **storage)

    return edited(tmp_path, change)


@pytest.mark.parametrize(
    "places",
    [
        {"scores": ((10**6, 10**6), "f8", {})},
        {"scores": ((10**6, 10**6), "f8", {"fillvalue": 1.0})},
        {"scores": ((10**6, 10**6), "f8", {"chunks": (100, 100), "compression": "gzip"})},
        {"scores": ((2, 3), "f8", {"chunks": (2**14, 2**14), "maxshape": (None, None)})},
        {"score_mask": ((10**6, 10**6), "u1", {"fillvalue": 2})},
        {"score_mask": ((10**6, 10**6), "u1", {"fillvalue": 1})},
        {"ID/row_ids": ((10**12,), "S10", {})},
        {"ID/row_ids": ((10**12,), h5py.string_dtype(), {})},
        {"ID/row_ids": ((10**9,), h5py.string_dtype(), {"chunks": (10**6,), "compression": "gzip"})},
    ],
)
def test_promises_without_storage_cost_nothing(tmp_path, places):
    path = sparse_file(tmp_path, **({"scores": ((2, 3), "f8", {})} | places))
    with at_most(16 << 20):
        refused(path, "declares|chunks of|has shape")


def test_a_full_index_has_an_end(tmp_path):
    def change(file):
        for side in ("row", "column"):
            file[f"ID/{side}_ids"] = np.arange(70000).astype("S5")
        file.create_dataset("trial_mask", (70000, 70000), "u1", fillvalue=1)

    path = h5(tmp_path / "index.h5", {})
    with h5py.File(path, "a") as file:
        change(file)
    refused(path, "declares 4,900,000,000 trials")


def test_unknown_and_repeated_filters_are_refused(tmp_path):
    def twice(file):
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((2, 3))
        plan.set_deflate(9)
        plan.set_deflate(9)
        h5py.h5d.create(file.id, b"scores", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((2, 3)), plan)

    refused(edited(tmp_path, twice), "filters deflate, deflate")
    refused(edited(tmp_path, lambda file: file.create_dataset("scores", data=MASK, scaleoffset=0)), "filters number 6")
    refused(
        edited(tmp_path, lambda file: file.create_dataset("scores", data=SCORES, compression="lzf")),
        "filters number 32000",
    )


def test_a_chunk_shorter_than_its_checksum_is_refused(tmp_path):
    """The HDF5 library crashes on it."""

    def short(file):
        dataset = file.create_dataset("scores", (2, 3), "f8", chunks=(2, 3), fletcher32=True)
        dataset.id.write_direct_chunk((0, 0), b"abc")

    refused(edited(tmp_path, short), r"/scores: the chunk at \(0, 0\) is damaged")


def test_a_fill_value_that_makes_no_sense_is_refused(tmp_path):
    """The HDF5 library crashes when asked for it."""
    path = tmp_path / "fill.h5"
    mask = {"trial_mask": MASK}
    data = h5(path, IDS | mask, compression="gzip").read_bytes()
    versions = [at for at in range(len(data) - 4) if data[at : at + 4] in (b"\x02\x03\x02\x01", b"\x02\x01\x02\x01")]
    assert versions
    for at in versions:
        for flags in range(16):
            path.write_bytes(data[: at + 1] + bytes([flags & 3, flags >> 2, 0]) + data[at + 4 :])
            sound_or_refused(path, "bosaris-hdf5")
        path.write_bytes(data[: at + 3] + bytes([0]) + data[at + 4 :])
        sound_or_refused(path, "bosaris-hdf5")


@pytest.mark.parametrize("storage", [{}, {"chunks": (1, 3)}])
def test_a_fill_value_of_negative_length_is_refused(tmp_path, storage):
    """The HDF5 library crashes when asked for it; only of cells that were never written it is asked for."""
    path = h5(tmp_path / "fill.h5", IDS)
    with h5py.File(path, "a") as file:
        file.create_dataset("trial_mask", (2, 3), "u1", fillvalue=1, **storage)
    assert len(read(path).index.trials) == 6
    data = path.read_bytes()
    made = b"\x03" if storage else b"\x02"  # when room is made for cells, then: written if set, defined, one byte, 1
    at = data.index(made + b"\x02\x01\x01\0\0\0\x01") + 3
    for length in (-2, -(1 << 24), -(1 << 31)):
        path.write_bytes(data[:at] + length.to_bytes(4, "little", signed=True) + data[at + 4 :])
        refused(path, "damaged", "bosaris-hdf5")


def test_parts_of_chunks_and_chunks_that_were_never_written(tmp_path):
    values = np.arange(35.0).reshape(5, 7)
    names = {"ID/row_ids": np.arange(5).astype("S1"), "ID/column_ids": np.arange(7).astype("S1")}
    path = h5(tmp_path / "parts.h5", names)
    with h5py.File(path, "a") as file:
        how = {"chunks": (2, 3), "fillvalue": -1.5, "compression": "gzip", "shuffle": True, "fletcher32": True}
        dataset = file.create_dataset("scores", (5, 7), ">f8", **how)
        dataset[2:, 2:] = values[2:, 2:]
        expected = dataset[()].astype("f8")
        file.create_dataset("score_mask", data=np.ones((5, 7), bool), chunks=(4, 4), shuffle=True)
    assert -1.5 in expected
    assert_same_bits(read(path).scores.score, expected.ravel())


BOMB = b"x\x9c" + 1100 * PACKED_MEBIBYTE


def test_a_chunk_that_is_a_bomb_is_refused(tmp_path):
    def bomb(file):
        dataset = file.create_dataset("scores", (2, 3), "f8", chunks=(2, 3), compression="gzip")
        assert len(BOMB) > 1 << 20
        dataset.id.write_direct_chunk((0, 0), BOMB)

    with at_most(20 << 20):
        refused(edited(tmp_path, bomb), r"the chunk at \(0, 0\) is damaged")


def test_a_large_chunk_that_is_a_bomb_is_refused(tmp_path):
    n = 1024

    def bomb(file):
        del file["score_mask"], file["ID"]
        for side in ("row", "column"):
            file[f"ID/{side}_ids"] = np.arange(n).astype("S4")
        dataset = file.create_dataset("scores", (n, n), "f8", chunks=(n, n), compression="gzip")
        dataset.id.write_direct_chunk((0, 0), BOMB)

    refused(edited(tmp_path, bomb), r"the chunk at \(0, 0\) is damaged")


def test_names_that_share_one_long_string_are_refused(tmp_path):
    """A reference to a string takes 16 bytes, and any number of them may name the same string."""
    path = tmp_path / "shared.h5"
    n = 3000
    with h5py.File(path, "w") as file:
        text = h5py.string_dtype()
        names = file.create_dataset("ID/row_ids", (n,), text)
        names[0] = "x" * 60000
        file["ID/column_ids"] = SEGMENTS
        file["scores"] = np.zeros((n, 3))
        names[1:] = ["y"] * (n - 1)
        offset = names.id.get_offset()
    data = bytearray(path.read_bytes())
    data[offset : offset + 16 * n] = data[offset : offset + 16] * n
    path.write_bytes(data)
    refused(path, "row_ids: the names are longer than the whole file")


def test_damaged_heaps_of_names_are_refused(tmp_path):
    """The HDF5 library reads some of these for ever."""
    path = h5(tmp_path / "heap.h5", IDS | FULL)
    data = path.read_bytes()
    at = data.index(b"GCOL")
    n_refused = 0
    for place in range(at, at + 80):
        for value in (0, 255):
            path.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
            try:
                assert len(read(path).scores) == 6
            except FormatError:
                n_refused += 1
    assert n_refused > 20


@pytest.mark.parametrize("storage", [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}])
@pytest.mark.parametrize("shape", [(7,), (7, 1)])
def test_names_of_variable_length_in_chunks(tmp_path, storage, shape):
    names = np.array(["", "b", "ü" * 5000, "d d", "e", "f", "g" * 300], object)
    path = h5(tmp_path / "chunks.h5", {"ID/column_ids": SEGMENTS, "scores": np.zeros((7, 3))})
    with h5py.File(path, "a") as file:
        chunks = (3,) if len(shape) == 1 else (3, 1)
        kind = h5py.string_dtype()
        file["ID"].create_dataset("row_ids", data=names.reshape(shape), dtype=kind, chunks=chunks, **storage)
    assert read(path).scores.trials.names[0].to_pylist() == names.tolist()
    stream = path.read_bytes()
    compressed = tmp_path / "chunks.h5.gz"
    compressed.write_bytes(gzip.compress(stream))
    assert read(compressed).scores.trials.names[0].to_pylist() == names.tolist()


def test_names_of_variable_length_that_were_never_written(tmp_path):
    path = h5(tmp_path / "none.h5", {"ID/column_ids": SEGMENTS, "scores": np.zeros((2, 3))})
    with h5py.File(path, "a") as file:
        file["ID"].create_dataset("row_ids", (2,), h5py.string_dtype())
    refused(path, "row_ids: 1 of 2 names repeat another one, the first ''")


def test_files_cut_off_anywhere_are_refused(tmp_path):
    data = written(Scores(Trials.of_grid(MODELS, SEGMENTS, MASK == 1), MASKED_SCORES), "bosaris-hdf5")
    path = tmp_path / "cut.h5"
    for length in range(8, len(data), 97):
        path.write_bytes(data[:length])
        refused(path, "damaged", "bosaris-hdf5")
    path.write_bytes(os.urandom(3000))
    refused(path, "damaged", "bosaris-hdf5")


_SOUND = {
    "scores": written(Scores(Trials.of_grid(MODELS, SEGMENTS, MASK == 1), MASKED_SCORES), "bosaris-hdf5"),
    "key": written(Key(Trials.of_grid(MODELS, SEGMENTS, MASK == 1), np.array(KEY_TRUTH)), "bosaris-hdf5"),
    "map": written(IdMap.of({"m1": "ann", "m2": "bob"}), "bosaris-hdf5"),
}


@given(st.sampled_from(sorted(_SOUND)).flatmap(lambda kind: damage(_SOUND[kind])))
def test_damage_is_refused_or_does_no_harm(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.h5"
        path.write_bytes(data)
        sound_or_refused(path, "bosaris-hdf5")
        with suppress(FormatError):
            by_name("bosaris-hdf5").recognizes(Source(path))
