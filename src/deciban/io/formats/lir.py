"""What the tables of lir say beyond their columns: labels by pairs of sources, and headers that are theirs alone."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from deciban.io.columns.values import same_names

_PAIRS = (("=source_id.0", "=source_id.1"), ("=source_id0", "=source_id1"), ("=source_id_0", "=source_id_1"))
_MARKS = {"hypothesis", "llr_interval_low", *(role[1:] for pair in _PAIRS for role in pair)}


def labelled(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Label pairs of sources, where nothing else does."""
    for one, other in _PAIRS if "label" not in columns else ():
        if one in columns and other in columns:
            return columns | {"label": same_names(columns[one], columns[other], (one[1:], other[1:]))}
    return columns


def marked(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the header has a word that only lir writes."""
    return bool(_MARKS & set(rows[0]))
