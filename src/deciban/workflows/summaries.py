"""Summaries of shards in files: jobs that know nothing of each other count and refine, and one merges and evaluates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike, display_name, files_of
from deciban.io.summary_parts import SummaryPart, merged_parts
from deciban.messages import Message, counted, shortened
from deciban.trials import JoinReport
from deciban.types import Progress
from deciban.workflows.options import Options
from deciban.workflows.scale import Scale

_NAME = "score"
"""What a system is called of which the shards say no name."""

_MEANING = ("log10", "labels", "columns", "key_columns", "probabilities", "where", "names", "format", "ids")
"""Attributes of `Reading` that change what a score or a label is."""

_READING = (
    *("labels", "where", "names", "log10", "probabilities", "weights", "columns", "key_columns", "format"),
    *("key_format", "ids", "by_order", "classes", "posterior_prior", "detection_llr", "from_classes"),
)
"""Attributes of `Reading` that say something of trials, if anything is said."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenedSummary:
    """Files of summaries, merged.

    Attributes
    ----------
    paths : tuple of path
    part : SummaryPart
    """

    paths: tuple[PathLike, ...]
    part: SummaryPart

    @property
    def name(self) -> str:
        """What messages call it."""
        return shortened(", ".join(map(display_name, self.paths)))


def summarize_files(
    shards: PathLike | Sequence[PathLike],
    output: PathLike,
    key: PathLike | None = None,
    *,
    refine: PathLike | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> tuple[Message, ...]:
    """Summarize some shards of a data set of two classes in a file; such files merge to one of all shards.

    One pass counts. A second one, by the merged counts of all shards, makes every figure exact.

    Parameters
    ----------
    shards : path, or sequence of paths
        Files with scores and labels, folders or patterns; each file is a shard.
    output : path
        The file of the summary, which is written as a whole or not at all.
    key : path, optional
        Of these shards, if they do not say themselves which trials are targets.
    refine : path, optional
        The merged summary of all shards after one pass: then the scores that can matter are kept.
    progress : function, optional
        Called with a few words at every step.
    **options
        As for `deciban.evaluate_files`; with ``refine`` figures are those of the first pass, and other ones refused.

    Returns
    -------
    tuple of Message
        What was read and assumed.

    Raises
    ------
    InputError, FormatError, OSError
        If shards cannot be read, are of many classes, have different systems, or count twice; or if a shard was not
        counted before it is refined.

    Examples
    --------
    >>> import deciban, pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder, answers = pathlib.Path(tempfile.mkdtemp()), [True, False, True, False]
    >>> for name, scores in {"a": [2.0, -1.0, 0.5, 1.0], "b": [1.0, 0.0, 3.0, -2.0]}.items():
    ...     pq.write_table(pa.table({"score": scores, "label": answers}), folder / f"{name}.parquet")
    ...     _ = summarize_files(folder / f"{name}.parquet", folder / f"{name}.summary")
    >>> _ = merge_summaries([folder / "a.summary", folder / "b.summary"], folder / "all.summary")
    >>> deciban.evaluate_files(folder / "all.summary").systems[0].auc
    0.90625
    """
    from deciban.engines.summary_parts import counted_part, refined_part
    from deciban.io.summary_files import write_summary

    chosen, say = Options.of("summarize_files", options), progress or (lambda _words: None)
    whole = None if refine is None else opened_summaries([refine]).part
    if whole is not None and whole.refined:
        raise InputError(
            f"refine: {display_name(refine or '')} was refined already. Name the merged counts of one pass."
        )
    if whole is not None:
        _require_asked(whole, chosen, display_name(refine or ""), "count the shards anew with them")
    together, n_shards, messages = list[tuple[SummaryPart, str]](), 0, list[Message]()
    with chosen.scale.engine() as engine:
        memory = engine.bounded(chosen.scale.n_bytes)
        for path in _shard_files(shards):
            source = _opened_shard(path, key, chosen)
            say(f"{'counting' if whole is None else 'refining'} {source.name}")
            question = _question_of(source, path, chosen, whole)
            if whole is None:
                part = counted_part(source, path, question, engine, memory)
            else:
                part = refined_part(source, path, whole, engine, memory)
            together.append((part, display_name(path)))
            if len(together) > 1:  # no more than two at a time, however many shards there are
                names = [name for _, name in together]
                together = [(merged_parts([one for one, _ in together], names), shortened(", ".join(names)))]
            n_shards += 1
            messages += source.messages
    write_summary(together[0][0], output)
    return (*messages, Message("wrote", display_name(output), f"a summary of {counted(n_shards, 'shard')}"))


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
    See `summarize_files`.
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
    if not files:
        raise InputError("summaries: none given. Name at least one.")
    return OpenedSummary(tuple(files), merged_parts(list(map(read_summary, files)), list(map(display_name, files))))


def are_summaries(paths: Sequence[Any]) -> bool:
    """Whether all inputs are files of summaries."""
    from deciban.io.summary_files import is_summary_file

    found = [one for path in paths if isinstance(path, str | Path) and str(path) != "-" for one in files_of(path)]
    return bool(found) and len(found) >= len(paths) and all(map(is_summary_file, found))


def messages_of(found: OpenedSummary) -> tuple[Message, ...]:
    """How many shards there are, and which the second pass has not seen."""
    part = found.part
    passes = "two passes" if part.refined else "one pass: figures of ranks have bounds"
    words = f"summary of {counted(len(part.shards), 'shard')}, {part.n_rows:,} rows, after {passes}"
    messages = [Message("read", found.name, words)]
    if part.refined and (missing := part.unrefined):
        text = f"{len(missing)} of {len(part.shards)} shards are missing in the second pass: {', '.join(missing)}"
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
        If other figures are asked for, or the second pass has not seen all shards.
    """
    from deciban.engines.summary_parts import summary_of
    from deciban.evaluation.two_class import evaluation_of

    part = found.part
    _require_asked(part, options, found.name, "summarize the shards with them")
    if options.how_sure.units is not None or options.how_sure.bootstrap:
        name = "bootstrap" if options.how_sure.units is None else "units"
        raise InputError(f"{name}: a summary of shards does not know units. Evaluate the shards themselves.")
    said = [name for name in _READING if options.reading.says(name)]
    if said := [*said, *(["speakers"] if options.scale.speakers is not None else [])]:
        raise InputError(
            f"{said[0]}: says how trials are read, and {found.name} holds none, only their counts. Leave it out, or "
            "summarize the shards with it."
        )
    systems = part.question.systems
    made = [evaluation_of(summary_of(part, k, found.name), name=name) for k, name in enumerate(systems)]
    return Results(tuple(made), JoinReport(part.n_rows, 0, 0, 0), messages_of(found))


def _require_asked(part: SummaryPart, options: Options, name: str, way: str) -> None:
    """Refuse figures that a summary was not asked for.

    Raises
    ------
    InputError
    """
    from deciban.evaluation.summary import TwoClassFigures

    if given := options.figures.given():
        asked = TwoClassFigures(**replace_figures(part.question.figures, given))
        if differences := replace(part.question, figures=asked).differences(part.question):
            raise InputError(
                f"{name}: was made for another question: {'; '.join(differences)}. Leave the figures out, or {way}."
            )


def replace_figures(figures: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of figures, of which some are other ones."""
    names = ("operating_points", "eer_conventions", "fnmr_at", "fmr_at", "posteriors_at", "factors", "axis")
    own = {name: getattr(figures, name) for name in names} | {"at_thresholds": dict(figures.at_thresholds)}
    return own | given


def _shard_files(shards: PathLike | Sequence[PathLike]) -> list[PathLike]:
    given = [shards] if isinstance(shards, str | Path) else list(shards)  # type: ignore[arg-type]
    found = list[PathLike]()
    for path in given:
        for one in files_of(path):
            found += sorted(Path(one).rglob("*.parquet")) if Path(one).is_dir() else [one]
    if not found:
        raise InputError("shards: none given. Name at least one.")
    return found


def _opened_shard(path: PathLike, key: PathLike | None, options: Options) -> ShardSource:
    from deciban.workflows.streaming import source_in_pieces

    large: Scale = replace(options.scale, approximate=True)
    source = source_in_pieces([path], key, replace(options, scale=large))
    assert source is not None  # noqa: S101  # as pieces are asked for
    if source.classes:
        raise InputError(f"{source.name}: holds scores of many classes. Summaries of shards are of two.")
    if source.has_weights:
        raise InputError(f"{source.name}: has weights of trials. Summaries of shards count every trial once.")
    return source


def _question_of(source: ShardSource, path: PathLike, options: Options, whole: SummaryPart | None) -> Any:
    from deciban.engines.summary_parts import ROOM
    from deciban.evaluation.summary import TwoClassFigures
    from deciban.io.summary_records import Question

    reading = tuple((name, str(getattr(options.reading, name))) for name in _MEANING if options.reading.says(name))
    figures = TwoClassFigures(**options.figures.given()) if whole is None else whole.question.figures
    systems = source.systems
    if len(systems) == 1 and systems[0] == Path(path).name.removesuffix("".join(Path(path).suffixes)):
        systems = (_NAME,)  # what is called by its file would be another system in every shard
    room = ROOM if whole is None else whole.question.room
    question = Question(figures, systems, "float64" if source.is_double else "float32", room, reading)
    if whole is not None and (differences := question.differences(whole.question)):
        raise InputError(f"{source.name}: is not what was counted: {'; '.join(differences)}.")
    return question
