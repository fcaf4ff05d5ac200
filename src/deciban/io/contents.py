"""What one input holds, whatever format it is in: the common language of all readers and writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from deciban.errors import FormatError, InputError
from deciban.trials import ClassKey, ClassScores, IdMap, Index, Key, Origin, Quality, Scores, SegmentQuality, TrialTable
from deciban.trials.frames.to_frames import check_same_trials

ContentKind: TypeAlias = Literal[
    "index", "key", "scores", "class-scores", "class-key", "quality", "segment-quality", "id-map"
]
Item: TypeAlias = Index | Key | Scores | ClassScores | ClassKey | Quality | SegmentQuality | IdMap

KIND_OF: dict[type, ContentKind] = {
    Index: "index",
    Key: "key",
    Scores: "scores",
    ClassScores: "class-scores",
    ClassKey: "class-key",
    Quality: "quality",
    SegmentQuality: "segment-quality",
    IdMap: "id-map",
}

_RICHEST_FIRST: tuple[ContentKind, ...] = (
    *("scores", "key", "class-scores", "class-key", "quality", "segment-quality", "id-map", "index"),
)


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
    notes : tuple of str
        What a user should be told about this input.
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
    notes: tuple[str, ...] = ()

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
        given = _of_one_list([item, *more])
        fields: dict[str, Any] = {}
        for one in given:
            kind = _kind_of(one)
            if kind != "scores" and field_of(kind) in fields:
                raise InputError(f"there are two tables that are {kind}, and room for one. Write two files.")
            fields[field_of(kind)] = (*fields.get("systems", ()), one) if kind == "scores" else one
        trials = next((one.trials for one in given if isinstance(one, TrialTable)), None)
        if trials is not None:
            fields.setdefault("index", Index(trials))
        return cls(origin=Origin("data") if trials is None else trials.origin, **fields)

    @property
    def kinds(self) -> tuple[ContentKind, ...]:
        """What is here, richest first."""
        return tuple(kind for kind in _RICHEST_FIRST if getattr(self, field_of(kind)) not in (None, ()))

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
        names = [system.name for system in self.systems]
        raise FormatError(
            f"{self.origin.name}: holds the scores of {len(names)} systems: {', '.join(names)}. Choose one: "
            f"columns='score={names[0]},...' (--columns)."
        )

    @property
    def label_counts(self) -> str:
        """How many targets and non-targets there are, and by which words."""
        if self.key is None:
            return "no labels"
        by_side = {side: sorted(word for word, means in self.words.items() if means == side) for side in (True, False)}
        if not self.words or by_side == {True: ["target"], False: ["nontarget"]}:
            return f"{self.key.n_tar:,} target · {self.key.n_non:,} non-target"
        target, nontarget = (" (" + ", ".join(by_side[side]) + ")" for side in (True, False))
        return f"{self.key.n_tar:,} target{target} · {self.key.n_non:,} non-target{nontarget}".replace(" ()", "")


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


def _kind_of(item: object) -> ContentKind:
    kind = KIND_OF.get(type(item))
    if kind is None:
        accepted = ", ".join(one.__name__ for one in KIND_OF)
        raise InputError(f"a {type(item).__name__} is no table that can be written. Expected one of {accepted}.")
    return kind


def _of_one_list(items: Sequence[Item]) -> list[Item]:
    """The same tables, with the conditions of all; refused if they do not speak of the same trials."""
    for one in items:
        _kind_of(one)
    tables = [one for one in items if isinstance(one, TrialTable)]
    conditions: dict[str, pa.Array] = {}
    for table in tables:
        check_same_trials(tables[0].trials, table.trials)
        for name, values in table.trials.conditions.items():
            known = conditions.setdefault(name, values)
            if known is not values and not known.equals(values):
                raise InputError(
                    f"{table.trials.origin.name}: condition {name!r} has other values than in another table of the "
                    "same trials. Leave one of the two out."
                )

    def complete(item: Item) -> Item:
        if not isinstance(item, TrialTable) or item.trials.conditions.keys() == conditions.keys():
            return item
        return replace(item, trials=replace(item.trials, conditions=conditions))

    return [complete(one) for one in items]


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
