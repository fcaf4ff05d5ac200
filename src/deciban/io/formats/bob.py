"""Score files of Bob (``bob.bio.base``): four or five columns, and no label: a target is who he claims to be.

Four columns are ``claimed_id real_id test_label score``, five are ``claimed_id model_label real_id test_label score``::

    ann ann ann/probe_1.png 5.25            ann ann_model_1 ann ann/probe_1.png 5.25
    ann bob bob/probe_7.png -1.5            ann ann_model_1 bob bob/probe_7.png -1.5

A trial compares the claimed identity (of five columns: the model) with ``test_label``. It is a target if ``real_id`` is
the same as ``claimed_id``. What is no side of the trial is kept as a condition, so that writing loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import FormatError
from deciban.io.columns.assemble import RowError
from deciban.io.format import TextFormat

_Columns = dict[str, pa.Array]
_CLAIMED, _REAL = "=claimed_id", "=real_id"


def _text(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.cast(column, pa.string()) if pa.types.is_dictionary(column.type) else column


def _labelled(columns: _Columns, claimed_role: str) -> _Columns:
    return columns | {"label": pc.equal(_text(columns[claimed_role]), _text(columns[_REAL]))}


def _unlabelled(columns: _Columns, claimed_role: str) -> _Columns:
    """Say by names what labels said; without a claimed identity, the name of the enrolment is it."""
    label = columns.get("label")
    claimed = columns["enroll"] if claimed_role == "enroll" else columns.get(_CLAIMED, columns["enroll"])
    if label is None and _REAL not in columns:
        raise FormatError("neither labels nor a condition column real_id say who is who")
    real = columns.get(_REAL, claimed)
    if label is not None:
        wrong = pc.not_equal(pc.equal(claimed, real), pc.equal(label, "target"))
        if pc.any(wrong).as_py():
            row = pc.index(wrong, value=True).as_py()
            raise RowError(_contradiction(label[row], claimed[row], real[row] if _REAL in columns else None), row)
    return {role: column for role, column in columns.items() if role != "label"} | {_CLAIMED: claimed, _REAL: real}


def _contradiction(label: pa.Scalar, claimed: pa.Scalar, real: pa.Scalar | None) -> str:
    if real is None:
        return (
            f"{claimed.as_py()!r} is claimed in a non-target trial, but who it really is, is not known. Bring a "
            "condition column real_id, or choose a format with labels (wespeaker, table, parquet)"
        )
    return f"the trial is a {label.as_py()}, but {claimed.as_py()!r} is claimed and {real.as_py()!r} is real"


def _some_target(rows: Sequence[Sequence[str]], *, claimed: int, real: int) -> bool:
    """Whether some lines hold the same name twice, as those of targets do."""
    return any(row[claimed] == row[real] for row in rows)


FORMATS = (
    TextFormat(
        name="bob4",
        summary="`claimed_id real_id test_label score`: target if claimed_id is real_id",
        reads=("scores", "key", "index"),
        writes=("scores",),
        lines=("enroll =real_id test score",),
        derive=partial(_labelled, claimed_role="enroll"),
        undo=partial(_unlabelled, claimed_role="enroll"),
        plausible=partial(_some_target, claimed=0, real=1),
    ),
    TextFormat(
        name="bob5",
        summary="`claimed_id model_label real_id test_label score`: target if claimed_id is real_id",
        reads=("scores", "key", "index"),
        writes=("scores",),
        lines=("=claimed_id enroll =real_id test score",),
        derive=partial(_labelled, claimed_role=_CLAIMED),
        undo=partial(_unlabelled, claimed_role=_CLAIMED),
        plausible=partial(_some_target, claimed=0, real=2),
    ),
)
