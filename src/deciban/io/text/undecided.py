"""What to say of a text table whose columns nothing tells apart: what was seen, and every way out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deciban.errors import FormatError
from deciban.io.contents import ContentKind
from deciban.io.format import TextFormat
from deciban.io.text.layout import NEEDED_ROLE, Layout, mostly, shortened

_DECIMAL = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


def could_be(sample: Sequence[str], found: Sequence[Layout], name: str) -> str:
    """Say that lines could be read in several ways."""
    readings = " or ".join(f"{layout}" for layout in found)
    roles = ",".join(found[0].roles)
    return (
        f"{name}: could be {readings}, the first line is {shortened(sample[0])!r}. Say which: --format NAME or "
        f"--columns {roles}."
    )


def undecided(
    sample: Sequence[str],
    need: ContentKind,
    name: str,
    format: TextFormat | None,  # noqa: A002
    swapped: Layout | None,
) -> str:
    """Say that lines could not be read as what is needed.

    Parameters
    ----------
    sample : sequence of str
        The first lines.
    need : kind of table
    name : str
        File name.
    format : TextFormat or None
        The format that the user named.
    swapped : Layout or None
        How the lines are read as a key where scores are needed, or as scores where a key is.
    """
    line = shortened(sample[0])
    words = " If its words for target and non-target are not known, say them: --labels target=WORD,nontarget=WORD."
    words = words if need == "key" else ""
    if swapped is not None:
        what = "these are scores" if need == "key" else "this is a key"
        return (
            f"{name}:1: {what} ({swapped}), but {need} was asked for: {line!r}. Are scores and key swapped? Otherwise "
            f"name the columns (--columns).{words}"
        )
    if need == "class-scores" and format is None:
        return (
            f"{name}:1: cannot tell which columns are the scores of classes: {line!r}. Expected a header, a column "
            "of names of segments, and one of numbers for each class; or name them (--columns trial=utt,score=A|B)."
        )
    asked, in_order, by_header = "which columns name the trials", "enroll,test", "trial=utt"
    role = NEEDED_ROLE.get(need)
    if role is not None:
        asked, in_order, by_header = f"which column is the {role}", f"{in_order},{role}", f"{by_header},{role}=NAME"
    if format is not None:
        return f"{name}:1: not {format.name} with {need}: {line!r}. Name the columns: --columns {in_order}."
    return (
        f"{name}:1: cannot tell {asked}: {line!r}. Name the columns in order, - for one to ignore (--columns "
        f"{in_order}), or by the header (--columns {by_header}).{words}"
    )


def refuse_semicolons(sample: Sequence[str], name: str) -> None:
    """Refuse columns that semicolons separate: the commas in them may be those of decimal numbers.

    Raises
    ------
    FormatError
        If every line has as many semicolons, and a column between them is one of numbers.
    """
    rows = [line.strip().split(";") for line in sample]
    if len(rows[0]) < 2 or len({*map(len, rows)}) > 1 or any("\t" in line for line in sample):
        return
    columns = zip(*(rows[1:] or rows), strict=True)
    if any(mostly(sum(map(bool, map(_DECIMAL.fullmatch, column))), len(column)) for column in list(columns)[1:]):
        raise FormatError(
            f"{name}:1: semicolons separate the columns: {shortened(sample[0])!r}. Expected commas, tabs or white "
            "space, and decimal points. Change them, for example with sed 's/,/./g; s/;/,/g' FILE > COPY."
        )
