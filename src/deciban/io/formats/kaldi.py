"""Kaldi's trials and scores: two names, then what is known of the trial.

Scores, as ``ivector-plda-scoring`` and ``nnet3-xvector`` recipes write them, and trials as in ``data/*/trials``::

    id10270-5r0dWxy17C8-00001 id10270-8jEAjG6SegY-00038 12.84756
    id10270-5r0dWxy17C8-00001 id10300-ize_eiCFEg0-00003 -3.50121

    id10270-5r0dWxy17C8-00001 id10270-8jEAjG6SegY-00038 target
    id10270-5r0dWxy17C8-00001 id10300-ize_eiCFEg0-00003 nontarget

Any white space separates the columns. The text files of BOSARIS (index ``model seg``, key ``model seg
target|nontarget``, scores ``model seg score``) have the same lines; theirs print six decimals, ours all digits that
matter. Some recipes write the test segment first: say so with ``columns="test,enroll,score"``.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="kaldi",
    summary="`enroll test score`; key `enroll test target|nontarget`; index `enroll test`",
    reads=("scores", "key", "index"),
    writes=("scores", "key", "index"),
    lines=("enroll test score", "enroll test label", "enroll test"),
)
