"""Quality measures of trials in pieces: those of the names of their sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from deciban.trials import SegmentQuality, Trials
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class QualityOf:
    """Quality measures by side and name.

    Attributes
    ----------
    measured : mapping of str to SegmentQuality
        Of ``enroll``, ``test`` and ``trial``.
    """

    measured: Mapping[Any, SegmentQuality]

    def of(self, table: pa.Table, sides: Mapping[str, str], wanted: Sequence[str]) -> dict[str, FloatArray]:
        """The measures of rows, NaN where a name has none.

        Parameters
        ----------
        table : pyarrow.Table
        sides : mapping of str to str
            Columns of names, by side.
        wanted : sequence of str
            ``enroll_quality`` and so on.
        """
        names = {side: table.column(column).combine_chunks() for side, column in sides.items()}
        trials, found = Trials.of(names), dict[str, FloatArray]()
        for name in wanted:
            side = name.removesuffix("_quality")
            values, known = self.measured[side].align(trials, side)
            values[~known] = np.nan
            found[name] = values
        return found
