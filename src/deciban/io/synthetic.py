"""Synthetic scores for a first look: two systems on the same trials, one of them badly calibrated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ndtri

from deciban._files import atomic_write
from deciban.types import FloatArray

DEMO_FILES = ("sysA.txt", "sysB.txt", "key.txt")
"""What `write_demo` writes."""

_SPEAKERS = 100
_SEGMENTS = 6
_SEED = 20100


def write_demo(folder: Path) -> tuple[list[Path], Path]:
    """Write ``sysA.txt``, ``sysB.txt`` and ``key.txt`` into ``folder`` and return their paths.

    One hundred speakers with six test segments each, everyone against everyone: 600 target and 59,400 non-target
    trials. System B is the better one and well calibrated; system A has its llrs shifted and stretched. The numbers
    are the same on every machine.

    Parameters
    ----------
    folder : Path
        Made if it is not there.

    Returns
    -------
    (list of Path, Path)
        The score files and the key.
    """
    folder.mkdir(parents=True, exist_ok=True)
    models = [f"spk{i:03d}" for i in range(_SPEAKERS)]
    segments = [f"seg{i:03d}_{j}" for i in range(_SPEAKERS) for j in range(_SEGMENTS)]
    truth = np.arange(_SPEAKERS)[:, None] == np.repeat(np.arange(_SPEAKERS), _SEGMENTS)
    systems = []
    for name, llr in _systems(truth).items():
        lines = (
            f"{model} {segment} {value:.4f}\n"
            for model, row in zip(models, llr, strict=True)
            for segment, value in zip(segments, row, strict=True)
        )
        systems.append(_write(folder / f"{name}.txt", "".join(lines)))
    words = np.where(truth, "target", "nontarget")
    key = "".join(f"{m} {s} {words[i, j]}\n" for i, m in enumerate(models) for j, s in enumerate(segments))
    return systems, _write(folder / "key.txt", key)


def _systems(truth: np.ndarray) -> dict[str, FloatArray]:
    # The stream of RandomState is frozen by numpy's compatibility policy, that of newer generators is not.
    random = np.random.RandomState(_SEED)

    def normal(*shape: int) -> FloatArray:
        return np.asarray(ndtri(random.random_sample(shape)))

    # Gaussian llrs are calibrated where mean = +-variance / 2; part of the noise belongs to the segment.
    common, shared, own = normal(1, truth.shape[1]), normal(*truth.shape), normal(*truth.shape)
    sign = np.where(truth, 0.5, -0.5)
    noise_a = 0.3 * common + np.sqrt(0.91 * 0.5) * shared + np.sqrt(0.91 * 0.5) * own
    noise_b = 0.3 * common + np.sqrt(0.91 * 0.5) * shared + np.sqrt(0.91 * 0.5) * normal(*truth.shape)
    llr_a, llr_b = 3.4**2 * sign + 3.4 * noise_a, 3.8**2 * sign + 3.8 * noise_b
    return {"sysA": 2.2 * llr_a + 4.0, "sysB": llr_b}


def _write(path: Path, text: str) -> Path:
    with atomic_write(path) as stream:
        stream.write(text.encode())
    return path
