"""Plain files are read in blocks, other text as a whole: both must say the same, also of what is wrong."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import DecibanError
from deciban.io import read_contents, recognition
from deciban.io.text import reader as table
from deciban.io.text import writer as text_lines

BASES = {
    " ": ("ann x 1.5", "bob y -2e-3", "ann y inf", "é ü 2"),
    ",": ("ann,x,1.5", "bob, y ,2", "ann,y,3"),
    "\t": ("ann\tx\t1.5", "bob\ty\t2", "ann\ty x\t3"),
}
ODD = st.sampled_from(
    [
        *("#a b 1", ";;a b 2", "#a,b,1", "#a\tb\t1", "a\vb c 1", "a\v b 1", "a b 1\r", "\fa b 1", "a\tb\t1", "a\tb 1"),
        *(
            "ann  x 1",
            " ann x 1",
            "ann x 1 ",
            "ann  1",
            "",
            "  ",
            "a b nan",
            "a b 1e999",
            "a b",
            "a b 1 2",
            "a\x00 b 1",
        ),
        *('ann,"x",2', 'ann,"x,y",2', '"a,b,3', "a,,3", "enroll,test,score", "ann x target", "a#b c 2", "m s inf"),
    ]
)


@st.composite
def texts(draw):
    """Lines of one kind, and sometimes an odd one among them."""
    base = BASES[draw(st.sampled_from(list(BASES)))]
    lines = draw(st.lists(st.sampled_from(base), min_size=1, max_size=5))
    for odd in draw(st.lists(ODD, max_size=1)):
        lines.insert(draw(st.integers(0, len(lines))), odd)
    return "\n".join(lines) + "\n"


def outcome(path, **options):
    """What is read, or what is said."""
    try:
        contents = read_contents(path, **options)
    except DecibanError as error:
        return str(error)
    trials = contents.index.trials
    return {
        "kinds": contents.kinds,
        "reading": contents.origin.reading,
        "names": [trials.column(side).to_pylist() for side in trials.sides],
        "conditions": {name: column.to_pylist() for name, column in trials.conditions.items()},
        "scores": [one.score.view(np.uint64).tolist() for one in contents.systems],
        "truth": None if contents.key is None else contents.key.is_target.tolist(),
        "line": trials.origin.where(len(trials) - 1),
    }


@settings(max_examples=max(100, settings.default.max_examples))
@given(
    texts(),
    st.sampled_from([{}, {"columns": "enroll,test,score"}, {"columns": "-,trial,score"}, {"format": "kaldi"}]),
    st.sampled_from([None, "scores", "key", "index"]),
)
def test_both_paths_agree(text, options, need):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "f"
        path.write_text(text, newline="")
        careful = outcome(path, need=need, **options)
        patch.setattr(recognition.OpenedFile, "is_plain", False)  # the text as a whole
        assert outcome(path, need=need, **options) == careful


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks in which big files are read, and what counts as big, a sixteenth as large."""
    for module, size in ((table, "BLOCK"), (text_lines, "_BLOCK"), (table, "_BLOCK")):
        monkeypatch.setattr(module, size, getattr(module, size) // 16)


@pytest.mark.parametrize(
    ("at", "line", "message"),
    [
        (130_000, "ann x nan", ":130001: the score is NaN"),
        (129_999, "ann x", ":130000: expected 3 columns"),
        (131_000, "ann x oops", ":131001: the score 'oops' is not a number"),
        (90_000, "ann\x00 x 1", ":90001: contains NUL bytes"),
    ],
)
@pytest.mark.usefixtures("small_blocks")
def test_faults_late_in_a_big_file_are_named_with_their_line(at, line, message, tmp_path):
    lines = [f"model{i % 1000} s{i // 1000} 1.5" for i in range(140_000)]
    lines[at] = line
    (tmp_path / "big.txt").write_text("\n".join(lines))
    assert (tmp_path / "big.txt").stat().st_size > table.BLOCK
    assert message in outcome(tmp_path / "big.txt", need="scores")


def test_a_fault_late_in_a_file_of_two_million_lines(tmp_path):
    lines = [f"model{i % 1000} s{i // 1000} 1.5" for i in range(2_200_000)]
    lines[1_500_000] = "ann\x00 x 1"
    (tmp_path / "big.txt").write_text("\n".join(lines))
    assert (tmp_path / "big.txt").stat().st_size > table.BLOCK
    assert ":1500001: contains NUL bytes" in outcome(tmp_path / "big.txt", need="scores")


@pytest.mark.usefixtures("small_blocks")
def test_a_big_file_with_harmless_oddities(tmp_path):
    lines = [f"model{i % 1000} s{i // 1000} {i}.5" for i in range(140_000)]
    (tmp_path / "plain.txt").write_text("\n".join(lines))
    lines[60_000] = "# a comment\n" + lines[60_000].replace(" ", "   ")
    (tmp_path / "odd.txt").write_text("\r\n".join(lines))
    assert (tmp_path / "plain.txt").stat().st_size > table.BLOCK
    plain, odd = (read_contents(tmp_path / name, need="scores").scores for name in ("plain.txt", "odd.txt"))
    assert np.array_equal(plain.score, odd.score)
    assert plain.trials.name_of(90_000) == odd.trials.name_of(90_000)
