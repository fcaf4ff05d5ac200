"""Who was compared with whom, what is true and what was scored: frozen tables and their joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.trials.classes import AlignedClasses, ClassKey, ClassScores, align_classes
    from deciban.trials.combine import Stack, merge, set_missing, stack
    from deciban.trials.frames.from_frames import class_key_from, class_scores_from, index_from, key_from, scores_from
    from deciban.trials.frames.to_frames import to_arrow, to_pandas, to_polars
    from deciban.trials.joining.join import Aligned, JoinReport, align, align_systems
    from deciban.trials.lists import Origin, Trials
    from deciban.trials.names.codes import IdMap
    from deciban.trials.quality import AlignedQuality, Quality
    from deciban.trials.segment_quality import SegmentQuality
    from deciban.trials.tables import Index, Key, Scores, TrialTable
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.trials.classes": ("AlignedClasses", "ClassKey", "ClassScores", "align_classes"),
            "deciban.trials.combine": ("Stack", "merge", "set_missing", "stack"),
            "deciban.trials.frames.from_frames": (
                "class_key_from",
                "class_scores_from",
                "index_from",
                "key_from",
                "scores_from",
            ),
            "deciban.trials.frames.to_frames": ("to_arrow", "to_pandas", "to_polars"),
            "deciban.trials.joining.join": ("Aligned", "JoinReport", "align", "align_systems"),
            "deciban.trials.lists": ("Origin", "Trials"),
            "deciban.trials.names.codes": ("IdMap",),
            "deciban.trials.quality": ("AlignedQuality", "Quality"),
            "deciban.trials.segment_quality": ("SegmentQuality",),
            "deciban.trials.tables": ("Index", "Key", "Scores", "TrialTable"),
        },
    )

__all__ = [
    "Aligned",
    "AlignedClasses",
    "AlignedQuality",
    "ClassKey",
    "ClassScores",
    "IdMap",
    "Index",
    "JoinReport",
    "Key",
    "Origin",
    "Quality",
    "Scores",
    "SegmentQuality",
    "Stack",
    "TrialTable",
    "Trials",
    "align",
    "align_classes",
    "align_systems",
    "class_key_from",
    "class_scores_from",
    "index_from",
    "key_from",
    "merge",
    "scores_from",
    "set_missing",
    "stack",
    "to_arrow",
    "to_pandas",
    "to_polars",
]
