"""NIST language recognition evaluations from 2017 on: a table with tabs, one column of scores for each language.

Submission and key::

    segmentid          ara-acm   ara-apc   eng-gbr            segmentid          language_code   data_source
    lre17_abcdef.sph   -1.25     2.5       -7.75              lre17_abcdef.sph   ara-apc         mls14

Scores are log likelihoods or detection log likelihood ratios, natural; the order of the languages is the header's. The
key is a class key; its other columns are kept as conditions. Keys that call the column ``language`` are plain tables.

The order of the columns of the LRE17 key was seen in recipes that cut it up; the headers are from memory.
"""

from __future__ import annotations

from deciban.io.format import TextFormat

FORMAT = TextFormat(
    name="nist-lre",
    summary="TAB, header `segmentid` + one column per language; key `segmentid language_code` + other columns",
    reads=("class-scores", "class-key"),
    writes=("class-scores", "class-key"),
    lines=("trial class *", "trial classes"),
    header={"trial": "segmentid", "class": "language_code"},
    delimiter="\t",
)
