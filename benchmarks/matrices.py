"""A matrix of scores in binary files: our HDF5, bare h5py, packed HDF5, MATLAB and text, against numpy's own format."""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from side_by_side import machine, measure, show  # isort: skip  # sets the number of threads first

import h5py
import numpy as np

from deciban import read_scores
from deciban.io import write
from deciban.io.formats import Contents, by_name
from deciban.trials import Scores, Trials

if TYPE_CHECKING:
    from collections.abc import Callable


def matrix_of_scores(models: int, segments: int) -> Scores:
    """Normal scores with names as they occur."""
    enroll = [f"model_{i:05d}_f" for i in range(models)]
    test = [f"sre12_{i:09d}_a" for i in range(segments)]
    return Scores(Trials.of_grid(enroll, test), np.random.default_rng(1).normal(size=models * segments))


def write_npy(scores: Scores, path: Path) -> None:
    np.save(path, scores.score.reshape(len(scores.trials.names[0]), -1))


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
    """Like numpy and h5py, without waiting until it is on the disk as `deciban.write` does."""
    with path.open("wb") as stream:
        by_name(format_name).write(Contents.of(scores), stream)  # type: ignore[union-attr, misc]


def read_h5py(path: Path) -> object:
    """The numbers alone: no names, no mask, no look at what they are."""
    with h5py.File(path) as file:
        return file["scores"][()]


class LevelSearch(NamedTuple):
    """One way to keep scores; a slow one has one round."""

    name: str
    ending: str
    write: Callable[[Scores, Path], object]
    read: Callable[[Path], object]
    is_slow: bool = False


NUMPY, H5PY = "numpy .npy, numbers only", "h5py, numbers only"
WAYS = (
    LevelSearch(NUMPY, ".npy", write_npy, np.load),
    LevelSearch("deciban HDF5", ".h5", partial(write_ours, format_name="bosaris-hdf5"), read_scores),
    LevelSearch(H5PY, ".h5", write_h5py, read_h5py),
    LevelSearch("deciban MATLAB 5", ".mat", partial(write_ours, format_name="bosaris-mat"), read_scores),
    LevelSearch("deciban text (kaldi)", ".txt", write, read_scores, is_slow=True),
    LevelSearch(
        "deciban, HDF5 of others with gzip",
        ".h5",
        partial(write_h5py, compression="gzip", fletcher32=True),
        read_scores,
        is_slow=True,
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--segments", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(machine())
    scores = matrix_of_scores(options.models, options.segments)
    with tempfile.TemporaryDirectory() as folder:
        paths = {way.name: Path(folder) / f"{i}{way.ending}" for i, way in enumerate(WAYS)}
        writers: dict[str, Callable[[], object]] = {
            way.name: partial(way.write, scores, paths[way.name]) for way in WAYS
        }
        readers: dict[str, Callable[[], object]] = {way.name: partial(way.read, paths[way.name]) for way in WAYS}
        readers["deciban, HDF5 of others"] = partial(read_scores, paths[H5PY])
        for done, jobs in {"written": writers, "read": readers}.items():
            slow = {way.name: jobs.pop(way.name) for way in WAYS if way.is_slow}
            timings = measure(jobs, options.rounds) | measure(slow, 1)
            show(f"{len(scores):,} scores {done}", timings, NUMPY, len(scores))
        for name, path in paths.items():
            print(f"{name:36}{path.stat().st_size / len(scores):6.2f} bytes/trial")


if __name__ == "__main__":
    main()
