"""NumPy files: one array (``.npy``), or several in one archive (``.npz``).

One array contains scores, truth, class scores or classes of trials without names, identified by their rows.

Written by ``numpy.save``, version 1 or 2 of the file format, in any byte order and memory order::

    (n,) floats or integers       scores of n trials (row 0, row 1, ...)
    (n,) booleans                 a key, True for target; with --need key also numbers that are 0 or 1
    (n, k) floats or integers     class scores of n segments; the classes are named 0, 1, ..., k - 1
    (n,) integers                 with --need class-key the true classes, 0, 1, ..., of any number type
    (n, k) one-hot                the same if a key is needed: each row has one 1, in the column of its class

A matrix is never silently read as two-class scores. ``columns`` selects one of its columns, or several columns as
several systems (``-,score`` is the second of two columns, ``score=2`` the same by number).

The format cannot contain names, conditions, the name of a system or the base of logarithms; tables with these are
refused. Arrays of Python objects are pickles and never loaded.

An archive contains scores, keys, class scores and class keys with the names of their trials.

Written by ``numpy.savez`` or ``numpy.savez_compressed``, without Python objects. The arrays, for n trials, or for a
grid of m enrolments and s test segments::

    enroll, test [, side]    (n,) text             names of the trials; or
    trial                    (n,) text             single names of the trials; or neither: row 0, row 1, ...
    X_names                  (number of names,)    with X = enroll, test, side or trial: the distinct names; X then
                                                   contains (n,) integers, indices in this list
    enroll_names, test_names (m,) (s,) text        without enroll and test: a grid, listed row by row;
    mask                     (m, s) booleans       the cells that are trials, if not all of them

    score                    (n,) or (m, s)        scores of one system, floats or integers; for several systems
    score:NAME               (n,) or (m, s)        the scores of each system
    log10                    () boolean            True if scores are common logarithms
    is_target                (n,) or (m, s)        the key, booleans
    classes, score           (k,) text, (n, k)     class scores
    classes, label           (k,) text, (n,)       a class key: indices in classes, or names
    condition:NAME           (n,)                  conditions of the trials: text, numbers, booleans

In a grid, cells outside the mask may have any value. Files from other programs are read, too, with common names:
``scores``, ``y_score``, ``y_prob``, ``y_proba``, ``probs``, ``probabilities``, ``logits`` or ``y_pred`` for score (the
first one that exists), and ``labels``, ``label`` or ``y_true`` for truth (booleans or 0 and 1) or the true class
(integers, text, or one-hot rows). A matrix of scores without names is read as class scores, and the labels are then
classes. Other arrays are skipped, with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import IO

import numpy as np
import pyarrow as pa
from numpy.lib import format as npy_format

from deciban._arrow import to_numpy
from deciban.errors import FormatError, either, option
from deciban.io.columns.headers import parse_columns
from deciban.io.formats import ContentKind, Contents, InputOptions, WrittenContents, only_format_errors, truth_of
from deciban.io.matrices import numpy_files
from deciban.io.matrices.named_matrix import matrix_of
from deciban.io.source import Source
from deciban.trials import ClassKey, ClassScores, Index, Key, Origin, Scores, Trials
from deciban.trials.frames import check_same_trials
from deciban.trials.lists import PAIR, PAIR_SIDE, ROW, SINGLE
from deciban.types import AnyArray


def read_npy(source: Source, options: InputOptions) -> Contents:
    """Read a file with one array."""
    name = source.name
    with only_format_errors(name, "a NumPy array"):
        with source.stream() as stream:
            array = numpy_files.read_array(stream, source.size, name)
        if array.ndim not in (1, 2) or not array.size:
            raise FormatError(
                f"{name}: expected a vector with a number per trial, or a matrix with a column per class, got shape "
                f"{array.shape}."
            )
        origin = Origin(name, f"npy, {array.dtype} of shape {array.shape}")
        arrays = _called(array[:, 0] if array.shape[1:] == (1,) else array, options, name)
        return _ArrayReader(name, arrays, arrays.__getitem__, options, lambda _: name).contents(origin)


def _called(array: AnyArray, options: InputOptions, name: str) -> dict[str, AnyArray]:
    """Return one array under its name in an archive; or selected columns of a matrix."""
    need, n_columns = options.need, 1 if array.ndim == 1 else array.shape[1]
    if options.columns is not None:
        picked = _picked(options, n_columns, name)
        columns = array.reshape(len(array), n_columns)
        return {f"{SYSTEM}{at + 1}": columns[:, at] for at in picked}
    if need == "class-key" or (need == "key" and n_columns == 2):
        array = numpy_files.of_one_hot(array)
    if array.ndim == 1:
        is_label = need in ("key", "class-key") or (array.dtype == np.bool_ and need is None)
        if is_label:
            numpy_files.refuse_text(array, name)
        return {"label" if is_label else "score": array}
    size = f"{array.shape[0]:,} x {n_columns:,}"
    if need in ("key", "class-key"):
        raise FormatError(
            f"{name}: a {size} matrix, but a key is needed. Expected one label per trial, or one-hot rows: a single 1 "
            "in the column of the true class, and 0 in all others; or the mask of a matrix of trials with 1 for "
            "targets, -1 for non-targets and 0 for cells that are not trials."
        )
    if need == "scores":
        raise FormatError(
            f"{name}: a {size} matrix, but {need} need one value per trial. Name the column: "
            f"{option(columns=f'score={n_columns}')}; or, for scores of two classes, use their difference: "
            f"{option(kind='two-class')} (class 1, the second column, is then the target)."
        )
    if n_columns > numpy_files.MOST_CLASSES:
        raise FormatError(f"{name}: a matrix with {n_columns:,} columns. Expected a column per class.")
    return {"score": array}


def holds_npy(source: Source, options: InputOptions) -> tuple[ContentKind, ...]:
    """Return the kinds of tables as which a file can be read, by its shape."""
    with source.stream() as stream:
        shape = numpy_files.read_header(stream, source.name)[0]
    if len(shape) == 2 and shape[1] > 1:
        return ("class-scores",) if options.columns is None else ("scores",)
    return ("scores", "key", "class-key")


def _picked(options: InputOptions, n_columns: int, name: str) -> list[int]:
    """Return the indices of the columns that the user named as scores."""
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
            f"{name}: its {n_columns:,} columns have no names. Write {option(columns='score=2')} for the second, or "
            "the role of each, score or -."
        )
    return picked


def write_npy(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write a file with one array."""
    arrays, name = _arrays(contents, contents.origin.name), contents.origin.name
    classes, label = arrays.get("classes", np.empty(0)), arrays.get("label")
    are_numbers = classes.tolist() == [str(at) for at in range(len(classes))]
    if are_numbers and (label is None or len(classes) == numpy_files.n_classes_of(label)):
        arrays.pop("classes", None)
    if len(arrays) != 1 or not arrays.keys() <= {"score", "is_target", "label"}:
        natural = either(" Convert common logarithms with Scores.in_nats().", "") if "log10" in arrays else ""
        raise FormatError(
            f"npy can contain one array of scores, truth or classes, but {name} needs {', '.join(arrays) or 'none'}. "
            f"Choose npz or parquet ({option(to=...)}).{natural}"
        )
    (array,) = arrays.values()
    npy_format.write_array(stream, array, allow_pickle=False)
    return WrittenContents(frozenset(contents.kinds))


SYSTEM = "score:"
CONDITION = "condition:"

_OTHER_NAMES = {
    "score": ("scores", "y_score", "y_prob", "y_proba", "probs", "probabilities", "logits", "y_pred"),
    "label": ("labels", "y_true"),
}
"""Names of arrays in other programs, the most likely name first."""

_MOST_CELLS = 1 << 32
"""Largest number of trials without stored values."""


def name_of(array: str, names: Collection[str]) -> str | None:
    """Return the name of an array in an archive with these names, or None.

    >>> name_of("score", {"y_true", "y_score"}), name_of("classes", {"y_true"})
    ('y_score', None)
    """
    return next((name for name in (array, *_OTHER_NAMES.get(array, ())) if name in names), None)


@dataclass(slots=True)
class _ArrayReader:
    """Reader of named arrays, which reads each array once.

    Attributes
    ----------
    name : str
        Name of the file for messages.
    names : collection of str
        Names of the arrays.
    read : function of a name
    options : InputOptions
    place : function of a name
        Returns the text for an array in messages.
    left : set of str
        The arrays that have not been read.
    """

    name: str
    names: Collection[str]
    read: Callable[[str], AnyArray]
    options: InputOptions
    place: Callable[[str], str]
    left: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.left = set(self.names)

    def contents(self, origin: Origin) -> Contents:
        """Return all contents of the arrays."""
        log10 = self._take("log10")
        if log10 is not None and bool(log10.all()):
            self.options = self.options.declaring("log10", origin.name)
        names = self._names()
        columns = [name for name in self.names if name.startswith(SYSTEM)] or ["score"]
        scores = {name: array for name in columns if (array := self._take(name)) is not None}
        truth, label, classes = self._take("is_target"), self._take("label"), self._take("classes")
        values = [array for array in (*scores.values(), truth, label) if array is not None]
        trials = self._trials(names, values, origin)
        known = None if classes is None else numpy_files.as_names(classes, self.place("classes")).to_pylist()
        contents = Contents(origin=origin, index=Index(trials))
        if "score" in scores and scores["score"].ndim == 2 and scores["score"].shape[1] != 1 and not _is_grid(names):
            matrix = numpy_files.as_scores(scores.pop("score"), self.place("score"))
            called = known or [str(at) for at in range(matrix.shape[1])]
            class_scores = ClassScores.of(trials, called, matrix, name=self.options.name or "system")
            contents = replace(contents, class_scores=class_scores)
        contents = replace(contents, systems=self._systems(scores, trials))
        if truth is not None:
            is_target = numpy_files.as_truth(self._per_trial("is_target", truth, trials), self.place("is_target"))
            contents = replace(contents, key=Key(trials, is_target))
        if label is not None:
            own = self._per_trial("label", numpy_files.of_one_hot(label), trials)
            contents = self._labelled(contents, trials, own, known)
        return replace(contents, notes=tuple(f"array {array} was not read." for array in sorted(self.left)))

    def _take(self, array: str) -> AnyArray | None:
        name = name_of(array, self.left)
        if name is None:
            return None
        self.left.discard(name)
        return self.read(name)

    def _names(self) -> dict[str, pa.Array]:
        """Return names per trial, by side; for a grid, names of rows and columns (``enroll_names``, ``test_names``)."""
        entries: dict[str, pa.Array] = {}
        for side in dict.fromkeys((*PAIR_SIDE, *SINGLE)):
            distinct, values = self._take(f"{side}_names"), self._take(side)
            if values is not None:
                place = self.place(side)
                entries[side] = (
                    numpy_files.as_names(values, place) if distinct is None else self._decoded(values, distinct, side)
                )
            elif distinct is not None:
                entries[f"{side}_names"] = numpy_files.as_names(distinct, self.place(f"{side}_names"))
        if entries and not _is_grid(entries) and tuple(entries) not in (PAIR, PAIR_SIDE, SINGLE):
            raise FormatError(
                f"{self.name}: identifies its trials by {', '.join(entries)}. Expected enroll and test (and side), or "
                "trial, or for a grid enroll_names and test_names."
            )
        return entries

    def _decoded(self, codes: AnyArray, distinct: AnyArray, side: str) -> pa.Array:
        names = numpy_files.as_names(distinct, self.place(f"{side}_names"))
        if codes.dtype.kind not in "iu" or codes.ndim != 1:
            raise FormatError(f"{self.place(side)}: expected a vector of indices in {side}_names, got {codes.dtype}.")
        wrong = (codes < 0) | (codes >= len(names))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise FormatError(
                f"{self.place(side)}, row {row}: index {codes[row]} in {side}_names, which has length {len(names):,}."
            )
        kind = np.int64 if codes.itemsize > 4 else np.int32
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(kind)), names)

    def _trials(self, names: dict[str, pa.Array], values: list[AnyArray], origin: Origin) -> Trials:
        conditions = {}
        for name in [name for name in self.names if name.startswith(CONDITION)]:
            array = self._take(name)
            if array is not None and array.ndim == 1:
                is_text = array.dtype.kind in "US"
                conditions[name.removeprefix(CONDITION)] = (
                    numpy_files.as_names(array, self.place(name)) if is_text else pa.array(array)
                )
        if _is_grid(names):
            trials = self._grid(names, bool(values), origin)
        elif names:
            trials = Trials.of(names, origin=origin).densest()
        elif values and values[0].ndim:
            trials = Trials.of_rows(len(values[0]), origin=origin)
        else:
            raise FormatError(
                f"{origin.name}: contains {origin.reading}, but neither names of trials nor scores or labels."
            )
        if not len(trials):
            raise FormatError(f"{origin.name}: contains no trials.")
        for name, column in conditions.items():
            if len(column) != len(trials):
                raise FormatError(f"{self.place(CONDITION + name)}: {len(column):,} values for {len(trials):,} trials.")
        return replace(trials, conditions=conditions)

    def _grid(self, names: dict[str, pa.Array], has_values: bool, origin: Origin) -> Trials:  # noqa: FBT001
        mask = self._take("mask")
        shape = tuple(len(column) for column in names.values())
        if mask is not None and mask.shape != shape:
            raise FormatError(
                f"{self.place('mask')}: has shape {mask.shape}, but there are {shape[0]:,} x {shape[1]:,} names."
            )
        if mask is None and not has_values and shape[0] * shape[1] > _MOST_CELLS:
            raise FormatError(
                f"{origin.name}: declares {shape[0] * shape[1]:,} trials without any value. Store the mask."
            )
        chosen = None if mask is None else numpy_files.as_truth(mask, self.place("mask"))
        return Trials.of_grid(names["enroll_names"], names["test_names"], chosen, origin=origin)

    def _per_trial(self, array: str, values: AnyArray, trials: Trials) -> AnyArray:
        """Return one value for each trial, from a vector or, for a grid, from a matrix."""
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 and trials.listed is not None else values
        if values.shape == (len(trials),):
            return np.ascontiguousarray(values)
        if trials.listed is None and values.shape == (len(trials.names[0]), len(trials.names[1])):
            return values.ravel() if trials.mask is None else values[trials.mask]
        expected = f"{len(trials):,} values, one per trial"
        if trials.listed is None:
            expected = f"{len(trials.names[0]):,} x {len(trials.names[1]):,} values, or {expected}"
        raise FormatError(f"{self.place(array)}: has shape {values.shape}, expected {expected}.")

    def _systems(self, scores: dict[str, AnyArray], trials: Trials) -> tuple[Scores, ...]:
        value = self.options.name or "system"
        return tuple(
            self.options.system(
                trials,
                numpy_files.as_scores(self._per_trial(array, values, trials), self.place(array)),
                value if len(scores) == 1 else array.removeprefix(SYSTEM),
            )
            for array, values in scores.items()
        )

    def _labelled(self, contents: Contents, trials: Trials, label: AnyArray, lines: list[str] | None) -> Contents:
        """Add labels as a key, or as a class key if there are classes."""
        place = self.place("label")
        names = numpy_files.as_names(label, place) if label.dtype.kind in "US" else None
        if lines is None and contents.class_scores is None and self.options.need != "class-key":
            words = self.options.vocabulary
            is_target, meant = (
                numpy_files.truth_by_words(label, words, place) if names is None else truth_of(names, words)
            )
            return replace(contents, key=Key(trials, is_target), words=meant)
        if names is None:
            labels = numpy_files.as_labels(label, place)
            if lines is None:
                lines = list(map(str, range(numpy_files.n_classes_of(labels))))
            if labels.max() >= len(lines):
                row = int(np.argmax(labels))
                raise FormatError(f"{place}, row {row}: label {labels[row]} of {len(lines)} classes, numbered from 0.")
            names = pa.DictionaryArray.from_arrays(pa.array(labels), pa.array(lines))
        return replace(contents, class_key=ClassKey.of(trials, names, classes=lines))


def _is_grid(names: dict[str, pa.Array]) -> bool:
    return tuple(names) == ("enroll_names", "test_names")


def read_npz(source: Source, options: InputOptions) -> Contents:
    """Read an archive of arrays."""
    with only_format_errors(source.name, "an archive of NumPy arrays"), numpy_files.Archive(source) as archive:
        origin = Origin(source.name, f"npz with {', '.join(sorted(archive.names))[:200]}")
        place = f"{source.name}: {{}}".format
        return _ArrayReader(source.name, archive.names, archive.read, options, place).contents(origin)


def holds_npz(source: Source, options: InputOptions) -> tuple[ContentKind, ...]:  # noqa: ARG001  # as for all formats
    """Return the kinds of tables as which an archive can be read, by the names and shapes of its arrays."""
    with numpy_files.Archive(source) as archive:
        names = set(archive.names)
        score = name_of("score", names)
        shape = archive.shape(score) if score is not None else ()
    if "classes" in names or (len(shape) == 2 and shape[1] > 1 and "enroll_names" not in names):
        return ("class-scores", "class-key") if score is not None else ("class-key",)
    return ("scores", "key", "class-key")


_KINDS: tuple[ContentKind, ...] = ("scores", "key", "index", "class-scores", "class-key")


def write_npz(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write an archive of arrays."""
    arrays = _arrays(contents, contents.origin.name)
    numpy_files.write_archive(arrays, stream)
    kinds = frozenset(kind for kind in contents.kinds if kind in _KINDS)
    conditions = (array.removeprefix(CONDITION) for array in arrays if array.startswith(CONDITION))
    return WrittenContents(kinds, frozenset(conditions))


def _arrays(contents: Contents, name: str) -> dict[str, AnyArray]:
    check_same_trials(*(table.trials for table in contents.tables))
    trials = contents.tables[0].trials
    is_grid = trials.listed is None and contents.class_scores is None and contents.class_key is None
    arrays = _trial_arrays(trials, name, is_grid=is_grid)
    if contents.class_scores is not None and contents.systems:
        raise FormatError("npz can contain scores of trials or of classes, not both. Write two files.")
    for one in contents.systems:
        array = "score" if len(contents.systems) == 1 else f"{SYSTEM}{one.name}"
        if array in arrays:
            raise FormatError(f"npz: two systems are called {one.name!r}. Rename one.")
        arrays[array] = matrix_of(trials, one.score)[1] if is_grid else one.score
    bases = {one.log10 for one in contents.systems}
    if len(bases) > 1:
        raise FormatError(
            "npz: common and natural logarithms cannot be in one file. Convert common ones with Scores.in_nats()."
        )
    if bases == {True}:
        arrays["log10"] = np.array(True)  # noqa: FBT003  # an array of one boolean
    if contents.key is not None:
        truth = contents.key.is_target
        arrays["is_target"] = matrix_of(trials, truth)[1] if is_grid else truth
    return arrays | _class_arrays(contents)


def _class_arrays(contents: Contents) -> dict[str, AnyArray]:
    scores, key = contents.class_scores, contents.class_key
    arrays: dict[str, AnyArray] = {}
    if scores is not None:
        arrays |= {"classes": numpy_files.text_of_names(pa.array(scores.classes), "classes"), "score": scores.score}
    if key is not None:
        if scores is not None and scores.classes != key.classes:
            raise FormatError("npz: scores and key have different classes, or in another order. Write two files.")
        arrays |= {"classes": numpy_files.text_of_names(pa.array(key.classes), "classes"), "label": key.label}
    return arrays


def _trial_arrays(trials: Trials, name: str, *, is_grid: bool) -> dict[str, AnyArray]:
    arrays: dict[str, AnyArray] = {}
    if trials.sides == ROW:
        if not trials.is_numbered:
            raise FormatError(f"{name}: the trials have no names and are not the rows of a table in order. Add names.")
    elif is_grid:
        for side, names in zip(trials.sides, trials.names, strict=True):
            arrays[f"{side}_names"] = numpy_files.text_of_names(names, f"{side}_names")
        if trials.mask is not None:
            arrays["mask"] = trials.mask
    else:
        for side, names, codes in zip(trials.sides, trials.names, trials.codes, strict=True):
            if len(names) == len(codes) and np.array_equal(codes, np.arange(len(codes))):
                arrays[side] = numpy_files.text_of_names(names, side)
            else:
                arrays |= {side: codes, f"{side}_names": numpy_files.text_of_names(names, f"{side}_names")}
    return arrays | _condition_arrays(trials)


def _condition_arrays(trials: Trials) -> dict[str, AnyArray]:
    arrays = {}
    for condition, column in trials.conditions.items():
        array = f"{CONDITION}{condition}"
        if column.null_count:
            raise FormatError(f"npz cannot contain missing values, but {array} has {column.null_count:,}. Use parquet.")
        values = numpy_files.text_of_names(column, array) if column.type == pa.string() else to_numpy(column)
        if values.dtype.kind not in "biufU":
            raise FormatError(f"npz cannot contain {column.type} values, which {array} has. Use parquet.")
        arrays[array] = values
    return arrays
