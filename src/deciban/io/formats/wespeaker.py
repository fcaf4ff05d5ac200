"""Score files of wespeaker (``wespeaker/bin/score.py`` and ``score_norm.py``): with or without the label at the end.

::

    id10270/x6uYqmx31kE/00001.wav id10270/8jEAjG6SegY/00008.wav 0.73121 target
    id10270/x6uYqmx31kE/00001.wav id10300/ize_eiCFEg0/00003.wav 0.10577 nontarget

The tool prints five decimals, so that equal scores of different trials are common; deciban never splits them.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="wespeaker",
    summary="`enroll test score target|nontarget`; `enroll test score`",
    reads=("scores", "key"),
    writes=("scores", "key"),
    lines=("enroll test score label", "enroll test score"),
)
