"""Score files of many classes, made up: three animals, two systems, and keys of several forms."""

from pathlib import Path

import numpy as np

CLASSES = ("cat", "dog", "eel")


def trials(seed=1, n=90, strength=1.5):
    """Log-likelihoods of segments whose classes take turns, and the classes; neither calibrated nor separated."""
    rng = np.random.default_rng(seed)
    label = np.arange(n) % len(CLASSES)
    loglik = rng.normal(size=(n, len(CLASSES)))
    loglik[np.arange(n), label] += strength
    return loglik * 2.0 + [0.5, -0.5, 0.0], label


def names(n):
    return [f"seg{i:03d}" for i in range(n)]


def write_table(path, loglik, *, header=CLASSES, first="trial", more=None, delimiter=",", called=None):
    """Write a wide table; ``more`` are further columns by header."""
    more = more or {}
    lines = [delimiter.join((first, *header, *more))]
    for i, (name, row) in enumerate(zip(called or names(len(loglik)), loglik.tolist(), strict=True)):
        others = [str(column[i]) for column in more.values()]
        lines.append(delimiter.join((name, *map(repr, row), *others)))
    Path(path).write_text("\n".join(lines) + "\n")


def write_key(path, label, *, called=None, header=("trial", "class"), delimiter=",", more=None):
    more = more or {}
    rows = zip(called or names(len(label)), label.tolist(), strict=True)
    lines = [
        delimiter.join((name, CLASSES[k], *(str(column[i]) for column in more.values())))
        for i, (name, k) in enumerate(rows)
    ]
    Path(path).write_text("\n".join((delimiter.join((*header, *more)), *lines)) + "\n")


def write_files(folder):
    """Two systems, a key, and the first system as a NIST table and as arrays."""
    folder = Path(folder)
    loglik, label = trials()
    other, _ = trials(seed=2, strength=1.0)
    write_table(folder / "sysA.csv", loglik)
    write_table(folder / "sysB.csv", other)
    write_key(folder / "key.csv", label)
    write_table(folder / "lre.tsv", loglik, first="segmentid", delimiter="\t")
    write_key(folder / "lre.key", label, header=("segmentid", "language_code"), delimiter="\t")
    np.save(folder / "loglik.npy", loglik)
    np.save(folder / "label.npy", label)
    return loglik, label
