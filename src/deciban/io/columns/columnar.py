"""Tables with typed columns (Parquet, Arrow, data frames): choice and meaning of columns.

The columns are the same as in text tables with a header (`deciban.io.columns.headers`): ``enroll`` and ``test`` (with
``side``) or ``trial``, or other common names for them; each ``score`` or ``llr`` column is a system; ``label`` contains
booleans, 1 and 0, or words; ``class`` contains the true class; the others are kept as conditions. In class scores, each
other column of numbers is a class. A key ``deciban`` in the schema metadata, with a JSON object, overrides this::

    {"roles": {"trial": "trial", "sysA": "score", "sysB": "score", "age": "=age"}, "log10": false}

``roles`` maps each column to its role (``=NAME``: a condition). ``log10`` is true for common logarithms, ``is_from_lr``
for natural logarithms of likelihood ratios in an input, and ``class_scores`` if the score columns are classes.
``classes`` lists all classes of a class key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeAlias

import pyarrow as pa

from deciban._arrow import pc
from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError, option, some_of
from deciban.io import formats
from deciban.io.columns import headers as naming
from deciban.io.columns import values as cells
from deciban.io.formats import ContentKind, Contents, InputOptions, WrittenContents, only_format_errors, same_names
from deciban.trials import ClassKey, Origin
from deciban.trials.frames import as_table, column_of, description, is_text_or_bytes, of_strings, to_arrow
from deciban.trials.lists import identity_of
from deciban.types import Frame, ScoreUnit

READS: tuple[ContentKind, ...] = ("scores", "key", "index", "class-scores", "class-key")
"""Kinds of tables that these formats can contain, for reading and writing."""

_HARMLESS = 1 << 25
"""Number of values that is accepted for any file size."""

_RATIO = 1000
"""Largest number of values, or characters of conditions, per byte of the file: equal values take almost no space."""


def check_size(n_rows: int, n_columns: int, size: int, name: str) -> None:
    """Raise if a file declares an implausible number of values.

    Raises
    ------
    FormatError
        If it declares more than 1000 values per byte, and more than 2**25 values.
    """
    if n_rows < 0 or n_rows * max(n_columns, 1) > max(_HARMLESS, _RATIO * size):
        raise FormatError(
            f"{name}: declares {n_rows:,} rows of {n_columns} columns in {size:,} bytes. The file is damaged, or made "
            "to exhaust the memory. If it is correct, write it again as several files."
        )


@dataclass(frozen=True, eq=False)
class Roles:
    """The meaning of the columns of one table.

    Attributes
    ----------
    table : RowTable
    by_column : mapping of str to str
    pair : pair of str, optional
        Columns whose equality is the label.
    units : mapping of str to unit
        The units of the columns of scores in the input.
    ratios : frozenset of str
        The columns of likelihood ratios that are not logarithms yet.
    """

    table: cells.RowTable
    by_column: Mapping[str, str]
    pair: tuple[str, str] | None
    units: Mapping[str, ScoreUnit]
    ratios: frozenset[str]

    @classmethod
    def of(cls, table: cells.RowTable, options: InputOptions) -> Roles:
        """Return the roles of all columns.

        Raises
        ------
        FormatError, InputError
            As in `schema_roles`.
        """
        cells.refuse_equal_names(table.schema.names, table.name)
        options = as_described(table, options)
        entries = dict(zip(free_columns(table).names, schema_roles(table, options), strict=True))
        entries |= {name: naming.CONDITION + name for name in table.partitions}
        described, units = description(table.schema), dict[str, ScoreUnit]()
        if options.need != "class-scores" and described.get("class_scores") is not True:
            by_name = declared_by_metadata(options, table.schema, table.name)
            units = {name: by_name.unit_of(name) for name, role in entries.items() if role == "score"}
        ratios = frozenset(name for name, unit in units.items() if unit == "lr")
        if described.get("is_from_lr") is True:
            units = dict.fromkeys(units, "lr")
        return cls(table, entries, compared_columns(options, table.schema.names, table.name), units, ratios)

    @property
    def scores(self) -> tuple[str, ...]:
        """Columns of scores."""
        return tuple(name for name, role in self.by_column.items() if role == "score")

    @property
    def conditions(self) -> dict[str, str]:
        """Columns of conditions, by the names of the conditions."""
        of_role = {role: name for name, role in self.by_column.items()}
        return {role[1:]: name for role, name in of_role.items() if role.startswith(naming.CONDITION)}

    def with_classes(self, classes: Sequence[str] | None) -> Roles:
        """Return the roles if the user has named the classes: other columns of numbers become conditions."""
        if classes is None or not set(classes) < set(self.scores):
            return self
        others = {name: naming.CONDITION + name for name in self.scores if name not in classes}
        return replace(self, by_column={**self.by_column, **others})

    def column(self, role: str) -> str | None:
        """Return the column of a role, or None."""
        return next((name for name, own in self.by_column.items() if own == role), None)

    @property
    def sides(self) -> dict[str, str]:
        """The columns that identify trials, by side."""
        entries = {side: name for side in naming.IDENTITY if (name := self.column(side)) is not None}
        return entries if identity_of(list(entries)) else {}

    def columns_in_words(self, columns: Iterable[str]) -> str:
        """Return a text with the roles of some columns."""
        label = "" if self.pair is None else f", target if {' is '.join(map(repr, self.pair))}"
        roles = {name: self.by_column[name] for name in columns}
        named = [f"{'condition' if role[0] == naming.CONDITION else role}={name!r}" for name, role in roles.items()]
        shown = some_of(named, " ", naming.MOST_SHOWN)
        unit = naming.unit_in_words(self.units.values())
        unit = "" if unit in self.table.reading else unit
        return f"{'' if self.table.is_described else ' ' + shown}{unit}{label}"  # parsed files name their columns

    @property
    def words(self) -> str:
        """The text on how the table was read."""
        shown = [name for name, role in self.by_column.items() if role != naming.IGNORED]
        return f"{self.table.reading}{self.columns_in_words(shown)}   {self.table.n_rows:,} rows"


def free_columns(table: cells.RowTable) -> pa.Schema:
    """Return the columns of a table whose names decide their roles."""
    fields = [field for field in table.schema if field.name not in (*table.partitions, table.target)]
    return pa.schema(fields, metadata=table.schema.metadata)


def as_described(table: cells.RowTable, options: InputOptions) -> InputOptions:
    """Return options without columns if the table determines their roles."""
    if not table.is_described:
        return options
    is_declared = "roles" in description(table.schema)  # in the metadata of an earlier parser
    return replace(options, columns=None, unit=None if is_declared else options.unit)


@dataclass(frozen=True, eq=False)
class TableRules:
    """Rules to convert rows of a table to tables of trials, the same for all batches.

    Attributes
    ----------
    roles : Roles
    options : InputOptions
    read : mapping of str to str
        The roles of the columns that are read.
    notes : tuple of str
        Notes on columns that are not read.
    classes : tuple of str, optional
        All classes, if the metadata list them.
    """

    roles: Roles
    options: InputOptions
    read: Mapping[str, str]
    notes: tuple[str, ...]
    classes: tuple[str, ...] | None

    @classmethod
    def of(cls, table: cells.RowTable, options: InputOptions, *, of_folders: bool = False) -> TableRules:
        """Return the rules for a table.

        Parameters
        ----------
        table : RowTable
        options : InputOptions
        of_folders : bool
            True if values in folder names are columns, too.

        Raises
        ------
        FormatError, InputError
            If ``options`` do not match the table.
        """
        if table.is_described:
            options = replace(as_described(table, options), vocabulary=Vocabulary.of(None))
        roles, described, name = Roles.of(table, options), description(table.schema), table.name
        kept = table.partitions if of_folders else ()
        there = {one: role for one, role in roles.by_column.items() if one in kept or one not in table.partitions}
        plain = {one: role for one, role in there.items() if _is_plain(table.schema.field(one), role, name)}
        if not plain:
            columns = ", ".join(table.schema.names) or "none"
            raise FormatError(f"{name}: contains no column that can be read; the columns are {columns}.")
        notes = tuple(
            f"column {one} ({table.schema.field(one).type}) was not read."
            for one, role in there.items()
            if role != naming.IGNORED and one not in plain
        )
        options = replace(options, name=options.name or table.system)
        if described.get("class_scores") is True and options.need is None:
            options = replace(options, need="class-scores")
        known = described.get("classes")
        has_names = isinstance(known, list) and all(isinstance(one, str) for one in known)
        classes = tuple(described["classes"]) if has_names else None
        return cls(roles, declared_by_metadata(options, table.schema, name), plain, notes, classes)

    @property
    def table(self) -> cells.RowTable:
        """The table."""
        return self.roles.table

    def settled(self) -> TableRules:
        """Return the rules for batches: the words of labels and the classes are collected from all batches."""
        vocabulary, classes = self.options.vocabulary, self.classes
        label, column = self.roles.column("label"), self.roles.column("class")
        if label is not None:
            vocabulary = cells.settled(vocabulary, label, self.table.rows)
        if column is not None and classes is None and is_text_or_bytes(plain_type(self.table.schema.field(column))):
            names: dict[str, None] = {}
            for partition in self.table.rows:
                result = pc.unique(cells.plain(partition.table([column]).column(column))).drop_null()
                names |= dict.fromkeys(pc.cast(result, pa.string()).to_pylist())
            classes = tuple(sorted(names))
        return replace(self, options=replace(self.options, vocabulary=vocabulary), classes=classes)

    def contents(self, parts: Sequence[cells.Rows], name: str) -> Contents:
        """Return the contents of some neighbouring rows.

        Parameters
        ----------
        parts : sequence of Rows
        name : str
            Name of the rows for messages.

        Raises
        ------
        FormatError, OSError
            If something cannot be read, or is not allowed in its place; the message contains the file and the place.
        """
        with only_format_errors(name, "a table", partial(cells.place_in, parts)):
            return self.made(parts, Origin(name, self.table.reading, places=partial(cells.places_in, parts)))

    def made(self, parts: Sequence[cells.Rows], origin: Origin) -> Contents:
        """Return the contents of some neighbouring rows.

        Raises
        ------
        RowError, FormatError, InputError
            If a value is not allowed in its place.
        """
        name, roles, size = origin.name, [*self.read.values()], sum(one.n_bytes for one in parts)
        table = cells.table_of_all(parts, list(self.read)) if parts else self.table.schema.empty_table()
        check_size(len(table), len(roles), size, name)
        if not len(table):
            raise FormatError(f"{name}: contains no trial, only the names of columns.")
        columns = [_prepared(table.column(column), column, role, size, name) for column, role in self.read.items()]
        headers, pair = [*self.read], self.roles.pair
        origin = replace(origin, reading=origin.reading + self.roles.columns_in_words(headers))
        if pair is not None:
            one, other = (columns[headers.index(column)] for column in pair)
            columns = [*columns, same_names(one, other, pair)]
            roles, headers = [*roles, "label"], [*headers, "label"]
        system = self.options.name or "system"
        about: dict[str, Any] = {"system": system, "options": self.options, "classes": self.classes}
        contents = formats.assemble(columns, roles, headers, origin=origin, **about)
        if description(self.table.schema).get("is_from_lr") is True:
            contents = replace(contents, systems=tuple(replace(one, is_from_lr=True) for one in contents.systems))
        if self.classes is not None and "class" in roles and contents.index is not None:
            label = columns[roles.index("class")]
            contents = replace(contents, class_key=ClassKey.of(contents.index.trials, label, classes=self.classes))
        return replace(contents, notes=contents.notes + self.notes)


def contents_of(table: cells.RowTable, options: InputOptions) -> Contents:
    """Return the contents of a table that is read as a whole.

    Raises
    ------
    FormatError, OSError
        As `TableRules.contents`.
    """
    with only_format_errors(table.name, "a table", partial(cells.place_in, table.rows)):
        return TableRules.of(table, options, of_folders=True).contents(table.rows, table.name)


def declared_by_metadata(options: InputOptions, schema: pa.Schema, name: str) -> InputOptions:
    """Return the options with the unit that the metadata of a table declare.

    Raises
    ------
    FormatError
        If the user declared another unit than common logarithms, or declared one for former likelihood ratios.
    """
    described = description(schema)
    if described.get("is_from_lr") is True and options.unit is not None:
        raise FormatError(
            f"{name}: its metadata declare natural logarithms of likelihood ratios, but you declared {options.unit}. "
            f"Leave {option(options.unit)} out."
        )
    if described.get("log10") is True:
        return options.declaring("log10", name)
    return replace(options, unit="nats") if options.unit is None and "roles" in described else options


def compared_columns(options: InputOptions, headers: Sequence[str], name: str) -> tuple[str, str] | None:
    """Return the columns whose equality is the label, if the user named two.

    Raises
    ------
    FormatError
        As in `deciban.io.columns.headers.compared`.
    """
    chosen = None if options.columns is None else naming.parse_columns(naming.of_headers(options.columns, headers))
    pair = naming.compared(chosen, headers, name) if isinstance(chosen, Mapping) else None
    return None if pair is None else (headers[pair[0]], headers[pair[1]])


SAMPLED = 200
"""Number of rows in a sample for guessing what the columns are."""


def rows_of(table: pa.Table | pa.RecordBatch) -> list[list[str]]:
    """Return the names of columns, and the first rows as text; nested columns are left empty.

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
    """Return all tables of trials of an input as one Arrow table.

    Raises
    ------
    InputError
        As in `deciban.trials.to_arrow`.
    """
    table = to_arrow(*contents.tables)
    if contents.key is None or contents.label_words is None:
        return table
    words = pc.cast(contents.label_words, pa.string()).dictionary_encode()
    return table.set_column(table.schema.names.index("label"), "label", words)


def written_of(contents: Contents, table: pa.Table) -> WrittenContents:
    """Return the parts of an input that are in a table made from it."""
    roles = description(table.schema)["roles"].values()
    conditions = frozenset(role.removeprefix(naming.CONDITION) for role in roles if role.startswith(naming.CONDITION))
    return WrittenContents(frozenset(contents.kinds) & frozenset(READS), conditions)


def outer_words(table: cells.RowTable, column: str) -> set[str]:
    """Return the values in the first and the last rows of a column as text."""
    outer = table.rows[:1] + (table.rows[-1:] if len(table.rows) > 1 else ())
    parts = [rows.table([column]).column(0) for rows in outer]
    some = [part.slice(start) for part in parts for start in {0, max(len(part) - SAMPLED, 0)}]
    return {"" if value is None else str(value) for one in some for value in one.slice(0, SAMPLED).to_pylist()}


def schema_roles(table: cells.RowTable, options: InputOptions) -> Sequence[str]:
    """Return the role of each free column, from the options, the metadata, or its name, type and words.

    A column of classes whose words mean target and non-target is read as the label.

    Raises
    ------
    FormatError, InputError
        If ``options.columns`` does not match the table, or two columns could have one role.
    """
    schema, name = free_columns(table), table.name
    headers = schema.names
    if options.columns is not None:
        lines = naming.parse_columns(naming.of_headers(options.columns, headers))
        if isinstance(lines, Mapping):
            return naming.named_roles(lines, headers, name)
        if len(lines) != len(headers):
            raise FormatError(
                f"{name}: {len(lines)} columns are named ({option('columns')}), the table has {len(headers)}."
            )
        return lines
    recorded = description(schema).get("roles")
    if isinstance(recorded, dict) and _are_roles([recorded.get(header) for header in headers]):
        return [recorded[header] for header in headers]
    titles = _titles(table, options)
    roles = titles.labelled(naming.roles_of(headers, name))
    meant = titles.meant(roles, options.need or "scores")
    if options.need != "class-scores":
        return meant
    # A number without another meaning is the score of a class.
    taken = (*identity_of(roles), "class")
    free = [titles.numeric[at] and not naming.names_row(header) for at, header in enumerate(headers)]
    items = ["score" if free[at] and role not in taken else role for at, role in enumerate(meant)]
    return items if meant == roles else naming.without_other_numbers(items, headers)


def _titles(table: cells.RowTable, options: InputOptions) -> naming.Titles:
    schema = free_columns(table)

    @cache
    def words(at: int) -> set[str]:
        return outer_words(table, schema.names[at]) or {"0", "1"}

    return naming.Titles(schema.names, [cells.is_numeric(field.type) for field in schema], words, options.vocabulary)


def kinds_of(table: cells.RowTable, options: InputOptions) -> tuple[ContentKind, ...]:
    """Return the kinds of tables as which a table can be read.

    Raises
    ------
    FormatError, InputError
        As in `schema_roles`.
    """
    schema, options = free_columns(table), as_described(table, options)
    if description(schema).get("class_scores") is True:
        return ("class-scores", "class-key")
    kinds: tuple[ContentKind, ...] = ("scores", "key", "class-key", "class-scores")
    result = () if compared_columns(options, schema.names, table.name) is None else ("label",)
    roles = {kind: (*schema_roles(table, replace(options, need=kind)), *result) for kind in kinds}
    held = tuple(kind for kind in kinds if formats.could_hold(roles[kind], kind))
    of_classes = None
    if options.columns is None and "label" in roles["key"] and "roles" not in description(schema):
        titles = _titles(table, options)
        of_classes = titles.label_names_classes(titles.labelled(naming.roles_of(schema.names, table.name)))
    return tuple(kind for kind in held if naming.fits_label(kind, roles["key"], of_classes))


def _are_roles(roles: Sequence[object]) -> bool:
    known = all(isinstance(role, str) and (role in naming.ROLES or role.startswith(naming.CONDITION)) for role in roles)
    single = [role for role in roles if role != "score"]
    return known and len(set(single)) == len(single)


def plain_type(field: pa.Field) -> pa.DataType:
    """Return the type of the values of a column, also of a column of codes."""
    return field.type.value_type if pa.types.is_dictionary(field.type) else field.type


def _is_plain(field: pa.Field, role: str, name: str) -> bool:
    """Return True if a column contains one plain value per row; raise if a needed column does not."""
    kind = plain_type(field)
    plain = is_text_or_bytes(kind) or cells.is_numeric(kind) or pa.types.is_boolean(kind) or pa.types.is_temporal(kind)
    if not plain and role != naming.IGNORED and not role.startswith(naming.CONDITION):
        raise FormatError(
            f"{name}: column {field.name}, the {role}, contains {field.type} values. Expected one plain value per row."
        )
    return bool(plain) and role != naming.IGNORED


def _prepared(column: pa.ChunkedArray, header: str, role: str, size: int, name: str) -> pa.ChunkedArray:
    """Return a column with one type of text, and without missing values unless it is a condition."""
    if pa.types.is_dictionary(column.type):
        column = of_strings(column) if is_text_or_bytes(column.type.value_type) else column
        values = column.type.value_type
        has_gaps = any(chunk.dictionary.null_count for chunk in column.chunks)
        if role.startswith(naming.CONDITION) or role == "score" or not is_text_or_bytes(values) or has_gaps:
            _check_length(column, header, size, name)
            column = pc.cast(column, values)
    if is_text_or_bytes(column.type) and column.type != pa.string():
        column = pc.cast(column, pa.string())
    if not role.startswith(naming.CONDITION):
        cells.refuse_missing(column, header, role)
    return column


def _check_length(column: pa.ChunkedArray, header: str, size: int, name: str) -> None:
    """Raise if a few bytes would become very long text in all rows."""
    n_bytes = 0
    for chunk in column.chunks:
        if is_text_or_bytes(chunk.dictionary.type) and len(chunk.dictionary):
            lengths = pc.cast(pc.binary_length(pc.cast(chunk.dictionary, pa.large_binary())), pa.int64())
            n_bytes += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    if n_bytes > max(8 * _HARMLESS, _RATIO * size):
        raise FormatError(
            f"{name}: column {header} would be {n_bytes:,} bytes long. Leave it out when you write the file."
        )


ColumnsByRole: TypeAlias = Mapping[str, str | Sequence[str] | None]
"""The column of each role (several for scores), or None."""


def contents_of_frame(
    frame: Frame,
    roles: ColumnsByRole,
    *,
    need: ContentKind,
    labels: Mapping[str, str] | None = None,
    system: str = "system",
    unit: ScoreUnit | None = None,
) -> Contents:
    """Return the contents of a data frame, given the names of its columns.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or RecordBatch, mapping of str to arrays
        Or another object with ``__arrow_c_stream__``.
    roles : mapping of role to column, or to several columns for ``score``
        The roles are the same as in files: ``enroll``, ``test``, ``side``, ``trial``, ``score``, ``label``, ``class``.
        All other columns are kept as conditions.
    need : {"scores", "class-scores"}
        Whether the columns of scores are systems or classes.
    labels : mapping, optional
        Words for ``target`` and ``nontarget``, as in `deciban.read_key`.
    system : str
        Name of a single system.
    unit : {"nats", "log10", "lr"}, optional
        The unit of the scores; if None, the names of their columns may declare it.

    Returns
    -------
    Contents

    Raises
    ------
    InputError
        If the argument is not a data frame, a column does not exist, or a column has two roles.
    FormatError
        If a value is not allowed in its place; the message contains the row.

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
                raise InputError(f"{role}: column {column!r} is already the {own[column]}. Name another one.")
            own[column] = role
    sides = [role for role in own.values() if role in naming.IDENTITY]
    if sides and not identity_of(sides):
        raise InputError(
            f"{', '.join(sides)}: trials are identified by enroll and test (and side), or by trial. Name these columns."
        )
    items = [own.get(column, naming.CONDITION + column if column else naming.IGNORED) for column in table.column_names]
    options = InputOptions(need=need, columns=items, vocabulary=Vocabulary.of(labels), name=system, unit=unit)
    held = cells.RowTable.of_table(table, "data frame", "data frame", max(table.nbytes, 1))
    try:
        return TableRules.of(held, options).made(held.rows, Origin("data frame", "data frame"))
    except formats.RowError as error:
        raise FormatError(f"{held.rows[0].where(error.row)}: {error}.") from error


def of_one_system(frame: Frame, systems: Mapping[str, Sequence[str]], name: str, classes: Sequence[str]) -> pa.Table:
    """Return the table of one of several systems: its columns renamed to classes, and columns that are not scores.

    Parameters
    ----------
    frame : data frame
    systems : mapping of str to sequence of str
        The columns of each system, in the order of the classes.
    name : str
        The system.
    classes : sequence of str

    Raises
    ------
    InputError
        If a column does not exist, or there is not one column for each class.

    Examples
    --------
    >>> frame = {"a": [1.0], "b": [0.0], "c": [2.0], "d": [1.0], "age": [30]}
    >>> of_one_system(frame, {"A": ["a", "b"], "B": ["c", "d"]}, "B", ["cat", "dog"]).column_names
    ['cat', 'dog', 'age']
    """
    table = as_table(frame)
    own = columns_named("score", systems[name])
    if len(own) != len(classes):
        raise InputError(f"score: {name} has {len(own)} columns for {len(classes)} classes. Name one for each class.")
    scores = {column for columns in systems.values() for column in columns_named("score", columns)}
    others = [column for column in table.column_names if str(column) not in scores]
    twice = [one for one in classes if one in others]
    if twice:
        raise InputError(f"classes: {twice[0]!r} is another column, not a score of {name}. Rename it.")
    columns = [*(column_of(table, column) for column in own), *(table.column(column) for column in others)]
    return pa.table(columns, [*classes, *others])


def columns_named(role: str, value: Any) -> list[str]:
    """Return the columns that were named for a role: one, or several for scores.

    Raises
    ------
    InputError
        If the argument is not a name or a list of names.

    Examples
    --------
    >>> columns_named("score", ["sysA", "sysB"]), columns_named("label", "y"), columns_named("trial", None)
    (['sysA', 'sysB'], ['y'], [])
    """
    if value is None:
        return []
    if isinstance(value, str | int):
        return [str(value)]
    if role == "score" and isinstance(value, Sequence) and value:
        columns = [str(one) for one in value if isinstance(one, str | int)]
        if len(columns) == len(value):
            return columns
    several = ", or several in a list" if role == "score" else ""
    raise InputError(f"{role}: got {type(value).__name__}. Name a column of the data frame{several}.")
