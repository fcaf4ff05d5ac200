"""What other tools on PyPI say of the same inputs, and at what cost: the tables of docs/peers.md.

    .venv/bin/python benchmarks/peers.py             # all of them, some twenty minutes
    .venv/bin/python benchmarks/peers.py eer auc     # two of them

Tools go into a virtual environment of their own, build/peers, which is made at first. The code of a user of each tool
stands in `peer_tasks.toml`. Every tool runs in a process of its own (`peer_worker.py`), with one thread; these take
turns, so that whatever else the machine does slows all of them. Medians count. Memory is read from /proc: Linux alone.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import threading
import tomllib
import venv
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "peers.md"
WORKER = Path(__file__).with_name("peer_worker.py")
TASKS: dict[str, Any] = tomllib.loads(WORKER.with_name("peer_tasks.toml").read_text())
HOME = ROOT / "build" / "peers"
PYTHON = HOME / "bin" / "python"
PEERS = (
    "scikit-learn", "torch==2.13.0", "torchmetrics", "netcal", "lir", "pyeer", "uncertainty-calibration", "relplot",
    "confidenceinterval", "model-diagnostics",
    "setuptools<81",  # pyeer imports pkg_resources, which later ones lack
)  # fmt: skip
SIZES = (10_000, 1_000_000)
ROUNDS = 9
ENOUGH = 12.0
"""Seconds of a tool after which it takes no further turn."""
LIMIT = 60.0
"""Seconds that a tool may take at once, beside its start."""
START = 90.0
OURS = "deciban"
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass
class Tool:
    """A tool at work on inputs of one size, and what it has said so far."""

    name: str
    process: subprocess.Popen[str]
    seconds: list[float] = field(default_factory=list)
    peak: int = 0
    first: dict[str, Any] = field(default_factory=dict)

    def run(self) -> None:
        """One turn; a tool that does not answer in time is ended, and has no further one."""
        clock = threading.Timer(LIMIT if self.first else LIMIT + START, self.process.kill)
        clock.start()
        try:
            print("again" if self.first else "first", file=self.process.stdin, flush=True)
            line = self.process.stdout.readline() if self.process.stdout else ""
        except BrokenPipeError:
            line = ""
        clock.cancel()
        found: dict[str, Any] = json.loads(line) if line else {"error": f"over {LIMIT:.0f} s"}
        self.first = self.first or found
        if "error" not in found and found["seconds"] <= LIMIT:
            self.seconds.append(found["seconds"])
            self.peak = max(self.peak, found["peak"])

    @property
    def waits(self) -> bool:
        """Whether it has another turn."""
        return not self.first or ("error" not in self.first and 0 < sum(self.seconds) < ENOUGH)


Turns = list[dict[str, Tool]]
"""By size, and by tool."""


def ready() -> None:
    """Make the environment of the peers, with deciban as it stands here."""
    if not PYTHON.exists():
        venv.create(HOME, with_pip=True)
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--editable", str(ROOT), *PEERS], check=True)


def work(task: str, size: str, rounds: int) -> dict[str, Tool]:
    """Let all tools of a task take turns."""
    tools = {}
    for name in TASKS[task]["tools"]:
        command = [str(PYTHON), str(WORKER), task, name, size]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        tools[name] = Tool(name, subprocess.Popen(command, text=True, env=os.environ | THREADS, **pipes))
        tools[name].run()
    for _ in range(rounds - 1):
        for tool in tools.values():
            if tool.waits:
                tool.run()
    for tool in tools.values():
        tool.process.kill()
        tool.process.wait()
    return tools


def lines_of(code: str) -> int:
    """Lines of a user."""
    return sum(bool(line.strip()) for line in code.splitlines())


def duration(seconds: float) -> str:
    return (
        f"{seconds:.2g} s"
        if seconds >= 1
        else f"{1e3 * seconds:.2g} ms"
        if seconds < 0.1
        else f"{1e3 * seconds:.0f} ms"
    )


def time_cell(tool: Tool, reference: Tool | None) -> str:
    """Median, and how many times that of deciban it is."""
    if not tool.seconds:
        return str(tool.first["error"]).partition(":")[0]
    if reference is None or reference is tool or not reference.seconds:
        return duration(median(tool.seconds))
    return f"{duration(median(tool.seconds))}, x {median(tool.seconds) / median(reference.seconds):.2g}"


def memory_cell(tool: Tool) -> str:
    if not tool.seconds:
        return ""
    return f"{tool.peak / 1e6:.0f} MB" if tool.peak >= 1e6 else "under 1 MB"


def numbers(found: dict[str, Any], digits: int) -> str:
    if "error" in found:
        return str(found["error"]).partition(":")[0]
    return ", ".join(f"{one + 0.0:.{digits}g}" for one in found["answer"])


def above(tools: dict[str, Tool]) -> dict[str, str]:
    """How far each tool stays above the least that any of them has reached."""
    known = {name: tool.first["answer"][0] for name, tool in tools.items() if "error" not in tool.first}
    least = min(known.values())
    return {
        name: f"{known[name] - least:.1e}".replace("0.0e+00", "0") if name in known else numbers(tools[name].first, 6)
        for name in tools
    }


def found_rows(task: dict[str, Any], of_sizes: Turns, of_edges: Turns) -> list[list[str]]:
    """The numbers: of a figure at each size and on the small sets, of training how near it came to the least."""
    sizes = [f"{size:,}" for size in task.get("sizes", SIZES)]
    if "judge" in task:
        titles = ["tool", task["shown"], *(f"excess in {task['unit']}s, {size} trials" for size in sizes)]
        reached = [above(tools) for tools in of_sizes]
        first = of_sizes[0]
        return [
            titles,
            *([name, first[name].first.get("shown", ""), *(one[name] for one in reached)] for name in first),
        ]
    titles = ["tool", *sizes, *task.get("edges", ())]
    columns = [(tools, 7) for tools in of_sizes] + [(tools, 4) for tools in of_edges]
    return [
        titles,
        *([name, *(numbers(tools[name].first, digits) for tools, digits in columns)] for name in of_sizes[0]),
    ]


def cost_rows(task: dict[str, Any], of_sizes: Turns) -> list[list[str]]:
    """Lines, time and memory."""
    sizes = [f"{size:,}" for size in task.get("sizes", SIZES)]
    rows = [["tool", "lines", *(f"time, {size}" for size in sizes), f"memory, {sizes[-1]}"]]
    for name, code in task["tools"].items():
        times = [
            time_cell(tools[name], next((tools[one] for one in tools if one.startswith(OURS)), None))
            for tools in of_sizes
        ]
        last = of_sizes[-1][name]
        rows.append([name, str(lines_of(code)), *times, memory_cell(last)])
    return rows


def tables_of(name: str) -> list[list[list[str]]]:
    """Run one task, at all sizes and on the small sets: what was found, and at what cost."""
    task = TASKS[name]
    of_edges = [work(name, edge, 1) for edge in task.get("edges", ())]
    of_sizes = [work(name, str(size), ROUNDS) for size in task.get("sizes", SIZES)]
    return [found_rows(task, of_sizes, of_edges), cost_rows(task, of_sizes)]


def versions() -> str:
    """Of everything that takes part."""
    names = sorted({re.split("[=<>]", peer)[0] for peer in PEERS} - {"setuptools"} | {"numpy", "scipy"})
    folder = next((HOME / "lib").glob("python*/site-packages"))
    known = {one.metadata["Name"].lower(): one.version for one in distributions(path=[str(folder)])}
    return ", ".join(f"{name} {known[name]}" for name in names)


def machine() -> str:
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load}; {versions()}."


def put(text: str, name: str, content: str) -> str:
    """Between the marks of this name."""
    marks = re.compile(f"(<!-- peers: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not marks.search(text):
        raise SystemExit(f"docs/peers.md has no marks for {name}")
    return marks.sub(lambda found: found[1] + "\n" + content + "\n\n" + found[2], text)


def markdown(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def main() -> None:
    ready()
    for name in sys.argv[1:] or TASKS:
        tables = "\n\n".join(markdown(rows) for rows in tables_of(name))
        PAGE.write_text(put(put(PAGE.read_text(), name, tables), "machine", machine()))
        print(tables, flush=True)


if __name__ == "__main__":
    main()
