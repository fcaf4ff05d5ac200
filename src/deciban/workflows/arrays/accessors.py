"""Methods of data frames: ``frame.deciban.evaluate(score="llr", label="is_target")``."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import Any

from deciban.errors import InputError
from deciban.workflows import arrays


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a data frame as a method, with its help."""

    @functools.wraps(function)
    def method(self: FrameMethods, *args: object, **options: object) -> Any:
        return function(self._frame, *args, **options)

    return method


class FrameMethods:
    """The functions of deciban for data frames, as methods of one data frame.

    ``evaluate``, ``evaluate_classes``, ``compare``, ``calibrate`` and ``fuse`` are `deciban.evaluate` and so on, with
    the data frame as first argument.
    """

    def __init__(self, frame: object) -> None:
        self._frame = frame

    evaluate = _method(arrays.evaluate)
    evaluate_classes = _method(arrays.evaluate_classes)
    compare = _method(arrays.compare)
    calibrate = _method(arrays.calibrate)
    fuse = _method(arrays.fuse)


def register_accessors() -> tuple[str, ...]:
    """Add the attribute ``deciban`` to data frames of pandas and polars.

    Returns
    -------
    tuple of str
        The installed libraries.

    Raises
    ------
    InputError
        If neither is installed.

    Examples
    --------
    >>> "pandas" in register_accessors()
    True
    >>> import pandas
    >>> frame = pandas.DataFrame({"score": [1.0, 2.0, 2.0, 0.0, 1.0, -1.0], "label": [1, 1, 1, 0, 0, 0]})
    >>> round(frame.deciban.evaluate(intervals=False).min_cllr, 4)
    0.3333
    """
    lines = tuple(name for name in ("pandas", "polars") if importlib.util.find_spec(name) is not None)
    if not lines:
        raise InputError("accessors: neither pandas nor polars is installed.")
    if "pandas" in lines:
        import pandas as pd

        if not hasattr(pd.DataFrame, "deciban"):
            pd.api.extensions.register_dataframe_accessor("deciban")(FrameMethods)
    if "polars" in lines:
        import polars as pl

        if not hasattr(pl.DataFrame, "deciban"):
            pl.api.register_dataframe_namespace("deciban")(FrameMethods)
    return lines
