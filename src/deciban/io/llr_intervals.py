"""Intervals of log-likelihood ratios as two more columns of what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from deciban.io.contents import Contents
from deciban.io.formats import Format, TextFormat, formats
from deciban.messages import Message
from deciban.trials.frozen import condition_column
from deciban.trials.tables import LOG_10
from deciban.types import FloatArray

Bounds: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends of the intervals of llrs, (n_trials,) each, in nats."""

_COLUMNS = ("llr_low", "llr_high")


def columns_of_intervals(chosen: Format | None) -> tuple[str, ...]:
    """What a format calls the columns of both bounds."""
    return _COLUMNS if chosen is None else chosen.interval


def with_intervals(contents: Contents, bounds: Bounds, chosen: Format | None) -> tuple[Contents, list[Message]]:
    """Contents whose trials have the bounds of their llrs as two more columns, in the unit of the format.

    Parameters
    ----------
    contents : Contents
        With the llrs of one system.
    bounds : pair of (n_trials,) arrays
        In nats.
    chosen : Format or None

    Returns
    -------
    Contents
    list of Message
        Which columns of these names were there before, and are replaced.

    Examples
    --------
    >>> from deciban.trials import Scores
    >>> contents = Contents.of(Scores.of({"trial": ["a"]}, [1.0]))
    >>> made, _ = with_intervals(contents, (np.array([0.5]), np.array([1.5])), None)
    >>> {name: values.to_pylist() for name, values in made.systems[0].trials.conditions.items()}
    {'llr_low': [0.5], 'llr_high': [1.5]}
    """
    names = columns_of_intervals(chosen)
    unit = LOG_10 if isinstance(chosen, TextFormat) and chosen.log10 else 1.0
    columns = {name: condition_column(name, np.asarray(end) / unit) for name, end in zip(names, bounds, strict=True)}
    others, known = without_intervals(contents)
    made = _with_conditions(others, lambda conditions: {**conditions, **columns})
    return made, [Message("note", "", f"{_in_words(known)} that were there are replaced")] if known else []


def without_intervals(contents: Contents) -> tuple[Contents, list[str]]:
    """Contents without bounds of llrs, as any format calls them, and which of these there were.

    They are those of the scores that were read: beside others they would be wrong.
    """
    names = {name for chosen in formats().values() for name in chosen.interval}
    known = sorted(names & {name for table in contents.tables for name in table.trials.conditions})
    if not known:
        return contents, []
    kept = _with_conditions(contents, lambda found: {name: found[name] for name in found if name not in names})
    return kept, known


def left_out(names: Sequence[str]) -> list[Message]:
    """Say that bounds were left out, if any were."""
    words = f"{_in_words(names)} of the scores that were read are left out"
    return [Message("note", "", words)] if names else []


def _in_words(names: Sequence[str]) -> str:
    return f"the columns {' and '.join(names)}" if len(names) > 1 else f"the column {''.join(names)}"


def _with_conditions(contents: Contents, change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Contents:
    def changed(table: Any) -> Any:
        if table is None:
            return None
        return replace(table, trials=replace(table.trials, conditions=change(table.trials.conditions)))

    held = {name: changed(getattr(contents, name)) for name in ("index", "key", "class_scores", "class_key")}
    return replace(contents, systems=tuple(map(changed, contents.systems)), **held)
