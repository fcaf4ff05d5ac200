"""What the tables of lir say beyond their columns: labels by pairs of sources, and headers that are theirs alone."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.io.contents import RowError

_PAIRS = (("=source_id.0", "=source_id.1"), ("=source_id0", "=source_id1"), ("=source_id_0", "=source_id_1"))
_MARKS = {"hypothesis", "llr_interval_low", *(role[1:] for pair in _PAIRS for role in pair)}


def labelled(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Label pairs of sources, where nothing else does."""
    for one, other in _PAIRS if "label" not in columns else ():
        if one in columns and other in columns:
            _require_sources(columns, (one, other))
            return columns | {"label": pc.equal(columns[one], columns[other])}
    return columns


def _require_sources(columns: dict[str, pa.Array], pair: tuple[str, str]) -> None:
    """Refuse sources without a name: two of them are not the same one."""
    for role in pair:
        empty = pc.fill_null(pc.equal(pc.cast(columns[role], pa.string()), ""), fill_value=True)
        if pc.any(empty).as_py():
            row = pc.index(empty, value=True).as_py()
            raise RowError(f"{role[1:]} is empty, so that nothing says whether this is a target", row)


def marked(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the header has a word that only lir writes."""
    return bool(_MARKS & set(rows[0]))
