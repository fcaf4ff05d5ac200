"""Arguments that are something else than what is expected, and what to write in their place."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.errors import InputError
from deciban.types import AnyArray, ScoreArray


def several(values: Any, name: str, example: str) -> list[Any]:
    """Return what was given one after the other as a list; one text is none.

    Raises
    ------
    InputError
        If this is no list, nor anything like it; ``example`` shows one.

    Examples
    --------
    >>> several((0.01, 0.1), "operating_points", "[0.01]")
    [0.01, 0.1]
    """
    try:
        if not isinstance(values, str | bytes):
            return list(values)
    except TypeError:
        pass
    shown = repr(values)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise InputError(f"{name}: got {type(values).__name__} {shown}. Write them in a list: {example}.")


def refuse_labels(label: AnyArray, name: str, score: ScoreArray, other: str) -> None:
    """Refuse whole numbers 0 and 1 beside as many fractions: labels and scores of the same trials.

    Raises
    ------
    InputError
        If this is what they are.
    """
    if label.dtype.kind not in "iu" or len(label) != len(score) or label.min() != 0 or label.max() != 1:
        return
    if np.any(score != np.rint(score)):
        raise InputError(
            f"{name}: only 0 and 1, as many as there are scores in {other}: labels of the same trials? Both arguments "
            f"are scores: pass {other}[{name} == 1], {other}[{name} == 0], as arrays; or floats, if these are scores."
        )
