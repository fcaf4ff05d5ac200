"""What the lists of ASVspoof say beyond their columns: words for attacks, and names that are theirs alone."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from deciban._arrow import compute as pc


def spoof_again_by_source(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Call non-targets ``spoof`` again whose source is an attack."""
    source = columns.get("=source")
    return columns if source is None else _spoof_again(columns, pc.not_equal(source, "bonafide"))


def spoof_again_by_label(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Call non-targets ``spoof`` again that the countermeasure should call so."""
    kind = columns.get("=cm-label")
    return columns if kind is None else _spoof_again(columns, pc.equal(kind, "spoof"))


def _spoof_again(columns: dict[str, pa.Array], attacked: pa.Array) -> dict[str, pa.Array]:
    if "label" not in columns:
        return columns
    words = pc.if_else(pc.and_(attacked, pc.equal(columns["label"], "nontarget")), "spoof", columns["label"])
    return columns | {"label": words}


def names_say_so(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a list of two columns has the names of ASVspoof 2021, and is not just any list of scores."""
    return len(rows[0]) > 2 or all(row[0][:5] in ("LA_E_", "PA_E_", "DF_E_") for row in rows)
