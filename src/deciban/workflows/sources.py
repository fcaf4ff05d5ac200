"""From what a user says about files to a source: of one batch where trials fit in memory, else of pieces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deciban._arrow import compute as pc
from deciban._files import is_open_file
from deciban.io.source import TwoFiles
from deciban.io.units import became_logarithms, logarithms_of_probabilities
from deciban.memory import give_back_at_once, memory_error
from deciban.messages import NEGATED, Message
from deciban.trials import Trials
from deciban.trials.sources import Chunk, HeldPiece, ShardSource
from deciban.types import AnyArray
from deciban.workflows.how_sure import TRIALS, HowSure
from deciban.workflows.inputs import JoinedScores, refuse_options_of_keys
from deciban.workflows.kinds import AnyKind, Kind, kind_called
from deciban.workflows.kinds.class_units import in_nats, prior_of_classes
from deciban.workflows.options import Options, Reading
from deciban.workflows.partitions import sides_with_names
from deciban.workflows.plans import plan_columns
from deciban.workflows.system_names import renamed

_WHOLE = {"from_classes": "scores of two classes as differences"}
"""What only tables in memory are asked, in words."""

_HANDS_OUT = ("__arrow_c_stream__", "columns", "get_fragments", "sink_parquet", "partitions")
"""What tables of other libraries have: one of these."""

_SAME = (
    *("missing", "duplicates", "format", "columns", "key_format", "key_columns", "labels", "where", "by_order"),
    *("weights", "weights_required", "classes"),
)
"""Options that are called the same in both ways of reading."""


def is_object(given: Any) -> bool:
    """Whether this is no path but something that hands out rows or cells itself, such as a dataset or a lazy frame.

    >>> is_object("scores.txt"), is_object({"score": [0.5]}), is_object(3)
    (False, True, False)
    """
    if isinstance(given, str | bytes | os.PathLike | TwoFiles) or is_open_file(given):
        return False
    kind = type(given)  # to ask a lazy frame for its columns may be much work
    is_array = all(hasattr(kind, one) for one in ("dtype", "shape", "__getitem__"))
    return is_array or isinstance(given, Mapping) or any(hasattr(kind, one) for one in _HANDS_OUT)


def open_source(scores: Sequence[Any], key: Any, options: Options) -> ShardSource:
    """Open what a user named, to be read in pieces.

    Parameters
    ----------
    scores : sequence of paths or objects
    key : path, object or None
    options : Options

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.io.shards.opening.open_shards`; or if an option means nothing there.
    """
    from deciban.io.shards.opening import open_shards

    give_back_at_once(options.scale.n_bytes)  # joins come before any pass
    reading = options.reading.with_ids_read()
    if key is None and reading.renaming is not None:  # what has the truth has scores, too, and their names
        reading = replace(reading, ids=reading.renaming.for_scores_alone())
    for name, words in _WHOLE.items():
        if reading.says(name) and not (name == "from_classes" and options.kind == "two-class"):
            what = f"{name}: {words} need all trials in memory, and these are read in pieces"
            raise memory_error(what, way="write the scores anew first (deciban convert)")
    if any(isinstance(one, TwoFiles) for one in scores):
        refuse_options_of_keys(key, reading)
    given = {name: getattr(reading, name) for name in _SAME}
    given |= {"unit": reading.unit}
    given |= _units(options.how_sure) | {"kind": options.kind, "memory": max(options.scale.n_bytes // 2, 1)}
    given |= {"ids": reading.renaming, "groups": options.groups, "incomplete": options.incomplete}
    given |= {"conditions": condition_columns(options)}
    if any(map(reading.says, ("log10", "lr", "negate", "posterior_prior", "detection_llr", "probabilities"))):
        given["converted"] = partial(_in_nats, reading=reading)
    source = open_shards(list(scores), key, speakers=options.scale.speaker_files or None, **given)
    kind = kind_called("classes" if source.classes else "two-class")
    kind.refuse_reading(reading)
    double = source.is_double or reading.probabilities is not None
    messages = (*source.messages, *_said(source, kind, reading))
    return replace(source, systems=_named(source, reading), is_double=double, messages=messages)


def condition_columns(options: Options) -> tuple[str, ...]:
    """Columns and sides by which trials are split, for conditions or by a plan."""
    planned = () if options.plan is None else plan_columns(options.plan)
    asked = (*options.split.partitions, *options.split.equalized, planned)
    return tuple(dict.fromkeys(one.side or one.name for columns in asked for one in columns))


def _units(how_sure: HowSure) -> dict[str, Any]:
    """What names the units, if intervals are wanted."""
    naming = how_sure.naming
    if naming is None or not how_sure.intervals:
        return {"find_speakers": how_sure.intervals, "find_segments": how_sure.intervals and how_sure.bootstrap > 0}
    if naming.each_trial:
        return {"units": TRIALS}
    return {"units": naming.parts, "units_apart": naming.apart, "units_required": how_sure.units_required}


def _in_nats(scores: AnyArray, classes: Sequence[str], *, reading: Reading) -> AnyArray:
    """Scores of classes as log-likelihoods; those of two classes, whose logarithms readers know, mostly as they are."""
    if reading.probabilities is not None:
        prior = prior_of_classes(reading) if classes else reading.probabilities
        return logarithms_of_probabilities(scores, classes, prior)
    if reading.negate:
        return 0.0 - scores
    return in_nats(scores, classes, reading) if classes else scores


@dataclass(frozen=True)
class _System:
    name: str


def _named(source: ShardSource, reading: Reading) -> tuple[str, ...]:
    """The systems under the names that the user gave them."""
    systems, _ = renamed([_System(name) for name in source.systems], reading.names)
    return tuple(one.name for one in systems)


def _said(source: ShardSource, kind: AnyKind, reading: Reading) -> list[Message]:
    """Which trials were chosen, and how they met."""
    found = Kind.key_messages(kind, None, reading)
    if reading.negate:
        found.append(Message("note", "", NEGATED))
    if reading.probabilities is not None:
        prior = kind.prior_of_probabilities(reading, source.classes)
        found.append(became_logarithms(prior, is_classes=bool(source.classes)))
    if source.report is None or reading.by_order:
        return [*found, *kind.by_order_messages(reading)]
    report = source.report
    more = [*kind.fill_messages(reading, report.missing), *report.left_out(reading.missing, kind.noun)]
    return [*found, *kind.ids_messages(reading, report), kind.join_message(report, ""), *more]


def source_of(joined: JoinedScores, options: Options) -> ShardSource:
    """Return the trials of a join as a source of one batch.

    Parameters
    ----------
    joined : JoinedScores
    options : Options
        By which columns trials are split.
    """
    first = joined.aligned[0]
    asked = dict(_conditions(first.trials, options))
    chunk = Chunk(
        tuple(one.score for one in joined.aligned),
        joined.truth,
        weight=joined.weight,
        conditions=tuple(asked.values()),
        trials=first.trials,
    )
    name = joined.key.trials.origin.name
    sides = sides_with_names(first.trials)
    aliases = [side for side in asked if first.trials.origin.side_called(side) in sides]
    return ShardSource(
        name,
        (HeldPiece(chunk, name),),
        joined.names,
        tuple(joined.classes or ()),
        is_double=any(one.dtype == np.float64 for one in chunk.scores),
        has_weights=joined.weight is not None,
        sides=sides,
        messages=joined.all_messages(),
        paths=tuple(one.origin.name for one in joined.contents),
        units=tuple(getattr(one.scores, "unit", "nats") for one in joined.aligned) if not joined.classes else (),
        report=joined.report,
        conditions=tuple(asked),
        columns=(*sides, *first.trials.conditions),
        names=(*sides, *aliases),
        renamed=joined.renamed,
    )


def _conditions(trials: Trials, options: Options) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield what every column says by which trials are split: codes, and the values that they stand for."""
    for name in condition_columns(options):
        side = trials.origin.side_called(name)
        if name in trials.conditions:
            values = trials.condition(name)
        elif side in sides_with_names(trials):
            at = trials.sides.index(side)
            yield name, (np.asarray(trials.codes[at], np.int64), trials.names[at])
            continue
        else:
            continue
        coded = values.dictionary_encode()
        codes = np.asarray(pc.fill_null(coded.indices, len(coded.dictionary)), np.int64)
        yield name, (codes, coded.dictionary)
