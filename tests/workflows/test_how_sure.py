"""What may be said about uncertainty: known by name, checked when it is said."""

from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban import InputError
from deciban.trials import IdMap
from deciban.workflows import Options, UncertaintyOptions
from deciban.workflows.options import UnitNaming

KNOWN = {
    "trials": UnitNaming(each_trial=True),
    "product": UnitNaming(apart=True),
    "speaker": UnitNaming(parts=("speaker",)),
    " a , b": UnitNaming(parts=("a", "b")),
    "product:a,b": UnitNaming(apart=True, parts=("a", "b")),
    "product:map.txt": UnitNaming(apart=True, parts=("map.txt",)),
    "column:product": UnitNaming(parts=("column:product",)),
    "./trials": UnitNaming(parts=("./trials",)),
    ("a,b",): UnitNaming(parts=("a,b",)),
    ("a", Path("b")): UnitNaming(parts=("a", Path("b"))),
}


@pytest.mark.parametrize("units", KNOWN)
def test_what_names_units(units):
    assert UncertaintyOptions(units=units).naming == KNOWN[units]


def test_mappings_name_units():
    one = {"a": "ann"}
    assert UnitNaming.of(one).parts == (one,)
    assert UnitNaming.of((one, "speaker")).parts == (one, "speaker")
    other = IdMap.of(one)
    assert UnitNaming.of(other).parts == (other,)
    assert UncertaintyOptions().naming is None


@pytest.mark.parametrize(
    "units", ["", "a,,b", "a,b,c", "product:", "column:", (), ("a", "b", "c"), 3, np.array(["a"]), [["a"]], b"ab"]
)
def test_what_names_none(units):
    with pytest.raises(InputError, match=r"units: got .*Name a column of the key or a file with two columns"):
        UncertaintyOptions(units=units)


def test_standard_input_names_none():
    with pytest.raises(InputError, match="units: '-' is standard input"):
        Options.of("evaluate_files", {"units": "enroll,-"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 0.0}, r"level: got 0\.0\. A level must be inside \(0, 1\)"),
        ({"level": 1.0}, "level: got"),
        ({"level": 95}, "level: got 95"),
        ({"level": float("nan")}, "level: got nan"),
        ({"bootstrap": -1}, "bootstrap: got -1. It must be a number of replicates, a whole number from 0"),
        ({"bootstrap": 10.5}, "bootstrap: got 10.5"),
        ({"bootstrap": True}, "bootstrap: got True"),
        ({"seed": -1}, "seed: got -1"),
        ({"seed": 2**64}, "seed: got"),
        ({"seed": "1"}, "seed: got '1'"),
        ({"intervals": None}, "intervals: got None. It must be True or False"),
        ({"intervals": 1}, "intervals: got 1"),
        ({"optimism": "no"}, "optimism: got 'no'"),
    ],
)
def test_what_is_refused(given, message):
    for call in (lambda: UncertaintyOptions(**given), lambda: deciban.evaluate_files("no.txt", "no.key", **given)):
        with pytest.raises(InputError, match=message):
            call()


def test_numbers_of_numpy_are_numbers():
    found = UncertaintyOptions(bootstrap=np.int64(10), seed=np.uint64(2**64 - 1), level=np.float32(0.5))
    assert (found.bootstrap, found.seed, found.level) == (10, 2**64 - 1, 0.5)
    assert all(type(one) in (int, float) for one in (found.bootstrap, found.seed, found.level))


@pytest.mark.parametrize("asked", [{"bootstrap": 100}, {"optimism": True}])
def test_nothing_is_asked_of_intervals_that_are_not_wanted(asked):
    assert UncertaintyOptions(intervals=False, bootstrap=0, optimism=False).resampling(None) is None
    with pytest.raises(InputError, match=rf"{next(iter(asked))}: .* intervals=False"):
        UncertaintyOptions(intervals=False, **asked)


def test_files_are_those_that_are_there(tmp_path):
    there = tmp_path / "utt2spk"
    there.write_text("a ann\n")
    assert UncertaintyOptions(units=(str(there), "speaker")).files == [str(there)]
    assert UncertaintyOptions(units=tmp_path).files == []
    assert UncertaintyOptions(units="x" * 5000).files == []
    assert UncertaintyOptions(units={"a": "ann"}).files == UncertaintyOptions().files == []


def test_a_report_is_not_written_onto_the_units(tmp_path):
    names = {"key": "a x target\na y nontarget\n", "scores": "a x 1\na y 0\n", "units": "a ann\nx ann\ny bob\n"}
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="units"):
        deciban.report_files(
            tmp_path / "scores", tmp_path / "key", output=tmp_path / "units", units=str(tmp_path / "units")
        )
    assert (tmp_path / "units").read_text() == names["units"]
