"""Log likelihood ratios of lir, the toolkit of the Netherlands Forensic Institute: commas, a header, and **log10**.

::

    hypothesis,llr             source_id.0,source_id.1,llr,llr_interval_low,llr_interval_high
    1,2.25                     A,A,2.25,1.5,3
    0,-1.5                     A,B,-1.5,-2,-1

``llr`` is the common logarithm of the likelihood ratio. It is kept as it is, and taken times ln 10 wherever natural
logarithms count. ``hypothesis`` is 1 (or H1) for targets and 0 (or H2) for non-targets; where there is no such column,
two columns of sources say it: a target is a pair from the same source. All other columns are conditions.

Trials have no names, unless there are columns ``enroll`` and ``test``, or ``trial``: then it is the row that tells them
apart. A table with names and a column llr could as well be a plain table with natural logarithms, and is refused as
long as the format is not given by name.

The writer of ``llr`` and of the sources was seen in lir (0.x and 1.x call them source_id0 and source_id.0), and so was
the meaning of 0 and 1; what the column of hypotheses is called is up to the user there.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.io.columns.assemble import RowError
from deciban.io.format import TextFormat

_PAIRS = (("=source_id.0", "=source_id.1"), ("=source_id0", "=source_id1"), ("=source_id_0", "=source_id_1"))
_MARKS = {"hypothesis", "llr_interval_low", *(role[1:] for pair in _PAIRS for role in pair)}


def _labelled(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
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
            raise RowError(f"{role[1:]} is empty, so that nothing says whether this is a target", _first(empty))


def _first(flags: pa.Array) -> int:
    return int(pc.index(flags, value=True).as_py())


def _marked(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the header has a word that only lir writes."""
    return bool(_MARKS & set(rows[0]))


FORMAT = TextFormat(
    name="lir",
    summary="header with `llr` in log10, `hypothesis` 1/0 or H1/H2, or two `source_id` columns",
    reads=("scores", "key"),
    writes=("scores", "key"),
    lines=(
        "enroll test label score *",
        "enroll test score *",
        "trial label score *",
        "trial score *",
        "label score *",
        "score *",
    ),
    header={"enroll": "enroll", "test": "test", "trial": "trial", "label": "hypothesis", "score": "llr"},
    delimiter=",",
    words=("1", "0"),
    derive=_labelled,
    plausible=_marked,
    log10=True,
)
