"""Readers of one kind of table from a file of any known format, and of other names of trials."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from deciban._files import Readable, display_name, require_file_name
from deciban.errors import InputError
from deciban.io.columns.headers import Columns
from deciban.io.contents import KIND_OF, field_of
from deciban.io.reader import read_contents
from deciban.trials import ClassKey, ClassScores, IdMap, Index, Key, Quality, Scores, SegmentQuality
from deciban.trials.joining.renaming import RULES, Renaming, rules_in

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
        ``#`` or ``;;`` are skipped), HDF5, MATLAB, Parquet, Arrow or NumPy file; gzip, bzip2 and zstd are transparent,
        ``-`` is standard input. An open file, of bytes or of text, is read to its end. A folder of Parquet files, or a
        pattern such as ``part-*.txt``, is read as one.
    format : str, optional
        One of the names in the documentation of formats: ``kaldi``, ``nist-sre``, ``bosaris-hdf5``, ``table``, ... Left
        out, the contents decide; what was assumed is in ``trials.origin.reading``.
    columns : str, sequence or mapping, optional
        What the columns are, in order (``"enroll,test,score"``, ``-`` for one to ignore) or by header name or number
        (``"trial=utt,score=llr"``). The roles are enroll, test, side, trial, score, label, class.
    labels : mapping, optional
        Words for ``target`` and ``nontarget`` if the file has labels, ``|`` between several.
    name : str, optional
        What tables and legends call the system; the file name without its endings when left out.
    log10 : bool
        Whether the scores are common logarithms of likelihood ratios. They are kept as they are, and taken times ln 10
        wherever natural logarithms count.
    lr : bool
        Whether the scores are likelihood ratios, not logarithms. Their natural logarithms are taken at once; 0 becomes
        -inf. The column names ``lr`` and ``likelihood_ratio`` declare this, too.
    negate : bool
        Whether lower scores favour target, as distances do: the signs of all scores are changed.

    Returns
    -------
    Scores

    Raises
    ------
    FormatError
        With file and line, if the file does not hold what it should or could be read in more than one way.
    InputError
        If an argument makes no sense.
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
    found = read_contents(
        path, need="scores", format=format, columns=columns, labels=labels, name=name, log10=log10, lr=lr
    ).scores
    return found.negated() if negate else found


def read_key(
    path: Readable,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> Key:
    """Read which trials are targets from a file of any known format; a score file that holds labels will do.

    Parameters
    ----------
    path, format, columns, labels
        See `deciban.read_scores`. A label word that is not known is an error.

    Returns
    -------
    Key
        Columns that say more about the trials (gender, channel, ...) are in ``trials.conditions``.

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
    """Read which trials there are from a file of any known format; a key or a score file will do.

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
    """Read scores of segments for several classes: a name column and one column of numbers per class, or a matrix.

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
    """Read which class every segment is of.

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
    """Read quality measures of segments; a text file is taken for ``bosaris-quality``.

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
    """Read which names stand for which; a text file of two columns is taken for ``bosaris-idmap``.

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
    """One kind of what an input holds; it is there, because it was asked for."""
    kind = KIND_OF[table]
    found: Table = getattr(read_contents(path, need=kind, **options), field_of(kind))
    return found


def is_id_map_file(ids: Any) -> bool:
    """Whether this names a file, not rules.

    >>> is_id_map_file("map.csv"), is_id_map_file("basename"), is_id_map_file(None)
    (True, False, False)
    """
    return isinstance(ids, str | os.PathLike) and rules_in(ids) is None


def read_renaming(ids: Any) -> Renaming | None:
    """By which names trials are compared.

    Parameters
    ----------
    ids : str, path, sequence of str, or IdMap, optional
        As in `deciban.align`; or the file of an id map: what a name on the left, of the scores, is called on the right,
        in the key.

    Returns
    -------
    Renaming or None
        None if names are compared as they are.

    Raises
    ------
    InputError
        If there is neither such a rule nor such a file.
    FormatError, OSError
        If the file cannot be read.

    Examples
    --------
    >>> read_renaming("basename").rules
    ('basename',)
    """
    if not is_id_map_file(ids):
        return Renaming.of(ids)
    require_file_name(ids)
    if str(ids) != "-" and not Path(ids).exists():
        raise InputError(
            f"ids: {display_name(ids)!r} is none of {', '.join(RULES)} (or several of these with commas between them), "
            "and no file of an id map."
        )
    return Renaming(display_name(ids), id_map=read_id_map(ids))
