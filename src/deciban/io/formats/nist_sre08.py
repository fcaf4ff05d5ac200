"""Keys of the NIST speaker recognition evaluations of 2008 and 2010: commas, and a header.

::

    modelid,segmentid,channel,targettype
    10001,tabcd,a,nontarget
    10002,tabce,b,target

The channel of the test segment, ``a`` or ``b``, is part of what identifies a trial. That the first line is a header and
the next hold these four columns was seen in recipes that cut such keys up (Kaldi's for SRE 2008). The words of the
header are from memory, and so the first line is passed over whatever it says; files are never guessed to be of this
format. A key with more columns is read with ``columns="enroll,test,side,label,-,-"``, one ``-`` for each further one.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="nist-sre08",
    summary="key `modelid,segmentid,channel,target|nontarget` below a header line",
    reads=("key", "index"),
    writes=("key",),
    lines=("enroll test side label",),
    header={"enroll": "modelid", "test": "segmentid", "side": "channel", "label": "targettype"},
    titled=True,
    delimiter=",",
    verified=False,
)
