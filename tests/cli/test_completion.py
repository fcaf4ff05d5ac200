"""What bash is offered, by the command as bash calls it; and that help and errors stay as they are."""

import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.calibration import __all__ as calibrators
from deciban.cli.parsing import columns_of
from deciban.evaluation import presets
from deciban.io.formats import formats


@pytest.fixture
def offered(tmp_path, monkeypatch, run):
    """Offers for a line whose last word is being typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text('modelid,segmentid,"LLR"\na,b,1.5\n')
    (tmp_path / "k.tsv").write_text("modelid\tsegmentid\tgender\ttargettype\na\tb\tf\ttarget\n")
    (tmp_path / "plain.txt").write_text("a b 1.5\n")
    (tmp_path / "kaldi").write_text("m1 s1 target\nm2 s2 nontarget\nm2 s1 nontarget\nm1 s3 target\n")
    pq.write_table(pa.table({"trial": ["a"], "llr": [0.5]}), tmp_path / "s.parquet")

    def complete(line, *, is_process=False):
        words = [one for one in re.split(r" |(=)", line) if one is not None]  # as bash does
        words = [one for k, one in enumerate(words) if one or k == len(words) - 1]
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        monkeypatch.setenv("_DECIBAN_COMPLETE", "bash_complete")
        code, out, err = called(is_process)
        assert (code, err) == (0, "")
        return [tuple(one.split(",", 1)) for one in out.splitlines() if one]

    def called(is_process):
        if not is_process:
            return run()
        done = subprocess.run([sys.executable, "-m", "deciban"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return complete


def plain(words):
    return [("plain", word) for word in words]


CASES = {
    "commands": ("deciban ca", plain(["calibrate"])),
    "options": ("deciban eval --pre", plain(["--preset"])),
    "plots": ("deciban plot subs", plain(["subset-c-avg"])),
    "formats": ("deciban eval s.csv --format kal", plain(["kaldi"])),
    "formats of a key": ("deciban eval s.csv --key-format kal", plain(["kaldi"])),
    "formats to write": ("deciban convert s.csv o --to par", plain(["parquet"])),
    "presets": ("deciban eval s.csv --preset lre17", plain(["lre17"])),
    "methods": ("deciban calibrate s.csv --method g", plain(["gaussian"])),
    "choices": ("deciban eval s.csv --kind t", plain(["two-class"])),
    "arguments": ("deciban eval s", [("file", "s")]),
    "no more arguments": ("deciban eval s.csv ", [("file", "")]),
    "keys": ("deciban eval s.csv --key k", [("file", "k")]),
    "outputs": ("deciban calibrate s.csv -o m", [("file", "m")]),
    "roles": ("deciban eval s.csv --columns sco", plain(["score="])),
    "columns of a role": ("deciban eval s.csv --columns enroll=", plain(["modelid", "segmentid", "LLR"])),
    "columns behind others": ("deciban eval s.csv --columns enroll=modelid,score=L", plain(["LLR"])),
    "columns of Parquet": ("deciban inspect s.parquet --columns score=", plain(["trial", "llr"])),
    "columns of a key": ("deciban eval s.csv --key k.tsv --where g", plain(["gender="])),
    "columns to hold out": (
        "deciban calibrate s.csv --key k.tsv --cross-validate modelid,se",
        plain(["modelid,segmentid"]),
    ),
    "units": ("deciban eval s.csv --key k.tsv --units gen", plain(["gender"])),
    "units of a side": ("deciban eval s.csv --key k.tsv --units modelid,se", plain(["modelid,segmentid"])),
    "words for units": ("deciban eval s.csv --key k.tsv --units pro", plain(["product", "product:"])),
    "files of units": ("deciban eval s.csv --key k.tsv --units utt", [("file", "utt")]),
    "no names of a key without a header": (
        "deciban eval s.csv --key kaldi --units ",
        plain(["trials", "product", "product:"]),
    ),
    "figures": ("deciban plan s.csv --figure min_c", plain(["min_cllr", "min_c_avg"])),
    "metrics of a gate": ("deciban compare a b --fail-if-worse ee", plain(["eer"])),
    "which pairs": ("deciban compare a b --against f", plain(["first"])),
    "shards": ("deciban summarize s", [("file", "s")]),
    "what shards are refined by": ("deciban summarize s.parquet --refine a", [("file", "a")]),
    "summaries": ("deciban merge a", [("file", "a")]),
    "columns of shards": ("deciban summarize s.parquet --columns score=l", plain(["llr"])),
    "columns of nothing": ("deciban eval nowhere.csv --where g", []),
    "columns without a header": ("deciban eval plain.txt --columns score=", []),
}


@pytest.mark.parametrize(("line", "expected"), CASES.values(), ids=CASES)
def test_bash_is_offered(offered, line, expected):
    assert offered(line) == expected


def test_bash_is_offered_the_same_by_a_process(offered):
    line, expected = CASES["columns of a role"]
    assert offered(line, is_process=True) == expected


def test_all_formats_presets_and_methods_are_offered(offered):
    assert {word for _, word in offered("deciban eval --format ")} == set(formats())
    assert {word for _, word in offered("deciban eval --preset ")} >= set(presets())
    methods = {word for _, word in offered("deciban calibrate --method ")}
    assert {f"{one.title()}Calibrator" for one in methods} <= {*calibrators}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(shell, monkeypatch):
    monkeypatch.setenv("_DECIBAN_COMPLETE", f"{shell}_source")
    run = subprocess.run([sys.executable, "-m", "deciban"], capture_output=True, text=True, check=False)
    if shell == "bash" and run.returncode:
        pytest.skip("click asks bash for its version, and there is none")
    assert f"_DECIBAN_COMPLETE={shell}_complete" in run.stdout


@pytest.mark.parametrize(
    ("shell", "place"), [("/usr/bin/zsh", ".zfunc/_deciban"), ("fish", ".config/fish/completions/deciban.fish")]
)
def test_one_command_installs_the_script(shell, place, tmp_path, monkeypatch, run):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", shell)
    code, out, _ = run("--install-completion")
    assert code == 0
    assert out.startswith(f"wrote {tmp_path / place}: completion works in new shells.")
    assert "_DECIBAN_COMPLETE" in (tmp_path / place).read_text()


@pytest.mark.parametrize("shell", ["/bin/csh", ""])
def test_shells_without_completion_are_named(shell, monkeypatch, run):
    monkeypatch.setenv("SHELL", shell)
    code, out, err = run("--install-completion")
    assert (code, out) == (2, "")
    assert f"$SHELL is {shell!r}. Completion is for bash, zsh, fish" in " ".join(err.split())


def test_files_that_cannot_be_read_have_no_columns(tmp_path):
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    assert columns_of(str(tmp_path / "binary.csv")) == []
    assert columns_of(str(tmp_path / "broken.parquet")) == []
    assert columns_of(str(tmp_path)) == []
