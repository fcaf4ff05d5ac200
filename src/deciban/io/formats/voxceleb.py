"""The trial lists of VoxCeleb (``veri_test2.txt``) and VoxSRC: the label comes first, 1 means the same speaker.

::

    1 id10270/x6uYqmx31kE/00001.wav id10270/8jEAjG6SegY/00008.wav
    0 id10270/x6uYqmx31kE/00001.wav id10300/ize_eiCFEg0/00003.wav

The lists hold some pairs twice, and some in both orders: ``--duplicates keep-one`` keeps one of identical lines; the
two orders of a pair are two trials.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="voxceleb",
    summary="`1|0 enroll test`",
    reads=("key",),
    writes=("key",),
    lines=("label enroll test",),
    words=("1", "0"),
)
