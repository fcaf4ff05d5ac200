"""Scalars of evaluations are plain numbers of Python: they print, pickle and compare like any other."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest

from deciban import OperatingPoint
from deciban.errors import Note
from deciban.evaluation import class_evaluation_of, evaluate, evaluate_classes, summarize_classes
from support.class_files import trials

PLAIN = {int, float, bool, str, Note, type(None)}


def scalars(value, name=""):
    """Scalars of a result by name: fields and public properties, in parts of it as well."""
    if dataclasses.is_dataclass(value):
        properties = [key for key in dir(value) if isinstance(getattr(type(value), key, None), property)]
        for key in [field.name for field in dataclasses.fields(value)] + properties:
            if key not in ("plot", "metrics") and not key.startswith("_"):
                yield from scalars(getattr(value, key), f"{name}.{key}")
    elif isinstance(value, tuple | list | Mapping):
        for key, one in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from scalars(one, f"{name}[{key!r}]")
    elif type(value) is not np.ndarray:
        yield name, value


def require_plain(found, least):
    by_name = dict(scalars(found))
    assert least <= by_name.keys()
    assert {name: type(one) for name, one in by_name.items() if type(one) not in PLAIN} == {}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"prior": np.array([0.5, 0.3, 0.2])},
        {"p_target": np.array([0.5, 0.1]), "p_out_of_set": np.float64(0.2)},
        {"sample_weight": np.arange(1, 121) / 7},
        {"sample_weight": np.arange(120) % 5 + 1},
    ],
)
def test_many_classes(more, dtype):
    loglik, label = trials(n=120)
    loglik[3, label[3] - 1] = -np.inf
    names = {
        ".cross_entropy",
        ".brier",
        ".error_rate",
        ".cllr",
        ".points[0].c_avg",
        ".calibration.scale",
        ".n_infinite",
    }
    require_plain(evaluate_classes(loglik.astype(dtype), label, **more), names)


def test_many_classes_in_parts():
    loglik, label = trials(n=120)
    parts = [summarize_classes(loglik[k::2], label[k::2]) for k in range(2)]
    require_plain(class_evaluation_of(parts[0] + parts[1]), {".cross_entropy", ".min_cllr"})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weight", [None, np.arange(1, 41) / 7, np.arange(40) % 5 + 1])
def test_two_classes(weight, dtype):
    tar, non = np.arange(40) / 4 - 1, np.arange(40) / 4 - 8
    tar[-1] = np.inf
    found = evaluate(
        tar.astype(dtype),
        non.astype(dtype),
        operating_points=[0.5, (np.float64(0.01), np.int64(10), np.float32(1))],
        tar_weights=weight,
        non_weights=None if weight is None else weight[::-1],
    )
    names = {".eer", ".cllr", ".n_tar", ".n_tied", ".n_infinite", ".operating_points[1].effective_prior"}
    require_plain(found, names)


def test_an_operating_point_names_its_prior_in_plain_digits():
    point = OperatingPoint(np.float64(0.1234567890123), np.int64(10), np.float32(1))
    assert str(point) == "p_target 0.1234567890123, costs 10:1"
    require_plain(point, {".p_target", ".c_miss", ".effective_prior", ".default_cost"})
    assert (point, hash(point)) == (
        OperatingPoint(0.1234567890123, 10, 1),
        hash(OperatingPoint(0.1234567890123, 10, 1)),
    )
