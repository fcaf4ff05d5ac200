"""A matrix of scores in binary files: our HDF5, bare h5py, packed HDF5, MATLAB and text, against numpy's own format."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import h5py
import numpy as np

from deciban import read_scores
from deciban.io.contents import Contents
from deciban.io.formats import by_name
from deciban.trials import Scores, Trials

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = "deciban text (kaldi)"


def matrix_of_scores(models: int, segments: int) -> Scores:
    """Normal scores with names as they occur."""
    enroll = [f"model_{i:05d}_f" for i in range(models)]
    test = [f"sre12_{i:09d}_a" for i in range(segments)]
    return Scores(Trials.of_grid(enroll, test), np.random.default_rng(1).normal(size=models * segments))


def write_h5py(scores: Scores, path: Path, **storage: object) -> None:
    """The same datasets as ours, as most programs would write them: with the whole mask."""
    names = scores.trials.names
    shape = len(names[0]), len(names[1])
    with h5py.File(path, "w") as file:
        for side, ids in zip(("row", "column"), names, strict=True):
            file.create_dataset(f"ID/{side}_ids", data=ids.to_pylist(), dtype=h5py.string_dtype())
        file.create_dataset("scores", data=scores.score.reshape(shape), **storage)
        file.create_dataset("score_mask", data=np.ones(shape, np.uint8), **storage)


def write_ours(scores: Scores, path: Path, format_name: str) -> None:
    with path.open("wb") as stream:
        by_name(format_name).write(Contents.of(scores), stream)  # type: ignore[union-attr, misc]


def write_text(scores: Scores, path: Path) -> None:
    from deciban.io import write

    write(scores, path, format="kaldi")


def read_h5py(path: Path) -> object:
    """The numbers alone: no names, no mask, no look at what they are."""
    with h5py.File(path) as file:
        return file["scores"][()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--segments", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(machine())
    scores = matrix_of_scores(options.models, options.segments)
    matrix = scores.score.reshape(options.models, options.segments)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        path = {
            name: home / f"{i}{ending}"
            for i, (name, ending) in enumerate(
                {
                    "numpy .npy, numbers only": ".npy",
                    "deciban HDF5": ".h5",
                    "h5py, numbers only": ".h5",
                    "deciban, HDF5 of others with gzip": ".h5",
                    "deciban MATLAB 5": ".mat",
                    TEXT: ".txt",
                }.items()
            )
        }
        npy, ours, bare, packed, mat, text = path.values()
        writers: dict[str, Callable[[], object]] = dict(
            zip(
                path,
                (
                    lambda: np.save(npy, matrix),
                    lambda: write_ours(scores, ours, "bosaris-hdf5"),
                    lambda: write_h5py(scores, bare),
                    lambda: write_h5py(scores, packed, compression="gzip", fletcher32=True),
                    lambda: write_ours(scores, mat, "bosaris-mat"),
                    lambda: write_text(scores, text),
                ),
                strict=True,
            )
        )
        readers: dict[str, Callable[[], object]] = {
            name: lambda file=file: read_scores(file) for name, file in path.items()
        }
        readers["numpy .npy, numbers only"] = lambda: np.load(npy)
        readers["h5py, numbers only"] = lambda: read_h5py(bare)
        readers["deciban, HDF5 of others"] = lambda: read_scores(bare)
        n_trials, reference = len(scores), "numpy .npy, numbers only"
        slow = {name: writers.pop(name) for name in (TEXT, "deciban, HDF5 of others with gzip")}
        written = measure(writers, options.rounds) | measure(slow, 1)
        show(f"{n_trials:,} scores written", written, reference, n_trials)
        slow = {name: readers.pop(name) for name in (TEXT, "deciban, HDF5 of others with gzip")}
        read = measure(readers, options.rounds) | measure(slow, 1)
        show(f"{n_trials:,} scores read", read, reference, n_trials)
        for name, file in path.items():
            print(f"{name:36}{file.stat().st_size / n_trials:6.2f} bytes/trial")


if __name__ == "__main__":
    main()
