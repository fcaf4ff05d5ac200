"""Adding a format is one entry of a table, tests with a file of another hand, and one row of the documentation."""

import copy
import dataclasses
import os
import pickle
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban.io.formats as home
from deciban import FormatError, InputError
from deciban.io import read_contents
from deciban.io.formats import binary_formats, by_name, for_ending, formats, text_formats
from support.text_formats import GOLDEN, read_bytes

ROOT = Path(__file__).parents[3]
MODULES = sorted(module.name for module in pkgutil.iter_modules(home.__path__) if not module.name.startswith("_"))
LETTERS = {
    "scores": "S",
    "key": "K",
    "index": "I",
    "class-scores": "C",
    "class-key": "T",
    "quality": "Q",
    "segment-quality": "q",
    "id-map": "M",
}


def rows():
    """The rows of the tables of formats: name to the other cells."""
    found = {}
    for line in (ROOT / "docs" / "formats.md").read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and (name := re.fullmatch(r"`([^`]+)`", cells[0])):
            assert name[1] not in found, f"{name[1]} has two rows"
            found[name[1]] = cells[1:]
    return found


def test_every_format_has_one_row_and_every_row_is_a_format():
    assert sorted(rows()) == sorted(formats())


@pytest.mark.parametrize("name", formats())
def test_rows_say_what_is_read_and_written(name):
    form, (_, reads, writes, remarks) = formats()[name], rows()[name]
    assert set(reads.split()) == {LETTERS[kind] for kind in form.reads}
    # "S with K": only together.
    assert set(writes.replace(" with K", "").split()) == {LETTERS[kind] for kind in form.writes} - (
        {"K"} if "with K" in writes else set()
    )
    assert form.verified or "unverified" in remarks
    assert all(ending in remarks for ending in form.endings)


def test_what_is_said_of_formats_that_are_not_imported_is_true():
    for name, one in formats().items():
        made = by_name(name)
        assert all(getattr(made, field.name) == getattr(one, field.name) for field in dataclasses.fields(one))
        assert all(for_ending(f"a{ending}") is made for ending in one.endings)
    assert {*text_formats(), *binary_formats()} == {*formats()}
    of_kinds = {
        name
        for kind in ("HDF5", "MATLAB", "Parquet", "folder", "Arrow", "NumPy", "npz", "OpenBR", "JSON")
        for name in binary_formats(kind)
    }
    assert of_kinds == {name for name, one in binary_formats().items() if one.found_in}


def test_a_text_table_is_read_without_the_libraries_of_other_formats(tmp_path):
    """To find the format of a list of trials takes the modules of text formats only."""
    (tmp_path / "scores.txt").write_text("ann x 1.5\nann y -2\n")
    (tmp_path / "scores.csv").write_text("trial,score\na,1\n")
    program = (
        "import sys, deciban; deciban.read_scores('scores.txt'); deciban.read_scores('scores.csv')\n"
        "print(*sorted(n for n in sys.modules if n == 'h5py' or n.startswith('deciban.io.')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "deciban.io.formats.text_layouts" in loaded
    binary = {one.read.__module__ for one in binary_formats().values() if one.found_in}
    assert not binary & {*loaded}
    assert not [name for name in loaded if name == "h5py" or name.startswith("deciban.io.matrices")]


TESTED_WITH = {
    "3d-speaker": "speaker3d",
    "asvspoof2019-asv": "asvspoof2019",
    "asvspoof5-fusion": "asvspoof5",
    "asvspoof5-protocol": "asvspoof5",
    "asvspoof5-sasv": "asvspoof5",
    "bob-csv": "bob",
    "bob4": "bob",
    "bob5": "bob",
    "bosaris-idmap": "bosaris_text",
    "bosaris-quality": "bosaris_text",
    "nist-lre17": "nist_lre",
    "nist-lre22": "nist_lre",
    "tsv": "table",
}
"""Formats that share a test module with others; those of the others are called by their names."""


@pytest.mark.parametrize("name", formats())
def test_every_format_has_tests(name):
    text = Path(__file__).with_name(f"test_{TESTED_WITH.get(name, name.replace('-', '_'))}.py").read_text()
    # Files by hand, or by a writer that is not ours.
    assert re.search(r"golden\(|hdf5_files|h5py|savemat|pyarrow|pa\.|numpy|np\.", text)


def test_every_module_of_the_folder_has_functions_of_a_format():
    texts = (Path(home.__file__).with_name("formats.toml")).read_text()
    assert {module for module in MODULES if f'= "{module}.' not in texts} == set()


@pytest.mark.parametrize("name", text_formats())
def test_every_text_format_has_a_file_by_hand(name):
    assert list(GOLDEN.glob(f"{name}.*"))


def pickled(contents):
    return pickle.loads(pickle.dumps(contents))  # noqa: S301  # our own bytes


@pytest.mark.parametrize("twin", [copy.deepcopy, pickled])
@pytest.mark.parametrize("path", sorted(GOLDEN.iterdir()), ids=lambda path: path.name)
def test_contents_of_every_file_by_hand_can_be_copied_and_pickled(path, twin):
    """Workers of a pool hand them over; the lines of trials are still found then."""
    contents = read_contents(path, format=path.name.partition(".")[0])
    other = twin(contents)
    assert other.kinds == contents.kinds
    assert other.origin.reading == contents.origin.reading
    if contents.index is not None:
        last = len(contents.index) - 1
        assert other.index.trials.name_of(last) == contents.index.trials.name_of(last)
        assert other.index.trials.origin.where(last) == contents.index.trials.origin.where(last)


BYTES = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(
            [
                *(
                    "a",
                    "b",
                    "1",
                    "2",
                    "-1.5",
                    "inf",
                    "nan",
                    "1e999",
                    "target",
                    "spoof",
                    "bonafide",
                    "\n",
                    " ",
                    "\t",
                    ",",
                ),
                *("modelid\tsegmentid\tside\tLLR\n", "segmentid\teng\tfra\n", "hypothesis,llr\n", "trial,score\n", '"'),
                *("filename\tcm-score\n", "#", "\r", "9" * 5000, "\x00", "\t", "t eng c s1 t 1\n", "é"),
            ]
        ),
        max_size=30,
    ).map(lambda parts: "".join(parts).encode()),
)


@given(BYTES, st.sampled_from(sorted(formats())), st.sampled_from([None, *LETTERS]))
def test_only_our_own_errors_come_out(data, name, need):
    try:
        read_bytes(data, format=name, need=need)
    except (FormatError, InputError) as error:
        assert str(error)


@given(BYTES, st.sampled_from([None, *LETTERS]))
def test_only_our_own_errors_come_out_of_guesses(data, need):
    try:
        read_bytes(data, need=need)
    except (FormatError, InputError) as error:
        assert str(error)


def test_every_format_says_what_it_holds_and_reads():
    for one in (*binary_formats().values(), *text_formats().values()):
        assert one.summary
        assert one.reads
