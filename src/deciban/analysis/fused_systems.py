"""A fusion, its systems alone and what is left without each of them, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from deciban.evaluation.as_json import Jsonable, plain
from deciban.evaluation.results import Results
from deciban.models.two_class import Fusion
from deciban.types import FloatArray

Role: TypeAlias = Literal[
    "before", "single", "left out", "leave-one-out", "without quality", "calibration", "fusion", "cross-validated"
]
"""What a row of a table is there for; names of systems are free, and may be those of other rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """One row of the tables of a fusion.

    Attributes
    ----------
    name : str
        What tables and legends call it.
    role : str
        ``before`` (a system as it is), ``single`` (calibrated alone), ``left out`` (by a selection), ``leave-one-out``,
        ``without quality``, ``calibration``, ``fusion`` or ``cross-validated``.
    dev : Evaluation, ClassEvaluation or None
        On the trials of training, which flatters; None if there is nothing to evaluate.
    eval : Evaluation, ClassEvaluation or None
        On other trials.
    note : str
        Why it is not what it should be: that nothing could be trained, for example.
    """

    name: str
    role: Role
    dev: Any
    eval: Any = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedSystems(FigureRow):
    """Some of the systems, calibrated and fused; one system alone is calibrated.

    Attributes
    ----------
    name, role, dev, eval, note
        See `FigureRow`.
    systems : tuple of int
        Columns of the scores, in ascending order.
    model : LinearFusion, QualityFusion, SubsetFusion or None
        Trained on these columns of the development scores; None if that was not possible, as ``note`` says.
    penalized_objective : float or None
        What training made as small as it could: the objective with the penalty.
    """

    systems: tuple[int, ...]
    model: Fusion | None = field(default=None, repr=False, compare=False)
    penalized_objective: float | None = None

    @property
    def linear(self) -> Fusion | None:
        """What holds the weights of trials that all systems scored."""
        return None if self.model is None else self.model.whole

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types; None where nothing was trained."""
        linear = self.linear
        return {
            "name": self.name,
            "role": self.role,
            "note": self.note,
            "systems": list(self.systems),
            "weights": None if linear is None else linear.weights_.tolist(),
            "standardized_weights": None if linear is None else linear.standardized_weights_.tolist(),
            "offset": None if linear is None else linear.offset_,
            "penalized_objective": self.penalized_objective,
            "dev": None if self.dev is None else self.dev.to_dict(),
            "eval": None if self.eval is None else self.eval.to_dict(),
        }


@dataclass(frozen=True)
class FusionAnalysis(Jsonable):
    """A fusion, its systems alone, and what is lost without each of them.

    Attributes
    ----------
    names : tuple of str
        Of the systems.
    singles : tuple of FusedSystems
        Each system calibrated alone, by the same rule and prior; with the same quality measures, if there are some.
    leave_one_out : tuple of FusedSystems
        The fusion without each system; empty for fewer than three, which are those alone.
    fusion : FusedSystems
        Of all systems.
    divergence : (n_systems, n_systems) array or None
        Mean symmetric divergence in bits between the posteriors of the systems calibrated alone, on the trials of
        training and at the prior of the objective; see `deciban.fusion.posterior_divergence`. None if a system cannot
        be calibrated.
    without_quality : FusedSystems or None
        All systems fused without quality measures, if the fusion has some.
    """

    names: tuple[str, ...]
    singles: tuple[FusedSystems, ...]
    leave_one_out: tuple[FusedSystems, ...]
    fusion: FusedSystems
    divergence: FloatArray | None = field(compare=False)
    without_quality: FusedSystems | None = None

    @property
    def rows(self) -> tuple[FusedSystems, ...]:
        """Single systems, every leave-one-out, and the fusion, as tables show them."""
        plainer = () if self.without_quality is None else (self.without_quality,)
        return (*self.singles, *self.leave_one_out, *plainer, self.fusion)

    @property
    def dev(self) -> Results:
        """The evaluations of all rows on the trials of training."""
        return Results(tuple(row.dev for row in self.rows if row.dev is not None))

    @property
    def eval(self) -> Results | None:
        """The evaluations of all rows on other trials, if there are any."""
        found = tuple(row.eval for row in self.rows if row.eval is not None)
        return Results(found) if found else None

    @property
    def standardized_weights(self) -> dict[str, float]:
        """The weight of each system on scores divided by their standard deviation: how much it moves the result."""
        linear = self.fusion.linear
        assert linear is not None  # noqa: S101  # without a fusion there is no analysis
        return dict(zip(self.names, linear.standardized_weights_.tolist(), strict=True))

    @property
    def best_single(self) -> FusedSystems | None:
        """The single system with the least training objective; of equal ones the first, and None if there is none."""
        known = [(row.penalized_objective, row) for row in self.singles if row.penalized_objective is not None]
        return min(known, key=lambda one: one[0])[1] if known else None

    @property
    def objective_gain(self) -> float | None:
        """By how much the objective of training, penalty included, is below that of the best single system.

        At least 0, up to the precision of training: a weight of 0 would leave a system out. (With a `SubsetFusion` it
        is the objective of trials that all systems scored, and the law holds without penalty.)
        """
        best, own = self.best_single, self.fusion.penalized_objective
        if best is None or best.penalized_objective is None or own is None:
            return None
        return best.penalized_objective - own

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers (not the curves) as plain JSON types; infinite ones are ``"inf"``."""
        best, plainer = self.best_single, self.without_quality
        answer: dict[str, Any] = plain(
            {
                "names": list(self.names),
                "settings": None if self.fusion.model is None else self.fusion.model.settings,
                "singles": [row.to_dict() for row in self.singles],
                "leave_one_out": [row.to_dict() for row in self.leave_one_out],
                "without_quality": None if plainer is None else plainer.to_dict(),
                "fusion": self.fusion.to_dict(),
                "best_single": None if best is None else best.name,
                "objective_gain": self.objective_gain,
                "divergence": None if self.divergence is None else self.divergence.tolist(),
            }
        )
        return answer


@dataclass(frozen=True, slots=True, eq=False)
class FusionFigures:
    """Figures of a fusion from a file and of its systems, which are trained anew beside it.

    Attributes
    ----------
    rows : tuple of FigureRow
        What tables show: systems alone, every leave-one-out, the fusion, and that on all trials if some lack a score.
    analysis : FusionAnalysis or None
        Of two classes, evaluated on the trials that all systems scored; None if these are not of both classes.
    is_of_training : bool or None
        Whether the model was trained on these trials; None if it does not know.
    names : tuple of str
        Of the systems.
    whole : FigureRow or None
        The fusion of all systems that is compared with those of fewer.
    without : tuple of FigureRow
        The fusion without each system, of two systems the other one alone; empty for a system alone.
    """

    rows: tuple[FigureRow, ...]
    analysis: FusionAnalysis | None
    is_of_training: bool | None = None
    names: tuple[str, ...] = ()
    whole: FigureRow | None = None
    without: tuple[FigureRow, ...] = ()

    @property
    def dev(self) -> tuple[Any, ...]:
        """Evaluations on the trials of training."""
        return tuple(row.dev for row in self.rows if row.dev is not None)

    @property
    def eval(self) -> tuple[Any, ...]:
        """Evaluations on other trials, where there are any."""
        return tuple(row.eval for row in self.rows if row.eval is not None)
