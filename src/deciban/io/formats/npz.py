"""NumPy arrays in one archive: scores, keys, class scores and class keys with the names of their trials.

Written by ``numpy.savez`` or ``numpy.savez_compressed``, without Python objects. The arrays, for n trials, or for a
grid of m enrolments and s test segments::

    enroll, test [, side]    (n,) text             names of the trials; or
    trial                    (n,) text             names of trials of one name; or neither: row 0, row 1, ...
    X_names                  (number of names,)    with X = enroll, test, side or trial: the distinct names; X then
                                                   holds (n,) integers, positions in this list
    enroll_names, test_names (m,) (s,) text        without enroll and test: a grid, listed row by row;
    mask                     (m, s) booleans       the cells that are trials, if not all of them

    score                    (n,) or (m, s)        scores of one system, floats or integers; for several systems
    score:NAME               (n,) or (m, s)        the scores of each
    log10                    () boolean            whether scores are common logarithms
    is_target                (n,) or (m, s)        the key, booleans
    classes, score           (k,) text, (n, k)     class scores
    classes, label           (k,) text, (n,)       a class key: positions in classes, or names
    condition:NAME           (n,)                  anything else that is known of the trials: text, numbers, booleans

In a grid, cells outside the mask may hold anything. Files of others are read, too, if they use common names:
``scores``, ``y_score``, ``y_prob``, ``y_proba``, ``probs``, ``probabilities``, ``logits`` or ``y_pred`` for score, the
first of them that is there, and ``labels``, ``label`` or ``y_true`` for truth (booleans or 0 and 1) or the true class
(whole numbers, text, or one-hot rows); a matrix of scores without names is read as class scores, and then the labels
are classes. Other arrays are passed over, with a note.
"""

from __future__ import annotations

from typing import IO

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import FormatError
from deciban.io.arrays.checked import Archive, write_archive
from deciban.io.arrays.npz_reader import CONDITION, SYSTEM, Reader, name_of
from deciban.io.contents import ContentKind, Contents, Written
from deciban.io.formats import Options
from deciban.io.library_errors import only_format_errors
from deciban.io.matrices.from_tables import matrix_of
from deciban.io.source import Source
from deciban.trials import Trials
from deciban.trials.frames.columns import check_same_trials, numbered_in_order
from deciban.trials.lists import ROW
from deciban.types import AnyArray

_HARMLESS = 256 << 20
_WASTE = 4
"""Text of more bytes than the former may be this many times longer than the names in it."""


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    with only_format_errors(source.name, "an archive of NumPy arrays"), Archive(source) as archive:
        return Reader(archive, options).contents()


def holds(source: Source, options: Options) -> tuple[ContentKind, ...]:  # noqa: ARG001  # nothing can be said otherwise
    """Which kinds of tables an archive could be read as, by the names and shapes of its arrays."""
    with Archive(source) as archive:
        names = set(archive.names)
        score = name_of("score", names)
        shape = archive.shape(score) if score is not None else ()
    if "classes" in names or (len(shape) == 2 and shape[1] > 1 and "enroll_names" not in names):
        return ("class-scores", "class-key") if score is not None else ("class-key",)
    return ("scores", "key", "class-key")


_KINDS: tuple[ContentKind, ...] = ("scores", "key", "index", "class-scores", "class-key")


def write(contents: Contents, stream: IO[bytes]) -> Written:
    """Write a file of this format."""
    arrays = _arrays(contents, contents.origin.name)
    write_archive(arrays, stream)
    kinds = frozenset(kind for kind in contents.kinds if kind in _KINDS)
    return Written(kinds, frozenset(array.removeprefix(CONDITION) for array in arrays if array.startswith(CONDITION)))


def _arrays(contents: Contents, name: str) -> dict[str, AnyArray]:
    check_same_trials(*(table.trials for table in contents.tables))
    trials = contents.tables[0].trials
    is_grid = trials.listed is None and contents.class_scores is None and contents.class_key is None
    arrays = _trial_arrays(trials, name, is_grid=is_grid)
    if contents.class_scores is not None and contents.systems:
        raise FormatError("npz holds scores of trials or of classes, not both. Write two files.")
    for one in contents.systems:
        array = "score" if len(contents.systems) == 1 else f"{SYSTEM}{one.name}"
        if array in arrays:
            raise FormatError(f"npz: two systems are called {one.name!r}. Rename one.")
        arrays[array] = matrix_of(trials, one.score)[1] if is_grid else one.score
    bases = {one.log10 for one in contents.systems}
    if len(bases) > 1:
        raise FormatError(
            "npz: common and natural logarithms do not go into one file. Turn the former into the latter, with "
            "Scores.in_nats()."
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
        arrays |= {"classes": _text(pa.array(scores.classes), "classes"), "score": scores.score}
    if key is not None:
        if scores is not None and scores.classes != key.classes:
            raise FormatError("npz: scores and key have different classes, or in another order. Write two files.")
        arrays |= {"classes": _text(pa.array(key.classes), "classes"), "label": key.label}
    return arrays


def _trial_arrays(trials: Trials, name: str, *, is_grid: bool) -> dict[str, AnyArray]:
    arrays: dict[str, AnyArray] = {}
    if trials.sides == ROW:
        if not numbered_in_order(trials):
            raise FormatError(f"{name}: the trials have no names and are not all rows of a table in order. Name them.")
    elif is_grid:
        for side, names in zip(trials.sides, trials.names, strict=True):
            arrays[f"{side}_names"] = _text(names, f"{side}_names")
        if trials.mask is not None:
            arrays["mask"] = trials.mask
    else:
        for side, names, codes in zip(trials.sides, trials.names, trials.codes, strict=True):
            if len(names) == len(codes) and np.array_equal(codes, np.arange(len(codes))):
                arrays[side] = _text(names, side)
            else:
                arrays |= {side: codes, f"{side}_names": _text(names, f"{side}_names")}
    return arrays | _condition_arrays(trials)


def _condition_arrays(trials: Trials) -> dict[str, AnyArray]:
    arrays = {}
    for condition, column in trials.conditions.items():
        array = f"{CONDITION}{condition}"
        if column.null_count:
            raise FormatError(
                f"npz has no room for missing values, and {array} has {column.null_count:,}. Use parquet."
            )
        values = _text(column, array) if column.type == pa.string() else column.to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "biufU":
            raise FormatError(f"npz has no room for {column.type} values, as {array} has. Use parquet (--to).")
        arrays[array] = values
    return arrays


def _text(names: pa.Array, array: str) -> AnyArray:
    if pc.any(pc.match_substring(names, "\0")).as_py():
        raise FormatError(f"npz has no room for NUL characters, which {array} has. Use parquet (--to).")
    lengths = pc.utf8_length(names)
    n_bytes = 4 * len(names) * (pc.max(lengths).as_py() or 0)
    if n_bytes > max(_HARMLESS, _WASTE * 4 * (pc.sum(lengths).as_py() or 0)):
        raise FormatError(
            f"npz: {array} would be {n_bytes:,} bytes long, for NumPy makes every name as long as the longest. Choose "
            "parquet (--to)."
        )
    return np.array(names.to_pylist(), np.str_)
