"""Several files that are one input: their tables one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deciban.errors import FormatError
from deciban.io.contents import Contents
from deciban.trials import Origin, Scores
from deciban.trials.joining.append import concatenate

_TABLES = ("index", "key", "class_scores", "class_key", "segment_quality", "id_map")


def joined(parts: Sequence[Contents], name: str, system: str) -> Contents:
    """Put the contents of several files together; a trial that is in two of them is a matter of the join.

    Parameters
    ----------
    parts : sequence of Contents
    name : str
        What messages call all of them; rows are still found in the single files.
    system : str
        What to call the system, if there is one.

    Raises
    ------
    FormatError
        If they do not hold the same kinds of tables and the same systems, or hold quality of both sides.
    InputError
        As in `deciban.trials.joining.append.concatenate`.
    """
    _require_alike(parts)
    first = parts[0]
    if first.quality is not None:
        raise FormatError(f"{name}: quality of both sides cannot be put together from several files.")
    readings = dict.fromkeys(part.origin.reading for part in parts)
    origin = Origin(name, f"{len(parts)} files, {' or '.join(readings)}")
    tables = {field: _together([getattr(part, field) for part in parts], origin) for field in _TABLES}
    return replace(
        first,
        origin=origin,
        systems=_systems(parts, origin, system),
        words={word: means for part in parts for word, means in part.words.items()},
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        **tables,
    )


def _require_alike(parts: Sequence[Contents]) -> None:
    first, names = parts[0], _names(parts[0])
    for part in parts[1:]:
        theirs = _names(part)
        # Single systems are called by their files; several by their columns.
        if part.kinds != first.kinds or len(theirs) != len(names) or (len(names) > 1 and set(theirs) != set(names)):
            raise FormatError(
                f"{part.origin.name}: holds {_described(part)}, {first.origin.name} {_described(first)}. Files that "
                "are read as one must be alike."
            )


def _names(contents: Contents) -> list[str]:
    return [system.name for system in contents.systems]


def _described(contents: Contents) -> str:
    names = _names(contents)
    systems = f" of {', '.join(names)}" if len(names) > 1 else ""
    return " and ".join(contents.kinds).replace("scores", f"scores{systems}", 1)


def _systems(parts: Sequence[Contents], origin: Origin, system: str) -> tuple[Scores, ...]:
    names = _names(parts[0])
    if len(names) == 1:
        return (replace(_together([part.systems[0] for part in parts], origin), name=system),)
    by_name = [{one.name: one for one in part.systems} for part in parts]
    return tuple(_together([part[name] for part in by_name], origin) for name in names)


def _together(tables: Sequence[Any], origin: Origin) -> Any:
    """One table of several; None if there are none."""
    table: Any = None if tables[0] is None else concatenate(tables)
    if not hasattr(table, "trials"):  # quality measures and id maps are of names
        return table
    called = replace(table.trials.origin, name=origin.name, reading=origin.reading)
    return replace(table, trials=replace(table.trials, origin=called))
