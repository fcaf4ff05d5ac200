"""Reading of one kind of table from a file of any known format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deciban.io.columns.headers import Columns
from deciban.io.contents import Kind
from deciban.io.inputs import read_contents
from deciban.io.source import PathLike
from deciban.trials import ClassKey, ClassScores, IdMap, Index, Key, Quality, Scores, SegmentQuality


def read_scores(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    name: str | None = None,
    log10: bool = False,
) -> Scores:
    """Read the scores of one system from a file of any known format.

    Parameters
    ----------
    path : path
        A text table (white space, commas or tabs between the columns, with or without a header; lines that begin with
        ``#`` or ``;;`` are skipped), HDF5, MATLAB, Parquet, Arrow or NumPy file; gzip, bzip2 and zstd are transparent,
        ``-`` is standard input. A folder of Parquet files, or a pattern such as ``part-*.txt``, is read as one.
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
    return read_contents(
        path, need="scores", format=format, columns=columns, labels=labels, name=name, log10=log10
    ).scores


def read_key(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> Key:
    """Read which trials are targets from a file of any known format; a score file that holds labels will do.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns, labels : optional
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
    key: Key = _only(path, "key", format=format, columns=columns, labels=labels)
    return key


def read_index(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
) -> Index:
    """Read which trials there are from a file of any known format; a key or a score file will do.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns : optional
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
    index: Index = _only(path, "index", format=format, columns=columns)
    return index


def read_class_scores(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
) -> ClassScores:
    """Read scores of segments for several classes: a name column and one column of numbers per class, or a matrix.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns : optional
        See `deciban.read_scores`.

    Returns
    -------
    ClassScores

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.
    """
    found: ClassScores = _only(path, "class-scores", format=format, columns=columns)
    return found


def read_class_key(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
) -> ClassKey:
    """Read which class every segment is of.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns : optional
        See `deciban.read_scores`.

    Returns
    -------
    ClassKey

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.
    """
    found: ClassKey = _only(path, "class-key", format=format, columns=columns)
    return found


def read_quality(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
) -> Quality:
    """Read quality measures of both sides of trials, from HDF5 or MATLAB files.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns : optional
        See `deciban.read_scores`.

    Returns
    -------
    Quality

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.
    """
    found: Quality = _only(path, "quality", format=format, columns=columns)
    return found


def read_segment_quality(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
) -> SegmentQuality:
    """Read quality measures of segments; a text file is taken for ``bosaris-quality``.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns : optional
        See `deciban.read_scores`.

    Returns
    -------
    SegmentQuality

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.
    """
    found: SegmentQuality = _only(path, "segment-quality", format=format, columns=columns)
    return found


def read_id_map(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
) -> IdMap:
    """Read which names stand for which; a text file of two columns is taken for ``bosaris-idmap``.

    Parameters
    ----------
    path : path
        See `deciban.read_scores`.
    format, columns : optional
        See `deciban.read_scores`.

    Returns
    -------
    IdMap

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`.
    """
    found: IdMap = _only(path, "id-map", format=format, columns=columns)
    return found


def _only(path: PathLike, kind: Kind, **options: Any) -> Any:
    """One kind of what an input holds; it is there, because it was asked for."""
    return getattr(read_contents(path, need=kind, **options), kind.replace("-", "_"))
