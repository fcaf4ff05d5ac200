"""Score files of 3D-Speaker (``speakerlab/bin/compute_score_metrics.py``): the label stands before the score.

::

    id10270-x6uYqmx31kE-00001 id10270-8jEAjG6SegY-00008 target 0.73121
    id10270-x6uYqmx31kE-00001 id10300-ize_eiCFEg0-00003 nontarget 0.10577

Labels are the words of the trial list: target and nontarget, or 1 and 0.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="3d-speaker",
    summary="`enroll test target|nontarget score`",
    reads=("scores", "key"),
    writes=("scores", "key"),
    lines=("enroll test label score",),
)
