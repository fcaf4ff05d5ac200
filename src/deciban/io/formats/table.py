"""Plain tables with a header: CSV and TSV.

::

    enroll,test,score,label,gender            trial,eng,fra,deu
    ann,x,1.5,target,f                        seg1,2.25,-1.5,-3
    bob,y,-2.25,nontarget,m                   seg2,-0.5,0.75,-4

The header may stand in any order. Trials are ``enroll`` and ``test`` (with ``side``, if there is one) or ``trial``; the
common names of these columns are known (modelid, segmentid, utt, filename, ...). Every column called score or llr, or
``NAME_score``, ``score-NAME`` and so on, holds the scores of one system; ``label`` holds the truth, ``class`` the true
class; all other columns are kept as conditions. Read as class scores, every other column of numbers is a class.

Commas, tabs and white space separate columns when reading. Quotes (``"``) enclose what holds a separator or a quote;
no name holds a line break. A column ``llr`` is the natural logarithm here; see the format ``lir`` for common
logarithms.
"""

from __future__ import annotations

from deciban.io.contents import ContentKind
from deciban.io.format import TextFormat

_KINDS: tuple[ContentKind, ...] = ("scores", "key", "index", "class-scores", "class-key")

FORMATS = (
    TextFormat(
        name="table",
        summary="a header that names the columns; CSV is written",
        reads=_KINDS,
        writes=_KINDS,
        lines=(),
        delimiter=",",
        endings=(".csv",),
    ),
    TextFormat(
        name="tsv",
        summary="a header that names the columns; tabs between them",
        reads=_KINDS,
        writes=_KINDS,
        lines=(),
        delimiter="\t",
        endings=(".tsv",),
    ),
)
