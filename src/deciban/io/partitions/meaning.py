"""Options for reading tables, and the meaning of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from deciban._arrow import as_text, pc
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError, names_apart, option
from deciban.io.columns.columnar import Roles, kinds_of
from deciban.io.columns.headers import words_of_columns
from deciban.io.columns.values import RowTable, plain, settled
from deciban.io.formats import ContentKind, InputOptions
from deciban.io.partitions import layout
from deciban.io.partitions.units import EachTrial, SpeakerLookup, UnitsOf
from deciban.io.recognition import JoinOptions
from deciban.trials.joining import Renaming
from deciban.trials.joining.matching import check_policies
from deciban.trials.lists import PAIR
from deciban.types import KindName, ScoreUnit


def kind_of_tables(tables: Sequence[RowTable], key: RowTable | None, how: BatchReading) -> KindName:
    """Return the kind of scores in tables: two-class or multiclass.

    Raises
    ------
    InputError
        If both are possible.
    """
    if how.kind is not None or how.classes is not None:
        return how.kind or "classes"
    held = [one for one in kinds_of(tables[0], how.options()) if one in ("scores", "class-scores")]
    if len(held) == 1:
        return "classes" if held == ["class-scores"] else "two-class"
    messages = kinds_of(tables[0] if key is None else key, how.options(of_key=key is not None))
    truth = [one for one in messages if one in ("key", "class-key")]
    if len(truth) == 1 or not held:
        return "classes" if truth == ["class-key"] else "two-class"
    raise InputError(
        f"{tables[0].name}: could be the scores of several systems for two classes, or of one system for several "
        f"classes. Use {option(kind='two-class')} or {option(kind='classes')}, or name classes or a column."
    )


def truth_in(roles: Roles, classes: Sequence[str], how: BatchReading, who: SpeakerLookup | None) -> layout.Truth:
    """Return the truth in a table.

    Parameters
    ----------
    roles : Roles
        Roles of the key, or of the only table.
    classes : sequence of str
        Classes of multiclass scores; empty for two classes.
    how : BatchReading
    who : SpeakerLookup, optional

    Raises
    ------
    FormatError, InputError
        If there is no truth.
    """
    name = roles.table.name
    if who is not None:
        sides = roles.sides
        if classes or tuple(sides) != ("enroll", "test"):
            raise InputError(
                f"speakers: trials of {name} do not have names on two sides (enroll and test), so speakers cannot be "
                f"compared. Name these columns ({option(columns='enroll=COLUMN,test=COLUMN')}), or no speakers."
            )
        return layout.SpeakersAgree((sides["enroll"], sides["test"]), who)
    if classes:
        column = roles.column("class")
        if column is None:
            raise InputError(
                f"key: none given, and {name} does not contain the classes of its segments. Pass a table that does "
                f"({option(key=...)}), or name its column ({option(columns='class=COLUMN')})."
            )
        in_one_table = len(set(roles.scores) & set(classes)) == len(classes)
        return layout.ClassColumn((column,), _places(roles, column, classes, how, in_order=in_one_table))
    if roles.pair is not None and roles.table.target is None:
        return layout.EqualColumns(roles.pair)
    labels = labels_in(roles, how)
    if labels is None:
        raise InputError(
            f"key: none given, and {name} contains no labels; the columns are "
            f"{', '.join(roles.table.schema.names)}. Pass a table that does ({option(key=...)}), name its "
            f"column ({option(columns='label=COLUMN')}), or name the speakers ({option(speakers=...)})."
        )
    return labels


def labels_in(roles: Roles, how: BatchReading) -> layout.LabelColumn | layout.TruthColumn | None:
    """Return the labels of a table, from a column or from two files of targets and of non-targets, or None."""
    column, target = roles.column("label"), roles.table.target
    vocabulary = Vocabulary.of(None if roles.table.is_described else how.labels)
    label = None if column is None else layout.LabelColumn((column,), settled(vocabulary, column, roles.table.rows))
    return label if target is None else layout.TruthColumn((target, *(() if label is None else label.columns)), label)


def _places(roles: Roles, column: str, classes: Sequence[str], how: BatchReading, *, in_order: bool) -> dict[str, int]:
    """Return the index of each class among the scores; numbers in a key are indices of the classes that were named."""
    places = words_of_columns(classes, in_order=in_order and how.classes is None)
    numbered = pa.types.is_integer(roles.table.schema.field(column).type)
    if not numbered or any(name.isdecimal() for name in places):
        return places
    if how.classes is None:
        raise InputError(
            f"{roles.table.name} numbers its classes, the scores name them: {', '.join(classes)}. Name the classes in "
            f"the order of the numbers ({option(classes=['NAME', 'NAME', '...'])})."
        )
    return {str(number): places[name] for number, name in enumerate(how.classes)}


def units_in(roles: Roles, how: BatchReading) -> UnitsOf | EachTrial | None:
    """Return the units that a user named; None if there are none and none are required.

    Raises
    ------
    InputError, FormatError, OSError
        If they do not exist.
    """
    if how.units is None:
        return None
    if how.units == "trials":
        return EachTrial(tuple(roles.sides.values()))
    try:
        columns = [*roles.conditions.values()]
        return UnitsOf.named(list(how.units), roles.sides, columns, roles.table.name, apart=how.units_apart)
    except InputError:
        if how.units_required:
            raise
        return None


def groups_in(roles: Roles, how: BatchReading) -> tuple[str, ...] | None:
    """Return the columns by whose names trials are held out together; empty if each trial is held out alone.

    Raises
    ------
    InputError
        If a column does not exist.
    """
    if how.groups is None:
        return None
    if not how.groups:
        return tuple(roles.sides[side] for side in PAIR) if all(side in roles.sides for side in PAIR) else ()
    known = splitting(roles)
    for name in how.groups:
        if name not in known:
            raise InputError(
                f"{roles.table.name}: no column {name!r} contains the groups for cross-validation; the columns are "
                f"{', '.join(dict.fromkeys(known.values())) or 'none'}."
            )
    return tuple(known[name] for name in how.groups)


def splitting(roles: Roles) -> dict[str, str]:
    """Return all columns that can split trials, under each of their names: columns of the key, and both sides."""
    return roles.conditions | {name: name for name in roles.sides.values()} | dict(roles.sides)


def conditions_in(roles: Roles, how: BatchReading) -> dict[str, tuple[str, ...]]:
    """Return the values of columns that select trials.

    Raises
    ------
    InputError
        If a column does not exist, or no trial has a value.
    """
    known = roles.conditions | {name: name for name, role in roles.by_column.items() if role == "class"}
    for name in how.values:
        if name not in known:
            raise InputError(
                f"{roles.table.name}: no condition {name!r}; its columns of conditions: {', '.join(known) or 'none'}."
            )
    entries = {known[name]: values for name, values in how.values.items()}
    for column, values in entries.items():
        left, seen = list(values), dict[str, None]()
        for partition in roles.table.rows:  # read until all values were found
            if not left:
                break
            own = plain(partition.table([column]).column(column))
            left = [value for value in left if not layout.rows_with(own, [value]).any()]
            seen |= dict.fromkeys(as_text(pc.unique(own)).drop_null().to_pylist()[:20])
        if left:
            shown = ", ".join([*seen][:20])
            raise InputError(f"{roles.table.name}: no trial has {column} = {left[0]!r}; the values are {shown}.")
    return entries


def classes_in(roles: Roles, how: BatchReading) -> tuple[str, ...]:
    """Return the classes of scores, in the order of their columns or of the option.

    Raises
    ------
    InputError
        If there are fewer than two, or a class has no column.
    """
    there = roles.scores
    if how.classes is None:
        if len(there) < 2:
            raise FormatError(f"{roles.table.name}: has {len(there)} columns of scores. Multiclass needs several.")
        return there
    lacking = [name for name in how.classes if name not in there]
    if lacking:
        raise InputError(
            f"classes: {roles.table.name} has no scores for {', '.join(map(repr, lacking[:5]))}, only for "
            f"{', '.join(there)}."
        )
    return tuple(how.classes)


def weights_in(roles: Roles, how: BatchReading) -> str | None:
    """Return the column of weights that a user named; None if there is none and none is required.

    Raises
    ------
    InputError
        If it does not exist.
    """
    if how.weights is not None and how.weights not in roles.table.schema.names:
        if not how.weights_required:
            return None
        raise InputError(
            f"{roles.table.name}: no column {how.weights!r} contains the weights of trials; the columns are "
            f"{', '.join(roles.table.schema.names)}."
        )
    return how.weights


def systems_in(tables: Sequence[Roles], *, is_classes: bool) -> list[str]:
    """Return distinct names of systems: for multiclass one per table, else one per column of scores."""
    items = [
        (one.table.system if is_classes or len(one.scores) == 1 else column, one.table.name)
        for one in tables
        for column in (one.scores[:1] if is_classes else one.scores)
    ]
    names = [name for name, _ in items]
    return names_apart([table if names.count(name) > 1 else name for name, table in items], ())


def layout_of(scores: Sequence[Roles], key: Roles, how: BatchReading, who: SpeakerLookup | None) -> layout.RowLayout:
    """Return the columns of a combined table, with their names in the single tables.

    Parameters
    ----------
    scores : sequence of Roles
    key : Roles
        The only element of ``scores``, or roles of another table.
    how : BatchReading
    who : SpeakerLookup, optional

    Raises
    ------
    FormatError, InputError
        If something is missing.
    """
    classes: tuple[str, ...] = ()
    kind = kind_of_tables([one.table for one in scores], key.table, how)
    if kind == "classes":
        classes = classes_in(scores[0], how)
        columns = tuple(classes_in(one, replace(how, classes=classes)) for one in scores)
    else:
        columns = tuple((name,) for one in scores for name in one.scores)
    if not columns:
        names = ", ".join(scores[0].table.schema.names)
        raise FormatError(f"{scores[0].table.name}: has no column of scores; the columns are {names}.")
    units, weights = units_in(key, how), weights_in(key, how)
    if how.units is None and who is None and (how.find_segments if classes else how.find_speakers):
        units = EachTrial(tuple(key.sides.values()))
    is_log10 = [] if classes else [unit == "log10" for one in scores for unit in one.units.values()]
    if len(set(is_log10)) > 1:
        raise InputError("scores of some systems are declared as common logarithms, others are not. Write one again.")
    return layout.RowLayout(
        scores=columns,
        classes=classes,
        truth=truth_in(key, classes, how, who),
        where=conditions_in(key, how),
        weights=weights,
        units=units,
        log10=any(is_log10),
        ratios=frozenset(name for one in scores for name in one.ratios),
        converted=how.converted,
        sides={side: name for side, name in key.sides.items() if side != "side"},
        groups=groups_in(key, how),
        conditions={name: column for name, column in splitting(key).items() if name in how.conditions},
        named=key.sides if how.find_speakers and "enroll" in key.sides and who is None and not classes else {},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReading(JoinOptions):
    """Options for reading tables and matrices in partitions; see also `deciban.workflows.Reading`.

    Attributes
    ----------
    kind : {"two-class", "classes"}, optional
        The kind of scores; by default, the tables decide.
    missing, duplicates
        As in `deciban.align`, for joins by name.
    format, columns, key_format, key_columns, labels : optional
    where : mapping of str to str or sequence of str, optional
        Values of columns of the key; only trials with these values are read.
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.
    by_order : bool
        True to match rows of scores and key by order. For a matrix without names, speakers are in order.
    weights : str, optional
        Column of the key with the weights of trials.
    weights_required, units_required : bool
        True to raise if a key lacks these columns; otherwise all weights are 1, or there are no units.
    classes : sequence of str, optional
        For multiclass: the columns of scores, in this order.
    units : "trials", or sequence of columns, paths and mappings, optional
        Names of units: one, or one for each side; empty for the names of the sides.
    units_apart : bool
        True if units of the two sides are unrelated.
    find_speakers : bool
        True to read the names of both sides and find speakers from them, if no units are named.
    find_segments : bool
        True to make each multiclass trial a unit, if no units are named.
    converted : function, optional
        Converts scores to natural logarithms, ``converted(scores, classes)``; can be pickled.
    ids : Renaming, optional
        Rules to compare names of trials.
    memory : int
        Bytes for a join by name.
    groups : sequence of str, optional
        Columns of the key, or sides, by whose names trials are held out together: one, or one for each side; empty for
        the names of both sides, if they exist.
    conditions : sequence of str
        Columns of the key, or sides, by which trials are split, if they exist.
    incomplete : bool
        True to keep all trials of the key, with NaN for missing scores of a system; ``missing`` is then ignored.
    """

    kind: KindName | None = None
    unit: ScoreUnit | None = None
    units_required: bool = True
    units: Sequence[Any] | None = None
    units_apart: bool = False
    find_speakers: bool = False
    find_segments: bool = False
    converted: layout.Converted | None = None
    ids: Renaming | None = None
    memory: int = 1_000_000_000
    groups: Sequence[str] | None = None
    conditions: Sequence[str] = ()
    incomplete: bool = False

    def __post_init__(self) -> None:
        """Check the policies, and the type of ``where``."""
        check_policies(self.missing, self.duplicates)
        if self.where is not None and not isinstance(self.where, Mapping):
            raise InputError(f"where: got {self.where!r}. Pass the values of each condition column.")

    def options(self, need: ContentKind | None = None, *, of_key: bool = False) -> InputOptions:
        """Return the options for readers."""
        columns = self.key_columns if of_key else self.columns
        vocabulary = Vocabulary.of(self.labels)
        return InputOptions(need=need, columns=columns, vocabulary=vocabulary, unit=self.unit, of_key=of_key)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of ``where``, always as tuples."""
        entries = self.where or {}
        return {name: (one,) if isinstance(one, str) else tuple(one) for name, one in entries.items()}
