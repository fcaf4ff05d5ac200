"""The two kinds of scores, of two classes and of many: what differs between them, and nothing else does."""

from __future__ import annotations

from deciban.workflows.kinds.base import AnyKey, AnyKind, AnyScores, Kind
from deciban.workflows.kinds.choosing import kind_called, kind_of, kind_of_scores

__all__ = ["AnyKey", "AnyKind", "AnyScores", "Kind", "kind_called", "kind_of", "kind_of_scores"]
