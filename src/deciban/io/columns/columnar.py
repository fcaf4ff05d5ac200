"""Tables with typed columns, Parquet and Arrow: which columns are read, what they mean, and what must not be in them.

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

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban.errors import FormatError
from deciban.io.columns.equality import compared, same_names
from deciban.io.columns.headers import (
    CONDITION,
    IDENTITY,
    IGNORED,
    MOST_SHOWN,
    ROLES,
    could_hold,
    identity_of,
    named_roles,
    of_headers,
    parse_columns,
    roles_of,
    some_of,
    unit_in_words,
)
from deciban.io.columns.meanings import (
    fits_label,
    label_names_classes,
    names_row,
    with_classes_of_label,
    with_only_score,
    without_other_numbers,
)
from deciban.io.contents import ContentKind, Contents, RowError, Written, assemble
from deciban.io.formats import Options
from deciban.trials import ClassKey, Origin
from deciban.trials.frames.columns import description, is_text_or_bytes, of_strings, to_arrow

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


def contents_of(
    schema: pa.Schema,
    read: Callable[[Sequence[str]], pa.Table],
    options: Options,
    origin: Origin,
    size: int,
    kept: Sequence[str] = (),
) -> Contents:
    """Tables of trials out of a columnar file.

    Parameters
    ----------
    schema : pyarrow.Schema
    read : function
        Reads the columns of these names, in this order.
    options : Options
    origin : Origin
        ``reading`` is the name of the format.
    size : int
        Bytes of the file.
    kept : sequence of str
        Columns that are conditions whatever they are called.

    Raises
    ------
    FormatError, InputError
        If something cannot stand where it stands.
    """
    name = origin.name
    refuse_equal_names(schema.names, name)
    described = description(schema)
    free = [column for column in schema.names if column not in kept]
    named = pa.schema([schema.field(column) for column in free], metadata=schema.metadata)
    own = schema_roles(named, options, name)
    roles = dict(zip(free, own, strict=True))
    roles |= {column: CONDITION + column for column in kept}
    plain = {column: role for column, role in roles.items() if _is_plain(schema.field(column), role, name)}
    skipped = [column for column, role in roles.items() if role != IGNORED and column not in plain]
    if not plain:
        raise FormatError(f"{name}: holds no column that could be read; there are {', '.join(schema.names) or 'none'}.")
    table = read(list(plain))
    check_size(len(table), len(plain), size, name)
    table.validate(full=True)
    if not len(table):
        raise FormatError(f"{name}: holds no trial, only the names of columns.")
    columns = [_prepared(table.column(column), column, role, size, name) for column, role in plain.items()]
    reading = some_of([f"{role}={column!r}" for column, role in plain.items()], most=MOST_SHOWN)
    if options.need != "class-scores" and described.get("class_scores") is not True:
        declared = declared_by_metadata(options, schema, name)
        reading += unit_in_words(declared.unit_of(column) for column, role in plain.items() if role == "score")
    origin = replace(origin, reading=f"{origin.reading} {reading}")
    if described.get("class_scores") is True and options.need is None:
        options = replace(options, need="class-scores")
    options = declared_by_metadata(options, schema, name)
    own_roles, headers = list(plain.values()), list(plain)
    pair = compared_columns(options, schema.names, name)
    if pair is not None:
        one, other = (columns[headers.index(column)] for column in pair)
        columns, own_roles, headers = (
            [*columns, same_names(one, other, pair)],
            [*own_roles, "label"],
            [*headers, "label"],
        )
        origin = replace(origin, reading=f"{origin.reading}, target if {' is '.join(map(repr, pair))}")
    listed = described.get("classes")
    classes, system = listed if _are_names(listed) else None, options.name or "system"
    contents = assemble(columns, own_roles, headers, origin=origin, system=system, options=options, classes=classes)
    if described.get("is_from_lr") is True:
        contents = replace(contents, systems=tuple(replace(one, is_from_lr=True) for one in contents.systems))
    if classes is not None and "class" in plain.values() and contents.index is not None:
        label = columns[list(plain.values()).index("class")]
        contents = replace(contents, class_key=ClassKey.of(contents.index.trials, label, classes=classes))
    notes = tuple(f"column {column} ({schema.field(column).type}) was not read." for column in skipped)
    return replace(contents, notes=contents.notes + notes)


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
        As in `deciban.io.columns.equality.compared`.
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


def refuse_equal_names(names: Sequence[str], name: str) -> None:
    """Refuse a table of which two columns are called the same.

    Raises
    ------
    FormatError
    """
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise FormatError(f"{name}: two columns are called {twice!r}. Rename one.")


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


def _are_names(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _is_plain(field: pa.Field, role: str, name: str) -> bool:
    """Whether a column holds one plain value per row; one that matters has to."""
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
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
    if role in IDENTITY:
        what = f"the name of the {role}"
    else:
        what = {"score": "the score", "label": "the label", "class": "the class"}.get(role, "")
    if what and column.null_count:
        row = int(np.argmax(to_numpy(column.is_null())))
        raise RowError(f"{what} is missing (column {header}). Every trial needs one", row)
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
