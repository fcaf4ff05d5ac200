"""Atomic writing of tables, conversion of files, and synthetic data; inputs and other outputs stay as they are."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap, zip_longest
from operator import add
from pathlib import Path
from typing import IO, Any

import numpy as np

from deciban import errors
from deciban._files import atomic_write, scratch_file
from deciban._validate.arrays import unit_of
from deciban._validate.classes import Prior
from deciban.errors import FormatError, InputError, KeyMismatchError, Message, as_message, counted, not_none, option
from deciban.io import formats, units
from deciban.io.columns.headers import Columns, unit_in_words
from deciban.io.formats import ContentKind, Contents, Format, Item
from deciban.io.reader import read_contents, read_input
from deciban.io.recognition import InputReading, memory_of
from deciban.io.source import CODECS, codec_for, files_of, require_one_stream, unpacked_name
from deciban.io.text.writer import write_text
from deciban.memory import memory_error, memory_for_trials
from deciban.trials import Key
from deciban.trials.joining.join import refuse_conflicts
from deciban.trials.joining.matching import match
from deciban.trials.lists import ROW
from deciban.types import PathLike, ScoreUnit


def refuse_overwriting(
    targets: Sequence[PathLike], inputs: Sequence[PathLike | None], *, made: PathLike | None = None
) -> None:
    """Raise if a target is an input or another target, under any name, or its folder does not exist.

    Parameters
    ----------
    targets : sequence of paths
        Files to write; ``-`` is standard output.
    inputs : sequence of paths or None
        Files to read: files, folders, patterns, ``-``. Links and other names of the same file are detected.
    made : path, optional
        A folder that will be created if it does not exist. By default, targets are files.

    Raises
    ------
    InputError
        If a target is an input, is in a folder that is an input or does not exist, is a folder, or is written twice.

    Examples
    --------
    >>> refuse_overwriting(["out.txt"], ["scores.txt", None, "-"])
    >>> refuse_overwriting(["out.txt", "./out.txt"], [])
    Traceback (most recent call last):
    deciban.errors.InputError: out.txt: would be written twice. Give each output its own name.
    """
    for target in targets:
        errors.require_file_name(target)
        if made is None and (str(target).endswith(("/", os.sep)) or Path(target).is_dir()):
            raise InputError(f"{errors.display_name(target)}: is the name of a folder. Name a file to write.")
    names = [os.path.realpath(target) if str(target) != "-" else "-" for target in targets]
    twice = next((target for target, name in zip(targets, names, strict=True) if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{target_name(twice)}: would be written twice. Give each output its own name.")
    read = [Path(file) for path in inputs if path is not None and str(path) != "-" for file in files_of(path)]
    for target in (Path(target) for target in targets if str(target) != "-"):
        for path in read:
            is_same = path.is_file() and target.exists() and target.samefile(path)
            if is_same or (path.is_dir() and path.resolve() in target.resolve().parents):
                raise InputError(
                    f"{errors.display_name(target)}: is an input, or in a folder that is an input. Choose another name "
                    "for the output."
                )
    for target in targets:
        _require_folder(Path(target), made)


def _require_folder(target: Path, path: PathLike | None) -> None:
    """Raise if the folder of a target does not exist and will not be created."""
    folder = target.parent
    if path is not None and folder == Path(path) and not folder.exists():
        folder = folder.parent
    if str(target) != "-" and not folder.is_dir():
        raise InputError(
            f"{errors.display_name(target)}: the folder {str(folder)!r} does not exist. Create it first, or write "
            "elsewhere."
        )


def write(item: Item | Contents, path: PathLike, *more: Item, format: str | None = None) -> Format:
    """Write tables of trials to a file.

    Parameters
    ----------
    item : Index, Key, Scores, ClassScores, ClassKey, Quality, SegmentQuality, IdMap or Contents
        For the contents of another file, everything is written that the format can contain.
    path : path
        Replaced only when everything is written. ``.gz``, ``.bz2`` and ``.zst`` compress; ``-`` is standard output.
    *more : the same
        Other tables of the same trials: a key with its scores, or scores of further systems.
    format : str, optional
        Name of the format. By default, the ending of the file decides. For neutral endings (``.txt``, or names like
        ``.scores`` and ``.key``; others are refused), lists are written as ``kaldi`` (two names), ``nist-sre`` (two
        names and a side), ``trial`` (one) or ``rows`` (none).

    Returns
    -------
    Format
        The format that was written.

    Raises
    ------
    FormatError
        If the format cannot contain these tables or names. An old file is unchanged.
    InputError
        If the format does not exist, or the tables contain different trials.
    OSError
        If the file cannot be written, for example because the disk is full. An old file is unchanged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban import Scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> write(Scores.of({"enroll": ["ann", "bob"], "test": ["x", "y"]}, [0.1, -2.0]), path).name
    'kaldi'
    >>> print(path.read_text(), end="")
    ann x 0.1
    bob y -2
    """
    if not isinstance(item, Contents):
        return put(Contents.of(item, *more), path, format, [formats.KIND_OF[type(one)] for one in (item, *more)])[0]
    if more:
        raise InputError("contents of a file cannot be written with more tables. Combine all in one Contents.")
    return put(item, path, format)[0]


def put(
    contents: Contents,
    path: PathLike,
    name: str | None,
    needed: Sequence[ContentKind] = (),
    columns: Sequence[str] = (),
) -> tuple[Format, formats.WrittenContents]:
    """Write contents to a file; see `write`.

    Parameters
    ----------
    contents : Contents
    path : path
    name : str or None
        Name of the format.
    needed : sequence of kinds
        Kinds that must be written. Other kinds are written if the format can contain them.
    columns : sequence of str
        Conditions that must also be written.

    Returns
    -------
    Format
    Written

    Raises
    ------
    FormatError, InputError, OSError
        As in `write`.
    """
    chosen = _chosen(contents, path, name)
    if not chosen.writes:
        writable = ", ".join(name for name, one in formats.formats().items() if one.writes)
        raise InputError(f"format: {chosen.name} can be read, but not written. Use one of {writable}.")
    formats.require(contents, chosen.writes, chosen.name)
    if chosen.detection_llr and contents.class_scores is not None:
        contents = replace(contents, class_scores=units.written_as(contents.class_scores, "detection-llr")[0])
    with opened(path) as stream:
        if isinstance(chosen, formats.TextFormat):
            written = write_text(contents, chosen, stream)
        else:
            writer: Any = chosen  # a format with a writer
            written = writer.write(contents, stream)
        if lacking := [kind for kind in needed if kind not in written.kinds]:
            possible = " and ".join(sorted(written.kinds - {"index"}) or ["index"])
            raise FormatError(
                f"{chosen.name} can contain {possible}, but not {' and '.join(lacking)} in the same file. Write two "
                "files, or choose another format (table, parquet)."
            )
        if left_out := [one for one in columns if one not in written.conditions]:
            raise FormatError(
                f"{chosen.name} cannot contain the columns {' and '.join(left_out)}. Choose a format with named "
                f"columns: table (.csv), tsv, lir, parquet, arrow or npz ({option(to=...)})."
            )
    return chosen, written


@contextlib.contextmanager
def opened(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a target for atomic writing, compressed according to its ending; ``-`` is standard output.

    Yields
    ------
    binary stream
        New and seekable.
    """
    codec = codec_for(str(path))
    with plainly_opened(path) as stream:
        if codec is None:
            yield stream
            return
        with scratch_file(path) as plain:
            yield plain
            plain.seek(0)
            with codec.pack(stream) as packed:
                shutil.copyfileobj(plain, packed, 1 << 20)


def target_name(path: PathLike) -> str:
    """Return the name of a target for messages."""
    return "standard output" if str(path) == "-" else errors.display_name(path)


def _chosen(contents: Contents, path: PathLike, name: str | None) -> Format:
    if name is not None:
        return formats.by_name(name)
    shown = target_name(path)
    result = formats.for_ending(shown)
    if result is not None:
        return result
    _refuse_unknown_ending(shown)
    entries = {("enroll", "test"): "kaldi", ("enroll", "test", "side"): "nist-sre", ("trial",): "trial"}
    entries |= {ROW: "rows"} if contents.systems else {}
    special = {"class-scores": "nist-lre", "class-key": "nist-lre"}
    special |= {"segment-quality": "bosaris-quality", "id-map": "bosaris-idmap"}
    kind = contents.kinds[0] if contents.kinds else "nothing"
    sides = contents.index.trials.sides if contents.index is not None else ()
    default = special.get(kind) or entries.get(sides)
    if default == "nist-lre" and sides == ROW:
        raise FormatError(
            f"{shown}: a text file of multiclass scores needs names of trials, and these trials have none. Choose an "
            f"output file that ends in .npy, .npz or .parquet, or one of these formats ({option(to=...)})."
        )
    if default is None:
        able = ", ".join(name for name, f in formats.formats().items() if set(f.writes) & set(contents.kinds))
        raise FormatError(
            f"{shown}: its ending does not determine a format for {kind}. Name one: {option('to')} {able}."
        )
    return formats.by_name(default)


def _refuse_unknown_ending(shown: str) -> None:
    """Raise if an ending belongs to no format that can be written; numbers, as in versions, are allowed."""
    ending = Path(unpacked_name(shown)).suffix.casefold()
    if ending in formats.SILENT_ENDINGS or not any(map(str.isalpha, ending)):
        return
    known = sorted({one for form in formats.formats().values() if form.writes for one in form.endings})
    raise InputError(
        f"{shown}: the ending {ending} belongs to no format. Use {', '.join(known)} (.txt for plain lists; add "
        f"{', '.join(codec.ending for codec in CODECS)} to compress), or name the format ({option(to=...)})."
    )


@contextlib.contextmanager
def plainly_opened(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a target that is never compressed; otherwise like `opened`.

    Yields
    ------
    binary stream
    """
    if str(path) != "-":
        with atomic_write(path) as stream:
            yield stream
        return
    with tempfile.TemporaryFile() as aside:  # standard output is not seekable, and receives everything or nothing
        yield aside
        aside.seek(0)
        shutil.copyfileobj(aside, sys.stdout.buffer, 1 << 20)
    sys.stdout.buffer.flush()


def write_plainly(path: PathLike, text: str | bytes) -> None:
    """Write a whole text or file to a target that is never compressed."""
    with plainly_opened(path) as stream:
        stream.write(text.encode() if isinstance(text, str) else text)


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
        Format to write; by default, the ending of the target decides.
    what : str, optional
        The part of the contents to write (``scores``, ``key``, ``index``, ...); by default all parts that the format
        can contain.
    key : path, optional
        A key. Its labels are written with the scores, and its conditions if the format can contain them. It must have
        a label for each trial of the source, and agree with labels in the source.
    format, columns, labels, log10, lr, negate : optional
        See `deciban.read_scores`, for the source; the labels also apply to the key.
    probabilities : float or prior, optional
        The scores are probabilities with this prior, of a target or of the classes. The output contains llrs or
        log-likelihoods in nats.
    detection_llr : bool
        Class scores are log-likelihood ratios of each class against the others. The output contains log-likelihoods.
    write_as : {"loglik", "detection-llr"}
        Write class scores as log-likelihoods, or as log-likelihood ratios of each class against the others with a
        flat prior.
    key_format, key_columns : optional
        The same for the key.
    memory : str or int, optional
        Bytes that deciban may take, as ``"2GB"`` or a number; by default, half of the free memory. Text, Parquet and
        Arrow files that need more are written as Parquet in batches.

    Returns
    -------
    tuple of Message
        Messages about what was read, what the format cannot contain, and what was written.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.read_scores` and `deciban.write`; if the target is the source or the key; or if the labels of the
        key do not match or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> _ = path.write_text("ann x 0.1\\nbob y -2\\n")
    >>> [message.kind for message in convert(path, path.with_suffix(".h5"))]
    ['read', 'wrote']
    """
    units.require_class_units(write_as)
    unit = unit_of(log10=log10, lr=lr)
    if negate:
        units.refuse_negated_probabilities(probabilities)
    require_one_stream([source, key])
    refuse_overwriting([target], [source, key], made=target)
    # A format for detection llrs converts the scores itself.
    class_unit = "loglik" if to in formats.formats() and formats.formats()[to].detection_llr else write_as
    convert_as = partial(units.in_other_units, detection_llr=detection_llr, write_as=class_unit, lr=lr, negate=negate)
    read = _Read(what, partial(convert_as, probabilities=probabilities))
    reading: InputReading = {"format": format, "columns": columns, "labels": labels}
    if memory_of([source]) > memory_for_trials(memory):
        reason = _needs_all(source, target, to, what, key, reading)
        if not reason:
            return _in_batches(source, target, read, reading, unit, memory_for_trials(memory) / 2)
        if memory is not None:
            raise memory_error(f"memory: {errors.display_name(source)} does not fit in memory, and {reason}")
    result = read_input(source, need=what, unit=unit, **reading).contents
    contents = read.add(result)
    messages = list(read.messages(result.origin.name))
    needed: list[ContentKind] = [] if what is None else [what]
    if key is not None:
        truth = read_contents(key, need="key", format=key_format, columns=key_columns, labels=labels)
        contents, met = _with_key(contents, result.key, truth.key)
        notes = [as_message(note, truth.origin.name) for note in truth.notes]
        messages += [read_message("key", truth, truth.label_counts), *notes, met]
        needed.append("key")
    answer = put_and_tell(contents, target, to, needed)
    is_known = (
        contents.origin.is_read_as(units.SUBMISSION) and not read.conversion_messages
    )  # written with the units of the input
    return (*messages, *answer, *([] if is_known else units.notes_on_submissions(answer, write_as)))


@dataclass
class _Read:
    """Data about a file that was read in one or several batches.

    Attributes
    ----------
    what : str, optional
        As in `convert`.
    converted : function
        `in_other_units` with its options.
    first : Contents or None
        The first batch.
    n_trials : int
    labels : list of int
        Numbers of targets and non-targets.
    words : dict
        Words for targets and non-targets.
    notes : dict of notes
    conversion_messages : dict of Message
        Messages about units.
    n_certain : list of int
        For each system, the number of trials with an infinite logarithm of a probability.
    """

    what: ContentKind | None
    converted: partial[tuple[Contents, list[Message]]]
    first: Contents | None = None
    n_trials: int = 0
    labels: list[int] = field(default_factory=lambda: [0, 0])
    words: dict[str, bool] = field(default_factory=dict)
    notes: dict[str | Message, None] = field(default_factory=dict)
    conversion_messages: dict[Message, None] = field(default_factory=dict)
    n_certain: list[int] = field(default_factory=list)

    def add(self, contents: Contents) -> Contents:
        """Return the contents to write for a batch, in the units to write."""
        chosen = contents if self.what is None else only(contents, self.what)
        result, messages = self.converted(chosen)
        self.first = self.first or chosen
        self.n_trials += 0 if chosen.index is None else len(chosen.index)
        if chosen.key is not None:
            self.labels[0] += int(chosen.key.n_tar)
            self.labels[1] += int(chosen.key.n_non)
        self.words |= chosen.words
        self.notes |= dict.fromkeys(chosen.notes)
        self.conversion_messages |= dict.fromkeys(one for one in messages if not one.origin)
        if self.converted.keywords["probabilities"] is not None:
            classes = result.class_scores
            own = [units.n_infinite(one.score) for one in (result.systems if classes is None else (classes,))]
            self.n_certain = list(starmap(add, zip_longest(self.n_certain, own, fillvalue=0)))
        return result

    def messages(self, name: str) -> Iterator[Message]:
        """Yield the messages about the file."""
        first = not_none(self.first, "first batch")
        counts = [] if first.index is None else [counted(self.n_trials, "trial")]
        if first.key is not None:
            counts.append(formats.labels_in_words(self.words, *self.labels))
        origin = replace(first.origin, name=name)
        yield read_message("read", replace(first, origin=origin), ", ".join(counts) or ", ".join(first.kinds))
        yield from (as_message(note, name) for note in self.notes)
        yield from self.conversion_messages
        noun = "segment" if first.class_scores is not None else "trial"
        for n in self.n_certain:
            yield from units.certain(n, noun, name)


def _needs_all(
    source: PathLike, target: PathLike, to: str | None, what: ContentKind | None, key: object, reading: InputReading
) -> str:
    """Return the reason why a file must be read as a whole; empty if it can be read in batches."""
    from deciban.io.partitions.writing import are_readable_in_batches  # not needed for most files, which fit in memory

    form = formats.by_name(to) if to is not None else formats.for_ending(target_name(target))
    if form is None or form.name != "parquet" or str(target) == "-":
        return "only Parquet can be written in batches"
    if key is not None:
        return "labels of a key need all trials at once (convert the scores without the key)"
    if not are_readable_in_batches(source, what, reading):
        return "only Parquet, Arrow and text without classes can be read in batches"
    return ""


def _in_batches(
    source: PathLike, target: PathLike, read: _Read, reading: InputReading, unit: ScoreUnit | None, memory: float
) -> tuple[Message, ...]:
    """Write batches of a file as Parquet."""
    from deciban.io.columns.columnar import table_of, written_of
    from deciban.io.partitions.writing import TableWriter, contents_in_batches

    left: list[Message] | None = None
    with atomic_write(target) as stream, TableWriter(stream, target_name(target)) as writer:
        for name, contents in contents_in_batches(source, read.what, memory, unit=unit, **reading):
            result = read.add(contents)
            table = table_of(result)
            if left is None:
                lost = left_out(result, formats.by_name("parquet"), written_of(result, table))
                left = [Message("left out", "", one) for one in lost]
            writer.write(table, name)
    message = Message("wrote", target_name(target), "as parquet, in batches")
    return (*read.messages(errors.display_name(source)), *(left or ()), message)


def read_message(kind: str, contents: Contents, counts: str) -> Message:
    """Return the message on how an input was read."""
    reading = contents.origin.reading
    unit = unit_in_words(one.unit for one in contents.systems)
    return Message(kind, contents.origin.name, f"{reading}{'' if unit in reading else unit}   {counts}")


def put_and_tell(
    contents: Contents,
    target: PathLike,
    to: str | None,
    needed: Sequence[ContentKind] = (),
    columns: Sequence[str] = (),
) -> tuple[Message, ...]:
    """Write contents to a file; return messages, also about contents that the format cannot contain.

    Parameters, errors
        As in `deciban.io.writing.put`.

    Returns
    -------
    tuple of Message
    """
    chosen, written = put(contents, target, to, needed, columns)
    messages = [Message("left out", "", one) for one in left_out(contents, chosen, written)]
    if written.reordered:
        order = f"{chosen.name} contains a matrix, so the order of trials has changed"
        messages.insert(0, Message("note", "", order))
    unit = ", detection llrs of each class against the others, with a flat prior" if chosen.detection_llr else ""
    return (*messages, Message("wrote", target_name(target), f"as {chosen.name}{unit}"))


def only(contents: Contents, what: ContentKind) -> Contents:
    """Return one kind of tables of an input, with its trials."""
    empty = Contents(
        origin=contents.origin, index=contents.index, notes=contents.notes, label_words=contents.label_words
    )
    if what == "index":
        return empty
    return replace(empty, **{formats.field_of(what): getattr(contents, formats.field_of(what))})


def _with_key(contents: Contents, own: Key | None, key: Key | None) -> tuple[Contents, Message]:
    """Return scores with the labels of a key, in the order of the scores, and a message about the join."""
    if not contents.systems or key is None:
        raise FormatError(f"{contents.origin.name}: contains no scores for the labels of a key.")
    if own is not None:
        refuse_conflicts(own, key)
    trials = contents.systems[0].trials
    # Find trials without a label before the join, whose messages are about trials without a score.
    result = match([key], contents.systems[0].index, 0.0, "error")
    rows = result.rows[0]
    lacking = np.flatnonzero(rows < 0) if rows is not None else np.empty(0, np.int64)
    if len(lacking):
        row, name = int(lacking[0]), key.trials.origin.name
        raise KeyMismatchError(
            f"{name} has no label for {len(lacking):,} of {len(trials):,} trials of {trials.origin.name}, the first "
            f"{trials.name_of(row)} ({trials.origin.where(row)}). Scores are written with labels only if all have one."
        )
    own_key = key if rows is None else key.take(rows)
    # The names of the scores are kept; the key adds only conditions and labels.
    own_key = Key(replace(trials, conditions=own_key.trials.conditions, origin=key.trials.origin), own_key.is_target)
    others = [table for table in (contents.class_scores, contents.class_key) if table is not None]
    together = Contents.of(*contents.systems, own_key, *others)
    kept = replace(contents, **{field: getattr(together, field) for field in _ABOUT_TRIALS}, label_words=None)
    return kept, Message(
        "join", "", f"{result.report.matched:,} matched · {counted(result.report.extra, 'extra trial')} of the key"
    )


_ABOUT_TRIALS = ("index", "systems", "key", "class_scores", "class_key")


def left_out(contents: Contents, chosen: Format, written: formats.WrittenContents) -> list[str]:
    """Return texts about contents that were not written, with the reason."""
    main = next((kind for kind in contents.kinds if kind in written.kinds), "these")
    reasons = [
        f"{kind}: {chosen.name} cannot contain it" + (f" together with {main}" if kind in chosen.writes else "")
        for kind in contents.kinds
        if kind not in written.kinds and kind != "index"
    ]
    conditions = [] if contents.index is None else list(contents.index.trials.conditions)
    lacking = [name for name in conditions if name not in written.conditions]
    return reasons + [f"column {name}: the format {chosen.name} has no place for it" for name in lacking]
