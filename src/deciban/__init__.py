"""Evaluate, calibrate and fuse the scores of recognizers.

``deciban.evaluate(tar, non)`` gives every number of a report; `deciban.metrics` has each of them as a function;
`deciban.read_scores`, `deciban.read_key` and `deciban.align` turn files into the two sets of scores.

A deciban, ten times the common logarithm of a likelihood ratio, is the unit of weight of evidence of Turing and Good.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deciban import evaluation, io, metrics, plots, report, trials
    from deciban.core.operating import OperatingPoint
    from deciban.errors import DecibanError, DecibanWarning, FormatError, InputError, KeyMismatchError
    from deciban.evaluation import Evaluation, Results, evaluate, evaluate_files
    from deciban.io import read_index, read_key, read_scores, write
    from deciban.trials import Index, Key, Scores, align

__version__ = "0.1.0.dev0"

# Everything is imported when it is first used: `import deciban` alone costs nothing.
_HOMES = {
    "DecibanError": "deciban.errors",
    "DecibanWarning": "deciban.errors",
    "Evaluation": "deciban.evaluation",
    "FormatError": "deciban.errors",
    "Index": "deciban.trials",
    "InputError": "deciban.errors",
    "Key": "deciban.trials",
    "KeyMismatchError": "deciban.errors",
    "OperatingPoint": "deciban.core.operating",
    "Results": "deciban.evaluation",
    "Scores": "deciban.trials",
    "align": "deciban.trials",
    "evaluate": "deciban.evaluation",
    "evaluate_files": "deciban.evaluation",
    "read_index": "deciban.io",
    "read_key": "deciban.io",
    "read_scores": "deciban.io",
    "write": "deciban.io",
}
_MODULES = ("evaluation", "io", "metrics", "plots", "report", "trials")

__all__ = [
    "DecibanError",
    "DecibanWarning",
    "Evaluation",
    "FormatError",
    "Index",
    "InputError",
    "Key",
    "KeyMismatchError",
    "OperatingPoint",
    "Results",
    "Scores",
    "__version__",
    "align",
    "evaluate",
    "evaluate_files",
    "evaluation",
    "io",
    "metrics",
    "plots",
    "read_index",
    "read_key",
    "read_scores",
    "report",
    "trials",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"deciban.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'deciban' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
