"""Equality of dataclasses that hold arrays, and values that must be there."""

import dataclasses

import numpy as np
import pytest

from deciban.errors import not_none
from deciban.types import ByValue


@dataclasses.dataclass(frozen=True, eq=False)
class Line(ByValue):
    name: str
    y: np.ndarray
    parts: tuple = ()
    at: float = 0.0
    origin: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass(frozen=True, eq=False)
class Other(Line):
    pass


def line(**changed):
    return Line(**{"name": "a", "y": np.array([1.0, np.nan]), "parts": (np.arange(2), ("b", np.nan))} | changed)


def test_what_holds_the_same_is_equal_and_has_one_hash():
    assert line() == line()
    assert line(at=np.nan) == line(at=float("nan"))
    assert line(origin="here") == line(origin="there")
    assert len({line(), line(), line(at=np.nan), line(at=float("nan"))}) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "b"},
        {"y": np.array([1.0, 2.0])},
        {"y": np.array([1.0])},
        {"y": np.array([[1.0, np.nan]])},
        {"parts": (np.arange(2), ("c", np.nan))},
        {"parts": (np.array([0, 2]), ("b", np.nan))},
        {"parts": (np.arange(2),)},
        {"at": 1.0},
    ],
    ids=str,
)
def test_whatever_differs_makes_them_different(changed):
    assert line() != line(**changed)


def test_mappings_are_compared_by_what_they_hold_in_whatever_order():
    one, two = line(parts=({"a": np.arange(2), "b": np.nan},)), line(parts=({"b": np.nan, "a": np.arange(2)},))
    assert one == two
    assert hash(one) == hash(two)
    for parts in ({"a": np.arange(2)}, {"a": np.arange(2), "c": np.nan}, {"a": np.array([0, 2]), "b": np.nan}, "ab"):
        assert one != line(parts=(parts,))


def test_other_classes_are_never_equal():
    assert line() != Other("a", np.array([1.0, np.nan]), (np.arange(2), ("b", np.nan)))
    assert line() != "a"


@pytest.mark.parametrize("value", [0.0, "", (), False])
def test_only_none_is_missing(value):
    assert not_none(value, "value") is value
    with pytest.raises(TypeError, match="cascade: None"):
        not_none(None, "cascade")
