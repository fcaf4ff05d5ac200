"""Contents of one input, the common language of all readers and writers, and errors of what is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import pyarrow as pa

from deciban.errors import DecibanError, FormatError, InputError
from deciban.io.source import several_systems
from deciban.messages import Message
from deciban.trials import (
    ClassKey,
    ClassScores,
    IdMap,
    Index,
    Key,
    Origin,
    Quality,
    Scores,
    SegmentQuality,
    Trials,
    TrialTable,
)
from deciban.trials.frames import check_same_trials

ContentKind: TypeAlias = Literal[
    "index", "key", "scores", "class-scores", "class-key", "quality", "segment-quality", "id-map"
]
Item: TypeAlias = Index | Key | Scores | ClassScores | ClassKey | Quality | SegmentQuality | IdMap

KIND_OF: dict[type, ContentKind] = {
    Scores: "scores",
    Key: "key",
    ClassScores: "class-scores",
    ClassKey: "class-key",
    Quality: "quality",
    SegmentQuality: "segment-quality",
    IdMap: "id-map",
    Index: "index",
}
"""What tables are called, richest first."""


def field_of(kind: ContentKind) -> str:
    """The attribute of `Contents` that holds tables of a kind."""
    return "systems" if kind == "scores" else kind.replace("-", "_")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Contents:
    """What one input holds; what it does not hold is None or empty.

    Attributes
    ----------
    origin : Origin
        What messages call the input, and in ``reading`` how it was understood.
    index : Index or None
        The trials, whenever there are any.
    key : Key or None
    systems : tuple of Scores
        One for each score column, all on the trials of ``index``.
    class_scores : ClassScores or None
    class_key : ClassKey or None
    quality : Quality or None
    segment_quality : SegmentQuality or None
    id_map : IdMap or None
    words : mapping of str to bool
        The label words that occur, and whether each means target.
    notes : tuple of str or Message
        What a user should be told about this input.
    from_probabilities : bool
        Whether the scores are log-likelihood ratios already, of probabilities that the input held.
    """

    origin: Origin
    index: Index | None = None
    key: Key | None = None
    systems: tuple[Scores, ...] = ()
    class_scores: ClassScores | None = None
    class_key: ClassKey | None = None
    quality: Quality | None = None
    segment_quality: SegmentQuality | None = None
    id_map: IdMap | None = None
    words: Mapping[str, bool] = field(default_factory=dict)
    notes: tuple[str | Message, ...] = ()
    from_probabilities: bool = False

    @classmethod
    def of(cls, item: Item, *more: Item) -> Contents:
        """Put tables into one input, as a writer wants them: scores with their key, for example.

        Conditions that one of them has are those of all.

        Raises
        ------
        InputError
            If something is no table, there are two of one kind other than scores, or the trials are not the same in
            the same order.
        """
        fields: dict[str, Any] = {}
        conditions: dict[str, pa.Array] = {}
        trials: Trials | None = None
        for one in (item, *more):
            kind = KIND_OF.get(type(one))
            if kind is None:
                accepted = ", ".join(known.__name__ for known in get_args(Item))
                raise InputError(f"a {type(one).__name__} is no table that can be written. Expected one of {accepted}.")
            if kind != "scores" and field_of(kind) in fields:
                raise InputError(f"there are two tables that are {kind}, and room for one. Write two files.")
            fields[field_of(kind)] = (*fields.get("systems", ()), one) if kind == "scores" else one
            if isinstance(one, TrialTable):
                trials = one.trials if trials is None else trials
                check_same_trials(trials, one.trials)
                _add_conditions(conditions, one.trials)
        if trials is None:
            return cls(origin=Origin("data"), **fields)
        made = cls(origin=trials.origin, **({"index": Index(trials)} | fields))
        if all(table.trials.conditions.keys() == conditions.keys() for table in made.tables):
            return made
        return made.with_trials(lambda own: replace(own, conditions=conditions))

    @property
    def kinds(self) -> tuple[ContentKind, ...]:
        """What is here, richest first."""
        return tuple(kind for kind in KIND_OF.values() if getattr(self, field_of(kind)) not in (None, ()))

    @property
    def tables(self) -> tuple[TrialTable, ...]:
        """All tables of trials, the bare list of them last."""
        held = (*self.systems, self.key, self.class_scores, self.class_key, self.index)
        return tuple(table for table in held if table is not None)

    def with_trials(self, change: Callable[[Trials], Trials]) -> Contents:
        """Return the same tables with other trials, given a function from each list of trials to the new one."""
        made = {id(table.trials): change(table.trials) for table in self.tables}

        def changed(table: Any) -> Any:
            return None if table is None else replace(table, trials=made[id(table.trials)])

        held = {name: changed(getattr(self, name)) for name in ("index", "key", "class_scores", "class_key")}
        return replace(self, systems=tuple(map(changed, self.systems)), **held)

    @property
    def scores(self) -> Scores:
        """The scores, if there is exactly one system.

        Raises
        ------
        FormatError
            If there is none, or more than one.
        """
        if len(self.systems) == 1:
            return self.systems[0]
        if not self.systems:
            raise FormatError(f"{self.origin.name}: holds no scores. It was read as {self.origin.reading}.")
        raise several_systems(self.origin.name, [system.name for system in self.systems])

    @property
    def label_counts(self) -> str:
        """How many targets and non-targets there are, and by which words."""
        if self.key is None:
            return "no labels"
        return labels_in_words(self.words, self.key.n_tar, self.key.n_non)


def labels_in_words(words: Mapping[str, bool], n_tar: int, n_non: int) -> str:
    """How many targets and non-targets there are, and by which words.

    Examples
    --------
    >>> labels_in_words({"same": True, "other": False}, 2, 1000)
    '2 target (same) · 1,000 non-target (other)'
    """
    by_side = {side: sorted(word for word, means in words.items() if means == side) for side in (True, False)}
    if not words or by_side == {True: ["target"], False: ["nontarget"]}:
        return f"{n_tar:,} target · {n_non:,} non-target"
    target, nontarget = (" (" + ", ".join(by_side[side]) + ")" for side in (True, False))
    return f"{n_tar:,} target{target} · {n_non:,} non-target{nontarget}".replace(" ()", "")


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer really put into a file.

    Attributes
    ----------
    kinds : frozen set of kinds
    conditions : frozen set of str
        Names of the condition columns.
    reordered : bool
        Whether the trials stand in another order than they were given in.
    """

    kinds: frozenset[ContentKind]
    conditions: frozenset[str] = frozenset()
    reordered: bool = False


def _add_conditions(conditions: dict[str, pa.Array], trials: Trials) -> None:
    """Add the conditions of trials to others of the same trials; refused if they have other values there."""
    for name, values in trials.conditions.items():
        known = conditions.setdefault(name, values)
        if known is not values and not known.equals(values):
            raise InputError(
                f"{trials.origin.name}: condition {name!r} has other values than in another table of the same trials. "
                "Leave one of the two out."
            )


def require(contents: Contents, kinds: Sequence[ContentKind], format_name: str) -> None:
    """Refuse to write what a format has no room for.

    Raises
    ------
    FormatError
        If the contents are of none of these kinds.
    """
    if not set(kinds) & set(contents.kinds):
        raise FormatError(
            f"{format_name} holds {' or '.join(kinds)}, but {contents.origin.name} is {' and '.join(contents.kinds)}. "
            "Choose another format (--to)."
        )


class RowError(FormatError):
    """A fault of one row, before its place is known to the reader, who then raises an error of the kind."""

    def __init__(self, message: str, row: int | None, kind: type[DecibanError] = FormatError) -> None:
        super().__init__(message)
        self.row = row
        self.kind = kind


_OBJECT = re.compile(r"<[\w.]+ object at 0x[0-9a-fA-F]+>")
"""How Python shows what has no text: an address says nothing to anybody."""


@contextmanager
def only_format_errors(name: str, kind: str, where: Callable[[int], str] | None = None) -> Iterator[None]:
    """Turn every error inside the block into a `FormatError` that begins with the name of the file.

    Parameters
    ----------
    name : str
        What messages call the file.
    kind : str
        What the file should be, for messages.
    where : function, optional
        Names the place of a row; left out, it is the name and the row.

    Examples
    --------
    >>> with only_format_errors("dev.npy", "npy"):
    ...     raise KeyError("shape")
    Traceback (most recent call last):
    deciban.errors.FormatError: dev.npy: damaged, or not npy as it should be (KeyError: 'shape'). Write the file again.
    """
    try:
        yield
    except RowError as error:
        row = error.row
        place = name if row is None else f"{name}, row {row}" if where is None else where(row)
        raise FormatError(f"{place}: {error}.") from error
    except DecibanError as error:
        message = str(error)
        raise FormatError(message if message.startswith(name) else f"{name}: {message}") from error
    # Libraries for binary files raise whatever their code stumbles over; none of it is a fault of the caller.
    except Exception as error:
        words = _OBJECT.sub("what is no plain value", f"{type(error).__name__}: {error}")
        reason = " ".join(words.split())[:300]
        raise FormatError(
            f"{name}: damaged, or not {kind} as it should be ({reason}). Write the file again."
        ) from error
