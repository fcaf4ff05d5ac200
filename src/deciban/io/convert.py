"""A file of one format written again in another one: what ``deciban convert`` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap, zip_longest
from operator import add
from typing import Any

import numpy as np

from deciban._files import PathLike, atomic_write, display_name
from deciban._validate.classes import Prior
from deciban._validate.probabilities import unit_of
from deciban.errors import FormatError, KeyMismatchError
from deciban.io.columns.headers import Columns, unit_in_words
from deciban.io.contents import ContentKind, Contents, Written, field_of, labels_in_words
from deciban.io.formats import Format, by_name, for_ending, formats
from deciban.io.reader import read_contents, read_input
from deciban.io.recognition import memory_of
from deciban.io.source import require_one_stream
from deciban.io.units import (
    certain,
    in_other_units,
    is_submission,
    n_infinite,
    notes_on_submissions,
    refuse_negated_probabilities,
    require_class_units,
)
from deciban.io.writing import put, refuse_overwriting, target_name
from deciban.memory import memory_error, memory_for_trials
from deciban.messages import Message, as_message, counted
from deciban.trials import Key
from deciban.trials.joining.join import refuse_conflicts
from deciban.trials.joining.matching import match


def convert(
    source: PathLike,
    target: PathLike,
    *,
    to: str | None = None,
    what: ContentKind | None = None,
    key: PathLike | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    log10: bool = False,
    lr: bool = False,
    negate: bool = False,
    probabilities: float | Prior | None = None,
    detection_llr: bool = False,
    write_as: str = "loglik",
    key_format: str | None = None,
    key_columns: Columns | None = None,
    memory: str | int | None = None,
) -> tuple[Message, ...]:
    """Read a file of any known format and write it in another one.

    Parameters
    ----------
    source, target : path
        See `deciban.read_scores` and `deciban.write`.
    to : str, optional
        Format to write; left out, the ending of the target decides.
    what : str, optional
        What of the contents to write (``scores``, ``key``, ``index``, ...); all that the format has room for when left
        out.
    key : path, optional
        A key whose labels are written with the scores, and its conditions if there is room. It must have a label for
        every trial of the source, and agree with the labels that are there already.
    format, columns, labels, log10, lr, negate : optional
        See `deciban.read_scores`, for the source; the labels for the key, too.
    probabilities : float or prior, optional
        The scores are probabilities by this prior, that of a target or that of the classes: llrs or log-likelihoods in
        nats are written.
    detection_llr : bool
        Class scores are log-likelihood ratios of each class against the others: log-likelihoods are written.
    write_as : {"loglik", "detection-llr"}
        Class scores are log-likelihoods, or what becomes such, and are written as log-likelihoods or as log-likelihood
        ratios of each class against the others, by a flat prior.
    key_format, key_columns : optional
        The same for the key.
    memory : str or int, optional
        Bytes that may be taken, as ``"2GB"`` or a number; left out, half of what is free. Text, Parquet and Arrow that
        would take more become Parquet in batches.

    Returns
    -------
    tuple of Message
        What was read, what was left out because the format has no room for it, and what was written.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.read_scores` and `deciban.write`; if the target is the source or the key, by whatever name; or if
        the labels of the key do not fit, or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> _ = path.write_text("ann x 0.1\\nbob y -2\\n")
    >>> [message.kind for message in convert(path, path.with_suffix(".h5"))]
    ['read', 'wrote']
    """
    require_class_units(write_as)
    unit = unit_of(log10=log10, lr=lr)
    if negate:
        refuse_negated_probabilities(probabilities)
    require_one_stream([source, key])
    refuse_overwriting([target], [source, key], made=target)
    # A format that has detection llrs makes them itself.
    class_unit = "loglik" if to in formats() and formats()[to].detection_llr else write_as
    units: Any = {"probabilities": probabilities, "detection_llr": detection_llr, "write_as": class_unit, "lr": lr}
    read = _Read(what, units | {"negate": negate})
    given: Any = {"format": format, "columns": columns, "labels": labels, "unit": unit}
    if memory_of([source]) > memory_for_trials(memory):
        reason = _needs_all(source, target, to, what, key, given)
        if not reason:
            return _in_batches(source, target, read, given, memory_for_trials(memory) / 2)
        if memory is not None:
            raise memory_error(f"memory: {display_name(source)} does not fit in it, and {reason}")
    found = read_input(source, need=what, **given).contents
    contents = read.add(found)
    messages = list(read.messages(found.origin.name))
    needed: list[ContentKind] = [] if what is None else [what]
    if key is not None:
        truth = read_contents(key, need="key", format=key_format, columns=key_columns, labels=labels)
        contents, met = _with_key(contents, found.key, truth.key)
        messages += [read_message("key", truth, truth.label_counts), *_notes(truth), met]
        needed.append("key")
    told = put_and_tell(contents, target, to, needed)
    is_known = is_submission(contents.origin) and not read.told  # written as it was
    return (*messages, *told, *([] if is_known else notes_on_submissions(told, write_as)))


@dataclass
class _Read:
    """What was read of a file, in one batch or in many.

    Attributes
    ----------
    what : str, optional
        As of `convert`.
    units : mapping
        Arguments of `in_other_units`.
    first : Contents or None
        Of the first batch.
    n_trials : int
    labels : list of int
        Targets and non-targets.
    words : dict
        Words that stand for them.
    notes : dict of notes
    told : dict of Message
        On units.
    n_certain : list of int
        Trials with an infinite logarithm of a probability, of each system.
    """

    what: ContentKind | None
    units: Mapping[str, Any]
    first: Contents | None = None
    n_trials: int = 0
    labels: list[int] = field(default_factory=lambda: [0, 0])
    words: dict[str, bool] = field(default_factory=dict)
    notes: dict[str | Message, None] = field(default_factory=dict)
    told: dict[Message, None] = field(default_factory=dict)
    n_certain: list[int] = field(default_factory=list)

    def add(self, contents: Contents) -> Contents:
        """Return what is written of a batch, in the units in which it is written."""
        chosen = contents if self.what is None else only(contents, self.what)
        made, told = in_other_units(chosen, **self.units)
        self.first = self.first or chosen
        self.n_trials += 0 if chosen.index is None else len(chosen.index)
        if chosen.key is not None:
            self.labels[0] += int(chosen.key.n_tar)
            self.labels[1] += int(chosen.key.n_non)
        self.words |= chosen.words
        self.notes |= dict.fromkeys(chosen.notes)
        self.told |= dict.fromkeys(one for one in told if not one.origin)
        if self.units["probabilities"] is not None:
            classes = made.class_scores
            own = [n_infinite(one.score) for one in (made.systems if classes is None else (classes,))]
            self.n_certain = list(starmap(add, zip_longest(self.n_certain, own, fillvalue=0)))
        return made

    def messages(self, name: str) -> Iterator[Message]:
        """Yield the messages on a file that was read."""
        first = self.first
        assert first is not None  # noqa: S101  # there was a batch
        counts = [] if first.index is None else [counted(self.n_trials, "trial")]
        if first.key is not None:
            counts.append(labels_in_words(self.words, *self.labels))
        origin = replace(first.origin, name=name)
        yield read_message("read", replace(first, origin=origin), ", ".join(counts) or ", ".join(first.kinds))
        yield from (as_message(note, name) for note in self.notes)
        yield from self.told
        noun = "segment" if first.class_scores is not None else "trial"
        for n in self.n_certain:
            yield from certain(n, noun, name)


def _needs_all(
    source: PathLike, target: PathLike, to: str | None, what: ContentKind | None, key: PathLike | None, given: Any
) -> str:
    """Return the reason why a file has to be read as a whole; nothing if batches of its rows will do."""
    from deciban.io.shards.files import table_files
    from deciban.io.shards.text import is_readable_in_batches  # most files fit

    form = by_name(to) if to is not None else for_ending(target_name(target))
    if form is None or form.name != "parquet" or str(target) == "-":
        return "only Parquet is written in batches"
    if key is not None:
        return "labels of a key are found for all trials together (convert the scores without them)"
    if str(source) == "-" or not all(is_readable_in_batches(file.path, what, given) for file in table_files(source)):
        return "only Parquet, Arrow and text without classes are read in batches"
    return ""


def _in_batches(source: PathLike, target: PathLike, read: _Read, given: Any, memory: float) -> tuple[Message, ...]:
    """Write batches of a file as Parquet, one after the other."""
    from deciban.io.columns.columnar import table_of, written_of
    from deciban.io.shards.text import contents_in_batches
    from deciban.io.shards.writing import TableWriter

    left: list[Message] | None = None
    with atomic_write(target) as stream, TableWriter(stream, target_name(target)) as writer:
        for name, contents in contents_in_batches(source, read.what, memory, **given):
            made = read.add(contents)
            table = table_of(made)
            if left is None:
                lost = left_out(made, by_name("parquet"), written_of(made, table))
                left = [Message("left out", "", one) for one in lost]
            writer.write(table, name)
    told = Message("wrote", target_name(target), "as parquet, in batches")
    return (*read.messages(display_name(source)), *(left or ()), told)


def read_message(kind: str, contents: Contents, counts: str) -> Message:
    """Say how something was read."""
    reading = contents.origin.reading
    unit = unit_in_words(one.unit for one in contents.systems)
    return Message(kind, contents.origin.name, f"{reading}{'' if unit in reading else unit}   {counts}")


def _notes(contents: Contents) -> list[Message]:
    return [as_message(note, contents.origin.name) for note in contents.notes]


def put_and_tell(
    contents: Contents,
    target: PathLike,
    to: str | None,
    needed: Sequence[ContentKind] = (),
    columns: Sequence[str] = (),
) -> tuple[Message, ...]:
    """Write contents to a file, and say what was left out because the format has no room for it.

    Parameters, errors
        As in `deciban.io.writing.put`.

    Returns
    -------
    tuple of Message
    """
    chosen, written = put(contents, target, to, needed, columns)
    messages = [Message("left out", "", one) for one in left_out(contents, chosen, written)]
    if written.reordered:
        order = f"{chosen.name} lists trials row by row of a matrix: their order is not that of the input"
        messages.insert(0, Message("note", "", order))
    unit = ", detection llrs of each class against the others, by a flat prior" if chosen.detection_llr else ""
    return (*messages, Message("wrote", target_name(target), f"as {chosen.name}{unit}"))


def only(contents: Contents, what: ContentKind) -> Contents:
    """Only one of the things that an input holds, with the trials that it belongs to."""
    empty = Contents(origin=contents.origin, index=contents.index, notes=contents.notes)
    if what == "index":
        return empty
    return replace(empty, **{field_of(what): getattr(contents, field_of(what))})


def _with_key(contents: Contents, own: Key | None, key: Key | None) -> tuple[Contents, Message]:
    """Scores with the labels of a key, in the order of the scores, and how the two met."""
    if not contents.systems or key is None:
        raise FormatError(f"{contents.origin.name}: holds no scores that labels could be given to.")
    if own is not None:
        refuse_conflicts(own, key)
    trials = contents.systems[0].trials
    # Trials without a label are found here, not by the join: it speaks of trials without a score.
    found = match([key], contents.systems[0].index, 0.0, "error")
    rows = found.rows[0]
    lacking = np.flatnonzero(rows < 0) if rows is not None else np.empty(0, np.int64)
    if len(lacking):
        row, name = int(lacking[0]), key.trials.origin.name
        raise KeyMismatchError(
            f"{name} has no label for {len(lacking):,} of {len(trials):,} trials of {trials.origin.name}, the first "
            f"{trials.name_of(row)} ({trials.origin.where(row)}). Every score that is written with labels needs one."
        )
    own_key = key if rows is None else key.take(rows)
    # The names stay those of the scores; only what is known of the trials is new.
    own_key = Key(replace(trials, conditions=own_key.trials.conditions, origin=key.trials.origin), own_key.is_target)
    others = [table for table in (contents.class_scores, contents.class_key) if table is not None]
    together = Contents.of(*contents.systems, own_key, *others)
    kept = replace(contents, **{field: getattr(together, field) for field in _ABOUT_TRIALS})
    return kept, Message(
        "join", "", f"{found.report.matched:,} matched · {counted(found.report.extra, 'extra trial')} of the key"
    )


_ABOUT_TRIALS = ("index", "systems", "key", "class_scores", "class_key")


def left_out(contents: Contents, chosen: Format, written: Written) -> list[str]:
    """What of the contents was not written, and why."""
    main = next((kind for kind in contents.kinds if kind in written.kinds), "these")
    reasons = [
        f"{kind}: {chosen.name} has no room for it" + (f" next to {main}" if kind in chosen.writes else "")
        for kind in contents.kinds
        if kind not in written.kinds and kind != "index"
    ]
    conditions = [] if contents.index is None else list(contents.index.trials.conditions)
    lacking = [name for name in conditions if name not in written.conditions]
    return reasons + [f"condition {name}: {chosen.name} has no room for it" for name in lacking]
