"""convert, validate, formats and inspect as users type them."""

import numpy as np
import pytest


@pytest.fixture
def run(run_binary):
    return run_binary


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.txt"
    path.write_text("ann x 0.5\nann y -2\nbob x 1e-300\n")
    return path


def test_convert_says_what_it_did(run, scores, tmp_path):
    code, out, err = run("convert", scores, tmp_path / "scores.h5")
    assert (code, out) == (0, b"")
    assert err.splitlines() == [
        f"read  {scores}   kaldi 'enroll test score'   3 trials",
        f"wrote  {tmp_path / 'scores.h5'}   as bosaris-hdf5",
    ]
    code, out, err = run("convert", "-q", tmp_path / "scores.h5", "-", "--to", "kaldi")
    assert (code, out, err) == (0, b"ann x 0.5\nann y -2\nbob x 1e-300\n", "")


def test_convert_reads_standard_input(run, scores):
    code, out, err = run("convert", "-", "-", "--to", "table", stdin=scores.read_bytes())
    assert (code, out) == (0, b"enroll,test,score\nann,x,0.5\nann,y,-2\nbob,x,1e-300\n")
    assert err.splitlines()[-1] == "wrote  standard output   as table"


def test_convert_reads_a_key_as_it_is_told(run, scores, tmp_path):
    (tmp_path / "key").write_text("x ann target\ny ann nontarget\nx bob target\n")
    words = ("--key", tmp_path / "key", "--key-columns", "test,enroll,label", "--key-format", "kaldi")
    code, out, err = run("convert", scores, "-", "--to", "wespeaker", *words)
    assert (code, out) == (0, b"ann x 0.5 target\nann y -2 nontarget\nbob x 1e-300 target\n"), err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "voxceleb"], "voxceleb contains key"),
        (["--to", "nope"], "'nope' is unknown"),
        (["--format", "nope"], "'nope' is unknown"),
        (["--what", "key"], "Are scores and key swapped?"),
        (["--what", "nope"], "Invalid value for '--what'"),
    ],
)
def test_what_cannot_be_converted_leaves_the_old_file(words, message, run, scores, tmp_path):
    old = tmp_path / "out.txt"
    old.write_text("old")
    code, out, err = run("convert", scores, old, *words)
    assert (code, out) == (2, b"")
    assert message in err
    assert old.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "scores.txt"]


def test_validate(run, scores, tmp_path):
    trials = tmp_path / "trials.txt"
    trials.write_text("ann x\nann y\nbob x\n")
    code, out, err = run("validate", scores, "--trials", trials)
    assert (code, out) == (0, b"valid\n")
    assert "3 trials" in err
    trials.write_text("ann x\nann y\nbob z\n")
    code, out, err = run("validate", "-q", scores, "--trials", trials)
    assert code == 2
    assert out.decode().splitlines() == [
        f"1 trial of the list without a score, the first: {trials}:3 (bob, z)",
        f"1 score of trials that are not in the list, the first: {scores}:3 (bob, x)",
    ]
    assert err == ""


def test_formats_are_listed(run):
    code, out, _ = run("formats")
    assert code == 0
    rows = {line.split()[0]: line for line in out.decode().splitlines()}
    assert "not verified" in rows["nist-sre08"]
    assert "scores" in rows["bosaris-hdf5"]


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("".join(f"m{i} s {i % 7 / 10}\n" for i in range(2000)), "rounding to 1 decimals"),
        (f"{'n' * 100} s 1.25\nb s 2.5\n", "exactly 100 characters"),
        ("".join(f"a{i} s 0.{i}\n" for i in range(1, 11)), "lie in [0, 1]"),
        ("a s 1.5\na s 1.5\n", "1 rows repeat an earlier trial"),
        ("a -5.5 target\nb 6.5 nontarget\n", "Is the sign inverted?"),
    ],
)
def test_inspect_remarks(text, remark, run, tmp_path):
    path = tmp_path / "f.txt"
    path.write_text(text)
    code, out, _ = run("inspect", path)
    assert code == 0
    assert remark in out.decode()


def test_inspect_sees_common_logarithms(run, tmp_path):
    rng = np.random.default_rng(3)
    truth = np.arange(4000) % 2 == 0
    llr = rng.normal(np.where(truth, 8, -8), 4)  # Gaussian llrs are calibrated where the mean is half the variance
    for name, scale in {"nats": 1, "log10": np.log(10)}.items():
        lines = (
            f"t{i} {x / scale} {'target' if t else 'nontarget'}\n"
            for i, (x, t) in enumerate(zip(llr, truth, strict=True))
        )
        (tmp_path / name).write_text("".join(lines))
    assert b"log10 likelihood ratios, add --log10" in run("inspect", tmp_path / "log10")[1]
    assert b"log10" not in run("inspect", tmp_path / "nats")[1].replace(b"/nats", b"")


def test_inspect_describes_everything(run, tmp_path):
    (tmp_path / "k.csv").write_text("trial,class,gender\na,eng,f\nb,fra,m\nc,eng,f\n")
    out = run("inspect", tmp_path / "k.csv")[1].decode()
    assert "eng 2, fra 1" in out
    assert "2 distinct values: f, m" in out
