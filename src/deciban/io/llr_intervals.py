"""Intervals of log-likelihood ratios as two more columns of what is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from deciban.io.contents import Contents
from deciban.io.formats import Format, TextFormat
from deciban.messages import Message
from deciban.trials import Trials
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
    known = set(names) & {name for table in contents.tables for name in table.trials.conditions}

    def more(trials: Trials) -> Trials:
        kept = {name: values for name, values in trials.conditions.items() if name not in columns}
        return replace(trials, conditions={**kept, **columns})

    def changed(table: Any) -> Any:
        return None if table is None else replace(table, trials=more(table.trials))

    held = {name: changed(getattr(contents, name)) for name in ("index", "key", "class_scores", "class_key")}
    made = replace(contents, systems=tuple(map(changed, contents.systems)), **held)
    words = f"the columns {' and '.join(sorted(known))} that were there are replaced"
    return made, [Message("note", "", words)] if known else []
