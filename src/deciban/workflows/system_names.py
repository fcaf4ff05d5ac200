"""Names that users give to systems: in tables, JSON, plots and pages, in place of those of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from deciban.errors import InputError


@dataclass(frozen=True, slots=True)
class Renamed:
    """What systems are called in their files, and what users call them, one by one.

    Attributes
    ----------
    before, after : tuple of str
    """

    before: tuple[str, ...]
    after: tuple[str, ...]

    def of_others(self, names: Sequence[str]) -> list[str]:
        """Names of the same systems on other trials: by what files call them if these say the same, else in order.

        Raises
        ------
        InputError
            If they are not as many, or only some are called as before.
        """
        if set(names) == set(self.before) and len(names) == len(self.before):
            return [self.after[self.before.index(name)] for name in names]
        known = [name for name in names if name in self.before]
        if known or len(names) != len(self.before):
            raise InputError(
                f"names: are of the systems {', '.join(self.before)}, and those of the other trials are "
                f"{', '.join(names)}. Give files of the same systems, all under the same names or none."
            )
        return list(self.after)


def known_by(names: Sequence[str], renaming: Renamed | None, trained: Sequence[str]) -> list[str]:
    """Names by which a model may know systems: those that they were given, or those of their files if it knows these.

    Examples
    --------
    >>> known_by(["A", "B"], Renamed(("a1", "b1"), ("A", "B")), ["b1", "a1"])
    ['a1', 'b1']
    """
    if renaming is None or not set(renaming.before) & set(trained):
        return list(names)
    before = dict(zip(renaming.after, renaming.before, strict=True))
    return [before.get(name, name) for name in names]


Names: TypeAlias = Sequence[str] | Mapping[str, str] | Renamed
"""Names of systems in their order, or by what their files call them."""


def renamed(systems: Sequence[Any], names: Names | None) -> tuple[list[Any], Renamed | None]:
    """Systems under the names that a user gave them.

    Parameters
    ----------
    systems : sequence of Scores or of ClassScores
        Under names of their own.
    names : sequence of str, or mapping from names of files to names, optional
        One for each system, in order; or of some of them, by what they are called without it.

    Returns
    -------
    list of Scores or of ClassScores
    Renamed or None
        What they were called before; None if nothing was said.

    Raises
    ------
    InputError
        If there are not as many names as systems, one is no name of a system, or two systems would have one name.

    Examples
    --------
    >>> from deciban.trials import Scores
    >>> systems = [Scores.of({"trial": ["a"]}, [0.0], name=name) for name in ("resnet_v3", "plda")]
    >>> [one.name for one in renamed(systems, {"resnet_v3": "A"})[0]]
    ['A', 'plda']
    """
    if names is None:
        return list(systems), None
    before = [system.name for system in systems]
    after = names.of_others(before) if isinstance(names, Renamed) else _names(before, names)
    if twice := sorted({name for name in after if after.count(name) > 1}):
        raise InputError(f"names: {', '.join(map(repr, twice))} is the name of two systems. Give each its own.")
    found = [replace(system, name=name) for system, name in zip(systems, after, strict=True)]
    return found, Renamed(tuple(before), tuple(after))


def _names(before: Sequence[str], names: Sequence[str] | Mapping[str, str]) -> list[str]:
    given: list[Any] = (
        [names] if isinstance(names, str) else [*(names.values() if isinstance(names, Mapping) else names)]
    )
    for name in given:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"names: got {name!r}. A name of a system is text that can be printed.")
    if isinstance(names, Mapping):
        unknown = [name for name in names if name not in before]
        if unknown:
            raise InputError(f"names: there is no system {unknown[0]!r}; there are {', '.join(before)}.")
        return [names.get(name, name) for name in before]
    if len(given) != len(before):
        raise InputError(
            f"names: {len(given)} for {len(before)} systems ({', '.join(before)}). Give each one, in this order, or "
            f"name some by what they are called now: {before[0]}=NAME."
        )
    return given
