"""Score files of Bob (``bob.bio.base``): four or five columns, and no label: a target is who he claims to be.

Four columns are ``claimed_id real_id test_label score``, five are ``claimed_id model_label real_id test_label score``::

    ann ann ann/probe_1.png 5.25            ann ann_model_1 ann ann/probe_1.png 5.25
    ann bob bob/probe_7.png -1.5            ann ann_model_1 bob bob/probe_7.png -1.5

A trial compares the claimed identity (of five columns: the model) with ``test_label``. It is a target if ``real_id`` is
the same as ``claimed_id``. What is no side of the trial is kept as a condition, so that writing loses nothing.

Newer versions write CSV with a header (``bob-csv``), whose columns may come in any order and with others between them::

    probe_key,probe_subject_id,probe_attack_type,bio_ref_subject_id,score
    probe_1,ann,,ann,5.25
    probe_7,bob,,ann,-1.5
    probe_8,ann,print,ann,2.5

A trial compares ``bio_ref_subject_id`` with ``probe_key``; it is a target if ``probe_subject_id`` is the same as the
former, and the probe is no attack: where there is a column ``probe_attack_type``, it is empty.
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
_CLAIMED, _REAL, _PROBE = "=claimed_id", "=real_id", "=probe_subject_id"
_NO_ATTACK = ("", "None", "nan")
"""What stands in the column of attacks where there is none."""


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


def _labelled_csv(columns: _Columns) -> _Columns:
    same = pc.equal(_text(columns["enroll"]), _text(columns[_PROBE]))
    attack = columns.get("=probe_attack_type")
    return columns | {"label": same if attack is None else pc.and_(same, pc.is_in(_text(attack), pa.array(_NO_ATTACK)))}


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
    TextFormat(
        name="bob-csv",
        summary="CSV, header `bio_ref_subject_id,probe_subject_id,probe_key,score`: target if the first two agree",
        reads=("scores", "key", "index"),
        lines=("enroll =probe_subject_id test score *",),
        header={
            "enroll": "bio_ref_subject_id",
            "=probe_subject_id": "probe_subject_id",
            "test": "probe_key",
            "score": "score",
        },
        delimiter=",",
        derive=_labelled_csv,
    ),
)
