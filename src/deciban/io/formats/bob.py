"""What the score files of Bob say beyond their columns: a target is who he claims to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import FormatError
from deciban.io.contents import RowError

_Columns: TypeAlias = dict[str, pa.Array]
_CLAIMED, _REAL, _PROBE = "=claimed_id", "=real_id", "=probe_subject_id"
_REFERENCES = ("=bio_ref_template_id", "=bio_ref_reference_id")
"""What tells the references of a subject apart."""
_NO_ATTACK = ("", "None", "nan")
"""What stands in the column of attacks where there is none."""


def _text(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.cast(column, pa.string()) if pa.types.is_dictionary(column.type) else column


def labelled(columns: _Columns) -> _Columns:
    """Label trials by whether the claimed identity, which may be the enrolment, is the real one."""
    return columns | {"label": pc.equal(_text(columns.get(_CLAIMED, columns["enroll"])), _text(columns[_REAL]))}


def unlabelled_four(columns: _Columns) -> _Columns:
    """Say by names what labels said, where the name of the enrolment is the claimed identity."""
    return _unlabelled(columns, columns["enroll"])


def unlabelled_five(columns: _Columns) -> _Columns:
    """Say by names what labels said; without a claimed identity, the name of the enrolment is it."""
    return _unlabelled(columns, columns.get(_CLAIMED, columns["enroll"]))


def _unlabelled(columns: _Columns, claimed: pa.Array) -> _Columns:
    label = columns.get("label")
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


def labelled_csv(columns: _Columns) -> _Columns:
    """Label trials by whether two names are the same, and there is no attack; references are enrolled, if named."""
    claimed = _text(columns["enroll"])
    same = pc.equal(claimed, _text(columns[_PROBE]))
    reference = next((name for name in _REFERENCES if name in columns), None)
    if reference is not None:  # the same subject may have several
        columns = {
            "enroll" if role == reference else role: column for role, column in columns.items() if role != "enroll"
        }
        columns["=bio_ref_subject_id"] = claimed
    attack = columns.get("=probe_attack_type")
    return columns | {"label": same if attack is None else pc.and_(same, pc.is_in(_text(attack), pa.array(_NO_ATTACK)))}


def some_target(rows: Sequence[Sequence[str]]) -> bool:
    """Whether some lines hold the same name as claimed (the first) and real one (the last but two)."""
    return any(row[0] == row[-3] for row in rows)
