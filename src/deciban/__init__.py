"""Evaluate, calibrate and fuse the scores of recognizers.

``deciban.evaluate(tar, non)`` computes all metrics of a report; `deciban.metrics` has one function for each metric.
`deciban.read_scores`, `deciban.read_key` and `deciban.align` convert files to scores of targets and non-targets. The
commands of the command line are also functions: `deciban.evaluate_files`, `deciban.train_files`, `deciban.apply_files`
and `deciban.report_files`.

A deciban, ten times the common logarithm of a likelihood ratio, is the unit of weight of evidence of Turing and Good.
"""

from __future__ import annotations

from deciban import _views  # noqa: F401  # registers views of results
from deciban._lazy import late

# `import deciban` imports almost nothing. ``sklearn`` needs a package that ``from deciban import *`` must not require.
__getattr__, __dir__ = late(__name__, beside=("sklearn",))
