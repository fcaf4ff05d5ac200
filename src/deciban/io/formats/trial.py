"""Trials of one name: spoofing detection, biometrics, and whoever numbers the trials.

::

    LA_E_2834763 1.5          LA_E_2834763 bonafide          LA_E_2834763 bonafide 1.5
    LA_E_8877452 -2.25        LA_E_8877452 spoof             LA_E_8877452 spoof -2.25

The score may also stand before the label. A file of one column is an index.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="trial",
    summary="`trial score`; `trial label`; `trial label score`; `trial score label`; index `trial`",
    reads=("scores", "key", "index"),
    writes=("scores", "key", "index"),
    lines=("trial score", "trial label", "trial label score", "trial score label", "trial"),
)
