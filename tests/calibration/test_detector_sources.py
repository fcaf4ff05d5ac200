"""Detectors of many classes trained on trials in batches: what they are in memory, with the same refusals."""

import numpy as np
import pytest

from deciban.calibration import DetectionAffineTransformation, DetectionPavTransformation
from deciban.engines import Threads
from deciban.errors import InputError
from support.array_sources import Apart, source_of

MEMORY = 1 << 28
NAMES = ("cat", "dog", "eel", "fox")


def trials(rng, n):
    """Log-likelihoods, and classes."""
    label = rng.choice(4, n, p=(0.4, 0.3, 0.2, 0.1))
    return rng.normal(size=(n, 4)) + 1.7 * np.eye(4)[label], label


def refusals(model, loglik, label, rng):
    """What a model says against some trials in memory, and in batches."""
    with pytest.raises(InputError) as here:
        type(model)(**model.settings).fit(loglik, label, classes=NAMES)
    with pytest.raises(InputError) as there:
        model.fit_source(source_of(loglik, label, rng, classes=NAMES), Threads(), MEMORY)
    return str(here.value), str(there.value)


@pytest.mark.parametrize("kind", [DetectionPavTransformation, DetectionAffineTransformation])
@pytest.mark.parametrize("asked", [{}, {"prior": [0.1, 0.2, 0.3, 0.4]}])
@pytest.mark.parametrize("weighted", [False, True])
def test_detectors_are_those_of_memory(kind, asked, weighted):
    rng = np.random.default_rng(11)
    loglik, label = trials(rng, 1500)
    loglik = loglik.round(2)
    weight = rng.integers(0, 3, len(label)) if weighted else None
    here = kind(**asked).fit(loglik, label, sample_weight=weight, classes=NAMES)
    for engine in (Threads(2), Apart()):
        source = source_of(loglik, label, rng, weights=weight, classes=NAMES)
        there = kind(**asked).fit_source(source, engine, MEMORY)
        if kind is DetectionPavTransformation:
            for one, other in zip(there.detectors_, here.detectors_, strict=True):
                np.testing.assert_array_equal(one.low_, other.low_)
                np.testing.assert_array_equal(one.high_, other.high_)
        np.testing.assert_allclose(there.transform(loglik), here.transform(loglik), rtol=1e-8, atol=1e-9)
        assert there.objective_ == pytest.approx(here.objective_, rel=1e-12)
        assert there.training_.fingerprint == here.training_.fingerprint
        assert there.classes_ == NAMES


def test_detectors_refuse_what_they_refuse_in_memory():
    rng = np.random.default_rng(12)
    label = np.arange(400) % 4
    apart = 9.0 * np.eye(4)[label] + rng.normal(size=(400, 4)) * 0.3
    here, there = refusals(DetectionAffineTransformation(), apart, label, rng)
    assert here == there
    here, there = refusals(DetectionPavTransformation(prior=[0.5, 0.5, 0.0, 0.0]), apart, label, rng)
    assert here == there.replace("piece 0: ", "")
