"""A file of one format written again in another one: what ``deciban convert`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban._files import PathLike
from deciban._validate.classes import Prior
from deciban._validate.ratios import unit_of
from deciban.errors import FormatError, KeyMismatchError
from deciban.io.columns.headers import Columns, unit_in_words
from deciban.io.contents import ContentKind, Contents, Written, field_of
from deciban.io.formats import Format, formats
from deciban.io.memory import memory_for_trials, memory_of
from deciban.io.reader import read_contents, read_input
from deciban.io.source import require_one_stream
from deciban.io.units import (
    as_written,
    in_other_units,
    is_submission,
    notes_on_submissions,
    refuse_negated_probabilities,
    require_class_units,
)
from deciban.io.writing import put, refuse_overwriting, target_name
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
        would take more become Parquet piece by piece.

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
    refuse_overwriting([target], [source, key])
    if memory_of([source]) > memory_for_trials(memory):
        from deciban.io.convert_in_pieces import Converted, convert_in_pieces  # most files fit

        how = Converted(what, probabilities, detection_llr, write_as, negate)
        given: Any = {"to": to, "key": key, "format": format, "columns": columns, "labels": labels}
        given["unit"] = unit
        told = convert_in_pieces(source, target, how, must=memory is not None, **given)
        if told is not None:
            return told
    contents = read_input(source, need=what, format=format, columns=columns, labels=labels, unit=unit).contents
    own, contents = contents.key, contents if what is None else only(contents, what)
    messages = [read_message("read", contents, _counts(contents)), *_notes(contents)]
    # A format that has detection llrs makes them itself.
    class_unit = "loglik" if to in formats() and formats()[to].detection_llr else write_as
    asked: Any = {"detection_llr": detection_llr, "write_as": class_unit, "lr": lr}
    contents, told_of_sign = as_written(contents, negate=negate)
    messages += told_of_sign
    contents, changed = in_other_units(contents, probabilities, **asked)
    messages += changed
    needed: list[ContentKind] = [] if what is None else [what]
    if key is not None:
        truth = read_contents(key, need="key", format=key_format, columns=key_columns, labels=labels)
        contents, met = _with_key(contents, own, truth.key)
        messages += [read_message("key", truth, truth.label_counts), *_notes(truth), met]
        needed.append("key")
    told = put_and_tell(contents, target, to, needed)
    is_known = is_submission(contents.origin) and not changed  # written as it was
    return (*messages, *told, *([] if is_known else notes_on_submissions(told, write_as)))


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


def _counts(contents: Contents) -> str:
    parts = [] if contents.index is None else [counted(len(contents.index), "trial")]
    if contents.key is not None:
        parts.append(contents.label_counts)
    return ", ".join(parts) or ", ".join(contents.kinds)


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
