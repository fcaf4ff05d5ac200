"""ASVspoof 5: scores and keys of both tracks with tabs and a header, and the protocols of the data.

Track 1, countermeasures: scores and key (``asvspoof5``)::

    filename        cm-score                filename        cm-label
    E_0000000001    0.01                    E_0000000001    bonafide

Track 2, spoofing-robust speaker verification: scores of three systems, and key (``asvspoof5-sasv``)::

    spk      filename       cm-score   asv-score   sasv-score           spk      filename       cm-label   asv-label
    E_0101   E_0000000001   4.762      -1.022      1.870                E_0101   E_0000000001   bonafide   target

The label is ``asv-label``: target, nontarget or spoof, where spoof counts as non-target; ``cm-label`` is kept as a
condition. It is the truth for ``cm-score``, so that a note says how to name it
(``key_columns="enroll=spk,test=filename,label=cm-label"``). Where a score is absent there is a ``-``: such lines are
refused, since every trial needs one. Choose a system with ``columns="enroll=spk,test=filename,score=sasv-score"``.

Protocols of the training and development data, without a header (``asvspoof5-protocol``)::

    T_4850 T_0000000000 F - - - AC3 A05 spoof -

Scores and keys were seen in the evaluation package of the organizers, the protocols in programs that read them.
"""

from __future__ import annotations

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.io.format import TextFormat
from deciban.io.formats.asvspoof2019 import spoof_again


def _undone(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    kind = columns.get("=cm-label")
    return columns if kind is None else spoof_again(columns, pc.equal(kind, "spoof"))


FORMATS = (
    TextFormat(
        name="asvspoof5",
        summary="TAB, header `filename cm-score`; key `filename cm-label`",
        reads=("scores", "key"),
        writes=("scores", "key"),
        lines=("trial score", "trial label *"),
        header={"trial": "filename", "score": "cm-score", "label": "cm-label"},
        delimiter="\t",
        words=("bonafide", "spoof"),
    ),
    TextFormat(
        name="asvspoof5-sasv",
        summary="TAB, header `spk filename cm-score asv-score sasv-score`; key `spk filename cm-label asv-label`",
        reads=("scores", "key"),
        writes=("scores", "key"),
        lines=("enroll test score", "enroll test =cm-label label *"),
        header={
            "enroll": "spk",
            "test": "filename",
            "score": "cm-score|asv-score|sasv-score",
            "=cm-label": "cm-label",
            "label": "asv-label",
        },
        delimiter="\t",
        undo=_undone,
        note_on_key=(
            "the label is asv-label; a countermeasure (cm-score) is judged by cm-label: --columns "
            "enroll=spk,test=filename,score=cm-score --key-columns enroll=spk,test=filename,label=cm-label"
        ),
    ),
    TextFormat(
        name="asvspoof5-protocol",
        summary="protocol of 10 columns: `speaker trial gender codec codec_q codec_seed attack_tag attack label -`",
        reads=("key",),
        writes=("key",),
        lines=("=speaker trial =gender =codec =codec_q =codec_seed =attack_tag =attack label =tmp",),
        words=("bonafide", "spoof"),
    ),
)
