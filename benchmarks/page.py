"""The interactive page of ten systems in a browser: its size, its first paint, and how fast it follows the slider."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from side_by_side import machine  # isort: skip  # sets the number of threads first

import numpy as np
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.table import Table

from deciban.evaluation import Evaluation, Results, evaluate
from deciban.report import render

FEW = 0.02
N_UNITS = 500

REACTION = """async () => {
    const slider = document.querySelector("[name=prior-slider]");
    const cell = document.querySelector("[data-metric=act_dcf]");
    const found = [];
    for (let k = 0; k < 40; k += 1) {
        slider.value = String(-6 + 0.3 * k);
        const before = performance.now();
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        cell.getBoundingClientRect();
        const done = performance.now();
        await new Promise(requestAnimationFrame);
        found.push([done - before, performance.now() - before]);
    }
    return found;
}"""
"""Of every move: until all numbers stand and the page is laid out, and until the frame after that."""


def systems(n: int, n_trials: int) -> list[Evaluation]:
    """Systems with units, the later the better."""
    rng = np.random.default_rng(1)
    n_tar = int(FEW * n_trials)
    sizes = (n_tar, n_trials - n_tar)
    units = [rng.integers(0, N_UNITS, (size, 2)) for size in sizes]
    made = []
    for k in range(n):
        d = 1.2 + 0.25 * k
        tar, non = (d * rng.normal(side * d, 1.6, size) for side, size in zip((1, -1), sizes, strict=True))
        figures = {"operating_points": [0.01, (0.01, 10, 1)], "tar_units": units[0], "non_units": units[1]}
        made.append(evaluate(tar, non, name=f"system {k}", **figures))
    return made


def first_paint(browser: Browser, path: Path) -> tuple[float, float]:
    """Milliseconds until something is seen, and until all charts that are in sight are drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    before = time.perf_counter()
    page.goto(f"file://{path}")
    page.wait_for_selector("figure[data-plot=det] canvas")
    charts = 1000 * (time.perf_counter() - before)
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.close()
    return painted, charts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--browser", default=os.environ.get("DECIBAN_BROWSER") or shutil.which("chromium-headless-shell")
    )
    given = parser.parse_args()
    table = Table(title=f"{given.systems} systems of {given.trials:,} trials, {machine()}")
    for name in ("what", "found", "aim"):
        table.add_column(name, justify="left" if name == "what" else "right")
    before = time.perf_counter()
    made = systems(given.systems, given.trials)
    between = time.perf_counter()
    text = render(Results(tuple(made)))
    after = time.perf_counter()
    table.add_row("evaluating, s", f"{between - before:.1f}", "")
    table.add_row("writing the page, s", f"{after - between:.1f}", f"{between - before:.1f}")
    table.add_row("size, MB", f"{len(text.encode()) / 1e6:.2f}", "3")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tool:
        path = Path(folder) / "page.html"
        path.write_text(text, "utf-8")
        browser = tool.chromium.launch(executable_path=given.browser, args=["--no-sandbox", "--disable-gpu"])
        rounds = [first_paint(browser, path) for _ in range(given.rounds)]
        table.add_row("first paint, ms", f"{min(one for one, _ in rounds):.0f}", "1500")
        table.add_row("charts in sight, ms", f"{min(one for _, one in rounds):.0f}", "1500")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"file://{path}")
        for name in ("det", "ape", "ece", "tippett"):  # charts are drawn, and follow
            page.locator(f"figure[data-plot={name}]").scroll_into_view_if_needed()
            page.wait_for_selector(f"figure[data-plot={name}] canvas")
        laid_out, in_frame = zip(*page.evaluate(REACTION), strict=True)
        table.add_row("slider to numbers, ms, median", f"{statistics.median(laid_out):.1f}", "50")
        table.add_row("slider to numbers, ms, slowest", f"{max(laid_out):.1f}", "50")
        table.add_row("slider to next frame, ms, median", f"{statistics.median(in_frame):.1f}", "50")
        browser.close()
    Console().print(table)


if __name__ == "__main__":
    main()
