"""Evaluate, calibrate and fuse the scores of recognizers.

``deciban.evaluate(tar, non)`` gives every number of a report; `deciban.metrics` has each of them as a function;
`deciban.read_scores`, `deciban.read_key` and `deciban.align` turn files into the two sets of scores. The verbs of the
command line are functions, too: `deciban.evaluate_files`, `deciban.train_files`, `deciban.apply_files` and
`deciban.report_files`.

A deciban, ten times the common logarithm of a likelihood ratio, is the unit of weight of evidence of Turing and Good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late
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
        workflows,
    )
    from deciban.core.ranks.operating import OperatingPoint
    from deciban.errors import DecibanError, DecibanWarning, FormatError, InputError, KeyMismatchError
    from deciban.evaluation import ClassEvaluation, ClassResults, Evaluation, Results, evaluate, evaluate_classes
    from deciban.io import read_index, read_key, read_scores, write
    from deciban.models import load_model
    from deciban.recipes import calibrate_files, fuse_files
    from deciban.report import report_files
    from deciban.trials import Index, Key, Scores, align
    from deciban.workflows import apply_files, evaluate_files, train_files
    from deciban.workflows.evaluate import evaluate_class_files
else:
    # `import deciban` alone costs nothing. Of the modules, ``sklearn`` is not among the names below: it needs a package
    # that ``from deciban import *`` does without.
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.core.ranks.operating": ("OperatingPoint",),
            "deciban.errors": ("DecibanError", "DecibanWarning", "FormatError", "InputError", "KeyMismatchError"),
            "deciban.evaluation": (
                "ClassEvaluation",
                "ClassResults",
                "Evaluation",
                "Results",
                "evaluate",
                "evaluate_classes",
            ),
            "deciban.io": ("read_index", "read_key", "read_scores", "write"),
            "deciban.models": ("load_model",),
            "deciban.recipes": ("calibrate_files", "fuse_files"),
            "deciban.report": ("report_files",),
            "deciban.trials": ("Index", "Key", "Scores", "align"),
            "deciban.workflows": ("apply_files", "evaluate_files", "train_files"),
            "deciban.workflows.evaluate": ("evaluate_class_files",),
        },
        modules=(
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
            "workflows",
        ),
    )

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
    "report_files",
    "train_files",
    "trials",
    "workflows",
    "write",
]
