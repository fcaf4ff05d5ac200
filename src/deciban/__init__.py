"""Evaluate, calibrate and fuse the scores of recognizers.

``deciban.evaluate(tar, non)`` gives every number of a report; `deciban.metrics` has each of them as a function;
`deciban.read_scores`, `deciban.read_key` and `deciban.align` turn files into the two sets of scores. The verbs of the
command line are functions, too: `deciban.evaluate_files`, `deciban.train_files`, `deciban.apply_files` and
`deciban.report_files`.

A deciban, ten times the common logarithm of a likelihood ratio, is the unit of weight of evidence of Turing and Good.
"""

from __future__ import annotations

from deciban import _views  # noqa: F401  # registers views of results
from deciban._lazy import late

# `import deciban` alone costs nothing. ``sklearn`` needs a package that ``from deciban import *`` does without.
__getattr__, __dir__ = late(__name__, beside=("sklearn",))
