"""What the scripts of a page know of pairs of systems: differences of figures and of curves, and who is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban.analysis.comparison_words import caption_of, cells_of, label_of, p_value_written
from deciban.analysis.pairs import Pair
from deciban.evaluation.results import Results
from deciban.report.differences import Differences
from deciban.report.text import MINUS, capitalize_first

_MOST = 10
"""Of more systems, each is compared with the first one alone."""

_FEW = 6
"""Pairs whose curves have all their places; of more, every third one."""

_DIGITS = 4


def pair_data(results: Results[Any]) -> dict[str, Any] | None:
    """Paired differences of every two systems; None where units are not known or there is one system.

    Parameters
    ----------
    results : Results

    Returns
    -------
    dict or None
        ``pairs`` is a list of pairs: the places of both systems, rows of a table, sentences, and curves with bands.

    Examples
    --------
    >>> import deciban
    >>> units = {"tar_units": range(5), "non_units": range(5)}
    >>> tar = ([3, 2, 4, 1.5, 2], [0.5, 2, -1, 1.5, 3])
    >>> some = [deciban.evaluation.evaluate(x, [0, 1, -1, -2, -3], name=n, **units) for x, n in zip(tar, "AB")]
    >>> found = pair_data(deciban.evaluation.Results(tuple(some)))
    >>> found["pairs"][0]["of"], found["pairs"][0]["rows"][0][:3]
    ([0, 1], ['EER (ROCCH) in %', '0.00', '20.00'])
    """
    if len(results.systems) < 2:
        return None
    found = Differences.of(results, None, most=_MOST)
    if found is None:
        return None
    places = {one.name: k for k, one in enumerate(found.comparison.systems)}
    every = 1 if len(found.comparison.pairs) <= _FEW else 3
    return {
        "caption": f"{caption_of(found.comparison)}. Differences are the first system minus the second.",
        "pairs": [_pair(one, [places[name] for name in one.names], every) for one in found.comparison.pairs],
    }


def _pair(pair: Pair, of: list[int], every: int) -> dict[str, Any]:
    rows = []
    for one in pair.figures:
        first, second, difference = cells_of(one)
        bounds = (getattr(difference, name, "") for name in ("estimate", "bracket"))
        estimate, bracket = (text.replace("-", MINUS) for text in bounds)
        rows.append([label_of(one), first, second, estimate, bracket, p_value_written(one.holm)])
    curves = [
        {
            "name": one.curve,
            "about": one.about,
            "x": _short(one.log_odds[::every]),
            **{name: _short(getattr(one, name)[::every]) for name in ("difference", "low", "high")},
        }
        for one in pair.curves
    ]
    return {"of": of, "rows": rows, "sentences": [_sentence(x, pair.names) for x in pair.sentences], "curves": curves}


def _sentence(words: str, names: Sequence[str]) -> str:
    """Words that begin with a capital letter, unless that would change a name."""
    return f"{words if words.startswith(tuple(names)) else capitalize_first(words)}."


def _short(values: Sequence[float] | Any) -> list[float]:
    found = np.asarray(values, np.float64).tolist()
    return [float(f"{x:.{_DIGITS}g}") for x in found]
