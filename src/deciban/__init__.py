"""Evaluate, calibrate and fuse the scores of recognizers.

``deciban.evaluate(tar, non)`` gives every number of a report; `deciban.metrics` has each of them as a function;
`deciban.read_scores`, `deciban.read_key` and `deciban.align` turn files into the two sets of scores.

A deciban, ten times the common logarithm of a likelihood ratio, is the unit of weight of evidence of Turing and Good.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from deciban._version import __version__

if TYPE_CHECKING:
    from deciban import (
        calibration,
        decisions,
        evaluation,
        fusion,
        io,
        losses,
        metrics,
        multiclass,
        plots,
        recipes,
        report,
        trials,
    )
    from deciban.core.ranks.operating import OperatingPoint
    from deciban.errors import DecibanError, DecibanWarning, FormatError, InputError, KeyMismatchError
    from deciban.evaluation import ClassEvaluation, ClassResults, Evaluation, Results, evaluate, evaluate_classes
    from deciban.io import read_index, read_key, read_scores, write
    from deciban.models import load_model
    from deciban.trials import Index, Key, Scores, align
    from deciban.workflows import apply_files, calibrate_files, evaluate_class_files, evaluate_files, fuse_files

# Everything is imported when it is first used: `import deciban` alone costs nothing.
_HOMES = {
    "ClassEvaluation": "deciban.evaluation",
    "ClassResults": "deciban.evaluation",
    "DecibanError": "deciban.errors",
    "DecibanWarning": "deciban.errors",
    "Evaluation": "deciban.evaluation",
    "FormatError": "deciban.errors",
    "Index": "deciban.trials",
    "InputError": "deciban.errors",
    "Key": "deciban.trials",
    "KeyMismatchError": "deciban.errors",
    "OperatingPoint": "deciban.core.ranks.operating",
    "Results": "deciban.evaluation",
    "Scores": "deciban.trials",
    "align": "deciban.trials",
    "apply_files": "deciban.workflows",
    "calibrate_files": "deciban.workflows",
    "evaluate": "deciban.evaluation",
    "evaluate_class_files": "deciban.workflows",
    "evaluate_classes": "deciban.evaluation",
    "evaluate_files": "deciban.workflows",
    "fuse_files": "deciban.workflows",
    "load_model": "deciban.models",
    "read_index": "deciban.io",
    "read_key": "deciban.io",
    "read_scores": "deciban.io",
    "write": "deciban.io",
}
_MODULES = (
    "calibration",
    "decisions",
    "evaluation",
    "fusion",
    "io",
    "losses",
    "metrics",
    "multiclass",
    "plots",
    "recipes",
    "report",
    "sklearn",
    "trials",
)
"""Of these, ``sklearn`` is not in ``__all__``: it needs a package that ``from deciban import *`` does without."""

__all__ = [
    "ClassEvaluation",
    "ClassResults",
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
    "apply_files",
    "calibrate_files",
    "calibration",
    "decisions",
    "evaluate",
    "evaluate_class_files",
    "evaluate_classes",
    "evaluate_files",
    "evaluation",
    "fuse_files",
    "fusion",
    "io",
    "load_model",
    "losses",
    "metrics",
    "multiclass",
    "plots",
    "read_index",
    "read_key",
    "read_scores",
    "recipes",
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
