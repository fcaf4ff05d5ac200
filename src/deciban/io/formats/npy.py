"""One NumPy array: scores, truth, class scores or classes of trials that have no names but their row numbers.

Written by ``numpy.save``, version 1 or 2 of the file format, in any byte order and memory order::

    (n,) floats or integers       scores of n trials (row 0, row 1, ...)
    (n,) booleans                 a key, True for target; with --need key also numbers that are 0 or 1
    (n, k) floats or integers     class scores of n segments; the classes are called 0, 1, ..., k - 1
    (n,) whole numbers            with --need class-key the true classes, 0, 1, ..., of any number type
    (n, k) one-hot                the same where a key is needed: each row has one 1, in the column of its class

A matrix is never taken for binary scores in silence. ``columns`` picks one of its columns, or several as several
systems (``-,score`` the second of two, ``score=2`` the same by number).

There is no room for names, conditions, the name of a system or the base of logarithms: what has them is not written.
Arrays of Python objects are pickles and never loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO

import numpy as np
from numpy.lib import format as npy_format

from deciban.errors import FormatError
from deciban.io.arrays.checked import (
    MOST_CLASSES,
    as_labels,
    as_scores,
    of_one_hot,
    read_array,
    read_header,
    truth_by_words,
)
from deciban.io.columns.headers import parse_columns
from deciban.io.contents import ContentKind, Contents, Written
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.source import Source
from deciban.trials import ClassKey, ClassScores, Index, Key, Origin, Scores, Trials
from deciban.trials.frames.columns import numbered_in_order
from deciban.types import AnyArray, IntArray


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    with only_format_errors(source.name, "a NumPy array"):
        with source.stream() as stream:
            array = read_array(stream, source.size, source.name)
        if array.ndim not in (1, 2) or not array.size:
            raise FormatError(
                f"{source.name}: expected a vector with a number per trial, or a matrix with a column per class, got "
                f"shape {array.shape}."
            )
        origin = Origin(source.name, f"npy, {array.dtype} of shape {array.shape}")
        array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
        if options.need == "class-key" or (options.need == "key" and array.shape[1:] == (2,)):
            array = of_one_hot(array)
        trials = Trials.of_rows(len(array), origin=origin)
        return _of_vector(array, trials, options) if array.ndim == 1 else _of_matrix(array, trials, options)


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:
    """Which kinds of tables a file could be read as, by its shape."""
    with source.stream() as stream:
        shape = read_header(stream, source.name)[0]
    if len(shape) == 2 and shape[1] > 1:
        return ("class-scores",) if options.columns is None else ("scores",)
    return ("scores", "key", "class-key")


def _of_vector(array: AnyArray, trials: Trials, options: Options) -> Contents:
    origin, index = trials.origin, Index(trials)
    if options.columns is not None and _picked(options, 1, origin.name) != [0]:
        raise FormatError(f"{origin.name}: a vector has one column, the score. Leave out --columns.")
    if options.need == "class-key":
        return Contents(origin=origin, index=index, class_key=class_key_of(trials, as_labels(array, origin.name)))
    if options.need == "key" or (array.dtype == np.bool_ and options.need is None):
        is_target, words = truth_by_words(array, options.vocabulary, origin.name)
        return Contents(origin=origin, index=index, key=Key(trials, is_target), words=words)
    return Contents(origin=origin, index=index, systems=(_system(array, trials, options),))


def _system(values: AnyArray, trials: Trials, options: Options, name: str | None = None) -> Scores:
    score = np.ascontiguousarray(as_scores(values, trials.origin.name))
    return options.system(trials, score, name or options.name or "system")


def class_key_of(trials: Trials, labels: IntArray) -> ClassKey:
    """A class key whose classes are called 0, 1, ... up to the largest label, and at least 0 and 1."""
    return ClassKey(trials, tuple(map(str, range(_n_classes(labels)))), labels)


def _n_classes(labels: IntArray) -> int:
    return max(2, int(labels.max()) + 1)


def _of_matrix(matrix: AnyArray, trials: Trials, options: Options) -> Contents:
    origin, index, n_columns = trials.origin, Index(trials), matrix.shape[1]
    if options.columns is not None:
        picked = _picked(options, n_columns, origin.name)
        names = [None if len(picked) == 1 else str(at + 1) for at in picked]
        systems = (_system(matrix[:, at], trials, options, name) for at, name in zip(picked, names, strict=True))
        return Contents(origin=origin, index=index, systems=tuple(systems))
    if options.need in ("key", "class-key"):
        raise FormatError(
            f"{origin.name}: a {matrix.shape[0]:,} x {n_columns:,} matrix, but a key was asked for. Expected one label "
            "per trial, or one-hot rows: a single 1 in the column of the true class, and 0 in all others. The mask of "
            "a matrix of trials has 1 for targets, -1 for non-targets and 0 for cells that are no trial."
        )
    if options.need == "scores":
        raise FormatError(
            f"{origin.name}: a {matrix.shape[0]:,} x {n_columns:,} matrix, but {options.need} were asked for, "
            f"one value per trial. Say which column: --columns score={n_columns}; or, of scores of two classes, that "
            "their difference is meant: --kind two-class (class 1, the second column, is the target then)."
        )
    if n_columns > MOST_CLASSES:
        raise FormatError(f"{origin.name}: a matrix with {n_columns:,} columns. Expected a column per class.")
    classes = tuple(map(str, range(n_columns)))
    scores = ClassScores(trials, classes, as_scores(matrix, origin.name), options.name or "system")
    return Contents(origin=origin, index=index, class_scores=scores)


def _picked(options: Options, n_columns: int, name: str) -> list[int]:
    """The columns, from 0, that the user called scores."""
    roles = parse_columns(options.columns or ())
    numbers = str(roles.get("score")).split("|") if isinstance(roles, Mapping) else []
    if isinstance(roles, Mapping):
        fits = set(roles) == {"score"} and all(n.isdecimal() and 1 <= int(n) <= n_columns for n in numbers)
        picked = [int(number) - 1 for number in numbers] if fits else []
    else:
        fits = len(roles) == n_columns and set(roles) <= {"score", "-"}
        picked = [at for at, role in enumerate(roles) if role == "score"]
    if not fits or not picked:
        raise FormatError(
            f"{name}: --columns picks scores out of {n_columns:,} columns that have no names. Write score=2 for the "
            "second one, or the role of each, score or -."
        )
    return picked


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    held = [kind for kind in contents.kinds if kind != "index"]
    name = contents.origin.name
    if len(held) > 1 or len(contents.systems) > 1:
        raise FormatError(f"npy holds one table, but {name} has {' and '.join(held)}. Choose npz or parquet (--to).")
    npy_format.write_array(stream, _array_of(contents, name), allow_pickle=False)
    return Written(frozenset((*held, "index")))


def _array_of(contents: Contents, name: str) -> AnyArray:
    table = next(iter(contents.tables), None)
    if not isinstance(table, Scores | Key | ClassScores | ClassKey):
        raise FormatError(f"npy holds scores, a key or classes, and {name} none of them. Choose npz or parquet (--to).")
    if not numbered_in_order(table.trials) or table.trials.conditions:
        raise FormatError(
            f"npy has no room for the names and conditions of the trials of {name}. Choose npz or parquet (--to)."
        )
    if isinstance(table, Scores) and table.log10:
        raise FormatError(
            f"npy cannot say that the scores of {name} are common logarithms. Turn them into natural ones first, with "
            "Scores.in_nats(), or choose npz or parquet (--to)."
        )
    if isinstance(table, Scores):
        return table.score
    if isinstance(table, Key):
        return table.is_target
    if table.classes != tuple(map(str, range(len(table.classes)))):
        raise FormatError(f"npy has no room for the names of the classes of {name}. Choose npz or parquet (--to).")
    if isinstance(table, ClassScores):
        return table.score
    if len(table.classes) != _n_classes(table.label):
        raise FormatError(
            f"npy cannot say that there are {len(table.classes)} classes when the last ones do not occur in {name}. "
            "Choose npz or parquet (--to)."
        )
    return table.label
