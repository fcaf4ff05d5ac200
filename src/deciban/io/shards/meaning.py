"""How a user says tables are to be read, and the meaning of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.columns.columnar import Roles, as_told, free_columns, kinds_of, rows_of
from deciban.io.columns.headers import CONDITION, Columns, words_of_columns
from deciban.io.columns.rows import RowTable
from deciban.io.columns.values import settled
from deciban.io.contents import ContentKind
from deciban.io.formats import Options
from deciban.io.shards.layout import (
    ClassColumn,
    Converted,
    EqualColumns,
    LabelColumn,
    OfTwoFiles,
    RowLayout,
    SpeakersAgree,
    Truth,
    require_values,
)
from deciban.io.shards.units import EachTrial, UnitsOf, WhoIsWho
from deciban.messages import names_apart
from deciban.trials.joining.matching import Duplicates, Missing, check_policies
from deciban.trials.joining.renaming import Renaming
from deciban.trials.lists import PAIR
from deciban.types import ScoreUnit

KindOfScores = Literal["two-class", "classes"]


def kind_of_tables(tables: Sequence[RowTable], key: RowTable | None, how: HowToRead) -> KindOfScores:
    """Whether tables are about two classes or about many, by what they hold.

    Raises
    ------
    InputError
        If they could be about either.
    """
    if how.kind is not None or how.classes is not None:
        return how.kind or "classes"
    held = [one for one in _kinds(tables[0], how.options()) if one in ("scores", "class-scores")]
    if len(held) == 1:
        return "classes" if held == ["class-scores"] else "two-class"
    told = _kinds(tables[0] if key is None else key, how.options(of_key=key is not None))
    truth = [one for one in told if one in ("key", "class-key")]
    if len(truth) == 1 or not held:
        return "classes" if truth == ["class-key"] else "two-class"
    raise InputError(
        f"{tables[0].name}: could be the scores of several systems for two classes, or of one system for several "
        "classes. Say which (--kind two-class, --kind classes), name the classes (--classes), or choose a column."
    )


def _kinds(table: RowTable, options: Options) -> tuple[ContentKind, ...]:
    free = free_columns(table)

    def sampled(column: str) -> list[list[str]]:
        return rows_of(table.rows[0].table([column]))

    return kinds_of(free, as_told(table, options), table.name, sampled if table.rows else None)


def truth_in(roles: Roles, classes: Sequence[str], how: HowToRead, who: WhoIsWho | None) -> Truth:
    """What in a table says the truth.

    Parameters
    ----------
    roles : Roles
        Of the key, or of the table that holds all.
    classes : sequence of str
        Of the scores, of many classes.
    how : HowToRead
    who : WhoIsWho, optional

    Raises
    ------
    FormatError, InputError
        If nothing does.
    """
    name = roles.table.name
    if who is not None:
        sides = roles.sides
        if classes or tuple(sides) != ("enroll", "test"):
            raise InputError(
                f"speakers: trials of {name} are not named on two sides (enroll and test), so that nobody can be the "
                "same speaker on both. Name these columns (--columns enroll=COLUMN,test=COLUMN), or leave --speakers "
                "out."
            )
        return SpeakersAgree((sides["enroll"], sides["test"]), who)
    if classes:
        column = roles.column("class")
        if column is None:
            raise InputError(
                f"key: none given, and {name} does not say of which class its segments are. Pass the table that does "
                "(--key), or name its column (--columns class=COLUMN)."
            )
        in_one_table = len(set(roles.scores) & set(classes)) == len(classes)
        return ClassColumn((column,), _places(roles, column, classes, how, in_order=in_one_table))
    if roles.pair is not None and roles.table.target is None:
        return EqualColumns(roles.pair)
    labels = labels_in(roles, how)
    if labels is None:
        raise InputError(
            f"key: none given, and {name} holds no labels; there are {', '.join(roles.table.schema.names)}. Pass the "
            "table that does (--key), name its column (--columns label=COLUMN), or say who is who (--speakers)."
        )
    return labels


def labels_in(roles: Roles, how: HowToRead) -> LabelColumn | OfTwoFiles | None:
    """The labels of a table: in a column, or by two files of targets and of non-targets; None if there are none."""
    column, target = roles.column("label"), roles.table.target
    vocabulary = Vocabulary.of(None if roles.table.told else how.labels)
    label = None if column is None else LabelColumn((column,), settled(vocabulary, column, roles.table.rows))
    return label if target is None else OfTwoFiles((target, *(() if label is None else label.columns)), label)


def _places(roles: Roles, column: str, classes: Sequence[str], how: HowToRead, *, in_order: bool) -> dict[str, int]:
    """The position of every class among the scores; classes that a key numbers are those that were named, in order."""
    places = words_of_columns(classes, in_order=in_order and how.classes is None)
    numbered = pa.types.is_integer(roles.table.schema.field(column).type)
    if not numbered or any(name.isdecimal() for name in places):
        return places
    if how.classes is None:
        raise InputError(
            f"{roles.table.name} numbers its classes, the scores name them: {', '.join(classes)}. Say which number is "
            "which class by naming them in the order of the numbers (--classes NAME,NAME,...)."
        )
    return {str(number): places[name] for number, name in enumerate(how.classes)}


def units_in(roles: Roles, how: HowToRead) -> UnitsOf | EachTrial | None:
    """Where the units stand that a user named; None if there are none, and need not be.

    Raises
    ------
    InputError, FormatError, OSError
        If there are none.
    """
    if how.units is None:
        return None
    if how.units == "trials":
        return EachTrial(tuple(roles.sides.values()))
    conditions = [name for name, role in roles.by_column.items() if role.startswith(CONDITION)]
    try:
        return UnitsOf.named(list(how.units), roles.sides, conditions, roles.table.name, apart=how.units_apart)
    except InputError:
        if how.units_required:
            raise
        return None


def groups_in(roles: Roles, how: HowToRead) -> tuple[str, ...] | None:
    """The columns by whose names trials are held out together; none where each stands for itself.

    Raises
    ------
    InputError
        If there is no such column.
    """
    if how.groups is None:
        return None
    if not how.groups:
        return tuple(roles.sides[side] for side in PAIR) if all(side in roles.sides for side in PAIR) else ()
    known = splitting(roles)
    for name in how.groups:
        if name not in known:
            raise InputError(
                f"{roles.table.name}: no column {name!r} says which trials to hold out together; there are "
                f"{', '.join(dict.fromkeys(known.values())) or 'none'}."
            )
    return tuple(known[name] for name in how.groups)


def splitting(roles: Roles) -> dict[str, str]:
    """Columns by which trials can be told apart, by whatever they are called: those of the key, and both sides."""
    known = {role.removeprefix(CONDITION): name for name, role in roles.by_column.items() if role.startswith(CONDITION)}
    return known | {name: name for name in roles.sides.values()} | dict(roles.sides)


def conditions_in(roles: Roles, how: HowToRead) -> dict[str, tuple[str, ...]]:
    """The values of columns by which trials are chosen, and that there are such.

    Raises
    ------
    InputError
        If there are none.
    """
    known = {role.removeprefix(CONDITION): name for name, role in roles.by_column.items() if role.startswith(CONDITION)}
    known |= {name: name for name, role in roles.by_column.items() if role == "class"}
    for name in how.values:
        if name not in known:
            raise InputError(f"{roles.table.name}: no condition {name!r}; there are {', '.join(known) or 'none'}.")
    found = {known[name]: values for name, values in how.values.items()}
    require_values(found, roles.table.rows, roles.table.schema.names, roles.table.name)
    return found


def classes_in(roles: Roles, how: HowToRead) -> tuple[str, ...]:
    """The classes that scores are of, in the order of their columns or that which a user gave.

    Raises
    ------
    InputError
        If there are fewer than two, or one has no column.
    """
    there = roles.scores
    if how.classes is None:
        if len(there) < 2:
            raise FormatError(f"{roles.table.name}: has {len(there)} columns of scores. Of many classes each has one.")
        return there
    lacking = [name for name in how.classes if name not in there]
    if lacking:
        raise InputError(
            f"classes: {roles.table.name} has no scores for {', '.join(map(repr, lacking[:5]))}; it has them for "
            f"{', '.join(there)}."
        )
    return tuple(how.classes)


def weights_in(roles: Roles, how: HowToRead) -> str | None:
    """The column of weights that a user named; None if there is none, and need not be.

    Raises
    ------
    InputError
        If there is none.
    """
    if how.weights is not None and how.weights not in roles.table.schema.names:
        if not how.weights_required:
            return None
        raise InputError(
            f"{roles.table.name}: no column {how.weights!r} says how much trials count; there are "
            f"{', '.join(roles.table.schema.names)}."
        )
    return how.weights


def systems_in(tables: Sequence[Roles], *, is_classes: bool) -> list[str]:
    """Names of systems, all different: of many classes one in each table, else one for each column of scores."""
    found = [
        (one.table.system if is_classes or len(one.scores) == 1 else column, one.table.name)
        for one in tables
        for column in (one.scores[:1] if is_classes else one.scores)
    ]
    names = [name for name, _ in found]
    return names_apart([table if names.count(name) > 1 else name for name, table in found], ())


def layout_of(scores: Sequence[Roles], key: Roles, how: HowToRead, who: WhoIsWho | None) -> RowLayout:
    """Where everything stands in one table whose columns have the names that they have in several.

    Parameters
    ----------
    scores : sequence of Roles
    key : Roles
        The same as the only one of scores, or of another table.
    how : HowToRead
    who : WhoIsWho, optional

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
        raise FormatError(f"{scores[0].table.name}: has no column of scores; there are {names}.")
    units, weights = units_in(key, how), weights_in(key, how)
    if how.units is None and who is None and (how.find_segments if classes else how.find_speakers):
        units = EachTrial(tuple(key.sides.values()))
    is_log10 = [] if classes else [unit == "log10" for one in scores for unit in one.units.values()]
    if len(set(is_log10)) > 1:
        raise InputError("scores of some systems are declared to be common logarithms, others not. Write one again.")
    return RowLayout(
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
class HowToRead:
    """How tables and matrices in pieces are read; the meaning of most is that of `deciban.workflows.Reading`.

    Attributes
    ----------
    kind : {"two-class", "classes"}, optional
        What the scores are about; left out, what the tables hold decides.
    missing, duplicates
        As in `deciban.align`, where trials are joined by name.
    format, columns, key_format, key_columns, labels : optional
    where : mapping of str to str or sequence of str, optional
        Values of columns of the key: only such trials are read.
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.
    by_order : bool
        Rows of scores and key belong together in their order. A matrix without names is told its speakers in order.
    weights : str, optional
        Column of the key that says how much trials count.
    weights_required, units_required : bool
        Whether a key that lacks these columns is refused; if not, its trials count alike, or have no units.
    classes : sequence of str, optional
        Many classes: which columns are scores, in this order.
    units : "trials", or sequence of columns, paths and mappings, optional
        What names the units: one, or one for each side; empty for the names of the sides.
    units_apart : bool
        Whether units of the two sides have nothing to do with each other.
    find_speakers : bool
        Whether names of both sides are kept, from which speakers are found, where nothing else names units.
    find_segments : bool
        Whether every trial of many classes is a unit that can be told from others, where nothing else names units.
    converted : function, optional
        Makes natural logarithms of scores, ``converted(scores, classes)``; can be pickled.
    ids : Renaming, optional
        By which other names trials are compared.
    memory : int
        Bytes that a join by name may take.
    groups : sequence of str, optional
        Columns of the key, or sides, by whose names trials are held out together: one, or one for each side; empty for
        the names of both sides, if there are such.
    conditions : sequence of str
        Columns of the key, or sides, by which trials are split, as far as there are such.
    incomplete : bool
        Whether all trials of the key stay, with NaN where a system of another table has no score; ``missing`` has no
        meaning then.
    """

    kind: Literal["two-class", "classes"] | None = None
    missing: Missing = "error"
    duplicates: Duplicates = "error"
    format: str | None = None
    columns: Columns | None = None
    key_format: str | None = None
    key_columns: Columns | None = None
    labels: Mapping[str, str] | None = None
    where: Mapping[str, str | Sequence[str]] | None = None
    unit: ScoreUnit | None = None
    by_order: bool = False
    weights: str | None = None
    weights_required: bool = True
    units_required: bool = True
    classes: Sequence[str] | None = None
    units: Sequence[Any] | None = None
    units_apart: bool = False
    find_speakers: bool = False
    find_segments: bool = False
    converted: Converted | None = None
    ids: Renaming | None = None
    memory: int = 1_000_000_000
    groups: Sequence[str] | None = None
    conditions: Sequence[str] = ()
    incomplete: bool = False

    def __post_init__(self) -> None:
        """Check the policies, and how values of conditions are written."""
        check_policies(self.missing, self.duplicates)
        if self.where is not None and not isinstance(self.where, Mapping):
            raise InputError(f"where: got {self.where!r}. Write the values of each condition column.")

    def options(self, need: ContentKind | None = None, *, of_key: bool = False) -> Options:
        """What readers are told."""
        columns = self.key_columns if of_key else self.columns
        vocabulary = Vocabulary.of(self.labels)
        return Options(need=need, columns=columns, vocabulary=vocabulary, unit=self.unit, of_key=of_key)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of ``where``, always several."""
        given = self.where or {}
        return {name: (one,) if isinstance(one, str) else tuple(one) for name, one in given.items()}
