"""What counts as too large for a float, and what is said about it."""

import numpy as np
import pytest

from deciban.core.training.moments import overflown, refuse_overflow, require_scales
from deciban.errors import InputError, TrialError


def test_only_finite_numbers_can_overflow():
    given = np.array([[1.0, 2.0], [1.0, 2.0], [-np.inf, 2.0], [np.inf, 2.0], [3.0, 4.0]])
    mapped = np.array([[1.0, np.inf], [np.nan, 2.0], [-np.inf, 2.0], [np.inf, -np.inf], [3.0, 4.0]])
    np.testing.assert_array_equal(overflown(given, mapped), [True, True, False, True, False])
    systems = np.stack((given, given), axis=1)
    np.testing.assert_array_equal(overflown(systems, np.stack((given, mapped), axis=1))[:, 0], [False] * 5)


def test_the_first_trial_is_named():
    with pytest.raises(TrialError, match=r"2 of 4 trials.* the first at index 1\. .*another unit"):
        refuse_overflow(np.array([False, True, False, True]))
    refuse_overflow(np.zeros(4, np.bool_))


def test_scales_fit_a_float():
    with pytest.raises(InputError, match=r"^loglik: .*Multiply them"):
        require_scales(np.array([1.0, np.inf]), "loglik")
    require_scales(np.array([1e308]), "loglik")
