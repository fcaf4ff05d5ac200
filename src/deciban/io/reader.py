"""Reading of one or several inputs: the format is recognized, and the contents are checked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from deciban import errors
from deciban._arrow import of_numpy, pc
from deciban._files import ScratchFolder
from deciban._validate.arrays import unit_of
from deciban.errors import FormatError, InputError, KeyMismatchError, counted, in_lines, option
from deciban.io import formats
from deciban.io.columns.headers import Columns
from deciban.io.recognition import OpenedFile, Recognized, readable_as, recognize
from deciban.io.source import Source, TwoFiles, as_file, other_file, refuse_doubles
from deciban.io.text.reader import Layout, TextBlocks, faults_in, lines_of_rows, parse_blocks
from deciban.trials import ClassKey, ClassScores, IdMap, Index, Key, Origin, Quality, Scores, SegmentQuality, Trials
from deciban.trials.joining import RULES, Renaming, rules_in
from deciban.trials.joining.join import concatenate
from deciban.trials.lists import PAIR, ROW
from deciban.types import PathLike, Readable, ScoreUnit


def read_contents(
    path: Readable,
    *,
    need: formats.ContentKind | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
    log10: bool = False,
    lr: bool = False,
) -> formats.Contents:
    """Read all tables of an input.

    Parameters
    ----------
    path : path
        A file, compressed or not; an open file; ``-`` for standard input; a folder of Parquet files; or a pattern with
        ``*``, whose files are read as one, sorted by name.
    need : str, optional
        The kind of table that the input must contain: ``scores``, ``key``, ``index``, ``class-scores``, ``class-key``,
        ``quality``, ``segment-quality`` or ``id-map``. Other tables are read, too.
    format, columns, labels, name, log10, lr : optional
        See `deciban.read_scores`.

    Returns
    -------
    Contents

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.
    """
    unit = unit_of(log10=log10, lr=lr)
    return read_input(path, need=need, format=format, columns=columns, labels=labels, name=name, unit=unit).contents


_CUT_OFF = "the last line has no line end: the file may be cut off"


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """An input that was read, with its format, for writing it again.

    Attributes
    ----------
    contents : Contents
    format : Format
        For several files, the format of the first.
    source : Source or None
        The bytes; None for several files.
    layout : Layout or None
        The layout of the lines of a text file; for several files, of the first.
    """

    contents: formats.Contents
    format: formats.Format
    source: Source | None = None
    layout: Layout | None = None


def read_input(
    path: Readable | Recognized,
    *,
    need: formats.ContentKind | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
    unit: ScoreUnit | None = None,
) -> Input:
    """Read all tables of an input, and return them with the format.

    Parameters, errors
        As in `read_contents`; ``unit`` is the declared unit of the scores. ``path`` may be an input that was already
        recognized (`deciban.io.recognition.recognize`); its format, columns and labels are used.

    Returns
    -------
    Input
    """
    opened = recognize(path, format=format, columns=columns, labels=labels)
    parts = [_read_one(one, replace(one.options, need=need, name=name, unit=unit)) for one in opened.files]
    file = parts[0]
    if len(parts) > 1:
        whole = opened.path
        if opened.sides is None:
            refuse_doubles([Path(one.source.path) for one in opened.files if one.source.is_file and one.source.size])
        together = joined([part.contents for part in parts], errors.display_name(whole), _system_name(whole, name))
        file = Input(together, file.format, None, file.layout)
    contents = file.contents
    if need is not None and need not in contents.kinds:
        raise FormatError(
            f"{contents.origin.name}: contains {' and '.join(contents.kinds) or 'nothing known'}, but {need} is "
            f"needed. It was read as {contents.origin.reading}; use {option('format')} or {option('columns')} to "
            f"change this.{in_lines(opened.files[0].ways(need))}"
        )
    return file


def _read_one(opened: OpenedFile, options: formats.InputOptions) -> Input:
    chosen, source, translated = opened.format_for(options.need), opened.source, opened.translated
    options = replace(options, name=_system_name(source.path, options.name))
    if isinstance(chosen, formats.BinaryFormat):
        return Input(chosen.read(source, options), chosen, source)
    if options.need == "quality":
        raise FormatError(
            f"{source.name}: a text table, but quality of both sides is needed. Only HDF5 and MATLAB files contain it; "
            "text files contain the quality of one side (segment-quality)."
        )
    layout = opened.layout(options.need)
    reading = str(layout) if translated is None else translated.reading(str(layout))
    # A stream can be read only once, so messages contain rows instead of lines.
    origin = Origin(
        source.name, reading, partial(lines_again, source.path, layout, None, None) if source.is_file else None
    )
    declared = layout.declared(replace(options, need=options.need or layout.holds), source.name)
    contents = parse_blocks(opened.blocks(options.need), origin, options.name or "", declared)
    notes = [_CUT_OFF] if opened.is_cut_off else []
    if layout.format.detection_llr:
        from deciban.io.units import of_detection_llrs  # not needed for most inputs

        contents = of_detection_llrs(contents)
    if layout.format.note_on_key is not None and contents.key is not None:
        notes.append(layout.format.note_on_key)
    contents = replace(contents, notes=(*contents.notes, *notes))
    return Input(contents, layout.format, source if translated is None else translated.source, layout)


def text_faults(
    files: Iterable[OpenedFile], need: formats.ContentKind, size: int | None = None
) -> Iterator[FormatError]:
    """Yield an error for each unreadable line of score files, in blocks of ``size``; skip files without text."""
    for opened in files:
        if not opened.is_text:
            continue
        try:
            blocks = opened.blocks(need, size)
        except FormatError:
            continue
        yield from faults_in(blocks, opened.options.vocabulary)


def lines_again(
    value: PathLike, layout: Layout, size: int | None, at: int | None, rows: Sequence[int]
) -> list[int | None]:
    """Return the lines of rows of a file, or of one of its blocks, by reading the file again."""
    folder = ScratchFolder()
    try:
        with as_file(value, Source(value), folder.path / "copy") as path:
            return lines_of_rows(TextBlocks(errors.display_name(value), layout, path, size=size, only=at), rows)
    except (OSError, FormatError):
        return [None] * len(rows)
    finally:
        folder.remove()


def _system_name(path: PathLike | TwoFiles, name: str | None) -> str:
    """Return the name of a system: as given, or the name of its file without endings."""
    return formats.bare_name(errors.display_name(path)) if name is None else name


_TABLES = ("index", "key", "class_scores", "class_key", "segment_quality", "id_map")


def joined(parts: Sequence[formats.Contents], name: str, system: str) -> formats.Contents:
    """Concatenate the contents of several files; trials that occur in two files are left to the join.

    Parameters
    ----------
    parts : sequence of Contents
    name : str
        Name of all files for messages; places of rows still name the single files.
    system : str
        Name of the system, if there is one.

    Raises
    ------
    FormatError
        If they differ in the kinds of tables or the systems, or contain quality of both sides.
    InputError
        As in `deciban.trials.joining.join.concatenate`.
    """
    _require_alike(parts)
    parts = _numbered_on(parts)
    first = parts[0]
    if first.quality is not None:
        raise FormatError(f"{name}: quality of both sides cannot be combined from several files.")
    readings = dict.fromkeys(part.origin.reading for part in parts)
    origin = Origin(name, f"{len(parts)} files, {' or '.join(readings)}")
    entries = {field: [getattr(part, field) for part in parts] for field in _TABLES}
    tables = {field: concatenate(own) for field, own in entries.items() if own[0] is not None}
    whole = replace(
        first,
        origin=origin,
        systems=_systems(parts, system),
        words={word: means for part in parts for word, means in part.words.items()},
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        **tables,
    )

    def called(trials: Trials) -> Trials:
        return replace(trials, origin=replace(trials.origin, name=name, reading=origin.reading))

    return whole.with_trials(called)


def _numbered_on(parts: Sequence[formats.Contents]) -> Sequence[formats.Contents]:
    """Continue the row numbers of trials without names from file to file."""
    lists = [table.trials for part in parts for table in part.tables[:1]]
    if len(lists) < len(parts) or any(trials.sides != ROW for trials in lists):
        return parts
    total = sum(map(len, lists))

    def numbered(old: Trials, start: int) -> Trials:
        names = (of_numpy(np.arange(start, start + len(old))).cast(pa.string()),)
        return Trials(ROW, names, old.listed, origin=old.origin, conditions=old.conditions, n_rows=total)

    starts = accumulate(map(len, lists), initial=0)
    return [part.with_trials(partial(numbered, start=start)) for part, start in zip(parts, starts, strict=False)]


def _require_alike(parts: Sequence[formats.Contents]) -> None:
    first, names = parts[0], _names(parts[0])
    for part in parts[1:]:
        theirs = _names(part)
        # A single system is named after its file, several systems after their columns.
        if part.kinds != first.kinds or len(theirs) != len(names) or (len(names) > 1 and set(theirs) != set(names)):
            raise FormatError(
                f"{part.origin.name}: contains {_described(part)}, {first.origin.name} {_described(first)}. Files that "
                "are read as one must be alike."
            )


def _names(contents: formats.Contents) -> list[str]:
    return [system.name for system in contents.systems]


def _described(contents: formats.Contents) -> str:
    names = _names(contents)
    systems = f" of {', '.join(names)}" if len(names) > 1 else ""
    return " and ".join(contents.kinds).replace("scores", f"scores{systems}", 1)


def _systems(parts: Sequence[formats.Contents], system: str) -> tuple[Scores, ...]:
    names = _names(parts[0])
    if len(names) == 1:
        return (replace(concatenate([part.systems[0] for part in parts]), name=system),)
    by_system = [{one.name: one for one in part.systems} for part in parts]
    return tuple(concatenate([part[name] for part in by_system]) for name in names)


_NAME = "matrix-csv"


def matrices_by_key(
    scores: Sequence[Recognized], key: Recognized | None
) -> tuple[tuple[Recognized, ...], Recognized | None]:
    """Read score files as matrices of enrolments and test segments if their key contains such pairs.

    A table with a name in its first column and numbers in all others contains scores of classes or a matrix of trials.
    With a key of pairs, it cannot be scores of classes; if one of the pairs is a row and a column, it is a matrix.

    Parameters
    ----------
    scores : sequence of Recognized
    key : Recognized or None

    Returns
    -------
    scores, key
        The same, perhaps with this format.

    Raises
    ------
    InputError
        If the key contains pairs, but none of them is a row and a column.
    """
    files = [str(one.files[0].source.path) for one in (*scores, *(() if key is None else (key,)))]
    if key is None or not all(Path(file).is_file() for file in files):
        return tuple(scores), key  # a stream can be read only once
    columns = {one: names for one in scores if (names := _names_of_classes(one))}
    if not columns or "key" not in readable_as(key, ("key", "class-key")):
        named = [one.files[0].named_format for one in scores]
        are_matrices = all(one is not None and one.name == _NAME for one in named)
        alike = are_matrices and _is_free(key.files[0]) and key.files[0].lines[:1] == scores[0].files[0].lines[:1]
        return tuple(scores), _as_matrix(key) if alike and not readable_as(key, ("key", "class-key")) else key
    try:
        truth = read_input(key, need="key").contents.key
    except (FormatError, InputError):
        return tuple(scores), key  # the error is raised when the key is read
    if truth is None or truth.trials.sides != PAIR:
        return tuple(scores), key
    for one, segments in columns.items():
        file = one.files[0]
        delimiter = file.layout("class-scores").delimiter
        models = [line.partition(delimiter)[0].strip(' "') for line in file.lines[1:]]
        shared = (
            pc.is_in(pa.array(own), of_key) for own, of_key in zip((models, segments), truth.trials.names, strict=True)
        )
        if not all(pc.any(result).as_py() for result in shared):
            raise InputError(
                f"{file.source.name}: scores of the classes {', '.join(segments[:3])}, ..., or a matrix of trials with "
                f"these test segments? {key.files[0].source.name} contains pairs of names, the first "
                f"{truth.trials.name_of(0)}, and none is a row and a column here. Use one of these options, with a "
                f"matching key:{in_lines([option(format=_NAME), option(kind='classes')])}"
            )
    return tuple(_as_matrix(one) if one in columns else one for one in scores), key


def _is_free(file: OpenedFile) -> bool:
    """Return True for a text file without options on its format and columns."""
    return file.named_format is None and file.options.columns is None and file.source.kind == "text"


def _as_matrix(result: Recognized) -> Recognized:
    return replace(result, files=tuple(replace(one, named_format=formats.by_name(_NAME)) for one in result.files))


def _names_of_classes(result: Recognized) -> list[str]:
    """Return the names of all columns but the first in a table of class scores without options; otherwise empty."""
    if not _is_free(result.files[0]) or readable_as(result, ("scores", "class-scores")) != ("class-scores",):
        return []
    layout = result.files[0].layout("class-scores")
    is_matrix = layout.header is not None and layout.delimiter != " " and {*layout.roles[1:]} == {"score"}
    return list(layout.header[1:]) if layout.header is not None and is_matrix else []


_SEPARATORS = "-_. "


def read_two_files(result: Recognized, *, unit: ScoreUnit | None = None) -> Input:
    """Read the scores of targets and of non-targets from two files, with labels.

    Trials with names keep them. Trials without names are identified by their rows, first targets, then non-targets.

    Parameters
    ----------
    result : Recognized
        An input of `deciban.io.source.TwoFiles`.
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.

    Returns
    -------
    Input
        First the targets, then the non-targets, in the order of their files.

    Raises
    ------
    FormatError, OSError
        If a file cannot be read, or the files contain different tables.
    KeyMismatchError
        If a file contains contradicting labels, or only one of them has names of trials.
    """
    names, sides = result.path, result.sides
    if sides is None or not isinstance(names, TwoFiles):
        raise InputError(f"{errors.display_name(result.path)}: one input. Pass two, of targets and of non-targets.")
    tar, non = (read_input(one, need="scores", unit=unit) for one in sides)
    parts = [tar.contents, non.contents]
    lists = [one.systems[0].trials for one in parts]
    for part, is_target in zip(parts, (True, False), strict=True):
        _refuse_other_labels(part, is_target=is_target)
    if (lists[0].sides == ROW) != (lists[1].sides == ROW):
        nameless, named = sorted(lists, key=lambda trials: trials.sides != ROW)
        raise KeyMismatchError(
            f"{named.origin.name} contains names of trials, {nameless.origin.name} does not. Both files of a system "
            f"need names, or none; if the wrong columns were used, name the columns ({option(columns=...)})."
        )
    whole = joined(parts, errors.display_name(names), name_of_both(names))
    trials = whole.systems[0].trials
    truth = np.arange(len(trials)) < len(lists[0])
    shown = [errors.display_name(one) for one in (names.tar, names.non)]
    origin = replace(whole.origin, reading=" and ".join(dict.fromkeys(one.origin.reading for one in parts)))
    words = dict(zip(shown, (True, False), strict=True))
    return Input(replace(whole, origin=origin, key=Key(trials, truth), words=words), tar.format)


def name_of_both(files: TwoFiles) -> str:
    """Return the name of the system of two files: their common first words, else their folder, else both names.

    Examples
    --------
    >>> name_of_both(TwoFiles("lab/plda_tar.txt", "lab/plda_non.txt"))
    'plda'
    >>> name_of_both(TwoFiles("lab/same_log10.csv", "lab/different_log10.csv"))
    'lab'
    >>> name_of_both(TwoFiles("same.csv", "different.csv"))
    'same + different'
    """
    (folder, one), (other_folder, other) = (_folder_and_stem(path) for path in (files.tar, files.non))
    words, others = (re.split(f"([{_SEPARATORS}]+)", name) for name in (one, other))
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(words, others, strict=False))
    shared = "".join(word for word, _ in alike).strip(_SEPARATORS)
    if shared or folder != other_folder:
        return shared or f"{one} + {other}"
    return folder.rpartition("/")[2].strip(".") or f"{one} + {other}"


def _folder_and_stem(path: PathLike) -> tuple[str, str]:
    folder, _, name = errors.display_name(path).rpartition("/")
    return folder, formats.bare_name(name)


class UnpairedError(KeyMismatchError):
    """The trials of systems in two files each cannot be paired; each system can be evaluated separately."""


def require_as_many(counts: Mapping[str, tuple[int, int]]) -> None:
    """Raise if systems have different numbers of trials per class although trials are identified by their rows.

    Parameters
    ----------
    counts : mapping of str to (n_tar, n_non)
        By the names of the files.

    Raises
    ------
    UnpairedError
    """
    if len(set(counts.values())) > 1:
        (name, (n_tar, n_non)), *others = counts.items()
        other, (m_tar, m_non) = next(pair for pair in others if pair[1] != (n_tar, n_non))
        raise UnpairedError(
            f"{other} has {counted(m_tar, 'target')} and {counted(m_non, 'non-target')}, {name} {n_tar:,} and "
            f"{n_non:,}. Their trials have no names and are matched by row, so all systems must have equal numbers of "
            "trials. Name one system at a time, or give the trials names; deciban eval evaluates each system on its "
            "own trials."
        )


def _refuse_other_labels(contents: formats.Contents, *, is_target: bool) -> None:
    """Raise if a file of targets contains labels of non-targets, or the reverse."""
    if contents.key is None:
        return
    rows = np.flatnonzero(contents.key.is_target != is_target)
    if len(rows):
        where = contents.key.trials.origin.where(int(rows[0]))
        more = f" ({len(rows):,} of {len(contents.key):,} trials)"
        raise KeyMismatchError(f"{where}: {other_file(more, is_target=is_target)}.")


Table = TypeVar("Table", Index, Key, ClassScores, ClassKey, Quality, SegmentQuality, IdMap)


def read_scores(
    path: Readable,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
    log10: bool = False,
    lr: bool = False,
    negate: bool = False,
) -> Scores:
    """Read the scores of one system from a file of any known format.

    Parameters
    ----------
    path : path or open file
        A text table (white space, commas or tabs between the columns, with or without a header; lines that begin with
        ``#`` or ``;;`` are skipped), HDF5, MATLAB, Parquet, Arrow or NumPy file, also compressed with gzip, bzip2 or
        zstd; ``-`` is standard input. An open file, of bytes or of text, is read to its end. A folder of Parquet files,
        or a pattern such as ``part-*.txt``, is read as one.
    format : str, optional
        A name from the documentation of formats: ``kaldi``, ``nist-sre``, ``bosaris-hdf5``, ``table``, ... By default,
        the contents decide; ``trials.origin.reading`` contains the assumptions.
    columns : str, sequence or mapping, optional
        The roles of the columns, in order (``"enroll,test,score"``, ``-`` to ignore a column) or by header name or
        number (``"trial=utt,score=llr"``). The roles are enroll, test, side, trial, score, label, class.
    labels : mapping, optional
        Words for ``target`` and ``nontarget`` if the file has labels; ``|`` separates several words.
    name : str, optional
        Name of the system in tables and legends; by default the file name without its endings.
    log10 : bool
        True if the scores are common logarithms of likelihood ratios. They are kept, and multiplied by ln 10 wherever
        natural logarithms are needed.
    lr : bool
        True if the scores are likelihood ratios, not logarithms. Their natural logarithms are taken at once; 0 becomes
        -inf. The column names ``lr`` and ``likelihood_ratio`` declare this, too.
    negate : bool
        True if lower scores favour targets, as distances do: the signs of all scores are changed.

    Returns
    -------
    Scores

    Raises
    ------
    FormatError
        If the file does not follow its format, or is ambiguous; the message contains file and line.
    InputError
        If an argument is invalid.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sysA.txt"
    >>> _ = path.write_text("ann x 1.5\\nann y -inf\\n")
    >>> scores = read_scores(path)
    >>> scores.name, scores.score, scores.trials.origin.reading
    ('sysA', array([ 1.5, -inf]), "kaldi 'enroll test score'")
    """
    result = read_contents(
        path, need="scores", format=format, columns=columns, labels=labels, name=name, log10=log10, lr=lr
    ).scores
    return result.negated() if negate else result


def read_key(
    path: Readable,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> Key:
    """Read the trials and their labels from a file of any known format, for example a score file with labels.

    Parameters
    ----------
    path, format, columns, labels
        See `deciban.read_scores`. An unknown label word is an error.

    Returns
    -------
    Key
        Other columns (gender, channel, ...) are in ``trials.conditions``.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "key.txt"
    >>> _ = path.write_text("ann x target\\nann y nontarget\\n")
    >>> read_key(path).is_target
    array([ True, False])
    """
    return _only(path, Key, format=format, columns=columns, labels=labels)


def read_index(path: Readable, *, format: str | None = None, columns: Columns | None = None) -> Index:
    """Read the trials from a file of any known format, for example a key or a score file.

    Parameters
    ----------
    path, format, columns
        See `deciban.read_scores`.

    Returns
    -------
    Index

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trials.txt"
    >>> _ = path.write_text("ann x\\nann y\\n")
    >>> read_index(path).trials.name_of(1)
    '(ann, y)'
    """
    return _only(path, Index, format=format, columns=columns)


def read_class_scores(path: Readable, *, format: str | None = None, columns: Columns | None = None) -> ClassScores:
    """Read class scores of segments: a column of names and one column of numbers per class, or a matrix.

    Parameters
    ----------
    path, format, columns
        See `deciban.read_scores`.

    Returns
    -------
    ClassScores

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("trial,eng,fra\\nseg1,2.25,-1.5\\nseg2,-0.5,0.75\\n")
    >>> read_class_scores(path).classes
    ('eng', 'fra')
    """
    return _only(path, ClassScores, format=format, columns=columns)


def read_class_key(path: Readable, *, format: str | None = None, columns: Columns | None = None) -> ClassKey:
    """Read the true class of each segment.

    Parameters
    ----------
    path, format, columns
        See `deciban.read_scores`.

    Returns
    -------
    ClassKey

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "key.csv"
    >>> _ = path.write_text("trial,class\\nseg1,eng\\nseg2,fra\\n")
    >>> key = read_class_key(path)
    >>> [key.classes[at] for at in key.label]
    ['eng', 'fra']
    """
    return _only(path, ClassKey, format=format, columns=columns)


def read_quality(path: Readable, *, format: str | None = None, columns: Columns | None = None) -> Quality:
    """Read quality measures of both sides of trials, from HDF5 or MATLAB files.

    Parameters
    ----------
    path, format, columns
        See `deciban.read_scores`.

    Returns
    -------
    Quality

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.io import write
    >>> from deciban.trials import Quality, SegmentQuality
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "quality.h5"
    >>> _ = write(Quality(SegmentQuality.of(["ann"], [0.5]), SegmentQuality.of(["x"], [20.0])), path)
    >>> read_quality(path).test.values
    array([[20.]])
    """
    return _only(path, Quality, format=format, columns=columns)


def read_segment_quality(
    path: Readable, *, format: str | None = None, columns: Columns | None = None
) -> SegmentQuality:
    """Read quality measures of segments; text is read as ``bosaris-quality``.

    Parameters
    ----------
    path, format, columns
        See `deciban.read_scores`.

    Returns
    -------
    SegmentQuality

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "quality.txt"
    >>> _ = path.write_text("2\\nx 0.75 20.5\\ny 0.5 13.25\\n")
    >>> read_segment_quality(path).values
    array([[ 0.75, 20.5 ],
           [ 0.5 , 13.25]])
    """
    return _only(path, SegmentQuality, format=format, columns=columns)


def read_id_map(path: Readable, *, format: str | None = None, columns: Columns | None = None) -> IdMap:
    """Read a map of names to other names; text with two columns is read as ``bosaris-idmap``.

    Parameters
    ----------
    path, format, columns
        See `deciban.read_scores`.

    Returns
    -------
    IdMap

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "models.map"
    >>> _ = path.write_text("model1 ann\\nmodel2 bob\\n")
    >>> read_id_map(path).right.to_pylist()
    ['ann', 'bob']
    """
    return _only(path, IdMap, format=format, columns=columns)


def _only(path: Readable, table: type[Table], **options: Any) -> Table:
    """Return the table of one kind of an input."""
    kind = formats.KIND_OF[table]
    result: Table = getattr(read_contents(path, need=kind, **options), formats.field_of(kind))
    return result


def is_id_map_file(ids: Any) -> bool:
    """Return True for the name of a file, False for rules.

    >>> is_id_map_file("map.csv"), is_id_map_file("basename"), is_id_map_file(None)
    (True, False, False)
    """
    return isinstance(ids, str | os.PathLike) and rules_in(ids) is None


def read_renaming(ids: Any) -> Renaming | None:
    """Return the rules for comparing names of trials, from an argument or a file.

    Parameters
    ----------
    ids : str, path, sequence of str, or IdMap, optional
        As in `deciban.align`; or the file of an id map, with names of the scores on the left and names of the key on
        the right.

    Returns
    -------
    Renaming or None
        None if names are compared without changes.

    Raises
    ------
    InputError
        If it is neither a rule nor an existing file.
    FormatError, OSError
        If the file cannot be read.
        If the file cannot be read.

    Examples
    --------
    >>> read_renaming("basename").rules
    ('basename',)
    """
    if not is_id_map_file(ids):
        return Renaming.of(ids)
    errors.require_file_name(ids)
    if str(ids) != "-" and not Path(ids).exists():
        raise InputError(
            f"ids: {errors.display_name(ids)!r} is neither {', '.join(RULES)} (or several of these separated by "
            "commas), nor the file of an id map."
        )
    return Renaming(errors.display_name(ids), id_map=read_id_map(ids))
