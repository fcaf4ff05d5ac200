"""Checks of the values of columns (names, scores, truth, weights), and tables of trials from columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_numpy, to_numpy, with_gaps
from deciban._validate import arrays as _validate
from deciban._validate.arrays import Vocabulary
from deciban.errors import InputError
from deciban.io.columns.headers import CONDITION, IDENTITY, identity_of, unknown_label
from deciban.io.columns.rows import Rows
from deciban.io.contents import Contents, RowError
from deciban.io.formats import Options
from deciban.io.text.one_line import NO_NAN, is_number
from deciban.messages import counted
from deciban.trials import ClassKey, ClassScores, Index, Key, Origin, Scores, Trials
from deciban.trials.frames import is_text_or_bytes, of_strings
from deciban.trials.lists import ROW, SINGLE, as_text
from deciban.trials.names import encode
from deciban.types import BoolArray, FloatArray, IntArray, ScoreArray


def assemble(
    columns: Sequence[pa.Array | pa.ChunkedArray],
    roles: Sequence[str],
    headers: Sequence[str] | None,
    *,
    origin: Origin,
    system: str,
    options: Options,
    classes: Sequence[str] | None = None,
) -> Contents:
    """Make tables of trials out of columns.

    Parameters
    ----------
    columns : sequence of pyarrow arrays
        Names as text or dictionaries of text, scores as numbers, labels as text, booleans or 0 and 1.
    roles : sequence of str
        One for each column; see `deciban.io.columns.headers`.
    headers : sequence of str, optional
        The names of the columns, from which several systems take their names.
    origin : Origin
    system : str
        The name of the system, if there is one score column.
    options : Options
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
        # Where classes are not needed, the class of a trial is a condition like others.
        roles = [CONDITION + header if role == "class" else role for role, header in zip(roles, headers, strict=True)]
    by_role = dict(zip(roles, columns, strict=True))
    conditions = {role[1:]: by_role[role] for role in by_role if role.startswith(CONDITION)}
    if sides:
        trials = Trials.of({side: _names(by_role[side]) for side in sides}, conditions=conditions, origin=origin)
        trials = trials.densest()
    else:
        trials = Trials.of_rows(len(columns[0]), conditions=conditions, origin=origin)
    found = [i for i, role in enumerate(roles) if role == "score"]
    names = [system if len(found) == 1 or headers is None else headers[i] for i in found]
    if are_classes := options.need == "class-scores" and len(found) > 1:
        systems = tuple(Scores(trials, scores_of(columns[i]), name) for i, name in zip(found, names, strict=True))
    else:
        titles = [None if headers is None else headers[i] for i in found]
        called = zip(found, names, titles, strict=True)
        systems = tuple(options.system(trials, scores_of(columns[i]), name, title) for i, name, title in called)
    key, words = None, dict[str, bool]()
    if "label" in by_role:
        is_target, words = truth_of(by_role["label"], options.vocabulary)
        key = Key(trials, is_target)
    class_key = None
    if "class" in by_role and trials.sides in (SINGLE, ROW):
        label = by_role["class"]
        class_key = ClassKey.of(trials, _digits(label) if classes is None else label, classes=classes)
    class_scores = None
    if are_classes:
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


def _names(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return names as text; whole numbers become their digits."""
    return _digits(column.unify_dictionaries() if isinstance(column, pa.ChunkedArray) else column)


def _digits(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column, with whole numbers as their digits."""
    return pc.cast(column, pa.string()) if pa.types.is_integer(column.type) else column


def scores_of(column: pa.Array | pa.ChunkedArray, *, incomplete: bool = False) -> ScoreArray:
    """Return scores as floats; NaN is refused unless it marks a missing score."""
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        raise RowError(f"the scores are {kind}, expected numbers", None)
    kind = pa.float32() if column.type in (pa.float16(), pa.float32()) else pa.float64()
    try:
        score: ScoreArray = to_numpy(column if column.type == kind else column.cast(kind))
    except pa.ArrowInvalid as error:  # whole numbers from 2**53 on
        raise RowError(f"a score cannot be represented as float64 ({error}). Write scores as floats", None) from error
    if len(score) and not incomplete and np.isnan(np.max(score)):
        row = int(np.argmax(np.isnan(score)))
        raise RowError(f"the score is NaN; {NO_NAN}", row)
    return score


def truth_of(column: pa.Array | pa.ChunkedArray, vocabulary: Vocabulary) -> tuple[BoolArray, dict[str, bool]]:
    """Return whether each label means target, and the meaning of each word.

    Raises
    ------
    RowError
        At a word that is not in the vocabulary.
    """
    if pa.types.is_boolean(column.type):
        values: BoolArray = to_numpy(column)
        return (values, {}) if vocabulary.true_is_target else (~values, {"True": False, "False": True})
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
        raise RowError(unknown_label(unknown[0], vocabulary), row)
    known = {word: meaning for word, meaning in meanings.items() if meaning is not None}
    return np.array(list(known.values()), np.bool_)[codes], known


def same_names(one: pa.ChunkedArray, other: pa.ChunkedArray, called: tuple[str, str]) -> pa.ChunkedArray:
    """Compare two columns of names row by row.

    Parameters
    ----------
    one, other : pyarrow arrays
        Of text (dictionaries or plain), or of whole numbers.
    called : pair of str
        The names of the columns, for messages.

    Returns
    -------
    pyarrow array of booleans

    Raises
    ------
    RowError
        If a name is missing, or a column holds no names.

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
            raise RowError(f"{name} is empty, so that nothing says whether this is a target", row)
    return pc.equal(*names)


def _as_digits(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Names as text, whole numbers by their digits."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        raise RowError(f"column {name} holds {kind}, but the label compares names", None)
    return pc.cast(column, pa.string())


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionaries of numbers, with bytes as text."""
    if pa.types.is_dictionary(column.type):
        if is_text_or_bytes(column.type.value_type):
            return of_strings(column)
        return pc.cast(column, column.type.value_type)
    return pc.cast(column, pa.string()) if is_text_or_bytes(column.type) else column


def refuse_missing(column: pa.ChunkedArray, header: str, role: str) -> None:
    """Refuse a column without a value in each row.

    Raises
    ------
    RowError
    """
    if column.null_count:
        what = f"the name of the {role}" if role in IDENTITY else f"the {role}"
        row = int(np.argmax(to_numpy(column.is_null())))
        raise RowError(f"{what} is missing (column {header}). Every trial needs one", row)


_PAIRED = frozenset(("1", "-1", "1.0", "0.0", "-1.0", "t", "f", "ss", "ds"))
"""Words that mean something only beside another one."""


def settled(vocabulary: Vocabulary, label: str, batches: Sequence[Rows]) -> Vocabulary:
    """Return what words mean in all batches, some of which mean something only beside others.

    Batches are read until it is clear: one alone may hold nothing but ``-1``, which means non-target beside ``1``.

    Parameters
    ----------
    vocabulary : Vocabulary
    label : str
        The column of labels.
    batches : sequence of Rows
    """
    if not vocabulary.folded:
        return vocabulary
    seen: set[str] = set()
    for batch in batches:
        column = plain(batch.table([label]).column(label))
        if pa.types.is_boolean(column.type):
            return vocabulary
        seen |= {str(word).casefold() for word in _words(column)}
        if not seen <= _PAIRED:
            return vocabulary
        within = vocabulary.within(seen)
        if within is not vocabulary:  # both of a pair: no other word may come
            known = {word: meaning for word in seen if (meaning := within.meaning(word)) is not None}
            return Vocabulary(known, folded=True)
    return vocabulary


def _words(column: pa.ChunkedArray) -> list[str]:
    """Labels that occur, as `truth_of` sees them; none where it refuses them."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        try:
            column = pc.cast(column, pa.int64()).cast(pa.string())
        except pa.ArrowInvalid:
            return [""]
    found: list[str] = pc.unique(pc.cast(column, pa.string())).drop_null().to_pylist()
    return found


def names_in(column: pa.Array | pa.ChunkedArray, name: str, role: str) -> tuple[IntArray, pa.Array]:
    """Return a code for each row of a column, and the distinct values as text.

    Parameters
    ----------
    column : pyarrow array
    name : str
    role : str
        What the column does, in words for messages: "says ...".

    Raises
    ------
    RowError
        If a row has no value.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    is_coded = pa.types.is_dictionary(array.type) and array.type.value_type == pa.string()
    array = array if is_coded and not array.dictionary.null_count else as_text(array)
    if array.null_count:
        refuse_gaps(to_numpy(array.is_null()), name, role)
    codes, names = encode(array)
    occurs = np.zeros(len(names), np.bool_)
    occurs[codes] = True
    if not occurs.all():
        codes, names = (np.cumsum(occurs, dtype=codes.dtype) - 1)[codes], names.filter(of_numpy(occurs))
    refuse_gaps(codes == pc.index(names, constant("")).as_py(), name, role)
    return codes, names


def coded_column(values: pa.Array) -> tuple[IntArray, pa.Array]:
    """Return a code for each row of a column, and the distinct values; the code after the last one is for no value."""
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    return with_gaps(coded.indices, len(coded.dictionary)), coded.dictionary


def refuse_gaps(bad: BoolArray, name: str, role: str) -> None:
    """Refuse rows without a value in a column that has to say something of every trial.

    Raises
    ------
    RowError
    """
    advice = ". Complete it, or leave these trials out (--where)"
    _refuse(bad, f"no value in column {name!r}, which {role}", advice)


def _refuse(bad: BoolArray, words: str, advice: str = "") -> None:
    if bad.any():
        n = counted(int(np.count_nonzero(bad)), "such trial")
        raise RowError(f"{words} ({n}){advice}", int(np.argmax(bad)))


_WEIGHS = "says how much trials count"


def weights_of(column: pa.Array | pa.ChunkedArray, name: str) -> FloatArray:
    """Weights of trials from a column of numbers, or of text that reads as numbers.

    Raises
    ------
    RowError
        If a value is missing, no number, or no weight.

    Examples
    --------
    >>> weights_of(pa.chunked_array([["0.5", "2"]]), "w")
    array([0.5, 2. ])
    """
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        if column.null_count:
            refuse_gaps(to_numpy(column.is_null()), name, _WEIGHS)
        weight: FloatArray = to_numpy(pc.cast(column, pa.float64(), safe=False))
    else:  # a text that occurs often is read once
        codes, texts = names_in(column, name, _WEIGHS)
        words: list[str] = texts.to_pylist()
        bad = np.array([not is_number(text) for text in words], np.bool_)[codes]
        shown = words[int(codes[np.argmax(bad)])][:40] if bad.any() else ""
        _refuse(bad, f"{shown!r} in column {name!r}, which {_WEIGHS}, is no number")
        weight = np.array([float(text) for text in words], np.float64)[codes]
    for bad, rule in _validate.weight_rules(weight):
        if bad.any():
            _refuse(bad, f"{weight[np.argmax(bad)]:g} in column {name!r}, but {rule}")
    return weight
