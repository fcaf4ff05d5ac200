"""ASVspoof 2019: scores and protocols of countermeasures, and scores of the speaker verification system.

Scores of a countermeasure, and its protocol (LA; in PA the third column is the environment)::

    LA_E_2834763 A11 spoof -3.14
    LA_E_5464494 - bonafide 5.21

    LA_0039 LA_E_2834763 - A11 spoof
    LA_0030 LA_E_5464494 - - bonafide

Higher scores favour bona fide speech, which is the target. Scores of speaker verification, which name no trial, so that
only the row tells trials apart::

    bonafide target 4.61
    bonafide nontarget -8.02
    A07 spoof 1.33

``spoof`` counts as non-target there; ``keep(where={"source": "bonafide"})`` leaves the trials without attack.
"""

from __future__ import annotations

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.io.format import TextFormat


def spoof_again(columns: dict[str, pa.Array], attacked: pa.Array) -> dict[str, pa.Array]:
    """Call the non-targets of an attack ``spoof``, as they were called before they were read."""
    if "label" not in columns:
        return columns
    words = pc.if_else(pc.and_(attacked, pc.equal(columns["label"], "nontarget")), "spoof", columns["label"])
    return columns | {"label": words}


def _undone(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    source = columns.get("=source")
    return columns if source is None else spoof_again(columns, pc.not_equal(source, "bonafide"))


FORMATS = (
    TextFormat(
        name="asvspoof2019",
        summary="`trial attack bonafide|spoof score`; protocol `speaker trial environment attack bonafide|spoof`",
        reads=("scores", "key"),
        writes=("scores", "key"),
        lines=("trial =attack label score", "=speaker trial =environment =attack label"),
        words=("bonafide", "spoof"),
    ),
    TextFormat(
        name="asvspoof2019-asv",
        summary="`source target|nontarget|spoof score`, trials are told apart by their row",
        reads=("scores", "key"),
        writes=("scores", "key"),
        lines=("=source label score",),
        undo=_undone,
    ),
)
