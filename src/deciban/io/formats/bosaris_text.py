"""Text files of BOSARIS that are no lists of trials: quality measures of segments, and id maps.

Quality measures: the first line says how many there are, the others hold a name and so many numbers::

    2
    seg1 0.75 20.5
    seg2 0.5 13.25

Id maps: what a name on the left is called on the right::

    model1 seg1
    model2 seg7

Commas may stand between them, and a header ``left,right`` above; or tabs, and blanks in the names.

The lists of trials (index, key and scores) are the lines of the format ``kaldi``. Names of measures have no place in
this format; they come back as q1, q2, ... Such lines could be many things, so they are never guessed: they are read
where quality measures or an id map are asked for.
"""

from __future__ import annotations

import re
from typing import IO

import numpy as np

from deciban.errors import FormatError
from deciban.io.contents import Contents, Written
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.source import Source, numbered_lines, read_text
from deciban.io.text.columns import check_names
from deciban.io.text.one_line import is_number, split
from deciban.trials import IdMap, Origin, SegmentQuality


def read_quality(source: Source, options: Options) -> Contents:  # noqa: ARG001  # nothing can be said otherwise
    """Read quality measures of segments."""
    lines = [(number, split(line, " ")) for number, line in numbered_lines(read_text(source), source.name)]
    if not lines:
        raise FormatError(f"{source.name}: the file is empty. Expected quality measures.")
    (number, first), *lines = lines
    if len(first) != 1 or not re.fullmatch("[1-9][0-9]{0,17}", first[0]):
        raise FormatError(
            f"{source.name}:{number}: expected the number of quality measures alone on the first line, got "
            f"{' '.join(first)[:80]!r}."
        )
    n_measures = int(first[0])
    for number, fields in lines:
        if len(fields) != n_measures + 1:
            raise FormatError(
                f"{source.name}:{number}: expected a name and {n_measures} quality measures, got {len(fields)} "
                f"columns: {' '.join(fields)[:80]!r}."
            )
        wrong = [field for field in fields[1:] if not is_number(field) or not np.isfinite(float(field))]
        if wrong:
            raise FormatError(f"{source.name}:{number}: the quality measure {wrong[0]!r} is not a finite number.")
    if not lines:
        raise FormatError(f"{source.name}: holds no segment, only the number of quality measures.")
    origin = Origin(source.name, "bosaris-quality")
    values = np.array([[float(field) for field in fields[1:]] for _, fields in lines])
    with only_format_errors(source.name, "quality measures"):
        quality = SegmentQuality.of([fields[0] for _, fields in lines], values, origin=origin)
    return Contents(origin=origin, segment_quality=quality)


def write_quality(contents: Contents, stream: IO[bytes]) -> Written:
    """Write quality measures of segments."""
    quality = contents.segment_quality
    assert quality is not None  # noqa: S101  # the caller saw to it that the format can hold the contents
    check_names(quality.names, "segment", "bosaris-quality", " ", first=True)
    stream.write(b"%d\n" % quality.values.shape[1])
    for name, values in zip(quality.names.to_pylist(), quality.values.tolist(), strict=True):
        stream.write(f"{name} {' '.join(map(repr, values))}\n".encode())
    return Written(frozenset(("segment-quality",)))


def read_id_map(source: Source, options: Options) -> Contents:  # noqa: ARG001  # nothing can be said otherwise
    """Read an id map."""
    lines = _pairs(source)
    for number, fields in lines:
        if len(fields) != 2:
            raise FormatError(
                f"{source.name}:{number}: expected 2 columns (left right), got {len(fields)}: "
                f"{' '.join(fields)[:80]!r}."
            )
        if not all(fields):
            raise FormatError(f"{source.name}:{number}: one of two names is empty: {','.join(fields)[:80]!r}.")
    left, right = zip(*(fields for _, fields in lines), strict=True)
    with only_format_errors(source.name, "an id map"):
        id_map = IdMap.from_columns(left, right, where=lambda row: f"{source.name}:{lines[row][0]}")
    return Contents(origin=Origin(source.name, "bosaris-idmap"), id_map=id_map)


def _pairs(source: Source) -> list[tuple[int, list[str]]]:
    """The fields of an id map: as white space separates them, or commas or tabs if these make two of every line."""
    numbered = list(numbered_lines(read_text(source), source.name))
    if not numbered:
        raise FormatError(f"{source.name}: the file is empty. Expected an id map.")
    pairs = {sign: all(len(split(line, sign)) == 2 for _, line in numbered) for sign in (" ", ",", "\t")}
    if pairs[" "] and pairs[","]:
        raise FormatError(
            f"{source.name}:{numbered[0][0]}: could be two columns by commas or by white space: "
            f"{numbered[0][1][:80]!r}. Leave out the blanks or the commas."
        )
    sign = "," if pairs[","] else "\t" if pairs["\t"] else " "
    lines = [(number, split(line, sign)) for number, line in numbered]
    if sign == "," and [field.casefold() for field in lines[0][1]] == ["left", "right"]:
        del lines[0]
    if not lines:
        raise FormatError(f"{source.name}: holds no pair of names, only a header.")
    return lines


def write_id_map(contents: Contents, stream: IO[bytes]) -> Written:
    """Write an id map."""
    id_map = contents.id_map
    assert id_map is not None  # noqa: S101  # the caller saw to it that the format can hold the contents
    check_names(id_map.left, "left name", "bosaris-idmap", " ", first=True)
    check_names(id_map.right, "right name", "bosaris-idmap", " ", first=False)
    for left, right in zip(id_map.left.to_pylist(), id_map.right.to_pylist(), strict=True):
        stream.write(f"{left} {right}\n".encode())
    return Written(frozenset(("id-map",)))
