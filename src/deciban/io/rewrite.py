"""Inputs written again with other scores, everything else as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deciban.io.convert import put_and_tell
from deciban.io.format import Format, TextFormat
from deciban.io.formats import SILENT_ENDINGS, by_name, for_ending
from deciban.io.packing import unpacked_name
from deciban.io.reader import Input
from deciban.io.source import PathLike
from deciban.io.text.rewrite import MOST_FIELDS, rewrite
from deciban.io.writing import opened, target_name
from deciban.messages import Message
from deciban.trials import ClassScores, Scores
from deciban.trials.tables import LOG_10


def write_rescored(found: Input, llr: Scores, target: PathLike, *, to: str | None = None) -> tuple[Message, ...]:
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
        and in another one than that of the input, everything is written that there is room for.

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
    elif any(system.log10 for system in found.contents.systems):
        unit = "log-likelihood ratios are written as natural logarithms, though the scores are common ones"
        messages.append(Message("note", "", unit))
    layout, source = found.layout, found.source
    plain = layout is not None and not layout.quoted and layout.roles.index("score") <= MOST_FIELDS
    if unchanged and layout is not None and source is not None and plain:
        with opened(target) as stream:
            rewrite(source, layout, written.score, stream)
        how = f"with the lines of {source.name} but for the score"
        return (*messages, Message("wrote", target_name(target), how))
    contents = replace(found.contents, systems=(written,))
    return (*messages, *put_and_tell(contents, target, None if chosen is None else chosen.name, ["scores"]))


def write_rescored_classes(
    found: Input, scores: ClassScores, target: PathLike, *, to: str | None = None
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
    contents = replace(found.contents, class_scores=scores, systems=(), key=None)
    return put_and_tell(contents, target, None if chosen is None else chosen.name, ["class-scores"])


def _chosen(found: Input, target: PathLike, to: str | None) -> tuple[Format | None, bool]:
    """The format to write, None where `deciban.write` has to choose; and whether it is just that of the input."""
    own, layout, shown = found.format, found.layout, target_name(target)
    if layout is not None and own.name == "table" and layout.delimiter == "\t":
        own = by_name("tsv")
    ending = _ending(shown)
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
