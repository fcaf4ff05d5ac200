"""New quality measures that are weighted sums of those that there are: a matrix for each side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from deciban._validate import arrays as _validate
from deciban.errors import InputError
from deciban.fusion.quality_measures import QUALITY_SIDES, Measures
from deciban.types import FloatArray, ScoreArray


def plain_combination(given: Any) -> Any:
    """Check what a user passed for ``combine``, and return it as a model file holds it.

    Parameters
    ----------
    given : None, (n_new, n_measures) array_like, or mapping of str to such
        One matrix for all measures that there are, or one for each of ``enroll``, ``test`` and ``trial``.

    Returns
    -------
    None, list of lists, or dict of such

    Raises
    ------
    InputError
        If it is none of these.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return _matrix(given, "combine").tolist()
    if not given or set(given) - set(QUALITY_SIDES):
        raise InputError(
            f"combine: expected a matrix, or matrices of {', '.join(QUALITY_SIDES)}; got those of {[*given]}."
        )
    return {kind: _matrix(given[kind], f"combine[{kind!r}]").tolist() for kind in QUALITY_SIDES if kind in given}


def matrices_of(combine: Any) -> dict[str, FloatArray]:
    """The matrix of each kind of measures that is to be combined; checked, for a setting may have been changed."""
    checked = plain_combination(combine)
    if checked is None:
        return {}
    each = checked if isinstance(checked, dict) else dict.fromkeys(QUALITY_SIDES, checked)
    return {kind: np.array(rows, np.float64) for kind, rows in each.items()}


def combined_measures(measures: Measures, combine: Any) -> Measures:
    """Combine the measures of trials; a measure that is missing does not matter where its weight is 0.

    Raises
    ------
    InputError
        If a matrix does not fit, there is one for measures that are not there, or a sum is no finite number.
    """
    tables: dict[str, ScoreArray | None] = {kind: getattr(measures, kind) for kind in QUALITY_SIDES}
    for kind, matrix in matrices_of(combine).items():
        table = tables[kind]
        if table is not None:
            tables[kind] = _combined(table, matrix, kind)
        elif isinstance(combine, Mapping):
            raise InputError(f"combine: a matrix for {kind} measures, but there are none. Leave it out, or pass them.")
    present = np.ones(len(measures.present), np.bool_)
    for table in tables.values():
        if table is not None:
            present &= ~np.isnan(table).any(axis=1)
    return replace(measures, **tables, present=present)


def raw_sizes(combine: Any, n_measures: Mapping[str, int]) -> dict[str, int]:
    """How many measures of each kind a fusion takes, that uses so many after they were combined."""
    matrices = matrices_of(combine)
    return {kind: matrices[kind].shape[1] if n and kind in matrices else n for kind, n in n_measures.items()}


def require_fitting(combine: Any, n_measures: Mapping[str, int]) -> None:
    """Refuse matrices that make more or fewer measures than have weights.

    Raises
    ------
    InputError
    """
    for kind, matrix in matrices_of(combine).items():
        if (n := n_measures.get(kind, 0)) and len(matrix) != n:
            raise InputError(f"combine: makes {len(matrix)} {kind} measures, but {n} have weights.")


def _matrix(values: Any, name: str) -> FloatArray:
    rows = _validate.array(values, name)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "biuf" or not np.isfinite(rows).all():
        raise InputError(
            f"{name}: expected a matrix of finite numbers with one row for each new measure and one column for each "
            f"that there is, got shape {rows.shape} of {rows.dtype} values."
        )
    return rows.astype(np.float64)


def _combined(table: ScoreArray, matrix: FloatArray, kind: str) -> FloatArray:
    if matrix.shape[1] != table.shape[1]:
        raise InputError(
            f"combine: {matrix.shape[1]} weights in a row for {table.shape[1]} {kind} measures. Give one for each "
            "measure, 0 for those that are not wanted."
        )
    new = np.empty((len(table), len(matrix)))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, weights in enumerate(matrix):
            used = np.flatnonzero(weights)
            new[:, k] = table[:, used] @ weights[used]
    missing = [np.isnan(table[:, np.flatnonzero(weights)]).any(axis=1) for weights in matrix]
    if not (np.isfinite(new) | np.column_stack(missing)).all():
        raise InputError(f"combine: weighted sums of {kind} measures do not fit a float. Take another unit.")
    return new
