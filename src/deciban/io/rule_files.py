"""Files of scoring rules of one's own: a table of thresholds and weights, or of a density, for two classes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from deciban._files import PathLike, display_name
from deciban.errors import FormatError, InputError
from deciban.rules import ThresholdDensity, ThresholdWeights, check_properness
from deciban.types import FloatArray

EXAMPLE = "eta = [0.01, 0.1, 0.5]\nweights = [0.2, 0.3, 0.5]"
"""What messages show."""


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
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: no text in UTF-8 ({error.reason} at byte {error.start}).") from error
    found = _of_table(text, name) if Path(path).suffix.casefold() == ".csv" else _of_toml(text, name)
    if set(found) not in ({"eta", "weights"}, {"eta", "density"}):
        raise FormatError(
            f"{name}: has {', '.join(map(repr, found)) or 'nothing'}. A rule has eta and weights, or eta and "
            f"density:\n{EXAMPLE}"
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


def _of_toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, thousands of brackets
        words = "lists too deep" if isinstance(error, RecursionError) else str(error)
        raise FormatError(f"{name}: no TOML ({words}). A rule reads:\n{EXAMPLE}\nor is a table, .csv.") from error


def _of_table(text: str, name: str) -> dict[str, list[float]]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows = [(number, [cell.strip() for cell in line.split(",")]) for number, line in lines]
    heads = rows[0][1] if rows else []
    double = [head for head in heads if heads.count(head) > 1]
    if double:
        raise FormatError(f"{name}: {double[0]}: two columns of this name.")
    for number, row in rows[1:]:
        if len(row) != len(heads):
            raise FormatError(f"{name}: row {number} has {len(row)} columns, not {len(heads)} ({', '.join(heads)}).")
    return {head: [_number(row[k], head, name) for _, row in rows[1:]] for k, head in enumerate(heads)}


def _number(cell: str, head: str, name: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise FormatError(f"{name}: {head}: {cell!r} is no number.") from error


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
