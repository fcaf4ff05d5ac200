"""Two classes of scores as one array with labels, as calibrators want them."""

import warnings

import numpy as np

from deciban.errors import DecibanWarning


def labelled(tar, non):
    """Scores and is_target, targets first."""
    return np.concatenate([tar, non]).astype(np.float64), np.arange(len(tar) + len(non)) < len(tar)


def fitted(calibrator, tar, non, weight=None):
    """The calibrator, trained; whatever it warns of is expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        return calibrator.fit(*labelled(tar, non), sample_weight=weight)
