"""Outputs that cannot be written are refused before anything is read: the inputs need not even be there."""

import pytest

from deciban.calibration import ShiftCalibrator
from deciban.errors import InputError
from deciban.io.writing import refuse_overwriting

ABSENT = "absent.txt --key absent.key"
REFUSED = {
    "a page of another ending": (f"report {ABSENT} -o page.pdf", "'page.pdf' must end in .html or .htm"),
    "a page without an ending": (f"report {ABSENT} -o page", "'page' must end in .html or .htm"),
    "a page without a folder": (f"report {ABSENT} -o nodir/page.html", "the folder 'nodir' does not exist"),
    "a folder as page": (f"report {ABSENT} -o .", "is the name of a folder|is a directory"),
    "a plot of another ending": (f"plot det {ABSENT} -o det.html", "'det.html' must end in .svg, .png or .pdf"),
    "a plot without a folder": (f"plot det {ABSENT} -o nodir/det.pdf", "the folder 'nodir' does not exist"),
    "a calibration without a folder": (f"calibrate {ABSENT} -o nodir/m.json", "the folder 'nodir' does not exist"),
    "a fusion without a folder": (f"fuse {ABSENT} -o nodir/m.json", "the folder 'nodir' does not exist"),
    "llrs without a folder": (
        f"calibrate {ABSENT} -o m.json --llrs nodir/out.txt",
        "the folder 'nodir' does not exist",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_refused_before_anything_is_read(case, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, message = REFUSED[case]
    code, out, err = run(words)
    assert (code, out) == (2, ""), err
    told = " ".join(err.split())
    assert any(one in told for one in message.split("|")), told
    assert "absent" not in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        "report in.html --key in.key -o in.html",
        "report in.txt --key in.html -o in.html",
        "report in.txt --key in.key --model in.html -o in.html",
        "report in.txt --key in.key --ids in.html -o in.html",
        "plot det in.txt --key in.key --ids in.svg -o in.svg",
        "calibrate in.txt --key in.key --ids in.html -o in.html",
        "fuse in.txt in.svg --key in.key --ids in.html -o m.json --llrs in.html",
        "apply in.json in.txt --ids in.html -o in.html",
        "plot det in.svg --key in.key -o in.svg",
        "plot det in.txt --key in.svg -o in.svg",
        "plot det in.txt in.svg --key in.key -o ./in.svg",
    ],
)
def test_an_input_is_not_replaced(words, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in.txt", "in.html", "in.svg"):
        (tmp_path / name).write_text("a b 1\na c 0\n")  # which is read as scores, whatever it is called
    (tmp_path / "in.key").write_text("a b target\na c nontarget\n")
    ShiftCalibrator().fit([1.0, 2.0, 0.0], [True, False, False]).save(tmp_path / "in.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = run(words)
    assert (code, out) == (2, ""), err
    assert "is an input" in " ".join(err.split())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_can_be_written(tmp_path):
    for name in ("-", tmp_path / "page.html", tmp_path / "anything"):
        refuse_overwriting([name], [])
    for name in (tmp_path, f"{tmp_path}/", f"{tmp_path}/new/", tmp_path / "no" / "file"):
        with pytest.raises(InputError, match="name of a folder|does not exist"):
            refuse_overwriting([name], [])
    refuse_overwriting([tmp_path], [], made=tmp_path)
