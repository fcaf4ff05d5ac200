"""An input that is recognized first and read afterwards: looked at once, and read as it would be from its path."""

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pytest

from deciban import FormatError, Scores
from deciban.io import read_contents, recognition, write
from deciban.io.reader import read_input
from deciban.io.recognition import readable_as, recognize
from deciban.io.source import Source
from deciban.io.text.finding import FirstLines

GOLDEN = Path(__file__).parents[1] / "golden/formats"
WIDE = "trial,eng,fra\nseg1,2.25,-1.5\nseg2,-0.5,0.75\n"
ALL = ("scores", "key", "class-scores", "class-key")


@pytest.mark.parametrize("path", sorted(GOLDEN.iterdir()), ids=lambda path: path.name)
def test_what_is_recognized_is_read_as_from_its_path(path):
    found = recognize(path)
    held = readable_as(found, ALL)
    assert held == readable_as(path, ALL)
    for kind in held:
        read, own = read_input(found, need=kind).contents, read_contents(path, need=kind)
        assert (read.kinds, read.origin.reading, len(read.index)) == (own.kinds, own.origin.reading, len(own.index))


def test_the_layout_is_found_once_and_the_file_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(gzip.compress(WIDE.encode()))
    asked, unpacked = [], []
    find, data = FirstLines.only_layout, Source.data.func

    def counted(lines):
        asked.append(lines.options.need)
        return find(lines)

    monkeypatch.setattr(FirstLines, "only_layout", counted)
    monkeypatch.setattr(recognition.sources, "read_text", lambda source: unpacked.append(1) or data(source))
    found = recognize(path)
    assert readable_as(found, ["scores", "class-scores"]) == ("class-scores",)
    assert readable_as(found, ["class-scores", "class-key"]) == ("class-scores",)
    read_input(found, need="class-scores")
    assert asked.count("class-scores") == 1
    assert unpacked == [1]


def test_standard_input_is_told_by_what_it_holds(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(WIDE.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    found = recognize("-")
    assert readable_as(found, ALL) == ("class-scores",)
    assert read_input(found, need="class-scores").contents.class_scores.score.tolist() == [[2.25, -1.5], [-0.5, 0.75]]


def test_patterns_are_told_by_the_first_file_and_read_whole(tmp_path):
    for i in range(3):
        (tmp_path / f"part-{i}.txt").write_text(f"ann s{i} {i}.5\n")
    found = recognize(tmp_path / "part-*.txt")
    assert readable_as(found, ALL) == ("scores",)
    assert read_input(found, need="scores").contents.scores.score.tolist() == [0.5, 1.5, 2.5]


def test_options_are_said_where_the_input_is_recognized(tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("ann x 1.5 2.5\nbob y 3.5 -1\n")
    found = recognize(path, columns="enroll,test,-,score", labels={"target": "t", "nontarget": "n"})
    assert read_input(found, need="scores", unit="log10").contents.scores.score.tolist() == [2.5, -1]


def test_lines_longer_than_the_sample_are_seen_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(recognition, "_SAMPLED_BYTES", 64)
    rows = [["trial", *(f"class{i}" for i in range(50))], *([f"s{i}", *["1.5"] * 50] for i in range(4))]
    (tmp_path / "wide.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    assert readable_as(tmp_path / "wide.csv", ALL) == ("class-scores",)
    assert read_contents(tmp_path / "wide.csv", need="class-scores").class_scores.score.shape == (4, 50)


def test_binary_files_are_recognized_once(tmp_path):
    write(Scores.of({"enroll": ["a"], "test": ["x"]}, [1.0]), tmp_path / "one.h5")
    found = recognize(tmp_path / "one.h5")
    assert readable_as(found, ("scores", "class-scores")) == ("scores",)
    assert read_input(found, need="scores").contents.scores.score.tolist() == [1]
    np.save(tmp_path / "v.npy", np.zeros(3))
    assert readable_as(recognize(tmp_path / "v.npy"), ALL) == ("scores", "key", "class-key")


def test_nothing_is_read_before_it_is_needed(tmp_path):
    found = recognize(tmp_path / "none.txt")
    with pytest.raises(FileNotFoundError):
        readable_as(found, ALL)
    (tmp_path / "empty.txt").touch()
    assert readable_as(recognize(tmp_path / "empty.txt"), ALL) == ()
    with pytest.raises(FormatError, match="the file is empty"):
        read_input(recognize(tmp_path / "empty.txt"))
