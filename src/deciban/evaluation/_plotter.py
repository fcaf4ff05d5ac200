"""Plots of a result, by name: ``result.plot.det()`` is ``deciban.plots.det(result)``.

Plots stand above evaluation and bring matplotlib with them, so they are imported by their name, and only when one is
asked for. No other module of this package looks upwards.
"""

from __future__ import annotations

import importlib
from typing import Any

PLOTS = {"two-class": "KINDS", "classes": "CLASS_KINDS", "comparison": "COMPARISON_KINDS"}
"""Under which name `deciban.plots` lists the plots of each kind of results."""


class Plotter:
    """The functions of `deciban.plots` for one kind of results, with their first argument filled in.

    Parameters
    ----------
    result : Evaluation, ClassEvaluation, Results or Comparison
    kind : {"two-class", "classes", "comparison"}
    """

    def __init__(self, result: Any, kind: str) -> None:
        self._result, self._kind = result, kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copy and pickle look for
            raise AttributeError(name)
        if name not in dir(self):
            raise AttributeError(f"no plot {name!r} of {self._kind} results; there are {', '.join(dir(self))}")

        def draw(*arguments: Any, **options: Any) -> Any:
            return getattr(importlib.import_module("deciban.plots"), name)(self._result, *arguments, **options)

        return draw

    def __dir__(self) -> list[str]:
        return list(getattr(importlib.import_module("deciban.plots"), PLOTS[self._kind]))
