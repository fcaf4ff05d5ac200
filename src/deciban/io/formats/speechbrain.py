"""Score files of SpeechBrain (``speaker_verification_cosine.py`` and ``_plda.py``): 1 or 0 before the score.

::

    id10270/x6uYqmx31kE/00001 id10270/8jEAjG6SegY/00008 1 0.731214
    id10270/x6uYqmx31kE/00001 id10300/ize_eiCFEg0/00003 0 0.105771
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="speechbrain",
    summary="`enroll test 1|0 score`",
    reads=("scores", "key"),
    writes=("scores", "key"),
    lines=("enroll test label score",),
    words=("1", "0"),
)
