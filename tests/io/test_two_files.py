"""Scores of targets in one file and of non-targets in another: one input that holds its labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError, InputError, KeyMismatchError
from deciban.io import read_contents
from deciban.io.reader import name_of_both, read_two_files
from deciban.io.recognition import recognize
from deciban.io.source import TwoFiles
from support.text_formats import names_of

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


def read(folder, tar, non, **options):
    """What is read of two texts, or of two files of the folder."""
    for name, content in (("tar.txt", tar), ("non.txt", non)):
        if content is not None:
            (folder / name).write_text(content)
    unit = options.pop("unit", None)
    return read_two_files(recognize(TwoFiles(folder / "tar.txt", folder / "non.txt"), **options), unit=unit).contents


@given(NUMBERS, NUMBERS)
def test_rows_are_counted_on(tmp_path_factory, tar, non):
    texts = ("".join(f"{value!r}\n" for value in values) for values in (tar, non))
    contents = read(tmp_path_factory.mktemp("two"), *texts)
    assert contents.scores.score.tolist() == [*tar, *non]
    assert contents.key.is_target.tolist() == [True] * len(tar) + [False] * len(non)
    assert names_of(contents.scores.trials) == [(str(row),) for row in range(len(tar) + len(non))]
    assert contents.scores.trials.n_rows == len(tar) + len(non)


def test_names_stay(tmp_path):
    contents = read(tmp_path, "ann x 1.5\nann y 2\n", "bob x -1\n")
    assert names_of(contents.key.trials) == [("ann", "x"), ("ann", "y"), ("bob", "x")]
    assert contents.label_counts == f"2 target ({tmp_path / 'tar.txt'}) · 1 non-target ({tmp_path / 'non.txt'})"
    assert contents.scores.trials.origin.where(2) == f"{tmp_path / 'non.txt'}:1"


def test_two_formats_and_two_shapes(tmp_path):
    np.save(tmp_path / "tar.npy", np.array([2.5, 1.0]))
    (tmp_path / "non.csv").write_text("score\n-1\n0.5\n-2\n")
    contents = read_two_files(recognize(TwoFiles(tmp_path / "tar.npy", tmp_path / "non.csv"))).contents
    assert contents.scores.score.tolist() == [2.5, 1.0, -1.0, 0.5, -2.0]
    assert (contents.key.n_tar, contents.key.n_non) == (2, 3)


def test_several_files_without_names_are_one_list(tmp_path):
    """A pattern counts the rows of its files on, whatever they hold."""
    for name, values in (("tar-1", [1.0, 2.0]), ("tar-2", [3.0]), ("non-1", [-1.0, 0.0]), ("non-2", [-2.0, -3.0])):
        np.savetxt(tmp_path / f"{name}.txt", values)
        np.save(tmp_path / f"{name}.npy", values)
    for ending in ("txt", "npy"):
        tar, non = (str(tmp_path / f"{side}-*.{ending}") for side in ("tar", "non"))
        contents = read_two_files(recognize(TwoFiles(tar, non))).contents
        assert contents.scores.score.tolist() == [1.0, 2.0, 3.0, -1.0, 0.0, -2.0, -3.0]
        assert names_of(contents.scores.trials) == [(str(row),) for row in range(7)]
        assert contents.key.n_tar == 3
        assert read_contents(tar, need="scores").scores.trials.n_rows == 3
    np.save(tmp_path / "m-1.npy", np.eye(3))
    np.save(tmp_path / "m-2.npy", 2 * np.eye(3))
    whole = read_contents(str(tmp_path / "m-*.npy"), need="class-scores").class_scores
    assert names_of(whole.trials) == [(str(row),) for row in range(6)]
    assert whole.score.tolist() == [*np.eye(3).tolist(), *(2 * np.eye(3)).tolist()]


def test_conditions_go_with_their_trials(tmp_path):
    contents = read(tmp_path, "score,room\n1,a\n2,b\n", "score,room\n-1,c\n")
    assert contents.key.trials.condition("room").to_pylist() == ["a", "b", "c"]
    assert contents.key.keep(where={"room": ["b", "c"]}).is_target.tolist() == [True, False]


def test_common_logarithms(tmp_path):
    contents = read(tmp_path, "1\n2\n", "-1\n", unit="log10")
    assert contents.scores.nats == pytest.approx(np.log(10) * np.array([1.0, 2.0, -1.0]))


@pytest.mark.parametrize(
    ("tar", "non", "error", "message"),
    [
        ("ann x 1.5\n", "2\n", KeyMismatchError, "tar.txt contains names of trials, .*non.txt does not"),
        ("1.5\n", "ann x 2\n", KeyMismatchError, "non.txt contains names of trials, .*tar.txt does not"),
        ("ann x 1.5\n", "utt1 2\n", InputError, "identifies a trial by"),
        ("# none\n", "2\n", FormatError, "tar.txt: the file is empty"),
        ("1\n", "", FormatError, "non.txt: the file is empty"),
        (
            "label,score\n1,2\n0,1\n",
            "label,score\n0,1\n",
            KeyMismatchError,
            "tar.txt:3: is labelled non-target .1 of 2",
        ),
        ("label,score\n1,2\n", "label,score\n1,1\n", KeyMismatchError, "non.txt:2: is labelled target .*swapped"),
        ("label,score\n1,2\n", "1\n", FormatError, "Files that are read as one must be alike"),
    ],
)
def test_what_does_not_belong_together_is_refused(tmp_path, tar, non, error, message):
    with pytest.raises(error, match=message):
        read(tmp_path, tar, non)


def test_one_input_is_not_two(tmp_path):
    (tmp_path / "one.txt").write_text("1\n")
    with pytest.raises(InputError, match=r"one\.txt: one input"):
        read_two_files(recognize(tmp_path / "one.txt"))


@pytest.mark.parametrize(
    ("tar", "non", "name"),
    [
        ("plda_tar.txt", "plda_non.txt", "plda"),
        ("lab/A.same.2.txt", "lab/A.different.2.txt", "A"),
        ("targets.txt", "nontargets.txt", "targets + nontargets"),
        ("same_log10.txt", "different_log10.txt", "same_log10 + different_log10"),
        ("runs/v2/genuine_dist.txt", "runs/v2/impostor_dist.txt", "v2"),
        ("../same.txt", "../different.txt", "same + different"),
        ("/same.txt", "/different.txt", "same + different"),
        ("a/same.txt", "b/different.txt", "same + different"),
        ("a/x.txt", "b/x.txt", "x"),
        ("a_b.txt", "a.txt", "a"),
    ],
)
def test_the_name_of_the_system_is_what_both_names_begin_with_or_the_folder(tar, non, name):
    assert name_of_both(TwoFiles(tar, non)) == name
