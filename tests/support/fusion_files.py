"""Files of three systems, a key and quality measures, as commands about fusions are tried on."""

import json
from pathlib import Path

import numpy as np

N = 300
RNG = np.random.default_rng(2)
TRUTH = np.arange(N) % 4 == 0
RAW = RNG.normal(size=(N, 3)) + TRUTH[:, None] * [2.0, 1.5, 1.0]
# One system in [0, 1], one in the hundreds.
SCORES = np.column_stack((RAW[:, 0], 1 / (1 + np.exp(-RAW[:, 1])), 300 + 100 * RAW[:, 2]))
NAMES = [(f"m{i % 7}", f"s{i}") for i in range(N)]


def write(name, score, rows=range(N)):
    """Write the scores of some trials of one system."""
    Path(name).write_text("".join(f"{NAMES[i][0]} {NAMES[i][1]} {score[i].item()!r}\n" for i in rows))


def write_files():
    """Write scores of three systems with their key and quality measures, and files that do not fit them, here."""
    for k, name in enumerate("abc"):
        write(f"{name}.txt", SCORES[:, k], np.random.default_rng(7).permutation(N))
    write("part.txt", SCORES[:, 1], range(50, N))
    write("const.txt", np.ones(N))
    write("notar.txt", SCORES[:, 1], np.flatnonzero(~TRUTH))
    Path("copy.txt").write_bytes(Path("a.txt").read_bytes())
    Path("foreign.txt").write_text("x y 1\n")
    labels = ["target" if t else "nontarget" for t in TRUTH]
    rows = [f"{m},{s},{label},k{i % 9}\n" for i, ((m, s), label) in enumerate(zip(NAMES, labels, strict=True))]
    Path("key.csv").write_text("enroll,test,label,speaker\n" + "".join(rows))
    Path("tar.csv").write_text("enroll,test,label,speaker\n" + "".join(row for row in rows if ",target" in row))
    Path("q.txt").write_text("1\n" + "".join(f"s{i} {i % 13}\n" for i in range(10, N)))
    Path("models.txt").write_text("2\n" + "".join(f"m{i} {i} {i * i}\n" for i in range(7)))
    Path("affine.json").write_text(
        json.dumps(
            {
                "deciban_model": 1,
                "kind": "affine",
                "deciban_version": "0",
                "settings": {},
                "parameters": {"scale": 1.0, "offset": 0.0},
            }
        )
    )
