"""Matrices of OpenBR, written here as its code writes them: four lines and the cells."""

import gzip

import numpy as np
import pytest

import deciban
from deciban import FormatError, KeyMismatchError
from deciban.io import read_contents
from deciban.io.recognition import readable_as
from support.text_formats import names_of

SCORE = np.array([[1.5, -2.25, 0.5], [np.inf, 0.0, -0.0]], np.float32)  # two probes, three in the gallery
MASK = np.array([[0xFF, 0x7F, 0x7F], [0x7F, 0xFF, 0x00]], np.uint8)


def openbr(path, cells, *, first=b"S2", order="<", shape=None):
    kind = b"B" if cells.dtype == np.uint8 else b"F"
    header = b"%s\ngallery.xml\nprobes.xml\nM%s %d %d " % (first, kind, *(shape or cells.shape))
    magic = np.array(0x12345678, f"{order}i4").tobytes()
    path.write_bytes(header + magic + b"\n" + cells.astype(cells.dtype.newbyteorder(order)).tobytes())
    return path


@pytest.mark.parametrize("order", ["<", ">"])
def test_similarities(tmp_path, order):
    contents = read_contents(openbr(tmp_path / "s.mtx", SCORE, order=order))
    assert contents.kinds == ("scores", "index")
    cells = dict(zip(names_of(contents.index.trials), contents.scores.score.tolist(), strict=True))
    assert cells == {(f"{j + 1}/3", f"{i + 1}/2"): float(SCORE[i, j]) for i in range(2) for j in range(3)}
    assert contents.scores.score.dtype == np.float32
    assert "gallery.xml against probes.xml" in contents.origin.reading


def test_distances_have_the_other_sign(tmp_path):
    contents = read_contents(openbr(tmp_path / "d.mtx", -SCORE, first=b"D2"))
    plain = read_contents(openbr(tmp_path / "s.mtx", SCORE))
    assert contents.scores.score.tolist() == plain.scores.score.tolist()
    assert "distances, signs changed" in contents.origin.reading


def test_masks(tmp_path):
    path = openbr(tmp_path / "s.mask", MASK)
    assert readable_as(path, ("scores", "key")) == ("key",)
    key = read_contents(path, need="key").key
    truth = dict(zip(names_of(key.trials), key.is_target.tolist(), strict=True))
    expected = {(f"{j + 1}/3", f"{i + 1}/2"): MASK[i, j] == 0xFF for i in range(2) for j in range(3) if MASK[i, j]}
    assert truth == expected


def test_a_matrix_is_judged_by_its_mask(tmp_path):
    rng = np.random.default_rng(0)
    match = np.arange(60).reshape(6, 10) % 4 == 0
    score = (rng.normal(size=(6, 10)) + match).astype(np.float32)
    mask = np.where(match, 0xFF, 0x7F).astype(np.uint8)
    mask[3] = 0
    score[3] = np.nan  # as Bob writes what is no trial
    openbr(tmp_path / "s.mtx", score)
    openbr(tmp_path / "s.mask", mask)
    results = deciban.evaluate_files(tmp_path / "s.mtx", tmp_path / "s.mask")
    by_hand = deciban.evaluate(score[mask == 0xFF].astype(float), score[mask == 0x7F].astype(float))
    assert results.systems[0].cllr == pytest.approx(by_hand.cllr, rel=1e-14)
    assert results.systems[0].eer == by_hand.eer
    assert any("10 cells are NaN, so they are not trials" in message.text for message in results.messages)


def test_a_mask_of_another_size_shares_no_trial(tmp_path):
    openbr(tmp_path / "s.mtx", SCORE)
    openbr(tmp_path / "s.mask", np.ascontiguousarray(MASK[:, :2]))
    with pytest.raises(KeyMismatchError):
        deciban.evaluate_files(tmp_path / "s.mtx", tmp_path / "s.mask")


def test_compressed(tmp_path):
    path = openbr(tmp_path / "s.mtx", SCORE)
    (tmp_path / "s.mtx.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read_contents(tmp_path / "s.mtx.gz").scores.score.tolist() == read_contents(path).scores.score.tolist()


def test_hostile_files(tmp_path):
    path = openbr(tmp_path / "s.mtx", SCORE)
    data = path.read_bytes()
    start = len(data) - SCORE.nbytes
    mask = openbr(tmp_path / "m.mask", np.array([[255, 1]], np.uint8)).read_bytes()
    cases = {
        data[:-1]: "the file was cut off",
        data[:start]: "the file was cut off",
        data + b"\0": "other data follow",
        data.replace(b"MF 2 3", b"MF 999999999 999999999"): "the file was cut off",
        data.replace(b"MF 2 3", b"MF 0 3"): "there is no trial",
        data[: start - 5] + b"abcd\n" + data[start:]: "ends with the bytes 61626364",
        data[: start - 3]: "not a matrix of OpenBR",
        data[:start] + np.full(6, np.nan, np.float32).tobytes(): "contains no trials",
        mask: "the mask contains 0x01 in row 1, column 2",
    }
    for bad, message in cases.items():
        path.write_bytes(bad)
        with pytest.raises(FormatError, match=message):
            read_contents(path)
    path.write_bytes(data)
    with pytest.raises(FormatError, match="have no roles"):
        read_contents(path, columns="score=1", format="openbr")
