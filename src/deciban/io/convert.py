"""From one format to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from deciban.errors import FormatError
from deciban.io.columns.headers import Columns
from deciban.io.contents import Contents, Kind
from deciban.io.format import Format
from deciban.io.inputs import read_contents
from deciban.io.source import PathLike, display_name
from deciban.io.writing import write
from deciban.trials import Key, Scores, align


def convert(
    source: PathLike,
    target: PathLike,
    *,
    to: str | None = None,
    what: Kind | None = None,
    key: PathLike | None = None,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    log10: bool = False,
) -> list[str]:
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
        A key whose labels are written with the scores.
    format, columns, labels, log10 : optional
        See `deciban.read_scores`, for the source.

    Returns
    -------
    list of str
        What was read, and what was left out because the format has no room for it.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.read_scores`, `deciban.write` and `deciban.align`.
    """
    contents = read_contents(source, need=what, format=format, columns=columns, labels=labels, log10=log10, name=None)
    if what is not None:
        contents = _only(contents, what)
    if key is not None:
        contents = _with_key(contents, read_contents(key, need="key", labels=labels).key)
    written = write(contents, target, format=to)
    facts = [f"read  {display_name(source)}   {contents.origin.reading}   {_counts(contents)}"]
    facts += [f"note  {note}" for note in contents.notes]
    return facts + [f"left out  {one}: {written.name} has no room for it" for one in _left_out(contents, written)]


def _only(contents: Contents, what: Kind) -> Contents:
    """Only one of the things that an input holds, with the trials that it belongs to."""
    empty = Contents(origin=contents.origin, index=contents.index, notes=contents.notes)
    if what == "index":
        return empty
    field = "systems" if what == "scores" else what.replace("-", "_")
    return replace(empty, **{field: getattr(contents, field)})


def _with_key(contents: Contents, key: Key | None) -> Contents:
    """Scores with the labels of a key, in the order of the scores."""
    if not contents.systems or key is None:
        raise FormatError(f"{contents.origin.name}: holds no scores that labels could be given to.")
    trials = contents.systems[0].trials
    labels = align(Scores(key.trials, key.is_target.astype(float)), contents.systems[0].index).scores
    return replace(contents, key=Key(trials, labels.score == 1))


def _counts(contents: Contents) -> str:
    parts = [] if contents.index is None else [f"{len(contents.index):,} trials"]
    if contents.key is not None:
        parts.append(contents.label_counts)
    return ", ".join(parts) or ", ".join(contents.kinds)


def _left_out(contents: Contents, written: Format) -> list[str]:
    """What the format that was written has no room for."""
    kinds = [kind for kind in contents.kinds if kind not in written.writes and kind != "index"]
    conditions = [] if contents.index is None else list(contents.index.trials.conditions)
    return kinds + [f"condition {name}" for name in conditions if not written.has_room_for(name)]
