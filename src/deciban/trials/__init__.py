"""Who was compared with whom, what is true and what was scored: frozen tables and their joins."""

from __future__ import annotations

from deciban.trials.join import Aligned, JoinReport, align, align_systems
from deciban.trials.tables import IdColumn, Key, Origin, Scores, Trials

__all__ = ["Aligned", "IdColumn", "JoinReport", "Key", "Origin", "Scores", "Trials", "align", "align_systems"]
