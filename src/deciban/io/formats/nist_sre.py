"""NIST speaker recognition evaluations from 2016 on: tables with tabs and a header.

Trials, submission and key have the same rows; the key adds the truth and the partitions::

    modelid         segmentid       side    LLR
    1001_sre18      dabcdefg_sre18  a       -3.86

    modelid         segmentid       side    targettype   gender  num_enroll_segs  phone_num_match
    1001_sre18      dabcdefg_sre18  a       nontarget    female  3                N

``side`` is part of what identifies a trial; where an evaluation has no sides, the tables lack that column. The columns
of the key that are not known here are kept as conditions; a submission has none. LLR is a natural logarithm.

SRE18 was seen in the code of its scorer; the others differ in their partitions, as far as is known.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="nist-sre",
    summary="TAB, header `modelid segmentid [side]`; submission + `LLR`; key + `targettype` and partition columns",
    reads=("scores", "key", "index"),
    writes=("scores", "key", "index"),
    lines=(
        "enroll test side score",
        "enroll test side label *",
        "enroll test side *",
        "enroll test score",
        "enroll test label *",
        "enroll test *",
    ),
    header={"enroll": "modelid", "test": "segmentid", "side": "side", "score": "LLR", "label": "targettype"},
    delimiter="\t",
)
