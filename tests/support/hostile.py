"""Damaged inputs: what a reader may do with them, and small valid files to begin with."""

import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from deciban.errors import DecibanError
from deciban.io import read_contents, write
from deciban.io.formats import Contents, formats
from deciban.trials import ClassKey, ClassScores, IdMap, Index, Key, Quality, Scores, SegmentQuality
from support.hdf5_files import KEY, MASK, MODELS, SCORES, SEGMENTS, h5

_NAMES, _ENROLL_TEST = {"ID/row_ids": MODELS, "ID/column_ids": SEGMENTS}, {"enroll_ids": MODELS, "test_ids": SEGMENTS}
_SETS = {"modelset": [b"ann", b"bob"], "segset": [b"x", b"y", b"z"]}
_MODEL_NAMES = {"model_names": MODELS, "test_names": SEGMENTS}

FOREIGN = [
    ("sidekit", "scores", _SETS | {"scores": SCORES, "score_mask": MASK.astype(np.int8)}),
    ("sidekit", "key", _SETS | {"trial_mask": KEY}),
    ("hyperion", "scores", _NAMES | {"scores": SCORES, "score_mask": MASK, "model_cond": ["f", "m"]}),
    ("hyperion", "key", _NAMES | {"trial_mask": KEY, "seg_cond": ["a", "b", "c"]}),
    ("dca-plda", "key", _ENROLL_TEST | {"trial_mask": KEY}),
    ("dca-plda", "scores", _ENROLL_TEST | {"scores": SCORES, "score_mask": MASK}),
    ("pybosaris", "scores", _MODEL_NAMES | {"score_mat": SCORES}),
    ("pybosaris", "key", _MODEL_NAMES | {"tar_mask": KEY == 1, "non_mask": KEY == -1}),
    ("bosaris-hdf5", "key", _NAMES | {"target_mask": KEY == 1, "nontarget_mask": KEY == -1}),
    ("bosaris-hdf5", "scores", _NAMES | {"scores": SCORES, "score_mask": MASK}),
]
"""HDF5 files of other programs, made by h5py."""

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"

KINDS = ("scores", "key", "index", "class-scores", "class-key", "quality", "segment-quality", "id-map")


def read_or_refuse(path, format_name, need):
    """Read a file that may be damaged; anything but a table without NaN or one of our own errors is a fault."""
    try:
        contents = read_contents(path, format=format_name, need=need)
    except DecibanError:
        return None
    for scores in contents.systems:
        assert len(scores.score) == len(scores.trials)
        assert not np.isnan(scores.score).any()
    if contents.key is not None:
        assert contents.key.is_target.dtype == np.bool_
        assert len(contents.key.is_target) == len(contents.key.trials)
    if contents.class_scores is not None:
        assert not np.isnan(contents.class_scores.score).any()
    return contents


def _items():
    """Every kind of table, small."""
    pairs = {"enroll": ["ann", "ann", "bob", "bob"], "test": ["x", "y", "x", "ü y".replace(" ", "_")]}
    single = {"trial": ["a", "b", "c"]}
    score = [1.5, -2.25, float("inf"), 1e-300]
    sided = {**pairs, "side": ["a", "b", "a", "a"]}
    quality = SegmentQuality.of(["ann", "bob"], [[0.5, 1.0], [2.0, 3.5]])
    return {
        "scores": [Scores.of(pairs, score), Scores.of(single, score[:3]), Scores.of(sided, score)],
        "key": [Key.of(pairs, [True, False, False, True]), Key.of(single, [True, False, True])],
        "index": [Index.of(pairs), Index.of(single)],
        "class-scores": [ClassScores.of(single, ["eng", "fra"], [[1.0, 2.0], [-1.0, 0.5], [3.0, -4.5]])],
        "class-key": [ClassKey.of(single, ["eng", "fra", "eng"])],
        "segment-quality": [quality],
        "quality": [Quality(quality, SegmentQuality.of(["x", "y"], [[1.0, 0.0], [0.5, 2.0]]), Index.of(pairs).trials)],
        "id-map": [IdMap.of({"ann": "m1", "bob": "m2"})],
    }


@cache
def seeds():
    """Valid files as (format, kind, bytes): golden ones, and one of each kind that a format can write."""
    found = []
    for name, one in formats().items():
        golden = [path for path in sorted(GOLDEN.glob(f"{name}*")) if path.is_file()]
        found.extend((name, kind, path.read_bytes()) for path in golden for kind in one.reads)
        for kind in one.writes:
            for item in _items()[kind]:
                data = _written(name, item)
                if data is not None:
                    found.append((name, kind, data))
    with TemporaryDirectory() as folder:
        found.extend((name, kind, h5(Path(folder) / "f", data).read_bytes()) for name, kind, data in FOREIGN)
    for kind, array in {"scores": np.arange(3.0), "key": np.array([True, False]), "class-scores": np.eye(3)}.items():
        stream = io.BytesIO()
        np.save(stream, array)
        found.append(("npy", kind, stream.getvalue()))
    return found


def _written(name, item):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "seed"
        try:
            write(Contents.of(item), path, format=name)
        except DecibanError:
            return None
        return path.read_bytes()
