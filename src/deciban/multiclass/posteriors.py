"""From posteriors of classes, which hold a prior, to log-likelihoods, which hold none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import classes as _validate_classes
from deciban._validate import probabilities as _validate_probabilities
from deciban.core import posteriors
from deciban.errors import InputError
from deciban.types import FloatArray, Priors


def loglik_from_posterior(posterior: ArrayLike, *, prior: Priors) -> FloatArray:
    """Log-likelihoods from posteriors of the classes, such as the output of a softmax (paper 001 eq. 4).

    Parameters
    ----------
    posterior : (n_trials, n_classes) array_like
        In [0, 1]; rows sum to 1 but for rounding (1e-3). A class of posterior 0 is excluded.
    prior : (n_classes,) array_like or None
        The probabilities of the classes that they were made with, above 0: for a classifier mostly the shares of the
        classes that it was trained on. None is flat; it has to be said.

    Returns
    -------
    (n_trials, n_classes) array
        ``ln posterior_i - ln prior_i`` in nats: log-likelihoods up to a constant of each trial. The inverse of
        `posterior`, up to that.

    Raises
    ------
    InputError
        If a posterior is outside [0, 1] or NaN, rows do not sum to 1, or the prior is none or has a 0.

    Examples
    --------
    >>> loglik_from_posterior([[0.5, 0.25, 0.25], [0.8, 0.2, 0.0]], prior=[0.5, 0.25, 0.25]).round(3)
    array([[ 0.   ,  0.   ,  0.   ],
           [ 0.47 , -0.223,   -inf]])
    """
    table = _validate_classes.loglik(posterior, "posterior")
    checked = _validate_probabilities.of_classes(table, "posterior")
    given = _validate_classes.prior(prior, table.shape[1])
    if not given.all():
        raise InputError(f"prior: 0 for class {int(np.argmin(given))}, so that its posteriors say nothing of it.")
    return posteriors.loglik(checked, given)
