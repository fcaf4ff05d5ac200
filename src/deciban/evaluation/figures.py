"""What is asked of an evaluation of two classes: the operating points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deciban.core.ranks.operating import OperatingPoint, PointLike, as_operating_point
from deciban.errors import InputError

DEFAULT_POINTS = (OperatingPoint(0.01),)
"""Where detection costs are reported if nothing is said."""


@dataclass(frozen=True, slots=True, init=False)
class TwoClassFigures:
    """What is asked of the scores of two classes; checked when it is made, and passed whole.

    Parameters
    ----------
    operating_points : iterable
        Where detection costs are wanted: each an `OperatingPoint`, a ``p_target``, or ``(p_target, c_miss, c_fa)``.

    Raises
    ------
    InputError
        If none is given, or one has a prior outside (0, 1) or a cost that is not positive.

    Examples
    --------
    >>> TwoClassFigures([0.01, (0.05, 10, 1)]).operating_points[1]
    OperatingPoint(p_target=0.05, c_miss=10, c_fa=1)
    >>> TwoClassFigures([0.01]) == TwoClassFigures()
    True
    """

    operating_points: tuple[OperatingPoint, ...]

    def __init__(self, operating_points: Iterable[PointLike] = DEFAULT_POINTS) -> None:
        if not isinstance(operating_points, Iterable):
            raise InputError(
                f"operating_points: expected several, got {operating_points!r}. Write [{operating_points!r}]."
            )
        points = tuple(as_operating_point(point) for point in operating_points)
        if not points:
            raise InputError("operating_points: none given. Detection costs need at least one.")
        object.__setattr__(self, "operating_points", points)

    @classmethod
    def of(cls, asked: TwoClassFigures | Iterable[PointLike]) -> TwoClassFigures:
        """From operating points, or what was made of some already."""
        return asked if isinstance(asked, TwoClassFigures) else cls(asked)

    def __str__(self) -> str:
        return f"operating points {'; '.join(map(str, self.operating_points))}"
