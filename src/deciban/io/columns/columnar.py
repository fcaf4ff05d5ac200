"""Tables with typed columns (Parquet, Arrow, data frames): which columns are read, and what they mean.

The columns are those of text tables with a header (`deciban.io.columns.headers`): ``enroll`` and ``test`` (with
``side``) or ``trial``, or other common names of them; every ``score`` or ``llr`` column is a system; ``label`` holds
booleans, 1 and 0, or words; ``class`` the true class; the others are kept as conditions. Read as class scores, every
other column of numbers is a class. The schema metadata may have a key ``deciban`` with a JSON object, which decides
instead::

    {"roles": {"trial": "trial", "sysA": "score", "sysB": "score", "age": "=age"}, "log10": false}

``roles`` says of every column which of the above it is (``=NAME``: a condition), ``log10`` whether scores are common
logarithms, ``is_from_lr`` (true) that they are natural logarithms of likelihood ratios that an input held,
``class_scores`` (true) that the score columns are classes, and ``classes`` lists all classes of a class key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import (
    CONDITION,
    IDENTITY,
    IGNORED,
    MOST_SHOWN,
    ROLES,
    compared,
    could_hold,
    fits_label,
    identity_of,
    label_names_classes,
    named_roles,
    names_row,
    of_headers,
    parse_columns,
    roles_of,
    some_of,
    unit_in_words,
    with_classes_of_label,
    with_only_score,
    without_other_numbers,
)
from deciban.io.columns.rows import Rows, RowTable, place_in, places_in, refuse_equal_names, table_of_all
from deciban.io.columns.values import assemble, plain, refuse_missing, same_names, settled
from deciban.io.contents import ContentKind, Contents, RowError, Written, only_format_errors
from deciban.io.formats import Options
from deciban.trials import ClassKey, Origin
from deciban.trials.frames import as_table, column_of, description, is_text_or_bytes, of_strings, to_arrow
from deciban.types import ScoreUnit

READS: tuple[ContentKind, ...] = ("scores", "key", "index", "class-scores", "class-key")
"""What these formats hold, reading and writing."""

_HARMLESS = 1 << 25
"""Values that a file may hold whatever its size."""

_RATIO = 1000
"""Values, or characters of conditions, per byte of the file above that: equal values take next to no room."""


def check_size(n_rows: int, n_columns: int, size: int, name: str) -> None:
    """Refuse a file that promises more than it can mean.

    Raises
    ------
    FormatError
        If it promises more than 1000 values per byte, and more than 2**25 of them.
    """
    if n_rows < 0 or n_rows * max(n_columns, 1) > max(_HARMLESS, _RATIO * size):
        raise FormatError(
            f"{name}: promises {n_rows:,} rows of {n_columns} columns in {size:,} bytes. The file is damaged, or made "
            "to exhaust the memory. If it is right, write it again in parts."
        )


@dataclass(frozen=True, eq=False)
class Roles:
    """What the columns of one table mean.

    Attributes
    ----------
    table : RowTable
    by_column : mapping of str to str
    pair : pair of str, optional
        Columns whose equality is the label.
    units : mapping of str to unit
        The units that the columns of scores had in the input.
    ratios : frozenset of str
        The columns of likelihood ratios that are no logarithms yet.
    """

    table: RowTable
    by_column: Mapping[str, str]
    pair: tuple[str, str] | None
    units: Mapping[str, ScoreUnit]
    ratios: frozenset[str]

    @classmethod
    def of(cls, table: RowTable, options: Options) -> Roles:
        """Find the roles of all columns.

        Raises
        ------
        FormatError, InputError
            As in `schema_roles`.
        """
        refuse_equal_names(table.schema.names, table.name)
        free, options = free_columns(table), as_told(table, options)
        found = dict(zip(free.names, schema_roles(free, options, table.name), strict=True))
        found |= {name: CONDITION + name for name in table.partitions}
        described, units = description(table.schema), dict[str, ScoreUnit]()
        if options.need != "class-scores" and described.get("class_scores") is not True:
            by_name = declared_by_metadata(options, table.schema, table.name)
            units = {name: by_name.unit_of(name) for name, role in found.items() if role == "score"}
        ratios = frozenset(name for name, unit in units.items() if unit == "lr")
        if described.get("is_from_lr") is True:
            units = dict.fromkeys(units, "lr")
        return cls(table, found, compared_columns(options, table.schema.names, table.name), units, ratios)

    @property
    def scores(self) -> tuple[str, ...]:
        """Columns of scores."""
        return tuple(name for name, role in self.by_column.items() if role == "score")

    def with_classes(self, classes: Sequence[str] | None) -> Roles:
        """Return the roles where the user has named the classes: other columns of numbers are conditions."""
        if classes is None or not set(classes) < set(self.scores):
            return self
        others = {name: CONDITION + name for name in self.scores if name not in classes}
        return replace(self, by_column={**self.by_column, **others})

    def column(self, role: str) -> str | None:
        """The column of a role, if there is one."""
        return next((name for name, own in self.by_column.items() if own == role), None)

    @property
    def sides(self) -> dict[str, str]:
        """The columns that name trials, by side."""
        found = {side: name for side in IDENTITY if (name := self.column(side)) is not None}
        return found if identity_of(list(found)) else {}

    def columns_in_words(self, columns: Iterable[str]) -> str:
        """Describe some columns: the role of each, or that it is a condition."""
        label = "" if self.pair is None else f", target if {' is '.join(map(repr, self.pair))}"
        roles = {name: self.by_column[name] for name in columns}
        named = [f"{'condition' if role[0] == CONDITION else role}={name!r}" for name, role in roles.items()]
        shown = some_of(named, most=MOST_SHOWN)
        unit = unit_in_words(self.units.values())
        unit = "" if unit in self.table.reading else unit
        return f"{'' if self.table.told else ' ' + shown}{unit}{label}"  # what was parsed names its columns

    @property
    def words(self) -> str:
        """How the table was understood."""
        shown = [name for name, role in self.by_column.items() if role != IGNORED]
        return f"{self.table.reading}{self.columns_in_words(shown)}   {self.table.n_rows:,} rows"


def free_columns(table: RowTable) -> pa.Schema:
    """The columns of a table whose names decide what they are."""
    fields = [field for field in table.schema if field.name not in (*table.partitions, table.target)]
    return pa.schema(fields, metadata=table.schema.metadata)


def as_told(table: RowTable, options: Options) -> Options:
    """Without what was said of columns, if the table knows it."""
    if not table.told:
        return options
    is_declared = "roles" in description(table.schema)  # by the metadata of what was parsed before
    return replace(options, columns=None, unit=None if is_declared else options.unit)


@dataclass(frozen=True, eq=False)
class ReadAs:
    """How rows of a table become tables of trials, all batches in the same way.

    Attributes
    ----------
    roles : Roles
        What the columns mean.
    options : Options
    read : mapping of str to str
        The roles of the columns that are read.
    notes : tuple of str
        Which columns are not read, in words.
    classes : tuple of str, optional
        All classes, where the metadata list them.
    """

    roles: Roles
    options: Options
    read: Mapping[str, str]
    notes: tuple[str, ...]
    classes: tuple[str, ...] | None

    @classmethod
    def of(cls, table: RowTable, options: Options, *, of_folders: bool = False) -> ReadAs:
        """Find out how a table is read.

        Parameters
        ----------
        table : RowTable
        options : Options
        of_folders : bool
            Whether what names of folders say are columns, too.

        Raises
        ------
        FormatError, InputError
            If ``options`` do not fit.
        """
        if table.told:
            options = replace(as_told(table, options), vocabulary=Vocabulary.of(None))
        roles, described, name = Roles.of(table, options), description(table.schema), table.name
        kept = table.partitions if of_folders else ()
        there = {one: role for one, role in roles.by_column.items() if one in kept or one not in table.partitions}
        plain = {one: role for one, role in there.items() if _is_plain(table.schema.field(one), role, name)}
        if not plain:
            raise FormatError(
                f"{name}: holds no column that could be read; there are {', '.join(table.schema.names) or 'none'}."
            )
        notes = tuple(
            f"column {one} ({table.schema.field(one).type}) was not read."
            for one, role in there.items()
            if role != IGNORED and one not in plain
        )
        options = replace(options, name=options.name or table.system)
        if described.get("class_scores") is True and options.need is None:
            options = replace(options, need="class-scores")
        listed = described.get("classes")
        has_names = isinstance(listed, list) and all(isinstance(one, str) for one in listed)
        classes = tuple(described["classes"]) if has_names else None
        return cls(roles, declared_by_metadata(options, table.schema, name), plain, notes, classes)

    @property
    def table(self) -> RowTable:
        """The table."""
        return self.roles.table

    def settled(self) -> ReadAs:
        """The same for batches, each of which may lack words of labels or classes that others have."""
        vocabulary, classes = self.options.vocabulary, self.classes
        label, column = self.roles.column("label"), self.roles.column("class")
        if label is not None:
            vocabulary = settled(vocabulary, label, self.table.rows)
        if column is not None and classes is None and is_text_or_bytes(_plain_type(self.table.schema.field(column))):
            names: dict[str, None] = {}
            for piece in self.table.rows:
                found = pc.unique(plain(piece.table([column]).column(column))).drop_null()
                names |= dict.fromkeys(pc.cast(found, pa.string()).to_pylist())
            classes = tuple(sorted(names))
        return replace(self, options=replace(self.options, vocabulary=vocabulary), classes=classes)

    def contents(self, parts: Sequence[Rows], name: str) -> Contents:
        """What some neighbouring rows hold.

        Parameters
        ----------
        parts : sequence of Rows
        name : str
            What messages call them.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or stand where it stands; the message names file and place.
        """
        with only_format_errors(name, "a table", partial(place_in, parts)):
            return self.made(parts, Origin(name, self.table.reading, places=partial(places_in, parts)))

    def whole(self) -> Contents:
        """What all rows hold; raises as `contents`."""
        return self.contents(self.table.rows, self.table.name)

    def made(self, parts: Sequence[Rows], origin: Origin) -> Contents:
        """What some neighbouring rows hold.

        Raises
        ------
        RowError, FormatError, InputError
            If something cannot stand where it stands.
        """
        name, roles, size = origin.name, [*self.read.values()], sum(one.n_bytes for one in parts)
        table = table_of_all(parts, list(self.read)) if parts else self.table.schema.empty_table()
        check_size(len(table), len(roles), size, name)
        if not len(table):
            raise FormatError(f"{name}: holds no trial, only the names of columns.")
        columns = [_prepared(table.column(column), column, role, size, name) for column, role in self.read.items()]
        headers, pair = [*self.read], self.roles.pair
        origin = replace(origin, reading=origin.reading + self.roles.columns_in_words(headers))
        if pair is not None:
            one, other = (columns[headers.index(column)] for column in pair)
            columns, roles, headers = [*columns, same_names(one, other, pair)], [*roles, "label"], [*headers, "label"]
        system = self.options.name or "system"
        how: Any = {"origin": origin, "system": system, "options": self.options, "classes": self.classes}
        contents = assemble(columns, roles, headers, **how)
        if description(self.table.schema).get("is_from_lr") is True:
            contents = replace(contents, systems=tuple(replace(one, is_from_lr=True) for one in contents.systems))
        if self.classes is not None and "class" in roles and contents.index is not None:
            label = columns[roles.index("class")]
            contents = replace(contents, class_key=ClassKey.of(contents.index.trials, label, classes=self.classes))
        return replace(contents, notes=contents.notes + self.notes)


def contents_of(table: RowTable, options: Options) -> Contents:
    """Tables of trials out of a table that is read as a whole.

    Raises
    ------
    FormatError, OSError
        As `ReadAs.contents`.
    """
    with only_format_errors(table.name, "a table", partial(place_in, table.rows)):
        return ReadAs.of(table, options, of_folders=True).whole()


def declared_by_metadata(options: Options, schema: pa.Schema, name: str) -> Options:
    """Return the options with the unit that the metadata of a table declare; these name the roles of columns, too.

    Raises
    ------
    FormatError
        If the user declared another unit than common logarithms, or declared one for former likelihood ratios.
    """
    described = description(schema)
    if described.get("is_from_lr") is True and options.unit is not None:
        raise FormatError(
            f"{name}: holds natural logarithms of likelihood ratios by its metadata, but {options.unit} was declared. "
            f"Leave it out (--{options.unit})."
        )
    if described.get("log10") is True:
        return options.declaring("log10", name)
    return replace(options, unit="nats") if options.unit is None and "roles" in described else options


def compared_columns(options: Options, headers: Sequence[str], name: str) -> tuple[str, str] | None:
    """The columns whose equality is the label, if the user said so.

    Raises
    ------
    FormatError
        As in `deciban.io.columns.headers.compared`.
    """
    chosen = None if options.columns is None else parse_columns(of_headers(options.columns, headers))
    pair = compared(chosen, headers, name) if isinstance(chosen, Mapping) else None
    return None if pair is None else (headers[pair[0]], headers[pair[1]])


SAMPLED = 200
"""Rows that are shown to whoever asks what the columns could be."""


def rows_of(table: pa.Table | pa.RecordBatch) -> list[list[str]]:
    """The names of columns, and the first rows as text; columns that hold no plain values are left empty.

    Examples
    --------
    >>> rows_of(pa.table({"utt": ["a", None], "s": [0.5, -1.0], "v": [[1], [2]]}))
    [['utt', 's', 'v'], ['a', '0.5', ''], ['', '-1.0', '']]
    """
    head = table.slice(0, SAMPLED)
    nested = [pa.types.is_nested(field.type) for field in table.schema]
    columns = [
        [""] * len(head) if is_nested else ["" if value is None else str(value) for value in column.to_pylist()]
        for column, is_nested in zip(head.columns, nested, strict=True)
    ]
    return [list(table.schema.names), *map(list, zip(*columns, strict=True))]


def table_of(contents: Contents) -> pa.Table:
    """All tables of trials of an input as one Arrow table.

    Raises
    ------
    InputError
        As in `deciban.trials.to_arrow`.
    """
    return to_arrow(*contents.tables)


def written_of(contents: Contents, table: pa.Table) -> Written:
    """What of an input the table holds that was made of it."""
    roles = description(table.schema)["roles"].values()
    conditions = frozenset(role.removeprefix(CONDITION) for role in roles if role.startswith(CONDITION))
    return Written(frozenset(contents.kinds) & frozenset(READS), conditions)


def schema_roles(schema: pa.Schema, options: Options, name: str) -> Sequence[str]:
    """The role of every column, as the user, the metadata or its name and type say.

    Raises
    ------
    FormatError, InputError
        If ``options.columns`` does not fit, or two columns could play one role.
    """
    headers = schema.names
    if options.columns is not None:
        chosen = parse_columns(of_headers(options.columns, headers))
        if isinstance(chosen, Mapping):
            return named_roles(chosen, headers, name)
        if len(chosen) != len(headers):
            raise FormatError(f"{name}: --columns names {len(chosen)} columns, there are {len(headers)}.")
        return chosen
    recorded = description(schema).get("roles")
    if isinstance(recorded, dict) and _are_roles([recorded.get(header) for header in headers]):
        return [recorded[header] for header in headers]
    roles = roles_of(headers, name)
    numeric = [_is_number(field.type) for field in schema]
    if options.need in (None, "scores"):
        return with_only_score(roles, headers, numeric)
    labelled = with_classes_of_label(roles) if options.need in ("class-scores", "class-key") else roles
    if options.need != "class-scores":
        return labelled
    # What has no other meaning and is a number is the score of a class.
    free = [is_number and not names_row(header) for is_number, header in zip(numeric, headers, strict=True)]
    taken = (*identity_of(roles), "class")
    found = ["score" if free[at] and role not in taken else role for at, role in enumerate(labelled)]
    return found if labelled == roles else without_other_numbers(found, headers)


def kinds_of(
    schema: pa.Schema, options: Options, name: str, sampled: Callable[[str], Sequence[Sequence[str]]] | None = None
) -> tuple[ContentKind, ...]:
    """What kinds of tables a file of this schema could be read as.

    Parameters
    ----------
    schema : pyarrow.Schema
    options : Options
    name : str
        File name for messages.
    sampled : function, optional
        The first rows of the column of this name, as `rows_of` returns them; without them, a label names targets.

    Raises
    ------
    FormatError, InputError
        As in `schema_roles`.
    """
    if description(schema).get("class_scores") is True:
        return ("class-scores", "class-key")
    kinds: tuple[ContentKind, ...] = ("scores", "key", "class-key", "class-scores")
    made = () if compared_columns(options, schema.names, name) is None else ("label",)
    roles = {kind: (*schema_roles(schema, replace(options, need=kind), name), *made) for kind in kinds}
    held = tuple(kind for kind in kinds if could_hold(roles[kind], kind))
    of_classes = None
    if options.columns is None and "label" in roles["key"] and "roles" not in description(schema):
        numeric, own = [_is_number(field.type) for field in schema], roles_of(schema.names, name)
        rows = () if sampled is None else sampled(schema.names[own.index("label")])
        words = {word for (word,) in rows[1:]} or {"0", "1"}
        of_classes = label_names_classes(own, schema.names, numeric, words, options.vocabulary)
    return tuple(kind for kind in held if fits_label(kind, roles["key"], of_classes))


def _are_roles(roles: Sequence[object]) -> bool:
    known = all(isinstance(role, str) and (role in ROLES or role.startswith(CONDITION)) for role in roles)
    single = [role for role in roles if role != "score"]
    return known and len(set(single)) == len(single)


def _plain_type(field: pa.Field) -> pa.DataType:
    return field.type.value_type if pa.types.is_dictionary(field.type) else field.type


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _is_plain(field: pa.Field, role: str, name: str) -> bool:
    """Whether a column holds one plain value per row; one that matters has to."""
    kind = _plain_type(field)
    plain = is_text_or_bytes(kind) or _is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_temporal(kind)
    if not plain and role != IGNORED and not role.startswith(CONDITION):
        raise FormatError(
            f"{name}: column {field.name}, the {role}, holds {field.type} values. Expected one plain value per row."
        )
    return bool(plain) and role != IGNORED


def _prepared(column: pa.ChunkedArray, header: str, role: str, size: int, name: str) -> pa.ChunkedArray:
    """A column with one kind of text, and no missing value where each row needs one."""
    if pa.types.is_dictionary(column.type):
        column = of_strings(column) if is_text_or_bytes(column.type.value_type) else column
        values = column.type.value_type
        has_gaps = any(chunk.dictionary.null_count for chunk in column.chunks)
        if role.startswith(CONDITION) or role == "score" or not is_text_or_bytes(values) or has_gaps:
            _check_length(column, header, size, name)
            column = pc.cast(column, values)
    if is_text_or_bytes(column.type) and column.type != pa.string():
        column = pc.cast(column, pa.string())
    if not role.startswith(CONDITION):
        refuse_missing(column, header, role)
    return column


def _check_length(column: pa.ChunkedArray, header: str, size: int, name: str) -> None:
    """Refuse long text that a few bytes repeat in every row, before it is spread out."""
    n_bytes = 0
    for chunk in column.chunks:
        if is_text_or_bytes(chunk.dictionary.type) and len(chunk.dictionary):
            lengths = pc.cast(pc.binary_length(pc.cast(chunk.dictionary, pa.large_binary())), pa.int64())
            n_bytes += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    if n_bytes > max(8 * _HARMLESS, _RATIO * size):
        raise FormatError(
            f"{name}: column {header} would be {n_bytes:,} bytes long. Leave it out when writing the file."
        )


ColumnsByRole: TypeAlias = Mapping[str, str | Sequence[str] | None]
"""The column of each role, several for scores; None for one that is not there."""


_LABELS = "labels={'target': 'WORD', 'nontarget': 'WORD'}"


def contents_of_frame(
    frame: Any,
    roles: ColumnsByRole,
    *,
    need: ContentKind,
    labels: Mapping[str, str] | None = None,
    name: str = "data frame",
    system: str = "system",
    unit: ScoreUnit | None = None,
) -> Contents:
    """Tables of trials out of a data frame, by the names of its columns.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or RecordBatch, mapping of str to arrays
        Or anything else that hands out its columns by ``__arrow_c_stream__``.
    roles : mapping of role to column, or to several columns for ``score``
        The roles are those of files: ``enroll``, ``test``, ``side``, ``trial``, ``score``, ``label``, ``class``. All
        other columns are kept as conditions.
    need : {"scores", "class-scores"}
        What the columns of scores are: of systems, or of classes.
    labels : mapping, optional
        Words for ``target`` and ``nontarget``, as in `deciban.read_key`.
    name : str
        What messages call it.
    system : str
        What to call a single system.
    unit : {"nats", "log10", "lr"}, optional
        The unit of the scores; if None, the names of their columns may declare it.

    Returns
    -------
    Contents

    Raises
    ------
    InputError
        If this is no data frame, a column is not there, or one is to play two roles.
    FormatError
        If something cannot stand where it stands; says in which row.

    Examples
    --------
    >>> frame = {"llr": [1.5, -2.0], "same": [True, False]}
    >>> contents = contents_of_frame(frame, {"score": "llr", "label": "same"}, need="scores")
    >>> contents.systems[0].score, contents.key.is_target
    (array([ 1.5, -2. ]), array([ True, False]))
    """
    table = as_table(frame)
    table = table.rename_columns([str(column) for column in table.column_names]).replace_schema_metadata(None)
    own: dict[str, str] = {}
    for role, given in roles.items():
        for column in columns_named(role, given):
            column_of(table, column)
            if column in own:
                raise InputError(f"{role}: column {column!r} is the {own[column]} already. Name another one.")
            own[column] = role
    sides = [role for role in own.values() if role in IDENTITY]
    if sides and not identity_of(sides):
        raise InputError(
            f"{', '.join(sides)}: trials are identified by enroll and test (and side), or by trial. Name these columns."
        )
    listed = [own.get(column, CONDITION + column if column else IGNORED) for column in table.column_names]
    options = Options(need=need, columns=listed, vocabulary=Vocabulary.of(labels), name=system, unit=unit)
    held = RowTable.of_table(table, name, "data frame", max(table.nbytes, 1))
    try:
        return ReadAs.of(held, options).made(held.rows, Origin(name, "data frame"))
    except RowError as error:
        words = str(error).replace("--labels target=WORD,nontarget=WORD", _LABELS)
        raise FormatError(f"{held.rows[0].where(error.row)}: {words}.") from error


def of_one_system(frame: Any, systems: Mapping[str, Sequence[str]], name: str, classes: Sequence[str]) -> pa.Table:
    """The columns of one of several systems, called by the classes, and those that are no scores.

    Parameters
    ----------
    frame : data frame
    systems : mapping of str to sequence of str
        The columns of each system, in the order of the classes.
    name : str
        Which of them.
    classes : sequence of str

    Raises
    ------
    InputError
        If a column is not there, or there is not one for each class.

    Examples
    --------
    >>> frame = {"a": [1.0], "b": [0.0], "c": [2.0], "d": [1.0], "age": [30]}
    >>> of_one_system(frame, {"A": ["a", "b"], "B": ["c", "d"]}, "B", ["cat", "dog"]).column_names
    ['cat', 'dog', 'age']
    """
    table = as_table(frame)
    own = columns_named("score", systems[name])
    if len(own) != len(classes):
        raise InputError(f"score: {name} has {len(own)} columns, but there are {len(classes)} classes. Name one each.")
    scores = {column for columns in systems.values() for column in columns_named("score", columns)}
    others = [column for column in table.column_names if str(column) not in scores]
    twice = [one for one in classes if one in others]
    if twice:
        raise InputError(f"classes: the column {twice[0]!r} is none of the scores of {name}. Rename it.")
    return pa.table(
        [*(column_of(table, column) for column in own), *(table.column(column) for column in others)],
        [*classes, *others],
    )


def columns_named(role: str, given: Any) -> list[str]:
    """The columns that were named for a role: one, or several for scores.

    Raises
    ------
    InputError
        If these are no names.

    Examples
    --------
    >>> columns_named("score", ["sysA", "sysB"]), columns_named("label", "y"), columns_named("trial", None)
    (['sysA', 'sysB'], ['y'], [])
    """
    if given is None:
        return []
    if isinstance(given, str | int):
        return [str(given)]
    if role == "score" and isinstance(given, Sequence) and given:
        columns = [str(one) for one in given if isinstance(one, str | int)]
        if len(columns) == len(given):
            return columns
    several = ", or several in a list" if role == "score" else ""
    raise InputError(f"{role}: got {type(given).__name__}. Name a column of the data frame{several}.")
