"""Two classes of scores as one array with labels, as calibrators want them."""

import numpy as np


def labelled(tar, non):
    """Scores and is_target, targets first."""
    return np.concatenate([tar, non]).astype(np.float64), np.arange(len(tar) + len(non)) < len(tar)
