"""What spreadsheet programs write: semicolons with decimal commas, and workbooks."""

import io
import sys
import zipfile

import numpy as np
import pytest

import deciban
from deciban.errors import FormatError, InputError
from deciban.io.reader import read_contents
from deciban.io.source import Source
from deciban.io.text import has_semicolons, of_semicolons

SCORE = [0.5, -1.25, 2.0, -0.75]
LABEL = [1, 0, 1, 0]


def read(path, need="scores"):
    return read_contents(path, need=need)


@pytest.mark.parametrize(
    "text",
    [
        "label;score\n1;0,5\n0;-1,25\n1;2\n0;-,75\n",
        "\ufefflabel;score\r\n1;0,5\r\n0;-1,25\r\n1;2,0\r\n0;-7,5e-1\r\n",
        "# a comment; with semicolons; and more\n\nprob;label\n0,5;1\n-1,25;0\n\n2,;1\n-0,75;0",
        'id;label;score;note\n"x;1";1;0,5;a\n"x,2";0;-1,25;"b""c"\nx3;1;2,0;\nx4;0;-0,75;d\n',
        "label;score\n1;0.5\n0;-1.25\n1;2\n0;-.75\n",
    ],
    ids=["plain", "windows", "comments", "quotes", "points"],
)
def test_semicolons_separate_columns(tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text.encode())
    contents = read(tmp_path / "a.csv")
    assert contents.systems[0].score.tolist() == SCORE
    assert contents.key.is_target.tolist() == list(map(bool, LABEL))
    assert "semicolons" in contents.origin.reading


def test_names_keep_their_semicolons_and_commas(tmp_path):
    (tmp_path / "a.csv").write_text('id;label;score\n"x;1";1;0,5\n"x,2";0;-1,5\n')
    trials = read(tmp_path / "a.csv").index.trials
    assert [trials.name_of(at) for at in (0, 1)] == ["(x;1)", "(x,2)"]


def test_faults_are_found_on_their_lines(tmp_path):
    (tmp_path / "a.csv").write_text("label;score\n1;0,5\n\n0;1.234,5\n1;2\n")
    with pytest.raises(FormatError, match=r"a.csv:4: the score '1.234,5' is not a number"):
        read(tmp_path / "a.csv")
    with pytest.raises(FormatError, match=r":3: column 2 has decimal commas \(line 2\) and points \(line 3\)"):
        of_semicolons(b"label;score\n1;0,5\n0;0.5\n", Source("a.csv"))


@pytest.mark.parametrize(
    "head",
    [b"a;b 0.5\nc;d 1.5\n", b"1;2 0.5\n3;4 1.5\n", b"a;b\nc\n", b"a\tb;c\n1\t2;3\n", b"x;y\nu;v\n", b"a,b\n1,2\n"],
)
def test_other_tables_are_left_alone(head):
    assert not has_semicolons(head)


def test_other_scores_are_written_as_commas(tmp_path):
    (tmp_path / "a.csv").write_text("label;score\n" + "".join(f"{at % 2};{at % 3},{at}\n" for at in range(30)))
    deciban.train_files(tmp_path / "a.csv").model.save(tmp_path / "m.json")
    deciban.apply_files(tmp_path / "m.json", tmp_path / "a.csv", tmp_path / "out.csv")
    assert read(tmp_path / "out.csv").key.n_tar == 15
    with pytest.raises(InputError, match="but does not write them"):
        deciban.apply_files(tmp_path / "m.json", tmp_path / "a.csv", tmp_path / "out.xlsx")


@pytest.fixture
def book():
    return pytest.importorskip("openpyxl").Workbook()


def filled(sheet, rows):
    for row in rows:
        sheet.append(row)


def saved(book, path):
    book.save(path)
    return path


def test_the_first_sheet_that_is_not_empty(tmp_path, book):
    filled(book.create_sheet("Scores"), [["label", "score"], *zip(LABEL, SCORE, strict=True)])
    filled(book.create_sheet("More"), [["x"]])
    contents = read(saved(book, tmp_path / "a.xlsx"))
    assert np.array_equal(contents.systems[0].score, SCORE)
    assert contents.origin.reading.startswith("sheet 'Scores' (not read: 'More') table")
    assert contents.systems[0].name == "a"


def test_a_sheet_of_words_before_the_numbers_is_not_read(tmp_path, book):
    filled(book.create_sheet("About"), [["Laboratory", "Version"], ["North", "second"]])
    texts = [f"{score}".replace(".", ",") for score in SCORE]
    words = ["same" if label else "different" for label in LABEL]
    filled(book.create_sheet("Scores"), [["label", "score"], *zip(words, texts, strict=True)])
    contents = read(saved(book, tmp_path / "a.xlsx"))
    assert np.array_equal(contents.systems[0].score, SCORE)
    assert contents.origin.reading.startswith("sheet 'Scores' (not read: 'About') table")


def test_numbers_as_text_and_blank_rows(tmp_path, book):
    texts = [f"{score}".replace(".", ",") for score in SCORE]
    filled(book.active, [[None, None], ["label", "score", None], [], *zip(LABEL, texts, strict=True), [" ", None]])
    assert read(saved(book, tmp_path / "a.xlsx")).systems[0].score.tolist() == SCORE


def test_faults_of_a_sheet_are_found_in_their_rows(tmp_path, book):
    filled(book.active, [["label", "score"], [1, 0.5], [0, "#N/A"], [1, 2]])
    with pytest.raises(FormatError, match="a.xlsx:3: the score '#N/A' is not a number"):
        read(saved(book, tmp_path / "a.xlsx"))
    with pytest.raises(FormatError, match="all sheets of this workbook are empty"):
        read(saved(type(book)(), tmp_path / "b.xlsx"))


def changed(data, change):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            text = old.read(entry)
            new.writestr(entry.filename, change(text) if entry.filename.endswith("sheet1.xml") else text)
    return out.getvalue()


def test_hostile_workbooks_are_refused(tmp_path, book, monkeypatch):
    filled(book.active, [["label", "score"], [1, 0.5]])
    data, path = saved(book, tmp_path / "a.xlsx").read_bytes(), tmp_path / "b.xlsx"
    entity = b'<!DOCTYPE a [<!ENTITY b "c">]>'
    cases = {
        "damaged, or not an Excel workbook": data[: len(data) // 2],
        "defines entities": changed(data, lambda text: entity + text),
        "damaged": changed(data, lambda text: text[:100]),
    }
    for message, hostile in cases.items():
        path.write_bytes(hostile)
        with pytest.raises(FormatError, match=message):
            read(path)
    monkeypatch.setattr("deciban.io.text._HARMLESS", 1 << 16)
    path.write_bytes(changed(data, lambda text: text + b" " * (1 << 20)))
    with pytest.raises(FormatError, match="may be a decompression bomb"):
        read(path)


def test_rows_far_down_are_not_made_up(tmp_path, book, monkeypatch):
    filled(book.active, [["label", "score"], [1, 0.5]])
    book.active.cell(row=5000, column=100, value=1)
    monkeypatch.setattr("deciban.io.text._MOST_CELLS", 1000)
    with pytest.raises(FormatError, match="more than 1,000 cells"):
        read(saved(book, tmp_path / "a.xlsx"))


def test_without_openpyxl_the_extra_is_named(tmp_path, book, monkeypatch):
    path = saved(book, tmp_path / "a.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(FormatError, match=r"deciban\[excel\]"):
        read(path)
