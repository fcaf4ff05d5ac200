"""Inputs written again with other scores or their bounds; text lines keep everything but the score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import condition_column, lengths, of_bytes, of_numpy, pc, text_of, to_numpy, with_gaps
from deciban.errors import FormatError, InputError, Message, teller
from deciban.io import formats
from deciban.io.columns.headers import declared_unit
from deciban.io.formats import Contents, Format, TextFormat
from deciban.io.reader import Input
from deciban.io.source import Source, unpacked_name
from deciban.io.text.reader import Layout, whole_lines
from deciban.io.units import notes_on_submissions, written_as
from deciban.io.writing import opened, put_and_tell, target_name
from deciban.trials import ClassScores, Scores, Trials
from deciban.trials.tables import LOG_10
from deciban.types import BoolArray, FloatArray, IntArray, PathLike, ScoreArray


def write_rescored(
    file: Input,
    llr: Scores,
    target: PathLike,
    *,
    to: str | None = None,
    interval: Bounds | None = None,
    are_llrs: bool = True,
) -> tuple[Message, ...]:
    """Write an input again with other scores.

    Parameters
    ----------
    file : Input
        An input with the scores of one system.
    llr : Scores
        Natural logarithms of likelihood ratios, on its trials.
    target : path
        See `deciban.write`.
    to : str, optional
        Format to write. By default the format of the input, unless the target has the ending of another format. In
        the format of the input, text lines are unchanged except for the score. In other formats, all contents are
        written that the format can contain, without the bounds of former llrs.
    interval : pair of (n_trials,) arrays, optional
        Lower and upper bounds of the llrs, in nats. They are written as two more columns, ``llr_low`` and
        ``llr_high`` or as the format names them; text lines are then written anew.
    are_llrs : bool
        False for other scores, which get no header of log-likelihood ratios.

    Returns
    -------
    tuple of Message
        Messages about contents that were left out, the unit of the llrs, and the target.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.write`.
    """
    chosen, unchanged = _chosen(file, target, to)
    messages: list[Message] = []
    written = llr
    if isinstance(chosen, TextFormat) and chosen.log10:
        written = replace(llr, score=llr.score / LOG_10, log10=True)
        what = "log-likelihood ratios" if are_llrs else "scores"
        unit = f"{what} are written as common logarithms (log10), the unit of {chosen.name}"
        messages.append(Message("note", "", unit))
    elif are_llrs:
        messages += natural_logarithms(file.contents)
    layout, source = file.layout, file.source
    plain = layout is not None and not layout.quoted and layout.roles.index("score") <= MOST_FIELDS
    contents, more = rescored(file.contents, written, interval=interval, chosen=chosen)
    if interval is None and unchanged and layout is not None and source is not None and plain and not more:
        with opened(target) as stream:
            title = _new_title(layout, written, are_llrs=are_llrs)
            rewrite(source, layout, written.score, stream, title)
        how = f"with the lines of {source.name} and new scores"
        how += "" if title is None else f" in the column {title}"
        reading, commas = file.contents.origin.reading, ", with commas between columns and decimal points"
        how += commas if ", semicolons" in reading else ", with decimal points" * (", decimal commas" in reading)
        return (*messages, Message("wrote", target_name(target), how))
    name, columns = None if chosen is None else chosen.name, () if interval is None else columns_of_intervals(chosen)
    return (*messages, *more, *put_and_tell(contents, target, name, ["scores"], columns))


def _new_title(layout: Layout, written: Scores, *, are_llrs: bool) -> str | None:
    """Return a new header for the column of scores if the old one does not suit the new ones, otherwise None."""
    if layout.header is None:
        return None
    header = layout.header[layout.roles.index("score")]
    old = declared_unit(header)
    if not are_llrs and old is not None:
        return "score"
    if old is None:
        is_apt = any(word in header.casefold() for word in (("score", "llr") if are_llrs else ("score",)))
        return None if is_apt or "score" in layout.header else "score"
    return None if old in ("nats", "log10" if written.log10 else "nats") else "ln_lr"


def natural_logarithms(contents: Contents) -> list[Message]:
    """Return a note if llrs are written in another unit than the scores of the input."""
    units = {system.unit for system in contents.systems}
    what = "common ones" if "log10" in units else "likelihood ratios"
    words = f"log-likelihood ratios are written as natural logarithms, though the scores are {what}"
    return [Message("note", "", words)] if units & {"log10", "lr"} else []


def rescored(
    contents: Contents, llr: Scores, *, interval: Bounds | None = None, chosen: Format | None = None
) -> tuple[Contents, list[Message]]:
    """Replace the scores of contents, and set or remove the bounds of llrs.

    Parameters
    ----------
    contents : Contents
    llr : Scores
        Scores on its trials.
    interval : pair of (n_trials,) arrays, optional
        Bounds in nats.
    chosen : Format, optional
        The format to write, which determines the names of the bounds.

    Returns
    -------
    Contents
    list of Message
        Messages about former bounds that were replaced or removed.
    """
    changed = replace(contents, systems=(llr,))
    if interval is not None:
        return with_intervals(changed, interval, chosen)
    kept, former = without_intervals(changed)
    return kept, left_out(former)


def rescored_classes(
    contents: Contents, scores: ClassScores, *, write_as: str = "loglik"
) -> tuple[Contents, list[Message]]:
    """Replace class scores, as log-likelihoods or as detection llrs; see `write_rescored_classes`."""
    result, messages = written_as(scores, write_as)
    return replace(contents, class_scores=result, systems=(), key=None), messages


def write_rescored_classes(
    file: Input, scores: ClassScores, target: PathLike, *, to: str | None = None, write_as: str = "loglik"
) -> tuple[Message, ...]:
    """Write an input again with other class scores, and all other contents that the format can contain.

    Parameters
    ----------
    file : Input
        An input with class scores.
    scores : ClassScores
        Natural log-likelihoods, on some of its segments.
    target : path
        See `deciban.write`.
    to : str, optional
        As in `write_rescored`.
    write_as : {"loglik", "detection-llr"}
        The unit to write.

    Returns
    -------
    tuple of Message
        Messages about contents that were left out, and the target.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.write`.
    """
    chosen, _ = _chosen(file, target, to)
    # A format for detection llrs converts the scores itself.
    unit = "loglik" if chosen is not None and chosen.detection_llr else write_as
    contents, messages = rescored_classes(file.contents, scores, write_as=unit)
    notes = put_and_tell(contents, target, None if chosen is None else chosen.name, ["class-scores"])
    return (*messages, *notes, *notes_on_submissions(notes, write_as))


def _chosen(result: Input, target: PathLike, to: str | None) -> tuple[Format | None, bool]:
    """Return the format to write, or None if `deciban.write` must choose it; and True if it is that of the input."""
    own, layout, shown = result.format, result.layout, target_name(target)
    if layout is not None and own.name == "table" and layout.delimiter == "\t":
        own = formats.by_name("tsv")
    if not own.writes and not isinstance(own, TextFormat):  # read-only format: the target decides
        return (None if to is None else formats.by_name(to)), False
    ending = _ending(shown)
    if to is None and ending in formats.READ_ONLY_ENDINGS:
        raise InputError(
            f"{shown}: deciban reads files that end in {ending}, but does not write them. Name a .csv or .txt file."
        )
    if to is None and (str(target) == "-" or not ending or ending == _ending(result.contents.origin.name)):
        return own, True
    request = formats.for_ending(shown) if to is None else formats.by_name(to)
    if request is not None:
        is_kept = not isinstance(own, TextFormat) or layout is None or layout.delimiter == own.delimiter
        return request, request is own and is_kept
    if ending in formats.SILENT_ENDINGS and not isinstance(own, TextFormat):
        return None, False  # the ending means a list of trials
    return own, True


def _ending(shown: str) -> str:
    return Path(unpacked_name(shown)).suffix.casefold()


_ODD = (b"#", b";", b"\r")
"""Bytes that may begin a comment, and line ends of other systems."""

_LARGEST = 1 << 26
"""Largest number of bytes of text at once, so that all positions in the result are below 2 ** 31."""

_LINE_END, _BLANK = b"\n "


def plain_fields(text: bytes, layout: Layout) -> tuple[IntArray, IntArray] | None:
    r"""Return the begin and end of the score in each line; None if a line needs more care.

    Parameters
    ----------
    text : bytes
        Whole lines.
    layout : Layout
        The layout of lines with one score, without quotes.

    Returns
    -------
    begin, end : (n_lines,) int array
        Or None if there are comments, quotes, blank lines, repeated blanks, tabs among blanks, a last line without
        line end, or a line with a wrong number of fields.

    Examples
    --------
    >>> from deciban.io.formats import by_name
    >>> kaldi = Layout(by_name("kaldi"), ("enroll", "test", "score"), " ")
    >>> begin, end = plain_fields(b"ann x 1.5\nbob y -2\n", kaldi)
    >>> begin.tolist(), end.tolist()
    ([6, 16], [9, 18])
    >>> plain_fields(b"ann  x 1.5\n", kaldi) is None
    True
    """
    odd = (*_ODD, b'"') if layout.delimiter == "," else _ODD
    if not text.endswith(b"\n") or len(text) > _LARGEST or any(one in text for one in odd):
        return None
    data, n_fields, at = np.frombuffer(text, np.uint8), len(layout.roles), layout.roles.index("score")
    delimiter = ord(layout.delimiter)
    is_border = data <= _BLANK if delimiter == _BLANK else (data == delimiter) | (data == _LINE_END)
    borders = np.flatnonzero(is_border)
    lines = (layout.delimiter * (n_fields - 1) + "\n").encode() * (len(borders) // n_fields)
    if data[borders].tobytes() != lines:
        return None
    ends = borders.reshape(-1, n_fields)
    end = ends[:, at]
    begin = np.concatenate([[0], ends[:-1, -1] + 1]) if at == 0 else ends[:, at - 1] + 1
    if delimiter == _BLANK:
        idle: BoolArray = np.diff(borders, prepend=-1) == 1  # an empty field
        return None if idle.any() else (begin, end)
    blanks = np.flatnonzero(data <= _BLANK)
    within = np.searchsorted(blanks, begin) != np.searchsorted(blanks, end)
    return None if within.any() or (begin == end).any() else (begin, end)


def with_fields(text: bytes, begin: IntArray, end: IntArray, fields: pa.Array) -> tuple[memoryview, bytes]:
    r"""Replace some places of a text by other texts.

    Parameters
    ----------
    text : bytes
    begin, end : (n,) int array
        Places in ascending order, not adjacent.
    fields : binary pyarrow array of n
        The new texts.

    Returns
    -------
    memoryview, bytes
        The new text up to the last place, and the rest.

    Examples
    --------
    >>> from deciban._arrow import of_bytes
    >>> first, rest = with_fields(b"a 1\nb 2\n", np.array([2, 6]), np.array([3, 7]), of_bytes([b"-0.25", b""]))
    >>> bytes(first), rest
    (b'a -0.25\nb ', b'\n')
    """
    if not len(begin):
        return memoryview(b""), text
    borders = np.zeros(2 * len(begin) + 1, np.int32)  # alternately text and places
    borders[1::2], borders[2::2] = begin, end
    turns = pa.Array.from_buffers(pa.binary(), 2 * len(begin), [None, pa.py_buffer(borders), pa.py_buffer(text)])
    order = np.arange(2 * len(begin), dtype=np.int32)
    order[1::2] = np.arange(2 * len(begin), 3 * len(begin))
    result = pa.concat_arrays([turns, fields]).take(of_numpy(order))
    return text_of(result).data, text[end[-1] :]


_BLOCK = 1 << 22
"""Approximate number of bytes of a block."""

_MARK = b"\xef\xbb\xbf"
_OLD_LINE_END = re.compile(rb"\r(?!\n)")
_NO_ROW = r"^[ \t\v\f\r]*(?:#|;;|$)"

_FIELDS = {
    " ": (r"[ \t\v\f]*(?:[^ \t\v\f\r]+[ \t\v\f]+){%d}", r"[^ \t\v\f\r]+", r"(?s:[ \t\v\f\r].*)?"),
    "\t": (r"(?:[^\t]*\t){%d}[ \v\f]*", r"[^\t \v\f\r]+", r"(?s:[ \v\f\r]*(?:\t.*)?)"),
    ",": (r'(?:(?:"(?:[^"]|"")*"|[^",][^,]*|),){%d}[ \t\v\f]*', r"[^, \t\v\f\r]+", r"(?s:[ \t\v\f\r]*(?:,.*)?)"),
}
"""For each delimiter, patterns for the text before a field, the field, and the text after it."""

MOST_FIELDS = 200
"""Largest number of fields before the score, a limit of regular expressions."""


def rewrite(source: Source, layout: Layout, score: ScoreArray, stream: IO[bytes], title: str | None = None) -> None:
    """Write a text table again with other scores; comments, blank lines and line ends are unchanged.

    Parameters
    ----------
    source : Source
        The file, which was read before.
    layout : Layout
        Its layout, with one column of scores and at most `MOST_FIELDS` fields before it.
    score : (n_rows,) array
        Scores in the order of the lines.
    stream : binary stream
    title : str, optional
        The new header of the column of scores.

    Raises
    ------
    FormatError
        If the number of rows has changed. The contents of the stream are then incomplete.
    """
    changed = f"{source.name}: its lines have changed since it was read. Did another program write to it?"
    before, field, behind = _FIELDS[layout.delimiter]
    before %= layout.roles.index("score")
    pattern = f"^(?P<before>{before})(?P<field>{field})(?P<behind>{behind})$"
    n_skipped, at, tell = int(layout.header is not None), 0, teller(len(score), "rows")
    for block in _blocks(source):
        marked = block.startswith(_MARK) and at == 0
        text = block[len(_MARK) :] if marked else block
        if title is not None and at == 0 and n_skipped:
            text = _retitled(text, layout, title)
        begin, end = plain_fields(text, layout) or _fields(text, pattern)
        skipped = min(n_skipped, len(begin))
        begin, end = begin[skipped:], end[skipped:]
        if at + len(begin) > len(score) or np.any(begin < 0):
            raise FormatError(changed)
        texts = pc.cast(of_numpy(score[at : at + len(begin)].astype(np.float64, copy=False)), pa.string())
        # Fields are the shortest digits that read back to the same bits.
        result = with_fields(text, begin, end, texts.cast(pa.binary()))
        stream.writelines([_MARK, *result] if marked else result)
        n_skipped -= skipped
        at += len(begin)
        tell(at)
    if at < len(score):
        raise FormatError(changed)


def _retitled(text: bytes, layout: Layout, title: str) -> bytes:
    """Replace the header of the column of scores in the first line that is not a comment."""
    place, names = layout.roles.index("score"), layout.header or ()
    for line in re.finditer(rb"[^\n]+", text):
        if re.match(_NO_ROW, line[0].decode("utf-8", "replace")):
            continue
        at = line.start()
        for name in names[:place]:
            at = text.find(name.encode(), at) + len(name.encode())
        at = text.find(names[place].encode(), at)
        return text[:at] + title.encode() + text[at + len(names[place].encode()) :]
    return text


def _fields(text: bytes, pattern: str) -> tuple[IntArray, IntArray]:
    """Return the begin and end of the score in each row, among comments and blank lines; -1 if it has none."""
    lines = pc.split_pattern(of_bytes([text]), b"\n").values
    starts = np.cumsum(lengths(lines) + 1) - lengths(lines) - 1
    rows = np.flatnonzero(~to_numpy(pc.match_substring_regex(lines, _NO_ROW)))
    result = pc.extract_regex(lines.take(of_numpy(rows)), pattern)
    before, field = (with_gaps(pc.binary_length(result.field(name)), 0) for name in ("before", "field"))
    begin: IntArray = np.where(to_numpy(result.is_null()), -1, starts[rows] + before)
    return begin, begin + field


def _blocks(source: Source) -> Iterator[bytes]:
    """Yield whole lines, some megabytes at a time."""
    with source.stream() as stream:
        while block := whole_lines(stream, _BLOCK):
            yield _OLD_LINE_END.sub(b"\n", block) if b"\r" in block else block


Bounds: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper bounds of llrs, (n_trials,) each, in nats."""

_COLUMNS = ("llr_low", "llr_high")


def columns_of_intervals(chosen: Format | None) -> tuple[str, ...]:
    """Return the names of the columns of both bounds in a format."""
    return _COLUMNS if chosen is None else chosen.interval


def with_intervals(contents: Contents, bounds: Bounds, chosen: Format | None) -> tuple[Contents, list[Message]]:
    """Add the bounds of llrs to trials as two more columns, in the unit of the format.

    Parameters
    ----------
    contents : Contents
        Contents with the llrs of one system.
    bounds : pair of (n_trials,) arrays
        Bounds in nats.
    chosen : Format or None

    Returns
    -------
    Contents
    list of Message
        A message about columns with these names that were replaced.

    Examples
    --------
    >>> from deciban.trials import Scores
    >>> contents = Contents.of(Scores.of({"trial": ["a"]}, [1.0]))
    >>> made, _ = with_intervals(contents, (np.array([0.5]), np.array([1.5])), None)
    >>> {name: values.to_pylist() for name, values in made.systems[0].trials.conditions.items()}
    {'llr_low': [0.5], 'llr_high': [1.5]}
    """
    names = columns_of_intervals(chosen)
    unit = LOG_10 if isinstance(chosen, TextFormat) and chosen.log10 else 1.0
    columns = {name: condition_column(name, np.asarray(end) / unit) for name, end in zip(names, bounds, strict=True)}
    others, known = without_intervals(contents)
    result = others.with_trials(lambda trials: replace(trials, conditions={**trials.conditions, **columns}))
    return result, [Message("note", "", f"{_in_words(known)} of the input: replaced")] if known else []


def without_intervals(contents: Contents) -> tuple[Contents, list[str]]:
    """Remove the bounds of llrs, under the names of any format; return the contents and the removed names.

    The bounds belong to the scores of the input, and would be wrong for other scores.
    """
    names = {name for chosen in formats.formats().values() for name in chosen.interval}
    known = sorted(names & {name for table in contents.tables for name in table.trials.conditions})
    if not known:
        return contents, []

    def without(trials: Trials) -> Trials:
        kept = {name: values for name, values in trials.conditions.items() if name not in names}
        return replace(trials, conditions=kept)

    return contents.with_trials(without), known


def left_out(names: Sequence[str]) -> list[Message]:
    """Return a message about bounds that were left out, if any."""
    words = f"{_in_words(names)} of the input: left out"
    return [Message("note", "", words)] if names else []


def _in_words(names: Sequence[str]) -> str:
    return f"the columns {' and '.join(names)}" if len(names) > 1 else f"the column {''.join(names)}"
