"""By which columns of a key trials are split into conditions: what a user says, sorted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

from deciban._files import PathLike
from deciban.errors import InputError
from deciban.io.text.one_line import is_number

Columns: TypeAlias = str | Sequence[str]
"""Columns that are crossed, with commas between them; a sequence names several partitions, each by itself."""

_HOW = (
    "Name columns of the key, with commas between those that are crossed: gender,channel; with the borders of bins for "
    "numbers: duration:5,10,30; with a value whose trials count in every condition: attack+bonafide; or SIDE=FILE, "
    "whose second column says something of the names of a side"
)


@dataclass(frozen=True, slots=True)
class SplitColumn:
    """One column by whose values trials are split.

    Attributes
    ----------
    name : str
        What it is called, in the key or in results.
    borders : tuple of float
        Of bins, ascending, where it holds numbers; a border belongs to the bin above it.
    side, path : str
        Side of trials, and file of two columns, a name and what is said of it; empty for a column of the key.
    everywhere : str or None
        The value whose trials count in every condition, empty for those of which the key says nothing; None where there
        are none such.
    owner : str
        The class that alone has the value `everywhere`, if the data and not the user chose that value.
    """

    name: str
    borders: tuple[float, ...] = ()
    side: str = ""
    path: str = ""
    everywhere: str | None = None
    owner: str = ""

    @property
    def title(self) -> str:
        """What it is called where trials are split in several ways: with borders of bins, or what counts everywhere.

        Examples
        --------
        >>> SplitColumn("duration", (5.0, 10.0)).title, SplitColumn("attack", everywhere="bonafide").title
        ('duration:5,10', 'attack+bonafide')
        """
        shared = "" if self.everywhere is None else f"+{self.everywhere}"
        return f"{self.name}:{','.join(self._ends)}" if self.borders else f"{self.name}{shared}"

    @property
    def _ends(self) -> list[str]:
        return [f"{border:.15g}" for border in self.borders]

    @property
    def bins(self) -> tuple[str, ...]:
        """The bins in words, from the lowest.

        Examples
        --------
        >>> SplitColumn("duration", (5.0, 10.0)).bins
        ('duration < 5', '5 ≤ duration < 10', 'duration ≥ 10')
        """
        if not self.borders:
            return ()
        ends = self._ends
        inner = [f"{low} \N{LESS-THAN OR EQUAL TO} {self.name} < {high}" for low, high in itertools.pairwise(ends)]
        return (f"{self.name} < {ends[0]}", *inner, f"{self.name} \N{GREATER-THAN OR EQUAL TO} {ends[-1]}")


def split_columns(text: str, argument: str = "by") -> tuple[SplitColumn, ...]:
    """Columns that are crossed, as a user writes them.

    Parameters
    ----------
    text : str
    argument : str
        For messages.

    Raises
    ------
    InputError
        If nothing is named, a column twice, or borders do not ascend.

    Examples
    --------
    >>> [(one.name, one.borders) for one in split_columns("gender,duration:5,10")]
    [('gender', ()), ('duration', (5.0, 10.0))]
    """
    given: object = text
    if not isinstance(given, str):
        raise InputError(f"{argument}: got {given!r}. {_HOW}.")
    found, is_binned = list[tuple[str, list[str]]](), False
    for part in (one.strip() for one in text.split(",")):
        if is_binned and is_number(part):
            found[-1][1].append(part)
            continue
        name, colon, first = part.rpartition(":")
        is_binned = bool(colon) and is_number(first)
        found.append((name.strip(), [first]) if is_binned else (part, []))
    columns = tuple(_column(name, borders, text, argument) for name, borders in found)
    names = [one.name for one in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{argument}: {text!r} names {name!r} twice. Name every column once. {_HOW}.")
    return columns


def _column(name: str, borders: list[str], text: str, argument: str) -> SplitColumn:
    if not name or name.endswith(":"):
        raise InputError(
            f"{argument}: got {text!r}, which names a column that has no name or bins that have no borders. {_HOW}."
        )
    places = tuple(map(float, borders))
    if not all(map(math.isfinite, places)) or any(high <= low for low, high in itertools.pairwise(places)):
        raise InputError(f"{argument}: the borders {','.join(borders)} of {name!r} are not ascending finite numbers.")
    side, equals, path = name.partition("=")
    if equals and (not side or not path):
        raise InputError(f"{argument}: got {name!r}. Write SIDE=FILE. {_HOW}.")
    if equals:
        return SplitColumn(name, places, side, path)
    column, plus, everywhere = name.partition("+")
    if plus and (borders or not column):
        raise InputError(f"{argument}: got {text!r}. Write COLUMN+VALUE, without borders of bins. {_HOW}.")
    return SplitColumn(column, places, everywhere=everywhere if plus else None)


def require_apart(columns: Sequence[SplitColumn], argument: str) -> None:
    """Refuse trials that count in every condition where each trial should count in one.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_apart(split_columns("attack+bonafide"), "equalize")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    deciban.errors.InputError: equalize: trials of 'attack+bonafide' would count in several conditions, ...
    """
    for one in columns:
        if one.everywhere is not None:
            raise InputError(
                f"{argument}: trials of {one.title!r} would count in several conditions, with several weights. "
                f"Name the column alone: {one.name}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Into which conditions trials are split.

    Attributes
    ----------
    by : str or sequence of str, optional
        Columns of the key: every combination of their values is a condition with all figures of its own.
        ``"gender,channel"`` crosses two columns, ``["gender", "channel"]`` takes each by itself; ``"duration:5,10,30"``
        makes bins of numbers; ``"enroll=spk2age"`` looks up the names of a side in a file of two columns.
    equalize : str or sequence of str, optional
        Columns in the same words: figures in which every combination of their values counts alike.

    Raises
    ------
    InputError
        If this is nothing that could name columns.

    Examples
    --------
    >>> [[one.name for one in columns] for columns in Split(by=["gender,channel", "gender"]).partitions]
    [['gender', 'channel'], ['gender']]
    """

    by: Columns | None = None
    equalize: Columns | None = None

    def __post_init__(self) -> None:
        """Sort what was said, which refuses what names nothing."""
        _ = self.partitions
        for columns in self.equalized:
            require_apart(columns, "equalize")

    @property
    def partitions(self) -> tuple[tuple[SplitColumn, ...], ...]:
        """Columns of each partition."""
        return _sorted(self.by, "by")

    @property
    def equalized(self) -> tuple[tuple[SplitColumn, ...], ...]:
        """Columns of each partition whose conditions count alike."""
        return _sorted(self.equalize, "equalize")

    @property
    def is_asked(self) -> bool:
        """Whether anything was said."""
        return bool(self.partitions or self.equalized)

    @property
    def files(self) -> list[PathLike]:
        """What is read besides scores and key."""
        return [one.path for columns in (*self.partitions, *self.equalized) for one in columns if one.path]

    def refuse(self, what: str, way_out: str = "Leave it out.") -> None:
        """Refuse conditions where nothing is made of them.

        Raises
        ------
        InputError

        Examples
        --------
        >>> Split(by="gender").refuse("a plan")
        Traceback (most recent call last):
        deciban.errors.InputError: by: a plan is of all trials together. Leave it out.
        """
        said = [one.name for one in fields(self) if getattr(self, one.name)]
        if said:
            raise InputError(f"{', '.join(said)}: {what} is of all trials together. {way_out}")


def _sorted(given: Columns | None, argument: str) -> tuple[tuple[SplitColumn, ...], ...]:
    if given is None:
        return ()
    texts = [given] if isinstance(given, str) or not isinstance(given, Sequence) else given
    return tuple(split_columns(one, argument) for one in texts)
