"""How large the house is, and how far a command walks through it: lines, modules entered, deepest stack.

Calls of functions of deciban are counted with `sys.setprofile`, on files of 60 trials, after a warm-up; modules,
comprehensions, generator expressions and lambdas do not count. Lines are those with code: no docstrings, comments or
blank lines.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import deciban

HOUSE = Path(deciban.__file__).parent
TRIPS = {
    "eval of two classes": ["eval", "a.txt", "--key", "key.txt"],
    "fuse": ["fuse", "a.txt", "b.txt", "--key", "key.txt", "-o", "model.json"],
    "eval of many classes": ["eval", "classes.tsv"],
}
_NO_ROOMS = {"<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>"}
_BYTES = re.compile(r"BYTES_PER|bytes_per|memory //|memory /|TIMES_ITS|\bCost\.|LIBRARIES")
_SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@cache
def code_lines(path: Path) -> int:
    source = path.read_text("utf-8")
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for one in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                documented |= set(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _SPACE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


@cache
def import_lines(path: Path) -> int:
    """Count the lines of import statements."""
    found = (
        one for one in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(one, ast.Import | ast.ImportFrom)
    )
    return sum((one.end_lineno or one.lineno) - one.lineno + 1 for one in found)


def write_trials() -> None:
    draw = random.Random(1)  # noqa: S311  # the same scores every time
    for name in "ab":
        scores = (f"m{i % 6} s{i} {draw.gauss(1 if i % 3 == 0 else -1, 1.5):.4f}\n" for i in range(60))
        Path(f"{name}.txt").write_text("".join(scores))
    truth = (f"m{i % 6} s{i} {'target' if i % 3 == 0 else 'nontarget'}\n" for i in range(60))
    Path("key.txt").write_text("".join(truth))
    rows = ["trial\teng\tfra\tdeu\tclass"]
    for i in range(60):
        cells = "\t".join(f"{draw.gauss(1 if j == i % 3 else 0, 1):.3f}" for j in range(3))
        rows.append(f"s{i}\t{cells}\t{('eng', 'fra', 'deu')[i % 3]}")
    Path("classes.tsv").write_text("\n".join(rows) + "\n")


def lines_on_memory() -> dict[str, int]:
    """Count the lines that estimate bytes of memory, in `deciban.memory` and elsewhere."""
    found = Counter[str]()
    for path in HOUSE.rglob("*.py"):
        lines = path.read_text("utf-8").splitlines()
        here = "deciban.memory" if path == HOUSE / "memory.py" else "elsewhere"
        found[here] += sum(bool(_BYTES.search(line)) for line in lines if "import " not in line)
    return dict(found)


class Walk:
    """Counts calls by module, and how deep they are nested."""

    def __init__(self) -> None:
        self.rooms: Counter[str] = Counter()
        self.deepest = self._depth = 0

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """What `sys.setprofile` calls."""
        code = frame.f_code
        if code.co_name in _NO_ROOMS or not code.co_filename.startswith(str(HOUSE)):
            return
        if event == "call":
            self.rooms[str(Path(code.co_filename).relative_to(HOUSE))] += 1
            self._depth += 1
            self.deepest = max(self.deepest, self._depth)
        elif event == "return":
            self._depth -= 1


def run(words: list[str]) -> None:
    from deciban.cli.main import main

    sys.argv = ["deciban", *words]
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), contextlib.suppress(SystemExit):
        main()


def walks() -> dict[str, Walk]:
    """Run the commands, each after a warm-up, and count calls."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_trials()
        for name, words in TRIPS.items():
            run(words)
            run(words)
            found[name] = Walk()
            sys.setprofile(found[name])
            run(words)
            sys.setprofile(None)
        os.chdir("/")
    return found


def main() -> None:
    n_lines, n_imports = (sum(map(count, HOUSE.rglob("*.py"))) for count in (code_lines, import_lines))
    print(f"lines of code: {n_lines:,}, of which import statements: {n_imports:,} ({n_imports / n_lines:.2%})")
    print(f"lines that estimate bytes of memory: {lines_on_memory()}")
    loaded = "import sys; from deciban.evaluation import evaluate; print(*sys.modules)"
    names = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    own = [name for name in names if name.partition(".")[0] == "deciban"]
    print(f"loaded by `from deciban.evaluation import evaluate`: {len(own)} modules, pyarrow {'pyarrow' in names}")
    for name, walk in walks().items():
        print(f"{name}: {len(walk.rooms)} modules, {walk.rooms.total():,} calls, deepest stack {walk.deepest}")


if __name__ == "__main__":
    main()
