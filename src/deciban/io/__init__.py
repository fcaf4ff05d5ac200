"""Files in and out: tables of trials in every format that is known, and whole-or-nothing writing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.io.atomic import atomic_write
    from deciban.io.contents import Contents
    from deciban.io.read import (
        read_class_key,
        read_class_scores,
        read_id_map,
        read_index,
        read_key,
        read_quality,
        read_scores,
        read_segment_quality,
    )
    from deciban.io.reader import read_contents
    from deciban.io.synthetic import write_demo
    from deciban.io.writing import write
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.io.atomic": ("atomic_write",),
            "deciban.io.contents": ("Contents",),
            "deciban.io.read": (
                "read_class_key",
                "read_class_scores",
                "read_id_map",
                "read_index",
                "read_key",
                "read_quality",
                "read_scores",
                "read_segment_quality",
            ),
            "deciban.io.reader": ("read_contents",),
            "deciban.io.synthetic": ("write_demo",),
            "deciban.io.writing": ("write",),
        },
    )

__all__ = [
    "Contents",
    "atomic_write",
    "read_class_key",
    "read_class_scores",
    "read_contents",
    "read_id_map",
    "read_index",
    "read_key",
    "read_quality",
    "read_scores",
    "read_segment_quality",
    "write",
    "write_demo",
]
