"""The two kinds of scores, two-class and multiclass, and their detection from the contents of files."""

from __future__ import annotations

from deciban.errors import InputError, display_name, in_lines, option
from deciban.io.formats import ContentKind
from deciban.io.recognition import Recognized, is_stream, readable_as, recognize
from deciban.types import PathLike
from deciban.workflows.kinds.base import AnyKey, AnyKind, AnyScores, Kind
from deciban.workflows.options import KindName, Options

__all__ = ["AnyKey", "AnyKind", "AnyScores", "Kind", "kind_called", "kind_of", "kind_of_scores"]


def kind_called(name: KindName) -> AnyKind:
    """Return the kind with a name."""
    if name == "two-class":
        from deciban.workflows.kinds.two_class import TWO_CLASS

        return TWO_CLASS
    from deciban.workflows.kinds.multiclass import MULTICLASS

    return MULTICLASS


def kind_of(scores: Recognized, key: Recognized | None, options: Options) -> AnyKind:
    """Return the kind from the options, or as detected from score file and key; see `kind_of_scores`.

    Raises
    ------
    InputError, OSError
    """
    if scores.sides is not None and (options.kind == "classes" or options.reading.classes is not None):
        raise InputError(
            f"{display_name(scores.path)}: two files, one of targets and one of non-targets, contain two-class scores. "
            f"Multiclass scores need a key: name it, or leave {option('kind', 'classes')} out."
        )
    if scores.sides is not None:
        return kind_called("two-class")
    if options.kind is None and options.reading.classes is not None:
        return kind_called("classes")
    if options.kind is None and options.reading.from_classes:
        return kind_called("two-class")
    return kind_called(options.kind or _shown(scores, key))


def kind_of_scores(scores: PathLike, key: PathLike | None = None, **reading: object) -> KindName:
    """Detect whether a score file is two-class or multiclass; if both are possible, the key decides.

    Parameters
    ----------
    scores : path
        The first score file.
    key : path, optional
        By default the score file can contain the truth.
    **reading
        ``format``, ``columns``, ``key_format``, ``key_columns``, ``labels``; see `deciban.workflows.Reading`.

    Returns
    -------
    {"two-class", "classes"}
        Standard input and pipes are not read: they are assumed to be two-class, unless the key is multiclass.

    Raises
    ------
    InputError
        If both kinds are possible for the scores and for the key.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("trial,eng,fra\\nseg1,2.25,-1.5\\nseg2,-0.5,0.75\\n")
    >>> kind_of_scores(path)
    'classes'
    """
    read = Options.of("kind_of_scores", reading).reading
    truth = None
    if key is not None:
        truth = recognize(key, format=read.key_format, columns=read.key_columns, labels=read.labels)
    if is_stream(scores):  # looking at a stream would consume it
        return "classes" if truth is not None and readable_as(truth, _TRUTHS) == ("class-key",) else "two-class"
    return _shown(recognize(scores, format=read.format, columns=read.columns, labels=read.labels), truth)


_TRUTHS: tuple[ContentKind, ...] = ("key", "class-key")


def _shown(scores: Recognized, key: Recognized | None) -> KindName:
    if key is not None and scores.files[0].source.kind == "NumPy" and readable_as(key, _TRUTHS) == ("key",):
        return "two-class"  # if this is a matrix, reading it asks for one of its columns
    held = readable_as(scores, ("scores", "class-scores"))
    if len(held) == 1:
        return "classes" if held == ("class-scores",) else "two-class"
    truth = readable_as(scores if key is None else key, _TRUTHS)
    if len(truth) == 1:
        return "classes" if truth == ("class-key",) else "two-class"
    if not held:
        return "two-class"  # reading the file raises an error with a hint
    ways = [option(kind="two-class"), option(kind="classes"), *scores.files[0].ways("scores")[:1]]
    raise InputError(
        f"{display_name(scores.path)}: can be two-class scores of several systems, or multiclass scores of one system. "
        f"Set the kind, name the classes ({option(classes=...)}), or choose a column:{in_lines(ways)}"
    )
