"""What a user says about memory and where work runs."""

import pytest

from deciban.errors import InputError
from deciban.memory import LIBRARIES, Cost, allowed_memory, free_memory, require_room_for_units, rows_that_fit
from deciban.workflows import Scale


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [("2GB", 2 * 10**9), ("500 mb", 5 * 10**8), ("1GiB", 2**30), ("1.5g", 1_500_000_000), (10**8, 10**8)],
)
def test_sizes(given, n_bytes):
    assert allowed_memory(given) == n_bytes
    assert Scale(memory=given).n_bytes == n_bytes - LIBRARIES


@pytest.mark.parametrize("given", ["much", "", "-2GB", "2GB2", True, 1.5, "99MB", 0, "inf"])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(InputError, match=r"^memory: got"):
        Scale(memory=given)


def test_by_default_half_of_what_is_free():
    assert 0 < Scale().n_bytes <= free_memory()
    assert not Scale().is_asked


@pytest.mark.parametrize("given", [{"dask": "local:2"}, {"speakers": "utt2spk"}])
def test_some_things_only_partitions_can_do(given):
    assert Scale(**given).is_asked


def test_speakers_of_one_or_both_sides(tmp_path):
    assert Scale(speakers="a, b").speaker_files == ("a", "b")
    assert Scale(speakers=tmp_path).speaker_files == (tmp_path,)
    assert Scale(speakers=["a", "b"]).files == ["a", "b"]
    assert Scale(speakers={"utt": "ann"}).files == []
    assert Scale().speaker_files == ()


def test_rows_stay_within_their_limits():
    assert rows_that_fit(1000, 10, at_once=2) == 50
    assert rows_that_fit(1000, 10, fewest=200) == 200
    assert rows_that_fit(float("inf"), 10, most=7) == 7
    assert rows_that_fit(5, 10) == 1


def test_more_units_than_the_memory_holds_are_refused_with_what_is_enough():
    memory = 1000 * Cost.UNIT_IN_TABLE
    require_room_for_units(1000, memory)
    with pytest.raises(
        InputError,
        match=r"^units: there are 50,000,000, .* 150,060 MB where 74 MB .*leave intervals out .intervals=False",
    ):
        require_room_for_units(50_000_000, memory)
