"""From probabilities, which hold a prior, to log-likelihood ratios, which hold none."""

from __future__ import annotations

from numpy.typing import ArrayLike

from deciban._validate import probabilities as _validate_probabilities
from deciban.core import posteriors
from deciban.types import FloatArray


def llr_from_probability(probability: ArrayLike, p_target: float) -> FloatArray:
    """Log-likelihood ratios from probabilities of being a target (Bayes' rule in log odds).

    Parameters
    ----------
    probability : (n_trials,) array_like
        Posteriors of the target, in [0, 1]. 0 and 1 are legal: they are infinitely sure.
    p_target : float
        The prior of a target that they were made with, inside (0, 1): for a classifier mostly the share of targets
        that it was trained on.

    Returns
    -------
    (n_trials,) array
        ``ln(p / (1 - p)) - ln(p_target / (1 - p_target))`` in nats. It means as much as the probabilities do: where
        these are badly calibrated, so is it.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or NaN, or the prior is not inside (0, 1).

    Examples
    --------
    >>> llr_from_probability([0.5, 0.2, 0.9, 1.0], 0.2).round(3)
    array([1.386, 0.   , 3.584,   inf])
    """
    prior = _validate_probabilities.target_prior(p_target, "p_target")
    return posteriors.llr(_validate_probabilities.of_target(probability, "probability"), prior)
