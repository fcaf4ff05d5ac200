"""A plugin for pytest that bends a public function or class, to see which tests notice it.

``BENT=metrics.cllr pytest -p support.bent``; `scripts/bent` does so for all.
"""

import copy
import dataclasses
import functools
import importlib
import inspect
import os
import sys

import numpy as np


def bent(value):
    """A wrong value of the same form."""
    if isinstance(value, (bool, np.bool_, str)) or value is None:
        return value
    if isinstance(value, (int, float, np.number, np.ndarray)):
        return bent_numbers(value)
    if isinstance(value, tuple):
        parts = [bent(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, dict):
        return {name: bent(one) for name, one in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: bent(getattr(value, one.name)) for one in dataclasses.fields(value) if one.init}
        return dataclasses.replace(value, **fields)
    return bent_methods(value) if type(value).__module__.startswith("deciban.") else value


def bent_methods(value):
    """A copy whose public methods give wrong values."""
    kind = type(value)
    methods = {name: bending(own) for name, own in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}
    other = copy.copy(value)
    other.__class__ = type(kind.__name__, (kind,), methods)
    return other


def bent_numbers(value):
    kind = np.asarray(value).dtype.kind
    if kind == "b":
        return ~value
    return value * 1.07 + 0.01 if kind == "f" else value + 1 if kind in "iu" else value


def bending(function):
    @functools.wraps(function)
    def wrong(*arguments, **named):
        return bent(function(*arguments, **named))

    return wrong


def pytest_conmetric():
    """Put the bent one in the place of the other, wherever it was imported."""
    package, name = os.environ["BENT"].split(".")
    for one in (
        "metrics",
        "multiclass",
        "rules",
        "decisions",
        "evaluation",
        "calibration",
        "fusion",
        "losses",
        "plots",
    ):
        importlib.import_module(f"deciban.{one}")
    own = getattr(importlib.import_module(f"deciban.{package}"), name)
    if isinstance(own, type):
        for base in own.__mro__[:-1]:
            for called, method in list(vars(base).items()):
                if inspect.isfunction(method) and not called.startswith("_") and base.__module__.startswith("deciban"):
                    setattr(base, called, bending(method))
        return
    wrong = bending(own)
    for module in [module for name, module in sys.modules.items() if name.startswith("deciban")]:
        for called in [called for called, value in vars(module).items() if value is own]:
            setattr(module, called, wrong)
