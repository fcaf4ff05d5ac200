"""From columns with roles to tables of trials; the same for text, Parquet, Arrow and data frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import CONDITION, Vocabulary, identity_of
from deciban.io.contents import Contents
from deciban.io.format import Options
from deciban.trials import ClassKey, ClassScores, Index, Key, Origin, Scores, Trials
from deciban.trials.lists import ROW, SINGLE
from deciban.trials.names.codes import encode
from deciban.types import BoolArray, ScoreArray


class RowError(FormatError):
    """A fault of one row, before its place is known to the reader."""

    def __init__(self, message: str, row: int | None) -> None:
        super().__init__(message)
        self.row = row


def assemble(
    columns: Sequence[pa.Array | pa.ChunkedArray],
    roles: Sequence[str],
    headers: Sequence[str] | None,
    *,
    origin: Origin,
    system: str,
    options: Options,
) -> Contents:
    """Make tables of trials out of columns.

    Parameters
    ----------
    columns : sequence of pyarrow arrays
        Names as text or dictionaries of text, scores as numbers, labels as text, booleans or 0 and 1.
    roles : sequence of str
        One for each column; see `deciban.io.columns.assemble`.
    headers : sequence of str, optional
        Their names; several score columns are called by them.
    origin : Origin
    system : str
        What to call a single system.
    options : Options

    Raises
    ------
    RowError
        If a value cannot stand where it stands.
    """
    sides = identity_of(roles)
    if options.need in ("scores", "key", "index") and headers is not None:
        # Where it is not asked for, the class is one more thing that is known of a trial.
        roles = [CONDITION + header if role == "class" else role for role, header in zip(roles, headers, strict=True)]
    by_role = dict(zip(roles, columns, strict=True))
    conditions = {role[1:]: by_role[role] for role in by_role if role.startswith(CONDITION)}
    if sides:
        trials = Trials.of({side: _names(by_role[side], side) for side in sides}, conditions=conditions, origin=origin)
        trials = trials.densest()
    else:
        trials = Trials.of_rows(len(columns[0]), conditions=conditions, origin=origin)
    found = [i for i, role in enumerate(roles) if role == "score"]
    systems = tuple(
        Scores(
            trials, _numbers(columns[i]), system if len(found) == 1 or headers is None else headers[i], options.log10
        )
        for i in found
    )
    key, words = None, dict[str, bool]()
    if "label" in by_role:
        is_target, words = truth_of(by_role["label"], options.vocabulary)
        key = Key(trials, is_target)
    class_key = None
    if "class" in by_role and trials.sides in (SINGLE, ROW):
        class_key = ClassKey.of(trials, by_role["class"])
    class_scores = None
    if options.need == "class-scores" and len(systems) > 1:
        matrix = np.column_stack([one.score for one in systems])
        class_scores = ClassScores.of(trials, [one.name for one in systems], matrix, name=system)
        systems = ()
    return Contents(
        origin=origin,
        index=Index(trials),
        key=key,
        systems=systems,
        class_scores=class_scores,
        class_key=class_key,
        words=words,
    )


def _names(column: pa.Array | pa.ChunkedArray, side: str) -> pa.Array:
    """Names as text; whole numbers become the digits they are."""
    column = column.unify_dictionaries() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_integer(column.type):
        column = pc.cast(column, pa.string())
    if column.null_count:
        row = int(np.argmax(to_numpy(column.is_null())))
        raise RowError(f"the name of the {side} is missing", row)
    return column


def _numbers(column: pa.Array | pa.ChunkedArray) -> ScoreArray:
    """Scores as floats; no NaN."""
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)):
        raise RowError(f"the scores are {column.type}, expected numbers", None)
    if column.null_count:
        raise RowError("a score is missing", int(np.argmax(to_numpy(column.is_null()))))
    kind = pa.float32() if column.type in (pa.float16(), pa.float32()) else pa.float64()
    score: ScoreArray = to_numpy(column if column.type == kind else column.cast(kind))
    if len(score) and np.isnan(np.max(score)):
        row = int(np.argmax(np.isnan(score)))
        raise RowError(
            "the score is NaN; infinite scores are allowed, NaN is not: repair the file or drop the trial", row
        )
    return score


def truth_of(column: pa.Array | pa.ChunkedArray, vocabulary: Vocabulary) -> tuple[BoolArray, dict[str, bool]]:
    """Whether each label means target, and what each word that occurs means.

    Raises
    ------
    RowError
        At a missing label, or a word that is not in the vocabulary.
    """
    if column.null_count:
        raise RowError("the label is missing", int(np.argmax(to_numpy(column.is_null()))))
    if pa.types.is_boolean(column.type):
        return to_numpy(column), {}
    try:
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            column = pc.cast(column, pa.int64()).cast(pa.string())
        codes, words = encode(column, "label")
    except (InputError, pa.ArrowInvalid) as error:
        raise RowError(f"labels are words, booleans, or 0 and 1 ({error})", None) from error
    vocabulary = vocabulary.within(words.to_pylist())
    meanings = {word: vocabulary.meaning(word) for word in words.to_pylist()}
    unknown = [word for word, meaning in meanings.items() if meaning is None]
    if unknown:
        row = int(np.argmax(codes == list(meanings).index(unknown[0])))
        raise RowError(
            f"unknown label {unknown[0]!r}; known are {vocabulary}. Say what your words mean: "
            "--labels target=WORD,nontarget=WORD",
            row,
        )
    known = {word: meaning for word, meaning in meanings.items() if meaning is not None}
    return np.array(list(known.values()), np.bool_)[codes], known
