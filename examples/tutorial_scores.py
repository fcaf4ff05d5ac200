"""Scores for the tutorials, drawn at random: of speakers, languages, images, attacks, a case, in shards and conditions.

    python examples/tutorial_scores.py speakers .

Each kind has its own seed, so that a page prints the same everywhere. Scores of speakers are normal with
effects of speakers on both sides of a trial; class scores are those of points around the mean of their class.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LANGUAGES = [
    "ara-acm",
    "ara-apc",
    "ara-ary",
    "ara-arz",
    "eng-gbr",
    "eng-usg",
    "qsl-pol",
    "qsl-rus",
    "por-brz",
    "spa-car",
    "spa-eur",
    "spa-lac",
    "zho-cmn",
    "zho-nan",
]
CLASSES = ["apple", "bear", "cat", "deer", "eagle", "fox", "goat", "horse", "iris", "jay", "kite", "lion"]


def write(path: Path, rows: Iterable[str]) -> None:
    """Write lines of text."""
    path.write_text("".join(f"{row}\n" for row in rows))


def trials(rng: np.random.Generator, prefix: str, n: int, each: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names, truth and effect of speakers: one model of each speaker against ``each`` segments of every speaker."""
    names = [f"{prefix}{i:03d} {prefix}{j:03d}-{k}" for i in range(n) for j in range(n) for k in range(each)]
    model, segment = np.divmod(np.arange(n * n * each), n * each)
    speaker = segment // each
    effect = 0.6 * rng.normal(size=n)[model] + 0.6 * rng.normal(size=n)[speaker]
    return names, model == speaker, effect


def words(is_target: np.ndarray, target: str = "target", nontarget: str = "nontarget") -> list[str]:
    """The label of each trial."""
    return np.where(is_target, target, nontarget).tolist()


def scored(names: Sequence[str], score: np.ndarray) -> Iterable[str]:
    """Lines of a score file."""
    return (f"{name} {value:.5f}" for name, value in zip(names, score.tolist(), strict=True))


def keyed(path: Path, names: Sequence[str], is_target: np.ndarray) -> None:
    """Write a key with the speakers of both sides: a segment ``s001-2`` is of speaker ``s001``."""
    sides = (name.split() for name in names)
    rows = zip(sides, words(is_target), strict=True)
    lines = (f"{model},{segment},{model},{segment.partition('-')[0]},{word}" for (model, segment), word in rows)
    write(path, ["enroll,test,enroll_speaker,test_speaker,label", *lines])


def speakers(folder: Path) -> None:
    """Two systems on trials of development and of evaluation: cosines, and llrs that are off."""
    rng = np.random.default_rng(11)
    for part, n in (("dev", 30), ("eval", 40)):
        names, is_target, effect = trials(rng, part[0], n, 4)
        hard = effect + 1.2 * rng.normal(size=len(names))
        a = np.where(is_target, 4.2, -4.2) + 1.6 * hard + 1.6 * rng.normal(size=len(names))
        b = np.where(is_target, 3.0, -3.0) + hard + 1.2 * rng.normal(size=len(names))
        write(folder / f"{part}_a.txt", scored(names, 0.3 + 0.5 * np.tanh(a / 12)))
        write(folder / f"{part}_b.txt", scored(names, 3 + 2.2 * b))
        keyed(folder / f"{part}.key", names, is_target)
    write(folder / "eval.trials", names)


def forensic(folder: Path) -> None:
    """Scores of relevant speakers, recorded like the case, and the score of the case."""
    rng = np.random.default_rng(23)
    names, is_target, effect = trials(rng, "s", 40, 3)
    score = np.where(is_target, 9.0, -8.0) + 2.5 * effect + 4.0 * rng.normal(size=len(names))
    write(folder / "relevant.txt", scored(names, score))
    keyed(folder / "relevant.key", names, is_target)
    write(folder / "case.csv", ["enroll,test,score", "suspect,trace,7.5"])


def points(rng: np.random.Generator, means: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods of the classes for points around their means, and true classes."""
    label = np.repeat(np.arange(len(means)), n)
    point = means[label] + rng.normal(size=(len(label), means.shape[1]))
    return -0.5 * ((point[:, None] - means) ** 2).sum(axis=2), label


def languages(folder: Path) -> None:
    """Segments of 14 languages in five families: a table for development, and one for evaluation."""
    rng = np.random.default_rng(14)
    family = [name[:3] for name in LANGUAGES]
    centre = {name: 3.0 * rng.normal(size=5) for name in sorted(set(family))}
    means = np.array([centre[name] for name in family]) + 1.1 * rng.normal(size=(14, 5))
    for part, n in (("dev", 40), ("eval", 60)):
        loglik, label = points(rng, means, n)
        table = 1.8 * loglik + 0.7 * np.cos(np.arange(14))
        rows = (f"{part}{i:04d}\t" + "\t".join(f"{x:.4f}" for x in row) for i, row in enumerate(table.tolist()))
        write(folder / f"{part}.tsv", ["segmentid\t" + "\t".join(LANGUAGES), *rows])
        key = (f"{part}{i:04d}\t{LANGUAGES[k]}" for i, k in enumerate(label))
        write(folder / f"{part}.key", ["segmentid\tlanguage_code", *key])


def images(folder: Path) -> None:
    """Logits of twelve classes that are three times too sure, and true classes as numbers."""
    rng = np.random.default_rng(12)
    means = 1.3 * rng.normal(size=(len(CLASSES), 6))
    for part, n in (("val", 60), ("test", 120)):
        loglik, label = points(rng, means, n)
        np.save(folder / f"{part}_logits.npy", (3.0 * loglik).astype(np.float32))
        np.save(folder / f"{part}_labels.npy", label)


def spoofing(folder: Path) -> None:
    """A countermeasure that one attack gets past: lines with attack and label, for training and for evaluation."""
    rng = np.random.default_rng(19)
    for part, attacks in (("dev", ["A01", "A02", "A03", "A04"]), ("eval", ["A07", "A10", "A17", "A19"])):
        attack = np.repeat(["bonafide", *attacks], [600, *[300] * 4])
        where = np.select([attack == "bonafide", attack == "A17"], [3.0, 1.2], -3.0)
        score = where + 1.5 * rng.normal(size=len(attack))
        speaker = rng.integers(40, size=len(attack))
        label = words(attack == "bonafide", "bonafide", "spoof")
        names = [f"{part}{i:05d}" for i in range(len(attack))]
        rows = zip(names, speaker, attack, label, strict=True)
        key = (f"{name},{who:02d},{how},{word}" for name, who, how, word in rows)
        write(folder / f"{part}_cm.txt", scored(names, score))
        write(folder / f"{part}_cm.csv", ["trial,speaker,attack,label", *key])


def shards(folder: Path, *, n: int = 100_000, n_shards: int = 4) -> None:
    """Trials in a folder of Parquet, a file for each shard."""
    rng = np.random.default_rng(100)
    (folder / "trials").mkdir(exist_ok=True)
    for shard in range(n_shards):
        is_target = rng.random(n // n_shards) < 0.02
        score = 1.5 * rng.normal(np.where(is_target, 5.0, -5.0), 3.0)
        number = np.arange(len(score)) + shard * len(score)
        columns = {
            "enroll": pa.array([f"m{i % 500}" for i in number]),
            "test": pa.array([f"t{i}" for i in number]),
            "score": pa.array(score),
            "label": pa.array(words(is_target)),
        }
        pq.write_table(pa.table(columns), folder / "trials" / f"part-{shard}.parquet")


def conditions(folder: Path) -> None:
    """Two systems, and a key that tells five things about each trial."""
    rng = np.random.default_rng(5)
    names, is_target, effect = trials(rng, "p", 30, 4)
    segment = np.arange(len(names)) % 120
    known = {
        "gender": np.where(segment // 4 % 2 == 0, "female", "male"),
        "channel": np.where(segment % 2 == 0, "phone", "microphone"),
        "accent": rng.choice(["same", "other"], size=120)[segment],
        "noise": rng.choice(["none", "street", "babble"], size=120)[segment],
        "duration": rng.uniform(3, 60, size=120).round(1)[segment].astype(str),
    }
    worse = 1.5 * (known["channel"] == "phone") + 1.0 * (known["noise"] == "babble")
    for system, scale in (("old", 1.0), ("new", 1.3)):
        score = scale * (np.where(is_target, 3.5 - worse, -3.5) + effect) + 1.6 * rng.normal(size=len(names))
        write(folder / f"{system}.txt", scored(names, score))
    key = (
        ",".join((*name.split(), *(str(column[i]) for column in known.values()), word))
        for i, (name, word) in enumerate(zip(names, words(is_target), strict=True))
    )
    write(folder / "key.csv", [",".join(("enroll", "test", *known, "label")), *key])


KINDS: dict[str, Callable[[Path], None]] = {
    function.__name__: function for function in (speakers, forensic, languages, images, spoofing, shards, conditions)
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files of one kind into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    KINDS[options.kind](options.folder)


if __name__ == "__main__":
    main()
