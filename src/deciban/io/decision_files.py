"""Files about decisions: their costs, and decisions that were made elsewhere, with a word for each trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from deciban._arrow import pc, to_numpy
from deciban._files import read_short_text, toml_of
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Prior
from deciban.decisions import Application
from deciban.errors import FormatError, InputError, display_name, not_none, option, shortened
from deciban.io.columns.headers import CONDITION
from deciban.io.columns.values import table_of_all
from deciban.io.formats import InputOptions, text_formats, text_layouts
from deciban.io.partitions.files import whole_table
from deciban.io.source import Source, numbered_lines, read_text, unpacked_name
from deciban.io.text.reader import Layout, TextBlocks, is_number, parse_blocks, split
from deciban.trials import Origin
from deciban.types import FloatArray, IntArray, Json, PathLike

if TYPE_CHECKING:
    from deciban.rules import ThresholdDensity, ThresholdWeights


COLUMNS = ("action", "decision")
"""Names of the column of decisions, in the order of preference."""

_WORDS = {"accept": "accept", "accepted": "accept", "reject": "reject", "rejected": "reject"}
"""Words with only one possible meaning."""

_OF_DECIDING = ("posterior", "expected_cost", "margin", "score", "llr")
"""Columns that ``deciban decide`` writes besides decisions, which are ignored."""


@dataclass(frozen=True, slots=True, eq=False)
class DecisionFile:
    """Decisions in a file.

    Attributes
    ----------
    name : str
        Name of the file for messages.
    names : table
        The columns that identify trials, and other columns about them.
    action : (n_trials,) int array
        Index of the action.
    actions : tuple of str
    column : str
        Name of the column of decisions.
    accepts : mapping of str to tuple of str, optional
        For separate decisions about each class: the classes that each action accepts.
    classes : tuple of str, optional
        These classes.
    """

    name: str
    names: pa.Table
    action: IntArray
    actions: tuple[str, ...]
    column: str
    accepts: Mapping[str, tuple[str, ...]] | None = None
    classes: tuple[str, ...] | None = None


LINES = "nist-lre07"
"""The format with one line for each decision about a class of a segment."""


def _otherwise() -> str:
    """Return the advice on files whose columns are unclear."""
    words = "or, if each line decides about one class of a segment, the format"
    return f"name the columns ({option(columns='trial,action')}), {words} ({option(format=LINES)})."


_NONE = "(none)"


def read_decision_lines(path: PathLike) -> DecisionFile:
    """Read a file of the format ``nist-lre07``, with a line and a decision for each segment and language.

    The action on a segment is the set of accepted languages: ``eng``, ``eng+fra`` or ``(none)``.

    Parameters
    ----------
    path : path

    Returns
    -------
    DecisionFile
        With the columns ``trial`` and, if the lines contain the true language, ``class``.

    Raises
    ------
    FormatError
        If lines are missing or repeated, or a decision is neither ``t`` nor ``f``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lre.txt"
    >>> lines = ["eng closed s1 t 1.5", "fra closed s1 t -1", "eng closed s2 f 0", "fra closed s2 f 1"]
    >>> _ = path.write_text("".join(f"lr {line}\\n" for line in lines))
    >>> found = read_decision_lines(path)
    >>> found.actions, found.action
    (('(none)', 'eng+fra'), array([1, 0]))
    """
    lines = text_layouts.read_lines(Source(path), "system")
    sets, action = np.unique(lines.accepted(), axis=0, return_inverse=True)
    accepts = [tuple(name for name, one in zip(lines.classes, row, strict=True) if one) for row in sets.tolist()]
    actions = tuple("+".join(one) or _NONE for one in accepts)
    columns = {"trial": lines.segments.names[0]}
    if lines.key is not None:
        columns["class"] = pa.array(lines.key.classes).take(pa.array(lines.key.label))
    of_sets, codes = dict(zip(actions, accepts, strict=True)), action.reshape(-1).astype(np.int64)
    name = display_name(path)
    return DecisionFile(name, pa.table(columns), codes, actions, "decision", of_sets, tuple(lines.classes))


def read_decisions(
    path: PathLike,
    *,
    actions: Sequence[str] | None = None,
    words: Mapping[str, str] | None = None,
    column: str | None = None,
    columns: Sequence[str] | None = None,
) -> DecisionFile:
    """Read a file of decisions: CSV, TSV, Parquet, or text with blanks between columns.

    Parameters
    ----------
    path : path
        A file from ``deciban decide``, or any table with a column of decisions.
    actions : sequence of str, optional
        The possible actions; by default, all words of the file in alphabetical order.
    words : mapping of str to str, optional
        The action for words of the file: ``{"yes": "accept", "no": "reject"}``.
    column : str, optional
        Name of the column of decisions; by default ``action`` or ``decision``.
    columns : sequence of str, optional
        Names of the columns of a file without a header.

    Returns
    -------
    DecisionFile

    Raises
    ------
    FormatError
        If it cannot be read, lacks this column, or contains a word that is not an action.
    InputError
        If there are fewer than two actions.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "decisions.csv"
    >>> _ = path.write_text("trial,action\\na,accept\\nb,reject\\n")
    >>> found = read_decisions(path, actions=["accept", "reject"])
    >>> found.action, found.names.column_names
    (array([0, 1]), ['trial'])
    """
    name, table = display_name(path), _table(path, columns)
    chosen = _column(table, name, column)
    written = pc.utf8_trim_whitespace(table[chosen].cast(pa.string()))
    empty = np.flatnonzero(to_numpy(pc.fill_null(pc.equal(written, ""), fill_value=True)))
    if len(empty):
        raise FormatError(
            f"{name}: row {empty[0] + 1} contains no decision. Write one for every trial, or leave the trial out."
        )
    encoded = pc.dictionary_encode(written).combine_chunks()
    result = encoded.dictionary.to_pylist()
    meant = {word: _meaning(word, words or {}, actions) for word in result}
    known = tuple(actions) if actions is not None else tuple(sorted(set(meant.values())))
    odd = [word for word in result if meant[word] not in known]
    if odd:
        raise FormatError(
            f"{name}: column {chosen!r} contains {shortened(', '.join(map(repr, odd)))}, but the actions are "
            f"{', '.join(known)}. Define the words ({option('accept', 'reject')}), or name the column."
        )
    if len(known) < 2:
        raise InputError(f"{name}: {', '.join(known)} is the only action. Name all actions ({option(classes=...)}).")
    place = np.array([known.index(meant[word]) for word in result], np.int64)
    kept = [one for one in table.column_names if one != chosen and not one.startswith(_OF_DECIDING)]
    if not kept:
        raise FormatError(f"{name}: no column with names of trials besides {chosen!r}. A key is matched by name.")
    return DecisionFile(name, table.select(kept), place[to_numpy(encoded.indices)], known, chosen)


def _meaning(word: str, words: Mapping[str, str], actions: Sequence[str] | None) -> str:
    if word in words:
        return words[word]
    return word if actions is not None and word in actions else _WORDS.get(word.casefold(), word)


def _column(table: pa.Table, name: str, column: str | None) -> str:
    items = [one for one in ((column,) if column is not None else COLUMNS) if one in table.column_names]
    if not items:
        expected = repr(column) if column is not None else " or ".join(map(repr, COLUMNS))
        raise FormatError(
            f"{name}: no column {expected}, but {', '.join(map(repr, table.column_names))}. Name the column of "
            f"decisions ({option(decision_column=...)}), {_otherwise()}"
        )
    return items[0]


def _table(path: PathLike, columns: Sequence[str] | None) -> pa.Table:
    """Return all columns as text: names such as 007 are not numbers, and the meaning of 1 and 0 is not guessed."""
    source, name = Source(path), display_name(path)
    if source.is_folder or source.kind == "Parquet":
        table = whole_table(source, InputOptions())
        return table_of_all(table.rows, table.schema.names) if table.rows else table.schema.empty_table()
    text = read_text(source)
    _, line = next(numbered_lines(text, name), (1, ""))
    usual = {".csv": ",", ".tsv": "\t"}.get(Path(unpacked_name(name)).suffix.casefold())
    delimiter = usual or next((sign for sign in "\t," if sign in line), " ")
    titles = split(line, delimiter, quoted=delimiter != " ") if columns is None else list(columns)
    if len({*titles}) < len(titles):
        raise FormatError(f"{name}: two columns have one name: {', '.join(titles)}. Rename one, or {_otherwise()}")
    roles = tuple(CONDITION + title for title in titles)
    layout = Layout(
        text_formats()["table"], roles, delimiter, tuple(titles) if columns is None else None, quoted=delimiter != " "
    )
    result = parse_blocks(TextBlocks(name, layout, text=text), Origin(name), "", InputOptions(need="index"))
    return pa.table({**not_none(result.index, "index").trials.conditions})


_KEYS = {"actions", "classes", "costs", "prior"}

_MOST = 1e300
"""Largest cost; sums and ratios of several costs stay finite."""

EXAMPLE = 'actions = ["accept", "reject"]\nclasses = ["target", "nontarget"]\ncosts = [[0, 1], [10, 0]]'
"""Example for messages."""


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """The cost of each action for each true class.

    Attributes
    ----------
    actions, classes : tuple of str
        The first of two classes is the target.
    costs : (n_actions, n_classes) array
        From 0 to 1e300.
    prior : (n_classes,) array or None
        The prior in the file, if any.
    name : str
        Name of the file for messages.
    """

    actions: tuple[str, ...]
    classes: tuple[str, ...]
    costs: FloatArray
    prior: FloatArray | None = None
    name: str = "costs"

    def application(self, prior: Prior | float | None = None) -> Application:
        """Return the costs with a prior.

        Parameters
        ----------
        prior : float, sequence, mapping of class to probability, "flat" or None
            A number is the prior of the first of two classes; None means the prior in the file.

        Returns
        -------
        Application

        Raises
        ------
        InputError
            If it is not a prior of these classes, or it is None and the file contains no prior.
        """
        if prior is None:
            if self.prior is None:
                one, several = (
                    (0.01, "[0.01, 0.99]") if len(self.classes) == 2 else ("flat", "[...], one number per class,")
                )
                raise InputError(
                    f"prior: you gave none, and {self.name} contains none. Give the probabilities of the classes "
                    f"({option(prior=one)}), or write prior = {several} into the file."
                )
            return Application(self.costs, self.prior)
        if isinstance(prior, float | int):
            if len(self.classes) != 2:
                raise InputError(
                    f"prior: one number for {len(self.classes)} classes. Give one for each of "
                    f"{', '.join(self.classes)}, or flat."
                )
            if not 0.0 < prior < 1.0:
                raise InputError(
                    f"prior: {prior}. The probability of {self.classes[0]} must be inside (0, 1): with 0 or 1 there is "
                    "no decision."
                )
            return Application(self.costs, [prior, 1.0 - prior])
        return Application(self.costs, _validate_classes.prior_of(prior, self.classes))


def read_costs(path: PathLike) -> CostTable:
    """Read a file of costs.

    Parameters
    ----------
    path : path
        TOML with ``actions`` and ``classes``, lists of names, and ``costs``, a row of numbers for each action. Optional
        is ``prior``: a probability for each class, or the probability of the first of two classes.

    Returns
    -------
    CostTable

    Raises
    ------
    FormatError
        If it is not TOML, a key is missing or unknown, or shapes do not match; the message contains key and row.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "costs.toml"
    >>> _ = path.write_text('actions = ["yes", "no"]\\nclasses = ["a", "b"]\\ncosts = [[0, 5], [1, 0]]')
    >>> table = read_costs(path)
    >>> table.actions, table.application(0.2).default_action
    (('yes', 'no'), 1)
    """
    name = display_name(path)
    result = toml_of(read_short_text(path), name, f"A file of costs looks like this:\n{EXAMPLE}")
    missing, unknown = {"actions", "classes", "costs"} - set(result), set(result) - _KEYS
    if missing or unknown:
        words = f"no {', '.join(sorted(missing))}" if missing else f"the unknown key {', '.join(sorted(unknown))}"
        raise FormatError(
            f"{name}: has {words}. A file of costs has actions, classes, costs and, optionally, a prior:\n{EXAMPLE}"
        )
    actions, classes = (_names(result[key], key, name) for key in ("actions", "classes"))
    costs = _matrix(result["costs"], actions, classes, name)
    try:
        table = CostTable(actions, classes, costs, None, name)
        value = result.get("prior")
        prior = None if value is None else np.asarray(table.application(value).prior)
    except InputError as error:
        raise FormatError(f"{name}: {error}") from error
    return replace(table, prior=prior)


def _names(values: Json, key: str, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(one, str) and one for one in values):
        raise FormatError(f'{name}: {key}: expected a list of names, such as ["accept", "reject"], got {values!r}.')
    double = [one for one in dict.fromkeys(values) if values.count(one) > 1]
    if double:
        raise FormatError(f"{name}: {key}: {double[0]!r} occurs {values.count(double[0])} times. Names must be unique.")
    return tuple(values)


def _matrix(rows: Json, actions: tuple[str, ...], classes: tuple[str, ...], name: str) -> FloatArray:
    if not isinstance(rows, list) or len(rows) != len(actions):
        value = f"{len(rows)} rows" if isinstance(rows, list) else repr(rows)
        raise FormatError(f"{name}: costs: {value} for {len(actions)} actions. Write a row for each, in their order.")
    for action, row in zip(actions, rows, strict=True):
        if not isinstance(row, list) or len(row) != len(classes):
            raise FormatError(
                f"{name}: costs of {action}: {row!r} for {len(classes)} classes. Write a number for each."
            )
        for label, one in zip(classes, row, strict=True):
            is_number = isinstance(one, int | float) and not isinstance(one, bool)
            if not is_number or not 0.0 <= one <= _MOST:
                raise FormatError(
                    f"{name}: costs of {action} when {label} is true: {one!r}. Costs must be numbers from 0 to 1e300."
                )
    return np.array(rows, np.float64)


RULE_EXAMPLE = "eta = [0.01, 0.1, 0.5]\nweights = [0.2, 0.3, 0.5]"


def read_rule(path: PathLike) -> ThresholdWeights | ThresholdDensity:
    """Read a scoring rule for two classes: thresholds of the posterior of a target, and their weights.

    Parameters
    ----------
    path : path
        TOML with the lists ``eta`` and ``weights`` (detection problems, thesis 7.34) or ``eta`` and ``density``
        (linear between its points, thesis 7.35); or CSV (``.csv``) with two columns of these names. Weights are not
        normalized. ``eta`` is the smallest posterior at which a target is accepted.

    Returns
    -------
    ThresholdWeights or ThresholdDensity
        Always a proper rule.

    Raises
    ------
    FormatError
        If it contains something else, a value is not a number, or the numbers are not a rule; also if the rule is not
        proper because a weight or density is negative, so that wrong forecasts can score better.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rule.toml"
    >>> _ = path.write_text("eta = [0.5, 0.9]\\nweights = [0.5, 0.5]")
    >>> read_rule(path).costs([[0.7, 0.3]]).round(4)
    array([[0.5556, 1.    ]])
    """
    name = display_name(path)
    from deciban.rules import ThresholdDensity, ThresholdWeights  # not needed for costs

    is_table = Path(path).suffix.casefold() == ".csv"
    example = f"A rule looks like this:\n{RULE_EXAMPLE}\nor is a table, .csv."
    result = _of_table(read_short_text(path), name) if is_table else toml_of(read_short_text(path), name, example)
    if set(result) not in ({"eta", "weights"}, {"eta", "density"}):
        raise FormatError(
            f"{name}: has {', '.join(map(repr, result)) or 'nothing'}. A rule has eta and weights, or eta and "
            f"density:\n{RULE_EXAMPLE}"
        )
    numbers = {key: _numbers(values, key, name) for key, values in result.items()}
    try:
        _require_proper(numbers["eta"], numbers, name)
        return ThresholdWeights(**numbers) if "weights" in numbers else ThresholdDensity(**numbers)
    except InputError as error:
        raise FormatError(f"{name}: {error}") from error


def _require_proper(eta: FloatArray, numbers: dict[str, FloatArray], name: str) -> None:
    """Raise if weights are negative, with an example of a rewarded wrong forecast; other errors are left to the rule.

    Raises
    ------
    FormatError
        With a counter-example, if one is found.
    InputError
        If the thresholds are invalid.
    """
    from deciban.rules import ThresholdDensity, ThresholdWeights, check_properness

    what = "weights" if "weights" in numbers else "density"
    values = numbers[what]
    if values.shape != eta.shape or not np.isfinite(values).all() or not (values < 0.0).any():
        return
    rule = ThresholdWeights if what == "weights" else ThresholdDensity
    plus, minus = rule(eta, np.maximum(values, 0.0)), rule(eta, np.maximum(-values, 0.0))
    result = check_properness(lambda q: plus.costs(q) - minus.costs(q), 2)
    place = int(np.argmin(values))
    example = "" if result.is_proper else f" It is {result} (target, non-target)."
    raise FormatError(
        f"{name}: {what}: {values[place]:g} at eta {eta[place]:g}. With negative {what}, a rule may reward wrong "
        f"forecasts: write numbers of at least 0.{example}"
    )


def _of_table(text: str, name: str) -> dict[str, Json]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows = [(number, [cell.strip() for cell in line.split(",")]) for number, line in lines]
    heads = rows[0][1] if rows else []
    double = [head for head in heads if heads.count(head) > 1]
    if double:
        raise FormatError(f"{name}: {double[0]}: two columns have this name.")
    for number, row in rows[1:]:
        if len(row) != len(heads):
            raise FormatError(f"{name}: row {number} has {len(row)} columns, not {len(heads)} ({', '.join(heads)}).")
    columns = {head: [row[k] for _, row in rows[1:]] for k, head in enumerate(heads)}
    return {head: [float(cell) if is_number(cell) else cell for cell in cells] for head, cells in columns.items()}


def _numbers(values: Json, key: str, name: str) -> FloatArray:
    if not isinstance(values, list) or not values:
        raise FormatError(f"{name}: {key}: expected a list of numbers, got {values!r}.")
    odd = [one for one in values if isinstance(one, bool) or not isinstance(one, int | float)]
    if odd:
        raise FormatError(f"{name}: {key}: {odd[0]!r} is not a number.")
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise FormatError(f"{name}: {key}: a number is too large for 64 bits.") from error
