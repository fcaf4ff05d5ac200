"""Several calibrators one after the other, as one model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from deciban.calibration.fit_record import outcome
from deciban.errors import InputError
from deciban.models.calibrator import Calibrator, Labelled
from deciban.models.content import content_of
from deciban.models.loading import model_of
from deciban.models.model import Plain
from deciban.types import FloatArray


class Chain(Calibrator):
    """Calibrators one after the other: each is trained on, and applied to, what the one before puts out.

    Parameters
    ----------
    *steps : Calibrator
        At least one; typically a calibrator and a bound. They are trained as they are, not copied.

    Attributes
    ----------
    steps : tuple of Calibrator
    training_ : Training
        Counts of trials, a fingerprint of the data, and in ``results`` the Cllr of the last step.

    Raises
    ------
    InputError
        If there is no step, or one is no calibrator.

    Examples
    --------
    >>> from deciban.calibration import AffineCalibrator, BoundCalibrator
    >>> scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]
    >>> chain = Chain(AffineCalibrator(), BoundCalibrator(low=-2.0, high=2.0)).fit(scores, is_target)
    >>> chain.transform([-5.0, 1.5, 5.0]).round(3)
    array([-2.   ,  0.667,  2.   ])
    """

    kind: ClassVar[str] = "chain"
    parameter_schema: ClassVar[dict[str, Any]] = {"steps": {"type": "array", "minItems": 1}}

    def __init__(self, *steps: Any) -> None:
        for step in steps:
            if isinstance(step, Chain) or not isinstance(step, Calibrator):
                raise InputError(
                    f"steps: a chain is made of calibrators, got {step!r}. Pass the steps of a chain one by one."
                )
        self.steps: tuple[Calibrator, ...] = steps

    @property
    def settings(self) -> dict[str, Any]:
        """None of its own: in a file, the steps are parameters."""
        return {}

    @property
    def is_fitted(self) -> bool:
        """Whether all steps are."""
        return bool(self.steps) and all(step.is_fitted for step in self.steps)

    def _fit(self, data: Labelled) -> Mapping[str, Plain]:
        if not self.steps:
            raise InputError("steps: a chain needs at least one calibrator.")
        values = data.score.astype(np.float64, copy=False)
        statuses = []
        for step in self.steps:
            values = step.fit_transform(values, data.is_target, sample_weight=data.weight)
            status = step.training_.results.get("status") if step.training_ else None
            statuses.append(f"{step.kind}: {status}")
        tar, non = values[data.is_target], values[~data.is_target]
        return outcome((tar, data.tar_weight), (non, data.non_weight), ". ".join(statuses))

    def _transform(self, scores: FloatArray) -> FloatArray:
        for step in self.steps:
            scores = step.transform(scores)
        return scores

    @property
    def parts(self) -> tuple[Calibrator, ...]:
        """The calibrators, in the order in which they are applied."""
        return tuple(self.steps)

    def parameter_lines(self) -> list[str]:
        """A line for each step."""
        return [f"{step.kind}: {line}" for step in self.steps for line in step.parameter_lines()]

    def parameters(self) -> dict[str, Any]:
        """The steps, each as it would stand in a file of its own."""
        return {"steps": [content_of(step) for step in self.steps]}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take the steps from a file."""
        contents = parameters["steps"]
        if any(isinstance(content, dict) and content.get("kind") == self.kind for content in contents):
            raise InputError("steps: a chain in a chain.")
        steps = [model_of(content, f"step {k}") for k, content in enumerate(contents, 1)]
        self.steps = Chain(*steps).steps  # which refuses what is no calibrator

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.steps))})"
