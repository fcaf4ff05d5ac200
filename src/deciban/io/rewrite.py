"""Inputs written again with other scores or their bounds; text line by line, but for the one field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, lengths, of_bytes, of_numpy, text_of, to_numpy, with_gaps
from deciban._files import PathLike
from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import declared_unit
from deciban.io.contents import Contents
from deciban.io.convert import put_and_tell
from deciban.io.formats import READ_ONLY_ENDINGS, SILENT_ENDINGS, Format, TextFormat, by_name, for_ending, formats
from deciban.io.reader import Input
from deciban.io.source import Source, unpacked_name
from deciban.io.text.reader import Layout
from deciban.io.units import notes_on_submissions, written_as
from deciban.io.writing import opened, target_name
from deciban.messages import Message
from deciban.steps import teller
from deciban.trials import ClassScores, Scores, Trials
from deciban.trials.lists import condition_column
from deciban.trials.tables import LOG_10
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray


def write_rescored(
    found: Input, llr: Scores, target: PathLike, *, to: str | None = None, interval: Bounds | None = None
) -> tuple[Message, ...]:
    """Write an input again with other scores.

    Parameters
    ----------
    found : Input
        With the scores of one system.
    llr : Scores
        Natural logarithms of likelihood ratios, on its trials.
    target : path
        See `deciban.write`.
    to : str, optional
        Format to write. Left out it is that of the input, unless the ending of the target is that of another format
        and not the ending of the input. Lines of text come out as they came in, but for the score; in other formats,
        and in another one than that of the input, everything is written that there is room for, but for the bounds of
        former llrs.
    interval : pair of (n_trials,) arrays, optional
        Lower and upper bounds of the llrs, in nats: two more columns, ``llr_low`` and ``llr_high``, or as the format
        calls them. Lines of text are made anew then.

    Returns
    -------
    tuple of Message
        What was left out, which logarithms were written, and where to.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.write`.
    """
    chosen, unchanged = _chosen(found, target, to)
    messages: list[Message] = []
    written = llr
    if isinstance(chosen, TextFormat) and chosen.log10:
        written = replace(llr, score=llr.score / LOG_10, log10=True)
        unit = f"log-likelihood ratios are written as common logarithms (log10), as {chosen.name} has them"
        messages.append(Message("note", "", unit))
    else:
        messages += natural_logarithms(found.contents)
    layout, source = found.layout, found.source
    plain = layout is not None and not layout.quoted and layout.roles.index("score") <= MOST_FIELDS
    contents, more = rescored(found.contents, written, interval=interval, chosen=chosen)
    if interval is not None:
        name = None if chosen is None else chosen.name
        return (*messages, *more, *put_and_tell(contents, target, name, ["scores"], columns_of_intervals(chosen)))
    if unchanged and layout is not None and source is not None and plain and not more:
        with opened(target) as stream:
            title = _new_title(layout, written)
            rewrite(source, layout, written.score, stream, title)
        how = f"with the lines of {source.name} but for the score"
        how += "" if title is None else f", which is called {title}"
        reading, commas = found.contents.origin.reading, ", with commas between columns and decimal points"
        how += commas if ", semicolons" in reading else ", with decimal points" * (", decimal commas" in reading)
        return (*messages, Message("wrote", target_name(target), how))
    name = None if chosen is None else chosen.name
    return (*messages, *more, *put_and_tell(contents, target, name, ["scores"]))


def _new_title(layout: Layout, written: Scores) -> str | None:
    """Return the new header of the column of scores, where the old one says other than llrs; None if it may stay."""
    if layout.header is None:
        return None
    header = layout.header[layout.roles.index("score")]
    old = declared_unit(header)
    if old is None:
        is_apt = any(word in header.casefold() for word in ("score", "llr"))
        return None if is_apt or "score" in layout.header else "score"
    return None if old in ("nats", "log10" if written.log10 else "nats") else "ln_lr"


def natural_logarithms(contents: Contents) -> list[Message]:
    """Return the note on llrs that are written in another unit than that of the scores."""
    units = {system.unit for system in contents.systems}
    what = "common ones" if "log10" in units else "likelihood ratios"
    words = f"log-likelihood ratios are written as natural logarithms, though the scores are {what}"
    return [Message("note", "", words)] if units & {"log10", "lr"} else []


def rescored(
    contents: Contents, llr: Scores, *, interval: Bounds | None = None, chosen: Format | None = None
) -> tuple[Contents, list[Message]]:
    """Contents with other scores in place of those of their systems, and with the bounds of these or without bounds.

    Parameters
    ----------
    contents : Contents
    llr : Scores
        On its trials.
    interval : pair of (n_trials,) arrays, optional
        In nats.
    chosen : Format, optional
        Which is to be written: it says what the bounds are called.

    Returns
    -------
    Contents
    list of Message
        Which former bounds were replaced or left out.
    """
    changed = replace(contents, systems=(llr,))
    if interval is not None:
        return with_intervals(changed, interval, chosen)
    kept, former = without_intervals(changed)
    return kept, left_out(former)


def rescored_classes(
    contents: Contents, scores: ClassScores, *, write_as: str = "loglik"
) -> tuple[Contents, list[Message]]:
    """Contents with other class scores, as log-likelihoods or as detection llrs; see `write_rescored_classes`."""
    made, messages = written_as(scores, write_as)
    return replace(contents, class_scores=made, systems=(), key=None), messages


def write_rescored_classes(
    found: Input, scores: ClassScores, target: PathLike, *, to: str | None = None, write_as: str = "loglik"
) -> tuple[Message, ...]:
    """Write an input again with other class scores; everything is written that the format has room for.

    Parameters
    ----------
    found : Input
        With class scores.
    scores : ClassScores
        Natural log-likelihoods, on some of its segments.
    target : path
        See `deciban.write`.
    to : str, optional
        As in `write_rescored`.
    write_as : {"loglik", "detection-llr"}
        What is written.

    Returns
    -------
    tuple of Message
        What was left out, and where to.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.write`.
    """
    chosen, _ = _chosen(found, target, to)
    # A format that has detection llrs makes them itself.
    unit = "loglik" if chosen is not None and chosen.detection_llr else write_as
    contents, messages = rescored_classes(found.contents, scores, write_as=unit)
    told = put_and_tell(contents, target, None if chosen is None else chosen.name, ["class-scores"])
    return (*messages, *told, *notes_on_submissions(told, write_as))


def _chosen(found: Input, target: PathLike, to: str | None) -> tuple[Format | None, bool]:
    """The format to write, None where `deciban.write` has to choose; and whether it is just that of the input."""
    own, layout, shown = found.format, found.layout, target_name(target)
    if layout is not None and own.name == "table" and layout.delimiter == "\t":
        own = by_name("tsv")
    if not own.writes and not isinstance(own, TextFormat):  # read only: what is written follows from the target
        return (None if to is None else by_name(to)), False
    ending = _ending(shown)
    if to is None and ending in READ_ONLY_ENDINGS:
        raise InputError(
            f"{shown}: files that end in {ending} are read, not written. Name a .csv or .txt file instead."
        )
    if to is None and (str(target) == "-" or not ending or ending == _ending(found.contents.origin.name)):
        return own, True
    asked = for_ending(shown) if to is None else by_name(to)
    if asked is not None:
        is_own = asked is own and (
            not isinstance(own, TextFormat) or layout is None or layout.delimiter == own.delimiter
        )
        return asked, is_own
    if ending in SILENT_ENDINGS and not isinstance(own, TextFormat):
        return None, False  # a list is asked for
    return own, True


def _ending(shown: str) -> str:
    return Path(unpacked_name(shown)).suffix.casefold()


_ODD = (b"#", b";", b"\r")
"""Bytes that may begin a comment, and line ends of other systems."""

_LARGEST = 1 << 26
"""Bytes of text that are taken together; all positions in what comes out are below 2 ** 31 then."""

_LINE_END, _BLANK = b"\n "


def plain_fields(text: bytes, layout: Layout) -> tuple[IntArray, IntArray] | None:
    r"""Find where the score of every line begins and ends; None if a line needs more care.

    Parameters
    ----------
    text : bytes
        Whole lines.
    layout : Layout
        Of lines with one score, not quoted.

    Returns
    -------
    begin, end : (n_lines,) int array
        Or None if there are comments, quotes, blank lines, idle blanks, tabs among blanks, a last line that does not
        end, or a line with more or fewer fields than it should have.

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
    if len(borders) % n_fields:
        return None
    found = data[borders].reshape(-1, n_fields)
    ends = borders.reshape(-1, n_fields)
    if not ((found[:, -1] == _LINE_END).all() and (found[:, :-1] == delimiter).all()):
        return None
    end = ends[:, at]
    begin = np.concatenate([[0], ends[:-1, -1] + 1]) if at == 0 else ends[:, at - 1] + 1
    if delimiter == _BLANK:
        idle: BoolArray = np.diff(borders, prepend=-1) == 1  # a field that is empty
        return None if idle.any() else (begin, end)
    blanks = np.flatnonzero(data <= _BLANK)
    within = np.searchsorted(blanks, begin) != np.searchsorted(blanks, end)
    return None if within.any() or (begin == end).any() else (begin, end)


def with_fields(text: bytes, begin: IntArray, end: IntArray, fields: pa.Array) -> tuple[memoryview, bytes]:
    r"""Put other texts in some places of a text.

    Parameters
    ----------
    text : bytes
    begin, end : (n,) int array
        Places in ascending order, apart from each other.
    fields : binary pyarrow array of n
        What stands there afterwards.

    Returns
    -------
    memoryview, bytes
        The new text up to the end of the last place, and the rest.

    Examples
    --------
    >>> from deciban._arrow import of_bytes
    >>> first, rest = with_fields(b"a 1\nb 2\n", np.array([2, 6]), np.array([3, 7]), of_bytes([b"-0.25", b""]))
    >>> bytes(first), rest
    (b'a -0.25\nb ', b'\n')
    """
    if not len(begin):
        return memoryview(b""), text
    borders = np.zeros(2 * len(begin) + 1, np.int32)  # text and places take turns
    borders[1::2], borders[2::2] = begin, end
    buffers = [None, pa.py_buffer(borders), pa.py_buffer(text)]
    turns = pa.Array.from_buffers(pa.binary(), 2 * len(begin), buffers)
    between = turns.take(of_numpy(np.arange(0, 2 * len(begin), 2)))
    return text_of(pc.binary_join_element_wise(between, fields, constant(b""))).data, text[end[-1] :]


_BLOCK = 1 << 22
"""Bytes that are looked at together, about."""

_MARK = b"\xef\xbb\xbf"
_OLD_LINE_END = re.compile(rb"\r(?!\n)")
_NO_ROW = r"^[ \t\v\f\r]*(?:#|;;|$)"

_FIELDS = {
    " ": (r"[ \t\v\f]*(?:[^ \t\v\f\r]+[ \t\v\f]+){%d}", r"[^ \t\v\f\r]+", r"(?s:[ \t\v\f\r].*)?"),
    "\t": (r"(?:[^\t]*\t){%d}[ \v\f]*", r"[^\t \v\f\r]+", r"(?s:[ \v\f\r]*(?:\t.*)?)"),
    ",": (r'(?:(?:"(?:[^"]|"")*"|[^",][^,]*|),){%d}[ \t\v\f]*', r"[^, \t\v\f\r]+", r"(?s:[ \t\v\f\r]*(?:,.*)?)"),
}
"""For each delimiter what stands before a field, the field, and what stands behind it."""

MOST_FIELDS = 200
"""Fields before the score, up to which lines can be written again; a limit of regular expressions."""


def rewrite(source: Source, layout: Layout, score: ScoreArray, stream: IO[bytes], title: str | None = None) -> None:
    """Write a text table again with other scores; comments, blank lines and line ends stay as they are.

    Parameters
    ----------
    source : Source
        As it was read before.
    layout : Layout
        How it was read. It has one column of scores, with at most `MOST_FIELDS` fields before it.
    score : (n_rows,) array
        In the order of the lines.
    stream : binary stream
    title : str, optional
        The new header of the column of scores.

    Raises
    ------
    FormatError
        If there are not as many rows any more. What is in the stream by then is of no use.
    """
    changed = f"{source.name}: its lines have changed since it was read. Has something written to it?"
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
        made = with_fields(
            text, begin, end, texts.cast(pa.binary())
        )  # the shortest digits that read back to the same bits
        stream.writelines([_MARK, *made] if marked else made)
        n_skipped -= skipped
        at += len(begin)
        tell(at)
    if at < len(score):
        raise FormatError(changed)


def _retitled(text: bytes, layout: Layout, title: str) -> bytes:
    """Return lines with another header of the column of scores; the first line that is no comment is the header."""
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
    """Find where the score of every row begins and ends, among comments and blank lines; -1 if it has none."""
    lines = pc.split_pattern(of_bytes([text]), b"\n").values
    starts = np.cumsum(lengths(lines) + 1) - lengths(lines) - 1
    rows = np.flatnonzero(~to_numpy(pc.match_substring_regex(lines, _NO_ROW)))
    found = pc.extract_regex(lines.take(of_numpy(rows)), pattern)
    before, field = (with_gaps(pc.binary_length(found.field(name)), 0) for name in ("before", "field"))
    begin: IntArray = np.where(to_numpy(found.is_null()), -1, starts[rows] + before)
    return begin, begin + field


def _blocks(source: Source) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    with source.stream() as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            end = block.rfind(b"\n") + 1
            if end:
                yield _with_line_feeds(rest + block[:end])
                rest = b""
            rest += block[end:]
    if rest:
        yield _with_line_feeds(rest)


def _with_line_feeds(text: bytes) -> bytes:
    return _OLD_LINE_END.sub(b"\n", text) if b"\r" in text else text


Bounds: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends of the intervals of llrs, (n_trials,) each, in nats."""

_COLUMNS = ("llr_low", "llr_high")


def columns_of_intervals(chosen: Format | None) -> tuple[str, ...]:
    """What a format calls the columns of both bounds."""
    return _COLUMNS if chosen is None else chosen.interval


def with_intervals(contents: Contents, bounds: Bounds, chosen: Format | None) -> tuple[Contents, list[Message]]:
    """Contents whose trials have the bounds of their llrs as two more columns, in the unit of the format.

    Parameters
    ----------
    contents : Contents
        With the llrs of one system.
    bounds : pair of (n_trials,) arrays
        In nats.
    chosen : Format or None

    Returns
    -------
    Contents
    list of Message
        Which columns of these names were there before, and are replaced.

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
    made = others.with_trials(lambda trials: replace(trials, conditions={**trials.conditions, **columns}))
    return made, [Message("note", "", f"{_in_words(known)} that were there are replaced")] if known else []


def without_intervals(contents: Contents) -> tuple[Contents, list[str]]:
    """Contents without bounds of llrs, as any format calls them, and which of these there were.

    They are those of the scores that were read: beside others they would be wrong.
    """
    names = {name for chosen in formats().values() for name in chosen.interval}
    known = sorted(names & {name for table in contents.tables for name in table.trials.conditions})
    if not known:
        return contents, []

    def without(trials: Trials) -> Trials:
        kept = {name: values for name, values in trials.conditions.items() if name not in names}
        return replace(trials, conditions=kept)

    return contents.with_trials(without), known


def left_out(names: Sequence[str]) -> list[Message]:
    """Say that bounds were left out, if any were."""
    words = f"{_in_words(names)} of the scores that were read are left out"
    return [Message("note", "", words)] if names else []


def _in_words(names: Sequence[str]) -> str:
    return f"the columns {' and '.join(names)}" if len(names) > 1 else f"the column {''.join(names)}"
