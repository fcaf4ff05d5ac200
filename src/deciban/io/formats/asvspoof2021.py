"""ASVspoof 2021: keys of three tracks, without a header, and scores of countermeasures.

::

    LA_0009 LA_E_9332881 alaw ita_tx A07 spoof notrim eval                                                (LA)
    PA_0010 PA_E_1000001 R3 M3 d4 r1 m1 s4 c4 spoof notrim eval                                           (PA)
    LA_0023 DF_E_2000011 nocodec asvspoof A14 spoof notrim progress traditional_vocoder - - - -           (DF)

    LA_E_9332881 -5.8546                                                                                  (scores)

Only one subset of a key is evaluated at a time: ``key.keep(where={"subset": "eval"})``; the others are progress and
hidden. All columns but the trial and the label are conditions, called as in the evaluation package of the organizers,
where the columns were seen. Bona fide speech is the target.
"""

from __future__ import annotations

from collections.abc import Sequence

from deciban.io.format import TextFormat


def _names_say_so(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a list of two columns has the names of this evaluation, and is not just any list of scores."""
    return len(rows[0]) > 2 or all(row[0][:5] in ("LA_E_", "PA_E_", "DF_E_") for row in rows)


FORMAT = TextFormat(
    name="asvspoof2021",
    summary="keys of 8 (LA), 12 (PA) and 13 (DF) columns, kept as conditions (`subset` among them); `trial score`",
    reads=("scores", "key"),
    writes=("scores", "key"),
    lines=(
        "trial score",
        "=spk trial =codec =trans =attack label =trim =subset",
        "=spk trial =asv_room =asv_mic =dis_to_asv =att_room =att_mic =att_d =att_to_spk label =trim =subset",
        "=spk trial =compr =source =attack label =trim =subset =vocoder =task =team =gender-pair =language",
    ),
    words=("bonafide", "spoof"),
    plausible=_names_say_so,
)
