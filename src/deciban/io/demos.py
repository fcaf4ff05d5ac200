"""Synthetic scores as examples: two speaker recognizers, and three fields in their own formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from deciban._files import atomic_write
from deciban.types import FloatArray


class _Draw:
    """Normal numbers that are the same on every machine."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)  # NumPy freezes this stream, but not that of newer generators

    def __call__(self, *shape: int) -> FloatArray:
        return np.asarray(ndtri(self._random.random_sample(shape)))


def _spoofing(draw: _Draw) -> dict[str, Iterable[str]]:
    """ASVspoof 2019: scores of a countermeasure with labels and attacks, and of a verifier; SASV: both, same trials."""
    attacks = {"A07": -2.5, "A10": -1.5, "A17": 0.5, "A19": -3.0}
    kinds = [("-", "bonafide", 2.5, 600), *((name, "spoof", mean, 250) for name, mean in attacks.items())]
    cm = [(attack, label, value) for attack, label, mean, n in kinds for value in (mean + 1.3 * draw(n)).tolist()]
    asv_kinds = [("bonafide", "target", 3.0, 400), ("bonafide", "nontarget", -3.0, 2000)]
    asv_kinds += [(name, "spoof", 1.5, 250) for name in attacks]
    asv = [(name, label, value) for name, label, mean, n in asv_kinds for value in (mean + 1.4 * draw(n)).tolist()]
    joint = list[list[str]]()
    for _ in ("dev", "eval"):
        lines = ["enroll,test,label,attack,cm-score,asv-score"]
        for name, label, cm_mean, asv_mean, n in (
            ("-", "target", 2.5, 3.0, 400),
            ("-", "nontarget", 2.5, -3.0, 800),
            *((name, "spoof", mean, 1.5, 200) for name, mean in attacks.items()),
        ):
            both = zip((cm_mean + 1.3 * draw(n)).tolist(), (asv_mean + 1.4 * draw(n)).tolist(), strict=True)
            lines += [f"m{i % 40},t{len(lines) + i},{label},{name},{a:.4f},{b:.4f}" for i, (a, b) in enumerate(both)]
        joint.append(lines)
    return {
        "cm.txt": (f"LA_E_{i:07d} {attack} {label} {value:.4f}" for i, (attack, label, value) in enumerate(cm)),
        "asv.txt": (f"{name} {label} {value:.4f}" for name, label, value in asv),
        **dict(zip(("sasv_dev.csv", "sasv_eval.csv"), joint, strict=True)),
    }


_CRITERIA = """\
# Criteria of a validation, one for each performance characteristic; results: another evaluation of the same method.
[[criterion]]
characteristic = "accuracy"
require = "cllr<=0.3"

[[criterion]]
characteristic = "discrimination"
require = "eer<=5%"

[[criterion]]
characteristic = "calibration"
require = "calibration_loss<=0.05"

[[criterion]]
characteristic = "robustness"
require = "cllr<=baseline+0.1"
results = "noisy.json"
"""


def _pairs(draw: _Draw, n: int, each: int, mean: float) -> Iterable[str]:
    """Yield lines of pairs of recordings: all speakers against all, with effects of speakers and their names."""
    effect = 0.7 * draw(n)
    yield "enroll,test,enroll_speaker,test_speaker,label,score"
    for i in range(n):
        for j in range(n):
            for k, value in enumerate(draw(each).tolist()):
                score = (mean if i == j else -mean) + effect[i] + effect[j] + 1.5 * value
                yield f"sp{i:02d}_q,sp{j:02d}_{k},sp{i:02d},sp{j:02d},{'same' if i == j else 'different'},{score:.4f}"


def _forensic(draw: _Draw) -> dict[str, Iterable[str]]:
    """Pairs of recordings of 40 speakers, the same in noise, and criteria of a validation."""
    return {
        "pairs.csv": _pairs(draw, 40, 3, 3.6),
        "noisy.csv": _pairs(draw, 40, 3, 3.2),
        "method.toml": _CRITERIA.splitlines(),
    }


def _biometrics(draw: _Draw) -> dict[str, Iterable[str]]:
    """Comparisons of faces of 150 subjects in two groups: one reference and three probes of each."""
    n, each = 150, 3
    effect = 0.5 * draw(n)
    rows = ["enroll,test,label,score,group"]
    for i in range(n):
        for j in range(i % 2, n, 2):  # within each group
            for k, value in enumerate(draw(each).tolist()):
                score = (5.0 - 0.6 * (i % 2) if i == j else 0.0) + effect[i] + effect[j] + value
                label = "mated" if i == j else "nonmated"
                rows.append(f"s{i:03d},s{j:03d}_{k},{label},{score:.4f},{'fm'[i % 2]}")
    return {"faces.csv": rows}


FIELDS: dict[str, Callable[[_Draw], dict[str, Iterable[str]]]] = {
    "spoofing": _spoofing,
    "forensic": _forensic,
    "biometrics": _biometrics,
}
"""Function that draws the files of each field."""

FIELD_FILES = {
    "spoofing": ("cm.txt", "asv.txt", "sasv_dev.csv", "sasv_eval.csv"),
    "forensic": ("pairs.csv", "noisy.csv", "method.toml"),
    "biometrics": ("faces.csv",),
}
"""Names of the files of each field."""


def write_field_demo(folder: Path, field: str) -> list[Path]:
    """Write synthetic files of a field into a folder, which is created if it does not exist.

    Parameters
    ----------
    folder : Path
    field : {"spoofing", "forensic", "biometrics"}

    Returns
    -------
    list of Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    fields = FIELDS[field](_Draw(2019))
    return [_write(folder / name, "".join(f"{line}\n" for line in lines)) for name, lines in fields.items()]


DEMO_FILES = ("sysA.txt", "sysB.txt", "key.txt", "scores.csv")
"""Files that `write_demo` writes."""

_SPEAKERS = 100
_SEGMENTS = 6


def write_demo(folder: Path) -> tuple[list[Path], Path]:
    """Write scores and labels of two systems into ``folder``, and return the paths of the score files and the key.

    One hundred speakers with six test segments each, all against all: 600 target and 59,400 non-target trials.
    System B is better and well calibrated; the llrs of system A are shifted and scaled. ``scores.csv`` has the labels
    (1 or 0) and scores of system B without names. The numbers are the same on every machine.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.

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
    labelled = zip(truth.ravel().astype(int).tolist(), llr.ravel().tolist(), strict=True)
    _write(folder / "scores.csv", "label,score\n" + "".join(f"{label},{value:.4f}\n" for label, value in labelled))
    words = np.where(truth, "target", "nontarget")
    key = "".join(f"{m} {s} {words[i, j]}\n" for i, m in enumerate(models) for j, s in enumerate(segments))
    return systems, _write(folder / "key.txt", key)


def _systems(truth: np.ndarray) -> dict[str, FloatArray]:
    normal = _Draw(20100)
    # Gaussian llrs are calibrated if mean = +-variance / 2; part of the noise belongs to the segment.
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
