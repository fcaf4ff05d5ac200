"""Whether score files are about two classes or about many: by what they hold, never by a guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from deciban.errors import InputError
from deciban.io.columns.headers import Columns
from deciban.io.sniff import is_stream, readable_as
from deciban.io.source import PathLike, display_name

ScoresKind: TypeAlias = Literal["two-class", "classes"]


def kind_of_scores(
    scores: PathLike,
    key: PathLike | None = None,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    key_format: str | None = None,
    key_columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> ScoresKind:
    """Find out whether a score file is about two classes or about many; where it could be either, the key decides.

    Parameters
    ----------
    scores : path
        The first score file.
    key : path, optional
        Left out, the score file may hold the truth itself.
    format, columns, key_format, key_columns, labels
        As in `deciban.workflows.read_joined`.

    Returns
    -------
    {"two-class", "classes"}
        Standard input and pipes are about two classes, unless the key is about classes.

    Raises
    ------
    InputError
        If both are possible, by what the scores hold and by what the key holds.
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
    held = readable_as(scores, ("scores", "class-scores"), format=format, columns=columns, labels=labels)
    if len(held) == 1:
        return "classes" if held == ("class-scores",) else "two-class"
    told = (scores, format, columns) if key is None else (key, key_format, key_columns)
    truth = readable_as(told[0], ("key", "class-key"), format=told[1], columns=told[2], labels=labels)
    if len(truth) == 1:
        return "classes" if truth == ("class-key",) else "two-class"
    if not held or is_stream(scores):
        return "two-class"  # reading says what is the matter
    raise InputError(
        f"{display_name(scores)}: could be the scores of several systems for two classes, or of one system for several "
        "classes. Say which (--kind two-class, --kind classes), or name the classes (--classes)."
    )
