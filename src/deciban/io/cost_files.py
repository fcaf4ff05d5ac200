"""Files of costs (actions, classes, and what each action costs when each class is true) and of scoring rules."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._files import PathLike, display_name
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Prior
from deciban.decisions import Application
from deciban.errors import FormatError, InputError
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.rules import ThresholdDensity, ThresholdWeights

_KEYS = {"actions", "classes", "costs", "prior"}

_MOST = 1e300
"""Costs up to which sums and ratios of some are finite."""

EXAMPLE = 'actions = ["accept", "reject"]\nclasses = ["target", "nontarget"]\ncosts = [[0, 1], [10, 0]]'
"""What messages show."""


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """What each action costs when each class is true.

    Attributes
    ----------
    actions, classes : tuple of str
        Of two classes the first one is the target.
    costs : (n_actions, n_classes) array
        From 0 to 1e300.
    prior : (n_classes,) array or None
        If the file says one.
    name : str
        What messages call the file.
    """

    actions: tuple[str, ...]
    classes: tuple[str, ...]
    costs: FloatArray
    prior: FloatArray | None = None
    name: str = "costs"

    def application(self, prior: Prior | float | None = None) -> Application:
        """The costs at a prior.

        Parameters
        ----------
        prior : float, sequence, mapping of class to probability, "flat" or None
            One number is the prior of the first of two classes; None that of the file.

        Returns
        -------
        Application

        Raises
        ------
        InputError
            If it is no prior of these classes, or none is given and the file says none.
        """
        if prior is None:
            if self.prior is None:
                raise InputError(
                    f"prior: none is given, and {self.name} says none. Say how probable the classes are (--prior 0.01, "
                    "--prior flat), or write it into the file: prior = [0.01, 0.99]."
                )
            return Application(self.costs, self.prior)
        if isinstance(prior, float | int):
            if len(self.classes) != 2:
                raise InputError(f"prior: one number for {len(self.classes)} classes. Give one for each, by name.")
            if not 0.0 < prior < 1.0:
                raise InputError(
                    f"prior: {prior}. The probability of {self.classes[0]} is inside (0, 1): at 0 and 1 there is "
                    "nothing to decide."
                )
            return Application(self.costs, [prior, 1.0 - prior])
        return Application(self.costs, _validate_classes.prior_of(prior, self.classes))


def read_costs(path: PathLike) -> CostTable:
    """Read a file of costs.

    Parameters
    ----------
    path : path
        TOML with ``actions`` and ``classes``, lists of names, and ``costs``, a row of numbers for each action;
        ``prior`` may be there: a probability for each class, or one number, that of the first of two classes.

    Returns
    -------
    CostTable

    Raises
    ------
    FormatError
        If it is no TOML, a key is missing or unknown, or shapes do not agree; the message names key and row.
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
    found = _of_toml(_text(path), name, f"A file of costs reads:\n{EXAMPLE}")
    missing, unknown = {"actions", "classes", "costs"} - set(found), set(found) - _KEYS
    if missing or unknown:
        words = f"no {', '.join(sorted(missing))}" if missing else f"{', '.join(sorted(unknown))}, which is none"
        raise FormatError(
            f"{name}: has {words}. A file of costs has actions, classes, costs and perhaps a prior:\n{EXAMPLE}"
        )
    actions, classes = (_names(found[key], key, name) for key in ("actions", "classes"))
    costs = _matrix(found["costs"], actions, classes, name)
    try:
        table = CostTable(actions, classes, costs, None, name)
        given = found.get("prior")
        prior = None if given is None else np.asarray(table.application(given).prior)
    except InputError as error:
        raise FormatError(f"{name}: {error}") from error
    return replace(table, prior=prior)


def _text(path: PathLike) -> str:
    try:
        return Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        place = f"{error.reason} at byte {error.start}"
        raise FormatError(f"{display_name(path)}: no text in UTF-8 ({place}).") from error


def _of_toml(text: str, name: str, example: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        words = str(error)
        if not isinstance(error, tomllib.TOMLDecodeError):  # numbers of thousands of digits, thousands of brackets
            words = "lists too deep" if isinstance(error, RecursionError) else "numbers too long"
        raise FormatError(f"{name}: no TOML ({words}). {example}") from error


def _names(values: Any, key: str, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(one, str) and one for one in values):
        raise FormatError(f'{name}: {key}: expected a list of names, such as ["accept", "reject"], got {values!r}.')
    double = [one for one in dict.fromkeys(values) if values.count(one) > 1]
    if double:
        raise FormatError(f"{name}: {key}: {double[0]!r} is there {values.count(double[0])} times. Names are unique.")
    return tuple(values)


def _matrix(rows: Any, actions: tuple[str, ...], classes: tuple[str, ...], name: str) -> FloatArray:
    if not isinstance(rows, list) or len(rows) != len(actions):
        given = f"{len(rows)} rows" if isinstance(rows, list) else repr(rows)
        raise FormatError(f"{name}: costs: {given} for {len(actions)} actions. Give a row for each, in their order.")
    for action, row in zip(actions, rows, strict=True):
        if not isinstance(row, list) or len(row) != len(classes):
            raise FormatError(f"{name}: costs of {action}: {row!r} for {len(classes)} classes. Give a number for each.")
        for label, one in zip(classes, row, strict=True):
            is_number = isinstance(one, int | float) and not isinstance(one, bool)
            if not is_number or not 0.0 <= one <= _MOST:
                raise FormatError(
                    f"{name}: costs of {action} when {label} is true: {one!r}. Costs are numbers from 0 to 1e300."
                )
    return np.array(rows, np.float64)


RULE_EXAMPLE = "eta = [0.01, 0.1, 0.5]\nweights = [0.2, 0.3, 0.5]"


def read_rule(path: PathLike) -> ThresholdWeights | ThresholdDensity:
    """Read a scoring rule of two classes: thresholds of the posterior of a target, and what each of them weighs.

    Parameters
    ----------
    path : path
        TOML with the lists ``eta`` and ``weights`` (detection problems, thesis 7.34) or ``eta`` and ``density``
        (straight between its points, thesis 7.35); or CSV (``.csv``) with two columns of these names. Weights are taken
        as they are. ``eta`` is the posterior from which on a target is accepted.

    Returns
    -------
    ThresholdWeights or ThresholdDensity
        Proper, as all weightings of thresholds are.

    Raises
    ------
    FormatError
        If there is something else in it, a number is none, or they make no rule; if the rule is not proper, as some
        weight or density is negative, with distributions for which lying pays.
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
    from deciban.rules import ThresholdDensity, ThresholdWeights  # costs need none of it

    is_table, example = Path(path).suffix.casefold() == ".csv", f"A rule reads:\n{RULE_EXAMPLE}\nor is a table, .csv."
    found = _of_table(_text(path), name) if is_table else _of_toml(_text(path), name, example)
    if set(found) not in ({"eta", "weights"}, {"eta", "density"}):
        raise FormatError(
            f"{name}: has {', '.join(map(repr, found)) or 'nothing'}. A rule has eta and weights, or eta and "
            f"density:\n{RULE_EXAMPLE}"
        )
    numbers = {key: _numbers(values, key, name) for key, values in found.items()}
    try:
        _require_proper(numbers["eta"], numbers, name)
        return ThresholdWeights(**numbers) if "weights" in numbers else ThresholdDensity(**numbers)
    except InputError as error:
        raise FormatError(f"{name}: {error}") from error


def _require_proper(eta: FloatArray, numbers: dict[str, FloatArray], name: str) -> None:
    """Refuse negative weights with who gains by lying, if it is found; what makes no rule at all is left alone.

    Raises
    ------
    FormatError
        With a counter-example.
    InputError
        If thresholds are none.
    """
    from deciban.rules import ThresholdDensity, ThresholdWeights, check_properness

    what = "weights" if "weights" in numbers else "density"
    values = numbers[what]
    if values.shape != eta.shape or not np.isfinite(values).all() or not (values < 0.0).any():
        return
    made = ThresholdWeights if what == "weights" else ThresholdDensity
    plus, minus = made(eta, np.maximum(values, 0.0)), made(eta, np.maximum(-values, 0.0))
    found = check_properness(lambda q: plus.costs(q) - minus.costs(q), 2)
    place = int(np.argmin(values))
    example = "" if found.is_proper else f" It is {found} (target, non-target)."
    raise FormatError(
        f"{name}: {what}: {values[place]:g} at eta {eta[place]:g}. With negative {what} a rule may reward lying: give "
        f"numbers of at least 0.{example}"
    )


def _of_table(text: str, name: str) -> dict[str, Any]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows = [(number, [cell.strip() for cell in line.split(",")]) for number, line in lines]
    heads = rows[0][1] if rows else []
    double = [head for head in heads if heads.count(head) > 1]
    if double:
        raise FormatError(f"{name}: {double[0]}: two columns of this name.")
    for number, row in rows[1:]:
        if len(row) != len(heads):
            raise FormatError(f"{name}: row {number} has {len(row)} columns, not {len(heads)} ({', '.join(heads)}).")
    return {head: [_number(row[k]) for _, row in rows[1:]] for k, head in enumerate(heads)}


def _number(cell: str) -> float | str:
    """Return the number in a cell; the cell itself if it is none."""
    try:
        return float(cell)
    except ValueError:
        return cell


def _numbers(values: Any, key: str, name: str) -> FloatArray:
    if not isinstance(values, list) or not values:
        raise FormatError(f"{name}: {key}: expected a list of numbers, got {values!r}.")
    odd = [one for one in values if isinstance(one, bool) or not isinstance(one, int | float)]
    if odd:
        raise FormatError(f"{name}: {key}: {odd[0]!r} is no number.")
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise FormatError(f"{name}: {key}: a number beyond those of 64 bits.") from error
