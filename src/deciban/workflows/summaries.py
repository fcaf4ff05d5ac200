"""Summaries of shards in files: jobs that know nothing of each other count and refine, and one merges and evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.source import PathLike, display_name, files_of
from deciban.io.summary_parts import SummaryPart, merged_parts
from deciban.messages import WARNING, Message, counted, shortened
from deciban.trials import JoinReport
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import KindName, Options

_READING = (
    *("labels", "where", "names", "log10", "lr", "negate", "probabilities", "weights", "columns", "key_columns"),
    *("format",),
    *("key_format", "ids", "by_order", "classes", "posterior_prior", "detection_llr"),
)
"""Attributes of `Reading` that say something of trials, if anything is said."""

_NO_UNITS = (
    "none, and no intervals: a summary holds counts of all units together. The shards themselves have intervals: "
    "deciban eval reads them in pieces"
)


@dataclass(frozen=True, slots=True, eq=False)
class OpenedSummary:
    """Files of summaries, merged.

    Attributes
    ----------
    paths : tuple of path
    part : SummaryPart or ClassPart
    """

    paths: tuple[PathLike, ...]
    part: Any

    @property
    def kind(self) -> KindName:
        """What it is about."""
        return "classes" if self.part.question.classes else "two-class"

    def require_kind(self, kind: KindName | None) -> None:
        """Refuse a kind that a user names, and that it is not of.

        Raises
        ------
        InputError
        """
        if kind not in (None, self.kind):
            held, asked = (kind_called(one).about for one in (self.kind, kind))
            raise InputError(
                f"kind: {self.name} is a summary of scores of {held}, and those of {asked} were asked for. Leave kind "
                "out (--kind)."
            )

    @property
    def name(self) -> str:
        """What messages call it."""
        return shortened(", ".join(map(display_name, self.paths)))


def merge_summaries(summaries: Sequence[PathLike], output: PathLike) -> tuple[Message, ...]:
    """Merge the summaries of different shards into one, in any order and grouping to the same bytes.

    Parameters
    ----------
    summaries : sequence of paths
        Files of `summarize_files`, or of this function.
    output : path

    Returns
    -------
    tuple of Message
        What was merged, and which shards the second pass has not seen.

    Raises
    ------
    InputError, FormatError, OSError
        If one is no summary or damaged, they answer different questions, or a shard would count twice.

    Examples
    --------
    See `deciban.summarize_files`.
    """
    from deciban.io.summary_files import write_summary

    found = opened_summaries(summaries)
    write_summary(found.part, output)
    return (*messages_of(found), Message("wrote", display_name(output), "the summary of all of them"))


def opened_summaries(paths: Sequence[PathLike]) -> OpenedSummary:
    """Read summaries and merge them.

    Parameters
    ----------
    paths : sequence of paths
        Patterns are welcome.
    """
    from deciban.io.summary_files import read_summary

    files = [one for path in paths for one in files_of(path)]
    return OpenedSummary(tuple(files), merged_parts(map(read_summary, files), list(map(display_name, files))))


def are_summaries(paths: Sequence[Any]) -> bool:
    """Whether all inputs are files of summaries."""
    from deciban.io.summary_files import is_summary_file

    found = [one for path in paths if isinstance(path, str | Path) and str(path) != "-" for one in files_of(path)]
    return bool(found) and len(found) >= len(paths) and all(map(is_summary_file, found))


def messages_of(found: OpenedSummary) -> tuple[Message, ...]:
    """How many shards there are, and which a further pass has not seen."""
    part = found.part
    n = part.n_passes + (part.further is not None)
    passes = "one pass" if n == 1 else "two passes" if n == 2 else f"{n} passes"
    if part.is_refined:
        words = ""
    else:
        n_open = sum(one.n_open for own in part.known for one in own.values())
        words = (
            f": {counted(n_open, 'cell')} of minima open, refine by it again" if part.known else ": minima have bounds"
        )
    messages = [
        Message(
            "read",
            found.name,
            f"summary of {counted(len(part.shards), 'shard')}, {part.n_rows:,} rows, after {passes}{words}",
        )
    ]
    if missing := part.unseen:
        text = f"{len(missing)} of {len(part.shards)} shards are missing in pass {n}: {', '.join(missing)}"
        messages.append(Message("note", found.name, shortened(text)))
    return tuple(messages)


def evaluate_summary(found: OpenedSummary, options: Options) -> Results[Any]:
    """Evaluate every system of a summary.

    Parameters
    ----------
    found : OpenedSummary
    options : Options
        Figures may be left out, or be those that the summary was asked for.

    Raises
    ------
    InputError
        If other figures are asked for, or something that only trials can tell, or the second pass has not seen all
        shards.
    """
    from deciban.engines.class_summary_parts import class_evaluation_of_part, class_sums_of, known_of
    from deciban.engines.summary_parts import require_seen, summary_of
    from deciban.evaluation.two_class import evaluation_of

    part = found.part
    found.require_kind(options.kind)
    require_asked(part, options, found.name, "summarize the shards with them")
    _refuse_what_needs_trials(options, found.name)
    require_seen(part, found.name)
    systems = part.question.systems
    made = list[Any]()
    for k, name in enumerate(systems):
        if found.kind == "classes":
            sums, kind = class_sums_of(part, k), kind_called("classes")
            known = () if sums is None else np.flatnonzero(sums.summary.counts)
            kind.require_trials(np.asarray(known), part.question.classes)
            assert sums is not None  # noqa: S101  # every class has a segment
            made.append(class_evaluation_of_part(sums, known_of(part, k, sums, found.name), name))
        else:
            made.append(evaluation_of(summary_of(part, k, found.name), name=name))
    said_of_units = (Message(WARNING, "", f"units: {_NO_UNITS}"),) if options.how_sure.intervals else ()
    return Results(tuple(made), JoinReport(part.n_rows, 0, 0, 0), (*messages_of(found), *said_of_units))


def _refuse_what_needs_trials(options: Options, name: str) -> None:
    """Refuse what has no effect where there are no trials: of intervals, of work in pieces, of reading.

    Raises
    ------
    InputError
    """
    sure, scale = options.how_sure, options.scale
    of_intervals = {
        "units": sure.units is not None,
        "bootstrap": sure.bootstrap,
        "optimism": sure.optimism,
        "level": sure.level != LEVEL,
    }
    if said := [one for one, is_said in of_intervals.items() if is_said]:
        raise InputError(
            f"{said[0]}: a summary of shards holds counts of all units together, so that nothing says how sure figures "
            "are. Leave it out, or evaluate the shards themselves, which works in pieces."
        )
    of_work = {"memory": scale.memory is not None, "dask": scale.dask is not None, "approximate": scale.approximate}
    if said := [one for one, is_said in of_work.items() if is_said]:
        raise InputError(
            f"{said[0]}: says how trials are gone through, and {name} holds none, only their counts. Leave it out: "
            "it belongs to deciban summarize, or to an evaluation of the shards themselves."
        )
    read = [one for one in _READING if options.reading.says(one)]
    if said := [*read, *(["speakers"] if scale.speakers is not None else [])]:
        raise InputError(
            f"{said[0]}: says how trials are read, and {name} holds none, only their counts. Leave it out, or "
            "summarize the shards with it."
        )


def require_asked(part: SummaryPart, options: Options, name: str, way: str) -> None:
    """Refuse figures that a summary was not asked for.

    Raises
    ------
    InputError
    """
    if given := options.figures.given():
        figures = part.question.figures
        asked: Any = type(figures)(**replace_figures(figures, given))
        if differences := replace(part.question, figures=asked).differences(part.question):
            raise InputError(
                f"{name}: was made for another question: {'; '.join(differences)}. Leave the figures out, or {way}."
            )


def replace_figures(figures: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of figures, of which some are other ones."""
    own = {one.name: getattr(figures, one.name) for one in fields(figures)}
    if "at_thresholds" in own:
        own["at_thresholds"] = dict(own["at_thresholds"])
    return own | given
