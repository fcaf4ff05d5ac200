"""The file formats: what one is; ``formats.toml`` lists them, and modules do what no table can say."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from deciban._validate.arrays import Vocabulary
from deciban._validate.probabilities import logarithms_of_ratios
from deciban.errors import FormatError, InputError, TrialError
from deciban.io.columns.headers import declared_unit
from deciban.io.contents import ContentKind, Contents, RowError, Written
from deciban.io.source import unpacked_name
from deciban.trials import Scores, Trials
from deciban.types import ScoreArray, ScoreUnit

if TYPE_CHECKING:
    from deciban.io.columns.headers import Columns
    from deciban.io.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a user said about an input; what is None was not said.

    Attributes
    ----------
    need : kind of table
        What the input must hold; None: whatever there is.
    columns : str, sequence or mapping
        What the columns are.
    vocabulary : Vocabulary
        Words for target and non-target.
    name : str
        What to call the system.
    unit : {"nats", "log10", "lr"}, optional
        The unit of the scores; if None, the name of their column may declare it, and else they are natural logarithms.
    of_key : bool
        Whether this is the key beside score files, which has options of its own.
    """

    need: ContentKind | None = None
    columns: Columns | None = None
    vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary.of(None))
    name: str | None = None
    unit: ScoreUnit | None = None
    of_key: bool = False

    @property
    def columns_option(self) -> str:
        """The option that names the columns of this input."""
        return "--key-columns" if self.of_key else "--columns"

    @property
    def format_option(self) -> str:
        """The option that names the format of this input."""
        return "--key-format" if self.of_key else "--format"

    def unit_of(self, header: str | None) -> ScoreUnit:
        """Return the unit of a column of scores: the one that its name declares, or that of the input.

        Raises
        ------
        RowError
            If the name declares another unit than the user.
        """
        named = None if header is None or self.unit == "nats" else declared_unit(header)
        if named is None or self.unit in (None, named):
            return named or self.unit or "nats"
        raise RowError(self._contradiction(named, f"column {header!r} holds", "by its name"), None)

    def declaring(self, unit: ScoreUnit, holder: str) -> Options:
        """Return the options with the unit that a format or metadata declare.

        Raises
        ------
        FormatError
            If the user declared another unit.
        """
        if self.unit not in (None, unit):
            raise FormatError(self._contradiction(unit, f"{holder} holds", "as it declares") + ".")
        return replace(self, unit=unit)

    def _contradiction(self, unit: ScoreUnit, holds: str, why: str) -> str:
        words = {"nats": "natural logarithms", "log10": "common logarithms (log10)", "lr": "likelihood ratios (lr)"}
        assert self.unit is not None  # noqa: S101  # otherwise nothing contradicts
        return (
            f"{holds} {words[unit]} {why}, but {words[self.unit]} were declared: leave {self.unit} out (--{self.unit})"
        )

    def system(self, trials: Trials, score: ScoreArray, name: str, header: str | None = None) -> Scores:
        """Return the scores of one system; likelihood ratios become natural logarithms.

        Raises
        ------
        RowError
            If a likelihood ratio is negative or NaN, or the name of the column declares another unit than the user.
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
    """What every format has.

    Attributes
    ----------
    name : str
        What users call it.
    summary : str
        What it holds and where, in one line of the documentation.
    reads, writes : tuple of kinds
    endings : tuple of str
        File endings that choose this format for writing, ``.h5`` for example.
    verified : bool
        Whether the layout was seen in the code or the files of the tool, not only remembered.
    detection_llr : bool
        Whether class scores are detection llrs in files: they are log-likelihoods once they are read.
    interval : pair of str
        What the columns of the bounds of llrs are called, where there is room for more columns.
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
    found_in : tuple of str
        Kinds of files that may be in this format (`deciban.io.source.Source.kind`); none for formats that are read only
        when they are asked for.
    signs : function, optional
        Whether a file of such a kind is in this format, where its kind does not say so; looks at little.
    read : function
    holds : function, optional
        Which of the kinds that the format has room for a source could be read as, by a header or a schema.
    sample : function, optional
        Names of columns and the first rows, as text: for messages that offer options.
    write : function or None
        Writes the contents to a binary stream, which is a new seekable file, and returns what of them it wrote.
    """

    read: Callable[[Source, Options], Contents]
    found_in: tuple[str, ...] = ()
    signs: Callable[[Source], bool] | None = None
    holds: Callable[[Source, Options], tuple[ContentKind, ...]] | None = None
    sample: Callable[[Source], list[list[str]]] | None = None
    write: Callable[[Contents, IO[bytes]], Written] | None = None

    def recognizes(self, source: Source) -> bool:
        """Whether a source is in this format."""
        return source.kind in self.found_in and (self.signs is None or self.signs(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat(BaseFormat):
    """A format of one trial per line.

    Attributes
    ----------
    lines : tuple of str
        The columns, in the ways in which they may come: ``("enroll test score", "enroll test label")``. The roles are
        enroll, test, side, trial, score, label, class, ``-`` (ignored) and ``=NAME`` (kept as condition NAME). Where
        there is a header, ``*`` stands for all other columns, written as they were kept, and ``classes`` for one column
        of scores per class. No lines: the header names the columns freely.
    header : mapping of role to str
        Header of the column of each role, for formats that have one; their columns may come in any order. ``|``
        separates the headers of several systems, and for other roles headers of which one is enough.
    titled : bool
        Whether the first line is a header that may say anything: columns are known by their order.
    delimiter : str
        A blank (any white space), a tab or a comma.
    words : pair of str
        Words for target and non-target when writing.
    derive : function, optional
        Makes roles out of others: called with the columns by role and returns them changed (Bob: label from two names).
    undo : function, optional
        The reverse of ``derive``, before writing.
    plausible : function, optional
        A further check of sampled rows (lists of fields) before this format is assumed.
    log10 : bool
        Whether the scores are common logarithms of likelihood ratios.
    note_on_key : str, optional
        What a user should be told about every key in this format.
    guessed : bool
        Whether a file may be taken for this format without being told; never if it is not verified.
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
"""Endings that say nothing of the format."""

READ_ONLY_ENDINGS = frozenset((".xlsx", ".json"))
"""Endings of files that are read, but not written."""

_FUNCTIONS = {"derive", "undo", "plausible", "signs", "read", "holds", "sample", "write"}
"""Fields that are functions, which the table calls by module and name."""


@cache
def _table() -> dict[str, dict[str, Any]]:
    """The fields of every format by its name, as ``formats.toml`` has them."""
    return tomllib.loads(resources.files(__name__).joinpath("formats.toml").read_text("utf-8"))


@cache
def _made(name: str) -> Format:
    """One format; this imports the modules of its functions."""
    found: dict[str, Any] = {"name": name}
    for key, value in _table()[name].items():
        if key in _FUNCTIONS:
            module, function = value.split(".")
            found[key] = getattr(importlib.import_module(f"{__name__}.{module}"), function)
        else:
            found[key] = _frozen(value)
    return BinaryFormat(**found) if "read" in found else TextFormat(**found)


@cache
def formats() -> dict[str, BaseFormat]:
    """What every format holds, by its name; this imports none of their modules."""
    shared = {one.name for one in fields(BaseFormat)}
    return {
        name: BaseFormat(name=name, **{key: _frozen(value) for key, value in rest.items() if key in shared})
        for name, rest in _table().items()
    }


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@cache
def text_formats() -> dict[str, TextFormat]:
    """Formats of one trial per line."""
    lined = (_made(name) for name, rest in _table().items() if "read" not in rest)
    return {one.name: one for one in lined if isinstance(one, TextFormat)}


def binary_formats(kind: str | None = None) -> dict[str, BinaryFormat]:
    """All other formats, or those that a file of a kind could be in (`deciban.io.source.Source.kind`)."""
    found = (_made(name) for name, rest in _table().items() if kind is None or kind in rest.get("found_in", ()))
    return {one.name: one for one in found if isinstance(one, BinaryFormat)}


def by_name(name: str) -> Format:
    """The format of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    asked: object = name
    if not isinstance(asked, str):
        raise InputError(f"format: got {asked!r}. It is the name of a format: {', '.join(_table())}.")
    if name not in _table():
        raise InputError(f"format: {name!r} is not known. There are {', '.join(_table())}.")
    return _made(name)


def for_ending(file_name: str) -> Format | None:
    """The format that a file of this name is written in when none is asked for; None if the ending says nothing."""
    name = unpacked_name(file_name).casefold()
    found = next((one.name for one in formats().values() if one.endings and name.endswith(one.endings)), None)
    return None if found is None else by_name(found)


_WILDCARDS = re.compile(r"\[[^]]*\]|[*?]")


def bare_name(path: str) -> str:
    """The name of a file without all its endings that mean something; of a pattern, what is beside its wildcards.

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
