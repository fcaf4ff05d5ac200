"""What training by an objective found, how its search ended, and in which words that is said."""

from __future__ import annotations

from dataclasses import dataclass

from deciban.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What training found.

    Attributes
    ----------
    weights : (n_columns,) array
        Factor of each column of scores, or of each system's log-likelihoods.
    standardized : (n_columns,) array
        The weights of columns divided by their standard deviation; of many trials, that of an even sample of them.
    objective : float
        Expected cost at the optimum, without the penalty.
    objective_at_zero : float
        The same for a system without information.
    gradient_norm : float
        Length of the gradient at the end, by standardized parameters, over all trials.
    n_steps, n_passes : int
        Accepted steps, those on samples included, and passes over all trials in full precision.
    converged : bool
    flat : int
        Number of directions in which the objective does not change: systems that say the same.
    infimum : float, optional
        What steeper and steeper maps come down to, if that is known to be less than the objective. There is no best
        map then, and what was found is a local optimum.
    """

    weights: FloatArray
    standardized: FloatArray
    objective: float
    objective_at_zero: float
    gradient_norm: float
    n_steps: int
    n_passes: int
    converged: bool
    flat: int
    infimum: float | None = None

    @property
    def status(self) -> str:
        """What became of the search, in words."""
        if self.infimum is not None:
            return (
                f"a local optimum, of {self.objective:.6g}: steeper and steeper maps come down to {self.infimum:.6g}, "
                "so that the best scale is infinite. The rule has alpha or beta above 1, and gives some errors up for "
                "the sake of the other trials; take one with both at most 1, or more trials"
            )
        if not self.converged:
            return (
                f"not converged after {self.n_passes} passes: the gradient is {self.gradient_norm:.1e} long. Likely "
                "causes are scores that hardly overlap, systems that are nearly the same, or extreme outliers; a "
                "penalty (ridge) helps against all of them"
            )
        words = f"converged in {self.n_steps} steps, gradient {self.gradient_norm:.1e}"
        if self.flat:
            which = "one weight is" if self.flat == 1 else f"{self.flat} weights are"
            words += (
                f"; {which} not determined, because systems say the same or always the same: of all that fit equally "
                "well, these are the smallest"
            )
        return words
