"""Contents of inputs, made from columns; errors of reading; file formats with their registry in ``formats.toml``.

Modules of this package implement what the registry cannot express.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from traceback import walk_tb
from typing import IO, Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from deciban._arrow import constant, encode, pc, to_numpy
from deciban._validate.arrays import Vocabulary
from deciban._validate.classes import logarithms_of_ratios
from deciban.errors import DecibanError, FormatError, InputError, Message, TrialError, not_none, option
from deciban.io.columns.headers import CONDITION, Columns, declared_unit, unknown_label
from deciban.io.source import Source, several_systems, unpacked_name
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
from deciban.trials.lists import ROW, SINGLE, identity_of
from deciban.types import BoolArray, ScoreArray, ScoreUnit

ContentKind: TypeAlias = Literal[
    "index", "key", "scores", "class-scores", "class-key", "quality", "segment-quality", "id-map"
]
Item: TypeAlias = Index | Key | Scores | ClassScores | ClassKey | Quality | SegmentQuality | IdMap

SUMMARY = b"deciban-summary"
"""Name of the metadata of summary files."""

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
"""Names of the kinds of tables, the most detailed first."""


def field_of(kind: ContentKind) -> str:
    """Return the attribute of `Contents` for a kind of table."""
    return "systems" if kind == "scores" else kind.replace("-", "_")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Contents:
    """Contents of one input; missing tables are None or empty.

    Attributes
    ----------
    origin : Origin
        Name of the input, and in ``reading`` the text on how it was read.
    index : Index or None
        The trials, if there are any.
    key : Key or None
    systems : tuple of Scores
        One for each score column, all on the trials of ``index``.
    class_scores : ClassScores or None
    class_key : ClassKey or None
    quality : Quality or None
    segment_quality : SegmentQuality or None
    id_map : IdMap or None
    words : mapping of str to bool
        The label words that occur: True for words that mean target.
    label_words : Arrow array or None
        The label word of each trial, if the words distinguish more than two kinds, such as spoofs.
    notes : tuple of str or Message
        Notes for the user on this input.
    from_probabilities : bool
        True if the scores are log-likelihood ratios that were converted from probabilities.
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
    label_words: pa.Array | pa.ChunkedArray | None = None
    notes: tuple[str | Message, ...] = ()
    from_probabilities: bool = False

    @classmethod
    def of(cls, item: Item, *more: Item) -> Contents:
        """Combine tables as the input of a writer, for example scores with their key.

        All tables get the conditions of each table.

        Raises
        ------
        InputError
            If an argument is not a table, there are two of one kind other than scores, or the trials differ.
        """
        fields: dict[str, Any] = {}
        conditions: dict[str, pa.Array] = {}
        trials: Trials | None = None
        for one in (item, *more):
            kind = KIND_OF.get(type(one))
            if kind is None:
                accepted = ", ".join(known.__name__ for known in get_args(Item))
                raise InputError(f"a {type(one).__name__} cannot be written as a table. Expected one of {accepted}.")
            if kind != "scores" and field_of(kind) in fields:
                raise InputError(f"there are two tables that are {kind}, but one is the maximum. Write two files.")
            fields[field_of(kind)] = (*fields.get("systems", ()), one) if kind == "scores" else one
            if isinstance(one, TrialTable):
                trials = one.trials if trials is None else trials
                check_same_trials(trials, one.trials)
                _add_conditions(conditions, one.trials)
        if trials is None:
            return cls(origin=Origin("data"), **fields)
        contents = cls(origin=trials.origin, **({"index": Index(trials)} | fields))
        if all(table.trials.conditions.keys() == conditions.keys() for table in contents.tables):
            return contents
        return contents.with_trials(lambda own: replace(own, conditions=conditions))

    @property
    def kinds(self) -> tuple[ContentKind, ...]:
        """The kinds of tables that are present, the most detailed first."""
        return tuple(kind for kind in KIND_OF.values() if getattr(self, field_of(kind)) not in (None, ()))

    @property
    def tables(self) -> tuple[TrialTable, ...]:
        """The tables of trials, the index last."""
        held = (*self.systems, self.key, self.class_scores, self.class_key, self.index)
        return tuple(table for table in held if table is not None)

    def with_trials(self, change: Callable[[Trials], Trials]) -> Contents:
        """Change the trials of all tables with a function."""
        entries = {id(table.trials): change(table.trials) for table in self.tables}

        def changed(table: Any) -> Any:
            return None if table is None else replace(table, trials=entries[id(table.trials)])

        held = {name: changed(getattr(self, name)) for name in ("index", "key", "class_scores", "class_key")}
        return replace(self, systems=tuple(map(changed, self.systems)), **held)

    @property
    def scores(self) -> Scores:
        """The scores of the only system.

        Raises
        ------
        FormatError
            If there is no system, or more than one.
        """
        if len(self.systems) == 1:
            return self.systems[0]
        if not self.systems:
            raise FormatError(f"{self.origin.name}: contains no scores. It was read as {self.origin.reading}.")
        raise several_systems(self.origin.name, [system.name for system in self.systems])

    @property
    def label_counts(self) -> str:
        """The numbers of targets and non-targets, with their words."""
        return "no labels" if self.key is None else labels_in_words(self.words, self.key.n_tar, self.key.n_non)


def labels_in_words(words: Mapping[str, bool], n_tar: int, n_non: int) -> str:
    """Return the numbers of targets and non-targets, with their words, as text.

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
class WrittenContents:
    """The part of the contents that a writer put into a file.

    Attributes
    ----------
    kinds : frozen set of kinds
    conditions : frozen set of str
        Names of the condition columns.
    reordered : bool
        True if the order of the trials was changed.
    """

    kinds: frozenset[ContentKind]
    conditions: frozenset[str] = frozenset()
    reordered: bool = False


NEEDED_ROLE: dict[str | None, str] = {"scores": "score", "class-scores": "score", "key": "label", "class-key": "class"}
"""The role that a kind of table needs; for an index the names are enough."""


def could_hold(roles: Sequence[str], kind: str) -> bool:
    """Return True if columns of these roles could be a kind of table; several scores may also belong to classes."""
    if kind == "class-scores":
        return len(identity_of(roles)) < 2 and roles.count("score") > 1
    return NEEDED_ROLE[kind] in roles


def _add_conditions(conditions: dict[str, pa.Array], trials: Trials) -> None:
    """Add the conditions of trials; raise if a known condition has other values."""
    for name, values in trials.conditions.items():
        known = conditions.setdefault(name, values)
        if known is not values and not known.equals(values):
            raise InputError(
                f"{trials.origin.name}: condition {name!r} has other values than in another table of the same trials. "
                "Leave one of the two out."
            )


def require(contents: Contents, kinds: Sequence[ContentKind], format_name: str) -> None:
    """Raise if a format cannot contain any of the tables.

    Raises
    ------
    FormatError
    """
    if not set(kinds) & set(contents.kinds):
        raise FormatError(
            f"{format_name} contains {' or '.join(kinds)}, but {contents.origin.name} is "
            f"{' and '.join(contents.kinds)}. Choose another format ({option(to=...)})."
        )


class RowError(FormatError):
    """A fault in a row; the reader converts it to an error of ``kind`` with the place of the row."""

    def __init__(self, message: str, row: int | None, kind: type[DecibanError] = FormatError) -> None:
        super().__init__(message)
        self.row = row
        self.kind = kind


_OBJECT = re.compile(r"<[\w.]+ object at 0x[0-9a-fA-F]+>")
"""Default ``repr`` of a Python object, whose address is useless in a message."""


def is_own_fault(error: Exception) -> bool:
    """Return True for a wrong name, attribute or type in the code of this package, not in a library that it calls."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    module = str(frame.f_globals.get("__name__"))
    return isinstance(error, (NameError, AttributeError, TypeError)) and module.startswith("deciban.")


@contextmanager
def only_format_errors(name: str, kind: str, where: Callable[[int], str] | None = None) -> Iterator[None]:
    """Convert errors of libraries in this block to `FormatError` with the name of the file first.

    Faults of this program (`is_own_fault`) pass unchanged.

    Parameters
    ----------
    name : str
        Name of the file for messages.
    kind : str
        The expected format, for messages.
    where : function, optional
        Returns the place of a row as text; by default the name and the row.

    Examples
    --------
    >>> with only_format_errors("dev.npy", "npy"):
    ...     raise KeyError("shape")
    Traceback (most recent call last):
    deciban.errors.FormatError: dev.npy: damaged, or not npy (KeyError: 'shape'). Write the file again.
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
    # Libraries for binary files raise errors of any type when a file is damaged.
    except Exception as error:
        if is_own_fault(error):
            raise
        words = _OBJECT.sub("an object", f"{type(error).__name__}: {error}")
        reason = " ".join(words.split())[:300]
        raise FormatError(f"{name}: damaged, or not {kind} ({reason}). Write the file again.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """Options of the user for an input; None means not given.

    Attributes
    ----------
    need : kind of table
        The kind of table that the input must contain; None for any.
    columns : str, sequence or mapping
        The roles of the columns.
    vocabulary : Vocabulary
        Words for target and non-target.
    name : str
        Name of the system.
    unit : {"nats", "log10", "lr"}, optional
        The unit of the scores. If None, the name of their column may declare it; otherwise they are natural logarithms.
    of_key : bool
        True for the key of score files, which has its own options.
    """

    need: ContentKind | None = None
    columns: Columns | None = None
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary.of(None))
    name: str | None = None
    unit: ScoreUnit | None = None
    of_key: bool = False

    def columns_option(self, columns: object = ...) -> str:
        """Return the option that names the columns of this input."""
        return option(**{"key_columns" if self.of_key else "columns": columns})

    def format_option(self, name: str) -> str:
        """Return the option that names the format of this input."""
        return option(**{"key_format" if self.of_key else "format": name})

    def unit_of(self, header: str | None) -> ScoreUnit:
        """Return the unit of a column of scores, from its name or from the options.

        Raises
        ------
        RowError
            If the name and the user declare different units.
        """
        named = None if header is None or self.unit == "nats" else declared_unit(header)
        if named is None or self.unit in (None, named):
            return named or self.unit or "nats"
        raise RowError(self._contradiction(named, f"column {header!r} contains", "by its name"), None)

    def declaring(self, unit: ScoreUnit, holder: str) -> InputOptions:
        """Return the options with the unit that a format or metadata declare.

        Raises
        ------
        FormatError
            If the user declared a different unit.
        """
        if self.unit not in (None, unit):
            raise FormatError(self._contradiction(unit, f"{holder} contains", "as it declares") + ".")
        return replace(self, unit=unit)

    def _contradiction(self, unit: ScoreUnit, holds: str, why: str) -> str:
        words = {"nats": "natural logarithms", "log10": "common logarithms (log10)", "lr": "likelihood ratios (lr)"}
        own = not_none(self.unit, "declared unit")
        return f"{holds} {words[unit]} {why}, but you declared {words[own]}: leave {option(own)} out"

    def system(self, trials: Trials, score: ScoreArray, name: str, header: str | None = None) -> Scores:
        """Return the scores of one system; likelihood ratios are converted to natural logarithms.

        Raises
        ------
        RowError
            If a likelihood ratio is negative or NaN, or the name of the column and the user declare different units.
        """
        unit = self.unit_of(header)
        if unit != "lr":
            return Scores(trials, score, name, unit == "log10")
        try:
            return Scores(trials, logarithms_of_ratios(score), name, is_from_lr=True)
        except TrialError as error:
            raise RowError(f"{error.before}here{error.after}".rstrip("."), error.index) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFormat:
    """Fields of all formats.

    Attributes
    ----------
    name : str
    summary : str
        Description in one line, for the documentation.
    reads, writes : tuple of kinds
    endings : tuple of str
        File endings that choose this format for writing, for example ``.h5``.
    verified : bool
        True if the layout was seen in the code or the files of the tool; False if it is from memory.
    detection_llr : bool
        True if files contain detection llrs of classes; they are converted to log-likelihoods when read.
    interval : pair of str
        Names of the columns of the bounds of llrs, if the format can contain more columns.
    """

    name: str
    summary: str
    reads: tuple[ContentKind, ...]
    writes: tuple[ContentKind, ...] = ()
    endings: tuple[str, ...] = ()
    verified: bool = True
    detection_llr: bool = False
    interval: tuple[str, ...] = ("llr_low", "llr_high")


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryFormat(BaseFormat):
    """A format that is not a table of text lines.

    Attributes
    ----------
        Kinds of files that may have this format (`deciban.io.source.Source.kind`); empty for formats that must be
        named.
    signs : function, optional
        Returns True if a file of these kinds has this format, if the kind alone is not sufficient; reads little.
    read : function
    holds : function, optional
        Returns the kinds of tables as which a source can be read, by its header or schema.
    sample : function, optional
        Returns names of columns and the first rows, as text, for messages with options.
    write : function or None
        Writes contents to a new seekable binary stream, and returns the part that it wrote.
    """

    read: Callable[[Source, InputOptions], Contents]
    found_in: tuple[str, ...] = ()
    signs: Callable[[Source], bool] | None = None
    holds: Callable[[Source, InputOptions], tuple[ContentKind, ...]] | None = None
    sample: Callable[[Source], list[list[str]]] | None = None
    write: Callable[[Contents, IO[bytes]], WrittenContents] | None = None

    def recognizes(self, source: Source) -> bool:
        """Return True if a source has this format."""
        return source.kind in self.found_in and (self.signs is None or self.signs(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat(BaseFormat):
    """A format with one trial per line.

    Attributes
    ----------
    lines : tuple of str
        The possible lists of columns: ``("enroll test score", "enroll test label")``. The roles are enroll, test, side,
        trial, score, label, class, ``-`` (ignored) and ``=NAME`` (kept as condition NAME). With a header, ``*`` means
        all other columns, written as they were kept, and ``classes`` one column of scores per class. Without lines, the
        header names the columns freely.
    header : mapping of role to str
        Header of the column of each role, for formats with a header; columns may be in any order. ``|`` separates the
        headers of several systems, and alternative headers of other roles.
    titled : bool
        True if the first line is a header with any text: columns are identified by their order.
    delimiter : str
        A blank (any white space), a tab or a comma.
    words : pair of str
        Words for target and non-target when writing.
    derive : function, optional
        Computes roles from others: receives the columns by role and returns them changed (Bob: label from two names).
    undo : function, optional
        The reverse of ``derive``, before writing.
    plausible : function, optional
        An additional check of sampled rows (lists of fields) before this format is assumed.
    log10 : bool
        True if the scores are common logarithms of likelihood ratios.
    note_on_key : str, optional
        A note for the user on each key in this format.
    guessed : bool
        True if the format may be recognized without being named; never if it is not verified.
    """

    lines: tuple[str, ...]
    header: Mapping[str, str] = field(default_factory=dict)
    titled: bool = False
    delimiter: str = " "
    words: tuple[str, str] = ("target", "nontarget")
    derive: Callable[[dict[str, pa.Array]], dict[str, pa.Array]] | None = None
    undo: Callable[[dict[str, pa.Array]], dict[str, pa.Array]] | None = None
    plausible: Callable[[Sequence[Sequence[str]]], bool] | None = None
    log10: bool = False
    note_on_key: str | None = None
    guessed: bool = True


Format: TypeAlias = BinaryFormat | TextFormat


SILENT_ENDINGS = frozenset(
    (
        *(".txt", ".text", ".lst", ".list", ".out", ".dat", ".scores", ".score", ".scr", ".llr", ".key", ".keys"),
        *(".trl", ".trial", ".trials", ".ndx", ".index", ".idx", ".labels", ".quality", ".idmap"),
    )
)
"""Endings that do not determine the format."""

READ_ONLY_ENDINGS = frozenset((".xlsx", ".json"))
"""Endings of files that can be read, but not written."""

_FUNCTIONS = {"derive", "undo", "plausible", "signs", "read", "holds", "sample", "write"}
"""Fields that are functions; the registry contains their module and name."""


def _called(place: str, *arguments: Any) -> Any:
    """Call a function of the registry; this imports its module."""
    module, function = place.split(".")
    return getattr(importlib.import_module(f"{__name__}.{module}"), function)(*arguments)


@cache
def formats() -> dict[str, Format]:
    """Return each format by its name, from ``formats.toml``."""
    entries = dict[str, Format]()
    for name, about in tomllib.loads(resources.files(__name__).joinpath("formats.toml").read_text("utf-8")).items():
        late: dict[str, Any] = {key: partial(_called, about[key]) for key in _FUNCTIONS & about.keys()}
        rest: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in about.items()}
        entries[name] = (BinaryFormat if "read" in about else TextFormat)(name=name, **(rest | late))
    return entries


@cache
def text_formats() -> dict[str, TextFormat]:
    """Return the formats with one trial per line."""
    return {name: one for name, one in formats().items() if isinstance(one, TextFormat)}


def binary_formats(kind: str | None = None) -> dict[str, BinaryFormat]:
    """Return all other formats, or those for a kind of file (`deciban.io.source.Source.kind`)."""
    entries = {name: one for name, one in formats().items() if isinstance(one, BinaryFormat)}
    return {name: one for name, one in entries.items() if kind is None or kind in one.found_in}


def by_name(name: str) -> Format:
    """Return the format with this name.

    Raises
    ------
    InputError
        If it does not exist.
    """
    request: object = name
    if not isinstance(request, str):
        raise InputError(f"format: got {request!r}. Use the name of a format: {', '.join(formats())}.")
    if name not in formats():
        raise InputError(f"format: {name!r} is unknown. Use one of {', '.join(formats())}.")
    return formats()[name]


def for_ending(file_name: str) -> Format | None:
    """Return the format to write for the ending of a file name, or None."""
    name = unpacked_name(file_name).casefold()
    return next((one for one in formats().values() if one.endings and name.endswith(one.endings)), None)


_WILDCARDS = re.compile(r"\[[^]]*\]|[*?]")


def bare_name(path: str) -> str:
    """Return the name of a file without its known endings; for a pattern, the text besides its wildcards.

    Examples
    --------
    >>> bare_name("scores/dev.v2.scores.TXT.gz"), bare_name("scores/dev-*.csv"), bare_name("scores/*.csv")
    ('dev.v2', 'dev', 'scores')
    """
    known = {*SILENT_ENDINGS, *READ_ONLY_ENDINGS, *(ending for one in formats().values() for ending in one.endings)}
    name = unpacked_name(Path(path).name)
    while Path(name).suffix.casefold() in known:
        name = Path(name).stem
    beside = _WILDCARDS.sub("", name).strip("-_. ")
    return (beside or Path(path).parent.name or name) if {*name} & {*"*?"} else name


def assemble(
    columns: Sequence[pa.Array | pa.ChunkedArray],
    roles: Sequence[str],
    headers: Sequence[str] | None,
    *,
    origin: Origin,
    system: str,
    options: InputOptions,
    classes: Sequence[str] | None = None,
) -> Contents:
    """Return tables of trials, made from columns.

    Parameters
    ----------
    columns : sequence of pyarrow arrays
        Names as text or dictionaries of text, scores as numbers, labels as text, booleans or 0 and 1.
    roles : sequence of str
        One for each column; see `deciban.io.columns.headers`.
    headers : sequence of str, optional
        The names of the columns; several systems get their names from them.
    origin : Origin
    system : str
        The name of the system if there is one score column.
    options : InputOptions
    classes : sequence of str, optional
        All classes, if the rows may lack some of them.

    Raises
    ------
    RowError
        If a value is not allowed in its column.
    """
    sides = identity_of(roles)
    if headers is not None:
        named = [
            (header, role) for header, role in zip(headers, roles, strict=True) if role in sides and header != role
        ]
        origin = replace(origin, sides=tuple(named))
    if options.need in ("scores", "key", "index") and headers is not None:
        # If classes are not needed, the class of a trial is a condition.
        roles = [CONDITION + header if role == "class" else role for role, header in zip(roles, headers, strict=True)]
    by_role = dict(zip(roles, columns, strict=True))
    conditions = {role[1:]: by_role[role] for role in by_role if role.startswith(CONDITION)}
    if sides:
        trials = Trials.of(
            {side: _whole_as_text(by_role[side]) for side in sides}, conditions=conditions, origin=origin
        )
        trials = trials.densest()
    else:
        trials = Trials.of_rows(len(columns[0]), conditions=conditions, origin=origin)
    items = [i for i, role in enumerate(roles) if role == "score"]
    titles = [None if headers is None else headers[i] for i in items]
    names = [system if len(items) == 1 or title is None else title for title in titles]
    are_classes, scores = options.need == "class-scores" and len(items) > 1, [scores_of(columns[i]) for i in items]
    called = zip(scores, names, titles, strict=True)
    systems = () if are_classes else tuple(options.system(trials, *each) for each in called)
    key, words, class_key, class_scores = None, dict[str, bool](), None, None
    if "label" in by_role:
        is_target, words = truth_of(by_role["label"], options.vocabulary)
        key = Key(trials, is_target)
    if "class" in by_role and trials.sides in (SINGLE, ROW):
        label = by_role["class"]
        class_key = ClassKey.of(trials, digits_of(label) if classes is None else label, classes=classes)
    if are_classes:
        class_scores = ClassScores.of(trials, names, np.column_stack(scores), name=system)
    return Contents(
        origin=origin,
        index=Index(trials),
        key=key,
        systems=systems,
        class_scores=class_scores,
        class_key=class_key,
        words=words,
        label_words=by_role.get("label") if options.vocabulary.has_kinds(words) else None,
    )


def digits_of(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Convert classes that are integers, also if stored as floats, to text.

    Raises
    ------
    RowError
        If a number is not an integer.

    Examples
    --------
    >>> digits_of(pa.array([3.0, 0.0])).to_pylist()
    ['3', '0']
    """
    if pa.types.is_floating(column.type):
        values = to_numpy(column.cast(pa.float64()))
        wrong = ~((np.abs(values) < 2**53) & (values == np.floor(values)))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise RowError(f"class {values[row]:g} is neither an integer nor a name", row)
        column = pc.cast(column, pa.int64())
    return _whole_as_text(column)


def _whole_as_text(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column in which integers are replaced by their digits."""
    return pc.cast(column, pa.string()) if pa.types.is_integer(column.type) else column


NO_NAN = "infinite scores are allowed, NaN is not: repair the file or drop the trial"
"""End of messages on NaN scores."""


def scores_of(column: pa.Array | pa.ChunkedArray, *, incomplete: bool = False) -> ScoreArray:
    """Return scores as floats; raise for NaN unless it marks a missing score."""
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        raise RowError(f"the scores are {kind}, expected numbers", None)
    kind = pa.float32() if column.type in (pa.float16(), pa.float32()) else pa.float64()
    try:
        score: ScoreArray = to_numpy(column if column.type == kind else column.cast(kind))
    except pa.ArrowInvalid as error:  # integers from 2**53 on
        raise RowError(f"a score cannot be represented as float64 ({error}). Write scores as floats", None) from error
    if len(score) and not incomplete and np.isnan(np.max(score)):
        row = int(np.argmax(np.isnan(score)))
        raise RowError(f"the score is NaN ({NO_NAN})", row)
    return score


def truth_of(column: pa.Array | pa.ChunkedArray, vocabulary: Vocabulary) -> tuple[BoolArray, dict[str, bool]]:
    """Return True for each label that means target, and the meaning of each word.

    Raises
    ------
    RowError
        If a word is not in the vocabulary.
    """
    if pa.types.is_boolean(column.type):
        values: BoolArray = to_numpy(column)
        return (values, {}) if vocabulary.true_is_target else (~values, {"True": False, "False": True})
    try:
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            column = pc.cast(column, pa.int64()).cast(pa.string())
        codes, words = encode(column, "label")
    except (InputError, pa.ArrowInvalid) as error:
        raise RowError(f"labels must be words, booleans, or 0 and 1 ({error})", None) from error
    vocabulary = vocabulary.within(words.to_pylist())
    meanings = {word: vocabulary.meaning(word) for word in words.to_pylist()}
    unknown = [word for word, meaning in meanings.items() if meaning is None]
    if unknown:
        row = int(np.argmax(codes == list(meanings).index(unknown[0])))
        raise RowError(unknown_label(unknown[0], vocabulary), row)
    known = {word: meaning for word, meaning in meanings.items() if meaning is not None}
    return np.array(list(known.values()), np.bool_)[codes], known


def same_names(one: pa.ChunkedArray, other: pa.ChunkedArray, called: tuple[str, str]) -> pa.ChunkedArray:
    """Compare two columns of names row by row.

    Parameters
    ----------
    one, other : pyarrow arrays
        Text (dictionaries or plain) or integers.
    called : pair of str
        The names of the columns, for messages.

    Returns
    -------
    pyarrow array of booleans

    Raises
    ------
    RowError
        If a name is missing, or a column does not contain names.

    Examples
    --------
    >>> same_names(pa.array(["ann", "bob"]), pa.array(["ann", "ann"]), ("claimed", "real")).to_pylist()
    [True, False]
    """
    names = [_as_digits(column, name) for column, name in zip((one, other), called, strict=True)]
    for column, name in zip(names, called, strict=True):
        empty = pc.fill_null(pc.equal(column, constant("")), fill_value=True)
        if pc.any(empty).as_py():
            row = pc.index(empty, value=True).as_py()
            raise RowError(f"{name} is empty, but it is needed to decide whether this is a target", row)
    return pc.equal(*names)


def _as_digits(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return names as text; integers become their digits."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        raise RowError(f"column {name} contains {kind}, but the label compares names", None)
    return pc.cast(column, pa.string())
